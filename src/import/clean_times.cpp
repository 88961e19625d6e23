#include "import/clean_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <tuple>
#include <unordered_map>

#include "text/demangle.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000, kDay = 86'400 * kSecond;
constexpr std::uint64_t kForever = std::numeric_limits<std::uint64_t>::max();
constexpr std::int64_t kLatest = 4'000'000'000'000'000'000;  // 127 years; sums of two fit into 64 bits

/// An activity on a stream.
struct OnStream {
  std::array<std::uint32_t, 3> stream = {};  ///< device, context, stream
  std::uint64_t* start = nullptr;
  std::uint64_t* end = nullptr;
  spool::Id kind = 0;  ///< of a kernel
};

bool is_timed(const auto& record) { return record.end != 0; }
void forget_time(auto& record) { record.start = record.end = 0; }

/// Pages that the driver moves belong to no stream.
bool migrates(const spool::Copy& copy) {
  return copy.from == spool::Memory::migrating || copy.to == spool::Memory::migrating;
}
bool migrates(const auto&) { return false; }

auto identity_of(const spool::Kernel& kernel) { return std::tuple(kernel.kind, kernel.graph_node); }
auto identity_of(const auto& transfer) { return std::tuple(transfer.bytes, transfer.place); }

auto key_of(const auto& record) {
  return std::tuple(record.start, record.end, record.device, record.context, record.stream, record.correlation,
                    identity_of(record));
}

class TimeCleaner {
 public:
  TimeCleaner(ProcessTrace& trace, TimeDefects& defects) : trace_(trace), defects_(defects) {}

  void clean() {
    forget_other_times();
    forget_times_far_from_launches();
    forget_empty_kernels();
    remove_untimed();
    remove_repeated(trace_.kernels);
    remove_repeated(trace_.copies);
    remove_repeated(trace_.fills);
    cut_overlaps();
    count_sizes(trace_.copies, "a copy");
    count_sizes(trace_.fills, "a memset");
    for (const spool::Kernel& kernel : trace_.kernels) {
      if (!is_timed(kernel)) defects_.without_time.add(name_of(kernel.kind));
    }
    defects_.kernels = static_cast<std::int64_t>(trace_.kernels.size());
    trace_.tally.without_time = static_cast<std::uint64_t>(defects_.without_time.count);
  }

 private:
  void forget_empty_kernels() {
    for (spool::Kernel& kernel : trace_.kernels) {
      if (kernel.start == kernel.end) forget_time(kernel);
    }
  }

  void for_each_activity(auto&& visit) {
    for (auto& record : trace_.kernels) visit(record);
    for (auto& record : trace_.copies) visit(record);
    for (auto& record : trace_.fills) visit(record);
  }

  void for_each_record(auto&& visit) {
    for_each_activity(visit);
    for (auto& record : trace_.launches) visit(record);
    for (auto& record : trace_.calls) visit(record);
    for (auto& record : trace_.range_times) visit(record);
  }

  /// A recording has no day without a record: of the times before and after such a gap, most records decide.
  void forget_other_times() {
    std::vector<Span> spans;
    for_each_record([&](const auto& record) {
      if (is_timed(record)) spans.push_back({record.start, record.end});
    });
    std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.start < b.start; });
    Span part, best;
    std::size_t records = 0, most = 0;
    for (const Span& span : spans) {
      if (records == 0 || span.start > part.end + kDay) {
        part = span;
        records = 0;
      }
      part.end = std::max(part.end, span.end);
      if (++records < most) continue;
      most = records;
      best = part;
    }
    for_each_record([&](auto& record) {
      if (record.start < best.start || record.end > best.end) forget_time(record);
    });
  }

  /// No activity starts before the call that launched it. Where most do, the GPU's clock has an offset.
  void forget_times_far_from_launches() {
    std::unordered_map<std::uint32_t, std::uint64_t> launched;
    for (const spool::Call& call : trace_.calls) launched.emplace(call.correlation, call.start);
    for (const spool::Launch& launch : trace_.launches) launched.emplace(launch.correlation, launch.start);
    launched.erase(0);  // not known
    const auto is_early = [&](const auto& record) {
      const auto call = launched.find(record.correlation);
      return call != launched.end() && is_timed(record) && record.start + kSecond < call->second;
    };
    std::size_t early = 0, all = 0;
    for_each_activity([&](const auto& record) {
      ++all;
      early += is_early(record) ? 1 : 0;
    });
    if (early * 2 > all) return;
    for_each_activity([&](auto& record) {
      if (is_early(record)) forget_time(record);
    });
  }

  void remove_untimed() {
    remove_untimed_of(trace_.copies, defects_.transfers, [](const auto&) { return std::string("a copy"); });
    remove_untimed_of(trace_.fills, defects_.transfers, [](const auto&) { return std::string("a memset"); });
    remove_untimed_of(trace_.launches, defects_.host, [](const auto&) { return std::string("a launch"); });
    remove_untimed_of(trace_.calls, defects_.host, [&](const auto& call) { return text(call.name); });
    remove_untimed_of(trace_.range_times, defects_.host,
                      [&](const auto& time) { return text(trace_.range(time.range).name); });
  }

  template <typename Record>
  static void remove_untimed_of(std::vector<Record>& records, DefectiveRecords& removed, auto&& name) {
    std::erase_if(records, [&](const Record& record) {
      if (!is_timed(record)) removed.add(name(record));
      return !is_timed(record);
    });
  }

  template <typename Record>
  void remove_repeated(std::vector<Record>& records) {
    std::vector<std::uint32_t> order;
    for (std::size_t i = 0; i < records.size(); ++i) {
      if (is_timed(records[i]) && !migrates(records[i])) order.push_back(static_cast<std::uint32_t>(i));
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return key_of(records[a]) < key_of(records[b]); });
    std::vector<bool> repeated(records.size(), false);
    for (std::size_t i = 1; i < order.size(); ++i) {
      repeated[order[i]] = key_of(records[order[i]]) == key_of(records[order[i - 1]]);
    }
    std::size_t index = 0;
    std::erase_if(records, [&](const Record& record) {
      if (!repeated[index++]) return false;
      defects_.repeated.add(name_of(record));
      return true;
    });
  }

  /// Kernels of one graph may run side by side, and those of unknown streams.
  void cut_overlaps() {
    constexpr std::uint64_t kResolution = 1000;  // ns: of files in µs. What overlaps by no more is only rounded.
    std::vector<OnStream> activities;
    for_each_activity([&](auto& record) {
      if (!is_timed(record)) return;
      ++defects_.activities;
      if (in_graph(record) || migrates(record) || record.stream == kUnknownStream) return;
      activities.push_back(
          {{record.device, record.context, record.stream}, &record.start, &record.end, kind_of(record)});
    });
    std::sort(activities.begin(), activities.end(), [](const OnStream& a, const OnStream& b) {
      return std::tie(a.stream, *a.start, *a.end) < std::tie(b.stream, *b.start, *b.end);
    });
    // From the last one: an earlier start never moves a later record.
    for (std::size_t end = activities.size(); end > 0;) {
      std::size_t begin = end - 1;
      while (begin > 0 && starts_with(activities[begin - 1], activities[end - 1])) --begin;
      const bool last = end == activities.size() || activities[end].stream != activities[begin].stream;
      const std::uint64_t next = last ? kForever : *activities[end].start;
      for (std::size_t i = begin; i < end; ++i) {
        if (*activities[i].end <= next || *activities[i].end - next <= kResolution) continue;
        shorten(activities[i], *activities[i].start, next);
      }
      take_turns(std::span(activities).subspan(begin, end - begin), kResolution);
      end = begin;
    }
    forget_empty_kernels();
  }

  static bool starts_with(const OnStream& a, const OnStream& b) { return a.stream == b.stream && *a.start == *b.start; }

  /// Records of a stream with one start, by their ends: each begins where the one before ends, those with one end share
  /// that time evenly.
  void take_turns(std::span<OnStream> records, std::uint64_t resolution) {
    const auto rounded = [resolution](const OnStream& one) { return *one.end - *one.start <= resolution; };
    while (!records.empty() && rounded(records.front())) records = records.subspan(1);
    if (records.size() < 2) return;
    std::uint64_t at = *records.front().start;
    for (std::size_t begin = 0; begin < records.size();) {
      const std::uint64_t until = *records[begin].end;
      std::size_t end = begin;
      while (end < records.size() && *records[end].end == until) ++end;
      const std::uint64_t each = (until - at) / (end - begin);
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint64_t from = at + each * (i - begin);
        const std::uint64_t to = i + 1 == end ? until : from + each;
        if (from != *records[i].start || to != *records[i].end) shorten(records[i], from, to);
      }
      at = until;
      begin = end;
    }
  }

  void shorten(const OnStream& record, std::uint64_t start, std::uint64_t end) {
    defects_.overlapping.add(name_of(record.kind));
    if (record.kind == 0) {
      defects_.shortened.transfers = true;
    } else {
      defects_.shortened.kernels.insert(name_of(record.kind));
    }
    *record.start = start;
    *record.end = end;
  }

  /// Readers write 0 for a size that is missing, negative or no number; tools record no empty copies.
  void count_sizes(const auto& records, std::string_view name) {
    for (const auto& record : records) {
      if (record.bytes == 0) defects_.without_size.add(name);
    }
    defects_.transfers_read += static_cast<std::int64_t>(records.size());
  }

  static bool in_graph(const spool::Kernel& kernel) { return kernel.graph_node != 0; }
  static bool in_graph(const auto&) { return false; }
  static spool::Id kind_of(const spool::Kernel& kernel) { return kernel.kind; }
  static spool::Id kind_of(const auto&) { return 0; }

  std::string text(spool::Id id) const { return std::string(trace_.text(id)); }
  std::string name_of(spool::Id kind) const {
    return kind == 0 ? "a copy or memset" : demangled(text(trace_.kind(kind).name));
  }
  std::string name_of(const spool::Kernel& kernel) const { return name_of(kernel.kind); }
  std::string name_of(const auto&) const { return name_of(spool::Id{0}); }

  ProcessTrace& trace_;
  TimeDefects& defects_;
};

}  // namespace

std::optional<Span> times_from_ns(std::optional<std::int64_t> start, std::optional<std::int64_t> end) {
  if (!start || !end || *start < 0 || *end < *start || *end > kLatest) return std::nullopt;
  const Span span = {static_cast<std::uint64_t>(*start), static_cast<std::uint64_t>(*end)};
  return span.length() > kDay ? std::nullopt : std::optional(span);
}

std::optional<Span> times_from_us(double start, double duration) {
  constexpr double kMost = static_cast<double>(kLatest) / 1e3 / 2;
  const auto is_time = [](double time) { return time >= 0 && time < kMost; };  // NaN is none
  if (!is_time(start) || !is_time(duration)) return std::nullopt;
  const std::int64_t begin = std::llround(start * 1e3);
  return times_from_ns(begin, begin + std::llround(duration * 1e3));
}

void clean_times(ProcessTrace& trace, TimeDefects& defects) { TimeCleaner(trace, defects).clean(); }

std::vector<std::string> notes_of(const TimeDefects& defects) {
  std::vector<std::string> notes;
  const auto add = [&](const DefectiveRecords& records, std::string_view text) {
    constexpr int kColumns = 60;
    if (records.count > 0) {
      notes.push_back(fmt::format("{}; the first: {}", text, shorten(clean_line(records.first), kColumns)));
    }
  };
  add(defects.without_time,
      fmt::format("{} of {} launches {} no time: zero (not collected) or invalid in the file. Launches without a time "
                  "are not summed; their time counts as idle",
                  count(defects.without_time.count), count(defects.kernels),
                  defects.without_time.count == 1 ? "has" : "have"));
  add(defects.transfers,
      counted_noun(defects.transfers.count, "copy or memset was left out: its time is zero or invalid",
                   "copies and memsets were left out: their times are zero or invalid"));
  add(defects.host, counted_noun(defects.host.count, "host event was left out: its time is zero or invalid",
                                 "host events were left out: their times are zero or invalid"));
  add(defects.unpaired, counted_noun(defects.unpaired.count, "begin or end event has no partner and was left out",
                                     "begin and end events have no partner and were left out"));
  add(defects.asynchronous,
      counted_noun(defects.asynchronous.count, "asynchronous event was left out", "asynchronous events were left out") +
          " (\"ph\": \"b\", \"e\"): only complete events (X) and pairs (B, E) are read");
  add(defects.without_size,
      fmt::format("{} of {} copies and memsets {} no valid size in the file: their bytes are unknown",
                  count(defects.without_size.count), count(defects.transfers_read),
                  defects.without_size.count == 1 ? "has" : "have"));
  add(defects.repeated, counted_noun(defects.repeated.count, "GPU record is in the file twice and was counted once",
                                     "GPU records repeat others and were left out"));
  add(defects.overlapping,
      fmt::format(
          "{} of {} GPU records overlap the next one on their stream, which runs one at a time (except with "
          "programmatic dependent launch). They end where the next one starts, or begin where one with the same start "
          "ends: their times are lower bounds",
          count(defects.overlapping.count), count(defects.activities)));
  return notes;
}

}  // namespace roofline
