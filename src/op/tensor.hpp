// Tensors on the host: inputs and outputs of an op, as raw elements of their type. No device here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "model/names.hpp"
#include "model/whole.hpp"

namespace roofline {

/// inout: read and then written by each launch. No built-in op has one, because its launches would differ.
enum class TensorRole : std::uint8_t { input, output, inout };
constexpr bool is_read(TensorRole role) { return role != TensorRole::output; }
constexpr bool is_written(TensorRole role) { return role != TensorRole::input; }

/// True if the type has integers that a double cannot represent.
constexpr bool exceeds_double(DType dtype) { return dtype == DType::int64 || dtype == DType::uint64; }

/// splitmix64's finaliser: every input bit affects every output bit.
inline std::uint64_t mixed_bits(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

/// The random bits of element `index`: a mixed counter, so that any thread can compute any element.
inline std::uint64_t element_bits(std::uint64_t seed, std::uint64_t index) {
  return mixed_bits(seed + 0x9E3779B97F4A7C15U * (index + 1));
}

/// One tensor of an op, in the order in which kernels receive their pointers.
struct TensorSpec {
  std::string name;
  TensorRole role = TensorRole::input;
  std::int64_t elements = 0;
  DType dtype = DType::fp32;
  int rank = 0;  /// Device::rank() of the device whose memory holds it

  std::int64_t bytes() const { return elements * element_size(dtype); }
};

/// Elements in the host's memory, 64-byte aligned, stored as the device stores them. Can be moved, not copied.
class HostTensor {
 public:
  /// Uninitialised elements.
  explicit HostTensor(TensorSpec spec);

  const TensorSpec& spec() const { return spec_; }
  std::span<std::byte> bytes() { return {data(), static_cast<std::size_t>(spec_.bytes())}; }
  std::span<const std::byte> bytes() const { return {data(), static_cast<std::size_t>(spec_.bytes())}; }

  /// Element `index`, widened to fp64: exactly, except integers beyond 2^53, which are rounded.
  double operator[](std::int64_t index) const;
  /// Element `index` of an integer type, exactly.
  Whole whole(std::int64_t index) const;

  /// Widens `out.size()` elements from `first` on, as operator[] does. Fast; for references that read rows.
  void read(std::int64_t first, std::span<double> out) const;

  /// Fills with uniform values in [-1, 1], rounded to the tensor's type (integers: in [-max, max] or [0, max],
  /// 64-bit ones as 32-bit ones). An element's value depends on (seed, index) only, and not on the number of
  /// threads.
  void fill_random(std::uint64_t seed);

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };

  std::byte* data() { return storage_[0].bytes; }
  const std::byte* data() const { return storage_[0].bytes; }

  TensorSpec spec_;
  std::unique_ptr<Line[]> storage_;
};

/// Rounds a double to nearest even to the bits of fp16, bf16 or fp8 (E4M3: values above 448 become 448), and
/// converts back (exact).
std::uint16_t to_fp16(double value);
std::uint16_t to_bf16(double value);
std::uint8_t to_fp8(double value);
double from_fp16(std::uint16_t bits);
double from_bf16(std::uint16_t bits);
double from_fp8(std::uint8_t bits);

}  // namespace roofline
