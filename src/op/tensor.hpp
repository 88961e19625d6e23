// Tensors on the host: what an op reads and writes, as raw elements of its type. No device here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "model/names.hpp"

namespace roofline {

/// inout: read and then written by each launch. No op of ours has one, for its launches would not be alike.
enum class TensorRole : std::uint8_t { input, output, inout };
constexpr bool is_read(TensorRole role) { return role != TensorRole::output; }
constexpr bool is_written(TensorRole role) { return role != TensorRole::input; }

/// One tensor of an op, in the order in which kernels receive their pointers.
struct TensorSpec {
  std::string name;
  TensorRole role = TensorRole::input;
  std::int64_t elements = 0;
  DType dtype = DType::fp32;
  int rank = 0;  ///< whose memory holds it: Device::rank()

  std::int64_t bytes() const { return elements * element_size(dtype); }
};

/// Elements in the host's memory, 64-byte aligned, stored as the device stores them. Can be moved, not copied.
class HostTensor {
 public:
  /// Its elements have no values yet.
  explicit HostTensor(TensorSpec spec);

  const TensorSpec& spec() const { return spec_; }
  std::span<std::byte> bytes() { return {data(), static_cast<std::size_t>(spec_.bytes())}; }
  std::span<const std::byte> bytes() const { return {data(), static_cast<std::size_t>(spec_.bytes())}; }

  /// Element `index`, widened exactly to fp64.
  double operator[](std::int64_t index) const;

  /// Widens `out.size()` elements from `first` on, exactly. Fast: the way for references to read rows.
  void read(std::int64_t first, std::span<double> out) const;

  /// Fills with uniform values in [-1, 1], rounded to the tensor's type (integers: in [-max, max] or [0, max], those of
  /// 64 bits as those of 32). The value of an element depends on (seed, index) only, so that it is the same for any
  /// number of threads.
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

/// Nearest-even rounding of a double to the bits of fp16, bf16 or fp8 (E4M3: what is larger than 448 becomes 448),
/// and back (exact).
std::uint16_t to_fp16(double value);
std::uint16_t to_bf16(double value);
std::uint8_t to_fp8(double value);
double from_fp16(std::uint16_t bits);
double from_bf16(std::uint16_t bits);
double from_fp8(std::uint8_t bits);

}  // namespace roofline
