// Hopper's warpgroup matrix products (wgmma): d[64, n] += a[64, k] · b[k, n] with the accumulators in the registers
// of 128 threads, b in shared memory, a there or in registers. Only for sm_90a; on other targets the functions do
// nothing, and the host never launches their callers. PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions".
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>
#include <type_traits>

#include "kernels/blocks/cuda/mbarrier.cuh"

namespace roofline::wgmma {

/// Position of accumulator `i` of thread `thread` (of 128) in the 64 x n tile.
__host__ __device__ constexpr int row_of(int thread, int i) {
  return thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
}
__host__ __device__ constexpr int column_of(int thread, int i) { return i / 4 * 8 + thread % 4 * 2 + i % 2; }

/// Bytes along k per instruction: 8 elements of tf32, 16 of 16 bits, 32 of fp8 and int8.
constexpr int kStepBytes = 32;

/// Required before the first instruction, and after any other access to accumulators or register operands.
__device__ inline void fence() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
__device__ inline void commit() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}
/// Waits until at most kPending committed groups are pending.
template <int kPending>
__device__ inline void wait() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
#endif
}
/// Keeps the compiler from moving uses of an accumulator across a wait, by pretending to modify the register.
__device__ inline void touch(float& value) { asm volatile("" : "+f"(value)::"memory"); }

/// The descriptor of a tile with the 128-byte swizzle, aligned to 1024 bytes.
///   k_major: rows of m (or n) with 128 bytes of k each, eight rows 1024 bytes from the next eight. A step along k is
///            kStepBytes. `leading_bytes` is not used.
///   mn_major (16 bits only, operands given as transposed): rows of k with 64 elements of n each, eight rows 1024 bytes
///            from the next eight, `leading_bytes` from 64 elements of n to the next 64. A step of 16 along k is 2048.
__device__ inline std::uint64_t descriptor(const void* tile, int leading_bytes = 16) {
  constexpr std::uint64_t kSwizzle128 = 1;
  return static_cast<std::uint64_t>(shared_address(tile) & 0x3FFFF) >> 4 |
         static_cast<std::uint64_t>(leading_bytes >> 4) << 16 | std::uint64_t{1024 >> 4} << 32 | kSwizzle128 << 62;
}
/// The same tile, that many bytes further.
__device__ inline std::uint64_t advance(std::uint64_t tile, int bytes) {
  return tile + static_cast<std::uint64_t>(bytes >> 4);
}

/// Accumulator type of products of T.
template <typename T>
using Accumulator = std::conditional_t<std::is_same_v<T, std::int8_t>, int, float>;

/// Product<T, n>::run(d, a, b, accumulate): d = a · b, plus d if `accumulate`; a is a descriptor, or four registers
/// of two elements each in the layout of the accumulators of a 64 x 16 tile. kTransposeB: b is mn-major. One
/// specialisation per type and n in use; types other than 16-bit ones have no transposed operands, and a only by
/// descriptor. T = float is tf32.
template <typename T, int kN, bool kTransposeB = false>
struct Product;

// clang-format off
#ifdef __CUDA_ARCH_FEAT_SM90_ALL

#define ROOFLINE_WGMMA_D0_31 \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28," \
  "%29,%30,%31"
#define ROOFLINE_WGMMA_D32_63 \
  "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58," \
  "%59,%60,%61,%62,%63"
#define ROOFLINE_WGMMA_D64_87 \
  "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,%86,%87"
#define ROOFLINE_WGMMA_D88_95 \
  "%88,%89,%90,%91,%92,%93,%94,%95"
#define ROOFLINE_WGMMA_D96_127 \
  "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,%112,%113,%114,%115,%116,%117," \
  "%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
#define ROOFLINE_WGMMA_O8(as, i) \
  as(d[i]), as(d[i + 1]), as(d[i + 2]), as(d[i + 3]), as(d[i + 4]), as(d[i + 5]), as(d[i + 6]), as(d[i + 7])
#define ROOFLINE_WGMMA_O32(as, i) \
  ROOFLINE_WGMMA_O8(as, i), ROOFLINE_WGMMA_O8(as, i + 8), ROOFLINE_WGMMA_O8(as, i + 16), ROOFLINE_WGMMA_O8(as, i + 24)

#define ROOFLINE_WGMMA_16(T, type, n, i0, i1, i2, i3, i4, i5, i6)                                                      \
  template <bool kTransposeB>                                                                                          \
  struct Product<T, n, kTransposeB> {                                                                                  \
    __device__ static void run(float (&d)[n / 2], std::uint64_t a, std::uint64_t b, bool accumulate) {                 \
      asm volatile("{.reg .pred p; setp.ne.b32 p, %" #i2 ", 0;\n"                                                      \
                   "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." type "." type " {" ROOFLINE_WGMMA_D_##n           \
                   "}, %" #i0 ", %" #i1 ", p, 1, 1, 0, %" #i3 ";}"                                                     \
                   : ROOFLINE_WGMMA_O_##n("+f")                                                                        \
                   : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)), "n"(kTransposeB ? 1 : 0));                     \
    }                                                                                                                  \
    __device__ static void run(float (&d)[n / 2], const std::uint32_t (&a)[4], std::uint64_t b, bool accumulate) {     \
      asm volatile("{.reg .pred p; setp.ne.b32 p, %" #i5 ", 0;\n"                                                      \
                   "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." type "." type " {" ROOFLINE_WGMMA_D_##n           \
                   "}, {%" #i0 ", %" #i1 ", %" #i2 ", %" #i3 "}, %" #i4 ", p, 1, 1, %" #i6 ";}"                        \
                   : ROOFLINE_WGMMA_O_##n("+f")                                                                        \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(accumulate)),            \
                     "n"(kTransposeB ? 1 : 0));                                                                        \
    }                                                                                                                  \
  };

/// `form`: the rest of the instruction's name; `scales`: of what may be negated, which integers can't be.
#define ROOFLINE_WGMMA_K_MAJOR(T, as, form, scales, n, i0, i1, i2)                                                     \
  template <>                                                                                                          \
  struct Product<T, n, false> {                                                                                        \
    __device__ static void run(Accumulator<T> (&d)[n / 2], std::uint64_t a, std::uint64_t b, bool accumulate) {        \
      asm volatile("{.reg .pred p; setp.ne.b32 p, %" #i2 ", 0;\n"                                                      \
                   "wgmma.mma_async.sync.aligned.m64n" #n form " {" ROOFLINE_WGMMA_D_##n                               \
                   "}, %" #i0 ", %" #i1 ", p" scales ";}"                                                              \
                   : ROOFLINE_WGMMA_O_##n(as) : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)));                    \
    }                                                                                                                  \
  };

#define ROOFLINE_WGMMA_D_64 ROOFLINE_WGMMA_D0_31
#define ROOFLINE_WGMMA_O_64(as) ROOFLINE_WGMMA_O32(as, 0)
#define ROOFLINE_WGMMA_D_128 ROOFLINE_WGMMA_D0_31 "," ROOFLINE_WGMMA_D32_63
#define ROOFLINE_WGMMA_O_128(as) ROOFLINE_WGMMA_O32(as, 0), ROOFLINE_WGMMA_O32(as, 32)
#define ROOFLINE_WGMMA_D_176 ROOFLINE_WGMMA_D_128 "," ROOFLINE_WGMMA_D64_87
#define ROOFLINE_WGMMA_O_176(as) \
  ROOFLINE_WGMMA_O_128(as), ROOFLINE_WGMMA_O8(as, 64), ROOFLINE_WGMMA_O8(as, 72), ROOFLINE_WGMMA_O8(as, 80)
#define ROOFLINE_WGMMA_D_192 ROOFLINE_WGMMA_D_176 "," ROOFLINE_WGMMA_D88_95
#define ROOFLINE_WGMMA_O_192(as) ROOFLINE_WGMMA_O_128(as), ROOFLINE_WGMMA_O32(as, 64)
#define ROOFLINE_WGMMA_D_256 ROOFLINE_WGMMA_D_192 "," ROOFLINE_WGMMA_D96_127
#define ROOFLINE_WGMMA_O_256(as) ROOFLINE_WGMMA_O_192(as), ROOFLINE_WGMMA_O32(as, 96)

ROOFLINE_WGMMA_16(__nv_bfloat16, "bf16", 64, 32, 33, 34, 35, 36, 37, 38)
ROOFLINE_WGMMA_16(__nv_bfloat16, "bf16", 128, 64, 65, 66, 67, 68, 69, 70)
ROOFLINE_WGMMA_16(__nv_bfloat16, "bf16", 176, 88, 89, 90, 91, 92, 93, 94)
ROOFLINE_WGMMA_16(__nv_bfloat16, "bf16", 192, 96, 97, 98, 99, 100, 101, 102)
ROOFLINE_WGMMA_16(__nv_bfloat16, "bf16", 256, 128, 129, 130, 131, 132, 133, 134)
ROOFLINE_WGMMA_16(__half, "f16", 64, 32, 33, 34, 35, 36, 37, 38)
ROOFLINE_WGMMA_16(__half, "f16", 128, 64, 65, 66, 67, 68, 69, 70)
ROOFLINE_WGMMA_16(__half, "f16", 176, 88, 89, 90, 91, 92, 93, 94)
ROOFLINE_WGMMA_16(__half, "f16", 192, 96, 97, 98, 99, 100, 101, 102)
ROOFLINE_WGMMA_16(__half, "f16", 256, 128, 129, 130, 131, 132, 133, 134)
ROOFLINE_WGMMA_K_MAJOR(float, "+f", "k8.f32.tf32.tf32", ", 1, 1", 256, 128, 129, 130)
ROOFLINE_WGMMA_K_MAJOR(__nv_fp8_e4m3, "+f", "k32.f32.e4m3.e4m3", ", 1, 1", 128, 64, 65, 66)
ROOFLINE_WGMMA_K_MAJOR(__nv_fp8_e4m3, "+f", "k32.f32.e4m3.e4m3", ", 1, 1", 256, 128, 129, 130)
ROOFLINE_WGMMA_K_MAJOR(std::int8_t, "+r", "k32.s32.s8.s8", "", 256, 128, 129, 130)

#else

template <typename T, int kN, bool kTransposeB>
struct Product {
  template <typename A>
  __device__ static void run(Accumulator<T> (&)[kN / 2], const A&, std::uint64_t, bool) {}
};

#endif

// clang-format on

}  // namespace roofline::wgmma
