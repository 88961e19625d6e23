// Software prefetch of a pass over memory. The best distance depends on the vendor (docs/evidence/peers-cpu.md):
// what gains a tenth on a Zen 5 halves the rate of an Emerald Rapids.
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"

namespace roofline {

enum class LoadsAhead : std::uint8_t {
  far,   /// 16 KiB ahead, into L2
  near,  /// 4 KiB ahead, into L1, bypassing L2 for data read once: AMD cores with AVX-512
};

/// The best prefetch distance of this CPU at a level.
LoadsAhead loads_ahead(Isa isa);

/// Prefetches the line that far behind `at`; harmless past the end of a tensor. Data that is `read_again` after
/// eviction from L1 should then be in L2.
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
