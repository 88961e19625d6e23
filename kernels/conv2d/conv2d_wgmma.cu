// Implicit-GEMM convolution on Hopper: the persistent wgmma kernel of GEMM (wgmma_mainloop.cuh), whose left operand,
// the matrix of windows, is loaded by TMA directly from the image. TMA's im2col mode loads 64 channels of 128
// consecutive output pixels at one tap, crosses the ends of rows and images, and reads the padding as zeros. A step
// along the depth is one tap and 64 channels.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>

#include "device/cuda/cuda_device.hpp"
#include "device/cuda/tensor_map.hpp"
#include "kernels/conv2d/conv2d.hpp"
#include "kernels/conv2d/conv2d_implementations.hpp"
#include "kernels/gemm/wgmma_launch.cuh"

namespace roofline {
namespace {

/// The operands as a matrix product: a row is an output pixel, a column a filter.
template <typename Config>
struct ConvOperands {
  CUtensorMap input;
  CUtensorMap filters;
  CUtensorMap c;
  int rows;     ///< of an output image
  int columns;  ///< of an output image
  int kernel;
  int padding;
  int channel_blocks;  ///< of Config::kDepth channels, the last filled up with zeros

  __device__ int steps() const { return kernel * kernel * channel_blocks; }
  __device__ void load_a(void* to, Barrier& full, int row, int step) const {
    const int image = row / (rows * columns);
    const int y = row / columns - image * rows;
    const int x = row % columns;
    const int tap = step / channel_blocks;
    load_pixels(to, &input, full, step % channel_blocks * Config::kDepth, x - padding, y - padding, image, tap % kernel,
                tap / kernel);
  }
  __device__ void load_b(void* to, Barrier& full, int column, int step, int part) const {
    load_tile_multicast(to, &filters, full, step % channel_blocks * Config::kDepth, step / channel_blocks,
                        column + part * Config::kBoxN, Config::kEveryBlock);
  }
};

template <typename T>
constexpr DType kType = DType::bf16;
template <>
constexpr DType kType<__half> = DType::fp16;

/// A launcher of one Config for one shape. Tensor maps contain addresses, so they are created when a set of buffers
/// is first used, and cached.
template <typename T, int kColumns>
class WgmmaConv {
 public:
  using Config = WgmmaConfig<T, T, kColumns, 2, false>;
  using Launch = WgmmaLaunch<Config, ConvOperands<Config>>;

  WgmmaConv(const ConvSize& size, cudaStream_t stream)
      : size_(size), launch_(size.pixels, size.filters, kGroup, stream) {}

  void operator()(std::span<void* const> tensors) {
    const auto [known, inserted] = operands_.try_emplace({tensors[0], tensors[1], tensors[2]});
    if (inserted) known->second = operands(tensors);
    launch_(known->second);
  }

  std::int64_t rounds() const { return launch_.rounds(); }

 private:
  static constexpr int kGroup = 8;  /// rows of tiles in a strip; irrelevant while one column holds all filters

  ConvOperands<Config> operands(std::span<void* const> tensors) const {
    const std::int64_t taps = size_.kernel * size_.kernel;
    const auto padding = static_cast<int>(size_.padding);
    const int last = padding - static_cast<int>(size_.kernel) + 1;
    ConvOperands<Config> made;
    made.input = make_im2col_map(
        tensors[0], kType<T>, std::array{size_.channels, size_.width, size_.height, size_.batch},
        std::array{size_.channels, size_.channels * size_.width, size_.channels * size_.width * size_.height},
        std::array{-padding, -padding}, std::array{last, last}, Config::kDepth, Config::kTileM);
    made.filters =
        make_tensor_map(tensors[1], kType<T>, std::array{size_.channels, taps, size_.filters},
                        std::array{size_.channels, size_.depth}, std::array<int, 3>{Config::kDepth, 1, Config::kBoxN});
    made.c = make_tensor_map(tensors[2], kType<T>, std::array{size_.filters, size_.pixels}, std::array{size_.filters},
                             std::array<int, 2>{64, 16});
    made.rows = static_cast<int>(size_.rows);
    made.columns = static_cast<int>(size_.columns);
    made.kernel = static_cast<int>(size_.kernel);
    made.padding = padding;
    made.channel_blocks = static_cast<int>((size_.channels + Config::kDepth - 1) / Config::kDepth);
    return made;
  }

  ConvSize size_;
  Launch launch_;
  std::map<std::array<const void*, 3>, ConvOperands<Config>> operands_;
};

template <typename Conv>
Kernel launcher(const std::shared_ptr<Conv>& conv) {
  return [conv](std::span<void* const> tensors) { (*conv)(tensors); };
}

/// The tile that minimises the time of the waves; on a tie the widest, which reads the least.
template <typename T>
Kernel prepare_as(const ConvSize& size, cudaStream_t stream) {
  const auto wide = std::make_shared<WgmmaConv<T, 256>>(size, stream);
  const auto middle = std::make_shared<WgmmaConv<T, 128>>(size, stream);
  const auto narrow = std::make_shared<WgmmaConv<T, 64>>(size, stream);
  const std::int64_t least = std::min({wide->rounds(), middle->rounds(), narrow->rounds()});
  if (wide->rounds() == least) return launcher(wide);
  return middle->rounds() == least ? launcher(middle) : launcher(narrow);
}

Kernel prepare_conv_wgmma(const Workload& workload, Device& device) {
  const ConvSize size = conv_size(workload.shape);
  const cudaStream_t stream = as_cuda(device).stream();
  if (workload.dtype == DType::fp16) return prepare_as<__half>(size, stream);
  return prepare_as<__nv_bfloat16>(size, stream);
}

std::optional<std::string> unsupported_conv_wgmma(const Workload& workload, const Device& device) {
  if (auto reason = WgmmaConv<__nv_bfloat16, 256>::Launch::missing(device)) return reason;
  const ConvSize size = conv_size(workload.shape);
  if (size.channels % 8 != 0 || size.filters % 8 != 0) {
    return "needs channels and filters in multiples of 8 (TMA needs 16-byte rows)";
  }
  if (size.pixels > std::numeric_limits<int>::max() / 2)
    return "more output pixels than the kernel's 32-bit indices allow";
  return std::nullopt;
}

}  // namespace

Implementation conv2d_wgmma() {
  return {.name = "wgmma",
          .summary = "implicit GEMM on wgmma; TMA in im2col mode, four stages ahead",
          .device = DeviceKind::cuda,
          .dtypes = {DType::fp16, DType::bf16},
          .unsupported = unsupported_conv_wgmma,
          .prepare = prepare_conv_wgmma};
}

}  // namespace roofline
