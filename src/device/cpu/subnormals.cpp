// MXCSR on x86, FPCR on Arm.
#include "device/cpu/subnormals.hpp"

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace roofline {

void flush_subnormals([[maybe_unused]] bool flush) {
#if defined(__x86_64__)
  constexpr unsigned kFlush = 0x8040;  // FTZ and DAZ
  const unsigned state = _mm_getcsr();
  _mm_setcsr(flush ? state | kFlush : state & ~kFlush);
#elif defined(__aarch64__)
  constexpr std::uint64_t kFlush = std::uint64_t{1} << 24;  // FZ
  std::uint64_t state = 0;
  asm volatile("mrs %0, fpcr" : "=r"(state));
  state = flush ? state | kFlush : state & ~kFlush;
  asm volatile("msr fpcr, %0" : : "r"(state));
#endif
}

}  // namespace roofline
