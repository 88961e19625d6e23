// Layer normalisation over the last axis. Work model, reference and CPU implementations; the CUDA ones are in
// layernorm.cu.
//   naive       single thread, three scalar loops over each row
//   vectorized  all threads, one row at a time in the cache, the next one loaded meanwhile
#include "kernels/layernorm/layernorm.hpp"

#include <cmath>

#include "kernels/blocks/cpu/normalise_rows.hpp"
#include "kernels/blocks/row_wise.hpp"
#include "op/registry.hpp"
#include "op/tolerance.hpp"

namespace roofline {
namespace {

class LayerNorm final : public RowWise {
 public:
  LayerNorm() : RowWise({"gamma", "beta"}) {}

  std::string_view name() const override { return "layernorm"; }
  std::string_view summary() const override {
    return "y = (x - mean) / sqrt(variance + 1e-5) * gamma + beta, row by row";
  }
  double reference_cost(const Workload&) const override { return 10; }

  /// Outputs are a normalised value (up to 1.73 for uniform data) times a gamma below 1, plus a beta: magnitude
  /// 1. Mean and variance are sums over the row, and 8 roundings follow them. A row of few elements may have
  /// almost no variance; its own roundings are then divided by its small deviation.
  Tolerance tolerance(const Workload& w) const override {
    const auto columns = static_cast<double>(w.shape["cols"]);
    return storage_tolerance(w.dtype, 1, 8 + std::sqrt(columns) + (columns < 8 ? 512 : 0));
  }

  std::vector<Implementation> implementations() const override;

 protected:
  /// 10 FLOPs per element: mean 1, variance 3 (subtract, square, add), normalising 2 (subtract, scale), gamma and
  /// beta 2, and by convention 2 for what a row shares.
  std::map<Pipe, double> flops(DType dtype, DeviceKind) const override { return {{vector_pipe(dtype), 10}}; }

  void evaluate(Eigen::ArrayXd& row, std::span<const Eigen::ArrayXd> vectors) const override {
    row -= row.mean();
    row /= std::sqrt(row.square().mean() + kLayerNormEpsilon);
    row = row * vectors[0] + vectors[1];
  }
};

constexpr auto kNaiveLayernormRow = []<typename T>(const T* x, const T* gamma, const T* beta, T* y,
                                                   std::int64_t columns) {
  T sum = 0;
  for (std::int64_t i = 0; i < columns; ++i) sum += x[i];
  const T mean = sum / static_cast<T>(columns);
  T squares = 0;
  for (std::int64_t i = 0; i < columns; ++i) squares += (x[i] - mean) * (x[i] - mean);
  const T scale = T{1} / std::sqrt(squares / static_cast<T>(columns) + static_cast<T>(kLayerNormEpsilon));
  for (std::int64_t i = 0; i < columns; ++i) y[i] = (x[i] - mean) * scale * gamma[i] + beta[i];
};

std::vector<Implementation> LayerNorm::implementations() const {
  const std::vector<DType> dtypes = cpu_dtypes();
  return {{.name = "naive",
           .summary = "single thread, three scalar loops per row",
           .dtypes = dtypes,
           .prepare = [](const Workload& w, Device&) { return plain_rows<2>(w, kNaiveLayernormRow); }},
          {.name = "vectorized",
           .summary = "all threads, vectors, non-temporal stores; a row is reduced while the previous one is stored",
           .dtypes = dtypes,
           .non_temporal_stores = true,
           .prepare = [this](const Workload& w, Device& device) {
             return threaded_rows<2>(*this, w, device, []<Isa isa, typename T>() {
               return +[](const T* x, const T* gamma, const T* beta, T* y, std::int64_t rows, std::int64_t columns,
                          bool streamed) {
                 normalise_rows<isa, T>(x, gamma, beta, y, rows, columns, kLayerNormEpsilon, streamed);
               };
             });
           }}};
}

const OpRegistrar kRegistrar(std::make_unique<LayerNorm>());

}  // namespace
}  // namespace roofline
