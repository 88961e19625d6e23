// AArch64 cores by implementer and part number: their names, which /proc/cpuinfo lacks, and their number of vector FMA
// pipes, which no register reports.
#pragma once

#include <string_view>

namespace roofline {

struct ArmCore {
  std::string_view version;  ///< "0x41-0xd0c": implementer and part
  std::string_view name;     ///< "Neoverse N1"
  int neon_pipes = 0;        ///< that begin a fused multiply-add on 128 bits in every cycle; 0: uncertain
  int sve_pipes = 0;         ///< on whole registers of SVE, where these are wider
};

/// Null for a core that is not in the table.
const ArmCore* find_arm_core(std::string_view version);

}  // namespace roofline
