#include "cli/torch_bounds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "calibrate/calibrate.hpp"
#include "cli/console.hpp"
#include "host/files.hpp"
#include "import/torch_problems.hpp"
#include "model/error.hpp"
#include "text/natural_order.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr double kLimitSeconds = 300;

std::vector<std::string> problem_files(const fs::path& folder) {
  constexpr std::size_t kMost = 10'000;
  std::vector<std::string> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with(".") || name.starts_with("__")) {
      if (at->is_directory(error)) at.disable_recursion_pending();
    } else if (at->path().extension() == ".py" && at->is_regular_file(error)) {
      files.push_back(at->path().string());
    }
    if (files.size() > kMost) throw UsageError(fmt::format("{}: more than {} problems", folder.string(), kMost));
  }
  if (files.empty()) throw UsageError(folder.string() + ": no problems in Python (*.py) in it");
  std::ranges::sort(files, natural_less);
  return files;
}

/// The names of a path from its end.
std::vector<std::string> names_from_end(const fs::path& path) {
  std::vector<std::string> names;
  for (const fs::path& part : path) names.push_back(part.string());
  std::ranges::reverse(names);
  return names;
}

void collect_timings(const Json& from, const fs::path& at, ProblemTimings& timings, int depth = 0) {
  constexpr int kDeepest = 8;
  if (!from.is_object() || depth > kDeepest) return;
  const auto mean = from.find("mean");
  if (mean != from.end() && mean->is_number()) {
    constexpr double kMilli = 1e-3;
    if (mean->get<double>() > 0) timings.seconds[at.string()] = mean->get<double>() * kMilli;
    return;
  }
  for (const auto& [key, value] : from.items()) collect_timings(value, at / key, timings, depth + 1);
}

}  // namespace

BoundProblem bound_of_python_files(const std::string& path, const std::string& python, const Inference& inference) {
  std::error_code ignored;
  const bool folder = fs::is_directory(path, ignored);
  const std::vector<std::string> files = folder ? problem_files(path) : std::vector<std::string>{path};
  if (!folder && !fs::is_regular_file(path, ignored)) throw UsageError(path + ": no such file");
  ProgressLine line;
  const auto show = [&](std::size_t done) {
    const std::string next = done < files.size() ? fs::path(files[done]).filename().string() : "";
    line.show({.done = static_cast<std::int64_t>(done), .total = std::ssize(files), .current = clean_line(next)});
  };
  show(0);
  const std::vector<TracedProblem> traced = trace_problems(python, files, kLimitSeconds, show);
  line.clear();
  if (!folder) {
    if (!traced.front().error.empty()) throw UsageError(traced.front().error);
    return problem_of(traced.front().graph, inference);
  }
  BoundProblem all;
  ProblemPhase phase;
  phase.name = "problems";
  std::map<std::string, std::vector<std::string>> left_out;  // by reason
  for (const TracedProblem& problem : traced) {
    const std::string name = fs::path(problem.file).lexically_relative(path).string();
    try {
      if (!problem.error.empty()) throw UsageError(problem.error);
      const BoundProblem one = problem_of(problem.graph, inference);
      phase.parts.push_back({name, 1, *one.phases.front().fused});
    } catch (const UsageError& error) {
      std::string reason = error.what();
      if (reason.starts_with(problem.file + ": ")) reason.erase(0, problem.file.size() + 2);
      left_out[reason].push_back(name);
    }
  }
  for (const auto& [reason, names] : left_out) {
    constexpr std::size_t kNamed = 3;
    const std::string more = names.size() > kNamed ? fmt::format(" and {} more", names.size() - kNamed) : "";
    const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kNamed));
    all.notes.push_back(fmt::format("left out, {}: {}{}", reason, fmt::join(names.begin(), end, ", "), more));
  }
  if (phase.parts.empty()) throw UsageError(fmt::format("{}: {}", path, all.notes.front()));
  all.name = fmt::format("{} of {} problems in {}", phase.parts.size(), files.size(), clean_line(path));
  all.phases.push_back(std::move(phase));
  return all;
}

std::optional<double> ProblemTimings::of(const std::string& file) const {
  const std::vector<std::string> wanted = names_from_end(file);
  std::optional<double> found;
  std::size_t most = 0;
  bool several = false;
  for (const auto& [name, time] : seconds) {
    const std::vector<std::string> names = names_from_end(name);
    const auto [end, unused] = std::ranges::mismatch(wanted, names);
    const auto equal = static_cast<std::size_t>(end - wanted.begin());
    if (equal == 0 || equal < most) continue;
    several = equal == most;
    most = equal;
    found = time;
  }
  return several ? std::nullopt : found;
}

ProblemTimings read_problem_timings(const std::string& file) {
  ProblemTimings timings;
  const Json document = Json::parse(read_file(file, kFileLimit), nullptr, false);
  collect_timings(document, {}, timings);
  if (timings.seconds.empty()) {
    throw UsageError(fmt::format("--against {}: no timings of problems", file),
                     "JSON with a \"mean\" in milliseconds for each file, as KernelBench writes it");
  }
  return timings;
}

}  // namespace roofline
