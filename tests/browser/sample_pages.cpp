// Writes the sample reports as pages (and as the other files that a run leaves) into a folder: what the
// browser tests look at, and what a person looks at who changes a renderer.
#include <cmath>
#include <filesystem>
#include <iostream>
#include <limits>
#include <string>

#include "model/error.hpp"
#include "report/files.hpp"
#include "report/render.hpp"
#include "tests/support/sample_report.hpp"

namespace roofline {
namespace {

/// Names that try to break out of wherever they are put.
Report hostile_report() {
  Report report = sample::sample_report();
  const std::string script = "</script><script>window.pwned=1</script>";
  const std::string image = "<img src=x onerror=window.pwned=2>";
  report.machine.device.name = script + "GPU \"quoted\" & 'single'";
  report.machine.ceilings[0].variant = image;
  report.machine.ceilings[0].audit.checks[0].detail = script;
  report.machine.unmeasured.push_back({image, script});
  report.machine.device.attributes.push_back({image, script + "]]>-->"});
  report.points[0].workload.label = script;
  report.points[1].workload.label = "\" onmouseover=\"window.pwned=3\" x=\"";
  report.points[2].workload.label = "\u202Egnirts esrever \u05E9\u05DC\u05D5\u05DD \u0645\u0631\u062D\u0628\u0627";
  report.points[3].workload.label = "template<" + std::string(10000, 'x') + ">";
  report.points[4].workload.label = "\xFF\xFE broken \x1b[31m UTF-8 \xC3";
  report.points[5].workload.label = "\u884C\u5217\u7A4D \U0001F680 <!--<script>";
  report.points[6].workload.implementation = image;
  report.points[7].family = "</title>" + script;
  report.points[8].family = "a\"b'c<d>";
  report.points[22].reason = image;
  report.notes.push_back(script + image);
  report.invocation.suite_text = "# " + script + "\n</code></pre>" + image;
  report.invocation.command = {"roofline", "analyze", script, "it's"};
  report.cancelled = true;
  return report;
}

/// Above its roof, without FLOPs, without a ceiling, badly sampled: what a healthy run doesn't have.
Report odd_report() {
  Report report = sample::sample_report();
  report.points[0].time = sample::timed(report.points[0].bound.attainable_time_s / 1.3);
  report.points[1].work.flops.clear();
  report.points[1].bound = bound_of(report.points[1].work, report.machine);
  report.points[2].time->stop = StopReason::time_limit;
  report.points[2].time->drifting = true;
  report.points[3].time->ci95 = {};
  report.points[4].bound = bound_of({}, Machine{});
  report.points[5].time->clock_hz.reset();
  return report;
}

void write_pages(const std::filesystem::path& folder, const std::string& name, const Report& report) {
  write_file(folder / (name + ".html"), render_html(report));
  write_file(folder / (name + ".json"), render_json(report));
  write_file(folder / (name + ".csv"), render_csv(report));
  write_file(folder / (name + ".md"), render_markdown(report));
  write_file(folder / (name + ".txt"),
             render_machine_terminal(report.machine, {}) + "\n" + render_terminal(report, {}));
}

}  // namespace
}  // namespace roofline

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: roofline_sample_pages FOLDER\n";
    return 2;
  }
  try {
    const std::filesystem::path folder = argv[1];
    roofline::write_pages(folder, "h200", roofline::sample::sample_report());
    roofline::write_pages(folder, "cpu", roofline::sample::cpu_sample_report());
    roofline::write_pages(folder, "stress", roofline::sample::random_report(60));
    roofline::write_pages(folder, "hostile", roofline::hostile_report());
    roofline::write_pages(folder, "odd", roofline::odd_report());
    roofline::write_pages(folder, "empty", roofline::Report{});
  } catch (const roofline::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
