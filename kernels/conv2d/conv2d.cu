// Convolution on a GPU: the list of implementations, and the first two.
//   direct    one thread per output, no reuse beyond the caches
//   im2col    the windows of all pixels as a matrix in memory, then a library GEMM                cuBLAS
//   implicit  the same product, windows gathered tile by tile into shared memory                  conv2d_implicit.cu
//   wgmma     windows gathered by TMA, for wgmma                                                  conv2d_wgmma.cu
#include <climits>
#include <memory>

#include "device/cuda/check.hpp"
#include "device/cuda/cublas.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/handles.hpp"
#include "kernels/blocks/cuda/element.cuh"
#include "kernels/conv2d/conv2d.hpp"
#include "kernels/conv2d/conv2d_implementations.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

constexpr int kThreads = 256;

/// An output pixel's window: its start in the input, which may be in the padding.
struct Window {
  std::int64_t image;
  std::int64_t top;
  std::int64_t left;

  __device__ Window(const ConvSize& size, std::int64_t pixel)
      : image(pixel / (size.rows * size.columns)),
        top(pixel / size.columns % size.rows - size.padding),
        left(pixel % size.columns - size.padding) {}

  /// The first channel of a tap; null in the padding.
  template <typename T>
  __device__ const T* at(const ConvSize& size, const T* input, int row, int column) const {
    const std::int64_t y = top + row;
    const std::int64_t x = left + column;
    if (y < 0 || y >= size.height || x < 0 || x >= size.width) return nullptr;
    return input + ((image * size.height + y) * size.width + x) * size.channels;
  }
};

template <typename T>
__global__ void __launch_bounds__(kThreads)
    conv_direct(const T* __restrict__ input, const T* __restrict__ filters, T* __restrict__ output, ConvSize size) {
  const std::int64_t index = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (index >= size.pixels * size.filters) return;
  const Window window(size, index / size.filters);
  const T* filter = filters + index % size.filters * size.depth;
  float sum = 0;
  for (int row = 0; row < size.kernel; ++row) {
    for (int column = 0; column < size.kernel; ++column, filter += size.channels) {
      const T* from = window.at(size, input, row, column);
      if (from == nullptr) continue;
      for (int c = 0; c < size.channels; ++c) sum = fmaf(widen(from[c]), widen(filter[c]), sum);
    }
  }
  output[index] = narrow<T>(sum);
}

/// A block writes one pixel's window as a row of the matrix. `Vector` is the copy width: 16 bytes, or one element
/// if channels are not a multiple of that.
template <typename Vector>
__global__ void __launch_bounds__(kThreads)
    conv_gather(const Vector* __restrict__ input, Vector* __restrict__ matrix, ConvSize size) {
  const Window window(size, blockIdx.x);
  const int channels = static_cast<int>(size.channels);
  const int kernel = static_cast<int>(size.kernel);
  for (int i = static_cast<int>(threadIdx.x); i < size.depth; i += kThreads) {
    const int tap = i / channels;
    const Vector* from = window.at(size, input, tap / kernel, tap % kernel);
    matrix[std::int64_t{blockIdx.x} * size.depth + i] = from == nullptr ? Vector{} : from[i - tap * channels];
  }
}

Kernel prepare_direct(const Workload& workload, Device& device) {
  return with_element_type(workload.dtype, [&]<typename T>() -> Kernel {
    const ConvSize size = conv_size(workload.shape);
    const auto blocks = static_cast<unsigned>(ceil_div(size.pixels * size.filters, kThreads));
    return [=, stream = as_cuda(device).stream()](std::span<void* const> tensors) {
      conv_direct<T><<<blocks, kThreads, 0, stream>>>(
          static_cast<const T*>(tensors[0]), static_cast<const T*>(tensors[1]), static_cast<T*>(tensors[2]), size);
      check_launch("direct convolution kernel");
    };
  });
}

template <typename Vector>
void gather(const void* input, void* matrix, ConvSize size, std::int64_t lanes, cudaStream_t stream) {
  size.channels /= lanes;
  size.depth /= lanes;
  conv_gather<<<static_cast<unsigned>(size.pixels), kThreads, 0, stream>>>(static_cast<const Vector*>(input),
                                                                           static_cast<Vector*>(matrix), size);
  check_launch("im2col kernel");
}

/// Row-major output[pixels, filters] = matrix · transposed filters; cuBLAS is column-major and sees each of the
/// three as its transpose.
CublasGemm product_of(const ConvSize& size, DType dtype) {
  CublasGemm product;
  product.transpose_a = true;
  product.m = static_cast<int>(size.filters);
  product.n = static_cast<int>(size.pixels);
  product.k = static_cast<int>(size.depth);
  product.lda = product.k;
  product.ldb = product.k;
  product.ldc = product.m;
  product.dtype = dtype;
  return product;
}

Kernel prepare_im2col(const Workload& workload, Device& device) {
  return with_element_type(workload.dtype, [&]<typename T>() -> Kernel {
    const ConvSize size = conv_size(workload.shape);
    const auto matrix = std::make_shared<DeviceMemory>(
        make_device_memory(static_cast<std::size_t>(size.pixels * size.depth) * sizeof(T)));
    CudaDevice& gpu = as_cuda(device);
    const auto gather_kernel = size.channels % kLanes<T> == 0 ? gather<uint4> : gather<T>;
    const std::int64_t lanes = size.channels % kLanes<T> == 0 ? kLanes<T> : 1;
    return [=, &cublas = gpu.cublas(), stream = gpu.stream(),
            product = product_of(size, workload.dtype)](std::span<void* const> tensors) {
      gather_kernel(tensors[0], matrix->get(), size, lanes, stream);
      CublasGemm call = product;
      call.a = tensors[1];
      call.b = matrix->get();
      call.c = tensors[2];
      cublas.gemm(call);
    };
  });
}

std::optional<std::string> unsupported_direct(const Workload& workload, const Device&) {
  const ConvSize size = conv_size(workload.shape);
  if (size.pixels * size.filters / kThreads < INT_MAX) return std::nullopt;
  return "the output exceeds the maximum grid size";
}

std::optional<std::string> unsupported_im2col(const Workload& workload, const Device&) {
  if (conv_size(workload.shape).pixels > INT_MAX) return "more output pixels than cuBLAS's 32-bit sizes allow";
  return cublas_missing();
}

/// The matrix, written and read again: kernel * kernel times the input, which no cache holds.
Traffic matrix_traffic(const Workload& workload) {
  const ConvSize size = conv_size(workload.shape);
  const double bytes = static_cast<double>(size.pixels) * static_cast<double>(size.depth) *
                       static_cast<double>(element_size(workload.dtype));
  return {.read = bytes, .write = bytes};
}

const ImplementationRegistrar kRegistrar("conv2d",
                                         {conv2d_direct(), conv2d_im2col(), conv2d_implicit(), conv2d_wgmma()});

}  // namespace

Implementation conv2d_direct() {
  return {.name = "direct",
          .summary = "one thread per output, no reuse beyond the caches",
          .device = DeviceKind::cuda,
          .dtypes = {DType::fp32, DType::fp16, DType::bf16},
          .unsupported = unsupported_direct,
          .prepare = prepare_direct};
}

Implementation conv2d_im2col() {
  return {.name = "im2col",
          .summary = "im2col into a matrix in memory, then cuBLAS",
          .device = DeviceKind::cuda,
          .dtypes = {DType::fp32, DType::fp16, DType::bf16},
          .unsupported = unsupported_im2col,
          .extra_traffic = matrix_traffic,
          .prepare = prepare_im2col};
}

}  // namespace roofline
