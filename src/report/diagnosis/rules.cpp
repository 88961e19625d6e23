// The order of evaluation. docs/counters.md describes each part.
#include "report/diagnosis/rules.hpp"

#include <vector>

#include "report/diagnosis/rules/rule_terms.hpp"

namespace roofline {

std::span<const Rule> rules() {
  static const std::vector<Rule> kRules = [] {
    using namespace rule_parts;
    std::vector<Rule> all;
    for (const auto part : {measurement_rules(), sector_rules(), suspect_roof_rules(), sample_rules(),
                            partial_loop_rules(), missing_roof_rules(), collective_rules(), launch_rules(),
                            loop_thread_rules(), at_roof_rules(), excess_work_rules(), loop_rules(), experiment_rules(),
                            cpu_rate_rules(), overlap_rules(), cpu_memory_rules(), fallback_rules()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return kRules;
}

}  // namespace roofline
