// Random operands of every tensor type and their exact products on the host (tensor.cuh).
#include <cuda_fp8.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "device/cuda/throughput.hpp"
#include "kernels/calibration/cuda/tensor.cuh"
#include "model/error.hpp"
#include "op/tensor.hpp"

namespace roofline {
namespace {

template <typename T>
void put(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

/// An fp32 after truncation in a tensor core: 10 bits of mantissa.
float tf32_of(float value) { return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xFFFFE000u); }

void put_random(Pipe pipe, std::byte* to, std::uint64_t index) {
  constexpr std::uint64_t kSeed = 7;
  const float value = random_value(kSeed, index);
  switch (pipe) {
    case Pipe::tensor_fp64:
      return put(to, double{value} + random_value(kSeed + 1, index) * 0x1p-24);
    case Pipe::tensor_tf32:
      return put(to, tf32_of(value));
    case Pipe::tensor_fp16:
      return put(to, __float2half(value));
    case Pipe::tensor_bf16:
      return put(to, __float2bfloat16(value));
    case Pipe::tensor_fp8:
      return put(to, __nv_fp8_e4m3(value));
    default:
      return put(to, static_cast<std::uint8_t>(random_bits(kSeed, index)));
  }
}

std::vector<double> values_of(Pipe pipe, std::span<const std::byte> bytes) {
  const std::int64_t elements = static_cast<std::int64_t>(bytes.size()) / operand_bytes(pipe);
  HostTensor tensor({.name = "operands", .role = TensorRole::input, .elements = elements, .dtype = dtype_of(pipe)});
  std::copy(bytes.begin(), bytes.end(), tensor.bytes().begin());
  std::vector<double> values(static_cast<std::size_t>(elements));
  tensor.read(0, values);
  return values;
}

}  // namespace

int tensor_rounds(const CudaDevice& device, Pipe pipe, double operations_per_round, double share, double scale) {
  const CudaProperties& gpu = device.properties();
  const double per_cycle = share * flops_per_cycle(gpu.major, gpu.minor, pipe).value_or(1024);
  const double cycles = kTensorLaunch_s * (gpu.max_core_hz > 0 ? gpu.max_core_hz : 1.5e9);
  return static_cast<int>(std::max(1.0, std::round(cycles * per_cycle / operations_per_round)) * scale);
}

DType dtype_of(Pipe pipe) {
  for (const DType dtype : {DType::fp64, DType::tf32, DType::fp16, DType::bf16, DType::fp8, DType::int8}) {
    if (matrix_pipe(dtype, DeviceKind::cuda) == pipe) return dtype;
  }
  throw Error("not a tensor pipe");
}

int operand_bytes(Pipe pipe) { return static_cast<int>(element_size(dtype_of(pipe))); }

std::vector<std::byte> make_operands(Pipe pipe, std::size_t bytes, Fill fill) {
  std::vector<std::byte> operands(bytes);
  if (fill == Fill::zeros) return operands;
  const auto size = static_cast<std::size_t>(operand_bytes(pipe));
  for (std::size_t i = 0; i < bytes / size; ++i) put_random(pipe, operands.data() + i * size, i);
  return operands;
}

std::vector<double> row_products(Pipe pipe, std::span<const std::byte> a, std::span<const std::byte> b, int row_bytes) {
  const std::vector<double> left = values_of(pipe, a);
  const std::vector<double> right = values_of(pipe, b);
  const auto length = static_cast<std::size_t>(row_bytes / operand_bytes(pipe));
  std::vector<double> products;
  products.reserve(left.size() / length * (right.size() / length));
  for (std::size_t i = 0; i < left.size(); i += length) {
    for (std::size_t j = 0; j < right.size(); j += length) {
      double sum = 0;
      for (std::size_t k = 0; k < length; ++k) sum += left[i + k] * right[j + k];
      products.push_back(sum);
    }
  }
  return products;
}

// Tensor cores truncate sums at 24 bits, those of fp8 on Ada and Hopper at 14 (H200: after 64 instructions the error
// was 0.35e-5 of the largest sum in fp16, 0.96e-2 in fp8).
double accumulation_error(Pipe pipe, std::span<const double> sums) {
  if (pipe == Pipe::tensor_int8) return 0;
  const double share = pipe == Pipe::tensor_fp64 ? 1e-13 : pipe == Pipe::tensor_fp8 ? 0x1p-6 : 2e-5;
  const auto smaller = [](double x, double y) { return std::abs(x) < std::abs(y); };
  return share * std::abs(*std::max_element(sums.begin(), sums.end(), smaller));
}

Operands upload_operands(CudaDevice& device, Pipe pipe, std::size_t bytes, Fill fill) {
  Operands operands{make_operands(pipe, bytes, fill), shared_buffer(device, static_cast<std::int64_t>(bytes))};
  device.upload(operands.device->data(), operands.host.data(), bytes);
  return operands;
}

}  // namespace roofline
