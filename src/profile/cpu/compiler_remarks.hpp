// Why a compiler did not vectorise loops, in its own words: the files of GCC's -fopt-info-vec, Clang's -Rpass and its
// optimization records. Nothing in them is trusted.
#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "report/report.hpp"

namespace roofline {

class CompilerRemarks {
 public:
  /// Adds those of a file; lines that are no remarks about vectors are left out. Throws UsageError if there are none.
  void read(std::istream& in, const std::string& name);

  /// Why the loop at that line of a file, known by its last part, is not vectorised; empty: the compiler says nothing
  /// about it, or vectorised it.
  std::string why_not(std::string_view file, int line) const;

 private:
  friend class RemarksReader;
  struct Loop {
    bool vectorized = false;
    bool missed = false;
    std::string reason;
  };
  std::map<std::pair<std::string, int>, Loop> loops_;
};

/// Loops of a CPU program by their file and line.
void add_remarks(Report& report, const CompilerRemarks& remarks);

}  // namespace roofline
