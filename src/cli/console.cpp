// Terminal size, color and encoding, from the environment and without a terminal library.
#include "cli/console.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cli/answer.hpp"
#include "host/host.hpp"
#include "mcp/progress_lines.hpp"
#include "model/error.hpp"
#include "render/terminal/table.hpp"
#include "report/json/json_value.hpp"
#include "text/parse.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

/// COLUMNS, as shells export it; 0 where it says nothing.
int asked_columns() {
  const char* const text = std::getenv("COLUMNS");
  const std::optional<int> columns = text == nullptr ? std::nullopt : parsed_number<int>(text);
  constexpr int kNarrowest = 20, kWidest = 10000;
  return columns ? std::clamp(*columns, kNarrowest, kWidest) : 0;
}

int columns_of(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return asked_columns() > 0 ? asked_columns() : 80;
}

/// From the environment instead of setlocale(), because the program stays in the C locale.
bool utf8_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string lower = lower_case(value);
    return lower.find("utf-8") != std::string::npos || lower.find("utf8") != std::string::npos;
  }
  return false;
}

/// Collects the output with --json; null without it.
Answer* kept_answer = nullptr;

bool wants_progress_lines() {
  const char* const asked = std::getenv(kProgressVariable);
  return asked != nullptr && std::string_view(asked) == kProgressLines;
}

std::string shortened(const std::string& text, std::size_t bytes) {
  return text.size() <= bytes ? text : text.substr(0, bytes > 3 ? bytes - 3 : 0) + "...";
}

}  // namespace

namespace {

TerminalStyle style_of(int fd, ColorMode color) {
  const char* no_color = std::getenv("NO_COLOR");
  const bool wanted = (no_color == nullptr || *no_color == '\0') && ::isatty(fd) == 1;
  return {.color = color == ColorMode::automatic ? wanted : color == ColorMode::always,
          .unicode = utf8_locale(),
          .columns = columns_of(fd)};
}

}  // namespace

TerminalStyle stdout_style(ColorMode color) { return style_of(STDOUT_FILENO, color); }
TerminalStyle stdout_table_style(ColorMode color) {
  constexpr int kUncut = 1000;
  TerminalStyle style = stdout_style(color);
  if (::isatty(STDOUT_FILENO) != 1 && asked_columns() == 0) style.columns = kUncut;
  return style;
}
TerminalStyle stderr_style(ColorMode color) { return style_of(STDERR_FILENO, color); }

void answer_with(Answer& answer) { kept_answer = &answer; }

void print_result(const std::function<Json()>& document, const std::function<std::string()>& text) {
  if (kept_answer == nullptr) return write_stdout(text());
  Json data = document();
  if (data.is_null()) data = {{"schema", "roofline.text/1"}, {"text", text()}};
  kept_answer->data = std::move(data);
}

void print_document(const Json& document) {
  print_result([&] { return document; }, [&] { return to_json_text(document); });
}

void print_text(const std::string& text) {
  print_result([] { return Json(); }, [&] { return text; });
}

void add_to_answer(const Json& comparison) { kept_answer->comparison = comparison; }

void write_stdout(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!written) throw Error(fmt::format("cannot write to stdout: {}", std::strerror(errno)));
}

// Not fmt::print, which throws: a closed stderr must not stop the work.
void print_rendered(const std::string& text) { static_cast<void>(std::fputs((text + '\n').c_str(), stderr)); }

void print_status(const std::string& line) {
  const std::string text = clean(line);
  const TerminalStyle style = stderr_style(ColorMode::never);
  const bool has_width = ::isatty(STDERR_FILENO) == 1 || asked_columns() > 0;
  if (!has_width || display_width(text) <= style.columns) return print_rendered(text);
  const std::size_t indent = std::min(text.find_first_not_of(' '), text.size());
  std::string lines = wrapped(std::string(indent, ' '), text.substr(indent), style, true);
  lines.pop_back();  // the last line feed
  print_rendered(lines);
}

void warn(const std::string& line) {
  print_status("note: " + line);
  if (kept_answer != nullptr) kept_answer->warnings.push_back(line);
}

void print_problem(const Problem& problem, const std::string& prefix) {
  print_status(prefix + problem.message);
  if (!problem.hint.empty()) print_status("  " + problem.hint);
  if (kept_answer != nullptr) kept_answer->errors.push_back(problem);
}

ProgressLine::ProgressLine()
    : enabled_(::isatty(STDERR_FILENO) == 1),
      in_lines_(!enabled_ && wants_progress_lines()),
      begin_s_(wall_seconds()) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::show(const Progress& progress) {
  if (!enabled_ && !in_lines_) return;
  std::optional<double> left_s = progress.left_s;
  if (!left_s && progress.done > 0) {
    const double spent = wall_seconds() - begin_s_;
    left_s = spent / static_cast<double>(progress.done) * static_cast<double>(progress.total - progress.done);
  }
  std::string line = fmt::format("[{:>{}}/{}] {}", progress.done + 1, fmt::formatted_size("{}", progress.total),
                                 progress.total, progress.current);
  if (in_lines_) return write_line({line, left_s});
  if (left_s) line += fmt::format("  about {:.0f} s left", *left_s);
  const std::string drawn =
      "\r\033[2K" + shortened(clean_line(line), static_cast<std::size_t>(columns_of(STDERR_FILENO) - 1));
  static_cast<void>(std::fputs(drawn.c_str(), stderr));
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressLine::write_line(const ProgressReport& report) {
  constexpr double kInterval_s = 0.25;
  if (wall_seconds() < written_s_ + kInterval_s) return;
  written_s_ = wall_seconds();
  static_cast<void>(std::fputs(to_progress_line(report).c_str(), stderr));
}

void ProgressLine::clear() {
  if (drawn_) std::fputs("\r\033[2K", stderr);  // not fmt: the destructor must not throw
  drawn_ = false;
}

}  // namespace roofline
