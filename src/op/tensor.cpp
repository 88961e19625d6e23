// Host tensors: exact conversions between fp64 and the storage types, and reproducible random data.
#include "op/tensor.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "op/host_parallel.hpp"

namespace roofline {
namespace {

/// Rounds a double to a small IEEE format, to nearest even, in one rounding. Works on the bits, so that it does not
/// depend on F16C, which the baseline lacks. kFinite: the format uses its largest exponent for numbers, has no
/// infinity, and only all ones are NaN; too large values become the largest number.
template <int kMantissa, int kExponent, bool kFinite = false>
std::uint16_t narrow(double value) {
  constexpr int kBias = (1 << (kExponent - 1)) - 1;
  constexpr int kDropped = 52 - kMantissa;
  constexpr std::uint64_t kAllOnes = (std::uint64_t{1} << (kExponent + kMantissa)) - 1;
  constexpr std::uint64_t kInfinity = kFinite ? kAllOnes - 1 : ((std::uint64_t{1} << kExponent) - 1) << kMantissa;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 63 << (kMantissa + kExponent));
  const std::uint64_t magnitude = bits & ~(std::uint64_t{1} << 63);
  constexpr std::uint64_t kDoubleInfinity = std::uint64_t{0x7FF} << 52;
  if (magnitude >= kDoubleInfinity) {
    const std::uint64_t quiet = kFinite ? 1 : std::uint64_t{1} << (kMantissa - 1);
    return static_cast<std::uint16_t>(sign | kInfinity | (magnitude > kDoubleInfinity ? quiet : 0));
  }
  constexpr std::uint64_t kSmallestNormal = std::uint64_t{1023 - kBias + 1} << 52;
  if (magnitude < kSmallestNormal) {
    // Adding 2^52 quanta leaves the number of quanta, rounded by the hardware, in the low bits.
    constexpr double kMagic = std::bit_cast<double>(std::uint64_t{1023 - kBias + 1 - kMantissa + 52} << 52);
    const double shifted = std::bit_cast<double>(magnitude) + kMagic;
    return static_cast<std::uint16_t>(sign |
                                      (std::bit_cast<std::uint64_t>(shifted) - std::bit_cast<std::uint64_t>(kMagic)));
  }
  const std::uint64_t odd = (magnitude >> kDropped) & 1;
  const std::uint64_t rounded = magnitude + ((std::uint64_t{1} << (kDropped - 1)) - 1) + odd;
  const std::uint64_t rebased = (rounded >> kDropped) - (std::uint64_t{1023 - kBias} << kMantissa);
  return static_cast<std::uint16_t>(sign | (rebased < kInfinity ? rebased : kInfinity));
}

/// In [-1, 1): a multiple of 2^-24, and so exact in fp32; rounding to 16 bits may reach 1.
float random_float(std::uint64_t bits) { return static_cast<float>(static_cast<std::int64_t>(bits) >> 39) * 0x1p-24F; }
double random_double(std::uint64_t bits) {
  return static_cast<double>(static_cast<std::int64_t>(bits) >> 11) * 0x1p-52;
}

/// In [-max, max] of the type, nearest to its share of a uniform real number.
template <typename T>
T random_integer(std::uint64_t bits) {
  return static_cast<T>(std::lround(random_double(bits) * std::numeric_limits<T>::max()));
}

/// In [0, max] of the type.
template <typename T>
T random_natural(std::uint64_t bits) {
  return static_cast<T>(bits >> (64 - std::numeric_limits<T>::digits));
}

template <typename T>
T load(const std::byte* data, std::int64_t index) {
  T value;
  std::memcpy(&value, data + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <typename T, typename Widen>
void widen_all(const std::byte* data, std::int64_t first, std::span<double> out, Widen widen) {
  const std::byte* from = data + first * static_cast<std::int64_t>(sizeof(T));
  const auto count = static_cast<std::int64_t>(out.size());
  double* to = out.data();
  for (std::int64_t i = 0; i < count; ++i) to[i] = widen(load<T>(from, i));
}

template <typename T, typename Make>
void fill_all(std::byte* data, std::int64_t count, std::uint64_t seed, Make make) {
  constexpr std::int64_t kChunk = std::int64_t{1} << 18;
  host_parallel(count, kChunk, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T value = make(element_bits(seed, static_cast<std::uint64_t>(i)));
      std::memcpy(data + i * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
    }
  });
}

}  // namespace

std::uint16_t to_fp16(double value) { return narrow<10, 5>(value); }
std::uint16_t to_bf16(double value) { return narrow<7, 8>(value); }
std::uint8_t to_fp8(double value) { return static_cast<std::uint8_t>(narrow<3, 4, true>(value)); }

double from_fp16(std::uint16_t bits) {
  const std::uint64_t magnitude = bits & 0x7FFFU;
  const std::uint64_t sign = std::uint64_t{bits & 0x8000U} << 48;
  if (magnitude >= 0x7C00) return std::bit_cast<double>(sign | std::uint64_t{0x7FF} << 52 | (magnitude & 0x3FF) << 42);
  // Interpreted as a double it is 2^1008 times too small, subnormals included, so the product is exact.
  const double value = std::bit_cast<double>(magnitude << 42) * 0x1p1008;
  return std::bit_cast<double>(sign | std::bit_cast<std::uint64_t>(value));
}

double from_bf16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

double from_fp8(std::uint8_t bits) {
  const std::uint64_t magnitude = bits & 0x7FU;
  if (magnitude == 0x7F) return std::numeric_limits<double>::quiet_NaN();
  const double value = std::bit_cast<double>(magnitude << 49) * 0x1p1016;
  return (bits & 0x80U) != 0 ? -value : value;
}

HostTensor::HostTensor(TensorSpec spec)
    : spec_(std::move(spec)),
      storage_(std::make_unique_for_overwrite<Line[]>(static_cast<std::size_t>(spec_.bytes()) / sizeof(Line) + 1)) {}

double HostTensor::operator[](std::int64_t index) const {
  double value = 0;
  read(index, {&value, 1});
  return value;
}

Whole HostTensor::whole(std::int64_t index) const {
  if (spec_.dtype == DType::int64) return load<std::int64_t>(data(), index);
  if (spec_.dtype == DType::uint64) return load<std::uint64_t>(data(), index);
  return static_cast<Whole>((*this)[index]);
}

void HostTensor::read(std::int64_t first, std::span<double> out) const {
  const auto same = [](auto value) { return static_cast<double>(value); };
  switch (spec_.dtype) {
    case DType::fp64:
      return widen_all<double>(data(), first, out, same);
    case DType::fp32:
    case DType::tf32:
      return widen_all<float>(data(), first, out, same);
    case DType::fp16:
      return widen_all<std::uint16_t>(data(), first, out, from_fp16);
    case DType::bf16:
      return widen_all<std::uint16_t>(data(), first, out, from_bf16);
    case DType::fp8:
      return widen_all<std::uint8_t>(data(), first, out, from_fp8);
    case DType::int8:
      return widen_all<std::int8_t>(data(), first, out, same);
    case DType::int32:
      return widen_all<std::int32_t>(data(), first, out, same);
    case DType::uint8:
      return widen_all<std::uint8_t>(data(), first, out, same);
    case DType::int16:
      return widen_all<std::int16_t>(data(), first, out, same);
    case DType::uint16:
      return widen_all<std::uint16_t>(data(), first, out, same);
    case DType::uint32:
      return widen_all<std::uint32_t>(data(), first, out, same);
    case DType::int64:
      return widen_all<std::int64_t>(data(), first, out, same);
    case DType::uint64:
      return widen_all<std::uint64_t>(data(), first, out, same);
  }
}

void HostTensor::fill_random(std::uint64_t seed) {
  const std::uint64_t base = mixed_bits(seed);
  const std::int64_t count = spec_.elements;
  switch (spec_.dtype) {
    case DType::fp64:
      return fill_all<double>(data(), count, base, random_double);
    case DType::fp32:
    case DType::tf32:
      return fill_all<float>(data(), count, base, random_float);
    case DType::fp16:
      return fill_all<std::uint16_t>(data(), count, base,
                                     [](std::uint64_t bits) { return to_fp16(random_float(bits)); });
    case DType::bf16:
      return fill_all<std::uint16_t>(data(), count, base,
                                     [](std::uint64_t bits) { return to_bf16(random_float(bits)); });
    case DType::fp8:
      return fill_all<std::uint8_t>(data(), count, base, [](std::uint64_t bits) { return to_fp8(random_float(bits)); });
    case DType::int8:
      return fill_all<std::int8_t>(data(), count, base, random_integer<std::int8_t>);
    case DType::int32:
      return fill_all<std::int32_t>(data(), count, base, random_integer<std::int32_t>);
    case DType::uint8:
      return fill_all<std::uint8_t>(data(), count, base, random_natural<std::uint8_t>);
    case DType::int16:
      return fill_all<std::int16_t>(data(), count, base, random_integer<std::int16_t>);
    case DType::uint16:
      return fill_all<std::uint16_t>(data(), count, base, random_natural<std::uint16_t>);
    case DType::uint32:
      return fill_all<std::uint32_t>(data(), count, base, random_natural<std::uint32_t>);
    // Indices and counts: fp64 represents them exactly, also after some arithmetic.
    case DType::int64:
      return fill_all<std::int64_t>(data(), count, base, random_integer<std::int32_t>);
    case DType::uint64:
      return fill_all<std::uint64_t>(data(), count, base, random_natural<std::uint32_t>);
  }
}

}  // namespace roofline
