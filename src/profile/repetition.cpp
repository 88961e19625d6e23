// A kind that occurs once in every step (an anchor) cuts the sequence into segments of the same content. Candidates are
// kinds at regular distances; each is judged by how much of the sequence its segments of like content cover.
#include "profile/repetition.hpp"
#include "model/find.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace roofline {
namespace {

using Elements = std::vector<SequenceElement>;
using Positions = std::vector<std::size_t>;

constexpr std::size_t kFewestSegments = 3;
constexpr double kSimilar = 0.8;          // overlap of two contents that count as alike
constexpr double kRegular = 0.25;         // deviation from the median distance
constexpr double kLeastCovered = 1. / 3;  // of the sequence, by repetition
constexpr double kNearBest = 0.6;         // of the best candidate's coverage, for one with more segments
constexpr std::size_t kMostCandidates = 40, kMostOfOneCount = 2;

template <typename Value>
Value middle(std::vector<Value> values) {
  if (values.empty()) return {};
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  return *half;
}

/// Counts the elements of one segment after another by kind, in memory that is allocated once.
class ContentCounter {
 public:
  explicit ContentCounter(std::size_t kinds) : counts_(kinds, 0) {}

  /// Calls `use(kind, count)` for each kind in the segment.
  template <typename Use>
  void count(const Elements& elements, std::size_t begin, std::size_t end, Use&& use) {
    for (std::size_t i = begin; i < end; ++i) {
      if (counts_[elements[i].kind]++ == 0) seen_.push_back(elements[i].kind);
    }
    for (const std::uint32_t kind : seen_) use(kind, std::exchange(counts_[kind], 0));
    seen_.clear();
  }

 private:
  std::vector<std::int64_t> counts_;
  std::vector<std::uint32_t> seen_;
};

std::size_t kinds_of(const Elements& elements) {
  std::uint32_t most = 0;
  for (const SequenceElement& element : elements) most = std::max(most, element.kind);
  return std::size_t{most} + 1;
}

/// Common content of segments: the median count of each kind.
struct Typical {
  std::vector<std::int64_t> counts;  ///< by kind
  std::int64_t elements = 0;
};

Typical typical_of(const Elements& elements, const Positions& begins, std::size_t kinds) {
  std::vector<std::vector<std::int64_t>> counts(kinds);
  ContentCounter counter(kinds);
  const std::size_t segments = begins.size() - 1;
  for (std::size_t i = 0; i < segments; ++i) {
    counter.count(elements, begins[i], begins[i + 1],
                  [&](std::uint32_t kind, std::int64_t count) { counts[kind].push_back(count); });
  }
  Typical typical = {std::vector<std::int64_t>(kinds, 0), 0};
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    if (2 * counts[kind].size() <= segments) continue;
    counts[kind].resize(segments, 0);
    typical.counts[kind] = middle(std::move(counts[kind]));
    typical.elements += typical.counts[kind];
  }
  return typical;
}

/// Numbers of elements in a segment.
struct SegmentContent {
  std::int64_t shared = 0;  ///< typical ones
  std::int64_t others = 0;  ///< not typical, and no copies
};

std::vector<SegmentContent> contents_of(const Typical& typical, const Elements& elements, const Positions& begins) {
  std::vector<bool> copies(typical.counts.size(), false);
  for (const SequenceElement& element : elements) copies[element.kind] = element.copy;
  ContentCounter counter(typical.counts.size());
  std::vector<SegmentContent> contents(begins.size() - 1);
  for (std::size_t i = 0; i < contents.size(); ++i) {
    counter.count(elements, begins[i], begins[i + 1], [&](std::uint32_t kind, std::int64_t count) {
      const std::int64_t shared = std::min(count, typical.counts[kind]);
      contents[i].shared += shared;
      if (!copies[kind]) contents[i].others += count - shared;
    });
  }
  return contents;
}

/// The occurrences of a kind as beginnings of steps.
struct Candidate {
  Positions begins;
  double regular = 0;     ///< share of the sequence in distances near the median one
  double covered = 0;     ///< share of the sequence, by elements or by time, in segments of like content
  double updated = 0;     ///< share of those segments with an update of parameters
  std::size_t alike = 0;  ///< segments of like content
  Typical typical = {};
};

/// The distances of a kind's occurrences, before their contents are looked at.
double regular_share(const Positions& at, std::size_t all) {
  std::vector<std::size_t> distances;
  for (std::size_t i = 1; i < at.size(); ++i) distances.push_back(at[i] - at[i - 1]);
  const auto typical = static_cast<double>(middle(distances));
  double sum = 0;
  for (const std::size_t distance : distances) {
    const auto length = static_cast<double>(distance);
    if (std::abs(length - typical) <= std::max(1.0, kRegular * typical)) sum += length;
  }
  return sum / static_cast<double>(all);
}

/// Adds the beginnings of rows: in a loop that launches each of its kernels several times in a row, no kernel occurs
/// once per step, but a row of each does. Kinds that are mostly in no row have none.
void add_first_of_rows(const Elements& elements, std::vector<Positions>& occurrences) {
  constexpr std::size_t kMeanRow = 2;
  struct Rows {
    std::size_t all = 0;
    Positions first;
  };
  std::map<std::uint32_t, Rows> rows;
  const SequenceElement* last = nullptr;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (elements[i].aside) continue;
    Rows& of = rows[elements[i].kind];
    ++of.all;
    if (last == nullptr || last->kind != elements[i].kind) of.first.push_back(i);
    last = &elements[i];
  }
  for (auto& [kind, of] : rows) {
    if (of.all >= kMeanRow * of.first.size()) occurrences.push_back(std::move(of.first));
  }
}

/// Kinds at regular distances, few of each number of occurrences: they are anchors of one repetition.
std::vector<Candidate> candidates_of(const Elements& elements) {
  std::vector<Positions> occurrences;
  const auto add_occurrences = [&](std::uint32_t SequenceElement::*kind) {
    const std::size_t first = occurrences.size();
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (elements[i].aside) continue;
      const std::size_t index = first + elements[i].*kind;
      if (index >= occurrences.size()) occurrences.resize(index + 1);
      occurrences[index].push_back(i);
    }
  };
  add_occurrences(&SequenceElement::kind);
  add_occurrences(&SequenceElement::exact);
  add_first_of_rows(elements, occurrences);
  std::map<int, std::vector<Candidate>> by_count;
  for (Positions& at : occurrences) {
    if (at.size() <= kFewestSegments) continue;
    const double regular = regular_share(at, elements.size());
    std::vector<Candidate>& like = by_count[static_cast<int>(std::log(static_cast<double>(at.size())) * 20)];
    like.push_back({.begins = std::move(at), .regular = regular});
    std::stable_sort(like.begin(), like.end(),
                     [](const Candidate& a, const Candidate& b) { return a.regular > b.regular; });
    if (like.size() > kMostOfOneCount) like.pop_back();
  }
  std::vector<Candidate> all;
  for (auto& [count, like] : by_count) std::move(like.begin(), like.end(), std::back_inserter(all));
  std::stable_sort(all.begin(), all.end(),
                   [](const Candidate& a, const Candidate& b) { return a.regular > b.regular; });
  if (all.size() > kMostCandidates) all.resize(kMostCandidates);
  return all;
}

/// Number of parameter updates before each element, and in total.
std::vector<std::size_t> updates_before(const Elements& elements) {
  std::vector<std::size_t> updates(elements.size() + 1, 0);
  for (std::size_t i = 0; i < elements.size(); ++i) updates[i + 1] = updates[i] + (elements[i].update ? 1 : 0);
  return updates;
}

/// Mean GPU time by kind, ns.
std::vector<double> mean_gpu_times(const Elements& elements, std::size_t kinds) {
  std::vector<double> times(kinds, 0);
  std::vector<double> numbers(kinds, 0);
  for (const SequenceElement& element : elements) {
    times[element.kind] += static_cast<double>(element.on_gpu);
    ++numbers[element.kind];
  }
  for (std::size_t kind = 0; kind < kinds; ++kind) times[kind] /= std::max(1.0, numbers[kind]);
  return times;
}

void judge(Candidate& candidate, const Elements& elements, std::size_t kinds, const std::vector<std::size_t>& updates) {
  const Positions& begins = candidate.begins;
  candidate.typical = typical_of(elements, begins, kinds);
  const Typical& typical = candidate.typical;
  const std::vector<SegmentContent> contents = contents_of(typical, elements, begins);
  const auto whole_ns = static_cast<double>(elements.back().time - elements.front().time);
  double covered = 0, covered_ns = 0;
  std::size_t updated = 0;
  for (std::size_t i = 0; i < contents.size(); ++i) {
    const auto length = static_cast<double>(begins[i + 1] - begins[i]);
    const auto overlap = static_cast<double>(contents[i].shared);
    if (overlap < kSimilar * (length + static_cast<double>(typical.elements) - overlap)) continue;
    ++candidate.alike;
    covered += length;
    covered_ns += static_cast<double>(elements[begins[i + 1]].time - elements[begins[i]].time);
    updated += updates[begins[i + 1]] > updates[begins[i]] ? 1 : 0;
  }
  candidate.covered =
      std::max(covered / static_cast<double>(elements.size()), whole_ns > 0 ? covered_ns / whole_ns : 0.0);
  if (candidate.alike > 0) candidate.updated = static_cast<double>(updated) / static_cast<double>(candidate.alike);
}

double median_ns(const Candidate& candidate, const Elements& elements) {
  std::vector<std::uint64_t> lengths;
  for (std::size_t i = 1; i < candidate.begins.size(); ++i) {
    lengths.push_back(elements[candidate.begins[i]].time - elements[candidate.begins[i - 1]].time);
  }
  return static_cast<double>(middle(std::move(lengths)));
}

/// Content of an outer segment beyond its inner ones: fraction of its elements, or of their GPU time.
struct Besides {
  double elements = 0, gpu_time = 0;
};

Besides besides(const Typical& outer, const Typical& inner, std::size_t number, const std::vector<double>& gpu_times) {
  double time = 0, of_others = 0;
  for (std::size_t kind = 0; kind < outer.counts.size(); ++kind) {
    const std::int64_t others = outer.counts[kind] - static_cast<std::int64_t>(number) * inner.counts[kind];
    time += static_cast<double>(outer.counts[kind]) * gpu_times[kind];
    of_others += static_cast<double>(std::max<std::int64_t>(0, others)) * gpu_times[kind];
  }
  const double of_inner = static_cast<double>(number) * static_cast<double>(inner.elements);
  return {1 - of_inner / static_cast<double>(std::max<std::int64_t>(1, outer.elements)),
          time > 0 ? of_others / time : 0};
}

/// True if `outer` is a constant number of repetitions of `inner` plus something else: then the outer segment is the
/// step. A line logged every ten steps is too little, an evaluation between epochs too rare.
bool encloses(const Candidate& outer, const Candidate& inner, const Elements& elements,
              const std::vector<double>& gpu_times) {
  constexpr double kConstant = 0.8;               // of the outer segments have the same number of inner ones
  constexpr double kShortNs = 1e6;                // a loop of less is a part of a step
  constexpr double kLittle = 0.01, kSome = 0.05;  // of the outer segment, that is not the inner one
  constexpr std::size_t kFewInner = 16, kManyOuter = 10;
  std::map<std::size_t, std::size_t> numbers;
  auto at = inner.begins.begin();
  for (std::size_t i = 0; i + 1 < outer.begins.size(); ++i) {
    at = std::lower_bound(at, inner.begins.end(), outer.begins[i]);
    const auto end = std::lower_bound(at, inner.begins.end(), outer.begins[i + 1]);
    ++numbers[static_cast<std::size_t>(end - at)];
  }
  const auto usual = *largest_entry(numbers);
  const std::size_t outer_count = outer.begins.size() - 1;
  if (usual.first < 2 || static_cast<double>(usual.second) < kConstant * static_cast<double>(outer_count)) return false;
  const Besides rest = besides(outer.typical, inner.typical, usual.first, gpu_times);
  // A graph is one element, and may be most of the work.
  if (median_ns(inner, elements) < kShortNs) return rest.elements >= kLittle || rest.gpu_time >= kSome;
  const bool work = outer_count >= kManyOuter && rest.gpu_time >= kSome;
  return rest.elements >= kSome && (usual.first <= kFewInner || work);
}

/// The anchor of the same repetition that the host pauses longest before: where its loop begins.
Positions aligned(const Elements& elements, const Segments& segments) {
  std::map<std::uint32_t, std::vector<std::uint64_t>> pauses;
  std::size_t steady = 0;
  for (std::size_t i = 0; i < segments.steady.size(); ++i) {
    if (!segments.steady[i]) continue;
    ++steady;
    std::map<std::uint32_t, std::pair<std::size_t, std::uint64_t>> here;
    for (std::size_t k = segments.begins[i]; k < segments.begins[i + 1]; ++k) {
      if (elements[k].aside) continue;
      auto& [times, pause] = here[elements[k].exact];
      ++times;
      pause = elements[k].pause;
    }
    for (const auto& [kind, found] : here) {
      if (found.first == 1) pauses[kind].push_back(found.second);
    }
  }
  std::uint64_t longest = 0;
  std::optional<std::uint32_t> best;
  for (const auto& [kind, of] : pauses) {
    if (10 * of.size() < 9 * steady) continue;
    const std::uint64_t pause = middle(of);
    if (!best || pause > longest) {
      longest = pause;
      best = kind;
    }
  }
  if (!best) return segments.begins;
  Positions begins;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (elements[i].exact == *best) begins.push_back(i);
  }
  return begins;
}

/// True if `fewer` has the content and nearly the coverage of `all` at some of its beginnings: what begins at the
/// others is short, such as the graphs that a compiler tries before those of the steps.
bool suffices(const Candidate& fewer, const Candidate& all) {
  constexpr double kNearly = 0.95;
  return fewer.begins.size() < all.begins.size() && fewer.typical.counts == all.typical.counts &&
         fewer.covered >= kNearly * all.covered && std::ranges::includes(all.begins, fewer.begins);
}

std::size_t steady_count(const Segments& segments) {
  return static_cast<std::size_t>(std::count(segments.steady.begin(), segments.steady.end(), true));
}

}  // namespace

Segments segments_at(const Elements& elements, Positions begins, const RepetitionTolerance& tolerance) {
  Segments segments = {.begins = std::move(begins), .steady = {}};
  if (segments.begins.size() < 2) return segments;
  const Typical typical = typical_of(elements, segments.begins, kinds_of(elements));
  constexpr double kAlways = 2;  // elements more, also of a step of one launch
  const auto usual = static_cast<double>(typical.elements);
  for (const SegmentContent& content : contents_of(typical, elements, segments.begins)) {
    const auto shared = static_cast<double>(content.shared);
    segments.steady.push_back(usual > 0 && shared >= tolerance.contained * usual &&
                              shared + static_cast<double>(content.others) <= tolerance.longest * usual + kAlways);
  }
  return segments;
}

std::optional<Segments> find_repetition(const Elements& elements) {
  if (elements.size() <= kFewestSegments) return std::nullopt;
  const std::size_t kinds = kinds_of(elements);
  std::vector<Candidate> all = candidates_of(elements);
  const std::vector<std::size_t> before = updates_before(elements);
  for (Candidate& candidate : all) judge(candidate, elements, kinds, before);
  std::erase_if(all, [](const Candidate& candidate) {
    return candidate.covered < kLeastCovered || candidate.alike < kFewestSegments;
  });
  // A step of a training program has an update.
  constexpr double kNearlyAll = 0.9;
  const auto updates = [](const Candidate& candidate) { return candidate.updated >= kNearlyAll; };
  const bool training = std::any_of(all.begin(), all.end(), updates);
  if (training) std::erase_if(all, [&](const Candidate& candidate) { return !updates(candidate); });
  if (all.empty()) return std::nullopt;

  double best = 0;
  for (const Candidate& candidate : all) best = std::max(best, candidate.covered);
  std::erase_if(all, [best](const Candidate& candidate) { return candidate.covered < kNearBest * best; });
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return a.alike != b.alike ? a.alike > b.alike : a.covered > b.covered;
  });
  const auto sufficing = std::ranges::find_if(all, [&](const Candidate& of) { return suffices(of, all.front()); });
  const Candidate* step = sufficing != all.end() ? &*sufficing : &all.front();
  const std::vector<double> gpu_times = mean_gpu_times(elements, kinds);
  for (const Candidate& outer : all) {
    if (!training && outer.begins.size() < step->begins.size() && encloses(outer, *step, elements, gpu_times))
      step = &outer;
  }
  const Segments found = segments_at(elements, step->begins);
  Segments moved = segments_at(elements, aligned(elements, found));
  constexpr std::size_t kLostAtAnEnd = 1;
  if (steady_count(moved) + kLostAtAnEnd < steady_count(found)) moved = found;
  moved.by_update = training;
  return moved;
}

}  // namespace roofline
