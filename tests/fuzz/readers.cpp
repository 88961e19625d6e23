#include "tests/fuzz/readers.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "config/suite.hpp"
#include "device/cubin.hpp"
#include "device/sass.hpp"
#include "fleet/fleet.hpp"
#include "import/byte_source.hpp"
#include "import/import.hpp"
#include "import/kineto.hpp"
#include "import/ncu.hpp"
#include "import/nsys.hpp"
#include "import/onnx.hpp"
#include "import/other_tools.hpp"
#include "import/proton.hpp"
#include "import/roofs.hpp"
#include "import/torch_export.hpp"
#include "import/torch_graph.hpp"
#include "mcp/arguments.hpp"
#include "mcp/digest.hpp"
#include "mcp/server.hpp"
#include "mcp/tools.hpp"
#include "model/error.hpp"
#include "mpi/calls.h"
#include "problem/problem_bound.hpp"
#include "problem/problem_json.hpp"
#include "profile/mpi/mpi_lines.hpp"
#include "profile/mpi/mpi_process.hpp"
#include "profile/native_lines.hpp"
#include "profile/process_trace.hpp"
#include "profile/profile.hpp"
#include "render/fleet/fleet_render.hpp"
#include "render/node/node_render.hpp"
#include "render/render.hpp"
#include "report/json/json.hpp"
#include "report/json/node_json.hpp"
#include "sample/elf_file.hpp"
#include "sample/function_roles.hpp"
#include "sample/gpu_lines.hpp"
#include "sample/inline_frames.hpp"
#include "sample/line_table.hpp"
#include "sample/samples_file.hpp"
#include "sample/unwind_rows.hpp"
#include "tests/support/profile_report.hpp"
#include "text/line_reader.hpp"
#include "user/first_suite.hpp"
#include "user/formula.hpp"
#include "user/npy.hpp"

namespace roofline::fuzz {
namespace {

namespace fs = std::filesystem;

/// What holds of every input, or the program ends: a finding like any other.
void require(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

/// For readers that take a file: the same one for all inputs.
class File {
 public:
  File() : path_(fs::temp_directory_path() / fmt::format("roofline-fuzz-{}", ::getpid())) {}
  ~File() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const fs::path& with(std::string_view bytes) const {
    std::ofstream(path_, std::ios::binary) << bytes;
    return path_;
  }

 private:
  fs::path path_;
};

const fs::path& file_of(std::string_view bytes) {
  static const File file;
  return file.with(bytes);
}

void suite(std::string_view bytes) {
  // Where relative paths lead to files, so that what comes after finding them is reached.
  static const std::string path = ROOFLINE_SOURCE_DIR "/configs/examples/fuzzed.yaml";
  for (const DeviceKind device : {DeviceKind::cpu, DeviceKind::cuda}) {
    try {
      parse_suite(std::string(bytes), path, device);
    } catch (const Error&) {
      // Of the other kind of device it may still be right.
    }
  }
}

void formula(std::string_view bytes) {
  const Formula formula(std::string(bytes), {.file = "fuzzed.yaml", .line = 3, .column = 7});
  const Values values = {{"n", 4096}, {"m", 3}, {"block", 128}, {"zero", 0}};
  formula.require_known({"n", "m", "block", "zero", "i", "x"}, {"x"});
  const auto evaluate = [](const auto& what) {
    try {
      what();
    } catch (const Error&) {
      // A formula that has no size may still have a number, or elements.
    }
  };
  evaluate([&] { formula.size(values); });
  evaluate([&] { require(std::isfinite(formula.number(values)), "a number is finite"); });
  evaluate([&] {
    ElementFormula element(formula, values,
                           {{"x", {16, [](std::int64_t index) { return static_cast<double>(index); }}}}, 4, 100000);
    static_cast<void>(element(3));
  });
}

void machine(std::string_view bytes) {
  const Machine machine = parse_machine(std::string(bytes), "fuzzed.json");
  render_machine_terminal(machine, {}, true);
  render_machine_markdown(machine);
}

void node(std::string_view bytes) {
  const Node read = parse_node(std::string(bytes), "fuzzed.json");
  render_node_terminal(read, {});
  render_node_markdown(read);
  render_node_csv(read);
  render_node_html(read);
  render_node_svg(read);
}

void fleet(std::string_view bytes) {
  std::vector<MachineSummary> summaries = read_machine_summaries(std::string(bytes), "fuzzed.json");
  summaries.push_back(summaries.front());
  summaries.back().host = "another";
  const Fleet fleet = fleet_of(std::move(summaries));
  render_fleet_terminal(fleet, {}, 5);
  render_fleet_csv(fleet);
  render_fleet_html(fleet);
}

/// How many fields each record of RFC 4180 has.
std::vector<int> fields_of(std::string_view csv) {
  std::vector<int> records;
  int fields = 1;
  bool quoted = false, any = false;
  for (const char c : csv) {
    if (c == '"') quoted = !quoted;
    if (c == ',' && !quoted) ++fields;
    any = c != '\n' || quoted;
    if (any) continue;
    records.push_back(fields);
    fields = 1;
  }
  require(!quoted, "every quote of a CSV file is closed");
  if (any) records.push_back(fields);
  return records;
}

/// Neighbouring rows of a Markdown table have the same number of cells.
void check_tables(std::string_view markdown) {
  int before = 0;
  while (!markdown.empty()) {
    const std::string_view line = markdown.substr(0, markdown.find('\n'));
    int bars = 0;
    if (line.starts_with('|')) {
      for (std::size_t i = 0; i < line.size(); ++i) bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\') ? 1 : 0;
    }
    require(bars == 0 || before == 0 || bars == before, "rows of a Markdown table have as many cells as its head");
    before = bars;
    markdown.remove_prefix(std::min(line.size() + 1, markdown.size()));
  }
}

int occurrences(std::string_view text, std::string_view part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

void check_texts(const Report& report) {
  const std::vector<int> fields = fields_of(render_csv(report));
  for (const int count : fields) require(count == fields.front(), "records of a CSV file are of one length");
  check_tables(render_markdown(report));
  require(render_terminal(report, {}).find('\x1b') == std::string::npos, "a terminal gets no escapes but ours");
}

void report(std::string_view bytes) {
  const Report report = parse_report(std::string(bytes), "fuzzed.json");
  check_texts(report);
  parse_report(render_json(report), "again.json");
}

/// A report whose texts are the lines of the input, one after another and again from the first.
class Texts {
 public:
  explicit Texts(std::string_view bytes) : all_(bytes), rest_(bytes) {}
  void into(std::string& text) {
    if (rest_.empty()) rest_ = all_;
    text = rest_.substr(0, rest_.find('\n'));
    rest_.remove_prefix(std::min(text.size() + 1, rest_.size()));
  }
  void into(std::vector<std::string>& texts) {
    for (std::string& text : texts) into(text);
  }

 private:
  std::string_view all_, rest_;
};

void put_texts(Report& report, Texts texts) {
  texts.into(report.notes);
  texts.into(report.invocation.command);
  texts.into(report.invocation.run_name);
  texts.into(report.invocation.suite_text);
  texts.into(report.machine.device.name);
  texts.into(report.machine.host);
  for (Attribute& attribute : report.machine.device.attributes) texts.into(attribute.value);
  for (Point& point : report.points) {
    texts.into(point.workload.label);
    texts.into(point.workload.implementation);
    texts.into(point.implementation_summary);
    texts.into(point.family);
    if (!point.reason.empty()) texts.into(point.reason);
    if (!point.profiled) continue;
    for (std::string ProfiledKind::*text :
         {&ProfiledKind::full_name, &ProfiledKind::range, &ProfiledKind::module, &ProfiledKind::line,
          &ProfiledKind::operation, &ProfiledKind::not_counted, &ProfiledKind::mixed})
      texts.into((*point.profiled).*text);
  }
  if (!report.profile) return;
  Profile& profile = *report.profile;
  texts.into(profile.program);
  texts.into(profile.folder);
  for (Saving& saving : profile.savings) texts.into(saving.what);
  for (CallSum& call : profile.calls) texts.into(call.name);
  for (std::vector<TreeSum>* tree : {&profile.ranges, &profile.modules}) {
    for (TreeSum& node : *tree) texts.into(node.name);
  }
  for (LineSum& line : profile.lines) texts.into(line.file);
}

/// Whatever its texts are, a report's outputs keep their form.
template <Report (*sample)()>
void writer(std::string_view bytes) {
  static const Report plain = sample();
  static const int scripts = occurrences(render_html(plain), "<script");
  Report report = plain;
  put_texts(report, Texts(bytes));
  check_texts(report);
  const std::string page = render_html(report);
  require(occurrences(page, "<script") == scripts, "a page has the scripts that it has");
  require(occurrences(page, "<img") == 0, "a page loads no picture");
}

Report two_rows(Report report) {
  report.points.erase(report.points.begin() + 1, report.points.end() - 1);
  return report;
}
Report table() { return two_rows(example::sample_report()); }
Report program() { return example::small_profile_report(); }

void host_samples(std::string_view bytes) {
  const std::optional<HostSamples> samples = read_host_samples(bytes);
  if (!samples) return;
  check_texts(report_of({}, {.program = {"program"}, .folder = {}, .run = {}, .untraced_s = {}, .host = samples},
                        example::h200()));
}

/// A recording of MPI calls without what lies between its header, first module, first sites and collectives.
void mpi_calls(std::string_view bytes) {
  constexpr std::size_t kSites = 4;
  const auto calls = std::make_unique<RooflineMpiCalls>();
  const auto take = [&](void* to, std::size_t size) {
    size = std::min(size, bytes.size());
    std::memcpy(to, bytes.data(), size);
    bytes.remove_prefix(size);
  };
  take(calls.get(), offsetof(RooflineMpiCalls, module));
  take(calls->module, sizeof calls->module[0]);
  take(calls->site, kSites * sizeof calls->site[0]);
  take(calls->collective, sizeof calls->collective);
  const MpiProcess process = parse_mpi_process({reinterpret_cast<const char*>(calls.get()), sizeof *calls});
  ProgramFacts facts = {.program = {"program"}, .folder = {}, .run = {}, .untraced_s = {}};
  facts.mpi = {process, process};
  ++facts.mpi[1].rank;
  facts.mpi[1].ranks = std::max(facts.mpi[1].ranks, facts.mpi[1].rank + 1);
  check_texts(report_of({}, facts, example::h200()));
}

void mpi_lines(std::string_view bytes) {
  ProgramFacts facts = {.program = {"program"}, .folder = {}, .run = {}, .untraced_s = {}};
  for (int rank = 0; rank < 2; ++rank) {
    MpiProcess process;
    process.pid = 100 + rank;
    process.rank = rank;
    process.ranks = 2;
    process.end = 5'000'000'000;
    process.mpi_s = rank == 0 ? 4 : 1;
    process.sites.resize(2);
    process.sites[0].function = "MPI_Allreduce";
    facts.mpi.push_back(std::move(process));
  }
  read_mpi_lines(bytes, facts.mpi);
  check_texts(report_of({}, facts, example::h200()));
}

void counts(std::string_view bytes) {
  ProgramFacts facts = {.program = {"program"}, .folder = {}, .run = {}, .untraced_s = {}};
  std::istringstream in{std::string(bytes)};
  read_counts(in, "fuzzed.counts", facts.counted.emplace());
  HostSamples& samples = facts.host.emplace();
  samples.threads.emplace_back();
  samples.code.modules = {"/planted/solver"};
  samples.code.code = {{0, 0x100}, {-1, 0}};
  samples.code.period_s = 1e-3;
  for (std::uint64_t i = 0; i < 20; ++i) samples.code.samples.push_back({i * 1'000'000, 0, i < 15 ? 0 : 1});
  const Report report = report_of({}, facts, example::h200());
  check_texts(report);
  parse_report(render_json(report), "again.json");
}

void elf(std::string_view bytes) {
  const std::optional<ElfFile> file = ElfFile::open(file_of(bytes));
  if (!file) return;
  const std::vector<std::uint64_t> addresses = {0, 0x1040, 0x2000, 0x401000, ~std::uint64_t{0}};
  for (const std::uint64_t address : addresses) unwind_row(*file, address);
  file->functions_at(addresses);
  source_lines(*file, addresses);
  inlined_functions(*file, addresses);
  file->visit_functions(1 << 20, [](const ElfFunction& function) { wrapper_identity(function.name); });
  file->build_id();
}

void spool(std::string_view bytes) {
  const std::vector<ProcessTrace> traces = {read_spool(file_of(bytes))};
  check_texts(report_of(traces, {.program = {"program"}, .folder = {}, .run = {}, .untraced_s = {}}, example::h200()));
}

void native_lines(std::string_view bytes) {
  const NativeLines lines = read_native_lines(bytes);
  require(read_native_lines(write_native_lines(lines)) == lines, "lines that were read can be written");
}

void cubin(std::string_view bytes) {
  for (const KernelCode& kernel : find_kernels(std::as_bytes(std::span(bytes)))) {
    for (const std::string_view instruction : known_instructions()) count_instruction(kernel.code, instruction);
  }
}

/// The lines of each kernel's instructions, and what these wait for.
void gpu_lines(std::string_view bytes) {
  const auto cubin = std::as_bytes(std::span(bytes));
  for (const KernelCode& kernel : find_kernels(cubin)) {
    const std::optional<GpuFunction> function = read_gpu_function(cubin, kernel.name);
    if (!function) continue;
    std::vector<SassInstruction> instructions;
    for (std::size_t at = 0; at + kSassBytes <= function->code.size(); at += kSassBytes) {
      const auto instruction = std::span(function->code).subspan(at, kSassBytes);
      instructions.push_back(decode_sass(instruction, function->architecture, at));
    }
    require(function->lines.size() == instructions.size(), "each instruction has a line");
    for (const GpuFunction::At& at : function->lines) {
      require(at.file < static_cast<int>(function->files.size()), "the file of a line is there");
    }
    constexpr std::size_t kMostLookedAt = 64;
    for (std::size_t at = 0; at < std::min(instructions.size(), kMostLookedAt); ++at) waited_for(instructions, at);
  }
}

void npy(std::string_view bytes) {
  require(read_npy(file_of(bytes), 6).values.size() == 6, "an array has as many elements");
}

void source(std::string_view bytes) {
  for (const char* file : {"fuzzed.cu", "fuzzed.c"}) {
    try {
      first_suite(file, std::string(bytes));
    } catch (const Error&) {
      // Most mutants hold no function.
    }
  }
}

template <ImportedProfile (*read)(ByteSource&)>
void import_by(std::string_view bytes) {
  ByteSource source(file_of(bytes));
  read(source);
}

/// likwid-perfctr: CSV, or tables for reading.
void likwid(std::string_view bytes) {
  if (looks_like_likwid_text(bytes)) return import_by<read_likwid_text>(bytes);
  import_by<read_likwid>(bytes);
}

template <ImportedProfile (*read)(const std::filesystem::path&)>
void import_path(std::string_view bytes) {
  read(file_of(bytes));
}

void nsys(std::string_view bytes) { read_nsys(file_of(bytes)); }

/// A file of any format, joined with itself, and the rows and sums that are made of it.
void import(std::string_view bytes) {
  const ImportedProfile profile = read_profile_file(file_of(bytes));
  const Machine machine = data_sheet_machine(device_of({profile}));
  std::vector<std::string> joined;
  check_texts(report_of_imports({profile, profile}, {.machine = machine, .others = {machine}}, {}, joined));
}

/// A model, the work of its inference, and its bounds.
void transformer(std::string_view bytes) {
  const Transformer model = read_transformer(std::string(bytes), "config.json");
  const ProblemBound bound =
      bound_problem(inference_of(model, {.batch = 3, .prompt = 100, .context = 77}), example::h200());
  for (const PhaseBound& phase : bound.phases) require(!(phase.least_s < 0), "a negative bound");
  problem_to_json(bound, example::h200()).dump();
}

/// A graph, the work of its nodes, and their bounds.
void torch_export(std::string_view bytes) {
  bool symbols = false;
  bound_problem(problem_of(read_torch_export(file_of(bytes), 3, symbols), {}), example::h200());
}

void torch_trace(std::string_view bytes) { bound_problem(problem_of(parse_torch_trace(bytes), {}), example::h200()); }

void onnx(std::string_view bytes) {
  const ProblemBound bound = bound_problem(read_onnx(bytes, "model.onnx", {.batch = 3}), example::h200());
  for (const PhaseBound& phase : bound.phases) require(!(phase.least_s < 0), "a negative bound");
}

/// Messages of a client, line by line. Calls are checked and turned into command lines; nothing is started.
void mcp(std::string_view bytes) {
  std::vector<std::string> sent;
  McpServer server([&](const std::string& line) { sent.push_back(line); });
  const AllowedPaths paths(fs::temp_directory_path(), {});
  LineReader lines(4096);
  lines.add(bytes);
  while (const std::optional<LineReader::Line> line = lines.next()) {
    server.receive(line->text);
    const PendingCall* const call = server.start_next();
    if (call == nullptr) continue;
    try {
      command_of(*find_tool(call->tool), call->arguments, paths);
      server.finish({});
    } catch (const UsageError& error) {
      server.finish({error.what(), true});
    }
  }
  for (const std::string& line : sent) {
    const nlohmann::ordered_json answer = nlohmann::ordered_json::parse(line);
    require(answer["jsonrpc"] == "2.0" && line.find('\n') == line.size() - 1, "an answer is one line of JSON-RPC");
  }
}

/// A document of a command, as its summary for an agent.
void digest(std::string_view bytes) {
  const nlohmann::ordered_json document = nlohmann::ordered_json::parse(bytes, nullptr, false);
  if (document.is_discarded() || !document.is_object()) return;
  for (const char* section : {"summary", "rows", "savings", "roofs", "host", "memory"}) {
    const ToolAnswer answer = digest_of_answer({{"data", document}}, {.report = "a.json", .section = section}, "");
    require(answer.text.size() < kDigestBytes + 1500, "a digest is short");
    require(answer.text.find('\x1b') == std::string::npos, "a digest has no escapes");
  }
  digest_of_answer({{"data", document}}, {.row = "#1"}, "");
}

constexpr std::array kReaders = {Reader{"suite", suite, 800},
                                 Reader{"formula", formula, 12000},
                                 Reader{"machine", machine, 1200},
                                 Reader{"report", report, 300},
                                 Reader{"node", node, 1200},
                                 Reader{"fleet", fleet, 1200},
                                 Reader{"spool", spool, 2000},
                                 Reader{"host_samples", host_samples, 1200},
                                 Reader{"mpi_calls", mpi_calls, 1200},
                                 Reader{"mpi_lines", mpi_lines, 1200},
                                 Reader{"counts", counts, 600},
                                 Reader{"elf", elf, 6000},
                                 Reader{"native_lines", native_lines, 12000},
                                 Reader{"cubin", cubin, 12000},
                                 Reader{"gpu_lines", gpu_lines, 3000},
                                 Reader{"npy", npy, 6000},
                                 Reader{"source", source, 3000},
                                 Reader{"kineto", import_by<read_kineto>, 1600},
                                 Reader{"ncu_csv", import_by<read_ncu_csv>, 1600},
                                 Reader{"ncu_report", import_by<read_ncu_report>, 1600},
                                 Reader{"nsys", nsys, 600},
                                 Reader{"proton_tree", import_by<read_proton_tree>, 1600},
                                 Reader{"proton_trace", import_by<read_proton_trace>, 1600},
                                 Reader{"onnx", onnx, 6000},
                                 Reader{"torch_export", torch_export, 1000},
                                 Reader{"torch_trace", torch_trace, 3000},
                                 Reader{"transformer", transformer, 6000},
                                 Reader{"nvbench", import_by<read_nvbench>, 1600},
                                 Reader{"google_benchmark", import_by<read_google_benchmark>, 1600},
                                 Reader{"tensorrt", import_by<read_tensorrt_profile>, 1600},
                                 Reader{"nsys_sums", import_by<read_nsys_sums>, 1600},
                                 Reader{"rocprof", import_by<read_rocprof>, 1600},
                                 Reader{"rocprof_trace", import_by<read_rocprof_trace>, 1600},
                                 Reader{"xla_trace", import_by<read_xla_trace>, 1600},
                                 Reader{"rocprof_json", import_by<read_rocprof_json>, 1600},
                                 Reader{"rocpd", import_path<read_rocpd>, 600},
                                 Reader{"rocprof_compute", import_path<read_rocprof_compute>, 1600},
                                 Reader{"rocprof_roofs", import_path<read_rocprof_roofs>, 1600},
                                 Reader{"likwid", likwid, 1600},
                                 Reader{"ert_json", import_by<read_ert_json>, 1600},
                                 Reader{"ert_text", import_by<read_ert_text>, 1600},
                                 Reader{"xplane", import_path<read_xplane>, 1600},
                                 Reader{"import", import, 600},
                                 Reader{"mcp", mcp, 6000},
                                 Reader{"digest", digest, 600},
                                 Reader{"table_writers", writer<table>, 80},
                                 Reader{"program_writers", writer<program>, 60}};

}  // namespace

std::span<const Reader> readers() { return kReaders; }

const Reader* find_reader(std::string_view name) {
  const auto found = std::find_if(kReaders.begin(), kReaders.end(), [&](const Reader& r) { return r.name == name; });
  return found == kReaders.end() ? nullptr : &*found;
}

void feed(const Reader& reader, std::string_view bytes) {
  try {
    reader.take(bytes);
  } catch (const Error&) {
    // What is broken is refused.
  }
}

}  // namespace roofline::fuzz
