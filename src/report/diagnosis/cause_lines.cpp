#include "report/diagnosis/cause_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {

bool is_library_kernel(std::string_view kernel) {
  return contains_any(kernel, {"cublas",
                               "cudnn",
                               "nvjet",
                               "xmma",
                               "cutlass",
                               "cufft",
                               "cusparse",
                               "cub::",
                               "at::native",
                               "pytorch_flash",
                               "flash_fwd",
                               "flash_bwd",
                               "multi_tensor_apply",
                               "ncclDevKernel",
                               "cupy_",
                               "cupyx_",
                               "regular_fft",
                               "vector_fft",
                               "bluestein_fft",
                               "composite_2way_fft"});
}

bool is_inductor_kernel(std::string_view kernel) {
  return contains_any(kernel, {"triton_poi_", "triton_red_", "triton_per_"});
}

bool is_generated_kernel(std::string_view kernel) {
  const bool of_xla = contains_any(kernel, {"loop_", "input_", "transpose_", "gemm_", "concatenate_", "scatter_"}) &&
                      contains_any(kernel, {"_fusion"});
  return of_xla || kernel.starts_with("wrapped_") || is_inductor_kernel(kernel);
}

std::optional<double> fusing_tool_of(const ProfiledKind& kernel) {
  if (!kernel.module.empty() || contains_any(kernel.full_name, {"at::native", "at6native", "c10::"})) return 0;
  return kernel.full_name.starts_with("cupy") ? std::optional(1.0) : std::nullopt;
}

bool adds_by_index(std::string_view kernel) {
  const bool by_index = contains_any(kernel, {"indexFuncLargeIndex", "indexFuncSmallIndex", "scatter_gather"});
  return (by_index && contains_any(kernel, {"ReduceAdd"})) || contains_any(kernel, {"kernelHistogram1D"});
}

const SampledWait* wait_behind(const Point& point, std::string_view rule) {
  if (!point.profiled || !point.profiled->sampled) return nullptr;
  struct About {
    std::string_view rule;
    WaitFor what;
  };
  static constexpr std::array kAbout = {About{"local-memory-waits", WaitFor::local_memory},
                                        About{"spills", WaitFor::local_memory},
                                        About{"global-atomic-waits", WaitFor::global_atomic},
                                        About{"shared-atomic-waits", WaitFor::shared_atomic},
                                        About{"fence-waits", WaitFor::fence},
                                        About{"constant-waits", WaitFor::constant},
                                        About{"division-waits", WaitFor::division},
                                        About{"slow-trigonometry", WaitFor::reduction},
                                        About{"trigonometry-waits", WaitFor::trigonometry},
                                        About{"random-init", WaitFor::random_init},
                                        About{"rereads-from-l2", WaitFor::global_load},
                                        About{"exchange-waits", WaitFor::exchange},
                                        About{"serial-section", WaitFor::barrier},
                                        About{"narrow-blocks", WaitFor::global_load},
                                        About{"product-waits-for-loads", WaitFor::global_load},
                                        About{"fp64-waits", WaitFor::fp64},
                                        About{"special-waits", WaitFor::special},
                                        About{"conversion-waits", WaitFor::conversion},
                                        About{"barrier-waits", WaitFor::barrier},
                                        About{"fetch-waits", WaitFor::code},
                                        About{"fetch-stalls", WaitFor::code},
                                        About{"ragged-block", WaitFor::issuing},
                                        About{"rewritten-operands", WaitFor::barrier},
                                        About{"widened-products", WaitFor::shared_load},
                                        About{"widened-products", WaitFor::issuing},
                                        About{"barrier-stalls", WaitFor::barrier},
                                        About{"uncoalesced-loads", WaitFor::global_load},
                                        About{"scattered-loads", WaitFor::global_load},
                                        About{"many-sector-loads", WaitFor::global_load},
                                        About{"narrow-loads", WaitFor::global_load},
                                        About{"memory-stalls", WaitFor::global_load},
                                        About{"uncoalesced-stores", WaitFor::global_store},
                                        About{"scattered-stores", WaitFor::global_store},
                                        About{"many-sector-stores", WaitFor::global_store},
                                        About{"bank-conflicts", WaitFor::shared_load},
                                        About{"bank-conflicts", WaitFor::shared_store},
                                        About{"bank-conflict-cycles", WaitFor::shared_load},
                                        About{"bank-conflict-cycles", WaitFor::shared_store},
                                        About{"shared-stalls", WaitFor::shared_load},
                                        About{"bank-conflict-waits", WaitFor::shared_load},
                                        About{"bank-conflict-waits", WaitFor::shared_store},
                                        About{"shared-memory-waits", WaitFor::shared_load},
                                        About{"shared-memory-waits", WaitFor::shared_store},
                                        About{"result-waits", WaitFor::result},
                                        About{"double-precision", WaitFor::fp64},
                                        About{"double-among-single", WaitFor::conversion},
                                        About{"double-among-single", WaitFor::division},
                                        About{"double-among-single", WaitFor::fp64},
                                        About{"atomic-queues", WaitFor::global_atomic},
                                        About{"immediate-constant-waits", WaitFor::immediate},
                                        About{"fp32-products", WaitFor::ready},
                                        About{"fp32-products", WaitFor::issuing},
                                        About{"issue-full", WaitFor::ready},
                                        About{"issue-full", WaitFor::issuing},
                                        About{"arithmetic-limited", WaitFor::issuing},
                                        About{"issue-limited", WaitFor::issuing},
                                        About{"dependency-stalls", WaitFor::result}};
  /// Waits that are too few to be what a rule is about.
  constexpr double kLeast = 0.05;
  const std::vector<SampledWait>& waits = point.profiled->sampled->waits;
  // A store only waits for room in the queue, a load for its data too.
  constexpr double kOfStores = 2;
  const auto weight = [](const SampledWait& wait) {
    return wait.what == WaitFor::shared_store ? kOfStores * wait.share : wait.share;
  };
  const SampledWait* found = nullptr;
  bool listed = false;
  for (const About& about : kAbout) {
    if (about.rule != rule) continue;
    listed = true;
    for (const SampledWait& wait : waits) {
      if (wait.what == about.what && wait.share >= kLeast && (found == nullptr || weight(wait) > weight(*found))) {
        found = &wait;
      }
    }
  }
  if (listed) return found;
  for (const SampledWait& wait : waits) {
    if (wait.what != WaitFor::issuing && wait.what != WaitFor::ready && wait.share >= kLeast) return &wait;
  }
  return nullptr;
}

void add_lines(std::vector<Advice>& advice, const Point& point) {
  for (Advice& one : advice) {
    if (one.kind == RuleKind::note || one.kind == RuleKind::measure || one.kind == RuleKind::at_roof) continue;
    if (one.rule == "repeated-stores" && point.profiled && point.profiled->sampled) {
      one.line = point.profiled->sampled->store_line;
      if (!one.line.empty()) one.finding += fmt::format(" Most stores are at {}.", one.line);
      if (!one.line.empty()) continue;
    }
    if (one.rule == "serial-end") {
      one.line = point.profiled->sampled->behind_line;
      if (!one.line.empty()) one.finding += fmt::format(" Most of them are at {}.", one.line);
      continue;
    }
    const SampledWait* const wait = wait_behind(point, one.rule);
    if (wait == nullptr || wait->line.empty()) continue;
    one.line = wait->line;
    const std::string share = percent(wait->line_share);
    std::string text;
    if (wait->what == WaitFor::barrier) {
      text = fmt::format("The barrier is at {} ({} of the samples)", wait->line, share);
      if (!wait->used_line.empty()) text += fmt::format(", the late warps are at {}", wait->used_line);
    } else if (wait->what == WaitFor::issuing && wait->share > 0) {
      text = fmt::format("{} of the instructions are at {}", percent(wait->line_share / wait->share), wait->line);
    } else if (wait->what == WaitFor::ready || wait->what == WaitFor::issuing || wait->what == WaitFor::other) {
      text = fmt::format("{} of the samples are at {}", share, wait->line);
    } else {
      text = fmt::format("{} of the samples wait for {} at {}", share, description_of(wait->what), wait->line);
      if (!wait->used_line.empty()) text += fmt::format(", used at {}", wait->used_line);
    }
    one.finding += " " + text + ".";
  }
}

}  // namespace roofline
