// Where optimisation pays: kernels with the same limit, and idle time, copies and fusions of a program.
#pragma once

#include <string>
#include <vector>

#include "report/diagnosis/verdict.hpp"
#include "report/report.hpp"

namespace roofline {

struct Hotspot {
  VerdictKind kind = VerdictKind::unknown;
  std::string what;    ///< "idle", "fusion" of a program; empty: kernels, of which `kind` is the verdict
  double seconds = 0;  ///< potential saving, of a step where the program has steps; 0 at the roof, NaN where not known
  std::string text;    ///< a sentence or two
  std::string evidence;  ///< figures in one line; may be empty
  std::string action;
  std::vector<std::size_t> rows;          ///< in Report::points, the largest gain first
  bool beside = false;                    ///< its rows are in other entries, too: it adds nothing to the sum
  bool one_off = false;                   ///< of a single event of the run: `seconds` is its share of each step
  std::optional<SavingCause> cause = {};  ///< of a program's saving
  std::string line = {};                  ///< of that saving
  bool memory = false;                    ///< about memory: saves no time
  bool actionable = true;                 ///< its cause is known, and an action is about it

  /// Whether it is more than a remark.
  bool counts() const { return seconds > 0 || memory; }
};

/// Memory by which the program ends first, then the largest saving; those without a known saving last.
std::vector<Hotspot> hotspots_of(const Report& report, const std::vector<Verdict>& verdicts);

/// "FMA pipe busy 61 % · occupancy 24 %".
std::string evidence_text(const Verdict& verdict);

/// The same, with the rule and the source of its threshold.
std::string grounds_text(const Verdict& verdict);

/// "81 µs potential saving", of all launches.
std::string saving_text(double seconds);

/// A verdict's kind for display: "slow", "unexplained", "at its roof", "measure again", "no roof".
std::string_view kind_words(VerdictKind kind);

}  // namespace roofline
