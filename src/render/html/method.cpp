// How the figures were measured, and how to reproduce them.
#include <fmt/format.h>

#include <utility>

#include "render/html/escape.hpp"
#include "render/html/sections.hpp"
#include "report/profile_findings.hpp"
#include "report/roofs.hpp"
#include "report/work_source.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

constexpr const char* kMethod = R"(<section id="method" aria-labelledby="method-h">
<h2 id="method-h">How to read this report</h2>
<div class="columns">
<p><b>Roofs</b> are measured on this machine, with the same sampler as the kernels. A sloped line is a bandwidth, a
horizontal line the rate of a pipe. Roofs that failed an audit check are marked as suspect. <i>Burst</i> roofs are
measured before power limiting, <i>sustained</i> roofs after it. A kernel is compared with the regime and the clock that
it ran at.</p>
<p><b>Points</b> are the compulsory work of a kernel over the median time of one launch. Every output is verified against
a reference before timing. Compulsory traffic counts each input and each output once: a kernel that moves more bytes
shows headroom.</p>
<p><b>Bound</b>: the attainable time is the largest of the times that the resources need at their ceilings. That resource
is the limiting ceiling; <i>balanced</i> means that the two largest are equal within their intervals. The fraction of the
roof is attainable over measured time, never clamped: a value above 100 % means that a ceiling or a work model is wrong.</p>
<p><b>Times</b> are medians with exact 95 % intervals, widened for autocorrelated samples. Sampling stops when the
interval is narrow enough; any other stop reason is shown in the row.</p>
</div>
</section>
)";

constexpr std::pair<const char*, const char*> kTerms[] = {
    {"Roof", "The highest measured rate of a unit of this machine: byte/s of a memory level, FLOP/s of a pipe."},
    {"Arithmetic intensity (AI)", "FLOPs of a kernel per byte moved to or from main memory."},
    {"Ridge",
     "The intensity at which a memory roof meets the roof of a pipe. Left of it a kernel is memory-bound, right of it "
     "compute-bound."},
    {"FLOP, OP",
     "One floating-point addition, multiplication or comparison; OP for integers. A fused multiply-add counts as two."},
    {"Pipe",
     "An execution unit: FP32 or FP64 units, tensor cores (matrix products), SFU (exponentials, square roots)."},
    {"HBM, L2, L1, shared memory",
     "Main memory of a GPU, its caches, and the scratchpad of a thread block; each smaller and faster than the one "
     "before."},
    {"Burst, sustained", "Before and after the power limit lowers the clock."},
    {"Warp, block, SM",
     "32 threads that execute together; warps that share memory; the processor that runs blocks. A wave is the number "
     "of blocks that all SMs hold at once."},
    {"Occupancy", "Resident warps per SM, as a share of the maximum."},
    {"TMA, WGMMA",
     "Hopper\u2019s copy engine, which loads tiles into shared memory asynchronously, and its matrix instruction "
     "for four warps."},
    {"95 % interval", "Contains the true median in 95 of 100 such measurements."}};

constexpr const char* kProfileMethod = R"(<section id="method" aria-labelledby="method-h">
<h2 id="method-h">How to read this report</h2>
<div class="columns">
<p><b>Times</b> are traced: the driver records start and end of every kernel and copy. Launches of one kernel from one
call site with one grid form a row; its median is over all of them.</p>
<p><b>FLOPs and bytes</b> come from hardware counters, read for some launches of a row, one group of counters at a time.
They are executed work, not required work: a kernel that moves bytes twice can still be at its roof.</p>
<p><b>Roofs</b> are measured on this machine by <i>roofline calibrate</i>; those that failed an audit check are marked as
suspect. The attainable time is the largest of the times that the resources need at their roofs. Its ratio to the
measured time is the fraction of the roof, never clamped.</p>
<p><b>Wall time</b> of a GPU is divided without remainder: kernels running, only copies running, and idle time by what the
host was doing. Concurrent kernels share their time.</p>
</div>
</section>
)";

/// Exceptions of this report from the section.
std::string exceptions(const Report& report) {
  std::string text;
  if (report.profile && shows_sources(report)) {
    text = "Imported from another tool. " + where_figures_are_from(report);
  }
  if (const std::string roofs = not_measured(report.machine); !roofs.empty()) {
    text += fmt::format("{}Its roofs are not measured: {}.", text.empty() ? "" : " ", roofs);
  }
  return text;
}

/// A command for a shell: words with anything but plain characters are quoted.
std::string shell_line(const std::vector<std::string>& command) {
  static constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,+@%";
  std::string line;
  for (const std::string& word : command) {
    if (!line.empty()) line += ' ';
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

}  // namespace

std::string html_glossary() {
  std::string html =
      "<section id=\"terms\" aria-labelledby=\"terms-h\">\n<h2 id=\"terms-h\">Terms</h2>\n<dl class=\"terms\">\n";
  for (const auto& [term, meaning] : kTerms) html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", term, meaning);
  return html + "</dl>\n</section>\n";
}

std::string html_method(const Report& report) {
  const Invocation& run = report.invocation;
  std::string html = report.profile ? kProfileMethod : kMethod;
  if (const std::string facts = exceptions(report); !facts.empty()) {
    html.insert(html.find("<div class=\"columns\">"), fmt::format("<p class=\"lead\">{}</p>\n", escape_html(facts)));
  }
  html += "<section id=\"reproduce\" aria-labelledby=\"reproduce-h\">\n<h2 id=\"reproduce-h\">How to reproduce</h2>\n";
  if (!run.command.empty()) {
    html += fmt::format("<pre tabindex=\"0\" aria-label=\"Command\"><code>{}</code></pre>\n",
                        escape_html(shell_line(run.command)));
  }
  html += fmt::format("<p class=\"lead\">roofline {}, started {}, took {}.</p>\n", escape_html(run.tool_version),
                      escape_html(run.started_at.empty() ? kAbsent : run.started_at), duration(run.duration_s));
  if (!run.suite_text.empty()) {
    html += fmt::format(
        "<details><summary>The suite, {}</summary><pre tabindex=\"0\" aria-label=\"Suite\"><code>{}</code></pre>"
        "</details>\n",
        html_name(run.suite_path.empty() ? run.run_name : run.suite_path, 80), escape_html(run.suite_text));
  }
  return html + "</section>\n";
}

}  // namespace roofline
