#include "profile/recording.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "measure/statistics.hpp"
#include "profile/recording_builder.hpp"
#include "text/parts.hpp"

namespace roofline {
namespace {

double median_time(const LaunchGroup& group) {
  const std::vector<double>& times = group.times.empty() ? group.counted_times : group.times;
  return times.empty() ? 0 : median(times);
}

/// The work of imported launches, of which one kernel may do different ones: by type, stride or padding.
bool have_same_model(const LaunchGroup& a, const LaunchGroup& b) {
  if (a.model == nullptr || b.model == nullptr) return a.model == b.model;
  const Work &here = a.model->work, &there = b.model->work;
  return here.flops == there.flops &&
         std::ranges::equal(here.bytes, there.bytes, [](const auto& one, const auto& other) {
           return one.first == other.first && one.second.total() == other.second.total();
         });
}

/// Work, which does not depend on what caches hold.
bool counts_operations(std::string_view quantity) {
  return quantity.ends_with("_ops") || starts_with_any(quantity, {"fp64.", "fp32.", "half."});
}

/// True if launches of two groups that differ only in scalar parameters do the same work, by models, times and
/// counters. `a` is not the slower one.
bool make_no_difference(const LaunchGroup& a, const LaunchGroup& b) {
  if (!have_same_model(a, b)) return false;
  constexpr std::size_t kFew = 5;  // launches whose median is uncertain
  const bool few = a.times.size() < kFew || b.times.size() < kFew;
  const double same_time = few ? 1.15 : 1.05;
  constexpr double kSameCount = 1.02;
  const double fast = median_time(a), slow = median_time(b);
  if (fast > 0 && slow > same_time * fast) return false;
  return std::all_of(a.values.begin(), a.values.end(), [&b](const auto& counted) {
    if (!counts_operations(counted.first)) return true;
    const auto other = b.values.find(counted.first);
    if (other == b.values.end()) return true;
    const double here = median(counted.second), there = median(other->second);
    return std::max(here, there) <= kSameCount * std::min(here, there);
  });
}

template <typename List>
void append(List& to, const List& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void join(LaunchGroup& group, const LaunchGroup& other) {
  append(group.times, other.times);
  append(group.counted_times, other.counted_times);
  append(group.missing, other.missing);
  for (const auto& [quantity, samples] : other.values) append(group.values[quantity], samples);
  group.groups_counted.insert(other.groups_counted.begin(), other.groups_counted.end());
  group.total_s += other.total_s;
  group.launches += other.launches;
  group.counted += other.counted;
  if (group.kernel.start == 0) group.kernel = other.kernel;
  if (group.model == nullptr) group.model = other.model;
}

}  // namespace

bool LaunchGroup::complete(const Recording& recording) const {
  const bool never_instrumented = graph() || (kind.flags & spool::kCooperative) != 0;
  const std::size_t wanted = recording.counter_groups - (never_instrumented ? recording.instrumented.size() : 0);
  return wanted > 0 && groups_counted.size() >= wanted;
}

std::optional<std::uint64_t> note_time(const ProcessTrace& trace, spool::NoteCode code) {
  for (const ProcessTrace::Note& note : trace.notes) {
    if (note.code == code) return note.time;
  }
  return std::nullopt;
}

Recording::Recording(const std::vector<ProcessTrace>& all, std::size_t most) : traces(all) {
  add_records(*this, most);
  for (std::size_t i = 0; i < traces.size(); ++i) {
    if (traces[i].counts_only) continue;
    const std::uint64_t begin = note_time(traces[i], spool::NoteCode::window_began).value_or(traces[i].process.start);
    const std::uint64_t stop = note_time(traces[i], spool::NoteCode::window_ended).value_or(traces[i].last_time);
    start = i == 0 ? begin : std::min(start, begin);
    end = std::max(end, stop);
  }
  join_variants();
  std::stable_sort(activities.begin(), activities.end(),
                   [](const Activity& a, const Activity& b) { return a.start < b.start; });
}

// Groups that differ only in scalar parameters become one where neither times nor counters differ.
void Recording::join_variants() {
  std::map<std::string, std::vector<int>> variants;
  for (std::size_t i = 0; i < groups.size(); ++i) variants[groups[i].identity].push_back(static_cast<int>(i));
  std::vector<int> place(groups.size());
  std::vector<LaunchGroup> joined;
  for (auto& [identity, members] : variants) {
    std::stable_sort(members.begin(), members.end(), [this](int a, int b) {
      return median_time(groups[static_cast<std::size_t>(a)]) < median_time(groups[static_cast<std::size_t>(b)]);
    });
    bool first = true;
    for (const int member : members) {
      LaunchGroup& group = groups[static_cast<std::size_t>(member)];
      if (!first && make_no_difference(joined.back(), group)) {
        join(joined.back(), group);
      } else {
        joined.push_back(std::move(group));
      }
      first = false;
      place[static_cast<std::size_t>(member)] = static_cast<int>(joined.size()) - 1;
    }
    if (joined.back().launches == 0) joined.pop_back();  // counted in a later run only
  }
  groups = std::move(joined);
  for (Activity& activity : activities) {
    for (int* group : {&activity.group, &activity.graph}) {
      if (*group >= 0) *group = place[static_cast<std::size_t>(*group)];
    }
  }
}

const spool::Place& Recording::place(const Activity& activity) const {
  const ProcessTrace& trace = traces[static_cast<std::size_t>(activity.process)];
  // The place of a transfer is lost where very many are awaited; that of its call is not.
  const auto of_transfer = [&](spool::Id place) -> const spool::Place& {
    return trace.place(place == 0 && activity.call != nullptr ? activity.call->place : place);
  };
  switch (activity.what) {
    case ActivityKind::copy:
      return of_transfer(trace.copies[activity.index].place);
    case ActivityKind::fill:
      return of_transfer(trace.fills[activity.index].place);
    case ActivityKind::kernel:
      break;
  }
  const spool::Kernel& kernel = trace.kernels[activity.index];
  const spool::Id kind = kernel.kind != 0 ? kernel.kind : activity.launch != nullptr ? activity.launch->kind : 0;
  return trace.place(trace.kind(kind).place);
}

std::vector<spool::Id> range_chain(const ProcessTrace& trace, spool::Id range) {
  std::vector<spool::Id> chain;
  while (range != 0) {
    chain.push_back(range);
    // A parent is defined before its children, so its id is smaller: also in a file that was made to loop.
    const spool::Id parent = trace.range(range).parent;
    range = parent < range ? parent : 0;
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

std::string range_path(const ProcessTrace& trace, spool::Id range) {
  std::string path;
  for (const spool::Id part : range_chain(trace, range)) {
    if (trace.text(trace.range(part).domain) == "NCCL") continue;
    path += (path.empty() ? "" : "/") + std::string(trace.text(trace.range(part).name));
  }
  return path;
}

}  // namespace roofline
