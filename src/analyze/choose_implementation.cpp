// From the fastest implementation down to the first that the device accepts.
#include "analyze/choose_implementation.hpp"

#include <algorithm>

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

}  // namespace roofline
