// Reads a spool. It was written by another process and is not trusted.
#include "profile/process_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>

#include "host/files.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;

/// Ids are given in order; threads may overtake each other by so many. Beyond that the file is broken.
constexpr std::size_t kAhead = 4096;
constexpr std::uint32_t kMostRanks = 1 << 20;

template <typename Record>
const Record& by_id(const std::vector<Record>& records, spool::Id id) {
  static const Record kNone = {};
  return id < records.size() ? records[id] : kNone;
}

template <typename Record>
void define(std::vector<Record>& records, spool::Id id, Record record) {
  if (id == 0 || id > records.size() + kAhead) return;
  if (id >= records.size()) records.resize(id + 1);
  records[id] = std::move(record);
}

/// One record's bytes after its header.
struct Body {
  spool::Type type;
  std::string_view bytes;

  /// The struct that it begins with; nothing where the record has less than `least` bytes of it. Others are 0.
  template <typename Record>
  std::optional<Record> as(std::size_t least = sizeof(Record)) const {
    if (bytes.size() < least) return std::nullopt;
    Record record = {};
    std::memcpy(&record, bytes.data(), std::min(bytes.size(), sizeof(Record)));
    return record;
  }
  template <typename Record>
  std::string_view tail() const {
    return bytes.substr(std::min(bytes.size(), sizeof(Record)));
  }
};

class Reader {
 public:
  explicit Reader(ProcessTrace& trace) : trace_(trace) {}

  void take(const Body& body) {
    switch (body.type) {
      case spool::Type::process:
        if (const auto record = body.as<spool::Process>()) process(*record, body.tail<spool::Process>());
        break;
      case spool::Type::note:
        if (const auto record = body.as<spool::Note>()) {
          trace_.notes.push_back({record->time, record->code, unpadded(body.tail<spool::Note>())});
          seen(record->time);
        }
        break;
      case spool::Type::text:
        if (const auto record = body.as<spool::Text>()) {
          define(trace_.texts, record->id, std::string(body.tail<spool::Text>().substr(0, record->length)));
        }
        break;
      case spool::Type::range:
        if (const auto record = body.as<spool::Range>()) define(trace_.ranges, record->id, *record);
        break;
      case spool::Type::line:
        if (const auto record = body.as<spool::Line>()) define(trace_.lines, record->id, *record);
        break;
      case spool::Type::place:
        if (const auto record = body.as<spool::Place>(spool::kPlaceWithoutCode)) {
          define(trace_.places, record->id, *record);
        }
        break;
      case spool::Type::kind:
        if (const auto record = body.as<spool::Kind>()) define(trace_.kinds, record->id, launchable(*record));
        break;
      case spool::Type::code_file:
        if (const auto record = body.as<spool::CodeFile>()) define(trace_.code_files, record->id, *record);
        break;
      case spool::Type::code:
        if (const auto record = body.as<spool::Code>()) define(trace_.codes, record->id, *record);
        break;
      case spool::Type::counts:
        if (const auto record = body.as<spool::Counts>()) counts(*record, body.tail<spool::Counts>());
        break;
      case spool::Type::tally:
        if (const auto record = body.as<spool::Tally>()) {
          trace_.tally = *record;
          seen(record->time);
        }
        break;
      case spool::Type::device:
        if (const auto record = body.as<spool::Device>(spool::kDeviceWithoutMemory)) trace_.devices.push_back(*record);
        break;
      case spool::Type::context:
        append(trace_.contexts, body);
        break;
      case spool::Type::launch:
        append_timed(trace_.launches, body);
        break;
      case spool::Type::kernel:
        append_timed(trace_.kernels, body);
        break;
      case spool::Type::copy:
        append_timed(trace_.copies, body);
        break;
      case spool::Type::fill:
        append_timed(trace_.fills, body);
        break;
      case spool::Type::call:
        append_timed(trace_.calls, body);
        break;
      case spool::Type::range_time:
        append_timed(trace_.range_times, body);
        break;
      case spool::Type::overhead:
        append_timed(trace_.overheads, body);
        break;
      case spool::Type::metric:
        append(trace_.metrics, body);
        break;
      case spool::Type::uncounted:
        append(trace_.uncounted, body);
        break;
      case spool::Type::thread:
        append(trace_.threads, body);
        break;
      case spool::Type::copy_source:
        append(trace_.copy_sources, body);
        break;
      case spool::Type::marker:
        append(trace_.markers, body);
        break;
      case spool::Type::marks:
        append_timed(trace_.marks, body);
        break;
      case spool::Type::allocation:
        if (const auto record = body.as<spool::Allocation>(); record && is_of_memory(*record)) {
          trace_.allocations.push_back(*record);
          seen(record->time);
        }
        break;
      case spool::Type::memory_use:
        if (const auto record = body.as<spool::MemoryUse>(); record && is_of_memory(*record)) {
          append_timed(trace_.memory_uses, body);
        }
        break;
      case spool::Type::rank:
        if (const auto record = body.as<spool::Rank>()) rank(*record);
        break;
      case spool::Type::variable:
        if (const auto record = body.as<spool::Variable>()) {
          trace_.variables.insert_or_assign(std::string(trace_.text(record->name)), trace_.text(record->value));
        }
        break;
      case spool::Type::communicator:
        if (const auto record = body.as<spool::Communicator>()) communicator(*record);
        break;
      case spool::Type::collective:
        append_timed(trace_.collectives, body);
        break;
      case spool::Type::gpu_module:
        append(trace_.gpu_modules, body);
        break;
      case spool::Type::stall_reason:
        append(trace_.stall_reasons, body);
        break;
      case spool::Type::instruction_samples:
        append(trace_.instruction_samples, body);
        break;
      case spool::Type::instruction_phase:
        append_timed(trace_.instruction_phases, body);
        break;
    }
  }

 private:
  static std::string unpadded(std::string_view text) { return std::string(text.substr(0, text.find('\0'))); }

  /// On a device that can exist.
  template <typename Record>
  static bool is_of_memory(const Record& record) {
    constexpr std::uint32_t kMostDevices = 1024;
    if constexpr (requires { record.event; }) {
      if (record.event > spool::MemoryEvent::failed) return false;
    }
    return static_cast<std::uint8_t>(record.pool) < spool::kMemoryPools && record.device < kMostDevices;
  }

  void seen(std::uint64_t time) { trace_.last_time = std::max(trace_.last_time, time); }

  template <typename Record>
  void append(std::vector<Record>& records, const Body& body) {
    if (const auto record = body.as<Record>()) records.push_back(*record);
  }
  template <typename Record>
  void append_timed(std::vector<Record>& records, const Body& body) {
    const auto record = body.as<Record>();
    if (!record || record->end < record->start) return;
    records.push_back(*record);
    seen(record->end);
  }

  void process(const spool::Process& record, std::string_view command) {
    trace_.process = record;
    seen(record.start);
    while (!command.empty() && command.front() != '\0') {
      const std::size_t length = std::min(command.find('\0'), command.size());
      trace_.command.emplace_back(command.substr(0, length));
      command.remove_prefix(std::min(length + 1, command.size()));
    }
  }

  /// Numbers that no job has are none.
  void rank(const spool::Rank& record) {
    const bool valid = record.rank < kMostRanks && record.ranks < kMostRanks;
    if (valid && (record.ranks == 0 || record.rank < record.ranks)) trace_.rank = record;
  }
  void communicator(const spool::Communicator& record) {
    const bool valid = record.ranks < kMostRanks && (record.ranks == 0 || record.rank < record.ranks);
    if (valid) define(trace_.communicators, record.id, record);
  }

  void counts(const spool::Counts& record, std::string_view tail) {
    ProcessTrace::Counts counts = {record, {}};
    counts.values.resize(std::min<std::size_t>(record.values, tail.size() / sizeof(double)));
    if (!counts.values.empty()) std::memcpy(counts.values.data(), tail.data(), counts.values.size() * sizeof(double));
    trace_.counts.push_back(std::move(counts));
  }

  ProcessTrace& trace_;
};

}  // namespace

std::string_view ProcessTrace::text(spool::Id id) const { return by_id(texts, id); }
const spool::Range& ProcessTrace::range(spool::Id id) const { return by_id(ranges, id); }
const spool::Line& ProcessTrace::line(spool::Id id) const { return by_id(lines, id); }
const spool::Place& ProcessTrace::place(spool::Id id) const { return by_id(places, id); }
bool gives_work(spool::CallKind kind) {
  return kind == spool::CallKind::launch || kind == spool::CallKind::graph_launch || kind == spool::CallKind::copy ||
         kind == spool::CallKind::fill;
}

bool has_host_launches(const ProcessTrace& trace) {
  return !trace.launches.empty() || std::any_of(trace.calls.begin(), trace.calls.end(),
                                                [](const spool::Call& call) { return gives_work(call.kind); });
}

spool::Kind launchable(spool::Kind kind) {
  constexpr std::uint32_t kMostBlocks = 0x7fffffff, kMostExtentYz = 0xffff, kMostThreads = 1024;
  for (std::uint32_t& extent : kind.grid) extent = std::min(extent, &extent == kind.grid ? kMostBlocks : kMostExtentYz);
  for (std::uint32_t& extent : kind.block) extent = std::min(extent, kMostThreads);
  return kind;
}

const spool::Kind& ProcessTrace::kind(spool::Id id) const { return by_id(kinds, id); }
const spool::CodeFile& ProcessTrace::code_file(spool::Id id) const { return by_id(code_files, id); }
const spool::Communicator& ProcessTrace::communicator(spool::Id id) const { return by_id(communicators, id); }
const spool::Code& ProcessTrace::code(spool::Id id) const { return by_id(codes, id); }

std::string_view to_string(SpoolDefect defect) {
  switch (defect) {
    case SpoolDefect::torn:
      return "torn";
    case SpoolDefect::no_process:
      return "ends before its first record";
    case SpoolDefect::empty:
      return "empty";
    case SpoolDefect::other_format:
      return "not a spool of this roofline version";
    case SpoolDefect::unreadable:
      break;
  }
  return "not readable";
}

ProcessTrace read_spool(const fs::path& file) {
  require_file(file, {std::uint64_t{64} << 30, "a spool"});
  std::ifstream in(file, std::ios::binary);
  // Before the first record is read: a process that lives on may still append to it.
  const std::uint64_t size = fs::file_size(file);
  std::uint64_t magic = 0;
  if (!in.read(reinterpret_cast<char*>(&magic), sizeof magic) || magic != spool::kMagic) {
    throw Error(fmt::format("{}: {}", file.string(), to_string(SpoolDefect::other_format)));
  }
  ProcessTrace trace;
  trace.folder = file.parent_path();
  Reader reader(trace);
  std::vector<char> bytes;
  std::uint64_t read = sizeof magic;
  for (spool::Header header = {}; in.read(reinterpret_cast<char*>(&header), sizeof header); read += header.size) {
    constexpr std::uint32_t kMost = 16U << 20U;
    if (header.size < sizeof header || header.size > kMost || header.size % 8 != 0) break;  // the rest can not be found
    bytes.resize(header.size - sizeof header);
    if (!in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) break;
    reader.take({header.type, {bytes.data(), bytes.size()}});
  }
  trace.unread_bytes = size > read ? size - read : 0;
  trace.torn = trace.tally.last == 0 || trace.unread_bytes > 0;
  return trace;
}

std::vector<fs::path> spools_in(const fs::path& folder) {
  std::vector<fs::path> spools;
  std::error_code hidden;  // a folder that cannot be listed has none
  for (const auto& entry : fs::directory_iterator(folder, hidden)) {
    if (entry.path().extension() == spool::kExtension) spools.push_back(entry.path());
  }
  return spools;
}

std::optional<ProcessTrace> read_listed_spool(const fs::path& file, std::vector<DefectiveSpool>& defective) {
  const std::string name = file.filename().string();
  std::error_code failure;
  const std::uint64_t size = fs::file_size(file, failure);
  if (failure || size < sizeof spool::kMagic) {
    const SpoolDefect defect = size == 0 ? SpoolDefect::empty : SpoolDefect::no_process;
    defective.push_back({name, failure ? SpoolDefect::unreadable : defect, failure ? 0 : size});
    return std::nullopt;
  }
  try {
    ProcessTrace trace = read_spool(file);
    // Times, pid and command are unknown without it: a start at 0 would make the recording as long as the uptime.
    const bool known = trace.process.pid != 0;
    if (!known || trace.unread_bytes > 0) {
      defective.push_back({name, known ? SpoolDefect::torn : SpoolDefect::no_process, trace.unread_bytes});
    }
    return known ? std::optional(std::move(trace)) : std::nullopt;
  } catch (const Error&) {
    defective.push_back({name, SpoolDefect::other_format, size});
    return std::nullopt;
  }
}

std::vector<ProcessTrace> read_spools(const fs::path& folder, std::vector<DefectiveSpool>& defective) {
  std::vector<ProcessTrace> traces;
  for (const fs::path& spool : spools_in(folder)) {
    if (std::optional<ProcessTrace> trace = read_listed_spool(spool, defective)) traces.push_back(*std::move(trace));
  }
  std::sort(traces.begin(), traces.end(),
            [](const ProcessTrace& a, const ProcessTrace& b) { return a.process.start < b.process.start; });
  std::sort(defective.begin(), defective.end(),
            [](const DefectiveSpool& a, const DefectiveSpool& b) { return a.name < b.name; });
  return traces;
}

std::vector<std::string> notes_of(const std::vector<DefectiveSpool>& defective) {
  static constexpr std::size_t kNamed = 5;
  std::vector<std::string> torn, left_out, notes;
  for (const DefectiveSpool& spool : defective) {
    if (spool.defect == SpoolDefect::torn) {
      torn.push_back(fmt::format("{} (last {} bytes not read)", spool.name, spool.bytes));
    } else {
      left_out.push_back(fmt::format("{} ({})", spool.name, to_string(spool.defect)));
    }
  }
  const auto add = [&notes](const std::vector<std::string>& names, std::string_view what) {
    if (names.empty()) return;
    const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(kNamed, names.size()));
    notes.push_back(fmt::format("{} {} {}: {}{}", names.size(), names.size() == 1 ? "spool" : "spools", what,
                                fmt::join(names.begin(), end, ", "),
                                names.size() > kNamed ? fmt::format(" and {} more", names.size() - kNamed) : ""));
  };
  add(torn, "incomplete, read up to the last whole record");
  add(left_out, "left out");
  return notes;
}

}  // namespace roofline
