// roofline project: what the rows of a report would take on another machine. Measures nothing.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/answer.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/document_output.hpp"
#include "cli/option_values.hpp"
#include "cli/saved_runs.hpp"
#include "cli/session.hpp"
#include "host/file_limits.hpp"
#include "host/files.hpp"
#include "project/projection.hpp"
#include "project/projection_json.hpp"
#include "project/what_if.hpp"
#include "render/projection_render.hpp"
#include "report/json/json.hpp"
#include "report/json/json_value.hpp"
#include "text/parse.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

struct Flags {
  std::string report, onto, scale, price, type;
  std::optional<double> clock_mhz, power_watts;
  std::optional<std::int64_t> sms;
  std::optional<Ranking> ranking;
  ProjectionOptions options;
  DocumentOutput output{"projection", {"md", "json"}};

  bool changes_machine() const { return !scale.empty() || clock_mhz || power_watts || sms; }
  bool changes_kernels() const { return options.at_roofs || !options.perfect.empty() || !type.empty(); }
  bool changes_step() const { return options.no_gaps || options.batch != 1 || options.host != 1; }
  bool is_what_if() const { return changes_machine() || changes_kernels() || changes_step(); }
};

void add_options(CommandEntry& command, Flags& flags) {
  constexpr double kLeastFactor = 0.01, kMostFactor = 1000;
  command.add("report", text("FILE", flags.report), "report.json of a suite or a profile, or its folder");
  command.add("--onto", text("MACHINES", flags.onto),
              "Calibration files, or GPUs with a known data sheet, such as H200.json,B200 (default: the report's own "
              "machine, for what-ifs)");
  command.add("--scale", text("NAME=FACTOR", flags.scale),
              "What if: multiply roofs by name, such as hbm.*=1.5,tensor.*=0.8");
  command.add("--clock", number("MHZ", flags.clock_mhz, 1, 1e5), "What if: the highest core clock of a GPU");
  command.add("--power-limit", number("WATTS", flags.power_watts, 1, 1e5),
              "What if: the power limit; requires measured power of sustained roofs");
  command.add("--sms", number("COUNT", flags.sms, 1, 1e5), "What if: the number of SMs");
  command.add("--type", text("FROM=TO", flags.type),
              "What if: matrix products of one type run in another, such as bf16=fp8");
  command.add("--batch", number("FACTOR", flags.options.batch, kLeastFactor, kMostFactor),
              "What if: a program's step has FACTOR times the samples");
  command.add("--host", number("FACTOR", flags.options.host, kLeastFactor, kMostFactor),
              "What if: the host is FACTOR times as fast");
  command.add("--at-roofs", flag(flags.options.at_roofs), "What if: every kernel with known work reaches its roof");
  command.add("--perfect", text("KERNELS", flags.options.perfect),
              "What if: kernels whose names match this pattern reach their roofs, such as '*softmax*'");
  command.add("--no-gaps", flag(flags.options.no_gaps), "What if: GPUs are never idle in a step");
  command.add("--price", text("NAME=AMOUNT", flags.price), "Price per hour, such as H200=3.5,B200=6; machines by name");
  command.add(
      "--rank",
      one_of(flags.ranking, {std::pair("time", Ranking::time), {"energy", Ranking::energy}, {"price", Ranking::price}}),
      "Order of the machines (default: price if --price is given, else time)");
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

/// "bf16=fp8" of --type.
TypeChange type_of(const std::string& text) {
  const std::size_t sign = text.find('=');
  const auto parsed = [&](const std::string& name) {
    const std::optional<DType> type = parse_dtype(name);
    if (!type || !is_tensor(matrix_pipe(*type, DeviceKind::cuda))) {
      throw UsageError(fmt::format("--type {}: expected FROM=TO", text),
                       "types of matrix products: tf32, fp16, bf16, fp8, int8, fp64");
    }
    return *type;
  };
  if (sign == std::string::npos) return {parsed(text), parsed("")};
  return {parsed(text.substr(0, sign)), parsed(text.substr(sign + 1))};
}

/// Applies the what-ifs that change a machine.
void change_machine(Machine& machine, const Flags& flags) {
  for (const auto& [glob, factor] : pairs_of(flags.scale, "--scale")) {
    if (scale_ceilings(machine, glob, factor) == 0) {
      throw UsageError(fmt::format("--scale: no roof of {} is called {}", machine.device.name, glob),
                       "roofline machine lists their names");
    }
  }
  constexpr double kMega = 1e6;
  if (flags.sms && !set_sms(machine, *flags.sms)) {
    throw UsageError(fmt::format("--sms: the number of SMs of {} is not known", machine.device.name),
                     "scale its pipes instead: --scale 'tensor.*=1.2'");
  }
  if (flags.clock_mhz && !set_core_clock(machine, *flags.clock_mhz * kMega)) {
    throw UsageError(fmt::format("--clock: the core clock of {} is not known", machine.device.name),
                     "scale its pipes and caches instead: --scale 'tensor.*=0.8,l2.*=0.8'");
  }
  if (flags.power_watts && !set_power_limit(machine, *flags.power_watts)) {
    throw UsageError(fmt::format("--power-limit: no roof of {} has measured power", machine.device.name),
                     "use a calibration with sustained roofs: roofline calibrate");
  }
}

/// What-ifs that the report can't answer.
void refuse_meaningless(const Flags& flags, const Report& report) {
  const bool gpu = report.machine.device.kind == DeviceKind::cuda;
  if (!gpu && (flags.sms || flags.clock_mhz || !flags.type.empty())) {
    throw UsageError("--sms, --clock and --type change a GPU, but the report is of a CPU", "use --scale");
  }
  if (flags.changes_step() && !report.profile) {
    throw UsageError("--batch, --host and --no-gaps change a program's step, but the report is of a suite",
                     "use the report of roofline profile");
  }
  const auto none = [&](auto matches) { return std::ranges::none_of(report.points, matches); };
  if (flags.options.type && none([&](const Point& point) {
        return point.work.flops.contains(matrix_pipe(flags.options.type->from, DeviceKind::cuda));
      })) {
    throw UsageError(fmt::format("--type: no row has matrix products in {}", to_string(flags.options.type->from)));
  }
  const std::string& perfect = flags.options.perfect;
  if (!perfect.empty() && none([&](const Point& of) { return matches_glob(of.workload.label, perfect); })) {
    throw UsageError(fmt::format("--perfect: no row is called {}", perfect), "a pattern such as '*softmax*'");
  }
}

std::vector<Machine> machines_of(const Flags& flags, const Report& report) {
  std::vector<Machine> machines;
  if (flags.onto.empty()) {
    if (!flags.is_what_if()) {
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
    change_machine(machine, flags);
  }
  return machines;
}

ExitCode run(Flags& flags, const GlobalOptions& global) {
  flags.output.require();
  const Report report = read_run(flags.report);
  if (report.machine.ceilings.empty()) {
    throw UsageError(fmt::format("{}: its machine has no roofs, so that no time can be scaled", flags.report),
                     "run roofline calibrate there, and import or analyze with --machine");
  }
  if (!flags.type.empty()) flags.options.type = type_of(flags.type);
  refuse_meaningless(flags, report);
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
  const Ranking ranking = flags.ranking.value_or(named_prices.empty() ? Ranking::time : Ranking::price);
  if (ranking == Ranking::price && named_prices.empty()) {
    throw UsageError("--rank price requires --price", "such as --price H200=3.5,B200=6");
  }
  const auto document = [&] { return projections_to_json(report, projections, prices); };
  const auto render = [&, of = Projections{report, machines, projections, prices, ranking}](
                          std::string_view format, const TerminalStyle& style) {
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
