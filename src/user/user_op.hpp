// An op made of a suite's YAML: its tensors, work and reference are formulas.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "op/suite_op.hpp"
#include "user/kernel_spec.hpp"

namespace roofline {

class UserOp final : public SuiteOp {
 public:
  /// `same_as`: the reference kernel, if the description names one; else null.
  explicit UserOp(std::shared_ptr<const KernelSpec> spec, std::shared_ptr<const KernelSpec> same_as = {});
  ~UserOp() override;

  std::string_view name() const override;
  std::string_view summary() const override;
  std::string_view family() const override { return "user kernel"; }
  std::vector<ShapeParameter> parameters() const override;
  std::vector<TensorSpec> tensors(const Workload& workload) const override;
  Work work(const Workload& workload, DeviceKind device) const override;
  void reference(const Workload& workload, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                 std::span<double> expected) const override;
  void expectations(const Workload& workload, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                    std::span<Expectation> expected) const override;
  /// After prepare_reference() with the iterations of reductions, which may depend on the inputs' values.
  double reference_cost(const Workload& workload) const override;
  Tolerance tolerance(const Workload& workload) const override;
  /// Of each output, seen as rows of each extent of the shape, or of two of them: both ends of some rows.
  std::vector<std::int64_t> edges(const Workload& workload) const override;
  std::vector<Implementation> implementations() const override;

  void fill(const Workload& workload, std::size_t t, std::uint64_t seed, HostTensor& tensor) const override;
  bool start_repeats(std::size_t t) const override;
  bool has_reference() const override;
  void prepare_reference(const Workload& workload, Device& device, std::span<const HostTensor> inputs) const override;
  std::string reference_name() const override;
  std::optional<WorkBounds> work_bounds(const Workload& workload, std::span<const HostTensor> inputs) const override;
  bool wants_counted_work() const override;

  const KernelSpec& spec() const { return *spec_; }
  /// The type of a row: that of the first output.
  DType dtype() const;

 private:
  struct Known;  ///< expected values that are not formulas
  Tolerance tolerance_of(std::size_t output) const;
  std::optional<Tolerance> stated_tolerance(std::size_t output) const;
  Expectation known_value(const TensorSpec& tensor, std::size_t output, std::int64_t index) const;
  void run_what_is_right(const Workload& workload, Device& device, std::span<const HostTensor> inputs) const;
  std::shared_ptr<const KernelSpec> spec_;
  std::shared_ptr<const KernelSpec> same_as_;
  std::string summary_;
  std::unique_ptr<Known> known_;
};

}  // namespace roofline
