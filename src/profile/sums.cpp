#include "profile/sums.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "model/find.hpp"
#include "profile/intervals.hpp"
#include "profile/rows.hpp"

namespace roofline {
namespace {

double duration_of(const Activity& activity) { return seconds(activity.end - activity.start); }

template <typename Sum>
void largest_first(std::vector<Sum>& sums) {
  std::stable_sort(sums.begin(), sums.end(), [](const Sum& a, const Sum& b) { return a.total_s > b.total_s; });
}

CopyMemory memory_of(spool::Memory memory) {
  switch (memory) {
    case spool::Memory::pageable:
      return CopyMemory::pageable;
    case spool::Memory::pinned:
      return CopyMemory::pinned;
    case spool::Memory::device:
      return CopyMemory::device;
    case spool::Memory::array:
      return CopyMemory::array;
    case spool::Memory::managed:
      return CopyMemory::managed;
    case spool::Memory::host:
      break;  // copy_path() knows
    case spool::Memory::migrating:
      return CopyMemory::unified;
    case spool::Memory::unknown:
      break;
  }
  return CopyMemory::unknown;
}

bool on_host(CopyMemory memory) {
  return memory == CopyMemory::pageable || memory == CopyMemory::pinned || memory == CopyMemory::unified;
}

/// The roof of such copies. Pageable copies have the same one, because pinned memory would reach it.
const Ceiling* roof_of(CopyDirection direction, const Machine& machine) {
  switch (direction) {
    case CopyDirection::host_to_device:
      return machine.find("pcie.h2d");
    case CopyDirection::device_to_host:
      return machine.find("pcie.d2h");
    case CopyDirection::device_to_peer:
      return machine.find("nvlink.write");
    case CopyDirection::device_to_device:
      return machine.find("hbm.copy");
    case CopyDirection::memset:
      return machine.find("hbm.write");
    case CopyDirection::host_to_host:
    case CopyDirection::other:
      break;
  }
  return nullptr;
}

/// A tree that grows by paths.
class Tree {
 public:
  /// The node of that name below `parent`.
  int child(int parent, const std::string& name) {
    const auto [found, is_new] = index_.try_emplace({parent, name}, static_cast<int>(nodes_.size()));
    if (is_new) nodes_.push_back({.name = name, .parent = parent});
    return found->second;
  }

  TreeSum& operator[](int node) { return nodes_[static_cast<std::size_t>(node)]; }

  /// Adds a launch to a node and to all above it.
  void add(int node, double time, bool backward) {
    if (node < 0) return;
    (*this)[node].self_s += time;
    for (; node >= 0; node = (*this)[node].parent) {
      TreeSum& sum = (*this)[node];
      ++sum.launches;
      sum.total_s += time;
      if (backward) sum.backward_s += time;
    }
  }

  std::vector<TreeSum> take() { return std::move(nodes_); }

 private:
  std::map<std::pair<int, std::string>, int> index_;
  std::vector<TreeSum> nodes_;
};

int range_node(Tree& tree, const ProcessTrace& trace, spool::Id id) {
  int node = -1;
  for (const spool::Id part : range_chain(trace, id)) {
    node = tree.child(node, std::string(trace.text(trace.range(part).name)));
  }
  return node;
}

int module_node(Tree& tree, std::string_view path) {
  int node = -1;
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('.'));
    node = tree.child(node, std::string(part));
    path.remove_prefix(std::min(part.size() + 1, path.size()));
  }
  return node;
}

/// `add` is called with each kernel and the place that it was launched from.
template <typename Add>
void for_each_kernel(const Recording& recording, Add&& add) {
  for (const Activity& activity : recording.activities) {
    if (activity.what != ActivityKind::kernel) continue;
    add(activity, recording.traces[static_cast<std::size_t>(activity.process)], recording.place(activity));
  }
}

}  // namespace

CopyPath copy_path(const spool::Copy& copy) {
  const CopyMemory from = memory_of(copy.from), to = memory_of(copy.to);
  if (copy.peer != copy.device) return {.direction = CopyDirection::device_to_peer};
  const bool from_host = on_host(from) || copy.from == spool::Memory::host;
  const bool to_host = on_host(to) || copy.to == spool::Memory::host;
  if (from_host && to_host) return {.direction = CopyDirection::host_to_host};
  if (from_host) return {.direction = CopyDirection::host_to_device, .from = from};
  if (to_host) return {.direction = CopyDirection::device_to_host, .to = to};
  if (from == CopyMemory::device && to == CopyMemory::device) return {.direction = CopyDirection::device_to_device};
  return {.direction = CopyDirection::other, .from = from, .to = to};
}

std::vector<CallSum> sum_calls(const Recording& recording) {
  std::map<std::string, std::vector<double>, std::less<>> times;
  for (const ProcessTrace& trace : recording.traces) {
    for (const spool::Call& call : trace.calls) {
      times[std::string(trace.text(call.name))].push_back(seconds(call.end - call.start));
    }
    for (const spool::Launch& launch : trace.launches) {
      if ((launch.flags & spool::kCounted) != 0) continue;
      const bool graph = (trace.kind(launch.kind).flags & spool::kGraph) != 0;
      times[graph ? "graph launch" : "kernel launch"].push_back(seconds(launch.end - launch.start));
    }
  }
  std::vector<CallSum> sums;
  for (auto& [name, of] : times) {
    std::sort(of.begin(), of.end());
    CallSum sum = {.name = name, .calls = static_cast<std::int64_t>(of.size())};
    for (const double time : of) sum.total_s += time;
    sum.median_s = of[of.size() / 2];
    sum.max_s = of.back();
    sums.push_back(std::move(sum));
  }
  largest_first(sums);
  return sums;
}

std::vector<CopySum> sum_copies(const Recording& recording, const Machine& machine, const std::vector<Span>& within) {
  using Key = std::pair<CopyPath, bool>;  // size known: a rate is of bytes and of the time of these copies alone
  std::map<Key, CopySum> sums;
  std::map<Key, std::map<std::string, double>> lines;
  Within is_within(within);
  for (const Activity& activity : recording.activities) {
    if (activity.what == ActivityKind::kernel) continue;
    if (!is_within(activity.start)) continue;
    const ProcessTrace& trace = recording.traces[static_cast<std::size_t>(activity.process)];
    const bool copy = activity.what == ActivityKind::copy;
    const CopyPath path = copy ? copy_path(trace.copies[activity.index]) : CopyPath{.direction = CopyDirection::memset};
    const std::uint64_t bytes = copy ? trace.copies[activity.index].bytes : trace.fills[activity.index].bytes;
    const Key key = {path, bytes > 0};
    CopySum& sum = sums[key];
    sum.path = path;
    ++sum.copies;
    sum.bytes += static_cast<double>(bytes);
    sum.total_s += duration_of(activity);
    lines[key][line_text(trace, recording.place(activity).line)] += duration_of(activity);
  }
  std::vector<CopySum> list;
  for (auto& [key, sum] : sums) {
    sum.line = key_of_largest(lines[key]);
    if (const Ceiling* roof = key.second ? roof_of(sum.path.direction, machine) : nullptr) {
      sum.roof = roof->name;
      sum.roof_bytes_per_s = roof->value;
    }
    list.push_back(sum);
  }
  largest_first(list);
  return list;
}

std::vector<TreeSum> sum_ranges(const Recording& recording) {
  Tree tree;
  std::map<int, std::vector<Span>> spans;  // of several threads, or of a function that calls itself: each moment once
  for (const ProcessTrace& trace : recording.traces) {
    for (const spool::RangeTime& time : trace.range_times) {
      const int node = range_node(tree, trace, time.range);
      if (node >= 0) spans[node].push_back({time.start, time.end});
    }
  }
  for (auto& [node, times] : spans) tree[node].wall_s = seconds(total_length(covered(std::move(times))));
  for_each_kernel(recording, [&](const Activity& kernel, const ProcessTrace& trace, const spool::Place& place) {
    tree.add(range_node(tree, trace, place.range), duration_of(kernel), place.backward != 0);
  });
  return tree.take();
}

std::vector<TreeSum> sum_modules(const Recording& recording) {
  Tree tree;
  for_each_kernel(recording, [&](const Activity& kernel, const ProcessTrace& trace, const spool::Place& place) {
    tree.add(module_node(tree, trace.text(place.module)), duration_of(kernel), place.backward != 0);
  });
  return tree.take();
}

std::vector<LineSum> sum_lines(const Recording& recording, const std::string& folder) {
  std::map<std::tuple<std::string, std::uint32_t, std::string>, LineSum> sums;
  for_each_kernel(recording, [&](const Activity& kernel, const ProcessTrace& trace, const spool::Place& place) {
    const spool::Line& line = trace.line(place.line);
    if (line.id == 0 || line.number == 0) return;  // of native code, the function alone may be known
    std::string_view file = trace.text(line.file);
    if (!folder.empty() && file.starts_with(folder + "/")) file.remove_prefix(folder.size() + 1);
    LineSum& sum = sums[{std::string(file), line.number, std::string(trace.text(line.function))}];
    sum.file = file;
    sum.function = trace.text(line.function);
    sum.number = static_cast<int>(line.number);
    ++sum.launches;
    sum.total_s += duration_of(kernel);
    if (place.backward != 0) sum.backward_s += duration_of(kernel);
  });
  std::vector<LineSum> list;
  for (auto& [key, sum] : sums) list.push_back(std::move(sum));
  largest_first(list);
  return list;
}

double kernel_seconds(const Recording& recording) {
  double sum = 0;
  for (const Activity& activity : recording.activities) {
    if (activity.what == ActivityKind::kernel) sum += duration_of(activity);
  }
  return sum;
}

}  // namespace roofline
