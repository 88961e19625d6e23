#include "import/product_pipe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "import/above_roof.hpp"
#include "measure/statistics.hpp"
#include "model/bound.hpp"
#include "profile/intervals.hpp"
#include "profile/rows.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

/// Names of kernels for fp32 products on tensor cores: cuBLAS and cuDNN (sm80_xmma_gemm_f32f32_tf32f32_f32_…, nvjet_…),
/// CUTLASS (cutlass_80_tensorop_s1688gemm_…, OpClassTensorOp, tfloat32_t).
bool is_named_tf32(std::string_view kernel) {
  return contains_any(lower_case(kernel), {"tf32", "tfloat32", "s1688", "tensorop", "nvjet"});
}

/// Names of kernels for fp32 products without tensor cores: ampere_sgemm_…, cutlass_80_simt_sgemm_…, ampere_scudnn_….
bool is_named_fp32(std::string_view kernel) {
  return contains_any(lower_case(kernel), {"sgemm", "simt", "ffma", "scudnn", "f32f32_f32f32"});
}

class PipeAssignment {
 public:
  explicit PipeAssignment(std::vector<ProcessTrace>& traces) : traces_(traces) {
    for (ProcessTrace& trace : traces_) assign_by_name(trace);
  }

  /// On the GPUs whose roofs are this one's, which is `machine` or one of `others`.
  void assign_by_speed_on(const Machine& roofs, const Machine& machine, const std::vector<Machine>& others) {
    const Ceiling* fp32 = roofs.compute(Pipe::fp32);
    if (fp32 == nullptr || !(fp32->value > 0)) return;
    too_fast_.clear();
    for (const ProcessTrace& trace : traces_) find_too_fast(median_times(trace, roofs, machine, others), trace, roofs);
    const Ceiling* tf32 = roofs.compute(Pipe::tensor_tf32);
    const double most = tf32 != nullptr ? kAboveRoof * tf32->value / fp32->value : 0;
    for (ProcessTrace& trace : traces_) assign_by_speed(trace, most);
  }

 private:
  static std::string_view name_of(const ProcessTrace& trace, spool::Id kind) {
    return trace.text(trace.kind(kind).name);
  }

  static void move_to_tf32(ProcessTrace::Model& model, std::string_view evidence) {
    const auto product = model.work.flops.extract(Pipe::fp32);
    model.work.flops[Pipe::tensor_tf32] += product.mapped();
    model.by += fmt::format("; {} {}", to_string(Pipe::tensor_tf32), evidence);
  }

  static void assign_by_name(ProcessTrace& trace) {
    for (auto& [kind, model] : trace.models) {
      if (model.work.flops.contains(Pipe::fp32) && is_named_tf32(name_of(trace, kind))) {
        move_to_tf32(model, "by the kernel's name");
      }
    }
  }

  /// Median times of the signatures, of launches on GPUs that the roofs are of.
  static std::map<spool::Id, double> median_times(const ProcessTrace& trace, const Machine& roofs,
                                                  const Machine& machine, const std::vector<Machine>& others) {
    std::vector<std::string_view> names;
    for (const spool::Device& device : trace.devices) names.push_back(trace.text(device.name));
    const std::vector<const Machine*> of_devices = roofs_of_devices(names, machine, others);
    std::set<std::uint32_t> elsewhere;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (of_devices[i] != &roofs) elsewhere.insert(trace.devices[i].index);
    }
    std::map<spool::Id, std::vector<double>> times;
    for (const spool::Kernel& kernel : trace.kernels) {
      if (!trace.models.contains(kernel.kind) || elsewhere.contains(kernel.device)) continue;
      times[kernel.kind].push_back(seconds(kernel.end - kernel.start));
    }
    std::map<spool::Id, double> medians;
    for (auto& [kind, samples] : times) medians[kind] = median(std::move(samples));
    return medians;
  }

  /// A kernel that is too fast for fp32 in one row runs on the same pipe in all of them.
  void find_too_fast(const std::map<spool::Id, double>& times, const ProcessTrace& trace, const Machine& roofs) {
    for (const auto& [kind, time] : times) {
      const Work& work = trace.models.at(kind).work;
      if (!work.flops.contains(Pipe::fp32) || !(time > 0)) continue;
      const Bound bound = bound_of(work, roofs);
      const double fraction = fraction_of_roof(bound, time);
      if (bound.limiting_ceiling != to_string(Pipe::fp32) || !(fraction > kAboveRoof)) continue;
      double& highest = too_fast_[std::string(name_of(trace, kind))];
      highest = std::max(highest, fraction);
    }
  }

  /// `most` is the largest fraction of fp32's roof that tensor cores allow.
  void assign_by_speed(ProcessTrace& trace, double most) const {
    std::vector<spool::Id> unknown;
    for (auto& [kind, model] : trace.models) {
      const std::string name(name_of(trace, kind));
      const auto found = too_fast_.find(name);
      if (found == too_fast_.end() || !model.work.flops.contains(Pipe::fp32) || needs_fewer_operations(name)) continue;
      if (found->second <= most && !is_named_fp32(name)) {
        move_to_tf32(model, "because it is too fast for fp32");
      } else {
        unknown.push_back(kind);
        trace.uncounted.push_back({.kind = kind, .reason = static_cast<spool::Id>(trace.texts.size())});
        trace.texts.push_back(fmt::format("its pipe is not known: the FLOPs of its shapes take {} of fp32's roof",
                                          percent(found->second)));
      }
    }
    for (const spool::Id kind : unknown) trace.models.erase(kind);
  }

  std::vector<ProcessTrace>& traces_;
  std::map<std::string, double> too_fast_;  ///< kernels by name: the highest fraction of fp32's roof
};

}  // namespace

void assign_product_pipes(std::vector<ProcessTrace>& traces, const Machine& machine,
                          const std::vector<Machine>& others) {
  PipeAssignment assignment(traces);
  assignment.assign_by_speed_on(machine, machine, others);
  for (const Machine& other : others) assignment.assign_by_speed_on(other, machine, others);
}

}  // namespace roofline
