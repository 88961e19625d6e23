// The renderers: pure functions of runs, machines and comparisons. None measures, none reads a clock or a file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/compare_machines.hpp"
#include "report/comparison/comparison.hpp"
#include "report/report.hpp"
#include "report/roofs.hpp"
#include "report/runs.hpp"

namespace roofline {

enum class Theme : std::uint8_t { light, dark };
/// Quantity shown by the area of a mark: its time, or none.
enum class MarkSize : std::uint8_t { time, equal };

/// Appearance of a chart.
struct ChartOptions {
  int width = 1200;  ///< CSS pixels
  int height = 760;
  double scale = 2;  ///< device pixels per CSS pixel (PNG only)
  Theme theme = Theme::light;
  MarkSize marks = MarkSize::time;
  Intensity of = Intensity::memory;  ///< along the horizontal axis: network makes a communication roofline
  bool plot_only = false;            ///< for a narrow page, which has its own title and legend
  std::string title = {};            ///< empty: the device's name
  bool projected = false;            ///< the last of several runs was computed, not measured
  std::string subtitle = {};         ///< empty: the main roofs, the ridges, the number of kernels and the date
};

struct Chart;

/// A chart laid out once, to be drawn in any number of formats, from several threads too. The runs have to outlive it.
class ChartDrawing {
 public:
  explicit ChartDrawing(const Runs& runs, const ChartOptions& options = {});
  ~ChartDrawing();
  ChartDrawing(const ChartDrawing&) = delete;
  ChartDrawing& operator=(const ChartDrawing&) = delete;

  std::string svg() const;
  std::string svg_for_page() const;  ///< with hidden groups that the page's script can show
  /// Smaller version for the same page's script: without titles, data and hidden groups.
  std::string svg_beside() const;
  std::string png() const;  ///< bytes
  std::string pdf() const;  ///< bytes
  const ChartOptions& options() const { return options_; }

 private:
  std::unique_ptr<const Chart> chart_;
  ChartOptions options_;
};

std::string render_csv(const Report& report);                                ///< results.csv (RFC 4180)
std::string render_markdown(const Runs& runs);                               ///< report.md
std::string render_svg(const Runs& runs, const ChartOptions& options = {});  ///< roofline.svg
std::string render_png(const Runs& runs, const ChartOptions& options = {});  ///< roofline.png, bytes
std::string render_pdf(const Runs& runs, const ChartOptions& options = {});  ///< roofline.pdf, bytes
std::string render_html(const Runs& runs);                                   ///< report.html, one self-contained file
std::string render_html(const Runs& runs, const ChartDrawing& drawing);      ///< the same, around that chart
/// Page of two runs and their comparison, which may have a gate.
std::string render_html(const Runs& runs, const ChartDrawing& drawing, const Comparison* comparison);

/// Properties of the terminal.
struct TerminalStyle {
  bool color = false;
  bool unicode = true;
  int columns = 80;
};
std::string render_terminal(const Report& report, const TerminalStyle& style);   ///< the results table
std::string render_terminal_plot(const Runs& runs, const TerminalStyle& style);  ///< the chart, in characters
/// The ceilings table; `verbose` adds what every failed check found.
std::string render_machine_terminal(const Machine& machine, const TerminalStyle& style, bool verbose = false);
std::string render_machine_markdown(const Machine& machine);
/// Changes between two calibrations; `before` and `now` name them.
std::string render_changes_terminal(const std::vector<CeilingChange>& changes, const std::string& before,
                                    const std::string& now, const TerminalStyle& style);
std::string render_changes_markdown(const std::vector<CeilingChange>& changes, const std::string& before,
                                    const std::string& now);

std::string render_comparison_terminal(const Comparison& comparison, const TerminalStyle& style);
std::string render_comparison_markdown(const Comparison& comparison);
std::string render_comparison_csv(const Comparison& comparison);
std::string render_comparison_json(const Comparison& comparison);

}  // namespace roofline
