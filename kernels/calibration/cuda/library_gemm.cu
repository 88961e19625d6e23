// Tensor peaks as far as a library reaches them: a large cuBLAS product on random data. Only for GPUs whose full
// tensor-core rate no probe here reaches: newer than Hopper, or Hopper in a build without sm_90a.
#include <fmt/core.h>

#include <array>
#include <cmath>
#include <vector>

#include "device/cuda/cublas.hpp"
#include "kernels/calibration/cuda/tensor.cuh"
#include "op/tensor.hpp"

namespace roofline {
namespace {

struct Extents {
  int m;
  int n;
  int k;
};

// Large enough to fill every SM many times; both operands run along k in memory, the layout that tensor cores use
// without a transposition.
constexpr std::array<Extents, 3> kVariants = {{{8192, 8192, 8192}, {8192, 8192, 4096}, {4096, 8192, 16384}}};

HostTensor host_row(CudaDevice& device, Buffer& matrix, DType dtype, std::int64_t row, std::int64_t columns) {
  HostTensor host({.name = "row", .role = TensorRole::input, .elements = columns, .dtype = dtype});
  const std::int64_t bytes = columns * element_size(dtype);
  device.download(host.bytes().data(), static_cast<const std::byte*>(matrix.data()) + row * bytes,
                  static_cast<std::size_t>(bytes));
  return host;
}

double dot(const HostTensor& a, const HostTensor& b) {
  double sum = 0;
  for (std::int64_t i = 0; i < a.spec().elements; ++i) sum += a[i] * b[i];
  return sum;
}

/// A sum of k products of values in [-1, 1] is about sqrt(k) / 3; operands are rounded to 11 bits (tf32) or exact
/// (16-bit types), the result is rounded once to the output's type.
double tolerance_of(DType dtype, int k) {
  const double rounding = dtype == DType::bf16 ? 0x1p-8 : 0x1p-10;
  return 8 * rounding * std::sqrt(static_cast<double>(k)) / 3;
}

struct Product {
  Extents size;
  DType dtype;
  std::shared_ptr<Buffer> a;  ///< m rows of k
  std::shared_ptr<Buffer> b;  ///< n rows of k
  std::shared_ptr<Buffer> c;  ///< n rows of m: column-major, as cuBLAS writes
};

void run(CudaDevice& device, const Product& product) {
  CublasGemm call;
  call.transpose_a = true;
  call.m = product.size.m;
  call.n = product.size.n;
  call.k = product.size.k;
  call.a = product.a->data();
  call.lda = product.size.k;
  call.b = product.b->data();
  call.ldb = product.size.k;
  call.c = product.c->data();
  call.ldc = product.size.m;
  call.dtype = product.dtype;
  device.cublas().gemm(call);
}

std::optional<std::string> verify(CudaDevice& device, const Product& product) {
  const double tolerance = tolerance_of(product.dtype, product.size.k);
  for (std::uint64_t i = 0; i < 24; ++i) {
    const auto row = static_cast<std::int64_t>(random_bits(5, i)) % product.size.m;
    const auto column = static_cast<std::int64_t>(random_bits(6, i)) % product.size.n;
    const HostTensor a = host_row(device, *product.a, product.dtype, row, product.size.k);
    const HostTensor b = host_row(device, *product.b, product.dtype, column, product.size.k);
    const HostTensor c = host_row(device, *product.c, product.dtype, column, product.size.m);
    const double expected = dot(a, b);
    if (!(std::abs(c[row] - expected) <= tolerance)) {
      return fmt::format("c[{}, {}] is {}, expected {}", row, column, c[row], expected);
    }
  }
  return std::nullopt;
}

std::shared_ptr<Buffer> random_matrix(CudaDevice& device, DType dtype, std::int64_t elements, std::uint64_t seed) {
  std::shared_ptr<Buffer> buffer = shared_buffer(device, elements * element_size(dtype));
  with_element_type(dtype, [&]<typename T>() { fill_random<T>(device, buffer->data(), elements, seed); });
  return buffer;
}

}  // namespace

std::optional<std::string> library_gemm_unsupported(Pipe pipe) {
  if (pipe == Pipe::tensor_fp16 || pipe == Pipe::tensor_bf16 || pipe == Pipe::tensor_tf32) return cublas_missing();
  return "no probe reaches this GPU's full tensor-core rate in this type, and no library GEMM is available";
}

std::optional<ProbeCase> library_gemm_case(CudaDevice& device, Pipe pipe, const ProbeRequest& request, int variant) {
  const std::size_t variants = request.quick ? 1 : kVariants.size();
  if (static_cast<std::size_t>(variant) >= variants) return std::nullopt;
  Product product;
  product.dtype = dtype_of(pipe);
  product.size = kVariants[static_cast<std::size_t>(variant)];
  product.size.n = static_cast<int>(product.size.n * request.scale);
  const auto [m, n, k] = product.size;
  product.a = random_matrix(device, product.dtype, std::int64_t{m} * k, 7);
  product.b = random_matrix(device, product.dtype, std::int64_t{n} * k, 8);
  product.c = shared_buffer(device, std::int64_t{n} * m * element_size(product.dtype));
  device.fill(product.c->data(), std::byte{0xFF}, product.c->size());
  static_cast<void>(device.cublas());  // created here, not during a capture

  ProbeCase made;
  made.origin = "library GEMM";
  made.below_peak = "measured with a library GEMM, which may not reach the pipe's peak";
  made.variant = fmt::format("{} x {} x {}, {}", m, n, k, device.cublas().version());
  made.amount = 2.0 * m * n * k;
  made.work.flops[pipe] = made.amount;
  made.work.bytes[Level::hbm] = {.read = static_cast<double>(product.a->size() + product.b->size()),
                                 .write = static_cast<double>(product.c->size())};
  made.working_set_bytes = made.work.bytes[Level::hbm].total();
  made.operands = sample_of(device, product.a);
  made.run = [&device, product] { run(device, product); };
  made.verify = [&device, product] { return verify(device, product); };
  return made;
}

}  // namespace roofline
