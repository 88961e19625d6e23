// The text of source lines: of a kernel's samples, and of the lines at which a program loses time. Files are read only
// of a program that has just run here, because the paths come from its code.
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

/// What a source file contains; empty where it is not known.
using SourceContent = std::function<std::string(const std::string& path)>;
/// Of a file here, of at most 16 MiB.
std::string read_source(const std::string& path);

/// Asks for each file once.
class SourceTexts {
 public:
  explicit SourceTexts(SourceContent content = read_source) : content_(std::move(content)) {}
  /// Without its indentation, shortened; empty where it is not known, or empty. Numbers begin with 1.
  std::string text(const std::string& path, std::int64_t number);

 private:
  SourceContent content_;
  std::map<std::string, std::vector<std::string>> files_;
};

void add_source_text(KernelSamples& samples, SourceTexts& sources);

/// Puts the code at the line of each saving of time before its evidence: "`gc.collect()`; 123 gaps, …".
void add_source_text(std::vector<Saving>& savings, const std::vector<ProcessTrace>& traces,
                     const std::optional<HostSamples>& samples);

}  // namespace roofline
