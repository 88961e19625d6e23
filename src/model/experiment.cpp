// The kinds of experiments as files spell them.
#include "model/experiment.hpp"

#include <array>

#include "model/spelling.hpp"

namespace roofline {
namespace {

constexpr std::array<std::string_view, 17> kExperimentKinds = {
    "in_cache",    "in_l1",       "all_threads", "slowest_thread",     "double_size",      "other_type",
    "small_pages", "staggered",   "realigned",   "flushed_subnormals", "reassociated",     "unvectorized",
    "multiplied",  "unforwarded", "line_visits", "page_jumps",         "ascending_indices"};

}  // namespace

std::string_view to_string(ExperimentKind kind) { return spell(kExperimentKinds, kind); }
std::optional<ExperimentKind> parse_experiment_kind(std::string_view text) {
  return unspell<ExperimentKind>(kExperimentKinds, text);
}

}  // namespace roofline
