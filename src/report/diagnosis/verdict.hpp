// The verdict on a row: what limits it, the evidence, one action, and the potential saving.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/report.hpp"

namespace roofline {

enum class VerdictKind : std::uint8_t {
  slow,     ///< below its roof, and a rule explains it
  unknown,  ///< below its roof, unexplained
  at_roof,  ///< only less work makes it faster
  measure,  ///< time or roof not known well enough: time it or calibrate again first
  no_roof,  ///< no measured roof applies; "roofless" in files
};
std::string_view to_string(VerdictKind kind);

/// The finding of a rule beside the one that decides.
struct Observation {
  std::string rule;  ///< its id
  std::string text;
};

/// All texts are complete sentences or phrases with their figures.
struct Verdict {
  std::size_t row = 0;  ///< in Report::points
  VerdictKind kind = VerdictKind::unknown;
  std::string rule;     ///< id of the rule that decides: equal ones can be folded
  std::string finding;  ///< what limits it: "Uncoalesced loads fetch 4.0× the requested bytes …"
  /// Two or three quantities as name and value, the decisive one first: {"FP32 pipe busy", "61 %"}.
  std::vector<std::pair<std::string, std::string>> evidence;
  std::string action;       ///< one
  bool actionable = false;  ///< a cause is known, and the action is about it: worth to begin with
  std::string line;         ///< "kernel.cu:41": where the cause is, by samples of instructions; empty: not known
  std::string source;       ///< of the rule's threshold
  /// Seconds per launch above the attainable time; 0 at the roof, NaN where not known.
  double gain_s = 0;
  /// The same of all launches: times its launches for a program's row, else `gain_s`. Verdicts are sorted by it.
  double total_gain_s = 0;
  std::vector<Observation> also;  ///< in the order of the table
};

/// One for each timed row, by potential saving, the largest first; NaN comes last.
std::vector<Verdict> verdicts(const Report& report);

/// The order of gains: the larger first, what is not a number last.
bool larger_saving(double a, double b);

/// Verdicts with the same decisive rule and action, as one entry; a single one keeps its own text.
struct VerdictGroup {
  VerdictKind kind = VerdictKind::unknown;
  std::string rule;  ///< id of the rule that decides all of them
  std::string text;
  std::string action;
  double total_gain_s = 0;
  std::vector<std::size_t> rows;  ///< in Report::points, the largest gain first
  /// The cost of a low clock, beside the rows' own verdicts: its rows are in other groups too, its saving in none.
  bool by_clock = false;
  bool actionable = false;  ///< of its verdicts
};

/// "13 kernels ran at 1.36–1.75 GHz, limited by the power limit.", with the saving at the burst roof's clock. Nothing
/// where fewer than two kernels are.
std::optional<VerdictGroup> limited_by_clock(const std::vector<Verdict>& verdicts, const Report& report);

/// Groups by potential saving, the largest first. Those at their roof, or without a known saving, come last.
std::vector<VerdictGroup> where_to_spend_time(const std::vector<Verdict>& verdicts, const Report& report);

}  // namespace roofline
