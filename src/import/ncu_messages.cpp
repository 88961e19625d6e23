#include "import/ncu_messages.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "text/text.hpp"

namespace roofline {
namespace {

NcuMessageKind kind_of_message(std::string_view mark, std::string_view text) {
  static constexpr std::pair<std::string_view, NcuMessageKind> kWords[] = {
      {"ERR_NVGPUCTRPERM", NcuMessageKind::no_permission},
      {"permission to access NVIDIA GPU Performance Counters", NcuMessageKind::no_permission},
      {"No kernels were profiled", NcuMessageKind::no_kernels},
      {"driver resource was unavailable", NcuMessageKind::busy},
      {"application returned an error code", NcuMessageKind::program_failed},
      {"application terminated", NcuMessageKind::program_failed},
      {"Failed to find metric", NcuMessageKind::unknown_metric}};
  if (mark == "PROF") return NcuMessageKind::progress;
  for (const auto& [words, kind] : kWords) {
    if (text.find(words) != std::string_view::npos) return kind;
  }
  return mark == "ERROR" ? NcuMessageKind::error : NcuMessageKind::warning;
}

/// "3. kernel(float *, int)", in the list that follows "Available Kernels:".
bool is_list_item(std::string_view line) {
  const std::size_t digits = line.find_first_not_of("0123456789");
  return digits != std::string_view::npos && digits > 0 && line.substr(digits).starts_with(". ");
}

}  // namespace

bool NcuMessages::take(std::string_view line, std::int64_t number) {
  if (!line.starts_with("==")) {
    in_list_ = line.starts_with("Available Kernels:") || (in_list_ && is_list_item(line));
    return in_list_;
  }
  in_list_ = false;
  const std::size_t end = line.find("==", 2);
  if (end == std::string_view::npos) return false;
  std::string mark(line.substr(2, end - 2));
  std::transform(mark.begin(), mark.end(), mark.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? char(c - 32) : c; });
  if (mark != "PROF" && mark != "ERROR" && mark != "WARNING") return false;
  constexpr std::size_t kMost = 64, kLongest = 200;
  const std::string text = clean_line(line.substr(end + 2, kLongest));
  const NcuMessageKind kind = kind_of_message(mark, text);
  if (kind == NcuMessageKind::progress) return true;
  if (messages_.size() < kMost) {
    messages_.push_back({number, kind, text});
  } else {
    ++more_;
  }
  return true;
}

std::vector<std::string> NcuMessages::notes() const {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> notes;
  for (const NcuMessage& message : messages_) {
    if (notes.size() == kMost) break;
    const std::string_view remedy = remedy_of(message.kind);
    notes.push_back(
        fmt::format("line {}: {}{}{}", message.line, what_ncu_said(message), remedy.empty() ? "" : "; ", remedy));
  }
  const std::size_t more = messages_.size() - notes.size() + more_;
  if (more > 0) notes.push_back(fmt::format("{} more messages of ncu are not shown", more));
  return notes;
}

const NcuMessage* NcuMessages::reason() const {
  // "No kernels were profiled" often follows the message that says why.
  const auto worst = std::min_element(messages_.begin(), messages_.end(), [](const NcuMessage& a, const NcuMessage& b) {
    const auto rank = [](const NcuMessage& message) {
      return message.kind == NcuMessageKind::no_kernels ? NcuMessageKind::error : message.kind;
    };
    return rank(a) < rank(b);
  });
  return worst == messages_.end() || worst->kind == NcuMessageKind::warning ? nullptr : &*worst;
}

std::string what_ncu_said(const NcuMessage& message) {
  switch (message.kind) {
    case NcuMessageKind::no_permission:
      return "ncu had no permission to read the counters (ERR_NVGPUCTRPERM)";
    case NcuMessageKind::no_kernels:
      return "ncu profiled no kernel";
    default:
      return fmt::format("ncu reported: {}", message.text);
  }
}

std::string_view remedy_of(NcuMessageKind kind) {
  switch (kind) {
    case NcuMessageKind::no_permission:
      return "run ncu as root or with CAP_SYS_ADMIN, or load the driver with NVreg_RestrictProfilingToAdminUsers=0";
    case NcuMessageKind::no_kernels:
      return "check --kernel-name, --launch-skip and --launch-count, and add --target-processes all";
    case NcuMessageKind::busy:
      return "end other profilers of this GPU (dcgmi profile --pause)";
    case NcuMessageKind::program_failed:
      return "launches after the program's failure are missing: run it without ncu first";
    case NcuMessageKind::unknown_metric:
      return "ncu --query-metrics lists this GPU's metrics";
    default:
      return {};
  }
}

}  // namespace roofline
