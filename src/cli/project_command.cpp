// roofline project: what the rows of a report would take on another machine. Measures nothing.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/answer.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/document_output.hpp"
#include "cli/option_values.hpp"
#include "cli/session.hpp"
#include "host/file_limits.hpp"
#include "host/files.hpp"
#include "project/projection.hpp"
#include "project/projection_json.hpp"
#include "render/projection_render.hpp"
#include "report/json/json.hpp"
#include "report/json/json_value.hpp"
#include "text/parse.hpp"

namespace roofline {
namespace {

struct Flags {
  std::string report, onto, scale, price;
  ProjectionOptions options;
  DocumentOutput output{"projection", {"md", "json"}};
};

void add_options(CommandEntry& command, Flags& flags) {
  command.add("report", text("FILE", flags.report), "report.json of a suite or a profile, with its machine");
  command.add("--onto", text("MACHINES", flags.onto),
              "Calibration files, or GPUs with a known data sheet, such as H200.json,B200 (default: the report's own "
              "machine, for what-ifs)");
  command.add("--scale", text("NAME=FACTOR", flags.scale),
              "What if: multiply roofs by name, such as hbm.*=1.5,tensor.*=0.8");
  command.add("--at-roofs", flag(flags.options.at_roofs), "What if: every kernel with known work reaches its roof");
  command.add("--no-gaps", flag(flags.options.no_gaps), "What if: GPUs are never idle in a step");
  command.add("--price", text("NAME=AMOUNT", flags.price), "Price per hour, such as H200=3.5,B200=6; machines by name");
  flags.output.add_to(command);
}

void finish(Flags& flags, GlobalOptions&) { flags.output.finish(); }

/// "a=1,b=2" of an option.
std::vector<std::pair<std::string, double>> pairs_of(const std::string& text, const std::string& option) {
  std::vector<std::pair<std::string, double>> pairs;
  if (text.empty()) return pairs;
  for (const std::string& part : split(text, ',')) {
    const std::size_t sign = part.rfind('=');
    const std::optional<double> value =
        sign == std::string::npos ? std::nullopt : parsed_number<double>(std::string_view(part).substr(sign + 1));
    if (!value || !(*value > 0) || *value > 1e9 || sign == 0) {
      throw UsageError(fmt::format("{} {}: expected NAME=NUMBER, a number above 0", option, part));
    }
    pairs.emplace_back(part.substr(0, sign), *value);
  }
  return pairs;
}

std::vector<Machine> machines_of(const Flags& flags, const Report& report) {
  std::vector<Machine> machines;
  if (flags.onto.empty()) {
    if (flags.scale.empty() && !flags.options.at_roofs && !flags.options.no_gaps) {
      throw UsageError("nothing to project onto", "name machines with --onto, or a what-if (--scale, --at-roofs)");
    }
    machines.push_back(report.machine);
  } else {
    for (const std::string& name : split(flags.onto, ',')) machines.push_back(named_machine(name, "--onto"));
  }
  for (Machine& machine : machines) {
    if (machine.device.kind != report.machine.device.kind) {
      throw UsageError(fmt::format("--onto: {} and {} have different instruction sets, so the program's kernels do not "
                                   "run there",
                                   report.machine.device.name, machine.device.name),
                       "name machines of one kind");
    }
    for (const auto& [glob, factor] : pairs_of(flags.scale, "--scale")) {
      if (scale_ceilings(machine, glob, factor) == 0) {
        throw UsageError(fmt::format("--scale: no roof of {} is called {}", machine.device.name, glob),
                         "roofline machine lists their names");
      }
    }
  }
  return machines;
}

ExitCode run(Flags& flags, const GlobalOptions& global) {
  flags.output.require();
  const Report report = parse_report(read_file(flags.report, kReportLimit), flags.report);
  if (report.machine.ceilings.empty()) {
    throw UsageError(fmt::format("{}: its machine has no roofs, so that no time can be scaled", flags.report),
                     "run roofline calibrate there, and import or analyze with --machine");
  }
  const std::vector<Machine> machines = machines_of(flags, report);
  const auto named_prices = pairs_of(flags.price, "--price");
  std::vector<Projection> projections;
  std::vector<double> prices;
  for (const Machine& machine : machines) {
    projections.push_back(project(report, machine, flags.options));
    projections.back().own = flags.onto.empty();
    if (projections.back().rows.empty() && !projections.back().step) {
      throw UsageError(fmt::format("{}: no row has a time", flags.report), "project the report of a complete run");
    }
    double price = 0;
    for (const auto& [name, amount] : named_prices) {
      if (machine.device.name.find(name) != std::string::npos) price = amount;
    }
    prices.push_back(price);
  }
  const auto document = [&] { return projections_to_json(report, projections, prices); };
  const auto render = [&, of = Projections{report, machines, projections, prices}](std::string_view format,
                                                                                   const TerminalStyle& style) {
    if (format == "md") return render_projections_markdown(of);
    if (format == "json") return to_json_text(document());
    if (format == "html") return render_projections_html(of);
    if (format == "svg") return render_projection_chart(of, render_svg);
    if (format == "png") return render_projection_chart(of, render_png);
    if (format == "pdf") return render_projection_chart(of, render_pdf);
    return render_projections_terminal(of, style);
  };
  flags.output.put(document, render, stdout_style(global.color));
  return ExitCode::ok;
}

}  // namespace

CommandEntry project_command() {
  return CommandRow<Flags>{"project", "Project a report onto another machine, or onto its own machine with changes",
                           add_options, run, finish};
}

}  // namespace roofline
