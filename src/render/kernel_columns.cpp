// The table of columns. The order of the entries is that of CSV; `place` is that of the tables for people.
#include "render/kernel_columns.hpp"

#include <fmt/format.h>

#include "model/nan.hpp"
#include "render/html/sections.hpp"
#include "render/kernel_cells.hpp"
#include "render/terminal/bound.hpp"
#include "report/cpu_findings.hpp"
#include "report/diagnosis/counted.hpp"
#include "report/findings.hpp"
#include "report/network.hpp"
#include "report/profile_findings.hpp"
#include "report/roof_share.hpp"
#include "report/work_source.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

bool of_suite(const Report& report) { return !report.profile; }
bool of_program(const Report& report) { return report.profile.has_value(); }

bool of_gpu(const Report& report) { return !is_of_cpu(report); }

/// A figure of a loop; absent of other rows.
template <auto Member>
Value of_loop(const KernelRow& row) {
  return row.launch().loop ? to_value((*row.launch().loop).*Member) : Value();
}

Value bytes_at(const KernelRow& row, Level level) {
  const auto traffic = row.point.work.bytes.find(level);
  return traffic == row.point.work.bytes.end() ? Value() : Value(traffic->second.total());
}

std::string threads_text(const KernelRow& row) {
  return row.launch().loop ? number(row.launch().loop->together, 2) : std::string(kAbsent);
}

double or_nan(const std::optional<double>& value) { return value.value_or(kNaN); }
std::string absent_if_empty(std::string_view text) { return text.empty() ? kAbsent : std::string(text); }

/// A figure of the row's time; absent where it has none.
template <auto Member>
Value of_time(const KernelRow& row) {
  return row.point.time ? Value((*row.point.time).*Member) : Value();
}

Value counted_bytes_at(const KernelRow& row, Level level) {
  return row.point.counters ? Value(or_nan(counted_bytes(*row.point.counters, level))) : Value();
}

Value counted_flops_of(const KernelRow& row) {
  if (!row.point.counters) return {};
  const std::map<Pipe, double> counted = counted_flops(*row.point.counters);
  if (counted.empty()) return {};
  double flops = 0;
  for (const auto& [pipe, number] : counted) flops += number;
  return flops;
}

/// Ids of the rules that fired for the row, most important first.
std::string rules_of(const KernelRow& row) {
  std::string rules;
  for (const Advice& advice : advice_for(row.point, machine_of(row.report, row.point)))
    rules += (rules.empty() ? "" : " ") + advice.rule;
  return rules;
}

std::string program_name_of(const KernelRow& row) {
  return row.point.workload.label.empty() ? row.point.workload.op : row.point.workload.label;
}

std::string verification_markdown(const KernelRow& row) {
  if (!row.point.verification) return "not run";
  if (!row.point.verification->passed) return "**fail**";
  return std::string(status_of(*row.point.verification));
}

std::string bound_text(const KernelRow& row) { return std::string(to_string(row.point.bound.label)); }
bool bound_known(const KernelRow& row) { return row.point.bound.label != BoundLabel::unknown; }
Ink ink_of_bound(const KernelRow& row) { return bound_ink(row.point.bound.label); }
Ink ink_of_roof(const KernelRow& row) { return roof_ink(row.point); }
Ink dim(const KernelRow&) { return Ink::dim; }

Value sort_by_name(const KernelRow& row) { return point_name(row.point); }
Value sort_by_bound(const KernelRow& row) {
  return fmt::format("{} {}", to_string(row.point.bound.label), limit_label(row.point.bound));
}
Value sort_by_verdict(const KernelRow& row) {
  return row.verdict != nullptr ? static_cast<double>(row.verdict->kind) : kNaN;
}
Value fraction_value(const KernelRow& row) { return row.point.fraction_of_roof(); }
Value burst_value(const KernelRow& row) {
  return share_of_burst_roof(row.point, machine_of(row.report, row.point)).value_or(share_of_roof(row.point)).fraction;
}

constexpr int kCsvAndPeople = kCsv | kPeople;

template <auto figure>
constexpr auto kernel_csv(std::string_view key, bool (*when)(const Report&) = nullptr) {
  return csv_column<figure, KernelRow, Report>(key, when);
}

constexpr KernelColumn kKernelColumns[] = {
    {.key = "suite",
     .in = kJsonLines,
     .value = [](const KernelRow& r) -> Value { return r.report.invocation.run_name; }},
    {.key = "started_at",
     .in = kJsonLines,
     .value = [](const KernelRow& r) -> Value { return r.report.invocation.started_at; }},
    {.title = "Kernel",
     .meaning = "Name; below: implementation, or grid and block",
     .place = 10,
     .left = true,
     .text = [](const KernelRow& r) { return point_name(r.point); },
     .terminal = {
         .text =
             [](const KernelRow& r) { return r.report.profile ? clean_line(program_name_of(r)) : suite_row_name(r); },
         .shrinks = true,
         .layout =
             [](TerminalColumn& column, const Report& report) {
               if (!report.profile) column.title.clear();
               if (report.profile) column.first_to = shows_sources(report) && !is_of_cpu(report) ? 24 : 38;
             }},
     .page = {.style = "name", .html = html_kernel_name, .sort = sort_by_name, .copied = true}},
    {.title = "Saving",
     .meaning = "Potential saving: measured time above what the roof allows",
     .in = kMarkdown | kPage,
     .place = 11,
     .value = [](const KernelRow& r) -> Value { return r.saving_s(); },
     .unit = Unit::seconds,
     .page = {.copied = true}},
    kernel_csv<[](const KernelRow& r) { return r.point.workload.label; }>("workload"),
    kernel_csv<[](const KernelRow& r) { return r.point.workload.op; }>("op"),
    kernel_csv<[](const KernelRow& r) { return r.point.workload.implementation; }>("implementation"),
    kernel_csv<[](const KernelRow& r) { return to_string(r.point.workload.dtype); }>("dtype"),
    kernel_csv<[](const KernelRow& r) { return shape_text(r.point.workload.shape); }>("shape"),
    kernel_csv<[](const KernelRow& r) { return to_string(r.point.workload.cache); }>("cache"),
    kernel_csv<[](const KernelRow& r) { return to_string(r.point.status); }>("status"),
    kernel_csv<[](const KernelRow& r) { return r.point.reason; }>("reason"),
    kernel_csv<[](const KernelRow& r) { return r.point.work.total_flops(); }>("flops"),
    kernel_csv<[](const KernelRow& r) { return bytes_at(r, r.memory()); }>("bytes"),
    {.key = "arithmetic_intensity",
     .title = "AI",
     .meaning = "Arithmetic intensity at main memory, FLOP/byte; below: ridge point of its pipe, or rate",
     .in = kCsvAndPeople,
     .place = 110,
     .value = [](const KernelRow& r) -> Value { return r.point.bound.arithmetic_intensity; },
     .text = intensity_text,
     .terminal = {.place = 55,
                  .layout = [](TerminalColumn& column, const Report& r) { column.rank = r.profile ? 4 : 2; }},
     .page = {.html = html_intensity,
              .sort = [](const KernelRow& r) -> Value {
                return r.report.profile && work_source(r.point).empty() ? kNaN : r.point.bound.arithmetic_intensity;
              }}},
    {.key = "ridge",
     .title = "Ridge",
     .in = kCsv | kMarkdown,
     .place = 120,
     .shown = of_suite,
     .value = [](const KernelRow& r) -> Value { return r.point.bound.ridge; },
     .text = [](const KernelRow& r) { return number(r.point.bound.ridge, 3); }},
    {.key = "time_s",
     .title = "Time",
     .meaning = "Median time of one launch",
     .metric = "kernel_time_seconds",
     .in = kCsvAndPeople,
     .place = 50,
     .shown = of_suite,
     .value = of_time<&Summary::median>,
     .text =
         [](const KernelRow& r) {
           return r.point.time ? duration(r.point.time->median) : std::string(to_string(r.point.status));
         },
     .terminal = {.text = time_with_interval,
                  .ink =
                      [](const KernelRow& r) {
                        const bool doubtful = badly_measured(r.point) || r.point.time->stop != StopReason::converged;
                        return doubtful ? Ink::warn : Ink::plain;
                      }},
     .page = {.meaning = "Median of one launch; below: half its 95 % interval", .html = html_time, .copied = true}},
    {.title = "95 %",
     .in = kMarkdown,
     .place = 60,
     .shown = of_suite,
     .text =
         [](const KernelRow& r) {
           return r.point.time ? plus_minus(r.point.time->median, r.point.time->ci95) : kAbsent;
         }},
    kernel_csv<[](const KernelRow& r) { return r.point.time ? r.point.time->ci95.low : kNaN; }>("time_low_s"),
    kernel_csv<[](const KernelRow& r) { return r.point.time ? r.point.time->ci95.high : kNaN; }>("time_high_s"),
    {.key = "samples", .in = kCsv, .value = of_time<&Summary::samples>},
    kernel_csv<[](const KernelRow& r) { return r.point.time ? to_string(r.point.time->stop) : ""; }>("stop"),
    {.title = "achieved", .in = kTerminal, .place = 53, .shown = of_suite, .text = achieved_rate},
    {.key = "performance_flops_per_s",
     .title = "Performance",
     .meaning = "FLOPs of the work model over the median time",
     .metric = "kernel_flops_per_second",
     .in = kCsv | kMarkdown | kPage,
     .place = 90,
     .shown = of_suite,
     .value = [](const KernelRow& r) -> Value { return r.point.time ? r.point.performance() : kNaN; },
     .text = performance_or_bandwidth,
     .page = {.html = html_performance}},
    {.key = "bandwidth_bytes_per_s",
     .title = "Bandwidth",
     .meaning = "Compulsory main-memory bytes (each input and output once) over the median time",
     .metric = "kernel_bytes_per_second",
     .in = kCsv | kMarkdown | kPage,
     .place = 100,
     .shown = of_suite,
     .value = [](const KernelRow& r) -> Value { return r.point.time ? r.point.bandwidth(r.memory()) : kNaN; },
     .text = bandwidth_and_network,
     .page = {.style = "n bytes", .html = html_bandwidth}},
    kernel_csv<[](const KernelRow& r) {
      const auto network = network_rates(r.point);
      return network ? network->algorithm : kNaN;
    }>("algorithm_bandwidth_bytes_per_s"),
    kernel_csv<[](const KernelRow& r) {
      const auto network = network_rates(r.point);
      return network ? network->bus : kNaN;
    }>("bus_bandwidth_bytes_per_s"),
    {.key = "bound",
     .title = "Bound",
     .meaning = "Resource that needs the most time; below: the limiting ceiling",
     .in = kCsvAndPeople,
     .place = 130,
     .left = true,
     .value = [](const KernelRow& r) { return to_value(to_string(r.point.bound.label)); },
     .text =
         [](const KernelRow& r) { return r.report.profile && !bound_known(r) ? why_no_work(r.point) : bound_text(r); },
     .terminal = {.text =
                      [](const KernelRow& r) { return r.report.profile && !bound_known(r) ? kAbsent : bound_text(r); },
                  .ink = ink_of_bound,
                  .layout = [](TerminalColumn& column, const Report& r) { column.rank = r.profile ? 2 : 3; }},
     .page = {.style = "bound", .html = html_bound, .sort = sort_by_bound, .copied = true}},
    {.key = "limiting_ceiling",
     .title = "Limited by",
     .in = kCsv | kMarkdown,
     .place = 140,
     .left = true,
     .value = [](const KernelRow& r) { return to_value(r.point.bound.limiting_ceiling); },
     .text =
         [](const KernelRow& r) {
           return limit_label(r.point.bound) + (of_suite(r.report) && r.point.bound.suspect ? " (suspect)" : "");
         }},
    {.title = "Limited by",
     .in = kTerminal,
     .place = 140,
     .left = true,
     .text =
         [](const KernelRow& r) {
           return r.report.profile ? limit_label(r.point.bound)
                                   : r.point.bound.limiting_ceiling + (r.point.bound.suspect ? "?" : "");
         },
     .terminal = {.ink =
                      [](const KernelRow& r) {
                        return of_suite(r.report) && r.point.bound.suspect ? Ink::warn : ink_of_bound(r);
                      },
                  .layout = [](TerminalColumn& column, const Report& r) { column.rank = r.profile ? 5 : 1; }}},
    kernel_csv<[](const KernelRow& r) {
      return r.point.bound.limiting_ceiling.empty() ? "" : to_string(r.point.bound.regime);
    }>("limiting_regime"),
    kernel_csv<[](const KernelRow& r) { return r.point.bound.attainable_time_s; }>("attainable_time_s"),
    {.key = "fraction_of_roof",
     .title = "% of roof",
     .meaning =
         "Attainable over measured time at the kernel's clock; of paired rows, time of the roof's probe beside it",
     .metric = "kernel_fraction_of_roof",
     .in = kCsvAndPeople,
     .place = 70,
     .value = fraction_value,
     .markdown = {.text = roof_markdown},
     .terminal = {.title = "roof", .text = roof_terminal, .ink = ink_of_roof},
     .page = {.style = "roof", .html = html_roof, .copied = true}},
    {.in = kTerminal,
     .place = 65,
     .left = true,
     .shown = of_suite,
     .terminal = {.bar = [](const KernelRow& r) { return r.point.fraction_of_roof(); }, .ink = ink_of_roof, .rank = 5}},
    {.title = "95 %",
     .in = kTerminal,
     .place = 75,
     .shown = of_suite,
     .text = [](const KernelRow& r) { return interval_text(share_of_roof(r.point)); },
     .terminal = {.ink = dim, .rank = 4}},
    {.title = "% of burst roof",
     .meaning = "The same for the roof before power limiting",
     .place = 80,
     .shown = of_suite,
     .value = burst_value,
     .text = burst_roof_text,
     .terminal = {.title = "burst", .text = burst_roof_terminal, .ink = dim, .rank = 6},
     .page = {.style = "n burst", .html = html_burst_roof, .copied = true}},
    kernel_csv<[](const KernelRow& r) { return r.point.time ? Value(r.point.above_roof()) : Value(); }>("above_roof"),
    kernel_csv<[](const KernelRow& r) { return r.point.bound.suspect; }>("suspect"),
    {.key = "verification",
     .title = "Verified",
     .meaning = "Whether the output matches the reference",
     .in = kCsv | kMarkdown | kPage,
     .place = 150,
     .left = true,
     .shown = of_suite,
     .value =
         [](const KernelRow& r) { return to_value(!r.point.verification ? "" : status_of(*r.point.verification)); },
     .markdown = {.text = verification_markdown},
     .page = {.style = "check",
              .html = html_verification,
              .sort = [](const KernelRow& r)
                  -> Value { return r.point.verification ? r.point.verification->error : kNaN; }}},
    kernel_csv<[](const KernelRow& r) { return r.point.verification ? r.point.verification->error : kNaN; }>("error"),
    kernel_csv<[](const KernelRow& r) { return r.point.verification ? r.point.verification->tolerance : kNaN; }>(
        "tolerance"),
    kernel_csv<[](const KernelRow& r) { return r.point.time ? or_nan(r.point.time->clock_hz) : kNaN; }>("clock_hz"),
    {.key = "device",
     .in = kCsv | kJsonLines,
     .value = [](const KernelRow& r) { return to_value(r.report.machine.device.name); }},
    {.key = "complete", .in = kJsonLines, .value = [](const KernelRow& r) -> Value { return r.report.complete; }},
    {.key = "counted_flops", .in = kCsv, .value = counted_flops_of},
    kernel_csv<[](const KernelRow& r) { return counted_bytes_at(r, r.memory()); }>("counted_bytes"),
    kernel_csv<[](const KernelRow& r) { return counted_bytes_at(r, Level::l2); }>("counted_l2_bytes"),
    kernel_csv<[](const KernelRow& r) {
      return r.point.counters ? or_nan(r.point.counters->find("occupancy")) : kNaN;
    }>("occupancy"),
    kernel_csv<[](const KernelRow& r) { return rules_of(r); }>("diagnosis"),
    {.key = "launches",
     .title = "Launches",
     .meaning = "Number of launches",
     .metric = "kernel_launches",
     .in = kCsvAndPeople,
     .place = 20,
     .when = of_program,
     .shown = of_gpu,
     .value = [](const KernelRow& r) -> Value { return r.launch().launches; },
     .unit = Unit::count,
     .terminal = {.rank = 3},
     .page = {.place = 72}},
    {.key = "total_s",
     .title = "Total",
     .meaning = "Time of all launches",
     .metric = "kernel_total_seconds",
     .in = kCsvAndPeople,
     .place = 30,
     .when = of_program,
     .value = [](const KernelRow& r) -> Value { return r.launch().total_s; },
     .unit = Unit::seconds,
     .page = {.copied = true}},
    {.title = "Share",
     .meaning = "Share of the time of all kernels",
     .place = 40,
     .when = of_program,
     .value = [](const KernelRow& r) -> Value { return share_of_time(r.report, r.point); },
     .unit = Unit::share},
    {.title = "Median",
     .meaning = "Median of one launch; below: 5th to 95th percentile",
     .place = 50,
     .when = of_program,
     .shown = of_gpu,
     .value = of_time<&Summary::median>,
     .unit = Unit::seconds,
     .terminal = {.rank = 1},
     .page = {.html = html_median, .place = 74}},
    {.title = "Launched from",
     .meaning = "Module, line and NVTX range of the launch",
     .in = kMarkdown | kPage,
     .place = 160,
     .left = true,
     .when = of_program,
     .value = [](const KernelRow& r) -> Value { return where_from(r.launch()); },
     .text = [](const KernelRow& r) { return where_from(r.launch()); },
     .page = {.style = "from", .html = html_where_from}},
    kernel_csv<[](const KernelRow& r) { return std::int64_t{r.launch().device}; }>("device_index", of_program),
    kernel_csv<[](const KernelRow& r) { return r.launch().module; }>("module", of_program),
    kernel_csv<[](const KernelRow& r) { return r.launch().line; }>("line", of_program),
    kernel_csv<[](const KernelRow& r) { return r.launch().range; }>("range", of_program),
    kernel_csv<[](const KernelRow& r) { return r.launch().operation; }>("operation", of_program),
    kernel_csv<[](const KernelRow& r) { return r.launch().backward; }>("backward", of_program),
    kernel_csv<[](const KernelRow& r) { return r.launch().counted; }>("counted", of_program),
    kernel_csv<[](const KernelRow& r) { return r.launch().not_counted; }>("not_counted", of_program),
    kernel_csv<[](const KernelRow& r) { return r.launch().full_name; }>("full_name", of_program),
    {.key = "time_source",
     .title = "Time",
     .in = kCsv | kMarkdown,
     .place = 170,
     .left = true,
     .when = of_program,
     .shown = shows_sources,
     .value = [](const KernelRow& r) { return to_value(to_string(r.launch().time_source)); },
     .text = [](const KernelRow& r) { return std::string(to_string(r.launch().time_source)); }},
    {.key = "work_source",
     .title = "Work",
     .in = kCsv | kMarkdown | kTerminal,
     .place = 180,
     .left = true,
     .when = of_program,
     .shown = shows_sources,
     .value = [](const KernelRow& r) { return to_value(work_source(r.point)); },
     .text = [](const KernelRow& r) { return absent_if_empty(work_source(r.point)); },
     .markdown = {.text =
                      [](const KernelRow& r) {
                        const std::string why = r.launch().why_above_roof;
                        return absent_if_empty(work_source(r.point)) + (why.empty() ? "" : "; above its roof: " + why);
                      }}},
    kernel_csv<[](const KernelRow& r) { return r.launch().sources; }>("sources", of_program),
    {.key = "threads_together",
     .title = "Threads",
     .meaning = "Threads that were in it at the same time, on average",
     .in = kCsvAndPeople,
     .place = 45,
     .when = is_of_cpu,
     .value = of_loop<&CpuLoop::together>,
     .text = threads_text,
     .terminal = {.rank = 3}},
    {.title = "Vectors",
     .meaning = "FLOPs by the width of their instructions",
     .in = kPeople,
     .place = 125,
     .left = true,
     .when = is_of_cpu,
     .value = [](const KernelRow& r) -> Value { return 1 - vector_share(r.point, "scalar"); },
     .text = [](const KernelRow& r) { return absent_if_empty(vector_text(r.point)); },
     .terminal = {.rank = 4}},
    kernel_csv<[](const KernelRow& r) { return vector_share(r.point, "scalar"); }>("scalar_share", is_of_cpu),
    kernel_csv<[](const KernelRow& r) { return vector_share(r.point, "128"); }>("vector_128_share", is_of_cpu),
    kernel_csv<[](const KernelRow& r) { return vector_share(r.point, "256"); }>("vector_256_share", is_of_cpu),
    kernel_csv<[](const KernelRow& r) { return of_loop<&CpuLoop::loop>(r); }>("loop", is_of_cpu),
    kernel_csv<[](const KernelRow& r) { return of_loop<&CpuLoop::thread_s>(r); }>("thread_s", is_of_cpu),
    kernel_csv<[](const KernelRow& r) { return of_loop<&CpuLoop::threads>(r); }>("threads", is_of_cpu),
    kernel_csv<[](const KernelRow& r) { return of_loop<&CpuLoop::entries>(r); }>("entries", is_of_cpu),
    kernel_csv<[](const KernelRow& r) { return of_loop<&CpuLoop::iterations>(r); }>("iterations", is_of_cpu),
    kernel_csv<[](const KernelRow& r) { return bytes_at(r, Level::l1); }>("l1_bytes", is_of_cpu),
    kernel_csv<[](const KernelRow& r) { return bytes_at(r, Level::l2); }>("l2_bytes", is_of_cpu),
    kernel_csv<[](const KernelRow& r) { return bytes_at(r, Level::l3); }>("l3_bytes", is_of_cpu),
    kernel_csv<[](const KernelRow& r) {
      const PairedFraction* pairs = r.point.paired_with_roof();
      return pairs != nullptr ? pairs->probe_value : kNaN;
    }>("paired_probe_value", has_pairs),
    {.title = "Verdict",
     .meaning = "Limiting cause; links to the evidence",
     .in = kPage,
     .place = 190,
     .value = sort_by_verdict,
     .page = {.style = "verdict", .html = html_verdict, .copied = true}},
};

}  // namespace

std::span<const KernelColumn> kernel_columns() { return kKernelColumns; }

}  // namespace roofline
