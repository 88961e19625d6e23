// Products on the plain fp32 pipe, and grids that are smaller than the GPU.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "profile/causes/detectors.hpp"
#include "profile/causes/kernel_names.hpp"
#include "profile/symbols.hpp"
#include "report/gpu_units.hpp"
#include "text/demangle.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

/// Minimum time of an fp32 product as TF32, as a fraction of its time.
double tf32_share(const Machine& machine) {
  constexpr double kUnmeasured = 0.5;  // TF32 is 7 to 8 times as fast on data sheets; products also wait for memory
  const Ceiling* const plain = machine.find("fp32");
  const Ceiling* const tensor = machine.find("tensor.tf32");
  if (plain == nullptr || tensor == nullptr || !(plain->value > 0) || !(tensor->value > plain->value)) {
    return kUnmeasured;
  }
  return plain->value / tensor->value;
}

/// Minimum time of an fp64 product as TF32 or fp32, as a fraction of its time.
double single_precision_share(const Machine& machine) {
  constexpr double kUnmeasured = 0.5;  // data sheets: half the rate on GPUs for such work, a 64th on others
  const auto roof = [&](const char* tensor, const char* plain) {
    const Ceiling* const found = machine.find(tensor) != nullptr ? machine.find(tensor) : machine.find(plain);
    return found != nullptr ? found->value : 0;
  };
  const double now = roof("tensor.fp64", "fp64"), then = roof("tensor.tf32", "fp32");
  return now > 0 && then > now ? now / then : kUnmeasured;
}

/// What determines the number of blocks of such a kernel.
CauseDetail detail_of_grid(std::string_view symbol) {
  if (is_reduction(symbol)) return CauseDetail::long_sums;
  return symbol.empty() || is_of_library(symbol) ? CauseDetail::none : CauseDetail::own_grid;
}

}  // namespace

std::vector<FoundCause> find_plain_fp32_products(const CauseInputs& inputs) {
  constexpr std::uint32_t kFirstWithTf32 = 8;  // compute capability
  const StepActivities& steps = inputs.steps;
  const FaultyKernels products = faulty_kernels(inputs, [&](const StepActivity& entry) {
    const SeenDevice& device = steps.recording.devices[static_cast<std::size_t>(entry.activity->device)];
    return device.about.compute_major >= kFirstWithTf32 && is_plain_fp32_product(entry.symbol);
  });
  if (products.sum.count == 0) return {};
  FoundCause found = products.cause(SavingCause::no_tf32, inputs);
  found.saving.seconds *= 1 - tf32_share(inputs.machine);
  found.saving.what = "Products in fp32 do not use the tensor cores";
  found.saving.evidence = products.amount(steps, "matrix products on the FP32 pipe");
  return {std::move(found)};
}

std::vector<FoundCause> find_double_precision_products(const CauseInputs& inputs) {
  // PyTorch defaults to single precision: double often comes from a NumPy array. Elsewhere it is intended.
  if (inputs.framework != Framework::torch) return {};
  const FaultyKernels products =
      faulty_kernels(inputs, [](const StepActivity& entry) { return is_double_precision_product(entry.symbol); });
  if (products.sum.count == 0) return {};
  const double share = single_precision_share(inputs.machine);
  FoundCause found = products.cause(SavingCause::double_precision, inputs);
  found.saving.seconds *= 1 - share;
  found.saving.what = "Products are computed in double precision";
  found.saving.evidence = fmt::format("{}; single precision is {} as fast here",
                                      products.amount(inputs.steps, "products in fp64"), factor(1 / share));
  return {std::move(found)};
}

std::vector<FoundCause> find_small_grids(const CauseInputs& inputs) {
  constexpr double kTiny = 10e-6;         // seconds: of shorter kernels the launch decides
  constexpr double kOfKernelTime = 0.25;  // that such kernels take at least
  constexpr int kFraction = 2;            // of the SMs that stay idle at least: one in two
  constexpr double kBeside = 0.1;         // of its time that a kernel may have another one beside it
  const StepActivities& steps = inputs.steps;
  // Kernels side by side share the GPU: only what runs alone leaves SMs idle.
  std::map<int, std::uint64_t> busy_until;
  FaultyKernels small;
  double saved = 0;
  std::int64_t most_blocks = 0;
  std::uint32_t sms = 0;
  std::string_view gpu;
  for (std::size_t i = 0; i < steps.all.size(); ++i) {
    const StepActivity& entry = steps.all[i];
    const Activity& activity = *entry.activity;
    if (activity.what != ActivityKind::kernel) continue;
    std::uint64_t& until = busy_until[activity.device];
    std::uint64_t beside = std::min(until, activity.end) - std::min(until, activity.start);
    until = std::max(until, activity.end);
    std::size_t next = i + 1;
    while (next < steps.all.size() && (steps.all[next].activity->what != ActivityKind::kernel ||
                                       steps.all[next].activity->device != activity.device)) {
      ++next;
    }
    if (next < steps.all.size()) {
      beside += activity.end - std::min(activity.end, std::max(activity.start, steps.all[next].activity->start));
    }
    // Of two kernels in sequence, the second can begin some nanoseconds before the first has ended.
    const bool alone = static_cast<double>(beside) < kBeside * static_cast<double>(activity.end - activity.start);
    const std::uint32_t units = steps.recording.devices[static_cast<std::size_t>(activity.device)].about.sms;
    const std::int64_t blocks = entry.blocks();
    if (!alone || !inputs.free(entry) || entry.seconds < kTiny || blocks == 0 || blocks * kFraction > units ||
        is_collective(entry.symbol)) {
      continue;
    }
    small.add(steps, entry);
    saved += entry.seconds * (1 - static_cast<double>(blocks) / units);
    most_blocks = std::max(most_blocks, blocks);
    sms = units;
    gpu = steps.recording.devices[static_cast<std::size_t>(activity.device)].name;
  }
  const FaultyActivities& sum = small.sum;
  if (sum.seconds < kOfKernelTime * steps.kernel_s) return {};
  const std::string symbol =
      sum.group() < 0 ? "" : steps.recording.groups[static_cast<std::size_t>(sum.group())].symbol;
  const CauseDetail detail = detail_of_grid(symbol);
  FoundCause found = small.cause(SavingCause::small_batch, inputs, detail);
  found.saving.seconds = saved;
  found.saving.what = what_is_lost(SavingCause::small_batch, detail);
  const GpuUnitName unit = gpu_unit_name(gpu_vendor(gpu));
  found.saving.evidence = fmt::format("{} kernels with at most {} block{} for {} {} take {}, {} of the kernel time",
                                      count(sum.count), most_blocks, most_blocks == 1 ? "" : "s", sms, unit.many,
                                      duration(sum.seconds), percent(sum.seconds / steps.kernel_s));
  if (!symbol.empty()) found.saving.evidence += fmt::format("; mostly {}", short_name(demangled(symbol)));
  return {std::move(found)};
}

}  // namespace roofline
