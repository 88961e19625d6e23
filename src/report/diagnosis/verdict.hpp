// The verdict on a row: what limits it, the evidence, one action, and the potential saving.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/diagnosis/diagnosis.hpp"
#include "report/report.hpp"

namespace roofline {

enum class VerdictKind : std::uint8_t {
  slow,     ///< below its roof, and a rule explains it
  unknown,  ///< below its roof, unexplained
  at_roof,  ///< only less work makes it faster
  measure,  ///< time or roof too uncertain: time it or calibrate again first
  no_roof,  ///< no measured roof applies; "roofless" in files
};
std::string_view to_string(VerdictKind kind);

/// A finding of a rule other than the deciding one.
struct Observation {
  std::string rule;  ///< its id
  std::string text;
};

/// All texts are complete sentences or phrases, including figures.
struct Verdict {
  std::size_t row = 0;  ///< index into Report::points
  VerdictKind kind = VerdictKind::unknown;
  std::string rule;     ///< id of the deciding rule; verdicts with the same rule can be grouped
  std::string finding;  ///< what limits it: "Uncoalesced loads fetch 4.0× the requested bytes …"
  /// Two or three quantities as name and value, the decisive one first: {"FP32 pipe busy", "61 %"}.
  std::vector<std::pair<std::string, std::string>> evidence;
  std::string action;       ///< one action
  bool actionable = false;  ///< the cause is known and the action addresses it
  std::string line;         ///< "kernel.cu:41", line of the cause, from instruction samples; empty: unknown
  std::string source;       ///< source of the rule's threshold
  /// Seconds per launch above the attainable time; 0 at the roof, NaN if unknown.
  double gain_s = 0;
  /// gain_s times the number of launches for profiled rows, else `gain_s`. Verdicts are sorted by it.
  double total_gain_s = 0;
  std::vector<Observation> also;  ///< in table order
};

/// The deciding advice: the first that is more than a note. Unused threads do not decide if another cause costs more
/// than they would save. The end if none decides.
std::vector<Advice>::const_iterator deciding(const std::vector<Advice>& advice, const Point& point,
                                             const Machine& machine);

/// One verdict per timed row, largest potential saving first; NaN last.
std::vector<Verdict> verdicts(const Report& report);

/// Order of gains: larger first, NaN last.
bool larger_saving(double a, double b);

/// Verdicts with the same deciding rule and action, merged into one entry; a single verdict keeps its text.
struct VerdictGroup {
  VerdictKind kind = VerdictKind::unknown;
  std::string rule;  ///< id of the deciding rule
  std::string text;
  std::string action;
  double total_gain_s = 0;
  std::vector<std::size_t> rows;  ///< indices into Report::points, largest gain first
  /// The group describes the cost of a low clock. Its rows are also in other groups, and its saving is not added.
  bool by_clock = false;
  bool actionable = false;  ///< its verdicts are actionable
};

/// "13 kernels ran at 1.36–1.75 GHz, limited by the power limit.", with the saving at the burst roof's clock.
/// std::nullopt for fewer than two kernels.
std::optional<VerdictGroup> limited_by_clock(const std::vector<Verdict>& verdicts, const Report& report);

/// Groups by potential saving, largest first. Groups at their roof or with unknown savings come last.
std::vector<VerdictGroup> where_to_spend_time(const std::vector<Verdict>& verdicts, const Report& report);

}  // namespace roofline
