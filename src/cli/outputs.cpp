// Formats, their file names and their renderers.
#include "cli/outputs.hpp"

#include <algorithm>
#include <map>

#include "cli/options.hpp"
#include "report/files.hpp"
#include "report/render.hpp"

namespace roofline {

std::string file_name(const std::string& format) {
  static const std::map<std::string, std::string> names = {{"json", "report.json"}, {"csv", "results.csv"},
                                                           {"md", "report.md"},     {"svg", "roofline.svg"},
                                                           {"png", "roofline.png"}, {"html", "report.html"}};
  return names.at(format);
}

std::string render(const Report& report, const std::string& format) {
  if (format == "json") return render_json(report);
  if (format == "csv") return render_csv(report);
  if (format == "md") return render_markdown(report);
  if (format == "svg") return render_svg(report);
  if (format == "png") return render_png(report);
  return render_html(report);
}

std::vector<std::filesystem::path> write_outputs(const Report& report, const std::vector<std::string>& formats,
                                                 const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& format : formats.empty() ? report_formats() : formats) {
    paths.push_back(folder / file_name(format));
    write_file(paths.back(), render(report, format));
  }
  return paths;
}

ExitCode exit_code_of(const Report& report) {
  if (report.cancelled) return ExitCode::cancelled;
  const bool failed = std::any_of(report.points.begin(), report.points.end(),
                                  [](const Point& point) { return point.status == PointStatus::failed; });
  return failed ? ExitCode::workload_failed : ExitCode::ok;
}

}  // namespace roofline
