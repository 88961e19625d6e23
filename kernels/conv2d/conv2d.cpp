// 2-D convolution, forward, stride 1, as in neural networks (without flipping): input and output are NHWC, the
// filters [filters, kernel, kernel, channels]. Work model, reference and CPU implementations.
//   naive     all threads, one output at a time
//   im2col    all threads; the windows of some pixels become a matrix, which Eigen multiplies by the filters
//   direct    all threads; no matrix: windows are multiplied in place in a copy of the image (direct_conv.cpp)
//   dots      as direct, in bf16 without widening, on CPUs with AVX512_BF16
//   amx       windows packed into AMX tiles (conv2d_amx.cpp)
#include "kernels/conv2d/conv2d.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/blocks/cpu/cpu_launch.hpp"
#include "kernels/conv2d/direct_conv.hpp"
#include "op/registry.hpp"
#include "op/rows.hpp"
#include "op/tolerance.hpp"

namespace roofline {

ConvSize conv_size(const Shape& shape) {
  ConvSize size{.batch = shape["batch"],
                .height = shape["height"],
                .width = shape["width"],
                .channels = shape["channels"],
                .filters = shape["filters"],
                .kernel = shape["kernel"],
                .padding = shape["padding"],
                .rows = 0,
                .columns = 0,
                .pixels = 0,
                .depth = 0};
  size.rows = size.height + 2 * size.padding - size.kernel + 1;
  size.columns = size.width + 2 * size.padding - size.kernel + 1;
  size.pixels = size.batch * size.rows * size.columns;
  size.depth = size.kernel * size.kernel * size.channels;
  return size;
}

namespace {

class Conv2d final : public Op {
 public:
  std::string_view name() const override { return "conv2d"; }
  std::string_view summary() const override {
    return "out[n,y,x,k] = sum over r,s,c of in[n,y+r-padding,x+s-padding,c] filter[k,r,s,c], stride 1";
  }
  std::string_view family() const override { return "convolution"; }

  // The limits keep the elements of a window, and those of an image row, within 32 bits.
  std::vector<ShapeParameter> parameters() const override {
    constexpr std::int64_t kExtent = std::int64_t{1} << 18;
    return {
        {.name = "batch", .meaning = "images", .default_value = 32, .maximum = std::int64_t{1} << 30},
        {.name = "height", .meaning = "input height", .default_value = 56, .maximum = kExtent},
        {.name = "width", .meaning = "input width", .default_value = 56, .maximum = kExtent},
        {.name = "channels", .meaning = "input channels", .default_value = 256, .maximum = kExtent},
        {.name = "filters", .meaning = "output channels", .default_value = 256, .maximum = kExtent},
        {.name = "kernel", .meaning = "filter rows and columns", .default_value = 3, .maximum = 64},
        {.name = "padding", .meaning = "zero padding on each side", .default_value = 1, .minimum = 0, .maximum = 64}};
  }

  std::optional<std::string> invalid(const Shape& shape) const override {
    const std::int64_t least = std::min(shape["height"], shape["width"]) + 2 * shape["padding"];
    if (shape["kernel"] > least) return "kernel must not exceed the padded image";
    return std::nullopt;
  }

  std::vector<TensorSpec> tensors(const Workload& w) const override {
    const ConvSize size = conv_size(w.shape);
    return {{"input", TensorRole::input, size.batch * size.height * size.width * size.channels, w.dtype},
            {"filter", TensorRole::input, size.filters * size.depth, w.dtype},
            {"output", TensorRole::output, size.pixels * size.filters, w.dtype}};
  }

  Work work(const Workload& w, DeviceKind device) const override {
    const ConvSize size = conv_size(w.shape);
    const auto pixels = static_cast<double>(size.pixels);
    const auto filters = static_cast<double>(size.filters);
    const auto specs = tensors(w);
    Work work;
    work.flops[matrix_pipe(w.dtype, device)] = 2 * pixels * filters * static_cast<double>(size.depth);
    work.bytes[main_memory(device)] = {.read = static_cast<double>(specs[0].bytes() + specs[1].bytes()),
                                       .write = static_cast<double>(specs[2].bytes())};
    return work;
  }

  void reference(const Workload& w, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                 std::span<double> expected) const override;

  double reference_cost(const Workload& w) const override { return 2 * static_cast<double>(conv_size(w.shape).depth); }
  std::int64_t reference_run(const Workload& w) const override { return w.shape["filters"]; }
  std::vector<std::int64_t> edges(const Workload& w) const override;

  Tolerance tolerance(const Workload& w) const override;
  std::vector<Implementation> implementations() const override;
  std::vector<Shape> test_shapes(DeviceKind device) const override;
};

/// Calls `work(tap, first)` for each of the kernel * kernel taps of an output pixel: `first` is the input element
/// at which the tap's channels begin, or negative in the padding.
template <typename Work>
void for_each_tap(const ConvSize& size, std::int64_t pixel, Work work) {
  const std::int64_t image = pixel / (size.rows * size.columns);
  const std::int64_t top = pixel / size.columns % size.rows - size.padding;
  const std::int64_t left = pixel % size.columns - size.padding;
  for (std::int64_t tap = 0; tap < size.kernel * size.kernel; ++tap) {
    const std::int64_t y = top + tap / size.kernel;
    const std::int64_t x = left + tap % size.kernel;
    const bool inside = y >= 0 && y < size.height && x >= 0 && x < size.width;
    work(tap, inside ? ((image * size.height + y) * size.width + x) * size.channels : -1);
  }
}

/// The inputs that an output pixel depends on, in the order of a filter's elements, zeros in the padding.
/// `copy(first, to)` copies the channels that begin at an input element.
template <typename T, typename Copy>
void gather_window(const ConvSize& size, std::int64_t pixel, T* window, Copy copy) {
  for_each_tap(size, pixel, [&](std::int64_t tap, std::int64_t first) {
    T* to = window + tap * size.channels;
    if (first < 0) {
      std::fill_n(to, size.channels, T{0});
    } else {
      copy(first, to);
    }
  });
}

/// In eight sums, because a single one would be limited by the latency of additions.
double dot(const double* a, const double* b, std::int64_t count) {
  constexpr std::int64_t kSums = 8;
  double sums[kSums] = {};
  const std::int64_t whole = count / kSums * kSums;
  for (std::int64_t i = 0; i < whole; i += kSums) {
    for (std::int64_t j = 0; j < kSums; ++j) sums[j] += a[i + j] * b[i + j];
  }
  return std::accumulate(sums, sums + kSums, std::inner_product(a + whole, a + count, b + whole, 0.0));
}

void Conv2d::reference(const Workload& w, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                       std::span<double> expected) const {
  const ConvSize size = conv_size(w.shape);
  std::vector<double> window(static_cast<std::size_t>(size.depth));
  // Widening a filter takes as long as a product with it, so widened filters are kept as far as a cache holds
  // them.
  const bool kept = size.filters * size.depth <= std::int64_t{1} << 19;
  std::vector<std::vector<double>> filters(kept ? static_cast<std::size_t>(size.filters) : 1);
  const auto filter = [&](std::int64_t number) -> const double* {
    std::vector<double>& values = filters[kept ? static_cast<std::size_t>(number) : 0];
    if (kept && !values.empty()) return values.data();
    values.resize(window.size());
    inputs[1].read(number * size.depth, values);
    return values.data();
  };
  for_each_row(indices, expected, size.filters, [&](std::int64_t pixel, auto wanted, auto out) {
    gather_window(size, pixel, window.data(), [&](std::int64_t first, double* to) {
      inputs[0].read(first, {to, static_cast<std::size_t>(size.channels)});
    });
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      out[i] = dot(window.data(), filter(wanted[i] % size.filters), size.depth);
    }
  });
}

/// The corners of the first and of the last image, for the first and the last filter.
std::vector<std::int64_t> Conv2d::edges(const Workload& w) const {
  const ConvSize size = conv_size(w.shape);
  std::vector<std::int64_t> indices;
  for (const std::int64_t image : {std::int64_t{0}, size.batch - 1}) {
    for (const std::int64_t y : {std::int64_t{0}, size.rows - 1}) {
      for (const std::int64_t x : {std::int64_t{0}, size.columns - 1}) {
        const std::int64_t pixel = (image * size.rows + y) * size.columns + x;
        indices.push_back(pixel * size.filters);
        indices.push_back((pixel + 1) * size.filters - 1);
      }
    }
  }
  return indices;
}

/// Products of uniform elements in [-1, 1] have variance 1/9: a sum of `depth` of them has magnitude sqrt(depth) /
/// 3, after sqrt(depth) effective roundings.
Tolerance Conv2d::tolerance(const Workload& w) const {
  const auto depth = static_cast<double>(conv_size(w.shape).depth);
  return storage_tolerance(w.dtype, std::sqrt(depth) / 3, 4 + std::sqrt(depth));
}

template <typename T>
T output_of(const ConvSize& size, const T* input, const T* filter, std::int64_t pixel) {
  T sum{0};
  for_each_tap(size, pixel, [&](std::int64_t tap, std::int64_t first) {
    if (first < 0) return;
    for (std::int64_t c = 0; c < size.channels; ++c) sum += input[first + c] * filter[tap * size.channels + c];
  });
  return sum;
}

Kernel prepare_naive_conv(const Workload& w, Device& device) {
  auto& pool = as_cpu(device).pool();
  return with_cpu_type(w.dtype, [&]<typename T>() -> Kernel {
    return [&pool, size = conv_size(w.shape)](std::span<void* const> tensors) {
      const auto* input = elements<const T>(tensors, 0);
      const auto* filters = elements<const T>(tensors, 1);
      auto* output = elements<T>(tensors, 2);
      pool.for_range(size.pixels, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin * size.filters; i < end * size.filters; ++i) {
          output[i] = output_of(size, input, filters + i % size.filters * size.depth, i / size.filters);
        }
      });
    };
  });
}

/// Pixels per im2col block: many, because Eigen packs the filters again for each product, and few enough for the
/// caches. 4 MiB were 14 % faster than 1 MiB at 256 channels, and 16 MiB hardly faster than that.
std::int64_t pixels_at_a_time(const ConvSize& size, std::size_t element_bytes) {
  constexpr std::int64_t kWindowBytes = std::int64_t{4} << 20;
  const std::int64_t fit = kWindowBytes / (size.depth * static_cast<std::int64_t>(element_bytes));
  return std::min(std::clamp<std::int64_t>(fit / 48 * 48, 96, 960), size.pixels);
}

Kernel prepare_im2col(const Workload& w, Device& device) {
  auto& cpu = as_cpu(device);
  return with_cpu_type(w.dtype, [&]<typename T>() -> Kernel {
    const auto block = with_isa(cpu.isa(), []<Isa isa>() { return &conv_block<isa, T>; });
    const ConvSize size = conv_size(w.shape);
    const std::int64_t step = pixels_at_a_time(size, sizeof(T));
    std::vector<std::vector<T>> windows(static_cast<std::size_t>(cpu.pool().size()));
    for (auto& of_worker : windows) of_worker.resize(static_cast<std::size_t>(step * size.depth));
    return
        [&pool = cpu.pool(), block, size, step, windows = std::move(windows)](std::span<void* const> tensors) mutable {
          const auto* input = elements<const T>(tensors, 0);
          pool.run([&](int worker) {
            T* matrix = windows[static_cast<std::size_t>(worker)].data();
            const auto [begin, end] = static_partition(size.pixels, 1, worker, pool.size());
            for (std::int64_t first = begin; first < end; first += step) {
              const std::int64_t count = std::min(step, end - first);
              for (std::int64_t i = 0; i < count; ++i) {
                gather_window(size, first + i, matrix + i * size.depth,
                              [&](std::int64_t from, T* to) { std::copy_n(input + from, size.channels, to); });
              }
              block(matrix, elements<const T>(tensors, 1), elements<T>(tensors, 2) + first * size.filters, count,
                    size.filters, size.depth);
            }
          });
        };
  });
}

std::vector<Implementation> Conv2d::implementations() const {
  const auto in_fp32 = [this](std::string name, std::string summary, Kernel (*prepare)(const Workload&, Device&)) {
    return Implementation{
        .name = std::move(name),
        .summary = std::move(summary),
        .dtypes = cpu_dtypes(),
        .extra_traffic = [this](const Workload& w) { return fp32_copies(*this, w); },
        .prepare = [this, prepare](const Workload& w,
                                   Device& device) { return through_fp32(*this, w, device, prepare); }};
  };
  std::vector<Implementation> implementations = {
      in_fp32("naive", "all threads, one output at a time", prepare_naive_conv),
      in_fp32("im2col", "all threads; im2col into cache-sized blocks, then Eigen's blocked GEMM", prepare_im2col)};
  for (Implementation& implementation : direct_conv_implementations())
    implementations.push_back(std::move(implementation));
  return implementations;
}

std::vector<Shape> Conv2d::test_shapes(DeviceKind device) const {
  if (device == DeviceKind::cpu) {
    return {
        {{"batch", 1}, {"height", 1}, {"width", 1}, {"channels", 1}, {"filters", 1}, {"kernel", 1}, {"padding", 0}},
        {{"batch", 1}, {"height", 1}, {"width", 2}, {"channels", 3}, {"filters", 2}, {"kernel", 3}, {"padding", 1}},
        {{"batch", 2}, {"height", 7}, {"width", 5}, {"channels", 3}, {"filters", 10}, {"kernel", 3}, {"padding", 0}},
        {{"batch", 3}, {"height", 9}, {"width", 31}, {"channels", 19}, {"filters", 17}, {"kernel", 5}, {"padding", 2}},
        // So deep that a part is less than a row of a window, and so wide that one is less than a row of the
        // image.
        {{"batch", 1},
         {"height", 2},
         {"width", 40},
         {"channels", 5001},
         {"filters", 35},
         {"kernel", 3},
         {"padding", 1}},
        {{"batch", 2},
         {"height", 7},
         {"width", 270},
         {"channels", 130},
         {"filters", 70},
         {"kernel", 3},
         {"padding", 3}}};
  }
  return {
      {{"batch", 1}, {"height", 1}, {"width", 1}, {"channels", 1}, {"filters", 1}, {"kernel", 1}, {"padding", 0}},
      {{"batch", 1}, {"height", 1}, {"width", 1}, {"channels", 8}, {"filters", 8}, {"kernel", 3}, {"padding", 1}},
      {{"batch", 1}, {"height", 5}, {"width", 7}, {"channels", 3}, {"filters", 5}, {"kernel", 3}, {"padding", 1}},
      {{"batch", 3}, {"height", 9}, {"width", 11}, {"channels", 16}, {"filters", 24}, {"kernel", 3}, {"padding", 1}},
      {{"batch", 2}, {"height", 13}, {"width", 9}, {"channels", 8}, {"filters", 136}, {"kernel", 5}, {"padding", 2}},
      {{"batch", 1}, {"height", 14}, {"width", 14}, {"channels", 72}, {"filters", 40}, {"kernel", 3}, {"padding", 1}},
      {{"batch", 2}, {"height", 10}, {"width", 10}, {"channels", 20}, {"filters", 12}, {"kernel", 3}, {"padding", 0}},
      {{"batch", 1}, {"height", 8}, {"width", 8}, {"channels", 64}, {"filters", 64}, {"kernel", 1}, {"padding", 0}},
      {{"batch", 1}, {"height", 17}, {"width", 19}, {"channels", 64}, {"filters", 256}, {"kernel", 3}, {"padding", 2}},
      {{"batch", 1}, {"height", 12}, {"width", 12}, {"channels", 24}, {"filters", 264}, {"kernel", 7}, {"padding", 3}},
      {{"batch", 1}, {"height", 4}, {"width", 4}, {"channels", 8}, {"filters", 8}, {"kernel", 4}, {"padding", 3}},
      {{"batch", 3}, {"height", 57}, {"width", 55}, {"channels", 64}, {"filters", 320}, {"kernel", 3}, {"padding", 1}}};
}

const OpRegistrar kRegistrar(std::make_unique<Conv2d>());

}  // namespace
}  // namespace roofline
