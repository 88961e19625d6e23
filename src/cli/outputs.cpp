// Renders and writes what was asked for.
#include "cli/outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <future>
#include <optional>

#include "cli/console.hpp"
#include "host/files.hpp"
#include "report/comparison/comparison.hpp"
#include "report/json/json.hpp"

namespace roofline {
namespace {

/// The runs in several formats: the chart that they share is laid out once.
class Renderer {
 public:
  Renderer(const Runs& runs, const ChartOptions& chart, const std::vector<const Format*>& formats)
      : runs_(runs), chart_(chart) {
    const auto draws = [](const Format* format) { return format != nullptr && format->draws_chart(); };
    if (std::any_of(formats.begin(), formats.end(), draws)) drawing_.emplace(runs, chart);
  }

  /// May be called from several threads.
  std::string render(const Format& format) const {
    if (const auto* text = std::get_if<Format::Text>(&format.render)) return (*text)(runs_);
    return std::get<Format::Drawn>(format.render)(runs_, *drawing_, chart_);
  }

 private:
  const Runs& runs_;
  const ChartOptions& chart_;
  std::optional<ChartDrawing> drawing_;
};

}  // namespace

std::string render(const Runs& runs, const Format& format, const ChartOptions& chart) {
  return Renderer(runs, chart, {&format}).render(format);
}

std::vector<std::filesystem::path> write_outputs(const Runs& runs, const OutputRequest& request,
                                                 const ChartOptions& chart, const std::filesystem::path& folder,
                                                 const std::filesystem::path& written) {
  std::vector<std::filesystem::path> paths;
  std::vector<const Format*> formats;  // with no text for what is there already
  for (const Format* format : request.formats.empty() ? usual_formats(runs.size()) : request.formats) {
    paths.push_back(request.is_file ? std::filesystem::path(request.path) : folder / format->file);
    formats.push_back(paths.back() == written ? nullptr : format);
  }
  const Renderer renderer(runs, chart, formats);
  std::vector<std::future<std::string>> texts(formats.size());
  for (std::size_t i = 0; i < formats.size(); ++i) {
    if (formats[i] == nullptr) continue;
    texts[i] = std::async(std::launch::async, &Renderer::render, &renderer, std::cref(*formats[i]));
  }
  // All or nothing: what can't be rendered leaves no half of a folder behind.
  std::vector<std::optional<std::string>> rendered(formats.size());
  for (std::size_t i = 0; i < formats.size(); ++i) {
    if (texts[i].valid()) rendered[i] = texts[i].get();
  }
  for (std::size_t i = 0; i < formats.size(); ++i) {
    if (rendered[i]) write_file(paths[i], *rendered[i]);
  }
  return paths;
}

void print_report(const Report& report, const TerminalStyle& style, bool plot, bool json) {
  if (json) return print_result(render_json(report));
  print_result(render_terminal(report, style));
  if (plot) print_result("\n" + render_terminal_plot(report, style));
}

void say_written(const std::vector<std::filesystem::path>& paths) {
  for (const std::filesystem::path& path : paths) say(fmt::format("wrote {}", path.string()));
}

void check_comparable(const Report& base, const Report& now, const std::string& base_file,
                      const std::string& now_file) {
  const DeviceInfo& before = base.machine.device;
  const DeviceInfo& after = now.machine.device;
  if (before.kind != after.kind) {
    throw UsageError(fmt::format("{} is a run on a {} device, {} on a {} device", base_file, to_string(before.kind),
                                 now_file, to_string(after.kind)),
                     "give runs of one kind of device");
  }
  for (const std::string& note : comparison_notes(base, now)) warn(note);
}

ExitCode exit_code_of(const Report& report) {
  if (report.cancelled) return ExitCode::cancelled;
  const bool failed = std::any_of(report.points.begin(), report.points.end(),
                                  [](const Point& point) { return point.status == PointStatus::failed; });
  return failed ? ExitCode::workload_failed : ExitCode::ok;
}

}  // namespace roofline
