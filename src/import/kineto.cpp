// The events of a trace are in no order: they are stored as compact records and joined at the end. GPU events refer to
// the call that launched them (correlation) and to the operator (External id); modules, ranges and lines are spans of
// the calling thread.
#include "import/kineto.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "import/chrome_events.hpp"
#include "import/op_work.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::int64_t kNone = -1;

/// Texts by number.
class Words {
 public:
  std::uint32_t id(std::string_view text) {
    const auto [found, is_new] = ids_.try_emplace(std::string(text), static_cast<std::uint32_t>(list_.size()));
    if (is_new) list_.push_back(&found->first);
    return found->second;
  }
  const std::string& operator[](std::uint32_t id) const { return *list_[id]; }

 private:
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::vector<const std::string*> list_;
};

/// Operator calls with equal arguments.
struct Signature {
  std::uint32_t name = 0, dims = 0, types = 0, concrete = 0;
  double flops = 0, bytes = 0;  ///< that Inductor states of its own kernels
  auto key() const { return std::tie(name, dims, types, concrete, flops, bytes); }
  bool operator<(const Signature& other) const { return key() < other.key(); }
};

enum class SpanKind : std::uint8_t { operation, annotation, module, function };

/// Something on a thread of the host.
struct Span {
  std::uint64_t start = 0, end = 0;
  std::uint32_t thread = 0;
  std::uint32_t what = 0;  ///< signature of an operation, else a word
  SpanKind kind = SpanKind::operation;
};

struct Call {
  std::int64_t correlation = kNone;
  std::uint64_t start = 0, end = 0;
  std::uint32_t thread = 0, name = 0;
};

enum class GpuKind : std::uint8_t { kernel, copy, fill };

struct GpuEvent {
  std::uint64_t start = 0, end = 0;
  std::int64_t correlation = kNone, external = kNone;
  std::uint64_t bytes = 0, graph_node = 0;
  std::uint32_t name = 0, collective = 0;  ///< words
  std::uint32_t device = 0, context = 0, stream = 0, graph = 0;
  std::array<std::uint32_t, 3> grid = {}, block = {};
  std::uint32_t registers = 0, shared = 0;
  GpuKind kind = GpuKind::kernel;
};

/// A thread and a moment.
struct Moment {
  std::uint32_t thread = 0;
  std::uint64_t time = 0;
  auto operator<=>(const Moment&) const = default;
};

/// What the host was executing at a moment.
struct HostContext {
  spool::Id range = 0;
  std::string module;
  std::uint32_t line = 0;  ///< word, "program.py(43): forward"; 0: none
  std::uint32_t signature = 0;
  bool backward = false;
};

std::uint32_t small(std::int64_t value) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(value, 0, std::numeric_limits<std::uint32_t>::max()));
}

bool wanted(std::string_view name) {
  static const std::set<std::string_view> kWanted = {
      "External id",     "external id",   "correlation",     "device",        "context",
      "stream",          "grid",          "block",           "shared memory", "registers per thread",
      "graph id",        "graph node id", "bytes",           "Bytes",         "Input Dims",
      "Input dims",      "Input type",    "Concrete Inputs", "kernel_flop",   "kernel_num_gb",
      "Collective name", "In msg nelems", "Out msg nelems",  "Group size",    "dtype",
      "fromDevice",      "toDevice"};
  return kWanted.contains(name);
}

/// Whether the function is the program's own and not PyTorch's or Python's.
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

class Kineto {
 public:
  explicit Kineto(ByteSource& source) : source_(source) {
    words_.id("");
    signatures_.emplace_back();
  }

  ImportedProfile read() {
    const ChromeTrace trace = read_chrome_trace(source_, wanted, [this](ChromeEvent& event) { take(event); });
    if (gpu_.empty() && spans_.empty() && calls_.empty()) source_.fail("no torch.profiler events in this trace");
    ImportedProfile profile;
    profile.kind = ImportedKind::kineto;
    profile.tool = "torch.profiler";
    profile.devices = trace.devices;
    profile.trace.process.pid = small(trace.rank >= 0 ? trace.rank : process_);
    profile.trace.times_by = profile.tool;
    write(profile);
    return profile;
  }

 private:
  // Taking in

  void take(ChromeEvent& event) {
    if (event.phase == "X") {
      event.category = lower_case(event.category);
      if (event.category == "kernel") return take_gpu(event, GpuKind::kernel);
      if (event.category == "gpu_memcpy") return take_gpu(event, GpuKind::copy);
      if (event.category == "gpu_memset") return take_gpu(event, GpuKind::fill);
      if (!event.sane()) {
        ++invalid_times_;
        return;
      }
      if (event.category == "cuda_runtime" || event.category == "cuda_driver" || event.category == "runtime") {
        take_call(event);
      } else if (event.category == "cpu_op" || event.category == "operator") {
        take_operation(event);
      } else if (event.category == "user_annotation") {
        add_span(event, SpanKind::annotation, words_.id(event.name));
      } else if (event.category == "python_function") {
        take_function(event);
      }
    } else if (event.category == "fwdbwd" && event.has_time && event.sane()) {
      const Moment moment = {thread(event), event.start_ns(source_)};
      if (event.phase == "s") forward_[event.id] = moment;
      if (event.phase == "f") backward_.emplace_back(moment, event.id);
    }
  }

  static std::int64_t external_of(const ChromeEvent& event) {
    return event.integer("External id", event.integer("external id", kNone));
  }

  std::uint32_t thread(const ChromeEvent& event) {
    const auto [found, is_new] =
        threads_.try_emplace({event.process, event.thread}, static_cast<std::uint32_t>(threads_.size()));
    if (is_new) thread_ids_.push_back(small(event.thread));
    return found->second;
  }

  void add_span(const ChromeEvent& event, SpanKind kind, std::uint32_t what) {
    const std::uint64_t start = event.start_ns(source_);
    spans_.push_back(
        {.start = start, .end = event.end_ns(source_), .thread = thread(event), .what = what, .kind = kind});
    process_ = event.process;
  }

  void take_function(const ChromeEvent& event) {
    constexpr std::string_view kModule = "nn.Module: ";
    const std::string_view name = event.name;
    if (name.starts_with(kModule)) {
      add_span(event, SpanKind::module, words_.id(name.substr(kModule.size())));
    } else if (is_own_code(name)) {
      add_span(event, SpanKind::function, words_.id(name));
    }
  }

  void take_operation(const ChromeEvent& event) {
    Signature signature = {.name = words_.id(event.name)};
    signature.dims = words_.id(event.has("Input Dims") ? event.text("Input Dims") : event.text("Input dims"));
    signature.types = words_.id(event.text("Input type"));
    if (wants_concrete(event.name)) signature.concrete = words_.id(event.text("Concrete Inputs"));
    constexpr double kGiga = 1e9;
    signature.flops = std::max(0.0, event.number("kernel_flop", 0));
    signature.bytes = std::max(0.0, event.number("kernel_num_gb", 0) * kGiga);
    const auto [found, is_new] = signature_ids_.try_emplace(signature, static_cast<std::uint32_t>(signatures_.size()));
    if (is_new) signatures_.push_back(signature);
    const std::int64_t external = external_of(event);
    if (external != kNone) operations_.emplace_back(external, static_cast<std::uint32_t>(spans_.size()));
    add_span(event, SpanKind::operation, found->second);
  }

  void take_call(const ChromeEvent& event) {
    calls_.push_back({.correlation = event.integer("correlation", kNone),
                      .start = event.start_ns(source_),
                      .end = event.end_ns(source_),
                      .thread = thread(event),
                      .name = words_.id(event.name)});
  }

  void take_gpu(const ChromeEvent& event, GpuKind kind) {
    GpuEvent gpu;
    gpu.kind = kind;
    gpu.start = event.start_ns(source_);
    gpu.end = event.end_ns(source_);
    gpu.name = words_.id(event.name);
    gpu.correlation = event.integer("correlation", kNone);
    gpu.external = external_of(event);
    gpu.device = small(event.integer("device", event.process));
    gpu.context = small(event.integer("context", 0));
    gpu.stream = small(event.integer("stream", event.thread));
    gpu.graph = small(event.integer("graph id", 0));
    gpu.graph_node = static_cast<std::uint64_t>(event.integer("graph node id", 0));
    gpu.bytes =
        static_cast<std::uint64_t>(std::max<std::int64_t>(0, event.integer("bytes", event.integer("Bytes", 0))));
    gpu.grid = event.extents("grid");
    gpu.block = event.extents("block");
    gpu.registers = small(event.integer("registers per thread", 0));
    gpu.shared = small(event.integer("shared memory", 0));
    if (kind == GpuKind::kernel) gpu.collective = collective(event);
    if (event.integer("fromDevice", 0) != event.integer("toDevice", 0)) gpu.collective = words_.id("peer");
    gpu_.push_back(gpu);
  }

  struct Collective {
    std::string what;
    double bytes = 0;  ///< that each GPU sends over its links
  };

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
    const std::uint32_t word = words_.id(fmt::format("{}({} {}, {} GPUs)", name, std::max(in, out), type, members));
    collectives_[word] = crossing * size;
    return word;
  }

  // Joining

  void write(ImportedProfile& profile) {
    TraceBuilder builder(profile.trace);
    add_devices(profile, builder);
    std::sort(operations_.begin(), operations_.end());
    std::sort(calls_.begin(), calls_.end(), [](const Call& a, const Call& b) { return a.correlation < b.correlation; });
    locate(profile, builder);
    write_calls(profile.trace, builder);
    write_gpu(profile, builder);
    builder.finish();
    add_notes(profile);
  }

  void add_devices(ImportedProfile& profile, TraceBuilder& builder) {
    std::set<std::uint32_t> known, used;
    for (const DeviceFacts& device : profile.devices) known.insert(device.index);
    for (const GpuEvent& event : gpu_) used.insert(event.device);
    for (const std::uint32_t index : used) {
      if (known.contains(index)) continue;
      DeviceFacts unknown = profile.devices.empty() ? DeviceFacts{} : profile.devices.front();
      unknown.index = index;
      profile.devices.push_back(unknown);
    }
    std::erase_if(profile.devices, [&](const DeviceFacts& device) { return !used.contains(device.index); });
    for (const DeviceFacts& device : profile.devices) builder.device(device, source_.name());
  }

  const Call* call_of(std::int64_t correlation) const {
    if (correlation == kNone) return nullptr;
    const auto found = std::lower_bound(calls_.begin(), calls_.end(), correlation,
                                        [](const Call& call, std::int64_t id) { return call.correlation < id; });
    return found == calls_.end() || found->correlation != correlation ? nullptr : &*found;
  }

  const Span* operation_of(std::int64_t external) const {
    const auto found = std::lower_bound(operations_.begin(), operations_.end(), std::pair(external, std::uint32_t{0}));
    if (external == kNone || found == operations_.end() || found->first != external) return nullptr;
    return &spans_[found->second];
  }

  /// The host context in which each GPU event was launched.
  void locate(ImportedProfile& profile, TraceBuilder& builder) {
    // The forward of each backward operator first: its kernels are attributed there.
    std::vector<std::pair<Moment, std::size_t>> asked;
    std::vector<HostContext> forwards(backward_.size());
    for (std::size_t i = 0; i < backward_.size(); ++i) {
      const auto forward = forward_.find(backward_[i].second);
      if (forward == forward_.end()) continue;
      asked.emplace_back(forward->second, i);
      backward_at_.emplace(std::pair(backward_[i].first.thread, backward_[i].first.time), i);
    }
    std::vector<std::uint32_t> order(spans_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
    std::sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
      const Span &x = spans_[a], &y = spans_[b];
      return std::tie(x.thread, x.start, y.end, x.kind) < std::tie(y.thread, y.start, x.end, y.kind);
    });
    sweep(order, asked, forwards, {}, builder, nullptr);

    asked.clear();
    places_.resize(gpu_.size());
    for (std::size_t i = 0; i < gpu_.size(); ++i) {
      if (const Call* call = call_of(gpu_[i].correlation)) {
        asked.emplace_back(Moment{call->thread, call->start}, i);
      } else if (const Span* operation = operation_of(gpu_[i].external)) {
        asked.emplace_back(Moment{operation->thread, operation->start}, i);
      }
    }
    sweep(order, asked, places_, forwards, builder, &profile.trace);
  }

  struct Open {
    const Span* span;
    spool::Id range;  ///< of it and those around it
  };

  void sweep(const std::vector<std::uint32_t>& order, std::vector<std::pair<Moment, std::size_t>>& asked,
             std::vector<HostContext>& answers, const std::vector<HostContext>& forwards, TraceBuilder& builder,
             ProcessTrace* ranges) {
    std::sort(asked.begin(), asked.end());
    std::vector<Open> stack;
    HostContext last;
    bool changed = true;
    std::size_t next = 0;
    const auto close_until = [&](std::uint32_t thread, std::uint64_t time) {
      const std::size_t before = stack.size();
      std::erase_if(stack, [&](const Open& open) { return open.span->thread != thread || open.span->end < time; });
      changed |= stack.size() != before;
    };
    const auto open_span = [&](const Span& span) {
      // Each span visits the open ones; a hostile file could keep all open.
      constexpr std::size_t kDeepest = 4096;
      close_until(span.thread, span.start);
      if (stack.size() >= kDeepest) source_.fail("more than 4096 nested events in a thread");
      spool::Id range = stack.empty() ? 0 : stack.back().range;
      if (span.kind == SpanKind::annotation) {
        range = builder.range(range, words_[span.what]);
        if (ranges != nullptr) {
          ranges->range_times.push_back(
              {.start = span.start, .end = span.end, .range = range, .thread = thread_ids_[span.thread]});
        }
      }
      stack.push_back({&span, range});
      changed = true;
    };
    for (const auto& [moment, index] : asked) {
      for (; next < order.size(); ++next) {
        const Span& span = spans_[order[next]];
        if (std::tie(span.thread, span.start) > std::tie(moment.thread, moment.time)) break;
        open_span(span);
      }
      close_until(moment.thread, moment.time);
      if (changed) last = host_context(stack, forwards);
      changed = false;
      answers[index] = last;
    }
    if (ranges == nullptr) return;
    for (; next < order.size(); ++next) {
      if (spans_[order[next]].kind == SpanKind::annotation) open_span(spans_[order[next]]);
    }
  }

  HostContext host_context(const std::vector<Open>& stack, const std::vector<HostContext>& forwards) const {
    HostContext here;
    if (!stack.empty()) here.range = stack.back().range;
    for (const Open& open : stack) {
      const Span& span = *open.span;
      switch (span.kind) {
        case SpanKind::module:
          here.module += (here.module.empty() ? "" : ".") + words_[span.what];
          break;
        case SpanKind::function:
          here.line = span.what;
          break;
        case SpanKind::operation: {
          here.signature = span.what;
          const auto forward = backward_at_.find({span.thread, span.start});
          if (forward == backward_at_.end() || forwards.empty()) break;
          here.backward = true;
          here.module = forwards[forward->second].module;
          here.line = forwards[forward->second].line;
          break;
        }
        case SpanKind::annotation:
          break;
      }
    }
    return here;
  }

  // Writing

  void write_calls(ProcessTrace& trace, TraceBuilder& builder) {
    std::set<std::int64_t> launched;
    for (const Call& call : calls_) {
      const spool::CallKind kind = call_kind(words_[call.name]);
      const auto correlation = small(call.correlation);
      if (kind == spool::CallKind::launch || kind == spool::CallKind::graph_launch) {
        // Its kernels know their kinds themselves.
        const spool::Id of = kind == spool::CallKind::graph_launch ? builder.graph_launch() : 0;
        trace.launches.push_back({.start = call.start,
                                  .end = call.end,
                                  .correlation = correlation,
                                  .kind = of,
                                  .thread = thread_ids_[call.thread],
                                  .flags = 0});
      } else {
        trace.calls.push_back({.start = call.start,
                               .end = call.end,
                               .correlation = correlation,
                               .name = builder.text(words_[call.name]),
                               .kind = kind,
                               .thread = thread_ids_[call.thread],
                               .place = 0,
                               .reserved = 0});
      }
    }
  }

  /// A kernel's place among the kernels of its operator call.
  struct Share {
    std::uint32_t kernels = 0;  ///< of that call of the operator
    bool longest = false;
  };

  std::vector<Share> shares() const {
    std::vector<Share> shares(gpu_.size());
    std::vector<std::uint32_t> order;
    for (std::size_t i = 0; i < gpu_.size(); ++i) {
      if (gpu_[i].kind == GpuKind::kernel && gpu_[i].external != kNone) order.push_back(static_cast<std::uint32_t>(i));
    }
    std::stable_sort(order.begin(), order.end(),
                     [this](auto a, auto b) { return gpu_[a].external < gpu_[b].external; });
    for (std::size_t i = 0; i < order.size();) {
      std::size_t end = i;
      std::uint32_t longest = order[i];
      const auto length = [this](std::uint32_t of) { return gpu_[of].end - gpu_[of].start; };
      for (; end < order.size() && gpu_[order[end]].external == gpu_[order[i]].external; ++end) {
        if (length(order[end]) > length(longest)) longest = order[end];
      }
      for (std::size_t k = i; k < end; ++k) {
        shares[order[k]] = {.kernels = static_cast<std::uint32_t>(end - i), .longest = order[k] == longest};
      }
      i = end;
    }
    return shares;
  }

  OpCall call_of(const Signature& signature) const {
    return {.name = words_[signature.name],
            .dims = words_[signature.dims],
            .types = words_[signature.types],
            .concrete = words_[signature.concrete]};
  }

  /// Text and work of a signature, computed once.
  struct Operator {
    std::string text;
    std::optional<OpWork> work;
    std::string by;
  };

  const Operator& operator_of(std::uint32_t signature) {
    const auto [found, is_new] = operators_.try_emplace(signature);
    Operator& of = found->second;
    if (!is_new || signature == 0) return of;
    const OpCall call = call_of(signatures_[signature]);
    of.text = text_of(call);
    of.work = work_of(call);
    of.by = "roofline, from the shapes of " + of.text;
    const Signature& stated = signatures_[signature];
    if (!of.work && (stated.flops > 0 || stated.bytes > 0)) {
      OpWork work;
      const bool product = call.name.find("_mm") != std::string_view::npos;
      const DType type = call.types.find("BFloat16") != std::string_view::npos ? DType::bf16
                         : call.types.find("Half") != std::string_view::npos   ? DType::fp16
                                                                               : DType::fp32;
      if (stated.flops > 0) {
        work.work.flops[product ? matrix_pipe(type, DeviceKind::cuda) : vector_pipe(type)] = stated.flops;
      }
      // Only the sum is stated; all of it counts as read, which gives the higher roof.
      if (stated.bytes > 0) work.work.bytes[Level::hbm] = {.read = stated.bytes, .write = 0};
      work.work.launches = 0;
      of.work = work;
      of.by = "Inductor (kernel_flop, kernel_num_gb)";
    }
    return of;
  }

  void write_gpu(ImportedProfile& profile, TraceBuilder& builder) {
    const std::vector<Share> share = shares();
    std::map<spool::Id, std::pair<std::int64_t, std::int64_t>> votes;  ///< of launches: with work and without
    for (std::size_t i = 0; i < gpu_.size(); ++i) {
      const GpuEvent& event = gpu_[i];
      const HostContext& where = places_[i];
      const Span* operation = operation_of(event.external);
      const std::uint32_t signature = operation != nullptr ? operation->what : where.signature;
      const Operator& of = operator_of(signature);
      const bool sends = event.collective != 0 && event.kind == GpuKind::kernel;
      const spool::Id place = write_place(builder, where, sends ? words_[event.collective] : of.text);
      if (event.kind != GpuKind::kernel) {
        write_transfer(profile.trace, event, place);
        continue;
      }
      const spool::Id kind = builder.kind({.name = words_[event.name],
                                           .grid = event.grid,
                                           .block = event.block,
                                           .cluster = {},
                                           .dynamic_shared = event.shared,
                                           .place = place});
      spool::Kernel kernel = {};
      kernel.start = event.start;
      kernel.end = event.end;
      kernel.correlation = small(event.correlation);
      kernel.kind = kind;
      kernel.device = event.device;
      kernel.context = event.context;
      kernel.stream = event.stream;
      kernel.registers = event.registers;
      profile.trace.kernels.push_back(kernel);
      if (sends) {
        give_work(profile.trace, kind, collective_work(event.collective), "roofline, from NCCL's message sizes");
        continue;
      }
      const std::string why = why_no_work(of, share[i], words_[event.name]);
      ++(why.empty() ? votes[kind].first : votes[kind].second);
      if (why.empty()) {
        give_work(profile.trace, kind, of.work->work, of.by);
      } else {
        reasons_.try_emplace(kind, why);
      }
    }
    for (const auto& [kind, vote] : votes) {
      if (vote.first > vote.second) continue;
      profile.trace.models.erase(kind);
      builder.without_work(kind, reasons_[kind]);
    }
  }

  static void give_work(ProcessTrace& trace, spool::Id kind, const Work& work, const std::string& by) {
    if (!trace.models.contains(kind)) trace.models[kind] = {.work = work, .by = by};
  }

  Work collective_work(std::uint32_t word) const {
    Work work;
    work.launches = 0;
    const auto found = collectives_.find(word);
    if (found != collectives_.end()) work.bytes[Level::nvlink] = {.read = 0, .write = found->second};
    return work;
  }

  /// Empty where it has.
  static std::string why_no_work(const Operator& of, const Share& share, const std::string& kernel) {
    if (of.text.empty()) return "not launched by a PyTorch operator in the trace";
    if (!of.work) {
      return of.text.find('(') == std::string::npos && of.text.starts_with("aten::")
                 ? of.text + ": shapes not recorded (record_shapes=True)"
                 : of.text.substr(0, of.text.find('(')) + ": no work model";
    }
    if (of.work->by_gradient) {
      const bool gradient = kernel.find("dgrad") != std::string::npos || kernel.find("wgrad") != std::string::npos;
      return gradient ? "" : "can't tell which gradient it computes";
    }
    if (share.kernels <= 1 || (of.work->by_longest_kernel && share.longest)) return {};
    if (of.work->by_longest_kernel) return "its operator's work is attributed to another kernel";
    return fmt::format("one of {} kernels of {}", share.kernels, of.text.substr(0, of.text.find('(')));
  }

  spool::Id write_place(TraceBuilder& builder, const HostContext& where, std::string_view operation) {
    ImportedPlace place;
    place.range = where.range;
    place.module = where.module;
    place.operation = operation;
    place.backward = where.backward;
    // "program.py(43): forward"
    const std::string_view text = words_[where.line];
    const std::size_t open = text.rfind(".py("), close = text.find("): ", open == std::string_view::npos ? 0 : open);
    if (open != std::string_view::npos && close != std::string_view::npos) {
      place.file = text.substr(0, open + 3);
      place.function = text.substr(close + 3);
      for (const char digit : text.substr(open + 4, close - open - 4)) {
        if (digit >= '0' && digit <= '9') place.line = place.line * 10 + static_cast<std::uint32_t>(digit - '0');
      }
    }
    return builder.place(place);
  }

  void write_transfer(ProcessTrace& trace, const GpuEvent& event, spool::Id place) const {
    if (event.kind == GpuKind::fill) {
      trace.fills.push_back({.start = event.start,
                             .end = event.end,
                             .bytes = event.bytes,
                             .correlation = small(event.correlation),
                             .device = event.device,
                             .context = event.context,
                             .stream = event.stream,
                             .graph = 0,
                             .place = place});
      return;
    }
    spool::Copy copy = {};
    copy.start = event.start;
    copy.end = event.end;
    copy.bytes = event.bytes;
    copy.correlation = small(event.correlation);
    copy.device = copy.peer = event.device;
    copy.context = event.context;
    copy.stream = event.stream;
    copy.place = place;
    // "Memcpy HtoD (Pageable -> Device)"
    const std::string_view name = words_[event.name];
    const std::size_t arrow = name.find("->");
    copy.from = memory_in(name.substr(0, arrow));
    copy.to = arrow == std::string_view::npos ? spool::Memory::unknown : memory_in(name.substr(arrow));
    if (event.collective != 0 || name.find("PtoP") != std::string_view::npos) copy.peer = event.device + 1;
    trace.copies.push_back(copy);
  }

  static spool::Memory memory_in(std::string_view text) {
    static constexpr std::pair<std::string_view, spool::Memory> kNames[] = {{"Pageable", spool::Memory::pageable},
                                                                            {"Pinned", spool::Memory::pinned},
                                                                            {"Device", spool::Memory::device},
                                                                            {"Array", spool::Memory::array},
                                                                            {"Managed", spool::Memory::managed}};
    for (const auto& [name, memory] : kNames) {
      if (text.find(name) != std::string_view::npos) return memory;
    }
    return spool::Memory::unknown;
  }

  void add_notes(ImportedProfile& profile) const {
    note_no_counters(profile.trace, "torch.profiler");
    if (gpu_.empty()) profile.notes.emplace_back("the trace has no GPU activity (activities=[ProfilerActivity.CUDA])");
    if (invalid_times_ > 0) {
      profile.notes.push_back(fmt::format("{} host events with invalid times were skipped", invalid_times_));
    }
    const bool shapes = std::any_of(signatures_.begin(), signatures_.end(), [](auto& s) { return s.dims != 0; });
    if (!gpu_.empty() && !shapes) {
      profile.notes.emplace_back("no shapes in the trace (record_shapes=True): operators have times but no work");
    }
  }

  ByteSource& source_;
  Words words_;
  std::map<Signature, std::uint32_t> signature_ids_;
  std::vector<Signature> signatures_;
  std::vector<Span> spans_;
  std::vector<Call> calls_;
  std::vector<GpuEvent> gpu_;
  std::vector<std::pair<std::int64_t, std::uint32_t>> operations_;  ///< spans, by External id
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> threads_;
  std::vector<std::uint32_t> thread_ids_;
  std::unordered_map<std::int64_t, Moment> forward_;  ///< by flow
  std::vector<std::pair<Moment, std::int64_t>> backward_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> backward_at_;
  std::vector<HostContext> places_;  ///< of GPU events
  std::unordered_map<std::uint32_t, Operator> operators_;
  std::unordered_map<std::uint32_t, double> collectives_;
  std::map<spool::Id, std::string> reasons_;
  std::int64_t process_ = 0;
  std::int64_t invalid_times_ = 0;
};

}  // namespace

ImportedProfile read_kineto(ByteSource& source) { return Kineto(source).read(); }

}  // namespace roofline
