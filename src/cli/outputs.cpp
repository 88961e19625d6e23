// Formats, their file names and their renderers.
#include "cli/outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/console.hpp"
#include "report/comparison.hpp"
#include "report/files.hpp"

namespace roofline {

std::string file_name(const std::string& format) {
  static const std::map<std::string, std::string> names = {
      {"json", "report.json"}, {"csv", "results.csv"},  {"md", "report.md"},    {"svg", "roofline.svg"},
      {"png", "roofline.png"}, {"pdf", "roofline.pdf"}, {"html", "report.html"}};
  return names.at(format);
}

std::string render(const Runs& runs, const std::string& format, const ChartOptions& chart) {
  if (format == "json") return render_json(runs.last());
  if (format == "csv") return runs.several() ? render_comparison_csv(comparison_of(runs)) : render_csv(runs.last());
  if (format == "md") return render_markdown(runs);
  if (format == "svg") return render_svg(runs, chart);
  if (format == "png") return render_png(runs, chart);
  if (format == "pdf") return render_pdf(runs, chart);
  return render_html(runs);
}

std::vector<std::filesystem::path> write_outputs(const Runs& runs, const OutputRequest& request,
                                                 const ChartOptions& chart, const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& format : request.formats.empty() ? usual_formats(runs.size()) : request.formats) {
    paths.push_back(request.is_file ? std::filesystem::path(request.path) : folder / file_name(format));
    write_file(paths.back(), render(runs, format, chart));
  }
  return paths;
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
  for (const std::string& note : comparison_notes(base, now)) say("note: " + note);
}

ExitCode exit_code_of(const Report& report) {
  if (report.cancelled) return ExitCode::cancelled;
  const bool failed = std::any_of(report.points.begin(), report.points.end(),
                                  [](const Point& point) { return point.status == PointStatus::failed; });
  return failed ? ExitCode::workload_failed : ExitCode::ok;
}

}  // namespace roofline
