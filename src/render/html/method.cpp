// How the numbers were made, and how to make them again.
#include <fmt/format.h>

#include <utility>

#include "render/html/escape.hpp"
#include "render/html/sections.hpp"
#include "report/profile_findings.hpp"
#include "report/roofs.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr const char* kMethod = R"(<section id="method" aria-labelledby="method-h">
<h2 id="method-h">How to read and trust it</h2>
<div class="columns">
<p><b>Roofs</b> are measured on this machine, with the same sampler as the kernels: a slope is a bandwidth, a level line
is the rate of a pipe. Each carries the checks that it passed; one that failed any is shown as suspect. <i>Burst</i> is
before the power limiter acts, <i>sustained</i> after it did: a kernel is held against the regime that its clock tells,
at its own clock where that differs.</p>
<p><b>Points</b> are the compulsory work of a kernel over the median time of one launch. Every output was verified
against a reference before it was timed. Compulsory traffic means each input read once and each output written once,
so a kernel that moves more shows as head-room.</p>
<p><b>The bound</b>: each resource gives a time that the kernel can&#39;t beat. The largest is the attainable time and its
resource the limiting ceiling; <i>balanced</i> means that the two largest can&#39;t be told apart. The fraction of the roof
is attainable over measured time. It is never clamped: above 100 % means that a ceiling or a work model is wrong.</p>
<p><b>Times</b> are medians with the exact 95 % interval, widened for samples that depend on each other. Sampling
stops when the interval is narrow enough; where it stopped for another reason, the row says so.</p>
</div>
</section>
)";

constexpr std::pair<const char*, const char*> kTerms[] = {
    {"Roof",
     "The most that a unit of this machine has been seen to do: bytes a second of a memory, operations a second of a "
     "pipe. A kernel needs at least its work divided by the roof."},
    {"Arithmetic intensity (AI)", "FLOPs of a kernel for each byte that it has to move from or to main memory."},
    {"Ridge",
     "The intensity at which a memory roof meets a pipe\u2019s: to the left of it memory limits, to the right "
     "arithmetic."},
    {"FLOP, OP",
     "One addition, product or comparison of floating-point numbers; of integers it is an OP. A multiply-add "
     "counts as two."},
    {"Pipe",
     "A unit that computes: the FP32 or FP64 units, the tensor cores (small matrix products in hardware), the SFU "
     "(special functions: exponentials, square roots)."},
    {"HBM, L2, L1, shared memory",
     "A GPU\u2019s main memory, its caches, and the memory that threads of a block manage "
     "themselves; nearer ones are smaller and faster."},
    {"Burst, sustained", "Before and after the power limit lowers the clock."},
    {"Warp, block, SM",
     "32 threads that run together; warps that share memory; the processor on which blocks run. A wave "
     "is as many blocks as all SMs hold at once."},
    {"Occupancy", "Warps that an SM holds, as a share of those it could hold."},
    {"TMA, WGMMA",
     "Hopper\u2019s copy engine, which loads tiles into shared memory by itself, and its matrix instruction "
     "for four warps at once."},
    {"95 % interval", "Where the true median lies in 95 of 100 such measurements."}};

constexpr const char* kProfileMethod = R"(<section id="method" aria-labelledby="method-h">
<h2 id="method-h">How to read and trust it</h2>
<div class="columns">
<p><b>Times</b> are traced: the driver&#39;s own record of the beginning and the end of every kernel and copy. Launches of
one kernel from one place, on one grid, are one row; its median is of all its launches.</p>
<p><b>FLOPs and bytes</b> are counted by the hardware on some launches of a row, a group of counters at a time. They are
what the kernel did, not what it had to do: a kernel that moves bytes twice can stand at its roof all the same.</p>
<p><b>Roofs</b> are measured on this machine, by <i>roofline calibrate</i>. Each carries the checks that it passed; one that
failed any is shown as suspect. Each resource gives a time that the kernel can&#39;t beat; the largest is the attainable
time, and its share of the measured one is the fraction of the roof. It is never clamped.</p>
<p><b>The wall time</b> of a GPU is divided without remainder: time in which a kernel runs, in which only copies run, and in
which nothing does, by what the host was doing. Where kernels run side by side each has its share.</p>
</div>
</section>
)";

/// In what this report differs from what the section says.
std::string exceptions(const Report& report) {
  std::string text;
  if (report.profile && tells_sources(report)) {
    text = "This report is from another tool's files. " + where_figures_are_from(report);
  }
  if (const std::string roofs = not_measured(report.machine); !roofs.empty()) {
    text += fmt::format("{}Its roofs are promises: {}.", text.empty() ? "" : " ", roofs);
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
