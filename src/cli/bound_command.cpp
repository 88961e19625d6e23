// roofline bound: the least time of a problem on a machine, before any code exists. Measures nothing.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/answer.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/document_output.hpp"
#include "cli/option_values.hpp"
#include "cli/session.hpp"
#include "cli/suites.hpp"
#include "cli/torch_bounds.hpp"
#include "config/suite.hpp"
#include "host/file_limits.hpp"
#include "host/files.hpp"
#include "host/interrupt.hpp"
#include "import/onnx.hpp"
#include "import/torch_export.hpp"
#include "op/op.hpp"
#include "problem/problem_json.hpp"
#include "render/problem_render.hpp"
#include "report/json/json.hpp"
#include "report/json/json_value.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

enum class Phases : std::uint8_t { both, prefill, decode };

struct Flags {
  DeviceRequest device;
  std::string problem, machine, against, python = "python3";
  DocumentOutput output{"bound", {"md", "json"}};
  Inference inference;
  std::optional<std::int64_t> context;
  std::optional<WeightType> weights, cache;
  Phases phases = Phases::both;
};

constexpr double kMostTokens = 1e8;
constexpr FileLimit kModelLimit{std::uint64_t{4} << 30, "a model; keep its weights in external files"};

void add_options(CommandEntry& command, Flags& flags) {
  const auto types = {std::pair("fp32", WeightType::fp32), {"bf16", WeightType::bf16},
                      {"fp16", WeightType::fp16},          {"fp8", WeightType::fp8},
                      {"int8", WeightType::int8},          {"int4", WeightType::int4}};
  flags.device.add_to(command);
  command.add(
      "problem", text("FILE", flags.problem),
      "config.json of a decoder-only transformer, a graph (ONNX, .pt2 of torch.export), PyTorch problems in Python "
      "(a file as in KernelBench, or a folder of them), or a suite of ops");
  command.add("--machine", text("FILE", flags.machine),
              "Calibration file, or a GPU with a known data sheet, such as H100 (default: the stored calibration)");
  command.add("--batch", number("COUNT", flags.inference.batch, 1, 1e6),
              "Sequences per batch, or the value of a graph's free dimensions (default: 1)");
  command.add("--prompt", number("TOKENS", flags.inference.prompt, 1, kMostTokens),
              "Tokens per sequence that prefill reads (default: 2048)");
  command.add("--context", number("TOKENS", flags.context, 1, kMostTokens),
              "Tokens per sequence before a decode step (default: same as --prompt)");
  command.add(
      "--phase",
      one_of(flags.phases, {std::pair("both", Phases::both), {"prefill", Phases::prefill}, {"decode", Phases::decode}}),
      "Part of the inference (default: both)");
  command.add("--weights", one_of(flags.weights, types), "Type of the weights (default: as in the file)");
  command.add("--cache-type", one_of(flags.cache, types),
              "Type of keys and values (default: bf16, or fp32 if the weights are fp32)");
  command.add("--tf32", flag(flags.inference.tf32), "Allow TF32 for fp32 matrix products");
  command.add("--tensor-parallel", number("GPUS", flags.inference.tensor_parallel, 1, 1024),
              "GPUs that share each layer (default: 1)");
  command.add("--python", text("PROGRAM", flags.python),
              "Python with PyTorch, for problems in Python (default: python3)");
  command.add(
      "--against", text("TIME|FILE", flags.against),
      "Score measured times: 9.3ms of one phase, a profile's step, the rows of a suite's report, or KernelBench "
      "timings for a folder of problems; exit status 3 if one is below its bound");
  flags.output.add_to(command);
}

void finish(Flags& flags, GlobalOptions&) {
  flags.device.finish();
  flags.output.finish();
  flags.inference.context = flags.context.value_or(flags.inference.prompt);
}

/// From a file, from a data sheet, or the stored calibration of the selected device.
Machine machine_for_bound(const Flags& flags, std::vector<std::string>& notes) {
  if (flags.machine.empty()) {
    const SelectedDevice device = choose_device(flags.device);
    return machine_for(device, {}, notes);
  }
  return named_machine(flags.machine, "--machine");
}

/// The rows of a suite, each a problem of its own.
BoundProblem suite_problem(const Suite& suite, DeviceKind device) {
  BoundProblem problem;
  problem.name = suite.name;
  ProblemPhase phase;
  phase.name = "suite";
  for (const SuiteEntry& entry : suite.entries) {
    phase.parts.push_back({entry.workload.label.empty() ? std::string(entry.op->name()) : entry.workload.label, 1,
                           entry.op->work(entry.workload, device)});
  }
  problem.phases.push_back(std::move(phase));
  return problem;
}

/// Products of fp32 are the only ones whose unit the file does not tell.
void note_fp32_products(const Flags& flags, BoundProblem& problem) {
  const bool fp32 = std::any_of(problem.phases.begin(), problem.phases.end(), [](const ProblemPhase& phase) {
    const auto on_fp32 = [](const ProblemPart& part) { return dominant_pipe(part.work) == Pipe::fp32; };
    return phase.fused ? dominant_pipe(*phase.fused) == Pipe::fp32 : std::ranges::any_of(phase.parts, on_fp32);
  });
  if (fp32 && flags.inference.device == DeviceKind::cuda && !flags.inference.tf32) {
    problem.notes.emplace_back("matrix products are in fp32; if your program allows TF32, pass --tf32");
  }
}

BoundProblem onnx_problem(const std::string& text, Flags& flags, DeviceKind device) {
  flags.inference.device = device;
  BoundProblem problem = read_onnx(text, flags.problem, flags.inference);
  note_fp32_products(flags, problem);
  return problem;
}

BoundProblem exported_problem(Flags& flags, DeviceKind device) {
  flags.inference.device = device;
  bool symbols = false;
  const auto batch = static_cast<double>(flags.inference.batch);
  BoundProblem problem = problem_of(read_torch_export(flags.problem, batch, symbols), flags.inference);
  if (symbols) problem.notes.push_back(fmt::format("extents without a value are {:.0f} (--batch)", batch));
  note_fp32_products(flags, problem);
  return problem;
}

BoundProblem python_problem(Flags& flags, DeviceKind device) {
  flags.inference.device = device;
  BoundProblem problem = bound_of_python_files(flags.problem, flags.python, flags.inference);
  note_fp32_products(flags, problem);
  return problem;
}

BoundProblem transformer_problem(const std::string& text, Flags& flags, DeviceKind device) {
  const Transformer model = read_transformer(text, flags.problem);
  Inference& inference = flags.inference;
  inference.device = device;
  inference.weights = flags.weights.value_or(model.weights);
  inference.cache = flags.cache.value_or(inference.weights == WeightType::fp32 ? WeightType::fp32 : WeightType::bf16);
  if (model.heads % inference.tensor_parallel != 0) {
    throw UsageError(
        fmt::format("--tensor-parallel {} does not divide the {} heads", inference.tensor_parallel, model.heads));
  }
  BoundProblem problem = inference_of(model, inference);
  std::erase_if(problem.phases, [&](const ProblemPhase& phase) {
    return (flags.phases == Phases::prefill && phase.name != "prefill") ||
           (flags.phases == Phases::decode && phase.name != "decode");
  });
  note_fp32_products(flags, problem);
  problem.name += fmt::format(" in {}, batch {}, {} tokens", to_string(inference.weights), count(inference.batch),
                              count(flags.phases == Phases::decode ? inference.context : inference.prompt));
  return problem;
}

/// The time of a step that a report has: without the profiler where that was measured.
double step_time(const Report& report, const std::string& file) {
  const bool has_steps = report.profile && report.profile->steps;
  if (!has_steps) {
    throw UsageError(fmt::format("--against {}: the report has no steps", file),
                     "give the time itself (9.3ms), or a profile whose steps were found");
  }
  return report.profile->steps->untouched_s.value_or(report.profile->steps->median_s);
}

/// A directory of problems in Python, unless an installed suite has that name.
bool is_problem_folder(const std::string& problem) {
  std::error_code ignored;
  return fs::is_directory(problem, ignored) &&
         std::ranges::none_of(own_suites(), [&](const KnownSuite& suite) { return suite.name == problem; });
}

/// Gives the parts of a folder of problems the times that a file has of them.
void add_timings(const std::string& file, PhaseBound& phase) {
  const ProblemTimings timings = read_problem_timings(file);
  bool any = false;
  for (PartBound& part : phase.parts) {
    part.measured_s = timings.of(part.part.name);
    any |= part.measured_s.has_value();
  }
  if (!any) throw UsageError(fmt::format("--against {}: it has no time of these problems", file));
}

/// Gives the parts of a suite the times of a report's rows with their labels.
void add_measured_rows(const Report& report, const std::string& file, PhaseBound& phase) {
  std::size_t found = 0;
  for (PartBound& part : phase.parts) {
    const auto row = std::find_if(report.points.begin(), report.points.end(), [&](const Point& point) {
      return point.workload.label == part.part.name && point.time;
    });
    if (row == report.points.end()) continue;
    part.measured_s = row->time->median * part.part.times;
    ++found;
  }
  if (found == 0)
    throw UsageError(fmt::format("--against {}: no row is one of this suite", file), "analyze the same suite");
}

/// What the score takes for granted.
void note_of_score(const Report& report, const Machine& machine, ProblemBound& problem) {
  const std::string &of_report = report.machine.device.name, &of_bound = machine.device.name;
  const bool same = contains_any(lower_case(of_report), {lower_case(of_bound)}) ||
                    contains_any(lower_case(of_bound), {lower_case(of_report)});
  if (!same) {
    problem.notes.push_back(
        fmt::format("the time was measured on {}, the bound is for {}", clean_line(of_report), clean_line(of_bound)));
  }
  problem.notes.emplace_back("whether the measured step runs this model with this batch is not checked");
}

/// The roof of fp32 matrix products of an MI300 is a quarter of that of operands rounded to XF32.
void note_xf32(const Flags& flags, const Machine& machine, std::vector<std::string>& notes) {
  if (!flags.inference.tf32 || !contains_any(lower_case(machine.device.name), {"mi300", "mi325"})) return;
  notes.emplace_back("--tf32: with XF32 this GPU may be up to four times as fast as its roof of fp32 matrix products");
}

/// The measured time of the one phase, or of a suite's rows, which are in `problem` then.
std::optional<MeasuredTime> measure_against(const Flags& flags, const BoundProblem& asked, const Machine& machine,
                                            ProblemBound& problem) {
  std::error_code ignored;
  const bool is_file = fs::exists(flags.against, ignored);
  if (is_file && is_problem_folder(flags.problem)) {
    add_timings(flags.against, problem.phases.front());
    return std::nullopt;
  }
  std::optional<Report> report;
  if (is_file) report = parse_report(read_file(flags.against, kReportLimit), flags.against);
  if (!problem.phases.front().fused) {
    if (!report)
      throw UsageError("--against requires a report.json for a suite", "roofline analyze writes report.json");
    add_measured_rows(*report, flags.against, problem.phases.front());
    return std::nullopt;
  }
  if (problem.phases.size() != 1) {
    throw UsageError("--against gives the time of one phase, but two phases were computed",
                     "add --phase prefill or --phase decode");
  }
  MeasuredTime measured;
  measured.seconds = report ? step_time(*report, flags.against) : parse_duration(flags.against, "--against");
  if (!(measured.seconds > 0)) throw UsageError("--against: the time must be above 0");
  if (report) note_of_score(*report, machine, problem);
  measured.score = score_of(problem.phases.front().least_s, measured.seconds);
  // No clock is higher than that of the burst roofs: a time below them is none.
  measured.score.possible = score_of(bound_problem(asked, machine).phases.front().least_s, measured.seconds).possible;
  return measured;
}

/// By the ending of its name; a directory has problems in Python.
BoundProblem problem_of_request(Flags& flags, DeviceKind device) {
  const std::string ending = fs::path(flags.problem).extension().string();
  if (ending == ".json") return transformer_problem(read_file(flags.problem, kMachineLimit), flags, device);
  if (ending == ".onnx") return onnx_problem(read_file(flags.problem, kModelLimit), flags, device);
  if (ending == ".pt2") return exported_problem(flags, device);
  if (ending == ".py" || is_problem_folder(flags.problem)) return python_problem(flags, device);
  return suite_problem(load_for(device, flags.problem, "*", {}), device);
}

ExitCode run(Flags& flags, const GlobalOptions& global) {
  end_at_interrupts();
  flags.output.require();
  std::vector<std::string> notes;
  const Machine machine = machine_for_bound(flags, notes);
  note_xf32(flags, machine, notes);
  const BoundProblem asked = problem_of_request(flags, machine.device.kind);
  ProblemBound problem = bound_problem(asked, asked.phases.front().fused ? at_sustained_clocks(machine) : machine);
  problem.notes.insert(problem.notes.end(), notes.begin(), notes.end());
  const std::optional<MeasuredTime> measured =
      flags.against.empty() ? std::nullopt : measure_against(flags, asked, machine, problem);
  const auto document = [&] {
    Json json = problem_to_json(problem, machine);
    if (measured)
      json["score"] = {
          {"measured_s", measured->seconds}, {"share", measured->score.share}, {"possible", measured->score.possible}};
    return json;
  };
  const auto render = [&](std::string_view format, const TerminalStyle& style) {
    if (format == "md") return render_problem_markdown(problem, machine, measured);
    if (format == "json") return to_json_text(document());
    if (format == "html") return render_problem_html(problem, machine, measured);
    if (format == "svg") return render_svg(problem_chart(problem, machine));
    if (format == "png") return render_png(problem_chart(problem, machine));
    if (format == "pdf") return render_pdf(problem_chart(problem, machine));
    return render_problem_terminal(problem, machine, measured, style);
  };
  flags.output.put(document, render, stdout_style(global.color));
  for (const PhaseBound& phase : problem.phases) {
    const std::vector<std::string> impossible = impossible_parts(phase);
    if (impossible.empty()) continue;
    print_problem({"regression", fmt::format("below their bound: {}", fmt::join(impossible, ", ")), {}});
    return ExitCode::regression;
  }
  if (!measured || measured->score.possible) return ExitCode::ok;
  print_problem({"regression", score_text(problem.phases.front(), *measured), {}});
  return ExitCode::regression;
}

}  // namespace

CommandEntry bound_command() {
  return CommandRow<Flags>{"bound", "Compute the minimum time of a model or a suite on a machine, without running it",
                           add_options, run, finish};
}

}  // namespace roofline
