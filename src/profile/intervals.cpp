#include "profile/intervals.hpp"

#include <algorithm>
#include <iterator>

namespace roofline {

std::vector<Span> covered(std::vector<Span> spans) {
  std::erase_if(spans, [](const Span& span) { return span.start >= span.end; });
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.start < b.start; });
  std::vector<Span> merged;
  for (const Span& span : spans) {
    if (!merged.empty() && span.start <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, span.end);
    } else {
      merged.push_back(span);
    }
  }
  return merged;
}

std::vector<Span> common(const std::vector<Span>& a, const std::vector<Span>& b) {
  std::vector<Span> both;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Span overlap = {std::max(a[i].start, b[j].start), std::min(a[i].end, b[j].end)};
    if (overlap.start < overlap.end) both.push_back(overlap);
    if (a[i].end < b[j].end) {
      ++i;
    } else {
      ++j;
    }
  }
  return both;
}

std::vector<Span> uncovered(const std::vector<Span>& within, const std::vector<Span>& by) {
  std::vector<Span> left;
  std::size_t j = 0;
  for (Span span : within) {
    while (j < by.size() && by[j].end <= span.start) ++j;
    for (std::size_t k = j; k < by.size() && by[k].start < span.end; ++k) {
      if (by[k].start > span.start) left.push_back({span.start, by[k].start});
      span.start = std::max(span.start, by[k].end);
    }
    if (span.start < span.end) left.push_back(span);
  }
  return left;
}

std::vector<Span> parts_within(const Span& span, const std::vector<Span>& spans) {
  std::vector<Span> parts;
  auto at = std::lower_bound(spans.begin(), spans.end(), span.start,
                             [](const Span& of, std::uint64_t time) { return of.end <= time; });
  for (; at != spans.end() && at->start < span.end; ++at) {
    const Span part = {std::max(at->start, span.start), std::min(at->end, span.end)};
    if (part.start < part.end) parts.push_back(part);
  }
  return parts;
}

Span overlap(const Span& a, const Span& b) {
  const Span both = {std::max(a.start, b.start), std::min(a.end, b.end)};
  return both.start < both.end ? both : Span{a.end, a.end};
}

std::uint64_t uncovered_length(const Span& span, const std::vector<Span>& by) {
  return span.start < span.end ? span.length() - total_length(parts_within(span, by)) : 0;
}

std::uint64_t uncovered_length(const Span& span, const std::vector<Span>& within, const std::vector<Span>& by) {
  std::uint64_t length = 0;
  for (const Span& part : parts_within(span, within)) length += uncovered_length(part, by);
  return length;
}

std::size_t span_at(const std::vector<Span>& spans, std::uint64_t time) {
  const auto after = std::upper_bound(spans.begin(), spans.end(), time,
                                      [](std::uint64_t at, const Span& span) { return at < span.start; });
  if (after == spans.begin() || time >= std::prev(after)->end) return spans.size();
  return static_cast<std::size_t>(after - spans.begin()) - 1;
}

std::uint64_t total_length(const std::vector<Span>& spans) {
  std::uint64_t sum = 0;
  for (const Span& span : spans) sum += span.length();
  return sum;
}

}  // namespace roofline
