// The verdict on a row: what it is held by, how that is known, one thing to do, and what that would win.
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
  slow,      ///< under its roof, and something explains it
  unknown,   ///< under its roof, and nothing that is known explains the rest
  at_roof,   ///< only less work makes it faster
  measure,   ///< badly measured, disturbed, or held against a suspect roof: it has to be timed again before all else
  roofless,  ///< no roof of this machine limits it, so there is nothing to hold it against
};
std::string_view to_string(VerdictKind kind);

/// What a rule says of a row beside the one that decides.
struct Observation {
  std::string rule;  ///< its id
  std::string text;
};

/// All texts are whole phrases for people, with their figures in them.
struct Verdict {
  std::size_t row = 0;  ///< in Report::points
  VerdictKind kind = VerdictKind::unknown;
  std::string rule;     ///< id of the rule that decides: equal ones can be folded
  std::string held_by;  ///< "Loads fetch 4.0× the bytes that threads ask for."
  /// Two or three quantities as name and value, the one that decides first: {"FMA pipe busy", "61 %"}.
  std::vector<std::pair<std::string, std::string>> evidence;
  std::string action;  ///< one
  std::string source;  ///< of the rule's threshold
  /// Seconds a launch above what the bound rule allows; 0 at the roof, NaN where that is not known.
  double gain_s = 0;
  /// The same of all launches: of a program's row times its launches, else as `gain_s`. What verdicts are sorted by.
  double total_gain_s = 0;
  std::vector<Observation> also;  ///< the most telling first
};

/// One for each row that was timed, by the time that could be won, the largest first; NaN comes last.
std::vector<Verdict> verdicts(const Report& report);

/// The order of gains: the larger first, what is not a number last.
bool wins_more(double a, double b);

/// Verdicts that are told in one line, for what decides is the same: "13 kernels were held at 1.36 to 1.75 GHz by the
/// power limit."; of a single one its own words.
struct VerdictGroup {
  VerdictKind kind = VerdictKind::unknown;
  std::string rule;  ///< id of the rule that decides all of them
  std::string text;
  std::string action;
  double total_gain_s = 0;
  std::vector<std::size_t> rows;  ///< in Report::points, the largest gain first
  /// What the clock cost them, beside their own verdicts: its rows stand in other groups too, its gain in none.
  bool by_clock = false;
};

/// "13 kernels were held at 1.36–1.75 GHz by the power limit.", with what they would win at the clock of the burst
/// roof. Beside their own verdicts, for it is the one thing that they have in common. Nothing where fewer than two are.
std::optional<VerdictGroup> held_by_clock(const std::vector<Verdict>& verdicts, const Report& report);

/// Where to spend time: groups by the time that could be won, the largest first. Those that have nothing to win (at
/// their roof) or nothing that is known come last.
std::vector<VerdictGroup> where_to_spend_time(const std::vector<Verdict>& verdicts, const Report& report);

}  // namespace roofline
