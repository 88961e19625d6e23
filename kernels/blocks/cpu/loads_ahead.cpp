// Prefetch distance by CPU vendor.
#include "kernels/blocks/cpu/loads_ahead.hpp"

namespace roofline {

LoadsAhead loads_ahead(Isa isa) {
#if defined(__x86_64__)
  static const bool amd = __builtin_cpu_is("amd") != 0;
  return amd && isa == Isa::avx512 ? LoadsAhead::near : LoadsAhead::far;
#else
  (void)isa;
  return LoadsAhead::far;
#endif
}

}  // namespace roofline
