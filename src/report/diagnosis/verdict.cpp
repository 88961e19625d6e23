// Chooses the rule that decides about a row, its evidence and the potential saving.
#include "report/diagnosis/verdict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <tuple>

#include "model/nan.hpp"
#include "model/spelling.hpp"
#include "report/cpu_findings.hpp"
#include "report/diagnosis/cause_lines.hpp"
#include "report/diagnosis/remark_action.hpp"
#include "report/findings.hpp"
#include "report/profile_findings.hpp"
#include "report/roof_share.hpp"
#include "report/roofs.hpp"
#include "report/titles.hpp"
#include "report/work_source.hpp"
#include "sample/own_files.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::array<std::string_view, 5> kKinds = {"slow", "unknown", "at_roof", "measure", "roofless"};
constexpr std::size_t kLeastEvidence = 2;
constexpr std::size_t kMostEvidence = 3;

Quantities quantities_of(const Report& report, std::size_t row) {
  const Point& point = report.points[row];
  return quantities_of(point, machine_of(report, point), point.counters ? &*point.counters : nullptr);
}

VerdictKind kind_of(RuleKind kind) {
  switch (kind) {
    case RuleKind::measure:
      return VerdictKind::measure;
    case RuleKind::at_roof:
      return VerdictKind::at_roof;
    case RuleKind::no_roof:
      return VerdictKind::no_roof;
    case RuleKind::unexplained:
    case RuleKind::note:
      return VerdictKind::unknown;
    case RuleKind::cause:
    case RuleKind::no_action:
    case RuleKind::fallback:
      break;
  }
  return VerdictKind::slow;
}

/// "FP32 pipe busy": the label, with the name of the pipe or level that the quantity is of.
std::string label_of(const QuantitySpec& spec, const Quantities& quantities) {
  const auto named = [&](const char* what) { return quantity_text(what, quantities.find(what)->second); };
  if (spec.name == "compute.utilization" && quantities.contains("pipe")) return named("pipe") + " busy";
  if (spec.name == "levels.utilization" && quantities.contains("level")) return named("level") + " busy";
  // Main memory as the busiest level has only one name.
  const auto levels = quantities.find("levels.utilization");
  if (spec.name == "memory.utilization" && levels != quantities.end() &&
      levels->second == quantities.find(spec.name)->second) {
    return named("level") + " busy";
  }
  return filled_by_all(spec.label, std::span(&quantities, 1)).value_or(std::string(spec.label));
}

class Evidence {
 public:
  explicit Evidence(const Quantities& quantities) : quantities_(quantities) {}

  void show(std::string_view name) {
    const auto found = quantities_.find(name);
    const QuantitySpec* spec = find_quantity(name);
    if (found == quantities_.end() || spec == nullptr || spec->unit == QuantityUnit::flag || spec->label.empty())
      return;
    std::string label = label_of(*spec, quantities_);
    const bool shown = std::any_of(shown_.begin(), shown_.end(), [&](const auto& one) { return one.first == label; });
    if (!shown && shown_.size() < kMostEvidence)
      shown_.emplace_back(std::move(label), quantity_text(name, found->second));
  }
  std::size_t size() const { return shown_.size(); }
  std::vector<std::pair<std::string, std::string>> take() { return std::move(shown_); }

 private:
  const Quantities& quantities_;
  std::vector<std::pair<std::string, std::string>> shown_;
};

/// Up to `most` utilizations, the limiting resource of the model first.
void evidence_of_use(Evidence& evidence, bool memory_first, std::size_t most) {
  constexpr std::array kMemoryFirst = {"levels.utilization", "compute.utilization", "occupancy"};
  constexpr std::array kComputeFirst = {"compute.utilization", "levels.utilization", "occupancy"};
  for (const char* name : memory_first ? kMemoryFirst : kComputeFirst)
    if (evidence.size() < most) evidence.show(name);
}

/// The quantities of the rule's conditions in their order, then utilizations.
std::vector<std::pair<std::string, std::string>> evidence_of(const Rule& rule, const Quantities& quantities) {
  Evidence evidence(quantities);
  for (const Condition& condition : rule.conditions) {
    // Every rule is about rows below their roof.
    if (condition.quantity != "roof.fraction") evidence.show(condition.quantity);
  }
  if (rule.kind == RuleKind::measure) {
    for (const char* name : {"autocorrelation", "samples.effective", "samples"}) evidence.show(name);
  } else {
    const auto memory = quantities.find("memory.bound");
    const bool memory_first = memory != quantities.end() && memory->second == 1;
    evidence_of_use(evidence, memory_first, rule.kind == RuleKind::unexplained ? kMostEvidence : kLeastEvidence);
  }
  if (evidence.size() == 0) evidence.show("roof.fraction");
  return evidence.take();
}

/// Recognises the kernels of NCCL and RCCL by name.
bool is_collective_kernel(const Point& point) {
  return point.profiled && point.profiled->full_name.find("nccl") != std::string::npos;
}

/// Seconds of all launches above the attainable time.
double total_gain(const Point& point) {
  if (!std::isfinite(point.fraction_of_roof())) return kNaN;
  if (point.paired_with_roof() != nullptr) return std::max(0.0, cost_of(point) * (1 - point.fraction_of_roof()));
  const double launches = point.profiled ? static_cast<double>(point.profiled->launches) : 1;
  return std::max(0.0, cost_of(point) - launches * point.bound.attainable_time_s);
}

double launches_of(const Point& point) {
  return point.profiled && point.profiled->launches > 0 ? static_cast<double>(point.profiled->launches) : 1;
}

/// "Reaches 91.1 % (90–98 %) of the roof at its clock and 84.2 % of the burst roof."
std::string reach(const Report& report, const Point& point) {
  const Machine& machine = machine_of(report, point);
  const std::string share = share_text(share_of_roof(point));
  if (share_basis(point, report) == ShareBasis::probe) {
    return fmt::format("Reaches {} of what its roof's probe reached{}.", share, beside_probe(point));
  }
  const auto burst = share_of_burst_roof(point, machine);
  if (!burst) return fmt::format("Reaches {} of its roof.", share);
  return fmt::format("Reaches {} of the roof at its clock and {} of the burst roof.", share, percent(burst->fraction));
}

/// Advice on getting more data for rows imported from another tool, to which options of roofline profile do not apply.
void advise_on_import(Verdict& verdict, const Report& report, const Point& point) {
  const Machine& machine = machine_of(report, point);
  if (machine.device.kind == DeviceKind::cpu) return;
  if (verdict.kind == VerdictKind::no_roof && !work_source(point).empty()) {
    const bool idle = did_nothing(point);
    verdict.finding = idle ? "It executed no FLOPs and moved no DRAM bytes." : "No known roof of its GPU limits it.";
    verdict.action = idle ? "No action: its counters are zero." : "Pass the roofs of its GPU: --machine machine.json.";
    return;
  }
  const bool to_count = verdict.kind == VerdictKind::no_roof || verdict.rule.starts_with("uncounted") ||
                        verdict.rule.starts_with("stated") || verdict.rule == "unknown";
  if (is_gpu_of_amd(machine.device.name)) {
    const bool counts = is_compute_gpu_of_amd(machine.device.name);
    if (to_count) {
      verdict.action = counts ? "Count its work with rocprof-compute, and import the result."
                              : "No action: counters of Radeon GPUs are not imported.";
    }
    if (counts && verdict.rule.starts_with("unexplained"))
      verdict.action = "Inspect its stalls: rocprof-compute analyze.";
    return;
  }
  const bool intel = is_gpu_of_intel(machine.device.name);
  if (to_count && intel) verdict.action = "No action: counters of Intel GPUs are not imported.";
  if (to_count && !intel) verdict.action = "Add an ncu report of the program (ncu --set roofline).";
}

/// The reason why a row has no roof: the one that is missing, or for a profiled row why it has no work.
void explain_no_roof(Verdict& verdict, const Report& report, const Point& point) {
  if (const std::string roof = missing_roof(point.bound); !roof.empty()) {
    const Machine& machine = machine_of(report, point);
    verdict.finding = fmt::format("No roof: {} was not measured, so its limit is not known.", clean_line(roof));
    verdict.action =
        not_measured(machine).empty()
            ? fmt::format("Measure {}: roofline calibrate --device {}{}.", clean_line(roof),
                          to_string(machine.device.kind), machine.device.kind == DeviceKind::cpu ? " --time 60s" : "")
            : "Pass the measured roofs of its GPU: --machine machine.json.";
    return;
  }
  const std::string why = why_no_work(point);
  if (why.empty()) return;
  verdict.finding = fmt::format("No roof: its FLOPs and bytes are not known ({}).", why);
  verdict.action = is_collective_kernel(point) ? "No action: a collective is limited by the links between GPUs."
                                               : "Record for longer, so that it is launched more often.";
  if (!is_of_cpu(report)) return;
  if (is_openmp_runtime(point.profiled->module)) {
    verdict.finding = "Threads wait for work in the OpenMP runtime.";
    verdict.action = "Give threads equal work (schedule(dynamic, n)), and divide serial parts among the threads.";
    return;
  }
  verdict.action = report.profile->emulated->complete
                       ? "Let the library select AVX2 code in both runs (OPENBLAS_CORETYPE=Haswell, "
                         "MKL_ENABLE_INSTRUCTIONS=AVX2)."
                       : "Count again without that limit; the times below need no counts.";
}

/// Gains of a loop from more threads or full use of cache lines are independent of its gap to its own roof, and at most
/// its time.
void add_loop_gain(Verdict& verdict, const Quantities& quantities, const Point& point) {
  const auto share = [&](const char* name) {
    const auto found = quantities.find(name);
    return found == quantities.end() ? 0 : found->second;
  };
  double saved = 0;
  if (verdict.rule == "serial-part") saved = share("loop.parallel_saving");
  if (verdict.rule == "uneven-loop") saved = 1 - 1 / share("loop.busiest");
  static constexpr std::array<std::string_view, 3> kUnusedBytes = {"partial-lines-loop", "strided-loop",
                                                                   "partly-counted-strided-loop"};
  if (std::ranges::find(kUnusedBytes, verdict.rule) != kUnusedBytes.end()) saved = 1 - share("loop.line_use");
  if (verdict.rule == "partly-counted-dividing-loop") saved = share("loop.divide_share");
  if (saved > 0) verdict.total_gain_s = cost_of(point) * std::min(saved, 1.0);
}

}  // namespace

std::vector<Advice>::const_iterator deciding(const std::vector<Advice>& advice, const Point& point,
                                             const Machine& machine) {
  const auto decides = [](const Advice& one) { return one.kind != RuleKind::note; };
  const auto first = std::find_if(advice.begin(), advice.end(), decides);
  if (first == advice.end() || first->rule != kSomeThreads) return first;
  const auto next = std::find_if(first + 1, advice.end(), decides);
  const bool other_cause = next != advice.end() && next->kind == RuleKind::cause;
  return other_cause && lacks_more_than_idle_threads_cost(point, machine) ? next : first;
}

namespace {

/// Empty: unknown.
std::string_view compiler_remark(const Point& point) {
  if (point.profiled && point.profiled->loop) return point.profiled->loop->remark;
  const auto has_remark = [](const Experiment& experiment) { return !experiment.remark.empty(); };
  const auto found = std::ranges::find_if(point.experiments, has_remark);
  return found == point.experiments.end() ? std::string_view() : found->remark;
}

/// Why the compiler did not vectorise a loop, where scalar code or what it waits for is the cause.
void add_remark(Verdict& verdict, const Point& point) {
  static constexpr std::array<std::string_view, 8> kScalar = {"scalar-loop",      "calling-loop",     "chain-loop",
                                                              "instruction-loop", "unexplained-loop", "scalar-code",
                                                              "core-bound",       "no-vectors"};
  const std::string_view remark = compiler_remark(point);
  if (remark.empty() || std::ranges::find(kScalar, verdict.rule) == kScalar.end()) return;
  std::string words = clean_line(remark);
  if (words.ends_with('.')) words.pop_back();
  verdict.finding += fmt::format(" The compiler: \"{}\".", words);
  static constexpr std::array<std::string_view, 4> kByRemark = {"scalar-loop", "instruction-loop", "scalar-code",
                                                                "no-vectors"};
  const std::string_view action = action_for_remark(remark);
  if (!action.empty() && verdict.actionable && std::ranges::find(kByRemark, verdict.rule) != kByRemark.end())
    verdict.action = action;
}

/// The row of a whole CUDA graph sums kernels of different kinds: it says which ones.
std::string kernels_of_graph(const ProfiledKind& graph) {
  if (graph.graph_kernels.empty()) return "See the rows of its kernels.";
  std::vector<std::string> kernels;
  for (const GraphKernel& kernel : graph.graph_kernels)
    kernels.push_back(fmt::format("{} {}", percent(kernel.share), clean_line(kernel.name)));
  return fmt::format("Its time by kernel: {}.", fmt::join(kernels, "; "));
}

Verdict verdict_of(const Report& report, std::size_t row) {
  const Point& point = report.points[row];
  const DeviceKind device = report.machine.device.kind;
  const Quantities quantities = quantities_of(report, row);
  Verdict verdict;
  verdict.row = row;
  verdict.total_gain_s = total_gain(point);
  std::vector<Advice> advice = diagnose(quantities, device);
  add_lines(advice, point);
  const auto decides = deciding(advice, point, machine_of(report, point));
  for (auto one = advice.begin(); one != advice.end(); ++one)
    if (one != decides) verdict.also.push_back({one->rule, one->finding});
  if (decides != advice.end()) {
    verdict.kind = kind_of(decides->kind);
    verdict.rule = decides->rule;
    verdict.finding = decides->finding;
    verdict.action = decides->next;
    verdict.actionable =
        (decides->kind == RuleKind::cause || decides->kind == RuleKind::fallback) && decides->next != kLibraryKernel;
    if (point.profiled && point.profiled->graph && verdict.actionable) {
      verdict.action = kernels_of_graph(*point.profiled);
      verdict.actionable = false;
    }
    verdict.line = decides->line;
    verdict.source = decides->source;
    verdict.evidence = evidence_of(*find_rule(decides->rule, device), quantities);
  }
  // The saving from more threads is independent of the gap to the roof of its own threads.
  if (verdict.rule == kSomeThreads) verdict.total_gain_s = cost_of(point) * quantities.at("threads.saving");
  add_loop_gain(verdict, quantities, point);
  const double share = decides != advice.end() ? decides->saved_share : 0;
  if (const double saved = share * cost_of(point); saved > 0) {
    verdict.total_gain_s = std::isnan(verdict.total_gain_s) ? saved : std::max(verdict.total_gain_s, saved);
  }
  if (verdict.kind == VerdictKind::at_roof) {
    verdict.finding = reach(report, point);
    verdict.total_gain_s = 0;
  }
  // A roof of wrong work says nothing of what can be saved.
  if (const auto wrong = quantities.find("work.wrong"); wrong != quantities.end() && wrong->second == 1) {
    verdict.total_gain_s = kNaN;
  }
  // The cause stands, but its cost is not known.
  if (verdict.total_gain_s > 0 && verdict.total_gain_s < uncertainty_of_time(point)) verdict.total_gain_s = kNaN;
  if (verdict.kind == VerdictKind::no_roof) explain_no_roof(verdict, report, point);
  const bool imported = point.profiled && !point.profiled->sources.empty();
  if (imported && !is_collective_kernel(point)) advise_on_import(verdict, report, point);
  add_remark(verdict, point);
  verdict.gain_s = verdict.total_gain_s / launches_of(point);
  return verdict;
}

/// The sum of the known ones; NaN where none is known.
double sum_of_gains(double a, double b) { return std::isnan(a) ? b : std::isnan(b) ? a : a + b; }

/// "a: what"; of two "a (kernel.cu:41) and b (kernel.cu:80): what", of more "a (kernel.cu:41) and 6 more: what".
std::string several(const std::vector<const Verdict*>& members, const std::string& what, const Report& report) {
  const std::size_t n = members.size();
  const auto name = [&](const Verdict& verdict) {
    const std::string kernel = point_name(report.points[verdict.row]);
    return n == 1 || verdict.line.empty() ? kernel : fmt::format("{} ({})", kernel, verdict.line);
  };
  const std::string first = name(*members[0]);
  if (n == 1) return fmt::format("{}: {}", first, what);
  if (n == 2) return fmt::format("{} and {}: {}", first, name(*members[1]), what);
  return fmt::format("{} and {} more: {}", first, count(static_cast<std::int64_t>(n - 1)), what);
}

/// One sentence for verdicts of one rule, with ranges where figures differ.
std::string shared_text(const std::vector<const Verdict*>& members, const Report& report) {
  const Verdict& first = *members[0];
  if (members.size() == 1) return several(members, first.finding, report);
  std::vector<Quantities> all;
  all.reserve(members.size());
  for (const Verdict* verdict : members) all.push_back(quantities_of(report, verdict->row));
  const Rule* rule = find_rule(first.rule, report.machine.device.kind);
  if (rule == nullptr || first.kind == VerdictKind::no_roof) return several(members, first.finding, report);
  if (first.kind == VerdictKind::at_roof) {
    return fmt::format("{} kernels are at their roof ({}).", count(static_cast<std::int64_t>(members.size())),
                       filled_by_all("{roof.fraction}", all).value_or("90 % or more"));
  }
  return several(members, filled_by_all(rule->finding, all).value_or(first.finding), report);
}

/// The clock limiter during the calibration of these rows' roofs.
std::string limiter_of(const Report& report, const std::vector<std::size_t>& rows) {
  bool power = false, other = false;
  for (const std::size_t row : rows) {
    const Point& point = report.points[row];
    const Ceiling* sustained = machine_of(report, point).find(point.bound.limiting_ceiling, Regime::sustained);
    if (sustained == nullptr || sustained->power.limiter.value_or("").empty()) continue;
    (*sustained->power.limiter == kPowerCap ? power : other) = true;
  }
  return power && !other ? "the power limit" : "power or temperature";
}

}  // namespace

std::string_view to_string(VerdictKind kind) { return spell(kKinds, kind); }

bool larger_saving(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
  return a > b;
}

std::vector<Verdict> verdicts(const Report& report) {
  std::vector<Verdict> all;
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    if (report.points[i].status == PointStatus::ok && report.points[i].time) all.push_back(verdict_of(report, i));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Verdict& a, const Verdict& b) { return larger_saving(a.total_gain_s, b.total_gain_s); });
  return all;
}

std::optional<VerdictGroup> limited_by_clock(const std::vector<Verdict>& verdicts, const Report& report) {
  const Rule* rule = find_rule("throttled", report.machine.device.kind);
  VerdictGroup group{
      VerdictKind::slow,
      std::string(rule->id),
      {},
      "Compare these kernels only at this clock. Fewer bytes, a smaller type or a higher power limit raise the clock.",
      0,
      {},
      true};
  std::vector<std::pair<double, std::size_t>> rows;
  std::vector<Quantities> all;
  for (const Verdict& verdict : verdicts) {
    Quantities quantities = quantities_of(report, verdict.row);
    if (!fires(*rule, quantities)) continue;
    const auto share = quantities.find("clock.gain");
    const double gain = share == quantities.end() ? 0 : std::max(0.0, share->second);
    rows.emplace_back(gain * cost_of(report.points[verdict.row]), verdict.row);
    all.push_back(std::move(quantities));
  }
  if (rows.size() < 2) return std::nullopt;
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [gain, row] : rows) {
    group.rows.push_back(row);
    group.total_gain_s += gain;
  }
  group.text = fmt::format("{} kernels ran at a reduced clock, {}, because of {}.",
                           count(static_cast<std::int64_t>(rows.size())),
                           filled_by_all("{clock}", all).value_or("a lower clock"), limiter_of(report, group.rows));
  return group;
}

std::vector<VerdictGroup> where_to_spend_time(const std::vector<Verdict>& verdicts, const Report& report) {
  std::vector<VerdictGroup> groups;
  std::vector<std::vector<const Verdict*>> members;
  // Under one rule library kernels have another action than own ones.
  std::map<std::tuple<VerdictKind, std::string, std::string>, std::size_t> known;
  for (const Verdict& verdict : verdicts) {
    const auto [at, added] = known.try_emplace({verdict.kind, verdict.rule, verdict.action}, groups.size());
    if (added) {
      groups.push_back({verdict.kind, verdict.rule, {}, verdict.action, kNaN, {}, false, verdict.actionable});
      members.emplace_back();
    }
    VerdictGroup& group = groups[at->second];
    members[at->second].push_back(&verdict);
    group.rows.push_back(verdict.row);
    group.total_gain_s = sum_of_gains(group.total_gain_s, verdict.total_gain_s);
  }
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i].text = shared_text(members[i], report);
  if (auto clock = limited_by_clock(verdicts, report)) groups.push_back(std::move(*clock));
  std::stable_sort(groups.begin(), groups.end(), [](const VerdictGroup& a, const VerdictGroup& b) {
    return larger_saving(a.total_gain_s, b.total_gain_s);
  });
  return groups;
}

}  // namespace roofline
