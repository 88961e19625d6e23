#include "profile/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "measure/statistics.hpp"
#include "model/occupancy.hpp"
#include "profile/symbols.hpp"
#include "text/demangle.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

/// The median of the counted samples: launches of one signature do the same work.
double typical(std::vector<double> samples) {
  std::erase_if(samples, [](double value) { return !std::isfinite(value); });
  return median(std::move(samples));
}

KernelLaunch layout_of(const LaunchGroup& group, const spool::Device& device) {
  KernelLaunch layout;
  layout.kernel = short_name(demangled(group.symbol));
  layout.blocks = std::int64_t{group.kind.grid[0]} * group.kind.grid[1] * group.kind.grid[2];
  layout.threads = std::int64_t{group.kind.block[0]} * group.kind.block[1] * group.kind.block[2];
  layout.registers = group.kernel.registers;
  layout.shared_bytes = static_cast<double>(group.kernel.static_shared) + group.kind.dynamic_shared;
  layout.local_bytes = group.kernel.local_bytes;
  const SmLimits sm = {.threads = device.threads_per_sm,
                       .blocks = device.blocks_per_sm,
                       .registers = device.registers_per_sm,
                       .shared_bytes = static_cast<double>(device.shared_per_sm),
                       .reserved_shared_bytes = 1024};
  if (device.sms > 0 && sm.threads > 0 && layout.threads > 0) fill_occupancy(layout, sm, device.sms);
  return layout;
}

Counters counters_of(const LaunchGroup& group, const Recording& recording, const std::string& why_not_counted) {
  const SeenDevice& device = recording.devices[static_cast<std::size_t>(group.device)];
  Counters counters;
  const ProcessTrace& trace = recording.traces[static_cast<std::size_t>(group.process)];
  const std::string tool = trace.times_by.empty() && trace.counts_by.empty() ? "CUPTI" : trace.counts_by;
  if (!tool.empty()) counters.source = tool + (device.chip.empty() ? "" : " on " + device.chip);
  counters.missing = recording.absent;
  for (const auto& [quantity, samples] : group.values) {
    const double value = typical(samples);
    if (std::isfinite(value)) {
      counters.values[quantity] = value;
    } else {
      counters.missing[quantity] = "the counter returned no value for this launch";
    }
  }
  const std::optional<double> hits = counters.ratio("l2.hit_sectors", "l2.sectors");
  if (hits) counters.values["l2.hit_rate"] = *hits;
  counters.values.erase("l2.hit_sectors");
  counters.values.erase("l2.sectors");
  if (counters.values.empty() && !why_not_counted.empty()) counters.missing.emplace("all", why_not_counted);
  counters.passes = static_cast<std::int64_t>(group.groups_counted.size());
  if (!group.graph()) counters.kernels = {layout_of(group, device.about)};
  return counters;
}

/// The work that was counted.
Work work_of(const Counters& counters) {
  Work work;
  for (const auto& [pipe, operations] : counted_flops(counters)) {
    if (operations > 0) work.flops[pipe] = operations;
  }
  if (const auto traffic = counted_traffic(counters)) work.bytes[Level::hbm] = *traffic;
  if (const auto bytes = counters.find("l2.bytes")) work.bytes[Level::l2] = unsplit_traffic(*bytes);
  return work;
}

DType type_of(const Work& work) {
  static const std::map<Pipe, DType> kTypes = {
      {Pipe::fp64, DType::fp64},        {Pipe::fp16, DType::fp16},        {Pipe::bf16, DType::bf16},
      {Pipe::int32, DType::int32},      {Pipe::int8, DType::int8},        {Pipe::tensor_fp64, DType::fp64},
      {Pipe::tensor_tf32, DType::tf32}, {Pipe::tensor_fp16, DType::fp16}, {Pipe::tensor_bf16, DType::bf16},
      {Pipe::tensor_fp8, DType::fp8},   {Pipe::tensor_int8, DType::int8}};
  const auto pipe = dominant_pipe(work);
  const auto found = pipe ? kTypes.find(*pipe) : kTypes.end();
  return found == kTypes.end() ? DType::fp32 : found->second;
}

ProfiledKind kind_of(const LaunchGroup& group, const Recording& recording, const std::string& why_not_counted) {
  const ProcessTrace& trace = recording.traces[static_cast<std::size_t>(group.process)];
  const spool::Place& place = trace.place(group.kind.place);
  ProfiledKind kind;
  kind.full_name = demangled(group.symbol);
  kind.launches = group.launches;
  kind.total_s = group.total_s;
  std::copy_n(group.kind.grid, 3, kind.grid.begin());
  std::copy_n(group.kind.block, 3, kind.block.begin());
  std::copy_n(group.kind.cluster, 3, kind.cluster.begin());
  kind.device = group.device;
  kind.range = group.range;
  kind.module = group.module;
  kind.line = line_text(trace, place.line);
  kind.operation = trace.text(place.operation);
  kind.backward = place.backward != 0;
  kind.graph = group.graph();
  kind.in_graph = group.in_graph();
  kind.counted = group.counted;
  kind.complete = group.complete(recording);
  if (!kind.complete) {
    kind.not_counted = kind.in_graph              ? "in a graph: counted with the whole graph"
                       : !group.missing.empty()   ? fmt::format("{}", fmt::join(group.missing, "; "))
                       : !why_not_counted.empty() ? why_not_counted
                       : group.launches < 2       ? "launched once: the first launch of a signature is not counted"
                                                  : "too few launches for all counter groups";
  }
  if (group.folded == 0) kind.mixed = modes_of(group.times);
  kind.time_source = trace.times;
  return kind;
}

bool is_main_memory(Level level) { return level == Level::hbm || level == Level::dram; }

/// Which tool measured what of an imported row; empty for own recordings.
std::string sources_of(const LaunchGroup& group, const Recording& recording, const Point& point) {
  const ProcessTrace& trace = recording.traces[static_cast<std::size_t>(group.process)];
  if (trace.times_by.empty()) return {};
  std::string text = fmt::format("time: {} by {}", to_string(trace.times), trace.times_by);
  const bool counted = point.profiled->work_source == WorkSource::counted && point.counters;
  const bool in_part = counted && !point.profiled->complete;
  const std::string_view what = !in_part                   ? "FLOPs and bytes"
                                : point.work.flops.empty() ? "bytes"
                                                           : "bytes and part of the FLOPs";
  if (counted) text += fmt::format("; {}: counted by {}", what, trace.counts_by);
  if (!counted && group.model != nullptr) {
    text += fmt::format("; FLOPs and bytes: {} by {}", to_string(group.model->source), group.model->by);
  }
  const auto bytes = std::ranges::find_if(point.work.bytes, [](const auto& of) { return is_main_memory(of.first); });
  if (bytes != point.work.bytes.end() && bytes->second.unsplit) text += "; reads and writes: not distinguished";
  return text;
}

/// Other tools have the bytes of all launches or of none, so that the share of the memory roof is right without FLOPs.
/// In own recordings a part of the counters is missing by chance, and a bound would be a guess.
bool counts_bytes_alone(const LaunchGroup& group, const Recording& recording, const Counters& counters) {
  const ProcessTrace& trace = recording.traces[static_cast<std::size_t>(group.process)];
  return !trace.counts_by.empty() && group.model == nullptr && group.folded == 0 && !group.missing.empty() &&
         counted_traffic(counters);
}

}  // namespace

std::vector<const Machine*> roofs_of_devices(const std::vector<std::string_view>& names, const Machine& machine,
                                             const std::vector<Machine>& others) {
  const std::string& name = machine.device.name;
  const bool known = !name.empty() && std::find(names.begin(), names.end(), name) != names.end();
  const bool several =
      std::any_of(names.begin(), names.end(), [&](std::string_view other) { return !other.empty() && other != name; });
  std::vector<const Machine*> roofs(names.size(), &machine);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) continue;
    const auto own =
        std::find_if(others.begin(), others.end(), [&](const Machine& other) { return other.device.name == names[i]; });
    if (own != others.end()) {
      roofs[i] = &*own;
    } else if (known && several) {
      roofs[i] = nullptr;
    }
  }
  return roofs;
}

std::string line_text(const ProcessTrace& trace, spool::Id id, const std::string& folder) {
  const spool::Line& line = trace.line(id);
  if (line.id == 0) return {};
  std::string_view file = trace.text(line.file);
  if (!folder.empty() && file.starts_with(folder + "/")) {
    file.remove_prefix(folder.size() + 1);
  } else if (folder.empty()) {
    file = last_path_part(file);
  }
  if (line.number == 0) return fmt::format("{} {}", file, trace.text(line.function));
  return fmt::format("{}:{} {}", file, line.number, trace.text(line.function));
}

/// What other kernels have left in L2 reaches main memory while this one runs alone to be counted; in the program it
/// did so at other times. A kernel that stands above its roof with these bytes has only those that it wrote itself.
void leave_out_foreign_writes(Point& point, const Machine& machine) {
  const auto dram = point.work.bytes.find(Level::hbm), l2 = point.work.bytes.find(Level::l2);
  if (!point.above_roof() || dram == point.work.bytes.end() || l2 == point.work.bytes.end()) return;
  const double own = std::max(0.0, l2->second.total() - dram->second.read);
  if (own >= dram->second.write) return;
  dram->second.write = own;
  point.bound = bound_of(point.work, machine);
}

Point row_of(const LaunchGroup& group, const Recording& recording, const Machine& machine,
             const std::string& why_not_counted) {
  Point point;
  point.profiled = kind_of(group, recording, why_not_counted);
  point.counters = counters_of(group, recording, why_not_counted);
  const bool counted = group.complete(recording) || counts_bytes_alone(group, recording, *point.counters);
  if (counted) {
    point.work = work_of(*point.counters);
    point.profiled->work_source = WorkSource::counted;
  }
  if (!counted && group.model != nullptr) {
    point.work = group.model->work;
    point.profiled->work_source = group.model->source;
    point.counters.reset();  // what is modelled is not shown as counted
    if (group.model->source != WorkSource::counted || group.missing.empty()) point.profiled->not_counted.clear();
  }
  point.profiled->sources = sources_of(group, recording, point);
  point.work.launches = 0;  // times are the kernel's own, launching is no part of them
  point.bound = bound_of(point.work, machine);
  point.workload.op = group.graph() || group.folded > 0 ? group.symbol : short_name(point.profiled->full_name);
  if (point.workload.op.empty()) point.workload.op = "unnamed kernel";
  point.workload.label = point.workload.op;
  point.workload.dtype = type_of(point.work);
  point.workload.cache = group.cold_caches() ? CacheMode::cold : CacheMode::hot;  // as the program leaves the caches
  point.family = point.workload.op;
  const std::vector<double>& times = group.times.empty() ? group.counted_times : group.times;
  if (times.empty()) {
    point.status = PointStatus::skipped;
    point.reason = "no launch has a time";
  } else {
    point.time = summarize(times);
    if (counted) leave_out_foreign_writes(point, machine);
  }
  return point;
}

void make_labels_unique(std::vector<Point>& points) {
  using Detail = std::string (*)(const ProfiledKind&);
  // What distinguishes rows of one name, the most useful first; so names are stable from run to run.
  static constexpr Detail kDetails[] = {
      [](const ProfiledKind& kind) { return !kind.module.empty() ? kind.module : kind.line; },
      [](const ProfiledKind& kind) { return std::string(kind.in_graph ? "in a graph" : ""); },
      [](const ProfiledKind& kind) { return !kind.operation.empty() ? kind.operation : kind.range; },
      [](const ProfiledKind& kind) {
        const bool known = kind.grid[0] > 0;  // benchmarks' files have none
        return known ? fmt::format("grid {}", fmt::join(kind.grid, "x")) : fmt::format("GPU {}", kind.device);
      },
  };
  const auto uses_of = [&points] {
    std::map<std::string, int> uses;
    for (const Point& point : points) ++uses[point.workload.label];
    return uses;
  };
  for (const Detail detail_of : kDetails) {
    const std::map<std::string, int> uses = uses_of();
    for (Point& point : points) {
      const std::string detail = point.profiled ? detail_of(*point.profiled) : "";
      if (uses.at(point.workload.label) > 1 && !detail.empty()) point.workload.label += ", " + detail;
    }
  }
  const std::map<std::string, int> uses = uses_of();
  std::map<std::string, int> numbers;
  for (Point& point : points) {
    const std::string label = point.workload.label;
    if (uses.at(label) > 1) point.workload.label = fmt::format("{} #{}", label, ++numbers[label]);
  }
}

std::string modes_of(std::vector<double> times) {
  constexpr std::size_t kFewest = 12;
  constexpr double kFarther = 1.3;   // the median of the slower ones, over that of the others
  constexpr double kShare = 0.1;     // of the launches, that either has at least
  constexpr double kSeparation = 3;  // the gap between them, over the spread within
  if (times.size() < kFewest) return {};
  std::sort(times.begin(), times.end());
  const std::size_t least =
      std::max<std::size_t>(3, static_cast<std::size_t>(kShare * static_cast<double>(times.size())));
  std::size_t split = 0;
  double widest = 0;
  for (std::size_t i = least; i + least <= times.size(); ++i) {
    const double gap = times[i] / times[i - 1];
    if (times[i - 1] > 0 && gap > widest) {
      widest = gap;
      split = i;
    }
  }
  if (split == 0) return {};
  const auto at = [&](std::size_t begin, std::size_t end, double share) {
    return times[begin + static_cast<std::size_t>(share * static_cast<double>(end - begin - 1))];
  };
  const double fast = at(0, split, 0.5), slow = at(split, times.size(), 0.5);
  const double spread =
      std::max(at(0, split, 0.75) - at(0, split, 0.25), at(split, times.size(), 0.75) - at(split, times.size(), 0.25));
  if (slow < kFarther * fast || times[split] - times[split - 1] < kSeparation * spread) return {};
  return fmt::format("bimodal: {} launches take {}, {} take {}", count(static_cast<std::int64_t>(split)),
                     duration(fast), count(static_cast<std::int64_t>(times.size() - split)), duration(slow));
}

}  // namespace roofline
