#include "mcp/tools.hpp"

#include <utility>

#include "model/find.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;
using Kind = ParameterKind;

ToolParameter device_parameter() {
  return {.name = "device",
          .kind = Kind::text,
          .description = "cpu, cuda or cuda:N (default: the first usable GPU, else the CPU)",
          .option = "--device"};
}

ToolParameter machine_parameter(std::string description) {
  return {.name = "machine", .kind = Kind::path_or_name, .description = std::move(description), .option = "--machine"};
}

ToolParameter calibration_file() {
  return {.name = "machine",
          .kind = Kind::path,
          .description = "Calibration file (default: the stored calibration of the device)",
          .option = "--machine"};
}

ToolParameter report_folder() {
  return {.name = "output",
          .kind = Kind::output,
          .description = "Folder for the report (default: a new one, reports/NAME-N)",
          .option = "--output"};
}

Tool calibrate_tool() {
  return {.name = "calibrate",
          .title = "Measure this machine's roofs",
          .description =
              "Measures the roofs of this machine and stores them for the other tools: once per device, about a "
              "minute. Other load makes it inaccurate.",
          .parameters =
              {device_parameter(),
               {.name = "quick", .kind = Kind::flag, .description = "Sample for a shorter time", .option = "--quick"},
               {.name = "time_s",
                .kind = Kind::number,
                .description = "Time limit of a CPU's calibration in seconds (default: 60)",
                .option = "--time",
                .least = 1,
                .most = 86400,
                .unit = "s"},
               {.name = "output",
                .kind = Kind::output,
                .description = "Also write the calibration to this file",
                .option = "--output"}},
          .read_only = false};
}

Tool analyze_tool() {
  return {.name = "analyze",
          .title = "Time a suite of kernels",
          .description =
              "Verifies and times the kernels of a suite against the roofs, and writes a report. A suite with own "
              "kernels compiles and runs them.",
          .parameters = {{.name = "suite",
                          .kind = Kind::path_or_name,
                          .description = "Suite file, or an installed suite: ops, quick, ladder, sweep, llm",
                          .required = true},
                         device_parameter(),
                         calibration_file(),
                         {.name = "only",
                          .kind = Kind::text,
                          .description = "Only workloads whose op or label matches this glob",
                          .option = "--only"},
                         {.name = "counters",
                          .kind = Kind::flag,
                          .description = "Also read hardware counters",
                          .option = "--counters"},
                         {.name = "max_time_s",
                          .kind = Kind::number,
                          .description = "Sampling time per workload in seconds (default: 3)",
                          .option = "--max-time",
                          .least = 0.01,
                          .most = 3600,
                          .unit = "s"},
                         report_folder()},
          .read_only = false,
          .named_after = "suite"};
}

Tool profile_tool() {
  return {
      .name = "profile",
      .title = "Profile a program",
      .description =
          "Runs the given program once, unchanged, in the working folder, and reports why it is slow: its steps, "
          "potential savings with source lines, kernels under the roofs, idle time. Without a GPU: lines and "
          "threads of the host; with emulate, loops of a CPU program under the CPU's roofs.",
      .parameters = {{.name = "program",
                      .kind = Kind::words,
                      .description =
                          "The program and its arguments, one element each: [\"python3\", \"train.py\"]. No shell",
                      .option = "--",
                      .required = true},
                     device_parameter(),
                     calibration_file(),
                     {.name = "emulate",
                      .kind = Kind::flag,
                      .description =
                          "Run a CPU program a second time under Valgrind (10 to 50 times slower), to count FLOPs and "
                          "bytes of its loops",
                      .option = "--emulate"},
                     {.name = "counters",
                      .kind = Kind::flag,
                      .description = "Read FLOPs and bytes of GPU kernels (default: true)",
                      .option = "--no-counters",
                      .flag_when = false},
                     {.name = "warmup_s",
                      .kind = Kind::number,
                      .description = "Start recording this long after the first launch",
                      .option = "--warmup",
                      .most = 86400,
                      .unit = "s"},
                     {.name = "window_s",
                      .kind = Kind::number,
                      .description = "Record GPU activity for this long, then end the program (for servers)",
                      .option = "--window",
                      .least = 0.001,
                      .most = 86400,
                      .unit = "s"},
                     {.name = "step",
                      .kind = Kind::text,
                      .description = "NVTX range that is a step (default: steps are found)",
                      .option = "--step"},
                     report_folder()},
      .read_only = false,
      .named_after = "program"};
}

Tool import_tool() {
  return {.name = "import",
          .title = "Import a profile of another tool",
          .description =
              "Places kernels recorded by ncu, nsys (sqlite export), torch.profiler, Proton and others under the "
              "roofs, and writes a report.",
          .parameters = {{.name = "files",
                          .kind = Kind::paths,
                          .description = "Files of one program; several are merged",
                          .required = true},
                         {.name = "machines",
                          .kind = Kind::paths_or_names,
                          .description = "Calibration files (default: the stored ones of the same GPU models)",
                          .option = "--machine"},
                         report_folder()},
          .read_only = false,
          .named_after = "files"};
}

Tool report_tool() {
  return {.name = "report",
          .title = "Explain a report",
          .description =
              "Reads a report or calibration: the summary, a section, or everything about one row (a kernel: what "
              "limits it, the evidence, what to do).",
          .parameters = {
              {.name = "report",
               .kind = Kind::path,
               .description = "report.json, or the folder that holds it; a machine.json or node.json",
               .required = true},
              {.name = "row",
               .kind = Kind::view_text,
               .description = "A row: its number (#3), its id, or a part of its label that only one row has"},
              {.name = "section",
               .kind = Kind::view_text,
               .description = "Part of the report (default: summary); lines: of GPU kernels with what warps wait "
                              "for; host: causes and lines of the host",
               .choices = {"summary", "rows", "savings", "lines", "roofs", "host", "memory"}},
              {.name = "offset",
               .kind = Kind::view_count,
               .description = "Skip this many lines of the section",
               .most = 1e6}}};
}

Tool compare_tool() {
  return {.name = "compare",
          .title = "Compare two runs",
          .description =
              "What changed between an earlier and a later run: steps, causes of lost time, kernels, each with its "
              "interval. Several runs per side make the verdict reliable.",
          .parameters = {{.name = "before",
                          .kind = Kind::paths,
                          .description = "report.json, or profile of another tool, of the earlier run or runs",
                          .required = true},
                         {.name = "after",
                          .kind = Kind::paths,
                          .description = "report.json, or profile of another tool, of the later run or runs",
                          .option = "--",
                          .required = true},
                         {.name = "max_slowdown_percent",
                          .kind = Kind::number,
                          .description = "Slowdown above which a kernel or step is a regression (default: 3)",
                          .option = "--max-slowdown",
                          .most = 1000,
                          .unit = "%"},
                         {.name = "offset",
                          .kind = Kind::view_count,
                          .description = "Skip this many of the rows that changed",
                          .most = 1e6}}};
}

Tool bound_tool() {
  const std::vector<std::string> types = {"fp32", "bf16", "fp16", "fp8", "int8", "int4"};
  const auto tokens = [](std::string name, std::string description, std::string option) {
    return ToolParameter{.name = std::move(name),
                         .kind = Kind::integer,
                         .description = std::move(description),
                         .option = std::move(option),
                         .least = 1,
                         .most = 1e8};
  };
  return {
      .name = "bound",
      .title = "Compute the best possible time",
      .description =
          "The least time of a model's prefill and decode, of a graph, of PyTorch problems in Python or of a suite on "
          "a "
          "machine. Needs no GPU. Runs nothing but problems in Python, which python3 traces without data.",
      .parameters = {{.name = "problem",
                      .kind = Kind::path_or_name,
                      .description = "config.json of a transformer, a graph (.onnx, .pt2), a PyTorch problem (.py) or "
                                     "a folder of them, or a suite",
                      .required = true},
                     machine_parameter("Calibration file, or a GPU by its data sheet: H100, B200 (default: the stored "
                                       "calibration)"),
                     tokens("batch", "Sequences at a time (default: 1)", "--batch"),
                     tokens("prompt", "Tokens that prefill reads (default: 2048)", "--prompt"),
                     tokens("context", "Tokens before a decode step (default: as prompt)", "--context"),
                     {.name = "phase",
                      .kind = Kind::choice,
                      .description = "Part of the inference (default: both)",
                      .option = "--phase",
                      .choices = {"both", "prefill", "decode"}},
                     {.name = "weights",
                      .kind = Kind::choice,
                      .description = "Type of the weights (default: as in the file)",
                      .option = "--weights",
                      .choices = types},
                     {.name = "cache_type",
                      .kind = Kind::choice,
                      .description = "Type of keys and values",
                      .option = "--cache-type",
                      .choices = types},
                     tokens("tensor_parallel", "GPUs that share each layer (default: 1)", "--tensor-parallel"),
                     {.name = "against",
                      .kind = Kind::path_or_name,
                      .description = "Score a measured time: \"9.3ms\" of one phase, or a report.json",
                      .option = "--against"}},
      .read_only = false};
}

Tool project_tool() {
  return {.name = "project",
          .title = "Project a report onto another machine",
          .description =
              "What the rows of a report would take on other machines, or with changed roofs, each with a range. Runs "
              "nothing.",
          .parameters = {
              {.name = "report", .kind = Kind::path, .description = "report.json", .required = true},
              {.name = "onto",
               .kind = Kind::paths_or_names,
               .description = "Calibration files, or GPUs by their data sheets: H200, B200 (default: the report's "
                              "own machine, for what-ifs)",
               .option = "--onto"},
              {.name = "scale",
               .kind = Kind::text,
               .description = "What if: multiply roofs, such as hbm.*=1.5,tensor.*=0.8",
               .option = "--scale"},
              {.name = "type",
               .kind = Kind::text,
               .description = "What if: matrix products of one type run in another, such as bf16=fp8",
               .option = "--type"},
              {.name = "perfect",
               .kind = Kind::text,
               .description = "What if: kernels whose names match this pattern reach their roofs",
               .option = "--perfect"},
              {.name = "at_roofs",
               .kind = Kind::flag,
               .description = "What if: every kernel with known work reaches its roof",
               .option = "--at-roofs"},
              {.name = "no_gaps",
               .kind = Kind::flag,
               .description = "What if: GPUs are never idle in a step",
               .option = "--no-gaps"}}};
}

Json list_schema(const char* type) { return {{"type", "array"}, {"items", {{"type", type}}}, {"minItems", 1}}; }

Json schema_of_parameter(const ToolParameter& parameter) {
  Json schema = Json::object();
  const bool integer = parameter.kind == Kind::integer || parameter.kind == Kind::view_count;
  switch (parameter.kind) {
    case Kind::paths:
    case Kind::paths_or_names:
    case Kind::words:
      schema = list_schema("string");
      break;
    case Kind::flag:
      schema["type"] = "boolean";
      break;
    default:
      schema["type"] = parameter.kind == Kind::number ? "number" : integer ? "integer" : "string";
  }
  if (parameter.kind == Kind::number || integer) {
    schema["minimum"] = parameter.least;
    schema["maximum"] = parameter.most;
  }
  if (!parameter.choices.empty()) schema["enum"] = parameter.choices;
  schema["description"] = parameter.description;
  return schema;
}

}  // namespace

const std::vector<Tool>& tools() {
  static const std::vector<Tool> all = {profile_tool(), report_tool(),    compare_tool(), analyze_tool(),
                                        import_tool(),  calibrate_tool(), bound_tool(),   project_tool()};
  return all;
}

const Tool* find_tool(const std::string& name) { return find_by(tools(), &Tool::name, name); }

Json tools_to_json() {
  Json list = Json::array();
  for (const Tool& tool : tools()) {
    Json schema = {{"type", "object"}, {"properties", Json::object()}};
    Json required = Json::array();
    for (const ToolParameter& parameter : tool.parameters) {
      schema["properties"][parameter.name] = schema_of_parameter(parameter);
      if (parameter.required) required.push_back(parameter.name);
    }
    if (!required.empty()) schema["required"] = std::move(required);
    schema["additionalProperties"] = false;
    list.push_back({{"name", tool.name},
                    {"title", tool.title},
                    {"description", tool.description},
                    {"inputSchema", std::move(schema)},
                    {"annotations",
                     {{"title", tool.title},
                      {"readOnlyHint", tool.read_only},
                      {"destructiveHint", tool.name == "profile" || tool.name == "analyze"},
                      {"openWorldHint", tool.name == "profile"}}}});
  }
  return list;
}

}  // namespace roofline
