// Hopper's warpgroup matrix products (wgmma): d[64, n] += a[64, k] · b[k, n] with the accumulators in the registers of
// 128 threads, b in shared memory, a there or in registers. Only for sm_90a; elsewhere the functions do nothing, and
// the host never launches what calls them. PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions".
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>

#include "device/cuda/mbarrier.cuh"

namespace roofline::wgmma {

/// Where accumulator `i` of thread `thread` (of 128) lies in the 64 x n tile.
__host__ __device__ constexpr int row_of(int thread, int i) {
  return thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
}
__host__ __device__ constexpr int column_of(int thread, int i) { return i / 4 * 8 + thread % 4 * 2 + i % 2; }

/// Bytes of an operand along k that one instruction takes: 16 of 16 bits, 32 of fp8.
constexpr int kStepBytes = 32;

/// Before the first instruction, and after accumulators or operands in registers were touched by anything else.
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
/// Until at most kPending committed groups are under way.
template <int kPending>
__device__ inline void wait() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
#endif
}
/// Keeps the compiler from moving uses of an accumulator across a wait: it sees the register change here.
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
/// The same tile, that many bytes on.
__device__ inline std::uint64_t advance(std::uint64_t tile, int bytes) {
  return tile + static_cast<std::uint64_t>(bytes >> 4);
}

/// Product<T, n>::run(d, a, b, accumulate): d = a · b, plus d where `accumulate`; a is a descriptor, or four registers
/// of two elements each as the accumulators of a 64 x 16 tile lie. kTransposeB: b is mn-major. One specialisation for
/// each type and n that a kernel here uses; fp8 has no transposed operands and takes 32 of k, the others 16.
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
#define ROOFLINE_WGMMA_O0_31 \
  "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), \
  "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), \
  "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), \
  "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
#define ROOFLINE_WGMMA_O32_63 \
  "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), \
  "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), \
  "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), \
  "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
#define ROOFLINE_WGMMA_O64_87 \
  "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), \
  "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), \
  "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87])
#define ROOFLINE_WGMMA_O88_95 \
  "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95])
#define ROOFLINE_WGMMA_O96_127 \
  "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]), \
  "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), \
  "+f"(d[111]), "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]), "+f"(d[116]), "+f"(d[117]), \
  "+f"(d[118]), "+f"(d[119]), "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), \
  "+f"(d[125]), "+f"(d[126]), "+f"(d[127])

#define ROOFLINE_WGMMA_16(T, type, n, registers, operands, i0, i1, i2, i3, i4, i5, i6)                                \
  template <bool kTransposeB>                                                                                         \
  struct Product<T, n, kTransposeB> {                                                                                 \
    __device__ static void run(float (&d)[n / 2], std::uint64_t a, std::uint64_t b, bool accumulate) {                \
      asm volatile("{.reg .pred p; setp.ne.b32 p, %" #i2 ", 0;\n"                                                     \
                   "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." type "." type " {" registers "}, %" #i0 ", %" #i1 \
                   ", p, 1, 1, 0, %" #i3 ";}"                                                                         \
                   : operands : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)), "n"(kTransposeB ? 1 : 0));         \
    }                                                                                                                 \
    __device__ static void run(float (&d)[n / 2], const std::uint32_t (&a)[4], std::uint64_t b, bool accumulate) {    \
      asm volatile("{.reg .pred p; setp.ne.b32 p, %" #i5 ", 0;\n"                                                     \
                   "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." type "." type " {" registers "}, {%" #i0 ", %" #i1 \
                   ", %" #i2 ", %" #i3 "}, %" #i4 ", p, 1, 1, %" #i6 ";}"                                             \
                   : operands : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b),                                   \
                     "r"(static_cast<int>(accumulate)), "n"(kTransposeB ? 1 : 0));                                    \
    }                                                                                                                 \
  };
#define ROOFLINE_WGMMA_FP8(n, registers, operands, i0, i1, i2)                                                         \
  template <>                                                                                                         \
  struct Product<__nv_fp8_e4m3, n, false> {                                                                           \
    __device__ static void run(float (&d)[n / 2], std::uint64_t a, std::uint64_t b, bool accumulate) {                \
      asm volatile("{.reg .pred p; setp.ne.b32 p, %" #i2 ", 0;\n"                                                     \
                   "wgmma.mma_async.sync.aligned.m64n" #n "k32.f32.e4m3.e4m3 {" registers "}, %" #i0 ", %" #i1        \
                   ", p, 1, 1;}"                                                                                      \
                   : operands : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)));                                   \
    }                                                                                                                 \
  };

#define ROOFLINE_WGMMA_D_64 ROOFLINE_WGMMA_D0_31
#define ROOFLINE_WGMMA_O_64 ROOFLINE_WGMMA_O0_31
#define ROOFLINE_WGMMA_D_128 ROOFLINE_WGMMA_D0_31 "," ROOFLINE_WGMMA_D32_63
#define ROOFLINE_WGMMA_O_128 ROOFLINE_WGMMA_O0_31, ROOFLINE_WGMMA_O32_63
#define ROOFLINE_WGMMA_D_176 ROOFLINE_WGMMA_D0_31 "," ROOFLINE_WGMMA_D32_63 "," ROOFLINE_WGMMA_D64_87
#define ROOFLINE_WGMMA_O_176 ROOFLINE_WGMMA_O0_31, ROOFLINE_WGMMA_O32_63, ROOFLINE_WGMMA_O64_87
#define ROOFLINE_WGMMA_D_192 ROOFLINE_WGMMA_D0_31 "," ROOFLINE_WGMMA_D32_63 "," ROOFLINE_WGMMA_D64_87 "," ROOFLINE_WGMMA_D88_95
#define ROOFLINE_WGMMA_O_192 ROOFLINE_WGMMA_O0_31, ROOFLINE_WGMMA_O32_63, ROOFLINE_WGMMA_O64_87, ROOFLINE_WGMMA_O88_95
#define ROOFLINE_WGMMA_D_256 ROOFLINE_WGMMA_D0_31 "," ROOFLINE_WGMMA_D32_63 "," ROOFLINE_WGMMA_D64_87 "," ROOFLINE_WGMMA_D88_95 "," ROOFLINE_WGMMA_D96_127
#define ROOFLINE_WGMMA_O_256 ROOFLINE_WGMMA_O0_31, ROOFLINE_WGMMA_O32_63, ROOFLINE_WGMMA_O64_87, ROOFLINE_WGMMA_O88_95, ROOFLINE_WGMMA_O96_127
ROOFLINE_WGMMA_16(__nv_bfloat16, "bf16", 64, ROOFLINE_WGMMA_D_64, ROOFLINE_WGMMA_O_64, 32, 33, 34, 35, 36, 37, 38)
ROOFLINE_WGMMA_16(__nv_bfloat16, "bf16", 128, ROOFLINE_WGMMA_D_128, ROOFLINE_WGMMA_O_128, 64, 65, 66, 67, 68, 69, 70)
ROOFLINE_WGMMA_16(__nv_bfloat16, "bf16", 176, ROOFLINE_WGMMA_D_176, ROOFLINE_WGMMA_O_176, 88, 89, 90, 91, 92, 93, 94)
ROOFLINE_WGMMA_16(__nv_bfloat16, "bf16", 192, ROOFLINE_WGMMA_D_192, ROOFLINE_WGMMA_O_192, 96, 97, 98, 99, 100, 101, 102)
ROOFLINE_WGMMA_16(__nv_bfloat16, "bf16", 256, ROOFLINE_WGMMA_D_256, ROOFLINE_WGMMA_O_256, 128, 129, 130, 131, 132, 133, 134)
ROOFLINE_WGMMA_16(__half, "f16", 64, ROOFLINE_WGMMA_D_64, ROOFLINE_WGMMA_O_64, 32, 33, 34, 35, 36, 37, 38)
ROOFLINE_WGMMA_16(__half, "f16", 128, ROOFLINE_WGMMA_D_128, ROOFLINE_WGMMA_O_128, 64, 65, 66, 67, 68, 69, 70)
ROOFLINE_WGMMA_16(__half, "f16", 176, ROOFLINE_WGMMA_D_176, ROOFLINE_WGMMA_O_176, 88, 89, 90, 91, 92, 93, 94)
ROOFLINE_WGMMA_16(__half, "f16", 192, ROOFLINE_WGMMA_D_192, ROOFLINE_WGMMA_O_192, 96, 97, 98, 99, 100, 101, 102)
ROOFLINE_WGMMA_16(__half, "f16", 256, ROOFLINE_WGMMA_D_256, ROOFLINE_WGMMA_O_256, 128, 129, 130, 131, 132, 133, 134)
ROOFLINE_WGMMA_FP8(128, ROOFLINE_WGMMA_D_128, ROOFLINE_WGMMA_O_128, 64, 65, 66)
ROOFLINE_WGMMA_FP8(256, ROOFLINE_WGMMA_D_256, ROOFLINE_WGMMA_O_256, 128, 129, 130)

#else

template <typename T, int kN, bool kTransposeB>
struct Product {
  template <typename A>
  __device__ static void run(float (&)[kN / 2], const A&, std::uint64_t, bool) {}
};

#endif

// clang-format on

}  // namespace roofline::wgmma
