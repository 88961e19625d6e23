// RMS normalisation over the last axis. Work model, reference and CPU implementations; the CUDA ones are in
// rmsnorm.cu.
//   naive       single thread, two scalar loops over each row
//   vectorized  all threads; a row is reduced while the previous one is scaled and stored
#include "kernels/rmsnorm/rmsnorm.hpp"

#include <cmath>

#include "kernels/blocks/cpu/normalise_rows.hpp"
#include "kernels/blocks/row_wise.hpp"
#include "op/registry.hpp"
#include "op/tolerance.hpp"

namespace roofline {
namespace {

class RmsNorm final : public RowWise {
 public:
  RmsNorm() : RowWise({"gamma"}) {}

  std::string_view name() const override { return "rmsnorm"; }
  std::string_view summary() const override { return "y = x / sqrt(mean of x^2 + 1e-5) * gamma, row by row"; }
  double reference_cost(const Workload&) const override { return 6; }

  /// Outputs are a normalised value (up to 1.73 for uniform data, at most sqrt(cols)) times a gamma below 1:
  /// magnitude 1. Squares are positive, so the rounding of their sum is at most that of its terms in sequence; 8
  /// more follow.
  Tolerance tolerance(const Workload& w) const override {
    const auto columns = static_cast<double>(w.shape["cols"]);
    return storage_tolerance(w.dtype, 1, 8 + std::sqrt(columns));
  }

  std::vector<Implementation> implementations() const override;

 protected:
  /// 5 FLOPs per element: mean of squares 2 (square, add), normalising 1, gamma 1, and as in layer norm's
  /// convention 1 for what a row shares.
  std::map<Pipe, double> flops(DType dtype, DeviceKind) const override { return {{vector_pipe(dtype), 5}}; }

  void evaluate(Eigen::ArrayXd& row, std::span<const Eigen::ArrayXd> vectors) const override {
    row *= 1 / std::sqrt(row.square().mean() + kRmsNormEpsilon);
    row *= vectors[0];
  }
};

constexpr auto kNaiveRmsnormRow = []<typename T>(const T* x, const T* gamma, T* y, std::int64_t columns) {
  T squares = 0;
  for (std::int64_t i = 0; i < columns; ++i) squares += x[i] * x[i];
  const T scale = T{1} / std::sqrt(squares / static_cast<T>(columns) + static_cast<T>(kRmsNormEpsilon));
  for (std::int64_t i = 0; i < columns; ++i) y[i] = x[i] * scale * gamma[i];
};

std::vector<Implementation> RmsNorm::implementations() const {
  const std::vector<DType> dtypes = cpu_dtypes();
  return {{.name = "naive",
           .summary = "single thread, two scalar loops per row",
           .dtypes = dtypes,
           .prepare = [](const Workload& w, Device&) { return plain_rows<1>(w, kNaiveRmsnormRow); }},
          {.name = "vectorized",
           .summary = "all threads, vectors, non-temporal stores; a row is reduced while the previous one is stored",
           .dtypes = dtypes,
           .non_temporal_stores = true,
           .prepare = [this](const Workload& w, Device& device) {
             return threaded_rows<1>(*this, w, device, []<Isa isa, typename T>() {
               return +[](const T* x, const T* gamma, T* y, std::int64_t rows, std::int64_t columns, bool streamed) {
                 normalise_rows<isa, T>(x, gamma, nullptr, y, rows, columns, kRmsNormEpsilon, streamed);
               };
             });
           }}};
}

const OpRegistrar kRegistrar(std::make_unique<RmsNorm>());

}  // namespace
}  // namespace roofline
