// Formats, their file names and their renderers.
#include "cli/outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <map>
#include <optional>

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

namespace {

bool draws_chart(const std::string& format) {
  return format == "svg" || format == "png" || format == "pdf" || format == "html";
}

/// A page's chart takes its theme and size from the reader's window, and its title from the page.
bool suits_a_page(const ChartOptions& chart) {
  const ChartOptions page;
  return chart.width == page.width && chart.height == page.height && chart.theme == page.theme && chart.title.empty() &&
         chart.subtitle.empty();
}

/// The runs in several formats: what they share is made once.
class Renderer {
 public:
  Renderer(const Runs& runs, const ChartOptions& chart, const std::vector<std::string>& formats)
      : runs_(runs), is_of_page_(suits_a_page(chart)) {
    if (std::any_of(formats.begin(), formats.end(), draws_chart)) drawing_.emplace(runs, chart);
  }

  /// May be called from several threads.
  std::string render(const std::string& format) const {
    if (format == "json") return render_json(runs_.last());
    if (format == "csv") {
      return runs_.several() ? render_comparison_csv(comparison_of(runs_)) : render_csv(runs_.last());
    }
    if (format == "md") return render_markdown(runs_);
    if (format == "svg") return drawing_->svg();
    if (format == "png") return drawing_->png();
    if (format == "pdf") return drawing_->pdf();
    return is_of_page_ ? render_html(runs_, *drawing_) : render_html(runs_);
  }

 private:
  const Runs& runs_;
  bool is_of_page_;
  std::optional<ChartDrawing> drawing_;
};

}  // namespace

std::string render(const Runs& runs, const std::string& format, const ChartOptions& chart) {
  return Renderer(runs, chart, {format}).render(format);
}

std::vector<std::filesystem::path> write_outputs(const Runs& runs, const OutputRequest& request,
                                                 const ChartOptions& chart, const std::filesystem::path& folder) {
  const std::vector<std::string> formats = request.formats.empty() ? usual_formats(runs.size()) : request.formats;
  const Renderer renderer(runs, chart, formats);
  std::vector<std::future<std::string>> texts;
  texts.reserve(formats.size());
  for (const std::string& format : formats) {
    texts.push_back(std::async(std::launch::async, &Renderer::render, &renderer, format));
  }
  std::vector<std::filesystem::path> paths;
  for (std::size_t i = 0; i < formats.size(); ++i) {
    paths.push_back(request.is_file ? std::filesystem::path(request.path) : folder / file_name(formats[i]));
    write_file(paths.back(), texts[i].get());
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
