// From the best rung down, until one is not refused.
#include "analyze/settle_rung.hpp"

#include <algorithm>

namespace roofline {

SuiteEntry settled(const SuiteEntry& entry, const Device& device) {
  const auto runs = [&](const Implementation& rung) {
    return !rung.unsupported || !rung.unsupported(entry.workload, device);
  };
  if (runs(*entry.implementation)) return entry;
  const auto found = std::find_if(entry.below.begin(), entry.below.end(), runs);
  return found == entry.below.end() ? entry : with_rung(entry, found->name);
}

SuiteEntry with_rung(const SuiteEntry& entry, std::string_view name) {
  SuiteEntry changed = entry;
  const auto named = [&](const Implementation& rung) { return rung.name == name; };
  if (const auto found = std::find_if(entry.below.begin(), entry.below.end(), named); found != entry.below.end()) {
    changed.implementation = *found;
    changed.workload.implementation = found->name;
  }
  return changed;
}

}  // namespace roofline
