// FMA chains and streams on SVE vectors. Their size is unknown at compile time, so there are no arrays of them:
// chains and accumulators are arguments. Only the kernels are compiled for SVE, so that the linker cannot merge
// other code with them.
#include "kernels/calibration/cpu/sve.hpp"

#include "kernels/calibration/cpu/pace.hpp"
#include "kernels/calibration/cpu/stream.hpp"

#if defined(__aarch64__)
#include <arm_sve.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>

#include <utility>
#endif

namespace roofline {
#if defined(__aarch64__)
namespace {

constexpr int kVectors = 8;  // of a block of a stream

#pragma GCC push_options
#pragma GCC target("+sve")

inline svfloat32_t spread(float value) { return svdup_f32(value); }
inline svfloat64_t spread(double value) { return svdup_f64(value); }

template <int kAdditions, typename T, typename... Value>
[[gnu::always_inline]] inline void run_sve_chains(std::int64_t rounds, T* state, Value... x) {
  const svbool_t all = svptrue_b8();
  auto increment = spread(kFmaIncrement<T>);
  auto f0 = spread(kFmaFactors<T>[0]);
  auto f1 = spread(kFmaFactors<T>[1]);
  auto f2 = spread(kFmaFactors<T>[2]);
  auto f3 = spread(kFmaFactors<T>[3]);
  // Hides the values, so that the product stays in the loop.
  asm volatile("" : "+w"(f0), "+w"(f1), "+w"(f2), "+w"(f3), "+w"(increment));
  [[maybe_unused]] Chain additions;
  for (std::int64_t round = 0; round < rounds; ++round) {
    int chain = 0;
    const auto step = [&](auto value) __attribute__((always_inline)) {
      const int factor = chain % kFmaFactorCount;
      value = svmla_x(all, value, factor == 0 ? f0 : factor == 1 ? f1 : factor == 2 ? f2 : f3, increment);
      if constexpr (kAdditions > 0) additions.add_after<sizeof...(Value), kAdditions>(chain);
      ++chain;
      return value;
    };
    ((x = step(x)), ...);
  }
  ((svst1(all, state, x), state += svcntb() / sizeof(T)), ...);
}

template <int kAdditions, typename T, int... chain>
[[gnu::always_inline]] inline void fma_chains(std::int64_t rounds, T* state, std::integer_sequence<int, chain...>) {
  run_sve_chains<kAdditions>(rounds, state, svld1_vnum(svptrue_b8(), state, chain)...);
}

template <typename T, int kCount, int kAdditions = 0>
void run_chains(std::int64_t rounds, T* state) {
  fma_chains<kAdditions>(rounds, state, std::make_integer_sequence<int, kCount>());
}

/// A pass of stream_read(), whose columns are in kGroups vectors: all are loaded; those of one quarter, or all if
/// it is negative, go into the checksum.
template <int kGroups, int kQuarter>
std::uint64_t read_once(const std::uint64_t* at, std::int64_t bytes) {
  const svbool_t all = svptrue_b8();
  svuint64_t sum0 = svdup_u64(0), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  const auto take = [&]<int vector>(std::integral_constant<int, vector>) __attribute__((always_inline)) {
    constexpr int kGroup = vector % kGroups;
    const svuint64_t value = svld1_vnum(all, at, vector);
    if constexpr (kQuarter < 0 || kGroup * 4 / kGroups == kQuarter) {
      svuint64_t& sum = kGroup == 0 ? sum0 : kGroup == 1 ? sum1 : kGroup == 2 ? sum2 : sum3;
      sum = sveor_x(all, sum, value);
    } else {
      asm volatile("" : : "w"(value));  // unused, so that the load stays
    }
  };
  const auto block_words = static_cast<std::int64_t>(kVectors * svcntd());
  asm volatile("" : : : "memory");  // keeps equal passes separate
  for (std::int64_t words = bytes / 8; words > 0; words -= block_words, at += block_words) {
    [&]<int... vector>(std::integer_sequence<int, vector...>) __attribute__((always_inline)) {
      (take(std::integral_constant<int, vector>()), ...);
    }
    (std::make_integer_sequence<int, kVectors>());
  }
  const std::uint64_t sum = svaddv(all, sum0) + svaddv(all, sum1) + svaddv(all, sum2) + svaddv(all, sum3);
  return kQuarter < 0 ? sum : 4 * sum;
}

/// As in stream.simd.cpp: if every load is followed by an operation, the operations take longer.
template <int kGroups>
std::uint64_t read(const void* data, std::int64_t bytes, std::int64_t passes) {
  const auto* at = static_cast<const std::uint64_t*>(data);
  std::uint64_t sum = 0;
  for (; passes >= 4; passes -= 4) {
    sum += read_once<kGroups, 0>(at, bytes) + read_once<kGroups, 1>(at, bytes);
    sum += read_once<kGroups, 2>(at, bytes) + read_once<kGroups, 3>(at, bytes);
  }
  for (; passes > 0; --passes) sum += read_once<kGroups, -1>(at, bytes);
  return sum;
}

/// Calls f(first word of a block, vector of it) for all vectors of `bytes` bytes, `passes` times.
template <typename F>
[[gnu::always_inline]] inline void for_vectors(std::int64_t bytes, std::int64_t passes, F f) {
  const auto block_words = static_cast<std::int64_t>(kVectors * svcntd());
  for (std::int64_t pass = 0; pass < passes; ++pass) {
    for (std::int64_t word = 0; word < bytes / 8; word += block_words) {
#pragma GCC unroll 8
      for (int vector = 0; vector < kVectors; ++vector) f(word, vector);
      asm volatile("" : : : "memory");  // keeps equal passes separate
    }
  }
}

void write(void* to, std::int64_t bytes, std::int64_t passes, std::uint64_t value) {
  const svuint64_t values = svdup_u64(value);
  for_vectors(
      bytes, passes, [&](std::int64_t word, int vector) __attribute__((always_inline)) {
        svst1_vnum(svptrue_b8(), static_cast<std::uint64_t*>(to) + word, vector, values);
      });
}

void copy(void* to, const void* from, std::int64_t bytes, std::int64_t passes) {
  for_vectors(
      bytes, passes, [&](std::int64_t word, int vector) __attribute__((always_inline)) {
        const svuint64_t values = svld1_vnum(svptrue_b8(), static_cast<const std::uint64_t*>(from) + word, vector);
        svst1_vnum(svptrue_b8(), static_cast<std::uint64_t*>(to) + word, vector, values);
      });
}

void update(void* data, std::int64_t bytes, std::int64_t passes, std::uint64_t stamp) {
  const svuint64_t stamps = svdup_u64(stamp & ~kKeptBits);
  for_vectors(
      bytes, passes, [&](std::int64_t word, int vector) __attribute__((always_inline)) {
        const svbool_t all = svptrue_b8();
        auto* const at = static_cast<std::uint64_t*>(data) + word;
        svst1_vnum(all, at, vector, svorr_x(all, svand_x(all, svld1_vnum(all, at, vector), kKeptBits), stamps));
      });
}

void accumulate(void* to, const void* from, std::int64_t bytes, std::int64_t passes) {
  for_vectors(
      bytes, passes, [&](std::int64_t word, int vector) __attribute__((always_inline)) {
        const svbool_t all = svptrue_b8();
        auto* const at = static_cast<std::uint64_t*>(to) + word;
        const svuint64_t added = svld1_vnum(all, static_cast<const std::uint64_t*>(from) + word, vector);
        svst1_vnum(all, at, vector, svadd_x(all, svld1_vnum(all, at, vector), added));
      });
}

void triad(double* to, const double* b, const double* c, double factor, std::int64_t bytes, std::int64_t passes) {
  for_vectors(
      bytes, passes, [&](std::int64_t word, int vector) __attribute__((always_inline)) {
        const svbool_t all = svptrue_b8();
        const svfloat64_t sum =
            svmla_x(all, svld1_vnum(all, b + word, vector), svld1_vnum(all, c + word, vector), factor);
        svst1_vnum(all, to + word, vector, sum);
      });
}

int register_bytes() { return static_cast<int>(svcntb()); }

#pragma GCC pop_options

template <typename T, int kChains, int kPace>
FmaKernel<T> paced_kernel(int lanes) {
  constexpr int kAdditions = additions_in(kChains, kPace);
  return {kChains, 1, lanes, run_chains<T, kChains, kAdditions>, kAdditions};
}

// Pipes times latency is 8 on Neoverse V1 and 18 on A64FX.
template <typename T>
FmaKernels<T> fma_kernels(int bytes) {
  const int lanes = bytes / static_cast<int>(sizeof(T));
  static const FmaKernel<T> kernels[] = {{16, 1, lanes, run_chains<T, 16>}, {24, 1, lanes, run_chains<T, 24>}};
  static const FmaKernel<T> paced[kPaceCount] = {
      paced_kernel<T, 16, kPaces[0]>(lanes), paced_kernel<T, 16, kPaces[1]>(lanes),
      paced_kernel<T, 16, kPaces[2]>(lanes), paced_kernel<T, 16, kPaces[3]>(lanes),
      paced_kernel<T, 16, kPaces[4]>(lanes)};
  return {kernels, 2, paced};
}

SveKernels kernels_of(int bytes) {
  return {.bits = 8 * bytes,
          .fp32 = fma_kernels<float>(bytes),
          .fp64 = fma_kernels<double>(bytes),
          .read = bytes == 64 ? read<2> : read<4>,
          .write = write,
          .copy = copy,
          .update = update,
          .accumulate = accumulate,
          .triad = triad};
}

}  // namespace

const SveKernels* sve_kernels() {
  static const int bytes = (getauxval(AT_HWCAP) & HWCAP_SVE) != 0 ? register_bytes() : 0;
  if (bytes != 32 && bytes != 64) return nullptr;
  static const SveKernels kernels = kernels_of(bytes);
  return &kernels;
}
#else
const SveKernels* sve_kernels() { return nullptr; }
#endif

}  // namespace roofline
