// Kernels by source line and instruction, from samples.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "render/html/escape.hpp"
#include "render/html/profile_sections.hpp"
#include "render/kernel_listing.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMostKernels = 24, kMostLines = 40, kMostInstructions = 80, kMostWaits = 3;
constexpr double kLeastShare = 0.005;

double share(std::int64_t part, std::int64_t all) {
  return all > 0 ? std::min(1.0, static_cast<double>(part) / static_cast<double>(all)) : 0;
}

std::string html_of(const TextTable& table, const char* kind) {
  std::string html = fmt::format("<div class=\"scroll\"><table class=\"sums {}\"><thead><tr>", kind);
  for (const TerminalColumn& column : table.columns) {
    html += fmt::format("<th{}>{}</th>", column.right ? " class=\"num\"" : "", escape_html(column.title));
  }
  html += "</tr></thead><tbody>\n";
  for (const std::vector<std::string>& row : table.rows) {
    html += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      html += fmt::format("<td{}>{}</td>", table.columns[i].right ? " class=\"num\"" : "", escape_html(row[i]));
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

/// A line with a bar as long as its share, coloured by its largest wait.
std::string line_row(const SampledLine& line, const SampledKernel& kernel) {
  const double part = share(line.samples, kernel.samples);
  return fmt::format(
      "<tr><td>{}</td><td class=\"num\">{}</td><td class=\"heat\"><i style=\"width:{:.1f}%\"></i></td>"
      "<td><code>{}</code></td><td>{}</td></tr>\n",
      escape_html(place_of(line)), percent(part), 100 * part, escape_html(clean_line(line.text)),
      escape_html(waits_of(line, kMostWaits)));
}

std::string of_kernel(const SampledKernel& kernel, std::int64_t all, bool open) {
  std::string lines;
  std::size_t shown = 0;
  for (const SampledLine& line : kernel.lines) {
    if (shown++ == kMostLines || share(line.samples, kernel.samples) < kLeastShare) break;
    lines += line_row(line, kernel);
  }
  return fmt::format(
      "<details class=\"fold\"{}><summary><code>{}</code>: {} of all samples</summary>\n{}"
      "<div class=\"scroll\"><table class=\"sums code\"><caption>Source lines</caption><thead><tr><th>Line</th>"
      "<th class=\"num\">Samples</th><th></th><th>Source</th><th>Waits of this line</th></tr></thead><tbody>\n{}"
      "</tbody></table></div>\n<details class=\"fold\"><summary>Instructions</summary>\n{}</details>\n</details>\n",
      open ? " open" : "", escape_html(clean_line(kernel.name)), percent(share(kernel.samples, all)),
      html_of(waits_table(kernel), "waits"), lines,
      html_of(instructions_table(kernel, kMostInstructions), "instructions"));
}

}  // namespace

std::string html_code(const Report& report) {
  const KernelSamples& samples = report.profile->instructions;
  if (samples.empty()) return {};
  std::int64_t all = 0;
  for (const SampledKernel& kernel : samples.kernels) all += kernel.samples;
  std::string html = fmt::format(
      "<section id=\"code\">\n<h2>Kernels by source line</h2>\n<p class=\"lead\">Where the warps of each kernel were, "
      "and what they waited for: {} samples {}, while {}.</p>\n",
      count(all), escape_html(how_sampled(samples)),
      samples.by.empty() ? "the program ran at its own speed" : "it ran each launch by itself");
  std::size_t shown = 0;
  for (const SampledKernel& kernel : samples.kernels) {
    if (shown == kMostKernels) break;
    html += of_kernel(kernel, all, shown == 0);
    ++shown;
  }
  return html + "</section>\n";
}

}  // namespace roofline
