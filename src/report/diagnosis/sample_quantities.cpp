// Quantities of samples of instructions.

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "report/diagnosis/cause_lines.hpp"
#include "report/diagnosis/quantity_groups.hpp"
#include "report/diagnosis/rules.hpp"

namespace roofline {
namespace {

/// Minimum number of samples for shares.
constexpr std::int64_t kFewestSamples = 200;

/// Waits used by rules, with the names of their quantities.
constexpr std::array<std::pair<WaitFor, std::string_view>, 24> kShares = {{
    {WaitFor::global_load, "wait.global_load.share"},
    {WaitFor::global_store, "wait.global_store.share"},
    {WaitFor::global_atomic, "wait.global_atomic.share"},
    {WaitFor::local_memory, "wait.local_memory.share"},
    {WaitFor::shared_load, "wait.shared_load.share"},
    {WaitFor::shared_store, "wait.shared_store.share"},
    {WaitFor::shared_atomic, "wait.shared_atomic.share"},
    {WaitFor::constant, "wait.constant.share"},
    {WaitFor::exchange, "wait.exchange.share"},
    {WaitFor::special, "wait.special.share"},
    {WaitFor::conversion, "wait.conversion.share"},
    {WaitFor::division, "wait.division.share"},
    {WaitFor::reduction, "wait.reduction.share"},
    {WaitFor::trigonometry, "wait.trigonometry.share"},
    {WaitFor::random_init, "wait.random_init.share"},
    {WaitFor::fp64, "wait.fp64.share"},
    {WaitFor::result, "wait.result.share"},
    {WaitFor::barrier, "wait.barrier.share"},
    {WaitFor::fence, "wait.fence.share"},
    {WaitFor::code, "wait.code.share"},
    {WaitFor::immediate, "wait.immediate.share"},
    {WaitFor::arithmetic, "wait.arithmetic.share"},
    {WaitFor::issuing, "wait.issuing.share"},
    {WaitFor::ready, "wait.ready.share"},
}};

const SampledWait* wait_for(const SampledKind& sampled, WaitFor what) {
  const auto found = std::ranges::find(sampled.waits, what, &SampledWait::what);
  return found == sampled.waits.end() ? nullptr : &*found;
}

/// Waits for loads, and at a barrier for warps that are late because they wait for those loads.
double explained_by_loads(const SampledKind& sampled) {
  const SampledWait *load = wait_for(sampled, WaitFor::global_load), *barrier = wait_for(sampled, WaitFor::barrier);
  if (load == nullptr) return 0;
  const bool late = barrier != nullptr && !load->line.empty() && barrier->used_line == load->line;
  return load->share + (late ? barrier->share : 0);
}

/// Waits for atomic operations, and at their line for what goes with them.
double explained_by_atomics(const SampledKind& sampled, WaitFor kind, std::initializer_list<WaitFor> with) {
  const SampledWait* const atomic = wait_for(sampled, kind);
  if (atomic == nullptr) return 0;
  double share = atomic->share;
  for (const WaitFor behind : with) {
    const SampledWait* const wait = wait_for(sampled, behind);
    if (wait != nullptr && !wait->line.empty() && wait->line == atomic->line) share += wait->share;
  }
  return share;
}

/// Waits for memory, atomics and other warps, in which idle threads cost nothing.
double waits_for_others(const SampledKind& sampled) {
  double share = 0;
  for (const WaitFor what : {WaitFor::global_load, WaitFor::global_store, WaitFor::global_atomic, WaitFor::local_memory,
                             WaitFor::shared_load, WaitFor::shared_store, WaitFor::shared_atomic, WaitFor::constant,
                             WaitFor::barrier, WaitFor::fence}) {
    if (const SampledWait* const wait = wait_for(sampled, what)) share += wait->share;
  }
  return std::min(1.0, share);
}

}  // namespace

void add_samples(QuantityCollector& out, const Point& point) {
  if (!point.profiled || !point.profiled->sampled) return;
  const SampledKind& sampled = *point.profiled->sampled;
  if (sampled.samples < kFewestSamples) return;
  for (const auto& [what, name] : kShares) out.set(name, 0.0);
  for (const SampledWait& wait : sampled.waits) {
    for (const auto& [what, name] : kShares) {
      if (what == wait.what) out.set(name, wait.share);
    }
  }
  out.flag_is("library", is_library_kernel(point.profiled->full_name));
  out.set("launches", static_cast<double>(point.profiled->launches));
  out.set("load.explains", explained_by_loads(sampled));
  // Fences, and the other warps of the block.
  out.set("atomic.explains", explained_by_atomics(sampled, WaitFor::global_atomic, {WaitFor::fence, WaitFor::barrier}));
  // An addition of floats in shared memory is a loop of a load, an addition and a compare-and-swap.
  out.set("shared_atomic.explains",
          explained_by_atomics(sampled, WaitFor::shared_atomic, {WaitFor::shared_load, WaitFor::result}));
  // The first instructions of each launch come from memory, which short kernels wait for.
  if (point.time && point.time->median >= kShortLaunch) out.set("fetch.explains", out.get("wait.code.share"));
  out.set("store.explains", out.get("wait.global_store.share"));
  out.set("wait.shared.share", *out.get("wait.shared_load.share") + *out.get("wait.shared_store.share"));
  out.set("operands.waits",
          *out.get("wait.shared.share") + *out.get("wait.fence.share") + *out.get("wait.barrier.share"));
  // Loads by address keep the cache of constants busy, which other instructions need for theirs.
  constexpr double kBusy = 0.2;
  const double constant = *out.get("wait.constant.share");
  out.set("constant.explains", constant + (constant > kBusy ? *out.get("wait.immediate.share") : 0));
  // From memory through registers to shared memory, where all warps have to wait for it.
  out.set("feed.explains", std::min(1.0, *out.get("wait.global_load.share") + *out.get("wait.shared_store.share") +
                                             *out.get("wait.fence.share") + *out.get("wait.barrier.share")));
  out.set("wait.latency.share", *out.get("wait.result.share") + *out.get("wait.immediate.share"));
  out.set("wait.issue.share",
          *out.get("wait.issuing.share") + *out.get("wait.ready.share") + *out.get("wait.arithmetic.share"));
  out.set("wait.others.share", waits_for_others(sampled));
  // While another warp is ready at each issue, latency costs nothing.
  const double ready = *out.get("wait.ready.share");
  out.flag_is("warps.ready", ready > 0 && ready >= *out.get("wait.issuing.share"));
  // The queue is that of shared memory, if warps wait for it more than for the other units of this queue.
  const double others = *out.get("wait.exchange.share") + *out.get("wait.special.share") +
                        *out.get("wait.conversion.share") + *out.get("wait.constant.share") +
                        *out.get("wait.shared_atomic.share");
  const double shared = *out.get("wait.shared.share");
  if (sampled.queue_full > 0 && shared > others) out.set("shared.queue", std::min(sampled.queue_full, shared));
  const double fraction = point.fraction_of_roof();
  out.flag_is("roof.reached", fraction >= kAtRoof);
}

}  // namespace roofline
