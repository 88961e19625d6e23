// Text of source lines for samples and savings. Files are read only for a program that has just run here, because the
// paths come from its code.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/process_trace.hpp"
#include "report/kernel_samples.hpp"
#include "report/profile.hpp"
#include "sample/host_samples.hpp"

namespace roofline {

/// Contents of a source file; empty if unknown.
using SourceContent = std::function<std::string(const std::string& path)>;
/// Reads a local file of at most 16 MiB.
std::string read_source(const std::string& path);

/// Reads each file once.
class SourceTexts {
 public:
  explicit SourceTexts(SourceContent content = read_source) : content_(std::move(content)) {}
  /// The line without indentation, shortened; empty if unknown or blank. Lines are numbered from 1.
  std::string text(const std::string& path, std::int64_t number);
  /// The header of the innermost loop of Python around this line that is over this variable; empty: none.
  std::string loop_over(const std::string& path, std::int64_t number, std::string_view variable);
  /// The header of the innermost loop around this line, by its indentation; empty: none.
  std::string loop_around(const std::string& path, std::int64_t number);
  /// Of a chain of calls with a line each, which begin with a point, the whole chain; of others the line.
  std::string chain(const std::string& path, std::int64_t number);

 private:
  /// Passes the lines around this one with ever less indentation to a function, the innermost first, until it returns
  /// true; without lines that begin with `comment`, and none that is `farthest` lines away or more.
  template <class Found>
  void walk_out(const std::string& path, std::int64_t number, std::int64_t farthest, char comment, const Found& found);
  /// Empty if the file is unknown, or there are too many.
  const std::vector<std::string>& lines_of(const std::string& path);

  SourceContent content_;
  std::map<std::string, std::vector<std::string>> files_;
};

void add_source_text(KernelSamples& samples, SourceTexts& sources);

/// The text of the program's own lines; of OpenMP code with the directive above it, as in "#pragma omp for; x += y;";
/// of Python code that selects elements of an array by a loop's variable with the loop: "x[a == b]  # in: for b in
/// ids:". So in loops that walk text from its start to a position.
void add_source_text(std::vector<HostLineSum>& lines, SourceTexts& sources);

/// Prepends the source code of its line to the evidence of each saving: "`gc.collect()`; 123 gaps, …".
void add_source_text(std::vector<Saving>& savings, const std::vector<ProcessTrace>& traces,
                     const std::optional<HostSamples>& samples);

}  // namespace roofline
