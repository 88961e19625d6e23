#include "profile/source_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "host/files.hpp"
#include "model/error.hpp"
#include "report/prefix_scans.hpp"
#include "report/python_work.hpp"
#include "report/source_lines.hpp"
#include "text/parse.hpp"
#include "text/parts.hpp"
#include "text/source_place.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr FileLimit kSourceLimit{std::uint64_t{16} << 20, "a source file"};
constexpr std::size_t kMostText = 160, kMostFiles = 200;
constexpr int kMostOfEvidence = 70;  // columns

/// The paths behind the places that savings name. std::nullopt for places that two files have.
using Paths = std::map<std::string, std::optional<std::string>, std::less<>>;

/// The body of a parallel region, which compilers make a function: "main._omp_fn.0", ".omp_outlined.".
bool is_outlined(std::string_view function) {
  return function.find("_omp_fn") != std::string_view::npos || function.find("omp_outlined") != std::string_view::npos;
}

/// Behind a line of Python: the loop whose variable it compares an array with.
void add_loop(HostLineSum& line, SourceTexts& sources) {
  for (const std::string_view value : selecting_values(line.source)) {
    const std::string loop = sources.loop_over(line.place.file, line.place.line, value);
    if (loop.empty()) continue;
    line.source = fmt::format("{}{}{}", line.source, kInLoop, loop);
    return;
  }
}

/// The same of lines in a loop over the text before a position, and the calls of a chain on several lines.
void add_prefix_scan(HostLineSum& line, SourceTexts& sources) {
  const HostFrame& place = line.place;
  if (line.source.empty() || scans_prefix(line.source)) return;
  if (line.source.front() == '.') {
    const std::string chain = sources.chain(place.file, place.line);
    if (scans_prefix(chain)) line.source = clean_line(chain);
    return;
  }
  const std::string loop = sources.loop_around(place.file, place.line);
  if (begins_prefix_loop(loop) || counts_lines_before(loop, line.source))
    line.source = fmt::format("{}{}{}", line.source, kInLoop, loop);
}

void add_path(Paths& paths, std::string_view path, std::int64_t number) {
  if (path.empty() || number <= 0) return;
  const auto [found, added] = paths.try_emplace(fmt::format("{}:{}", last_path_part(path), number), std::string(path));
  if (!added && found->second && *found->second != path) found->second.reset();
}

}  // namespace

std::string read_source(const std::string& path) {
  std::error_code missing;
  if (!std::filesystem::is_regular_file(path, missing)) return {};
  try {
    return read_file(path, kSourceLimit);
  } catch (const Error&) {  // the report has the line's number
    return {};
  }
}

const std::vector<std::string>& SourceTexts::lines_of(const std::string& path) {
  static const std::vector<std::string> none;
  auto file = files_.find(path);
  if (file == files_.end()) {
    if (files_.size() >= kMostFiles) return none;
    file = files_.emplace(path, std::vector<std::string>()).first;
    file->second = split(content_(path), '\n');
  }
  return file->second;
}

template <class Found>
void SourceTexts::walk_out(const std::string& path, std::int64_t number, std::int64_t farthest, char comment,
                           const Found& found) {
  if (path.empty() || number <= 0) return;
  const std::vector<std::string>& lines = lines_of(path);
  if (static_cast<std::size_t>(number) > lines.size()) return;
  const std::int64_t end = std::max<std::int64_t>(0, number - farthest);
  std::size_t indentation = lines[static_cast<std::size_t>(number - 1)].find_first_not_of(" \t");
  for (std::int64_t at = number - 1; at > end && indentation != 0 && indentation != std::string::npos; --at) {
    const std::string& line = lines[static_cast<std::size_t>(at - 1)];
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos || line[first] == comment || first >= indentation) continue;
    indentation = first;
    if (found(text(path, at))) return;
  }
}

std::string SourceTexts::loop_over(const std::string& path, std::int64_t number, std::string_view variable) {
  std::string loop;
  walk_out(path, number, number, '#', [&](std::string header) {
    const bool ends = begins_definition(header);
    const bool wanted = !ends && begins_loop(header) && loops_over(header, variable);
    if (wanted) loop = std::move(header);
    return ends || wanted;
  });
  return loop;
}

std::string SourceTexts::loop_around(const std::string& path, std::int64_t number) {
  constexpr std::int64_t kFarthest = 40;  // lines
  std::string loop;
  walk_out(path, number, kFarthest, '\0', [&](std::string header) {
    constexpr auto kLoops = std::to_array<std::string_view>({"for ", "for(", "while ", "while(", "loop "});
    const bool wanted = starts_with_any(header, kLoops), ends = begins_definition(header);
    if (wanted) loop = std::move(header);
    return wanted || ends;
  });
  return loop;
}

std::string SourceTexts::chain(const std::string& path, std::int64_t number) {
  constexpr std::int64_t kMost = 8;  // lines in each direction
  std::int64_t first = number;
  while (first > 1 && number - first < kMost && text(path, first).starts_with('.')) --first;
  std::string all = text(path, first);
  for (std::int64_t at = first + 1; at <= number + kMost; ++at) {
    const std::string next = text(path, at);
    if (!next.starts_with('.')) break;
    all += next;
  }
  return all;
}

std::string SourceTexts::text(const std::string& path, std::int64_t number) {
  if (path.empty() || number <= 0) return {};
  const std::vector<std::string>& lines = lines_of(path);
  const auto index = static_cast<std::size_t>(number - 1);
  if (index >= lines.size()) return {};
  const std::string& line = lines[index];
  const std::size_t first = line.find_first_not_of(" \t");
  return first == std::string::npos ? std::string() : clean_line(line.substr(first, kMostText));
}

void add_source_text(KernelSamples& samples, SourceTexts& sources) {
  for (SampledKernel& kernel : samples.kernels) {
    for (SampledLine& line : kernel.lines) {
      if (line.text.empty()) line.text = sources.text(line.file, line.line);
    }
  }
}

void add_source_text(std::vector<HostLineSum>& lines, SourceTexts& sources) {
  constexpr int kNearby = 3;  // a directive is above its loop, whose body may be the line
  for (HostLineSum& line : lines) {
    const HostFrame& place = line.place;
    if (!place.own) continue;
    line.source = sources.text(place.file, place.line);
    if (place.python) add_loop(line, sources);
    add_prefix_scan(line, sources);
    if (!is_outlined(place.function)) continue;
    for (int above = 1; above <= kNearby; ++above) {
      const std::string text = sources.text(place.file, place.line - above);
      if (!is_openmp_directive(text)) continue;
      line.source = fmt::format("{}; {}", text, line.source);
      break;
    }
  }
}

void add_source_text(std::vector<Saving>& savings, const std::vector<ProcessTrace>& traces,
                     const std::optional<HostSamples>& samples) {
  Paths paths;
  for (const ProcessTrace& trace : traces) {
    for (const spool::Line& line : trace.lines) add_path(paths, trace.text(line.file), line.number);
  }
  if (samples) {
    for (const HostFrame& frame : samples->frames) add_path(paths, frame.file, frame.line);
  }
  SourceTexts sources;
  for (Saving& saving : savings) {
    const std::string_view place = line_of_place(saving.line);
    const auto path = paths.find(place);
    if (path == paths.end() || !path->second) continue;
    const std::size_t colon = place.rfind(':');
    const std::string text = sources.text(*path->second, std::stoll(std::string(place.substr(colon + 1))));
    if (text.empty()) continue;
    const PythonWork* const work = saving.general ? python_work_at(text) : nullptr;
    if (work != nullptr) {
      saving.what = fmt::format("GPU idle: host time {}", work->finding);
      saving.action = work->action;
    }
    saving.evidence =
        fmt::format("`{}`{}{}", shorten(text, kMostOfEvidence), saving.evidence.empty() ? "" : "; ", saving.evidence);
  }
}

}  // namespace roofline
