// The type is a switch in one place per operation.
#include "user/stored_elements.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace roofline {
namespace {

template <typename T>
void put(HostTensor& tensor, std::int64_t index, T value) {
  std::memcpy(tensor.bytes().data() + index * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

template <typename T>
T nearest_integer(double value) {
  // The largest of 64 bits are no doubles.
  constexpr double kLow = std::max(static_cast<double>(std::numeric_limits<T>::min()), -0x1p53);
  constexpr double kHigh = std::min(static_cast<double>(std::numeric_limits<T>::max()), 0x1p53);
  return static_cast<T>(std::clamp(std::nearbyint(value), kLow, kHigh));
}

template <typename T>
void sort_as(HostTensor& tensor) {
  const auto count = static_cast<std::size_t>(tensor.spec().elements);
  std::vector<T> values(count);
  std::memcpy(values.data(), tensor.bytes().data(), count * sizeof(T));
  std::sort(values.begin(), values.end());
  std::memcpy(tensor.bytes().data(), values.data(), count * sizeof(T));
}

}  // namespace

void store_element(HostTensor& tensor, std::int64_t index, double value) {
  switch (tensor.spec().dtype) {
    case DType::fp64:
      return put(tensor, index, value);
    case DType::fp32:
    case DType::tf32:
      return put(tensor, index, static_cast<float>(value));
    case DType::fp16:
      return put(tensor, index, to_fp16(value));
    case DType::bf16:
      return put(tensor, index, to_bf16(value));
    case DType::fp8:
      return put(tensor, index, to_fp8(value));
    case DType::int8:
      return put(tensor, index, nearest_integer<std::int8_t>(value));
    case DType::int32:
      return put(tensor, index, nearest_integer<std::int32_t>(value));
    case DType::uint8:
      return put(tensor, index, nearest_integer<std::uint8_t>(value));
    case DType::int16:
      return put(tensor, index, nearest_integer<std::int16_t>(value));
    case DType::uint16:
      return put(tensor, index, nearest_integer<std::uint16_t>(value));
    case DType::uint32:
      return put(tensor, index, nearest_integer<std::uint32_t>(value));
    case DType::int64:
      return put(tensor, index, nearest_integer<std::int64_t>(value));
    case DType::uint64:
      return put(tensor, index, nearest_integer<std::uint64_t>(value));
  }
}

void store_whole(HostTensor& tensor, std::int64_t index, Whole value) {
  if (tensor.spec().dtype == DType::int64) return put(tensor, index, static_cast<std::int64_t>(value));
  put(tensor, index, static_cast<std::uint64_t>(value));
}

void sort_elements(HostTensor& tensor) {
  switch (tensor.spec().dtype) {
    case DType::int8:
      return sort_as<std::int8_t>(tensor);
    case DType::uint8:
      return sort_as<std::uint8_t>(tensor);
    case DType::int16:
      return sort_as<std::int16_t>(tensor);
    case DType::uint16:
      return sort_as<std::uint16_t>(tensor);
    case DType::int32:
      return sort_as<std::int32_t>(tensor);
    case DType::uint32:
      return sort_as<std::uint32_t>(tensor);
    case DType::int64:
      return sort_as<std::int64_t>(tensor);
    case DType::uint64:
      return sort_as<std::uint64_t>(tensor);
    default:
      return;
  }
}

}  // namespace roofline
