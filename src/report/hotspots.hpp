// Where optimisation pays: groups of kernels with the same limit, idle time, copies and fusions.
#pragma once

#include <string>
#include <vector>

#include "report/diagnosis/verdict.hpp"
#include "report/report.hpp"

namespace roofline {

struct Hotspot {
  VerdictKind kind = VerdictKind::unknown;
  std::string what;      ///< "idle", "fusion" for programs; empty: kernels, with `kind` as verdict
  double seconds = 0;    ///< potential saving, per step if there are steps; 0 at the roof, NaN if unknown
  std::string text;      ///< a sentence or two
  std::string evidence;  ///< figures in one line; may be empty
  std::string action;
  std::vector<std::size_t> rows;          ///< indices into Report::points, largest gain first
  bool beside = false;                    ///< its rows are also in other entries: not added to the sum
  bool one_off = false;                   ///< a single event of the run: `seconds` is spread over all steps
  std::optional<SavingCause> cause = {};  ///< set for a program's saving
  std::string line = {};                  ///< line of that saving
  bool memory = false;                    ///< concerns memory: saves no time
  bool actionable = true;                 ///< its cause is known and has an action
  bool of_library = false;  ///< kernels of a library or a compiler: the action is for its caller, and a guess

  /// True if it saves time or memory.
  bool counts() const { return seconds > 0 || memory; }
};

/// Memory that ends the program first, then by saving, largest first; unknown savings last.
std::vector<Hotspot> hotspots_of(const Report& report, const std::vector<Verdict>& verdicts);

/// "FMA pipe busy 61 % · occupancy 24 %".
std::string evidence_text(const Verdict& verdict);

/// evidence_text() with the rule and the source of its threshold.
std::string grounds_text(const Verdict& verdict);

/// "81 µs potential saving", over all launches.
std::string saving_text(double seconds);

/// Display name of a verdict's kind: "slow", "unexplained", "at its roof", "measure again", "no roof".
std::string_view kind_words(VerdictKind kind);

}  // namespace roofline
