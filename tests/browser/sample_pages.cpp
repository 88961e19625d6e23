// Writes the sample reports as pages (and as the other files that a run leaves) into a folder: what the
// browser tests look at, and what a person looks at who changes a renderer.
#include <cmath>
#include <filesystem>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include "fleet/fleet.hpp"
#include "host/files.hpp"
#include "model/bound.hpp"
#include "model/error.hpp"
#include "problem/problem_bound.hpp"
#include "project/projection.hpp"
#include "render/fleet/fleet_render.hpp"
#include "render/problem_render.hpp"
#include "render/projection_render.hpp"
#include "render/render.hpp"
#include "report/json/json.hpp"
#include "tests/support/profile_report.hpp"

namespace roofline {
namespace {

/// Names that try to break out of wherever they are put.
Report hostile_report() {
  Report report = example::sample_report();
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
  Report report = example::sample_report();
  report.points[0].time = example::timed(report.points[0].bound.attainable_time_s / 1.3);
  report.points[1].work.flops.clear();
  report.points[1].bound = bound_of(report.points[1].work, report.machine);
  report.points[2].time->stop = StopReason::time_limit;
  report.points[2].time->drifting = true;
  report.points[3].time->ci95 = {};
  report.points[4].bound = bound_of({}, Machine{});
  report.points[5].time->clock_hz.reset();
  return report;
}

/// Before and after: one kernel slower, one faster, one gone, one new.
std::vector<Report> two_runs() {
  std::vector<Report> runs(2, example::sample_report());
  const auto scale = [&](std::size_t point, double by) {
    runs[1].points[point].time = example::timed(runs[0].points[point].time->median * by);
  };
  scale(3, 1.05);
  scale(13, 0.5);
  scale(19, 1.25);
  runs[0].points.erase(runs[0].points.begin() + 20);
  runs[1].points.erase(runs[1].points.begin() + 8);
  Ceiling& faster = runs[1].machine.ceilings[4];
  faster.value *= 1.1;
  faster.ci95 = {faster.ci95.low * 1.1, faster.ci95.high * 1.1};
  runs[1].invocation.started_at = "2026-01-16T09:32:10Z";
  return runs;
}

/// A program before and after the fused loss: its softmax kernels are gone, one kernel is slower.
std::vector<Report> two_profiles() {
  std::vector<Report> runs(2, example::profile_report());
  const auto at = [&](const char* op) { return static_cast<std::size_t>(example::row_of(runs[0], op)); };
  Point& slower = runs[1].points[at("flash_fwd_kernel")];
  slower.time = example::timed(slower.time->median * 1.25);
  slower.profiled->total_s *= 1.25;
  runs[1].profile->savings.clear();
  runs[1].profile->timeline.reset();
  runs[1].profile->devices[0].kernels_s -= 0.4;
  runs[1].profile->devices[0].wall_s -= 0.4;
  runs[1].points.erase(runs[1].points.begin() + static_cast<std::ptrdiff_t>(at("softmax_warp_backward_log")));
  runs[1].invocation.started_at = "2026-01-16T09:32:10Z";
  return runs;
}

/// Sixty machines in two groups and two that nobody can judge; three fall behind, and one of them has a hostile name.
Fleet sample_fleet() {
  std::vector<MachineSummary> summaries;
  for (int i = 0; i < 62; ++i) {
    MachineSummary& summary = summaries.emplace_back();
    summary.host = "node" + std::to_string(i);
    summary.file = "fleet/" + summary.host + "-gpu0.json";
    summary.host_recorded = true;
    summary.kind = DeviceKind::cuda;
    summary.name = i < 40 ? "NVIDIA H200" : i < 60 ? "NVIDIA H100 80GB HBM3" : "NVIDIA L4";
    summary.uuid = "GPU-" + std::to_string(10000000 + i);
    summary.units = 132;
    summary.memory_bytes = 150e9;
    summary.measured_at = "2026-01-15T09:32:10Z";
    summary.facts = {{"driver", i % 9 == 0 ? "570.2" : "580.1"}, {"power limit", "700 W"}};
    for (const char* label : {"hbm.read", "l2.read", "pcie.h2d", "tensor.bf16 (sustained)"}) {
      const double noise = 0.002 * std::sin(12.9898 * (i + 1) * (1 + static_cast<double>(summary.ceilings.size())));
      summary.ceilings.push_back(
          {.label = label, .audit = CheckStatus::pass, .value = 4.7e12 * (1 + noise), .core_hz = 1.98e9F});
    }
    summary.ceilings[1].role = Role::reference;
  }
  summaries[3].ceilings[0].value *= 0.95;
  summaries[7].ceilings[3].value *= 0.85;
  summaries[7].ceilings[3].core_hz = 1.41e9F;
  summaries[7].facts[1].value = "400 W";
  summaries[45].ceilings[2].value *= 0.5;
  summaries[45].host = "</td><script>window.pwned=1</script>";
  Fleet fleet = fleet_of(std::move(summaries), {{"fleet/<img src=x onerror=window.pwned=2>.json", "is truncated"}});
  fleet.files = 63;
  fleet.created_at = "2026-01-16T09:32:10Z";
  fleet.tool_version = "0.2.0";
  return fleet;
}

/// The suite on a GPU with slower memory, and then on this one.
std::vector<Report> two_machines() {
  std::vector<Report> runs(2, example::sample_report());
  Machine& slower = runs[0].machine;
  constexpr double kSlower = 0.7;
  slower.device.name = "NVIDIA H100 80GB HBM3";
  for (Ceiling& ceiling : slower.ceilings) {
    if (ceiling.level != Level::hbm) continue;
    ceiling.value *= kSlower;
    ceiling.ci95 = {ceiling.ci95.low * kSlower, ceiling.ci95.high * kSlower};
  }
  for (Point& point : runs[0].points) {
    if (!point.time || point.bound.label != BoundLabel::memory) continue;
    point.time = example::timed(point.time->median / kSlower);
    point.bound = bound_of(point.work, slower);
  }
  runs[1].invocation.started_at = "2026-01-16T09:32:10Z";
  return runs;
}

/// A report on that GPU and on one that has no roof for half of its kernels, with a hostile name.
std::string projection_page(const Report& report, const Machine& slower) {
  Machine other = slower;
  other.device.name = "NVIDIA <img src=x onerror=window.pwned=1>";
  std::erase_if(other.ceilings, [](const Ceiling& ceiling) { return ceiling.name.starts_with("tensor."); });
  const std::vector<Machine> machines = {slower, other};
  std::vector<Projection> projections;
  for (const Machine& machine : machines) projections.push_back(project(report, machine));
  const std::vector<double> prices = {2, 1};
  return render_projections_html({report, machines, projections, prices});
}

std::string bound_page(const Machine& machine) {
  const Transformer model = read_transformer(
      R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
          "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256, "torch_dtype": "bfloat16"})",
      "config.json");
  Inference inference;
  inference.batch = 8;
  BoundProblem problem = inference_of(model, inference);
  problem.name += " <img src=x onerror=window.pwned=1>";
  return render_problem_html(bound_problem(problem, machine), machine, {});
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
  if (argc < 2) {
    std::cerr << "usage: roofline_sample_pages FOLDER [report.json...]\n";
    return 2;
  }
  try {
    const std::filesystem::path folder = argv[1];
    if (argc > 2) {
      std::vector<roofline::Report> runs;
      for (int i = 2; i < argc; ++i) runs.push_back(roofline::parse_report(roofline::read_file(argv[i]), argv[i]));
      roofline::write_file(folder / "report.html", roofline::render_html(runs));
      return 0;
    }
    roofline::write_pages(folder, "h200", roofline::example::sample_report());
    roofline::write_pages(folder, "counted", roofline::example::counted_sample_report());
    roofline::write_pages(folder, "cpu", roofline::example::cpu_sample_report());
    roofline::write_pages(folder, "stress", roofline::example::random_report(60));
    roofline::write_pages(folder, "hostile", roofline::hostile_report());
    roofline::write_pages(folder, "odd", roofline::odd_report());
    roofline::write_pages(folder, "empty", roofline::Report{});
    roofline::write_pages(folder, "many", roofline::example::random_report(500));
    roofline::write_pages(folder, "profile", roofline::example::profile_report());
    roofline::write_pages(folder, "profile-steps", roofline::example::stepped_profile_report());
    roofline::write_pages(folder, "profile-uncounted", roofline::example::uncounted_profile_report());
    roofline::write_pages(folder, "profile-small", roofline::example::small_profile_report());
    roofline::write_pages(folder, "profile-hostile", roofline::example::hostile_profile_report());
    roofline::write_file(folder / "profile-two.html", roofline::render_html(roofline::two_profiles()));
    const roofline::Fleet fleet = roofline::sample_fleet();
    roofline::write_file(folder / "fleet.html", roofline::render_fleet_html(fleet));
    roofline::write_file(folder / "fleet.json", roofline::render_fleet_json(fleet));
    const std::vector<roofline::Report> runs = roofline::two_runs();
    roofline::write_file(folder / "two.html", roofline::render_html(runs));
    roofline::write_file(folder / "two.before.json", roofline::render_json(runs.front()));
    roofline::write_file(folder / "two.json", roofline::render_json(runs.back()));
    const std::vector<roofline::Report> machines = roofline::two_machines();
    roofline::write_file(folder / "machines.html", roofline::render_html(machines));
    roofline::write_file(folder / "projection.html",
                         roofline::projection_page(machines.back(), machines.front().machine));
    roofline::write_file(folder / "bound.html", roofline::bound_page(machines.back().machine));
    roofline::write_file(folder / "huge.html", roofline::render_html(roofline::example::random_report(10000)));
  } catch (const roofline::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
