// What ncu said between the lines of its CSV: "==ERROR== …", "==WARNING== …", "==PROF== …".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace roofline {

enum class NcuMessageKind : std::uint8_t {
  progress,        ///< ==PROF==: says nothing
  no_permission,   ///< ERR_NVGPUCTRPERM
  no_kernels,      ///< "No kernels were profiled"
  busy,            ///< another tool has the counters
  program_failed,  ///< the program ended with an error
  unknown_metric,  ///< a metric that the GPU doesn't have
  error,           ///< any other
  warning
};

struct NcuMessage {
  std::int64_t line = 0;
  NcuMessageKind kind = NcuMessageKind::progress;
  std::string text;  ///< without control characters, shortened
};

class NcuMessages {
 public:
  /// True if the line is one of ncu's messages, or belongs to the last one (its list of kernels).
  bool take(std::string_view line, std::int64_t number);

  /// A sentence for each relevant message, with its line and the remedy; only the first ones above a limit.
  std::vector<std::string> notes() const;
  /// Why a file has no launches; null where no message says it.
  const NcuMessage* reason() const;

 private:
  std::vector<NcuMessage> messages_;  ///< no progress
  std::size_t more_ = 0;              ///< that were not kept
  bool in_list_ = false;
};

/// "ncu had no permission to read the counters (ERR_NVGPUCTRPERM)".
std::string what_ncu_said(const NcuMessage& message);
/// What to do about it; empty if unknown.
std::string_view remedy_of(NcuMessageKind kind);

}  // namespace roofline
