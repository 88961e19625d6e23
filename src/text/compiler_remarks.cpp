#include "text/compiler_remarks.hpp"

#include <fmt/format.h>

#include <istream>
#include <limits>
#include <optional>

#include "model/error.hpp"
#include "text/parse.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMostLine = 4096, kMostLoops = 200'000, kMostReason = 160;
constexpr int kMostLines = 1'000'000'000;

std::optional<int> line_number(std::string_view text) {
  const auto number = parsed_number<int>(text);
  return number && *number > 0 && *number < kMostLines ? number : std::nullopt;
}

/// "file:line:column: text" by its parts.
struct Remark {
  std::string_view file, text;
  int line = 0;
};

std::optional<Remark> parse_remark(std::string_view line) {
  const std::size_t end = line.find(": ");
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view place = line.substr(0, end);
  const std::size_t column = place.rfind(':');
  if (column == std::string_view::npos || !line_number(place.substr(column + 1))) return std::nullopt;
  place = place.substr(0, column);
  const std::size_t number = place.rfind(':');
  if (number == std::string_view::npos) return std::nullopt;
  const auto at = line_number(place.substr(number + 1));
  if (!at) return std::nullopt;
  return Remark{place.substr(0, number), trimmed(line.substr(end + 2)), *at};
}

/// What follows `key` up to a comma, a brace or the end: of "DebugLoc: { File: a.c, Line: 5, Column: 3 }".
std::string_view value_of(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  std::string_view value = text.substr(at + key.size());
  value = trimmed(value.substr(0, value.find_first_of(",}")));
  if (value.size() >= 2 && value.front() == '\'' && value.back() == '\'') value = value.substr(1, value.size() - 2);
  return value;
}

}  // namespace

/// GCC says that a loop is missed, and then why; Clang first why, and then that the loop is missed.
class RemarksReader {
 public:
  explicit RemarksReader(CompilerRemarks& remarks) : remarks_(remarks) {}

  std::size_t read(std::istream& in) {
    std::string line;
    while (next_line(in, line)) {
      if (line.starts_with("--- !")) {
        record_ = line.substr(5);
        file_.clear();
        text_.clear();
        is_vectorizer_ = false;
      } else if (!record_.empty()) {
        take_yaml(line);
      } else if (const auto remark = parse_remark(line)) {
        take(*remark);
      }
    }
    return known_;
  }

 private:
  /// The beginning of a longer line.
  static bool next_line(std::istream& in, std::string& line) {
    line.resize(kMostLine);
    in.getline(line.data(), static_cast<std::streamsize>(line.size()));
    if (in.bad() || (in.fail() && in.gcount() == 0)) return false;
    if (in.fail()) {
      in.clear();
      in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    line.resize(std::char_traits<char>::length(line.data()));
    return true;
  }

  CompilerRemarks::Loop* loop_at(std::string_view file, int line) {
    if (remarks_.loops_.size() >= kMostLoops) return nullptr;
    ++known_;
    return &remarks_.loops_[{std::string(last_path_part(file)), line}];
  }

  static void set_reason(CompilerRemarks::Loop& loop, std::string_view reason) {
    if (loop.reason.empty()) loop.reason = shorten(clean_line(reason), kMostReason);
  }

  void take(const Remark& remark) {
    std::string_view text = remark.text;
    if (text.starts_with("missed:")) {
      take_gcc_missed(remark, trimmed(text.substr(7)));
    } else if (text.starts_with("optimized:")) {
      if (text.find("loop vectorized") == std::string_view::npos) return;
      if (CompilerRemarks::Loop* loop = loop_at(remark.file, remark.line)) loop->vectorized = true;
    } else if (text.starts_with("remark:")) {
      text = trimmed(text.substr(7));
      if (const std::size_t option = text.rfind(" [-R"); option != std::string_view::npos)
        text = text.substr(0, option);
      take_clang(remark.file, remark.line, text);
    }
  }

  void take_gcc_missed(const Remark& remark, std::string_view text) {
    if (text.starts_with("couldn't vectorize loop")) {
      open_ = loop_at(remark.file, remark.line);
      open_file_ = std::string(remark.file);
      if (open_ != nullptr) open_->missed = true;
      return;
    }
    const bool reason = text.starts_with("not vectorized") || text.starts_with("statement clobbers memory");
    if (!reason || open_ == nullptr || remark.file != open_file_) return;
    const std::size_t colon = text.starts_with("not vectorized:") ? text.find(':') + 1 : 0;
    set_reason(*open_, trimmed(text.substr(colon)));
  }

  void take_clang(std::string_view file, int line, std::string_view text) {
    if (text.starts_with("vectorized loop")) {
      if (CompilerRemarks::Loop* loop = loop_at(file, line)) loop->vectorized = true;
      pending_.clear();
      return;
    }
    constexpr std::string_view kMissed = "loop not vectorized";
    if (!text.starts_with(kMissed)) return;
    text.remove_prefix(kMissed.size());
    if (text.starts_with(": ")) {
      if (pending_.empty()) pending_ = std::string(text.substr(2));
      return;
    }
    if (CompilerRemarks::Loop* loop = loop_at(file, line)) {
      loop->missed = true;
      if (!pending_.empty()) set_reason(*loop, pending_);
    }
    pending_.clear();
  }

  void take_yaml(std::string_view line) {
    if (line == "...") {
      if (is_vectorizer_ && !file_.empty() && at_ > 0) take_clang(file_, at_, text_);
      record_.clear();
    } else if (line.starts_with("Pass:")) {
      is_vectorizer_ = trimmed(line.substr(5)) == "loop-vectorize";
    } else if (line.starts_with("DebugLoc:")) {
      file_ = std::string(value_of(line, "File:"));
      at_ = line_number(value_of(line, "Line:")).value_or(0);
    } else if (const std::size_t at = line.find("- String:"); at != std::string_view::npos) {
      std::string_view value = trimmed(line.substr(at + 9));
      if (value.size() >= 2 && value.front() == '\'') value = value.substr(1, value.size() - 2);
      if (text_.size() < kMostLine) text_ += value;
    }
  }

  CompilerRemarks& remarks_;
  std::size_t known_ = 0;
  CompilerRemarks::Loop* open_ = nullptr;  ///< of GCC: the loop whose reasons follow
  std::string open_file_;
  std::string pending_;               ///< of Clang: the reason for the loop that follows
  std::string record_, file_, text_;  ///< of a record in YAML
  int at_ = 0;
  bool is_vectorizer_ = false;
};

void CompilerRemarks::read(std::istream& in, const std::string& name) {
  if (RemarksReader(*this).read(in) > 0) return;
  throw UsageError(fmt::format("{}: contains no compiler remarks about loop vectorisation", name),
                   "write them with gcc -fopt-info-vec-all=FILE or clang -fsave-optimization-record");
}

std::string CompilerRemarks::why_not(std::string_view file, int line) const {
  // A compiler names the line of "for"; machine code may begin at the next one.
  constexpr int kAbove = 2;
  for (int at = line; at > 0 && at >= line - kAbove; --at) {
    const auto found = loops_.find({std::string(file), at});
    if (found == loops_.end()) continue;
    return found->second.missed && !found->second.vectorized ? found->second.reason : "";
  }
  return {};
}

std::string CompilerRemarks::why_not_around(std::string_view file, int line) const {
  auto after = loops_.upper_bound({std::string(file), line});
  if (after == loops_.begin()) return {};
  const auto& [place, loop] = *--after;
  const std::string reason = place.first == file ? why_not(file, place.second) : "";
  return reason.empty() ? "" : fmt::format("{}:{}: {}", place.first, place.second, reason);
}

}  // namespace roofline
