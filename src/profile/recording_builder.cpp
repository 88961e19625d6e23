#include "profile/recording_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <set>
#include <unordered_map>
#include <utility>

#include "profile/intervals.hpp"
#include "text/block_names.hpp"

namespace roofline {
namespace {

/// The groups with the least time, where there are too many. Keys are known by their hashes, which need less memory:
/// two with one hash are folded or kept together.
class Folding {
 public:
  void add_time(const std::string& key, double time) { times_[std::hash<std::string>()(key)] += time; }

  /// Chooses what is folded, so that `most` remain.
  void choose(std::size_t most) {
    if (times_.size() > most) {
      std::vector<std::pair<double, std::size_t>> order;
      for (const auto& [key, time] : times_) order.emplace_back(time, key);
      const auto kept = order.end() - static_cast<std::ptrdiff_t>(most);
      std::nth_element(order.begin(), kept, order.end());
      for (auto least = order.begin(); least != kept; ++least) counted_[least->second] = false;
    }
    times_.clear();
  }

  bool folds(const std::string& key) const { return counted_.contains(std::hash<std::string>()(key)); }
  /// 1 for a group that is folded, the first time; then 0.
  int count(const std::string& key) { return std::exchange(counted_.at(std::hash<std::string>()(key)), true) ? 0 : 1; }

 private:
  std::unordered_map<std::size_t, double> times_;
  std::unordered_map<std::size_t, bool> counted_;
};

/// What the processes share.
struct SharedGroups {
  std::map<std::string, int> by_key;  ///< indices into Recording::groups
  Folding folding;
};

/// Adds the records of one process to the recording.
class RecordingBuilder {
 public:
  RecordingBuilder(Recording& recording, int process, SharedGroups& shared)
      : recording_(recording),
        shared_(shared),
        trace_(recording.traces[static_cast<std::size_t>(process)]),
        process_(process) {
    for (const spool::Device& device : trace_.devices) devices_[device.index] = seen(device);
    for (const spool::Launch& launch : trace_.launches) launches_[launch.correlation] = &launch;
    for (const spool::Call& call : trace_.calls) calls_[call.correlation] = &call;
    for (const auto& counts : trace_.counts) counted_.insert(counts.about.correlation);
  }

  /// Adds up the time of each group, and makes none.
  void take_times() {
    std::map<std::pair<spool::Id, int>, double> times;
    for (const spool::Kernel& kernel : trace_.kernels) {
      const bool timed = kernel.start != 0 && kernel.end != 0;
      const spool::Id kind = kind_of(kernel, find(launches_, kernel.correlation));
      times[{kind, device(kernel.device)}] += timed ? seconds(kernel.end - kernel.start) : 0;
    }
    for (const auto& [of, time] : times) shared_.folding.add_time(key_of(new_group(of.first, of.second)), time);
  }

  void take() {
    for (std::size_t i = 0; i < trace_.kernels.size(); ++i) take_kernel(i);
    take_transfers(trace_.copies, ActivityKind::copy);
    take_transfers(trace_.fills, ActivityKind::fill);
    take_graphs();
    take_counts();
  }

 private:
  int seen(const spool::Device& device) {
    for (std::size_t i = 0; i < recording_.devices.size(); ++i) {
      if (std::memcmp(recording_.devices[i].about.uuid, device.uuid, sizeof device.uuid) == 0) {
        if (recording_.devices[i].chip.empty()) recording_.devices[i].chip = trace_.text(device.chip);
        return static_cast<int>(i);
      }
    }
    recording_.devices.push_back(
        {device, std::string(trace_.text(device.name)), std::string(trace_.text(device.chip))});
    return static_cast<int>(recording_.devices.size()) - 1;
  }

  /// A device without a description record still gets an entry.
  int device(std::uint32_t index) {
    const auto found = devices_.find(index);
    if (found != devices_.end()) return found->second;
    spool::Device unknown = {};
    unknown.index = index;
    return devices_[index] = seen(unknown);
  }

  static spool::Id kind_of(const spool::Kernel& kernel, const spool::Launch* launch) {
    return kernel.kind != 0 ? kernel.kind : launch != nullptr ? launch->kind : 0;
  }

  template <typename Map>
  static auto find(const Map& map, std::uint32_t correlation) -> typename Map::mapped_type {
    const auto found = map.find(correlation);
    return found == map.end() ? nullptr : found->second;
  }

  /// The group of that signature; a new one where none matches.
  int group_of(spool::Id id, int device) {
    const auto known = groups_.find({id, device});
    if (known != groups_.end()) return known->second;
    LaunchGroup group = new_group(id, device);
    std::string key = key_of(group);
    int folded = 0;
    const bool folds = shared_.folding.folds(key);
    if (folds) {
      folded = shared_.folding.count(key);
      group = group_of_others(group);
      key = group.identity;
    }
    const auto [alike, is_new] = shared_.by_key.try_emplace(key, static_cast<int>(recording_.groups.size()));
    if (is_new) recording_.groups.push_back(std::move(group));
    recording_.groups[static_cast<std::size_t>(alike->second)].folded += folded;
    return groups_[{id, device}] = alike->second;
  }

  LaunchGroup new_group(spool::Id id, int device) const {
    const spool::Kind& kind = trace_.kind(id);
    const spool::Place& place = trace_.place(kind.place);
    LaunchGroup group;
    group.process = process_;
    group.kind = kind;
    group.device = device;
    group.symbol = trace_.text(kind.name);
    group.module = any_block(trace_.text(place.module));
    group.range = without_numbers(range_path(trace_, place.range));
    group.identity = identity_of(group, place);
    const auto model = trace_.models.find(id);
    if (model != trace_.models.end()) group.model = &model->second;
    return group;
  }

  static std::string key_of(const LaunchGroup& group) {
    return fmt::format("{}|{:x}", group.identity, group.kind.scalars);
  }

  /// The one that this one is folded into: without what its launches don't share.
  LaunchGroup group_of_others(const LaunchGroup& group) const {
    LaunchGroup others;
    others.process = process_;
    others.kind.flags = group.kind.flags & spool::kInGraph;
    others.device = group.device;
    others.identity =
        fmt::format("others|{}|{}", others.kind.flags, recording_.devices[static_cast<std::size_t>(group.device)].name);
    others.missing = {"several kernels in one row"};
    return others;
  }

  std::string identity_of(const LaunchGroup& group, const spool::Place& place) const {
    const spool::Line& line = trace_.line(place.line);
    constexpr std::uint32_t kOriginFlags = spool::kInGraph | spool::kGraph;
    return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}:{}|{}|{}|{}", group.symbol, fmt::join(group.kind.grid, "x"),
                       fmt::join(group.kind.block, "x"), fmt::join(group.kind.cluster, "x"), group.kind.dynamic_shared,
                       group.kind.flags & kOriginFlags, group.module, group.range, trace_.text(line.file), line.number,
                       place.backward, trace_.text(place.operation),
                       recording_.devices[static_cast<std::size_t>(group.device)].name);
  }

  void take_kernel(std::size_t index) {
    const spool::Kernel& kernel = trace_.kernels[index];
    const spool::Launch* launch = find(launches_, kernel.correlation);
    Activity activity;
    activity.start = kernel.start;
    activity.end = kernel.end;
    activity.device = device(kernel.device);
    activity.process = process_;
    activity.stream = kernel.stream;
    activity.index = index;
    activity.launch = launch;
    activity.counted = launch != nullptr && (launch->flags & spool::kCounted) != 0;
    activity.group = group_of(kind_of(kernel, launch), activity.device);
    LaunchGroup& group = recording_.groups[static_cast<std::size_t>(activity.group)];
    if (group.launches == 0 && group.folded == 0) group.kernel = kernel;
    ++group.launches;
    if (kernel.start == 0 || kernel.end == 0) return;  // its time was not recorded
    add_time(group, seconds(kernel.end - kernel.start), activity.counted);
    if (kernel.graph != 0) graphs_[kernel.correlation].push_back(recording_.activities.size());
    recording_.activities.push_back(activity);
  }

  static void add_time(LaunchGroup& group, double time, bool counted) {
    (counted ? group.counted_times : group.times).push_back(time);
    group.total_s += time;
  }

  template <typename Record>
  void take_transfers(const std::vector<Record>& records, ActivityKind what) {
    for (std::size_t i = 0; i < records.size(); ++i) {
      const Record& record = records[i];
      if (record.start == 0 || record.end == 0) continue;
      Activity activity;
      activity.start = record.start;
      activity.end = record.end;
      activity.what = what;
      activity.device = device(record.device);
      activity.process = process_;
      activity.stream = record.stream;
      activity.index = i;
      activity.call = find(calls_, record.correlation);
      recording_.activities.push_back(activity);
    }
  }

  /// A launch of a graph lasts from its first kernel's start to its last one's end.
  void take_graphs() {
    for (const auto& [correlation, kernels] : graphs_) {
      const spool::Launch* launch = find(launches_, correlation);
      if (launch == nullptr) continue;
      std::uint64_t start = std::numeric_limits<std::uint64_t>::max(), end = 0;
      const int index = group_of(launch->kind, recording_.activities[kernels.front()].device);
      for (const std::size_t kernel : kernels) {
        Activity& activity = recording_.activities[kernel];
        start = std::min(start, activity.start);
        end = std::max(end, activity.end);
        activity.graph = index;
      }
      LaunchGroup& group = recording_.groups[static_cast<std::size_t>(index)];
      ++group.launches;
      add_time(group, seconds(end - start), (launch->flags & spool::kCounted) != 0);
    }
  }

  void take_counts() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> quantities;
    for (const spool::Metric& metric : trace_.metrics) {
      const std::string quantity(trace_.text(metric.quantity));
      if (metric.name == 0) {
        recording_.absent.emplace(quantity, "this chip has no such counter");
        continue;
      }
      quantities[{metric.group, metric.index}] = quantity;
      const bool instrumented = trace_.text(metric.name).find("_sass_") != std::string_view::npos;
      if (instrumented) recording_.instrumented.insert(metric.group);
      recording_.counter_groups = std::max<std::size_t>(recording_.counter_groups, metric.group + 1);
    }
    for (const auto& counts : trace_.counts) {
      LaunchGroup* group = counted_group(counts.about.kind);
      if (group == nullptr) continue;
      for (std::size_t i = 0; i < counts.values.size(); ++i) {
        const auto quantity = quantities.find({counts.about.group, static_cast<std::uint32_t>(i)});
        if (quantity != quantities.end()) group->values[quantity->second].push_back(counts.values[i]);
      }
      ++group->counted;
      group->groups_counted.insert(counts.about.group);
    }
    for (const spool::Uncounted& uncounted : trace_.uncounted) {
      const std::string reason(trace_.text(uncounted.reason));
      counted_group(uncounted.kind);  // of a trace of counts alone: now it is there
      // On each of the devices that it ran on.
      for (auto found = groups_.lower_bound({uncounted.kind, 0});
           found != groups_.end() && found->first.first == uncounted.kind; ++found) {
        LaunchGroup& group = recording_.groups[static_cast<std::size_t>(found->second)];
        const bool known = std::find(group.missing.begin(), group.missing.end(), reason) != group.missing.end();
        if (group.folded == 0 && !known) group.missing.push_back(reason);
      }
    }
  }

  /// The group of the launches of this signature; null if none was recorded, or if it also has others.
  LaunchGroup* counted_group(spool::Id kind) {
    int index = -1;
    if (trace_.counts_only) {
      index = group_of(kind, 0);
    } else if (const auto found = groups_.lower_bound({kind, 0});
               found != groups_.end() && found->first.first == kind) {
      index = found->second;
    }
    if (index < 0 || recording_.groups[static_cast<std::size_t>(index)].folded > 0) return nullptr;
    return &recording_.groups[static_cast<std::size_t>(index)];
  }

  Recording& recording_;
  SharedGroups& shared_;
  const ProcessTrace& trace_;
  int process_;
  std::map<std::uint32_t, int> devices_;
  std::unordered_map<std::uint32_t, const spool::Launch*> launches_;
  std::unordered_map<std::uint32_t, const spool::Call*> calls_;
  std::set<std::uint32_t> counted_;
  std::map<std::pair<spool::Id, int>, int> groups_;
  std::map<std::uint32_t, std::vector<std::size_t>> graphs_;  ///< activities, by the correlation of their launch
};

}  // namespace

void add_records(Recording& recording, std::size_t most) {
  SharedGroups shared;
  std::size_t signatures = 0, models = 1;
  for (const ProcessTrace& trace : recording.traces) {
    signatures += trace.kinds.size();
    models += trace.devices.size();
  }
  const int processes = static_cast<int>(recording.traces.size());
  if (signatures * models > most) {
    for (int i = 0; i < processes; ++i) RecordingBuilder(recording, i, shared).take_times();
    shared.folding.choose(most);
  }
  for (int i = 0; i < processes; ++i) RecordingBuilder(recording, i, shared).take();
  for (LaunchGroup& group : recording.groups) {
    if (group.folded > 0) group.symbol = fmt::format("other kernels ({})", group.folded);
  }
}

}  // namespace roofline
