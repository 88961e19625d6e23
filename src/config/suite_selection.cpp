// Selects the part of a suite to run, if it fits in memory.
#include <fmt/core.h>

#include "config/suite.hpp"
#include "model/error.hpp"
#include "model/machine.hpp"
#include "op/case.hpp"
#include "op/layout.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

std::string in_gib(double bytes) { return fmt::format("{:.3g} GiB", bytes / (1024.0 * 1024.0 * 1024.0)); }

}  // namespace

void keep_only(Suite& suite, const std::string& glob) {
  std::vector<SuiteEntry> kept;
  std::string labels;
  for (const SuiteEntry& entry : suite.entries) {
    labels += (labels.empty() ? "" : ", ") + entry.workload.label;
    if (matches_glob(entry.workload.label, glob) || matches_glob(entry.workload.op, glob)) kept.push_back(entry);
  }
  if (kept.empty()) {
    throw UsageError(
        fmt::format("{}: no workload matches '{}'", suite.path, glob),
        fmt::format("a glob matches a whole label or op, as in 'gemm' or '*fp16*'; there are: {}", labels));
  }
  suite.entries = std::move(kept);
}

void remove_without_pipe(Suite& suite, const Machine& machine) {
  std::erase_if(suite.entries,
                [&](const SuiteEntry& entry) { return entry.needs && machine.compute(*entry.needs) == nullptr; });
  if (suite.entries.empty()) {
    throw UsageError(fmt::format("{}: each workload needs a pipe that {} lacks", suite.path, machine.device.name),
                     "remove 'needs' from those that are to run without it");
  }
}

void require_memory(const Suite& suite, const LastLevelCache& last_level, double free_bytes) {
  for (const SuiteEntry& entry : suite.entries) {
    if (!entry.skip_reason.empty()) continue;
    const double needed = case_bytes(*entry.op, entry.workload, last_level);
    if (needed <= free_bytes) continue;
    throw UsageError(fmt::format("{}:{}: '{}' needs {} of device memory, and {} are free", suite.path, entry.line,
                                 entry.workload.label, in_gib(needed), in_gib(free_bytes)),
                     "choose a smaller shape (a 'cpu:' or 'cuda:' block sets one for that kind of device), or leave it "
                     "out with --only");
  }
}

}  // namespace roofline
