// Sum and maximum of all elements: two ops of one kind. Work model, reference and CPU implementations; the CUDA ones
// are in reduction.cu.
//   naive       single thread, one operation after another: each waits for the previous
//   vectorized  all threads, 8 vector accumulators each; the same result every time for a thread count
#include "kernels/reduction/reduction.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/blocks/cpu/cpu_launch.hpp"
#include "op/registry.hpp"
#include "op/tolerance.hpp"

namespace roofline {
namespace {

/// Common to both.
class Reduction : public Op {
 public:
  std::string_view family() const override { return "reduction"; }

  std::vector<ShapeParameter> parameters() const override {
    return {{.name = "n", .meaning = "elements", .default_value = std::int64_t{1} << 26}};
  }

  std::vector<TensorSpec> tensors(const Workload& w) const override {
    return {{"x", TensorRole::input, w.shape["n"], w.dtype}, {"y", TensorRole::output, 1, w.dtype}};
  }

  Work work(const Workload& w, DeviceKind device) const override {
    const auto n = static_cast<double>(w.shape["n"]);
    const auto size = static_cast<double>(element_size(w.dtype));
    Work work;
    work.flops[vector_pipe(w.dtype)] = n;  // one addition or comparison each
    work.bytes[main_memory(device)] = {.read = n * size, .write = size};
    return work;
  }

  void reference(const Workload& w, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                 std::span<double> expected) const override {
    constexpr std::int64_t kBlock = 4096;
    std::vector<double> block(kBlock);
    const std::int64_t n = w.shape["n"];
    double total = identity();
    for (std::int64_t first = 0; first < n; first += kBlock) {
      const auto part = std::span(block).first(static_cast<std::size_t>(std::min(kBlock, n - first)));
      inputs[0].read(first, part);
      total = joined(total, part);
    }
    for (std::size_t i = 0; i < indices.size(); ++i) expected[i] = total;
  }

  double reference_cost(const Workload& w) const override { return static_cast<double>(w.shape["n"]); }

  std::vector<Shape> test_shapes(DeviceKind device) const override {
    if (device == DeviceKind::cpu) return {{{"n", 1}}, {{"n", 4097}}, {{"n", 1'000'003}}};
    return {{{"n", 1}}, {{"n", 31}}, {{"n", 1000003}}, {{"n", 1 << 24}}};
  }

 private:
  virtual double identity() const = 0;
  virtual double joined(double total, std::span<const double> part) const = 0;
};

class Addition final : public Reduction {
 public:
  std::string_view name() const override { return "reduction"; }
  std::string_view summary() const override { return "y = sum of all x"; }

  /// Uniform elements in [-1, 1] have variance 1/3. A sum of partial sums has at most log2(n) effective roundings
  /// for every tree whose serial runs have fewer than log2(n)^2 terms; 2 more allow for serial runs of a thousand
  /// terms and their combination.
  Tolerance tolerance(const Workload& w) const override {
    const auto n = static_cast<double>(w.shape["n"]);
    return storage_tolerance(w.dtype, std::sqrt(n / 3), 2 * (1 + std::log2(n)));
  }

  std::vector<Implementation> implementations() const override;

 private:
  double identity() const override { return 0; }
  double joined(double total, std::span<const double> part) const override {
    return total + std::accumulate(part.begin(), part.end(), 0.0);
  }
};

class Maximum final : public Reduction {
 public:
  std::string_view name() const override { return "maximum"; }
  std::string_view summary() const override { return "y = maximum of all x"; }

  /// Nothing is rounded: the output is an input. Half an ulp is the resolution of the metric.
  Tolerance tolerance(const Workload& w) const override {
    return {.relative = unit_roundoff(w.dtype), .magnitude = 0.5};
  }

  std::vector<Implementation> implementations() const override;

 private:
  double identity() const override { return -std::numeric_limits<double>::infinity(); }
  double joined(double total, std::span<const double> part) const override {
    return std::max(total, *std::max_element(part.begin(), part.end()));
  }
};

template <typename T>
Computed<T> naive_sum(const T* x, std::int64_t n) {
  using Value = Computed<T>;
  constexpr std::int64_t kBlock = 1024;
  Value total = 0;
  Value carried = 0;  // Kahan: only the sums of blocks are compensated, so the inner loop stays simple
  for (std::int64_t first = 0; first < n; first += kBlock) {
    Value block = 0;
    for (std::int64_t i = first; i < std::min(first + kBlock, n); ++i) block += widened(x[i]);
    const Value corrected = block - carried;
    const Value next = total + corrected;
    carried = (next - total) - corrected;
    total = next;
  }
  return total;
}

template <typename T>
Computed<T> naive_maximum(const T* x, std::int64_t n) {
  Computed<T> largest = widened(x[0]);
  for (std::int64_t i = 1; i < n; ++i) largest = std::max(largest, widened(x[i]));
  return largest;
}

enum class Kind { sum, maximum };

template <Kind kind>
Kernel prepare_naive_reduction(const Workload& w, Device&) {
  return with_element_type(w.dtype, [&]<typename T>() -> Kernel {
    return [n = w.shape["n"]](std::span<void* const> tensors) {
      const T* x = elements<T>(tensors, 0);
      *elements<T>(tensors, 1) = narrowed<T>(kind == Kind::sum ? naive_sum(x, n) : naive_maximum(x, n));
    };
  });
}

template <Kind kind>
Kernel prepare_vectorized(const Workload& w, Device& device) {
  auto& cpu = as_cpu(device);
  return with_element_type(w.dtype, [&]<typename T>() -> Kernel {
    const auto range =
        with_isa(cpu.isa(), []<Isa isa>() { return kind == Kind::sum ? &sum_range<isa, T> : &maximum_range<isa, T>; });
    // Parts of fixed length for every schedule, so that the sum is reproducible.
    constexpr std::int64_t kPage = 4096 / sizeof(T);
    const std::int64_t n = w.shape["n"];
    const std::int64_t pages = ceil_div(n, 16 * cpu.pool().size() * kPage);
    const std::int64_t piece = std::min<std::int64_t>(pages * kPage, kMinChunkBytes / sizeof(T));
    std::vector<double> partials(static_cast<std::size_t>(ceil_div(n, piece)));
    return [&pool = cpu.pool(), range, n, piece, partials](std::span<void* const> tensors) mutable {
      const T* x = elements<T>(tensors, 0);
      pool.for_chunks(static_cast<std::int64_t>(partials.size()), 1, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          partials[static_cast<std::size_t>(i)] = range(x + i * piece, std::min(piece, n - i * piece));
        }
      });
      double total = partials[0];
      for (std::size_t i = 1; i < partials.size(); ++i) {
        total = kind == Kind::sum ? total + partials[i] : std::max(total, partials[i]);
      }
      *elements<T>(tensors, 1) = narrowed<T>(static_cast<Computed<T>>(total));
    };
  });
}

template <Kind kind>
std::vector<Implementation> ladder() {
  const std::vector<DType> dtypes = cpu_dtypes();
  return {{.name = "naive",
           .summary = "single thread, scalar loop",
           .dtypes = dtypes,
           .prepare = prepare_naive_reduction<kind>},
          {.name = "vectorized",
           .summary = "all threads, 8 vector accumulators each",
           .dtypes = dtypes,
           .prepare = prepare_vectorized<kind>}};
}

std::vector<Implementation> Addition::implementations() const { return ladder<Kind::sum>(); }
std::vector<Implementation> Maximum::implementations() const { return ladder<Kind::maximum>(); }

const OpRegistrar kSum(std::make_unique<Addition>());
const OpRegistrar kMaximum(std::make_unique<Maximum>());

}  // namespace
}  // namespace roofline
