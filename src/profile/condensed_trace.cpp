#include "profile/condensed_trace.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "profile/causes/kernel_names.hpp"
#include "profile/intervals.hpp"

namespace roofline {
namespace {

constexpr std::uint64_t kGap = 5000;  // ns, from one kernel to the next one that was queued

std::vector<Span> without_gaps(const std::vector<Span>& spans) {
  std::vector<Span> joined;
  for (const Span& span : spans) {
    if (!joined.empty() && span.start <= joined.back().end + kGap) {
      joined.back().end = std::max(joined.back().end, span.end);
    } else {
      joined.push_back(span);
    }
  }
  return joined;
}

/// Merges spans that overlap no collective into one per interval between collectives.
std::vector<Span> simplified(std::vector<Span> spans, const std::vector<Span>& collectives) {
  spans = without_gaps(covered(std::move(spans)));
  if (spans.empty()) return spans;
  std::vector<Span> result = common(spans, collectives);
  const std::vector<Span> between = uncovered({{spans.front().start, spans.back().end}}, collectives);
  for (const Span& region : between) {
    const std::uint64_t length = total_length(parts_within(region, spans));
    if (length > 0) result.push_back({region.start, region.start + length});
  }
  return covered(std::move(result));
}

struct OfDevice {
  std::vector<Span> collectives, compute, copies;
};

class Condensing {
 public:
  explicit Condensing(const ProcessTrace& trace) : trace_(trace) {
    for (const spool::Launch& launch : trace.launches) launches_[launch.correlation] = &launch;
  }

  ProcessTrace run() {
    ProcessTrace to;
    to.process = trace_.process;
    to.command = trace_.command;
    to.notes = trace_.notes;
    to.devices = trace_.devices;
    to.rank = trace_.rank;
    to.collectives = trace_.collectives;
    to.tally = trace_.tally;
    to.last_time = trace_.last_time;
    to.torn = trace_.torn;
    to.texts = trace_.texts;
    to.lines = trace_.lines;
    to.places = trace_.places;
    to.kinds = trace_.kinds;
    to.communicators = trace_.communicators;
    const spool::Id unnamed = add_unnamed(to);
    take_kernels(to);
    take_transfers(trace_.copies);
    take_transfers(trace_.fills);
    for (auto& [device, of] : devices_) {
      const std::vector<Span> collectives = covered(std::move(of.collectives));
      for (const Span& span : simplified(std::move(of.compute), collectives)) {
        spool::Kernel kernel = {};
        kernel.start = span.start;
        kernel.end = span.end;
        kernel.kind = unnamed;
        kernel.device = device;
        to.kernels.push_back(kernel);
      }
      for (const Span& span : simplified(std::move(of.copies), collectives)) {
        spool::Fill fill = {};
        fill.start = span.start;
        fill.end = span.end;
        fill.device = device;
        to.fills.push_back(fill);
      }
    }
    return to;
  }

 private:
  /// One signature for all kernels other than collectives.
  static spool::Id add_unnamed(ProcessTrace& to) {
    if (to.texts.empty()) to.texts.emplace_back();
    if (to.kinds.empty()) to.kinds.emplace_back();
    spool::Kind kind = {};
    kind.id = static_cast<spool::Id>(to.kinds.size());
    kind.name = static_cast<spool::Id>(to.texts.size());
    to.texts.emplace_back("kernels of another rank");
    to.kinds.push_back(kind);
    return kind.id;
  }

  void take_kernels(ProcessTrace& to) {
    std::map<spool::Id, bool> of_collectives;
    for (const spool::Kernel& kernel : trace_.kernels) {
      if (kernel.start == 0 || kernel.end < kernel.start) continue;
      const auto launch = launches_.find(kernel.correlation);
      const bool launched = launch != launches_.end();
      const spool::Id kind = kernel.kind != 0 ? kernel.kind : launched ? launch->second->kind : 0;
      const auto [known, is_new] = of_collectives.try_emplace(kind);
      if (is_new) known->second = is_collective(trace_.text(trace_.kind(kind).name));
      OfDevice& device = devices_[kernel.device];
      (known->second ? device.collectives : device.compute).push_back({kernel.start, kernel.end});
      if (!known->second) continue;
      to.kernels.push_back(kernel);
      if (launched && written_.insert(kernel.correlation).second) to.launches.push_back(*launch->second);
    }
  }

  template <typename Record>
  void take_transfers(const std::vector<Record>& records) {
    for (const Record& record : records) {
      if (record.start != 0 && record.start < record.end) {
        devices_[record.device].copies.push_back({record.start, record.end});
      }
    }
  }

  const ProcessTrace& trace_;
  std::unordered_map<std::uint32_t, const spool::Launch*> launches_;
  std::unordered_set<std::uint32_t> written_;
  std::map<std::uint32_t, OfDevice> devices_;
};

/// Appends records as a spool has them.
class Records {
 public:
  Records() { append(spool::kMagic); }

  template <typename Record>
  void add(spool::Type type, const Record& record, std::string tail = {}) {
    tail.resize((tail.size() + 7) / 8 * 8);
    append(spool::Header{static_cast<std::uint32_t>(sizeof(spool::Header) + sizeof record + tail.size()), type, 0});
    append(record);
    bytes += tail;
  }
  template <typename Record>
  void add_all(spool::Type type, const std::vector<Record>& records) {
    for (const Record& record : records) add(type, record);
  }
  /// Records with an id.
  template <typename Record>
  void add_defined(spool::Type type, const std::vector<Record>& records) {
    for (const Record& record : records) {
      if (record.id != 0) add(type, record);
    }
  }

  std::string bytes;

 private:
  template <typename Value>
  void append(const Value& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
};

}  // namespace

ProcessTrace condensed(const ProcessTrace& trace) { return Condensing(trace).run(); }

bool can_be_condensed(const ProcessTrace& trace) {
  if (!trace.rank || trace.counts_only) return false;
  return std::ranges::any_of(trace.kinds,
                             [&](const spool::Kind& kind) { return is_collective(trace.text(kind.name)); });
}

std::string write_condensed(const ProcessTrace& trace) {
  Records records;
  std::string command;
  for (const std::string& argument : trace.command) command += argument + '\0';
  records.add(spool::Type::process, trace.process, command);
  for (std::size_t id = 1; id < trace.texts.size(); ++id) {
    const std::string& text = trace.texts[id];
    records.add(spool::Type::text, spool::Text{static_cast<spool::Id>(id), static_cast<std::uint32_t>(text.size())},
                text);
  }
  records.add_all(spool::Type::device, trace.devices);
  if (trace.rank) records.add(spool::Type::rank, *trace.rank);
  records.add_defined(spool::Type::line, trace.lines);
  records.add_defined(spool::Type::place, trace.places);
  records.add_defined(spool::Type::kind, trace.kinds);
  records.add_defined(spool::Type::communicator, trace.communicators);
  for (const ProcessTrace::Note& note : trace.notes) {
    records.add(spool::Type::note, spool::Note{note.time, note.code, 0}, note.text);
  }
  records.add_all(spool::Type::launch, trace.launches);
  records.add_all(spool::Type::kernel, trace.kernels);
  records.add_all(spool::Type::fill, trace.fills);
  records.add_all(spool::Type::collective, trace.collectives);
  records.add(spool::Type::tally, trace.tally);
  return std::move(records.bytes);
}

}  // namespace roofline
