// From the fastest implementation down to the first that the device accepts.
#include "analyze/choose_implementation.hpp"

#include <algorithm>
#include <vector>

#include "model/find.hpp"

namespace roofline {

SuiteEntry choose_implementation(const SuiteEntry& entry, const Device& device) {
  const auto runs = [&](const Implementation& implementation) {
    return !implementation.unsupported || !implementation.unsupported(entry.workload, device);
  };
  if (runs(*entry.implementation)) return entry;
  const auto found = std::find_if(entry.below.begin(), entry.below.end(), runs);
  return found == entry.below.end() ? entry : with_implementation(entry, found->name);
}

SuiteEntry with_implementation(const SuiteEntry& entry, std::string_view name) {
  SuiteEntry changed = entry;
  const auto named = [&](const Implementation& implementation) { return implementation.name == name; };
  if (const auto found = std::find_if(entry.below.begin(), entry.below.end(), named); found != entry.below.end()) {
    changed.implementation = *found;
    changed.workload.implementation = found->name;
  }
  return changed;
}

std::optional<Implementation> implementation_for(const Op& op, const Workload& workload, const Device& device) {
  const std::vector<Implementation> all = op.implementations();
  const auto runs = [&](const Implementation& one) {
    return one.device == DeviceKind::cpu && contains(one.dtypes, workload.dtype) &&
           (!one.unsupported || !one.unsupported(workload, device));
  };
  const auto named = [&](const Implementation& one) { return one.name == workload.implementation && runs(one); };
  if (const Implementation* const found = find_in(all, named)) return *found;
  const auto best = std::find_if(all.rbegin(), all.rend(), runs);
  return best == all.rend() ? std::nullopt : std::optional(*best);
}

}  // namespace roofline
