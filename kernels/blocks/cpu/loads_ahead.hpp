// How a pass over memory asks for its loads before they are due. Measured on one maker's cores after the other
// (docs/evidence/peers-cpu.md): what gains a tenth on a Zen 5 halves the rate of an Emerald Rapids.
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"

namespace roofline {

enum class LoadsAhead : std::uint8_t {
  far,   ///< 16 KiB on, into L2
  near,  ///< 4 KiB on, into L1, and past L2 what is read once: cores of AMD with AVX-512
};

/// What this CPU likes best at a level.
LoadsAhead loads_ahead(Isa isa);

/// Asks for the line that lies so far behind `at`. Past the end of a tensor it does no harm. What is `read_again`,
/// after other things have driven it from L1, should be in L2 then.
template <Isa isa, bool read_again = false>
class AskAheadOf {
 public:
  void operator()(const void* at) const {
    const auto* line = static_cast<const char*>(at);
    if (isa == Isa::avx512 && near_) {
      __builtin_prefetch(line + 4096, 0, read_again ? 3 : 0);
    } else {
      __builtin_prefetch(line + 16384, 0, 2);
    }
  }

 private:
  bool near_ = loads_ahead(isa) == LoadsAhead::near;
};

}  // namespace roofline
