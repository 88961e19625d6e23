// A launch as Nsight Compute counted it, from whatever file, and what becomes of it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "import/imported.hpp"

namespace roofline {

struct NcuLaunch {
  std::string name;  ///< mangled where the file has it
  std::array<std::uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  std::uint32_t device = 0, context = 0, stream = 0;
  std::uint32_t invocations = 1;                          ///< more than one: the values are means of as many launches
  std::vector<std::string> ranges;                        ///< NVTX, outermost first
  std::map<std::string, double, std::less<>> values;      ///< by metric, in base units: byte, ns, hertz, per cent
  std::map<std::string, std::string, std::less<>> texts;  ///< device__attribute_display_name
};

/// The launches one after another: ncu runs each by itself, and when is not in the file.
void add_ncu_launches(ImportedProfile& profile, const std::vector<NcuLaunch>& launches);

}  // namespace roofline
