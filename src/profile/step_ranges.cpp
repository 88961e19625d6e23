#include "profile/step_ranges.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "profile/intervals.hpp"
#include "profile/recording.hpp"
#include "text/block_names.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

/// Ranges of one name, by start; none begins before the one before it has ended.
struct RangeInstances {
  std::vector<Span> spans;
  std::size_t depth = 0;  ///< ranges around it
};

bool is_named(std::string_view path, const std::string& wanted) {
  const std::string plain = without_numbers(wanted);
  return path == plain || last_path_part(path) == plain;
}

/// True if one of a range's words is what people call a step.
bool is_called_step(std::string_view name) {
  static constexpr std::array<std::string_view, 7> kWords = {"step",  "iteration", "iter",        "batch",
                                                             "frame", "trainstep", "profilerstep"};
  std::string word;
  const auto is_word = [&word] { return std::find(kWords.begin(), kWords.end(), word) != kWords.end(); };
  for (const char character : name) {
    const auto letter = static_cast<unsigned char>(character);
    if (std::isalpha(letter) != 0) {
      word += static_cast<char>(std::tolower(letter));
    } else if (is_word()) {
      return true;
    } else {
      word.clear();
    }
  }
  return is_word();
}

/// By path, with '*' for numbers.
std::map<std::string, RangeInstances> range_instances(const ProcessTrace& trace) {
  std::map<std::string, RangeInstances> all;
  std::map<spool::Id, std::string> paths;
  for (const spool::RangeTime& time : trace.range_times) {
    const auto [path, is_new] = paths.try_emplace(time.range);
    if (is_new) path->second = without_numbers(range_path(trace, time.range));
    RangeInstances& instances = all[path->second];
    instances.spans.push_back({time.start, time.end});
    instances.depth = range_chain(trace, time.range).size();
  }
  for (auto& [path, instances] : all) {
    std::sort(instances.spans.begin(), instances.spans.end(),
              [](const Span& a, const Span& b) { return a.start < b.start; });
    std::uint64_t ended = 0;
    std::erase_if(instances.spans, [&ended](const Span& span) {
      const bool overlaps = span.start < ended;
      if (!overlaps) ended = span.end;
      return overlaps;
    });
  }
  return all;
}

/// The first element that was launched in each of them; those without one are left out.
std::vector<std::size_t> beginnings(const std::vector<SequenceElement>& elements, const std::vector<Span>& spans) {
  std::vector<std::size_t> begins;
  auto at = elements.begin();
  for (const Span& span : spans) {
    at = std::lower_bound(at, elements.end(), span.start,
                          [](const SequenceElement& element, std::uint64_t time) { return element.time < time; });
    if (at != elements.end() && at->time < span.end) begins.push_back(static_cast<std::size_t>(at - elements.begin()));
  }
  return begins;
}

/// Share of the elements that were launched in them.
double share_within(const std::vector<SequenceElement>& elements, const std::vector<Span>& spans) {
  std::size_t within = 0;
  auto span = spans.begin();
  for (const SequenceElement& element : elements) {
    while (span != spans.end() && span->end <= element.time) ++span;
    if (span != spans.end() && span->start <= element.time) ++within;
  }
  return elements.empty() ? 0 : static_cast<double>(within) / static_cast<double>(elements.size());
}

}  // namespace

std::optional<Segments> segments_by_range(const std::vector<SequenceElement>& elements, const ProcessTrace& trace,
                                          const std::string& wanted, std::size_t fewest) {
  constexpr double kMost = 0.5;  // of what is launched
  const RangeInstances* best = nullptr;
  double best_share = 0;
  const std::map<std::string, RangeInstances> all = range_instances(trace);
  for (const auto& [path, instances] : all) {
    if (wanted.empty() ? !is_called_step(last_path_part(path)) : !is_named(path, wanted)) continue;
    const double share = share_within(elements, instances.spans);
    if (instances.spans.size() <= fewest || (wanted.empty() && share < kMost)) continue;
    const bool better = best == nullptr || share > best_share || (share == best_share && instances.depth < best->depth);
    if (!better) continue;
    best = &instances;
    best_share = share;
  }
  if (best == nullptr) return std::nullopt;
  // A user who names a range may mean steps that differ.
  return segments_at(elements, beginnings(elements, best->spans), {.contained = 0.5, .longest = 2});
}

}  // namespace roofline
