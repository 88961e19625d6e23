// Renders reports and writes the requested formats.
#include "cli/outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <future>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "cli/answer.hpp"
#include "cli/console.hpp"
#include "cli/document_output.hpp"
#include "cli/option_values.hpp"
#include "host/child_result.hpp"
#include "host/file_limits.hpp"
#include "host/output_file.hpp"
#include "model/find.hpp"
#include "render/comparison_ci.hpp"
#include "render/documents.hpp"
#include "report/comparison/comparison.hpp"
#include "report/json/json.hpp"
#include "text/nearest_name.hpp"

namespace roofline {
namespace {

/// Renders runs in several formats; lays out the chart that they share once.
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
    return rendered(format, [&] { return std::get<Format::Drawn>(format.render)(runs_, *drawing_, chart_); });
  }

 private:
  const Runs& runs_;
  const ChartOptions& chart_;
  std::optional<ChartDrawing> drawing_;
};

/// The format of a file by its extension; null if there is none.
const Format* format_of_file(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  return ending.empty() ? nullptr : find_format(std::string_view(ending).substr(1));
}

/// Names separated by commas, each format once. `known`: those that the command writes.
OptionValue format_list(std::vector<const Format*>& formats, const std::vector<std::string>& known) {
  const auto set = [&formats, known](const std::string& given, const std::string& option) {
    std::vector<std::string> names;
    list("", names).set(given, "");
    for (const std::string& name : names) {
      const Format* const format = find_format(name);
      if (format == nullptr || !contains(known, name)) {
        const std::string near = nearest_name(name, known);
        throw UsageError(fmt::format("{} {}: unknown format (supported: {})", option, name, fmt::join(known, ", ")),
                         near.empty() ? "" : fmt::format("did you mean '{}'?", near));
      }
      if (!contains(formats, format)) formats.push_back(format);
    }
  };
  return {.value = "FORMAT", .set = set, .several = true};
}

/// Rejects sizes whose PNG would not fit into memory.
void check_pixels(const ChartOptions& chart) {
  constexpr double kMostPixels = 140e6;  // 7680x4320 at scale 2: 0.5 GB
  const double pixels = chart.width * chart.scale * chart.height * chart.scale;
  if (pixels <= kMostPixels) return;
  const double fits = std::sqrt(kMostPixels / chart.width / chart.height);
  throw UsageError(fmt::format("--scale {:g}: {}x{} at that scale has {:.0f} million pixels", chart.scale, chart.width,
                               chart.height, pixels / 1e6),
                   fmt::format("the maximum at this size is --scale {:.1f}", std::floor(fits * 10) / 10));
}

/// The page of two runs takes their charts' usual size, as pictures do.
std::string drawn_comparison(const Comparison& comparison, const Format& format) {
  const std::vector<Report> runs = {*comparison.base, *comparison.now};
  if (format.name == "html") return render_html(runs, ChartDrawing(runs), &comparison);
  const ChartOptions chart;
  return Renderer(runs, chart, {&format}).render(format);
}

/// As a "table" for the terminal, a text, a page or a picture.
std::string rendered_comparison(const Comparison& comparison, std::string_view format, const TerminalStyle& style) {
  if (format == "md") return render_comparison_markdown(comparison);
  if (format == "json") return render_comparison_json(comparison);
  if (format == "csv") return render_comparison_csv(comparison);
  if (format == "junit") return render_comparison_junit(comparison);
  if (format == "sarif") return render_comparison_sarif(comparison);
  if (const Format* const drawn = format == "table" ? nullptr : find_format(format)) {
    return drawn_comparison(comparison, *drawn);
  }
  return render_comparison_terminal(comparison, style);
}

std::vector<const Format*> formats_of(const ReportOutput& output, std::size_t runs) {
  return output.formats.empty() ? usual_formats(runs) : output.formats;
}

}  // namespace

void FileOutput::add_to(CommandEntry& command, const std::string& own, const std::vector<std::string>& names,
                        const std::string& usual) {
  writable = names;
  command.add(
      "-o,--output", text("PATH", path),
      fmt::format("Directory (default: {}), a file whose extension selects the format, or '-' for stdout", own));
  command.add("--format", format_list(formats, names),
              fmt::format("Output formats, comma-separated: {} (default: {})", fmt::join(names, ", "), usual));
}

std::vector<std::string> FileOutput::writable_of(std::size_t runs) const {
  std::vector<std::string> names = writable;
  if (runs > 1) std::erase_if(names, [](const std::string& name) { return !find_format(name)->several; });
  return names;
}

void FileOutput::finish(const GlobalOptions& global, std::size_t runs) {
  if (global.answer.json && path.empty() && formats.empty()) {
    path = "-";
    formats = {find_format("json")};
  }
  const Format* const format = format_of_file(path);
  std::error_code hidden;
  if (format != nullptr && !std::filesystem::is_directory(path, hidden)) {
    if (!contains(writable, std::string(format->name))) refuse_ending(path, writable_of(runs));
    if (!formats.empty() && formats != std::vector<const Format*>{format}) {
      throw UsageError(fmt::format("-o {} is one {} file, but --format requests others", path, format->name),
                       "remove --format, or pass a directory to -o");
    }
    formats = {format};
    is_file = true;
  } else {
    refuse_unknown_ending(path, writable_of(runs));
  }
  if (to_stdout() && formats.size() != 1) {
    throw UsageError("-o - requires exactly one --format", "for example: --format json -o -");
  }
}

std::filesystem::path FileOutput::folder(const std::filesystem::path& own) const {
  if (is_file) return std::filesystem::absolute(path).parent_path();
  return path.empty() ? own : std::filesystem::path(path);
}

std::filesystem::path FileOutput::file(const std::filesystem::path& folder, std::string_view name) const {
  return is_file ? std::filesystem::path(path) : folder / name;
}

void ReportOutput::add_to(CommandEntry& command, const std::string& own, const std::vector<std::string>& names) {
  std::vector<std::string> unusual = names;
  std::erase_if(unusual, [](const std::string& name) { return find_format(name)->usual; });
  FileOutput::add_to(command, own, names, fmt::format("all except {}", fmt::join(unusual, ", ")));
  command.add("--size", chart_size(chart), "Chart size in pixels (default: 1200x760)");
  command.add("--scale", number("FACTOR", chart.scale, 0.25, 8), "PNG pixels per pixel of --size (default: 2)");
  command.add("--theme", one_of(chart.theme, {std::pair("light", Theme::light), {"dark", Theme::dark}}),
              "Color theme of the chart (default: light)");
  command.add("--marks", one_of(chart.marks, {std::pair("time", MarkSize::time), {"equal", MarkSize::equal}}),
              "Area of the marks: proportional to total time, or equal "
              "(default: time)");
  command.add("--bytes", one_of(chart.of, {std::pair("memory", Intensity::memory), {"network", Intensity::network}}),
              "Bytes that define arithmetic intensity: main memory or network "
              "traffic (default: memory)");
  command.add("--title", text("TEXT", chart.title), "Title of the chart (default: the device name)");
  command.add("--subtitle", text("TEXT", chart.subtitle),
              "Line below the title (default: main roofs, number of kernels, date)");
  command.add("--plot", flag(plot), "Also draw the chart in the terminal");
}

void ReportOutput::finish(const GlobalOptions& global, std::size_t runs) {
  check_pixels(chart);
  FileOutput::finish(global, runs);
  for (const Format* format : formats) {
    if (format->several || runs == 1 || (global.answer.json && to_stdout())) continue;
    throw UsageError(fmt::format("{} holds one run, but several files were given", format->name),
                     "pass one file, or compare two: roofline compare BASE NEW --format "
                     "json");
  }
}

void require_outputs(const ReportOutput& output, const std::filesystem::path& folder) {
  for (const Format* format : formats_of(output, 1)) require_output(output.file(folder, format->file));
}

std::vector<std::filesystem::path> write_outputs(const Runs& runs, const ReportOutput& output,
                                                 const std::filesystem::path& folder,
                                                 const std::filesystem::path& written) {
  std::vector<const Format*> formats = formats_of(output, runs.size());
  // The chart of a program without kernels, on a machine without roofs, would be empty.
  const Report& last = runs.last();
  const bool has_chart = !last.profile || !last.points.empty() || !last.machine.ceilings.empty();
  if (output.formats.empty() && !has_chart) {
    std::erase_if(formats, [](const Format* format) { return format->draws_chart() && format->name != "html"; });
  }
  std::vector<std::filesystem::path> paths;
  for (const Format*& format : formats) {
    paths.push_back(output.file(folder, format->file));
    if (paths.back() == written) {
      format = nullptr;
    } else {
      require_output(paths.back());
    }
  }
  const Renderer renderer(runs, output.chart, formats);
  std::vector<std::future<std::string>> texts(formats.size());
  for (std::size_t i = 0; i < formats.size(); ++i) {
    if (formats[i] == nullptr) continue;
    texts[i] = std::async(std::launch::async, &Renderer::render, &renderer, std::cref(*formats[i]));
  }
  // All or nothing: a format that fails to render must not leave a partial
  // directory behind.
  std::vector<std::optional<std::string>> rendered(formats.size());
  for (std::size_t i = 0; i < formats.size(); ++i) {
    if (texts[i].valid()) rendered[i] = texts[i].get();
  }
  for (std::size_t i = 0; i < formats.size(); ++i) {
    if (!rendered[i]) continue;
    write_output(paths[i], *rendered[i]);
    if (formats[i]->name == "json" && rendered[i]->size() > kReportLimit.bytes) {
      warn(fmt::format("{} is larger than {} MB: roofline report does not read it", paths[i].string(),
                       kReportLimit.bytes >> 20));
    }
  }
  return paths;
}

std::string rendered(const Format& format, const std::function<std::string()>& render) {
  return format.may_crash ? result_of_child(fmt::format("the {} can't be drawn", format.name), render) : render();
}

void print_format(const Runs& runs, const ReportOutput& output) {
  const Format& format = *output.formats.front();
  print_result([&] { return format.name == "json" ? report_to_json(runs.last()) : nlohmann::ordered_json(); },
               [&] { return Renderer(runs, output.chart, {&format}).render(format); });
}

void print_runs(const Runs& runs, const ReportOutput& output, ColorMode color) {
  print_result([&] { return runs.several() ? comparison_to_json(comparison_of(runs)) : report_to_json(runs.last()); },
               [&] {
                 const TerminalStyle style = stdout_style(color);
                 const std::string table =
                     runs.several() ? render_comparison_terminal(comparison_of(runs), stdout_table_style(color))
                                    : render_terminal(runs.last(), style);
                 return table + (output.plot ? "\n" + render_terminal_plot(runs, style) : "");
               });
}

void put_comparison(const DocumentOutput& output, const Comparison& comparison, ColorMode color) {
  output.put([&] { return comparison_to_json(comparison); },
             [&](std::string_view format, const TerminalStyle& style) {
               return rendered_comparison(comparison, format, style);
             },
             stdout_table_style(color));
}

bool print_regressions(const Comparison& comparison, const std::string& hint, bool is_shown) {
  const std::string regressions = regression_line(comparison);
  if (!regressions.empty() && !is_shown) print_problem({"regression", regressions, hint});
  return !regressions.empty();
}

void print_written(const std::vector<std::filesystem::path>& paths) {
  for (const std::filesystem::path& path : paths) {
    std::error_code none;
    const std::filesystem::path target = std::filesystem::read_symlink(path, none);
    print_status(fmt::format("wrote {}{}", path.string(), none ? "" : fmt::format(" (link to {})", target.string())));
  }
}

void require_one_kind(const Report& base, const Report& now, const std::string& base_file,
                      const std::string& now_file) {
  const DeviceInfo& before = base.machine.device;
  const DeviceInfo& after = now.machine.device;
  if (before.kind != after.kind) {
    throw UsageError(fmt::format("{} was measured on a {} device, {} on a {} device", base_file, to_string(before.kind),
                                 now_file, to_string(after.kind)),
                     "pass runs of one kind of device");
  }
}

void check_comparable(const Report& base, const Report& now, const std::string& base_file,
                      const std::string& now_file) {
  require_one_kind(base, now, base_file, now_file);
  for (const std::string& note : comparison_notes(base, now)) warn(note);
}

ExitCode exit_code_of(const Report& report) {
  if (report.cancelled) return ExitCode::cancelled;
  const bool failed = std::any_of(report.points.begin(), report.points.end(),
                                  [](const Point& point) { return point.status == PointStatus::failed; });
  return failed ? ExitCode::workload_failed : ExitCode::ok;
}

}  // namespace roofline
