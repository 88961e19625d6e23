// Quantities of samples of instructions.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "report/diagnosis/cause_lines.hpp"
#include "report/diagnosis/quantity_groups.hpp"
#include "report/diagnosis/rules.hpp"

namespace roofline {
namespace {

/// Fewer say nothing about shares.
constexpr std::int64_t kFewestSamples = 200;

/// Those that rules use, by the names of their quantities.
constexpr std::array<std::pair<WaitFor, std::string_view>, 18> kShares = {{
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
    {WaitFor::fp64, "wait.fp64.share"},
    {WaitFor::result, "wait.result.share"},
    {WaitFor::barrier, "wait.barrier.share"},
    {WaitFor::fence, "wait.fence.share"},
    {WaitFor::code, "wait.code.share"},
    {WaitFor::ready, "wait.ready.share"},
}};

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
  out.set("wait.shared.share", *out.get("wait.shared_load.share") + *out.get("wait.shared_store.share"));
  const double fraction = point.fraction_of_roof();
  out.flag_is("roof.reached", fraction >= kAtRoof);
}

}  // namespace roofline
