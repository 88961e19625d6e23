// Where to spend time: kernels that are held by the same, and of a program also what no kernel is to blame for.
#pragma once

#include <string>
#include <vector>

#include "report/diagnosis/verdict.hpp"
#include "report/report.hpp"

namespace roofline {

struct Spending {
  VerdictKind kind = VerdictKind::unknown;
  std::string what;      ///< "idle", "fusion" of a program's time; empty: kernels, and `kind` says what of them
  double seconds = 0;    ///< that could be won; 0 at the roof, NaN where that is not known
  std::string text;      ///< a sentence or two
  std::string evidence;  ///< figures in one line; may be empty
  std::string action;
  std::vector<std::size_t> rows;  ///< in Report::points, the largest gain first
  bool beside = false;            ///< told beside the others, for its rows are among theirs: it adds nothing
};

/// The largest gain first; what has nothing to win, or nothing that is known, last.
std::vector<Spending> spending_of(const Report& report, const std::vector<Verdict>& verdicts);

/// "FMA pipe busy 61 % · occupancy 24 %".
std::string evidence_text(const Verdict& verdict);

/// The same, with the rule and where its threshold is from.
std::string grounds_text(const Verdict& verdict);

/// "81 µs to win", of all launches.
std::string to_win_text(double seconds);

/// A verdict's kind in a word or two for people: "slow", "unexplained", "at its roof", "measure again", "no roof".
std::string_view kind_words(VerdictKind kind);

}  // namespace roofline
