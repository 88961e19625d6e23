// The product of 8-bit integers on the CPU: what the launcher sees of the vector kernels.
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"

namespace roofline {

/// Rows and columns of C at a time, and products of each of its elements.
inline constexpr std::int64_t kInt8Tile = 1024;
inline constexpr std::int64_t kInt8Depth = 512;

/// The product at one instruction-set level.
struct Int8Product {
  std::int64_t workspace;  ///< 32-bit words that run() needs, at the beginning of a page
  /// C[rows × columns] = A[rows × depth] · transposed B[columns × depth], exactly as long as no sum leaves 32 bits:
  /// row-major, `ldc` elements from one row of C to the next, and those of A and B `depth` long.
  void (*run)(const std::int8_t* a, const std::int8_t* b, std::int32_t* c, std::int64_t ldc, std::int64_t rows,
              std::int64_t columns, std::int64_t depth, std::uint32_t* workspace);
};

/// By dot-product instructions (VNNI, sdot) with `dots`, which the CPU must have: see has(DotUnit) in
/// device/cpu/isa.hpp.
template <Isa isa>
Int8Product int8_product(bool dots);

}  // namespace roofline
