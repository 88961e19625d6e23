// Matrix products of a warp on 16-bit operands (mma.sync m16n8k16, sm_80 and later), and their operand loads:
// asynchronous 16-byte copies into shared memory (cp.async), and reads of 8 x 8 matrices (ldmatrix).
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

namespace roofline::mma {

/// Zeros instead of what `from` points to if it is not valid.
__device__ inline void copy_async(void* to, const void* from, bool valid) {
  asm volatile(
      "cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(to))),
      "l"(from), "r"(valid ? 16 : 0)
      : "memory");
}
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Waits until at most kPending committed groups of this thread are pending.
template <int kPending>
__device__ inline void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

/// Four 8 x 8 matrices; lane i addresses row i % 8 of matrix i / 8. A lane gets elements 2 (i % 4) and the next of
/// row i / 4 of each; with kTransposed, of column i / 4.
template <bool kTransposed>
__device__ inline void read_matrices(std::uint32_t (&out)[4], const void* row) {
  const auto from = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));
  if constexpr (kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                 : "r"(from)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                 : "r"(from)
                 : "memory");
  }
}

/// Two values rounded into the halves of a word: operands from accumulators.
template <typename T>
__device__ inline std::uint32_t pack(float low, float high) {
  if constexpr (std::is_same_v<T, __half>) {
    const __half2 pair = __floats2half2_rn(low, high);
    return *reinterpret_cast<const std::uint32_t*>(&pair);
  } else {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    return *reinterpret_cast<const std::uint32_t*>(&pair);
  }
}

/// The i-th elements of two rows of eight as the halves of a word.
__device__ inline std::uint32_t pair(const uint4& a, const uint4& b, int i) {
  const std::uint32_t* x = &a.x;
  const std::uint32_t* y = &b.x;
  return __byte_perm(x[i / 2], y[i / 2], i % 2 == 0 ? 0x5410 : 0x7632);
}

// Left operands from 16-byte loads of a thread, one of four (t = lane % 4) in each of eight groups (g = lane / 4).
// The order of a summed index is free as long as both operands use the same.

/// From 8 elements each of rows g (`above`) and g + 8 (`below`), from 8 t on along the summed index: operands of
/// two instructions. The other operand has its rows in the order 8 t, 8 t + 1, 8 t + 2, 8 t + 3, then the next
/// four.
__device__ inline void rows_operands(std::uint32_t (&first)[4], std::uint32_t (&second)[4], const uint4& above,
                                     const uint4& below) {
  first[0] = above.x, first[1] = below.x, first[2] = above.y, first[3] = below.y;
  second[0] = above.z, second[1] = below.z, second[2] = above.w, second[3] = below.w;
}

/// From 8 elements, columns of the transposed operand, of each of four rows along the summed index: the operand
/// whose rows g and g + 8 are the elements 2 i and 2 i + 1.
__device__ inline void columns_operand(std::uint32_t (&operand)[4], const uint4& row0, const uint4& row1,
                                       const uint4& row2, const uint4& row3, int i) {
  operand[0] = pair(row0, row1, 2 * i), operand[1] = pair(row0, row1, 2 * i + 1);
  operand[2] = pair(row2, row3, 2 * i), operand[3] = pair(row2, row3, 2 * i + 1);
}

/// d[16, 8] += a[16, 16] · b[16, 8], accumulated in fp32. a: the four quarters from the top left one down, then
/// right, as read_matrices gives them; b: its upper and lower half, as read_matrices<true> gives them from rows
/// along n.
template <typename T>
__device__ inline void multiply(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  if constexpr (std::is_same_v<T, __half>) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
}

}  // namespace roofline::mma
