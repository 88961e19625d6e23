#include "profile/cpu/cpu_rows.hpp"

#include <algorithm>
#include <cmath>

#include "model/find.hpp"
#include "profile/cpu/code_regions.hpp"
#include "profile/cpu/count_end.hpp"
#include "profile/cpu/counted_part.hpp"
#include "profile/cpu/region_times.hpp"
#include "profile/cpu/thread_roofs.hpp"
#include "report/host_causes.hpp"
#include "sample/own_files.hpp"

namespace roofline {
namespace {

constexpr double kLeastShare = 0.005;    ///< of the time in user code
constexpr double kTimelessShare = 0.01;  ///< of all FLOPs; of a program without any, of all bytes
constexpr std::size_t kMostTimeless = 20;

Traffic lines_of(const CodeCounts& counts, CountKey fills, CountKey writebacks, double line_bytes) {
  return {.read = counts.of(fills) * line_bytes, .write = counts.of(writebacks) * line_bytes};
}

/// Non-temporal stores go to memory without a cache line.
Work emulated_work(const CodeCounts& counts, double line_bytes) {
  Work work;
  const auto flops = [&](Pipe pipe, std::initializer_list<CountKey> keys) {
    double sum = 0;
    for (const CountKey key : keys) sum += counts.of(key);
    if (sum > 0) work.flops[pipe] = sum;
  };
  flops(Pipe::fp32, {CountKey::fp32_scalar, CountKey::fp32_128, CountKey::fp32_256});
  flops(Pipe::fp64, {CountKey::fp64_scalar, CountKey::fp64_128, CountKey::fp64_256});
  flops(Pipe::fp16, {CountKey::fp16_scalar, CountKey::fp16_128, CountKey::fp16_256});
  work.bytes[Level::l1] = {.read = counts.of(CountKey::load_bytes), .write = counts.of(CountKey::store_bytes)};
  work.bytes[Level::l2] = lines_of(counts, CountKey::l1_fills, CountKey::l1_writebacks, line_bytes);
  work.bytes[Level::l3] = lines_of(counts, CountKey::l2_fills, CountKey::l2_writebacks, line_bytes);
  work.bytes[Level::dram] = lines_of(counts, CountKey::l3_fills, CountKey::l3_writebacks, line_bytes);
  work.bytes[Level::dram].write += counts.of(CountKey::nt_bytes);
  work.launches = 0;  // times are the loop's own
  return work;
}

EmulatedTotals emulated_totals(const std::vector<CodeRegion>& regions, double line_bytes) {
  CodeCounts all;
  for (const CodeRegion& region : regions) all.add(region.counts);
  const Work work = emulated_work(all, line_bytes);
  const Traffic& memory = work.bytes.at(Level::dram);
  return {.flops = work.flops, .read_bytes = memory.read, .write_bytes = memory.write};
}

/// Every count by its key, the sums that hardware counters have too by their ids, and the stride of most accesses.
Counters emulated_counters(const CodeCounts& counts, const Work& work, double line_bytes) {
  Counters counters;
  counters.source = "roofline_count (emulation)";
  counters.passes = 1;
  for (std::size_t i = 0; i < kCountKeys; ++i) {
    const auto key = static_cast<CountKey>(i);
    if (counts.of(key) > 0) counters.values[std::string(to_string(key))] = counts.of(key);
  }
  for (const auto& [pipe, id] : {std::pair(Pipe::fp32, "fp32.ops"), std::pair(Pipe::fp64, "fp64.ops")}) {
    const auto found = work.flops.find(pipe);
    counters.values[id] = found == work.flops.end() ? 0 : found->second;
  }
  counters.values["l1.bytes"] = work.bytes.at(Level::l1).total();
  counters.values["l2.bytes"] = work.bytes.at(Level::l2).total();
  counters.values["l3.bytes"] = work.bytes.at(Level::l3).total();
  counters.values["dram.read_bytes"] = work.bytes.at(Level::dram).read;
  counters.values["dram.write_bytes"] = work.bytes.at(Level::dram).write;
  counters.values["cache.line_bytes"] = line_bytes;
  const auto stride = largest_entry(counts.strides);
  if (stride != counts.strides.end()) counters.values["stride.bytes"] = static_cast<double>(stride->first);
  return counters;
}

/// Of a run that was not whole: what relates its counts to each other. FLOPs and bytes would be taken for those of all
/// of the run.
Counters partial_counters(Counters counters) {
  counters.source = "roofline_count (emulation of a part of the run)";
  std::erase_if(counters.values, [](const auto& entry) {
    const std::string_view id = entry.first;
    return id.starts_with("flops.") || id.starts_with("fp") || id.starts_with("dram.") ||
           (id.ends_with(".bytes") && id.starts_with("l") && !id.starts_with("load"));
  });
  return counters;
}

DType type_of_work(const Work& work) {
  const auto pipe = dominant_pipe(work);
  return pipe == Pipe::fp64 ? DType::fp64 : pipe == Pipe::fp16 ? DType::fp16 : DType::fp32;
}

Summary sampled_time(const RegionTime& time) {
  const double scale = time.thread_s > 0 ? time.elapsed_s / time.thread_s : 0;
  Summary summary;
  summary.median = summary.min = summary.q05 = summary.q25 = summary.q75 = summary.q95 = summary.max = time.elapsed_s;
  summary.ci95 = {time.thread_ci95.low * scale, time.thread_ci95.high * scale};
  summary.samples = time.samples;
  summary.effective_samples = static_cast<double>(time.samples);
  return summary;
}

class CpuRows {
 public:
  CpuRows(Report& report, const CountedInstructions& counted, const CodeSamples& samples, const EmulationFacts& facts)
      : report_(report), counted_(counted), samples_(samples), facts_(facts) {}

  void add() {
    EmulatedRun& run = report_.profile->emulated.emplace();
    run.isa = counted_.isa;
    run.seconds = facts_.seconds;
    run.ended = why_counts_end(counted_, facts_.signal);
    run.why_no_times = samples_.why_none;
    run.rate_hz = samples_.period_s > 0 ? 1 / samples_.period_s : 0;
    CodeRegions code = code_regions(counted_, samples_);
    if (scale_part(code)) run.ended.clear();
    run.complete = run.ended.empty();
    if (run.complete) run.totals = emulated_totals(code.regions, counted_.line_bytes);
    const std::vector<RegionTime> times = region_times(samples_, code.of_code, code.regions.size());
    for (const RegionTime& time : times) run.cpu_s += time.thread_s;
    at_once_ = threads_at_once(samples_);
    if (report_.profile->host) {
      const std::vector<HostCause> causes = host_causes(*report_.profile->host, false);
      takes_turns_ = std::ranges::find(causes, "mutex", &HostCause::id) != causes.end();
    }
    double elapsed = 0;
    for (std::size_t i = 0; i < times.size(); ++i) {
      elapsed += times[i].elapsed_s;
      if (code.regions[i].counted) run.joined_s += times[i].thread_s;
      if (times[i].thread_s < kLeastShare * run.cpu_s || times[i].samples == 0) {
        run.folded_s += times[i].thread_s;
      } else {
        report_.points.push_back(row(code.regions[i], times[i]));
      }
    }
    report_.profile->kernel_s = elapsed;
    run.timeless = timeless(code.regions, times);
  }

 private:
  /// Where a time limit ended the only process, and its counted part was timed natively: makes its counts those of the
  /// whole run.
  bool scale_part(CodeRegions& code) {
    if (counted_.processes.size() != 1 || counted_.processes.front().end != CountEnd::limit) return false;
    const double part_s = counted_.processes.front().native_s;
    std::vector<bool> waits;
    for (const CodeRegion& region : code.regions) waits.push_back(is_openmp_runtime(region.library));
    const std::vector<double> scales = scales_of_part(samples_, code.of_code, waits, part_s);
    for (std::size_t i = 0; i < scales.size(); ++i) {
      CodeRegion& region = code.regions[i];
      region.counts.multiply(scales[i]);
      region.entries *= scales[i];
      region.iterations *= scales[i];
    }
    if (!scales.empty()) run().counted_s = part_s;
    return !scales.empty();
  }

  EmulatedRun& run() const { return *report_.profile->emulated; }

  ProfiledKind kind_of(const CodeRegion& region, const RegionTime& time) const {
    ProfiledKind kind;
    kind.full_name = region.function.empty() ? region.name : region.function;
    kind.launches = 1;
    kind.total_s = time.elapsed_s;
    kind.line = region.line;
    kind.time_source = TimeSource::sampled;
    kind.module = region.library;
    const bool waits = is_openmp_runtime(region.library);
    kind.complete = region.counted && run().complete && !waits;
    kind.counted = kind.complete ? 1 : 0;
    if (kind.complete) kind.work_source = WorkSource::emulated;
    if (!run().complete) kind.not_counted = run().ended;
    if (run().complete && !region.counted) {
      kind.not_counted = run().counted_s > 0 ? "the counted part of the run did not execute this code"
                                             : "the emulated run did not execute this code";
    }
    if (waits) kind.not_counted = "threads wait in the OpenMP runtime";
    CpuLoop& loop = kind.loop.emplace();
    loop.loop = region.loop;
    loop.called_from = region.called_from;
    loop.thread_s = time.thread_s;
    loop.thread_ci95 = time.thread_ci95;
    loop.share = run().cpu_s > 0 ? time.thread_s / run().cpu_s : 0;
    loop.threads = time.threads;
    loop.together = time.elapsed_s > 0 ? time.thread_s / time.elapsed_s : 0;
    loop.at_once = at_once_;
    // Beside other programs, threads run in turn. Then those that wait for a CPU tell that one thread's loop is serial.
    if (time.threads == 1 && report_.profile->host)
      loop.at_once = std::max(at_once_, report_.profile->host->alone.at_once);
    // More threads would wait for the mutex, too.
    if (takes_turns_) loop.at_once = std::min(loop.at_once, std::max<std::int64_t>(1, std::llround(loop.together)));
    loop.busiest = time.busiest;
    loop.entries = region.entries;
    loop.iterations = region.iterations;
    return kind;
  }

  Point row(const CodeRegion& region, const RegionTime& time) const {
    Point point;
    point.profiled = kind_of(region, time);
    point.workload.op = point.family = region.function.empty() ? region.name : region.function;
    point.workload.label = region.name;
    point.workload.cache = CacheMode::hot;  // as the program leaves the caches
    point.time = sampled_time(time);
    if (point.profiled->complete) {
      point.work = emulated_work(region.counts, counted_.line_bytes);
      point.counters = emulated_counters(region.counts, point.work, counted_.line_bytes);
    }
    const bool partial = !run().complete && region.counted && !is_openmp_runtime(region.library);
    if (partial) {
      const Work work = emulated_work(region.counts, counted_.line_bytes);
      point.counters = partial_counters(emulated_counters(region.counts, work, counted_.line_bytes));
    }
    point.work.launches = 0;
    point.work.threads = std::max<std::int64_t>(1, std::llround(point.profiled->loop->together));
    if (point.work.threads >= report_.machine.device.units) point.work.threads = 0;
    point.workload.dtype = type_of_work(point.work);
    const std::int64_t threads = point.work.threads == 0 ? report_.machine.device.units : point.work.threads;
    point.bound = bound_of(point.work, roofs_of_threads(report_.machine, threads));
    return point;
  }

  std::vector<TimelessCode> timeless(const std::vector<CodeRegion>& regions,
                                     const std::vector<RegionTime>& times) const {
    double flops = 0, bytes = 0;
    for (const CodeRegion& region : regions) {
      flops += region.counts.flops();
      bytes += region.counts.bytes();
    }
    std::vector<TimelessCode> found;
    for (std::size_t i = 0; i < regions.size(); ++i) {
      if (times[i].samples > 0) continue;
      TimelessCode code = {regions[i].name, flops > 0 ? regions[i].counts.flops() / flops : 0,
                           bytes > 0 ? regions[i].counts.bytes() / bytes : 0};
      if ((flops > 0 ? code.flops_share : code.bytes_share) >= kTimelessShare) found.push_back(std::move(code));
    }
    std::ranges::stable_sort(found, std::ranges::greater(), &TimelessCode::flops_share);
    found.resize(std::min(found.size(), kMostTimeless));
    return found;
  }

  Report& report_;
  const CountedInstructions& counted_;
  const CodeSamples& samples_;
  const EmulationFacts& facts_;
  std::int64_t at_once_ = 0;
  bool takes_turns_ = false;  ///< its threads wait for a mutex
};

}  // namespace

void add_cpu_rows(Report& report, const CountedInstructions& counted, const CodeSamples& samples,
                  const EmulationFacts& facts) {
  CpuRows(report, counted, samples, facts).add();
}

}  // namespace roofline
