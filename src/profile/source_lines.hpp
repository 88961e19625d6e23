// The text of source lines: of a kernel's samples, and of the lines at which a program loses time. Only of a program that
// has just run here: the paths come from its code.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/process_trace.hpp"
#include "report/kernel_samples.hpp"
#include "report/profile.hpp"
#include "sample/host_samples.hpp"

namespace roofline {

/// Reads each file once.
class SourceLines {
 public:
  /// Without its indentation, shortened; empty where it can't be read, or is empty. Numbers begin with 1.
  std::string text(const std::string& path, std::int64_t number);

 private:
  std::map<std::string, std::vector<std::string>> files_;
};

void add_source_text(KernelSamples& samples);

/// Puts the code at the line of each saving of time before its evidence: "`gc.collect()`; 123 gaps, …".
void add_source_text(std::vector<Saving>& savings, const std::vector<ProcessTrace>& traces,
                     const std::optional<HostSamples>& samples);

}  // namespace roofline
