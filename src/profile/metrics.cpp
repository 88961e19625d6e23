#include "profile/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "device/cuda/counter_metrics.hpp"

namespace roofline {
namespace {

/// Quantities of the hardware, in the order that needs the fewest passes (docs/evidence/profile-counting.md). Times and
/// clocks are left out: those of a range around a launch are not the kernel's, and the trace has them.
constexpr std::string_view kHardware[] = {"l1.hit_rate",
                                          "tensor.active",
                                          "tensor.fp8_ops",
                                          "sm.active_cycles",
                                          "tensor.wgmma_int8_ops",
                                          "dram.read_bytes",
                                          "l2.all_bytes",
                                          "l1.bytes",
                                          "l2.bytes",
                                          "occupancy",
                                          "tensor.mma_fp16_fp16_ops",
                                          "dram.write_bytes",
                                          "tensor.fp64_ops",
                                          "shared.bank_conflicts",
                                          "tensor.mma_bf16_ops",
                                          "shared.wavefronts",
                                          "tensor.wgmma_bf16_ops",
                                          "tensor.wgmma_fp16_ops"};
/// The L2 hit rate takes two passes, its numerator and denominator one.
constexpr std::string_view kHitRate =
    "l2.hit_sectors 1 lts__t_sectors_lookup_hit.sum\nl2.sectors 1 lts__t_sectors.sum\n";
constexpr std::string_view kLast[] = {"tensor.wgmma_tf32_ops", "tensor.mma_fp16_ops"};

std::string line_of(const CounterMetric& metric) {
  std::string text = fmt::format("{} {:.17g}", metric.id, metric.scale);
  for (const std::string_view candidate : metric.candidates) {
    if (!candidate.empty()) text += fmt::format(" {}", candidate);
  }
  return text + '\n';
}

template <typename List>
std::string lines_of(const List& ids) {
  std::string text;
  for (const std::string_view id : ids) {
    const auto all = counter_metrics();
    const auto metric = std::find_if(all.begin(), all.end(), [id](const CounterMetric& m) { return m.id == id; });
    if (metric != all.end()) text += line_of(*metric);
  }
  return text;
}

bool is_instrumented(const CounterMetric& metric) {
  return metric.set == CounterSet::standard && metric.candidates[0].find("_sass_") != std::string_view::npos;
}

}  // namespace

std::string metrics_text() {
  std::string text = lines_of(kHardware) + std::string(kHitRate) + lines_of(kLast);
  for (const CounterMetric& metric : counter_metrics()) {
    if (is_instrumented(metric)) text += line_of(metric);
  }
  return text;
}

}  // namespace roofline
