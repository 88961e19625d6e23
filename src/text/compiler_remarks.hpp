// Reasons of compilers for not vectorising loops, from GCC's -fopt-info-vec, Clang's -Rpass and its optimization
// records. The files are not trusted.
#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace roofline {

class CompilerRemarks {
 public:
  /// Adds the remarks of a file; other lines are ignored. Throws UsageError if there are none.
  void read(std::istream& in, const std::string& name);

  /// Why the loop at that line is not vectorised; files are matched by their last path component. Empty: no remark, or
  /// vectorised.
  std::string why_not(std::string_view file, int line) const;

  /// The same for the loop that begins last at or before that line, after its place: "scale.c:4: control flow in
  /// loop.".
  std::string why_not_around(std::string_view file, int line) const;

 private:
  friend class RemarksReader;
  struct Loop {
    bool vectorized = false;
    bool missed = false;
    std::string reason;
  };
  std::map<std::pair<std::string, int>, Loop> loops_;
};

}  // namespace roofline
