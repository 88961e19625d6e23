// xplane.pb: planes (devices) of lines (streams) of events. Names of events and of their values are in the plane,
// behind its lines, so that the file is read twice. tsl/profiler/protobuf/xplane.proto has the numbers of the fields.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <unordered_map>

#include "import/clean_times.hpp"
#include "import/other_tools.hpp"
#include "import/protobuf.hpp"
#include "import/protobuf_stream.hpp"
#include "import/xla_details.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::string_view kGpuPlane = "/device:GPU:";

/// What XLA's cost model states of an operation; 0: nothing.
struct XlaCost {
  double flops = 0, bytes = 0;
  bool operator==(const XlaCost&) const = default;
  bool known() const { return flops > 0 || bytes > 0; }
};

struct XlaPlane {
  std::string name;
  std::unordered_map<std::uint64_t, std::string> events;  ///< names by id
  std::unordered_map<std::uint64_t, std::string> values;  ///< names of values, and texts that values refer to
  std::map<std::string, XlaCost, std::less<>> costs;      ///< by operation
  std::set<std::string, std::less<>> ambiguous;           ///< operations with several costs

  bool is_gpu() const { return name.find(kGpuPlane) != std::string::npos; }
};

/// XStat, undecoded.
struct XlaValue {
  std::uint64_t id = 0;
  double number = 0;
  std::string_view text = {};
  std::uint64_t reference = 0;
};

class XplaneReader {
 public:
  explicit XplaneReader(const std::filesystem::path& file) : file_(file), builder_(profile_.trace) {}

  ImportedProfile read() {
    profile_.kind = ImportedKind::xla;
    profile_.tool = "the profiler of JAX and TensorFlow (XLA)";
    profile_.trace.times_by = kXlaProfiler;
    {
      ByteSource names(file_);
      read_planes(names, false);
    }
    ByteSource events(file_);
    read_planes(events, true);
    return finish(events);
  }

 private:
  void read_planes(ByteSource& source, bool with_events) {
    constexpr std::size_t kMost = 4096;
    ProtobufStream stream(source);
    std::size_t index = 0;
    while (const auto field = stream.next(ProtobufStream::kFileEnd)) {
      if (field->number != 1 || !field->has_bytes) {
        stream.pass_over(*field);
        continue;
      }
      if (index >= kMost) source.fail("more than 4096 planes");
      if (!with_events) planes_.emplace_back();
      if (index >= planes_.size()) source.fail("the file changed while it was read");
      with_events ? read_lines(source, stream, field->end, planes_[index])
                  : read_names(stream, field->end, planes_[index]);
      ++index;
    }
  }

  static void read_names(ProtobufStream& stream, std::uint64_t end, XlaPlane& plane) {
    enum : std::uint32_t { kName = 2, kEventNames = 4, kValueNames = 5 };
    std::vector<std::string> described;
    while (const auto field = stream.next(end)) {
      const bool wanted = field->has_bytes && (plane.name.empty() || plane.is_gpu());
      if (wanted && field->number == kName) {
        plane.name = stream.bytes(*field);
      } else if (wanted && field->number == kEventNames) {
        described.push_back(stream.bytes(*field));
      } else if (wanted && field->number == kValueNames) {
        take_value_name(stream.bytes(*field), plane);
      } else {
        stream.pass_over(*field);
      }
    }
    if (!plane.is_gpu()) {
      plane.values.clear();
      return;
    }
    for (const std::string& entry : described) take_event_name(entry, plane);
  }

  /// The key and the value of an entry of a map.
  static std::pair<std::uint64_t, std::string_view> entry_of(std::string_view entry) {
    std::pair<std::uint64_t, std::string_view> parts;
    ProtobufReader reader(entry);
    while (const auto field = reader.next()) {
      if (field->number == 1) parts.first = field->value;
      if (field->number == 2) parts.second = field->bytes;
    }
    return parts;
  }

  static void take_value_name(std::string_view entry, XlaPlane& plane) {
    const auto [id, value] = entry_of(entry);
    ProtobufReader reader(value);
    while (const auto field = reader.next()) {
      if (field->number == 2) plane.values[id] = field->bytes;
    }
  }

  static void take_event_name(std::string_view entry, XlaPlane& plane) {
    enum : std::uint32_t { kName = 2, kDisplayName = 4, kValues = 5 };
    const auto [id, value] = entry_of(entry);
    std::string name, operation;
    XlaCost cost;
    ProtobufReader reader(value);
    while (const auto field = reader.next()) {
      if (field->number == kName) name = field->bytes;
      if (field->number == kDisplayName) operation = field->bytes;
      if (field->number == kValues) take_cost(value_of(field->bytes), plane, cost);
    }
    if (cost.known()) add_cost(plane, operation.empty() ? name : operation, cost);
    plane.events[id] = std::move(name);
  }

  static void add_cost(XlaPlane& plane, const std::string& operation, const XlaCost& cost) {
    const auto [known, is_new] = plane.costs.try_emplace(operation, cost);
    if (!is_new && known->second != cost) plane.ambiguous.insert(operation);
  }

  static XlaValue value_of(std::string_view message) {
    enum : std::uint32_t { kId = 1, kDouble = 2, kUnsigned = 3, kSigned = 4, kText = 5, kReference = 7 };
    XlaValue value;
    ProtobufReader reader(message);
    while (const auto field = reader.next()) {
      if (field->number == kId) value.id = field->value;
      if (field->number == kDouble) std::memcpy(&value.number, &field->value, sizeof value.number);
      if (field->number == kUnsigned) value.number = static_cast<double>(field->value);
      if (field->number == kSigned) value.number = static_cast<double>(static_cast<std::int64_t>(field->value));
      if (field->number == kText) value.text = field->bytes;
      if (field->number == kReference) value.reference = field->value;
    }
    return value;
  }

  static std::string_view name_of(const XlaPlane& plane, std::uint64_t id) {
    const auto found = plane.values.find(id);
    return found == plane.values.end() ? std::string_view() : std::string_view(found->second);
  }

  static void take_cost(const XlaValue& value, const XlaPlane& plane, XlaCost& cost) {
    const std::string_view name = name_of(plane, value.id);
    const bool valid = std::isfinite(value.number) && value.number > 0;
    if (valid && name == "flops") cost.flops = value.number;
    if (valid && name == "bytes_accessed") cost.bytes = value.number;
  }

  void read_lines(ByteSource& source, ProtobufStream& stream, std::uint64_t end, XlaPlane& plane) {
    constexpr std::uint32_t kLine = 3;
    while (const auto field = stream.next(end)) {
      if (plane.is_gpu() && field->number == kLine && field->has_bytes) {
        read_line(source, stream, field->end, plane);
      } else {
        stream.pass_over(*field);
      }
    }
  }

  /// Other lines repeat the kernels as modules and operations.
  void read_line(ByteSource& source, ProtobufStream& stream, std::uint64_t end, XlaPlane& plane) {
    enum : std::uint32_t { kName = 2, kTime = 3, kEvent = 4 };
    std::string name;
    std::uint64_t time = 0;
    while (const auto field = stream.next(end)) {
      if (field->number == kName && field->has_bytes) {
        name = stream.bytes(*field);
      } else if (field->number == kTime) {
        time = field->value;
      } else if (field->number == kEvent && name.find("Stream #") != std::string::npos) {
        take_event(source, stream.bytes(*field), plane, time, xla_number_behind(name, "Stream #"));
      } else {
        stream.pass_over(*field);
      }
    }
  }

  /// An event's values, by name.
  struct EventTexts {
    std::string_view operation, module, tf_op, kernel, copy;
    std::uint32_t correlation = 0;
    XlaCost cost;
  };

  static EventTexts texts_of(const XlaPlane& plane, const std::vector<std::string_view>& values) {
    EventTexts texts;
    for (const std::string_view message : values) {
      const XlaValue value = value_of(message);
      const std::string_view name = name_of(plane, value.id);
      const std::string_view text = value.reference != 0 ? name_of(plane, value.reference) : value.text;
      if (name == "hlo_op") texts.operation = text;
      if (name == "hlo_module") texts.module = text;
      if (name == "tf_op") texts.tf_op = text;
      if (name == "kernel_details") texts.kernel = text;
      if (name == "memcpy_details") texts.copy = text;
      constexpr double kMost = 4294967295.0;
      if (name == "correlation_id" && value.number > 0 && value.number <= kMost) {
        texts.correlation = static_cast<std::uint32_t>(value.number);
      }
      take_cost(value, plane, texts.cost);
    }
    return texts;
  }

  void take_event(ByteSource& source, const std::string& message, XlaPlane& plane, std::uint64_t line_time,
                  std::uint32_t stream) {
    enum : std::uint32_t { kName = 1, kOffset = 2, kDuration = 3, kValues = 4, kOccurrences = 5 };
    constexpr std::uint64_t kPicoseconds = 1000;
    std::uint64_t id = 0, offset = 0, duration = 0;
    std::vector<std::string_view> values;
    ProtobufReader reader(message);
    while (const auto field = reader.next()) {
      if (field->number == kName) id = field->value;
      if (field->number == kOffset) offset = field->value;
      if (field->number == kDuration) duration = field->value;
      if (field->number == kValues) values.push_back(field->bytes);
      if (field->number == kOccurrences) source.fail("an event on a stream that stands for several");
    }
    if (reader.broken()) source.fail("an event is broken");
    const auto name = plane.events.find(id);
    if (name == plane.events.end()) source.fail(fmt::format("no name has the id {} of an event", id));
    constexpr std::uint64_t kLatest = std::uint64_t{1} << 61U;
    Span when;
    if (line_time < kLatest && offset / kPicoseconds < kLatest && duration / kPicoseconds < kLatest) {
      when.start = line_time + offset / kPicoseconds;
      when.end = line_time + (offset + duration) / kPicoseconds;
    }
    const EventTexts texts = texts_of(plane, values);
    add(name->second, texts, plane, when, stream);
  }

  template <typename Record>
  Record record_of(const EventTexts& texts, const XlaPlane& plane, const Span& when, std::uint32_t stream) const {
    Record record = {};
    record.start = when.start;
    record.end = when.end;
    record.device = xla_number_behind(plane.name, kGpuPlane);
    record.stream = stream;
    record.correlation = texts.correlation;
    return record;
  }

  void add(std::string_view name, const EventTexts& texts, XlaPlane& plane, const Span& when, std::uint32_t stream) {
    if (!texts.copy.empty()) {
      auto copy = record_of<spool::Copy>(texts, plane, when, stream);
      copy.bytes = xla_detail(texts.copy, "size:");
      copy.peer = copy.device;
      const XlaCopyEnds ends = xla_copy_ends(texts.copy, name);
      copy.from = ends.from;
      copy.to = ends.to;
      profile_.trace.copies.push_back(copy);
      return;
    }
    if (name.starts_with("Memset") || name.starts_with("Memcpy")) return;
    constexpr std::string_view kDescriptor = ".kd";
    if (name.ends_with(kDescriptor)) name.remove_suffix(kDescriptor.size());
    auto kernel = record_of<spool::Kernel>(texts, plane, when, stream);
    ImportedPlace place;
    place.module = texts.module;
    place.operation = texts.operation.empty() ? texts.tf_op : texts.operation;
    kernel.kind = builder_.kind({.name = name,
                                 .grid = xla_extents(texts.kernel, " grid:"),
                                 .block = xla_extents(texts.kernel, " block:"),
                                 .cluster = {},
                                 .dynamic_shared = xla_small_detail(texts.kernel, "dynamic_shared:"),
                                 .place = builder_.place(place)});
    profile_.trace.kernels.push_back(kernel);
    if (texts.operation.empty()) return;
    auto& operation = operations_[{std::string(texts.module), std::string(texts.operation)}];
    operation.kinds.insert(kernel.kind);
    if (texts.cost.known()) {
      operation.cost = texts.cost;
    } else if (const auto cost = plane.costs.find(texts.operation);
               cost != plane.costs.end() && !plane.ambiguous.contains(texts.operation)) {
      operation.cost = cost->second;
    }
  }

  /// An operation's cost is that of its kernel, if it has one.
  void put_work() {
    ProcessTrace& trace = profile_.trace;
    for (const auto& [name, operation] : operations_) {
      if (!operation.cost.known() || operation.kinds.size() != 1) continue;
      Work work;
      work.launches = 0;
      // No type is stated: of all pipes this one has a roof that is not too low.
      if (operation.cost.flops > 0) work.flops[Pipe::tensor_fp16] = operation.cost.flops;
      if (operation.cost.bytes > 0) work.bytes[Level::hbm] = unsplit_traffic(operation.cost.bytes);
      const spool::Id kind = *operation.kinds.begin();  // of modules whose names differ in numbers alone
      trace.kinds[kind].scalars = work_identity(work);
      trace.models[kind] = {.work = std::move(work), .by = "XLA's cost model", .source = WorkSource::modelled};
    }
    std::set<spool::Id> shared;
    for (const auto& [name, operation] : operations_) {
      if (operation.cost.known()) shared.insert(operation.kinds.begin(), operation.kinds.end());
    }
    for (const spool::Kind& kind : trace.kinds) {
      if (kind.id == 0 || trace.models.contains(kind.id)) continue;
      builder_.without_work(kind.id, shared.contains(kind.id) ? "XLA states one cost for several kernels"
                                                              : "the file has no FLOPs or bytes for it");
    }
  }

  ImportedProfile finish(ByteSource& source) {
    ProcessTrace& trace = profile_.trace;
    if (trace.kernels.empty() && trace.copies.empty()) {
      std::set<std::string> names;
      for (const XlaPlane& plane : planes_) names.insert(plane.name.substr(0, 40));
      source.fail(
          fmt::format("no kernel on a stream of a GPU (\"/device:GPU:0\"); its planes: {}", fmt::join(names, ", ")));
    }
    std::set<std::uint32_t> gpus;
    std::set<std::string> others;
    for (const XlaPlane& plane : planes_) {
      if (plane.is_gpu()) {
        gpus.insert(xla_number_behind(plane.name, kGpuPlane));
      } else if (plane.name.starts_with("/device:")) {
        others.insert(clean_line(plane.name.substr(0, 40)));
      }
    }
    if (!others.empty()) profile_.notes.push_back(fmt::format("devices left out: {}", fmt::join(others, ", ")));
    for (const std::uint32_t index : gpus) {
      profile_.devices.emplace_back();
      profile_.devices.back().index = index;
      builder_.device(profile_.devices.back(), source.name());
    }
    clean_times(trace, profile_.time_defects);
    builder_.finish();
    put_work();
    if (trace.models.empty()) {
      note_no_counters(trace, "XLA's profiler");
    } else {
      profile_.notes.emplace_back(
          "FLOPs and bytes are those of XLA's cost model, without a type: all FLOPs count as FP16 tensor");
    }
    profile_.notes.emplace_back("the file names no GPU: roofs come from --machine");
    return std::move(profile_);
  }

  struct Operation {
    std::set<spool::Id> kinds;
    XlaCost cost;
  };

  std::filesystem::path file_;
  ImportedProfile profile_;
  TraceBuilder builder_;
  std::vector<XlaPlane> planes_;
  std::map<std::pair<std::string, std::string>, Operation> operations_;  ///< by module and name
};

}  // namespace

ImportedProfile read_xplane(const std::filesystem::path& file) { return XplaneReader(file).read(); }

/// A first field with a length, which is a plane: an id, then a name that begins with a slash.
bool looks_like_xplane(std::string_view beginning) {
  constexpr char kPlane = 0x0a, kId = 0x08, kName = 0x12;
  std::size_t at = 0;
  const auto byte = [&](std::size_t i) { return i < beginning.size() ? beginning[i] : '\0'; };
  const auto pass_varint = [&] {
    while ((static_cast<unsigned char>(byte(at)) & 0x80U) != 0) ++at;
    ++at;
  };
  if (byte(at++) != kPlane) return false;
  pass_varint();
  if (byte(at) == kId) {
    ++at;
    pass_varint();
  }
  return byte(at) == kName && (beginning.substr(std::min(at + 2, beginning.size())).starts_with("/device:") ||
                               beginning.substr(std::min(at + 2, beginning.size())).starts_with("/host:"));
}

}  // namespace roofline
