// Sum of all elements. Work model, reference, and the CPU's rungs; the CUDA ones are in reduction.cu.
//   naive       one thread, one addition after another in blocks of 1024: each waits for the one before
//   vectorized  all threads, 8 vector accumulators each; the same sum every time for a thread count
#include "kernels/reduction/reduction.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/cpu_launch.hpp"
#include "op/registry.hpp"
#include "op/tolerance.hpp"

namespace roofline {
namespace {

class Reduction final : public Op {
 public:
  std::string_view name() const override { return "reduction"; }
  std::string_view summary() const override { return "y = sum of all x"; }
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
    work.flops[vector_pipe(w.dtype)] = n;
    work.bytes[main_memory(device)] = {.read = n * size, .write = size};
    return work;
  }

  void reference(const Workload& w, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                 std::span<double> expected) const override;

  double reference_cost(const Workload& w) const override { return static_cast<double>(w.shape["n"]); }

  /// Uniform elements in [-1, 1] have variance 1/3. A sum in pieces, whose pieces are summed in turn, has
  /// at most log2(n) effective roundings for every shape of tree that keeps its serial runs under
  /// log2(n)^2 terms; 2 more of those leave room for serial runs of a thousand terms and their combination.
  Tolerance tolerance(const Workload& w) const override {
    const auto n = static_cast<double>(w.shape["n"]);
    return storage_tolerance(w.dtype, std::sqrt(n / 3), 2 * (1 + std::log2(n)));
  }

  std::vector<Implementation> implementations() const override;
};

void Reduction::reference(const Workload& w, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                          std::span<double> expected) const {
  constexpr std::int64_t kBlock = 4096;
  std::vector<double> block(kBlock);
  const std::int64_t n = w.shape["n"];
  double total = 0;
  for (std::int64_t first = 0; first < n; first += kBlock) {
    const auto part = std::span(block).first(static_cast<std::size_t>(std::min(kBlock, n - first)));
    inputs[0].read(first, part);
    total += std::accumulate(part.begin(), part.end(), 0.0);
  }
  for (std::size_t i = 0; i < indices.size(); ++i) expected[i] = total;
}

template <typename T>
T naive_sum(const T* x, std::int64_t n) {
  constexpr std::int64_t kBlock = 1024;
  T total = 0;
  T carried = 0;  // Kahan: only the sums of blocks are compensated, so the inner loop stays plain
  for (std::int64_t first = 0; first < n; first += kBlock) {
    T block = 0;
    for (std::int64_t i = first; i < std::min(first + kBlock, n); ++i) block += x[i];
    const T corrected = block - carried;
    const T next = total + corrected;
    carried = (next - total) - corrected;
    total = next;
  }
  return total;
}

Kernel prepare_naive(const Workload& w, Device&) {
  return with_cpu_type(w.dtype, [&]<typename T>() -> Kernel {
    return [n = w.shape["n"]](std::span<void* const> tensors) {
      *elements<T>(tensors, 1) = naive_sum(elements<T>(tensors, 0), n);
    };
  });
}

Kernel prepare_vectorized(const Workload& w, Device& device) {
  auto& cpu = as_cpu(device);
  return with_cpu_type(w.dtype, [&]<typename T>() -> Kernel {
    const auto range = with_isa(cpu.isa(), []<Isa isa>() { return &sum_range<isa, T>; });
    // A cache line each: neighbours would take the line from one another at the end of every launch.
    struct alignas(64) Partial {
      double sum = 0;
    };
    std::vector<Partial> partials(static_cast<std::size_t>(cpu.pool().size()));
    return [&pool = cpu.pool(), range, partials, n = w.shape["n"]](std::span<void* const> tensors) mutable {
      const T* x = elements<T>(tensors, 0);
      pool.run([&](int worker) {
        const auto [begin, end] = share_of(n, 4096 / sizeof(T), worker, pool.size());
        partials[static_cast<std::size_t>(worker)].sum = range(x + begin, end - begin);
      });
      double total = 0;
      for (const auto& partial : partials) total += partial.sum;
      *elements<T>(tensors, 1) = static_cast<T>(total);
    };
  });
}

std::vector<Implementation> Reduction::implementations() const {
  const std::vector<DType> dtypes{DType::fp32, DType::fp64};
  return {{.name = "naive", .summary = "one thread, one running sum", .dtypes = dtypes, .prepare = prepare_naive},
          {.name = "vectorized",
           .summary = "all threads, 8 vector accumulators each",
           .dtypes = dtypes,
           .prepare = prepare_vectorized}};
}

const OpRegistrar kRegistrar(std::make_unique<Reduction>());

}  // namespace
}  // namespace roofline
