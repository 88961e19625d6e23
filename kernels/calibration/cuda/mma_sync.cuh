// Warp-level matrix instructions (mma.sync), one struct per operand type: m16n8 with 32 bytes of k for narrow types,
// two shapes for fp64. If an architecture lacks one, its multiply() does nothing, and the host never launches it.
// Fragment layout: lane = 4 * g + t holds, of A, words (g + 8 * (i % 2), t + 4 * (i / 2)), of B, words t + 4 * i of
// column g, of C, (g + 8 * (i / 2), 2 * t + i % 2). PTX ISA, "Matrix Fragments for mma".
#pragma once

#include <cstdint>

#include "model/names.hpp"

namespace roofline::mma_sync {

/// Registers of a thread for A, B and C, in words of 4 bytes of k (fp64: 8).
template <typename WordType, typename AccumulatorType, int kAWords, int kBWords, int kCs>
struct Fragments {
  using Word = WordType;
  using Accumulator = AccumulatorType;
  static constexpr int kA = kAWords;
  static constexpr int kB = kBWords;
  static constexpr int kC = kCs;
  static constexpr int kM = 4 * kCs;          ///< rows of A
  static constexpr int kN = 8;                ///< columns of B
  static constexpr int kWords = 4 * kBWords;  ///< of k
};
using Narrow = Fragments<std::uint32_t, float, 4, 2, 4>;

// clang-format off
struct Bf16 : Narrow {
  static constexpr Pipe kPipe = Pipe::tensor_bf16;
  static constexpr const char* kOpcode = "HMMA";
  static constexpr const char* kName = "HMMA 16x8x16 bf16";
  static __device__ void multiply(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};

struct Fp16 : Narrow {
  static constexpr Pipe kPipe = Pipe::tensor_fp16;
  static constexpr const char* kOpcode = "HMMA";
  static constexpr const char* kName = "HMMA 16x8x16 fp16";
  static __device__ void multiply(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};

struct Tf32 : Narrow {
  static constexpr Pipe kPipe = Pipe::tensor_tf32;
  static constexpr const char* kOpcode = "HMMA";
  static constexpr const char* kName = "HMMA 16x8x8 tf32";
  static __device__ void multiply(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};

struct E4m3 : Narrow {
  static constexpr Pipe kPipe = Pipe::tensor_fp8;
  static constexpr const char* kOpcode = "QMMA";
  static constexpr const char* kName = "QMMA 16x8x32 e4m3";
  static __device__ void multiply(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
#if __CUDA_ARCH__ >= 890
    asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 "
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
  }
};

struct Int8 : Fragments<std::uint32_t, int, 4, 2, 4> {
  static constexpr Pipe kPipe = Pipe::tensor_int8;
  static constexpr const char* kOpcode = "IMMA";
  static constexpr const char* kName = "IMMA 16x8x32 int8";
  static __device__ void multiply(int (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};

/// All that Ampere has.
struct Fp64Small : Fragments<double, double, 1, 1, 2> {
  static constexpr Pipe kPipe = Pipe::tensor_fp64;
  static constexpr const char* kOpcode = "DMMA";
  static constexpr const char* kName = "DMMA 8x8x4";
  static __device__ void multiply(double (&c)[2], const double (&a)[1], const double (&b)[1]) {
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+d"(c[0]), "+d"(c[1]) : "d"(a[0]), "d"(b[0]));
  }
};

/// Hopper and later.
struct Fp64Large : Fragments<double, double, 8, 4, 4> {
  static constexpr Pipe kPipe = Pipe::tensor_fp64;
  static constexpr const char* kOpcode = "DMMA";
  static constexpr const char* kName = "DMMA 16x8x16";
  static __device__ void multiply(double (&c)[4], const double (&a)[8], const double (&b)[4]) {
#if __CUDA_ARCH__ >= 900
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 "
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
                 : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
                 : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
                   "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#endif
  }
};
// clang-format on

}  // namespace roofline::mma_sync
