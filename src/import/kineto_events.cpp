#include "import/kineto_events.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>

#include "import/event_pairs.hpp"
#include "import/op_work.hpp"

namespace roofline::kineto {
namespace {

bool wanted(std::string_view name) {
  static const std::set<std::string_view> kWanted = {
      "External id",     "external id",   "correlation",     "device",        "context",
      "stream",          "grid",          "block",           "shared memory", "registers per thread",
      "graph id",        "graph node id", "bytes",           "Bytes",         "Input Dims",
      "Input dims",      "Input type",    "Concrete Inputs", "kernel_flop",   "kernel_num_gb",
      "Collective name", "In msg nelems", "Out msg nelems",  "Group size",    "dtype",
      "fromDevice",      "toDevice",      "sycl queue"};
  return kWanted.contains(name);
}

/// True if the function is the program's own and not PyTorch's or Python's.
bool is_own_code(std::string_view function) {
  static constexpr std::string_view kForeign[] = {"site-packages/", "dist-packages/", "/lib/python", "<built-in",
                                                  "<string>",       "<frozen",        "<eval"};
  static constexpr std::string_view kRoots[] = {"torch/",           "triton/",   "contextlib.py(", "threading.py(",
                                                "functools.py(",    "runpy.py(", "concurrent/",    "asyncio/",
                                                "multiprocessing/", "torch._",   "lib/python"};
  if (function.find(".py(") == std::string_view::npos) return false;
  for (const std::string_view part : kForeign) {
    if (function.find(part) != std::string_view::npos) return false;
  }
  return std::none_of(std::begin(kRoots), std::end(kRoots), [&](auto root) { return function.starts_with(root); });
}
class EventReader {
 public:
  explicit EventReader(ByteSource& source) : source_(source) {
    events_.words.id("");
    events_.signatures.emplace_back();
  }

  Events read() {
    ChromeTrace trace = read_chrome_trace(source_, wanted, [this](ChromeEvent& event) { take(event); });
    if (events_.gpu.empty() && events_.spans.empty() && events_.calls.empty()) {
      const std::string asynchronous = asynchronous_.list();
      std::string categories = events_.categories.list();
      if (!asynchronous.empty()) categories += (categories.empty() ? "" : ", ") + ("asynchronous: " + asynchronous);
      std::vector<std::string> notes = notes_of(events_.time_defects);
      notes.insert(notes.begin(), !has_phases_ ? "JSON without trace events"
                                               : "no torch.profiler events in this trace; its categories: " +
                                                     (categories.empty() ? "none" : categories));
      source_.fail(fmt::format("{}", fmt::join(notes, "; ")), kKnownTraces);
    }
    events_.devices = std::move(trace.devices);
    events_.rank = trace.rank;
    events_.stayed_open = trace.stayed_open;
    events_.base_ns = trace.base_ns;
    events_.is_hip = trace.is_hip;
    std::sort(events_.operations.begin(), events_.operations.end());
    // Merged files may have a call twice.
    std::sort(events_.calls.begin(), events_.calls.end());
    events_.calls.erase(std::unique(events_.calls.begin(), events_.calls.end()), events_.calls.end());
    make_thread_ids_unique();
    forget_host_tracks();
    separate_devices();
    return std::move(events_);
  }

 private:
  void take(ChromeEvent& event) {
    has_phases_ |= !event.phase.empty();
    if (event.phase == "X") {
      events_.categories.add(event.category);
      const std::optional<EventKind> kind = kind_of_category(event.category);
      if (!kind || *kind == EventKind::unused) return;
      const bool on_gpu = *kind == EventKind::kernel || *kind == EventKind::copy || *kind == EventKind::fill;
      if (!on_gpu && !event.times()) return events_.time_defects.host.add(event.name);
      take_span(event, *kind);
    } else if (event.is_unpaired() || event.is_asynchronous()) {
      if (event.is_asynchronous()) asynchronous_.add(event.category);
      // An end needs no category: it may be of any event.
      const bool any = event.phase == "E" && event.category.empty();
      if (any || kind_of_category(event.category).value_or(EventKind::unused) != EventKind::unused) {
        count_left_out(event, events_.time_defects);
      }
    } else if (event.category == "fwdbwd" && event.times()) {
      const Moment moment = {thread(event), event.times()->start};
      const Flow flow = {process(event), event.id};
      if (event.phase == "s") events_.forward[flow] = moment;
      if (event.phase == "f") events_.backward.emplace_back(moment, flow);
    }
  }

  void take_span(ChromeEvent& event, EventKind kind) {
    switch (kind) {
      case EventKind::kernel:
        return take_gpu(event, GpuKind::kernel);
      case EventKind::copy:
        return take_gpu(event, GpuKind::copy);
      case EventKind::fill:
        return take_gpu(event, GpuKind::fill);
      case EventKind::call:
        return take_call(event);
      case EventKind::operation:
        // Old traces have steps among the operators.
        return event.name.starts_with("ProfilerStep#") ? take_annotation(event) : take_operation(event);
      case EventKind::annotation:
        return take_annotation(event);
      case EventKind::function:
        return take_function(event);
      case EventKind::unused:
        return;
    }
  }

  static std::int64_t external_of(const ChromeEvent& event) {
    return event.integer("External id", event.integer("external id", kNone));
  }

  /// The number of a process or thread; some traces have names instead.
  std::int64_t number_of(std::int64_t number, const std::string& name) {
    return name.empty() ? number : std::numeric_limits<std::int64_t>::min() + events_.words.id(name);
  }

  std::uint32_t process(const ChromeEvent& event) {
    return processes_
        .try_emplace(number_of(event.process, event.process_name), static_cast<std::uint32_t>(processes_.size()))
        .first->second;
  }

  std::uint32_t thread(const ChromeEvent& event) {
    const std::uint32_t of = process(event);
    const auto [found, is_new] = threads_.try_emplace({of, number_of(event.thread, event.thread_name)},
                                                      static_cast<std::uint32_t>(threads_.size()));
    if (is_new) {
      events_.thread_ids.push_back(small(event.thread));
      events_.thread_processes.push_back(of);
    }
    return found->second;
  }

  /// Threads of several processes may have one number; 0 stands for none.
  void make_thread_ids_unique() {
    std::set<std::uint32_t> used = {0};
    std::uint32_t next = 1;
    for (std::uint32_t& id : events_.thread_ids) {
      if (used.insert(id).second) continue;
      while (!used.insert(next).second) ++next;
      id = next;
    }
  }

  /// Number of the track of an event; the names of some are numbered from the largest number on.
  std::uint32_t track(const ChromeEvent& event) {
    return event.thread_name.empty() ? small(event.thread) : kUnknownStream - 1 - events_.words.id(event.thread_name);
  }

  /// A GPU's tracks are its streams. Events on the track of a host's thread have no known stream.
  void forget_host_tracks() {
    const std::set<std::uint32_t> hosts(events_.thread_processes.begin(), events_.thread_processes.end());
    for (GpuEvent& event : events_.gpu) {
      if (event.stream_is_thread && hosts.contains(event.process)) event.stream = kUnknownStream;
    }
  }

  /// In merged traces of ranks that each saw one GPU, several processes have a GPU 0: each has its own here. In a trace
  /// of one program, all events of a GPU have one process, which is the GPU's number.
  void separate_devices() {
    std::map<std::uint32_t, std::map<std::uint32_t, std::uint32_t>> numbers;  // by device and process
    std::uint32_t next = 0;
    for (const DeviceFacts& device : events_.devices) next = std::max(next, device.index + 1);
    for (const GpuEvent& event : events_.gpu) next = std::max(next, event.device + 1);
    for (GpuEvent& event : events_.gpu) {
      auto& of_processes = numbers[event.device];
      const auto [found, is_new] = of_processes.try_emplace(event.process, event.device);
      if (is_new && of_processes.size() > 1) {
        found->second = next++;
        copy_facts(event.device, found->second);
      }
      event.device = found->second;
    }
    for (const auto& [device, of_processes] : numbers) events_.shared_devices += of_processes.size() > 1 ? 1 : 0;
  }

  void copy_facts(std::uint32_t device, std::uint32_t as) {
    const auto facts = std::find_if(events_.devices.begin(), events_.devices.end(),
                                    [device](const DeviceFacts& one) { return one.index == device; });
    if (facts == events_.devices.end()) return;
    DeviceFacts copy = *facts;
    copy.index = as;
    events_.devices.push_back(std::move(copy));
  }

  /// Host events without a time are left out before.
  void add_span(const ChromeEvent& event, SpanKind kind, std::uint32_t what) {
    const auto when = event.times().value();
    events_.spans.push_back(
        {.start = when.start, .end = when.end, .thread = thread(event), .what = what, .kind = kind});
    events_.last_process = event.process;
  }

  void take_annotation(const ChromeEvent& event) {
    add_span(event, SpanKind::annotation, events_.words.id(event.name));
  }

  void take_function(const ChromeEvent& event) {
    constexpr std::string_view kModule = "nn.Module: ";
    const std::string_view name = event.name;
    if (name.starts_with(kModule)) {
      add_span(event, SpanKind::module, events_.words.id(name.substr(kModule.size())));
    } else if (is_own_code(name)) {
      add_span(event, SpanKind::function, events_.words.id(name));
    }
  }

  void take_operation(const ChromeEvent& event) {
    Signature signature = {.name = events_.words.id(event.name)};
    signature.dims = events_.words.id(event.has("Input Dims") ? event.text("Input Dims") : event.text("Input dims"));
    signature.types = events_.words.id(event.text("Input type"));
    if (wants_concrete(event.name)) signature.concrete = events_.words.id(event.text("Concrete Inputs"));
    constexpr double kGiga = 1e9;
    signature.flops = std::max(0.0, event.number("kernel_flop", 0));
    signature.bytes = std::max(0.0, event.number("kernel_num_gb", 0) * kGiga);
    const auto [found, is_new] =
        signature_ids_.try_emplace(signature, static_cast<std::uint32_t>(events_.signatures.size()));
    if (is_new) events_.signatures.push_back(signature);
    const std::int64_t external = external_of(event);
    if (external != kNone) {
      events_.operations.push_back({process(event), external, static_cast<std::uint32_t>(events_.spans.size())});
    }
    add_span(event, SpanKind::operation, found->second);
  }

  void take_call(const ChromeEvent& event) {
    const auto when = event.times().value();
    events_.calls.push_back({.process = process(event),
                             .correlation = event.integer("correlation", kNone),
                             .start = when.start,
                             .end = when.end,
                             .thread = thread(event),
                             .name = events_.words.id(event.name)});
  }

  void take_gpu(const ChromeEvent& event, GpuKind kind) {
    GpuEvent gpu;
    gpu.kind = kind;
    if (const auto times = event.times()) {
      gpu.start = times->start;
      gpu.end = times->end;
    }
    gpu.name = events_.words.id(event.name);
    gpu.correlation = event.integer("correlation", kNone);
    gpu.external = external_of(event);
    gpu.process = process(event);
    gpu.device = small(event.integer("device", event.process));
    gpu.process_is_device = event.process_name.empty() && small(event.process) == gpu.device;
    gpu.context = small(event.integer("context", 0));
    gpu.stream_is_thread = !event.has("stream") && !event.has("sycl queue");
    gpu.stream = gpu.stream_is_thread ? track(event) : small(event.integer("stream", event.integer("sycl queue", 0)));
    gpu.graph = small(event.integer("graph id", 0));
    gpu.graph_node = static_cast<std::uint64_t>(event.integer("graph node id", 0));
    gpu.bytes =
        static_cast<std::uint64_t>(std::max<std::int64_t>(0, event.integer("bytes", event.integer("Bytes", 0))));
    gpu.grid = event.extents("grid");
    gpu.block = event.extents("block");
    gpu.registers = small(event.integer("registers per thread", 0));
    gpu.shared = small(event.integer("shared memory", 0));
    if (kind == GpuKind::kernel) gpu.collective = collective(event);
    if (event.integer("fromDevice", 0) != event.integer("toDevice", 0)) gpu.collective = events_.words.id("peer");
    events_.gpu.push_back(gpu);
  }

  std::uint32_t collective(const ChromeEvent& event) {
    if (!event.has("Collective name")) return 0;
    const std::string name(event.text("Collective name"));
    const double members = std::max(1.0, event.number("Group size", 1));
    const double in = event.number("In msg nelems", 0), out = event.number("Out msg nelems", 0);
    const double each = (members - 1) / members;
    const std::string type(event.text("dtype"));
    const bool half = type == "BFloat16" || type == "Half", byte = type == "Byte" || type == "Char" || type == "Bool";
    const double size = half ? 2 : byte || type.starts_with("Float8") ? 1 : type == "Double" || type == "Long" ? 8 : 4;
    const bool reduces = name.find("allreduce") != std::string::npos || name.find("all_reduce") != std::string::npos;
    // As nccl-tests count it: what crosses the links of a GPU, whatever the algorithm.
    const double crossing = reduces ? 2 * each * in : each * std::max(in, out);
    const std::uint32_t word =
        events_.words.id(fmt::format("{}({} {}, {} GPUs)", name, std::max(in, out), type, members));
    events_.collectives[word] = crossing * size;
    return word;
  }

  ByteSource& source_;
  Events events_;
  bool has_phases_ = false;  ///< as all events have
  CategoryCounts asynchronous_;
  std::map<Signature, std::uint32_t> signature_ids_;
  std::map<std::int64_t, std::uint32_t> processes_;
  std::map<std::pair<std::uint32_t, std::int64_t>, std::uint32_t> threads_;
};

}  // namespace

Events read_events(ByteSource& source) { return EventReader(source).read(); }

const Call* Events::call_of(std::uint32_t process, std::int64_t correlation) const {
  if (correlation == kNone) return nullptr;
  const auto found =
      std::lower_bound(calls.begin(), calls.end(), std::pair(process, correlation),
                       [](const Call& call, const auto& id) { return std::pair(call.process, call.correlation) < id; });
  const bool is_it = found != calls.end() && found->process == process && found->correlation == correlation;
  return is_it ? &*found : nullptr;
}

const Span* Events::operation_of(std::uint32_t process, std::int64_t external) const {
  if (external == kNone) return nullptr;
  const auto found = std::lower_bound(operations.begin(), operations.end(), Operation{process, external, 0});
  const bool is_it = found != operations.end() && found->process == process && found->external == external;
  return is_it ? &spans[found->span] : nullptr;
}

}  // namespace roofline::kineto
