// The events of a trace are in no order: they are stored as compact records and joined at the end. GPU events refer to
// the call that launched them (correlation) and to the operator (External id); modules, ranges and lines are spans of
// the calling thread.
#include "import/kineto.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "import/kineto_context.hpp"
#include "import/kineto_events.hpp"
#include "import/op_work.hpp"

namespace roofline {
namespace kineto {
namespace {

class ProfileWriter {
 public:
  explicit ProfileWriter(ByteSource& source) : source_(source), events_(read_events(source)) {}

  ImportedProfile write() {
    ImportedProfile profile;
    profile.kind = ImportedKind::kineto;
    profile.tool = "torch.profiler";
    profile.devices = events_.devices;
    profile.trace.process.pid = small(events_.rank >= 0 ? events_.rank : events_.process);
    profile.trace.times_by = profile.tool;
    TraceBuilder builder(profile.trace);
    add_devices(profile, builder);
    places_ = host_contexts(events_, source_, builder, profile.trace);
    write_calls(builder);
    write_gpu(profile, builder);
    profile.time_defects = events_.time_defects;
    clean_times(profile.trace, profile.time_defects);
    builder.finish();
    add_notes(profile);
    return profile;
  }

 private:
  void add_devices(ImportedProfile& profile, TraceBuilder& builder) {
    std::set<std::uint32_t> known, used;
    for (const DeviceFacts& device : profile.devices) known.insert(device.index);
    for (const GpuEvent& event : events_.gpu) used.insert(event.device);
    for (const std::uint32_t index : used) {
      if (known.contains(index)) continue;
      DeviceFacts unknown = profile.devices.empty() ? DeviceFacts{} : profile.devices.front();
      unknown.index = index;
      profile.devices.push_back(unknown);
    }
    std::erase_if(profile.devices, [&](const DeviceFacts& device) { return !used.contains(device.index); });
    for (const DeviceFacts& device : profile.devices) builder.device(device, source_.name());
  }

  void write_calls(TraceBuilder& builder) const {
    for (const Call& call : events_.calls) {
      builder.call(events_.words[call.name], {.start = call.start,
                                              .end = call.end,
                                              .correlation = small(call.correlation),
                                              .thread = events_.thread_ids[call.thread]});
    }
  }

  /// A kernel's place among the kernels of its operator call.
  struct Share {
    std::uint32_t kernels = 0;  ///< of that call of the operator
    bool longest = false;
  };

  std::vector<Share> shares() const {
    std::vector<Share> shares(events_.gpu.size());
    std::vector<std::uint32_t> order;
    for (std::size_t i = 0; i < events_.gpu.size(); ++i) {
      if (events_.gpu[i].kind == GpuKind::kernel && events_.gpu[i].external != kNone)
        order.push_back(static_cast<std::uint32_t>(i));
    }
    std::stable_sort(order.begin(), order.end(),
                     [this](auto a, auto b) { return events_.gpu[a].external < events_.gpu[b].external; });
    for (std::size_t i = 0; i < order.size();) {
      std::size_t end = i;
      std::uint32_t longest = order[i];
      const auto length = [this](std::uint32_t of) { return events_.gpu[of].end - events_.gpu[of].start; };
      for (; end < order.size() && events_.gpu[order[end]].external == events_.gpu[order[i]].external; ++end) {
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
    return {.name = events_.words[signature.name],
            .dims = events_.words[signature.dims],
            .types = events_.words[signature.types],
            .concrete = events_.words[signature.concrete]};
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
    const OpCall call = call_of(events_.signatures[signature]);
    of.text = text_of(call);
    of.work = work_of(call);
    of.by = "roofline, from the shapes of " + of.text;
    const Signature& stated = events_.signatures[signature];
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
    for (std::size_t i = 0; i < events_.gpu.size(); ++i) {
      const GpuEvent& event = events_.gpu[i];
      const HostContext& where = places_[i];
      const Span* operation = events_.operation_of(event.external);
      const std::uint32_t signature = operation != nullptr ? operation->what : where.signature;
      const Operator& of = operator_of(signature);
      const bool sends = event.collective != 0 && event.kind == GpuKind::kernel;
      const spool::Id place = write_place(builder, where, sends ? events_.words[event.collective] : of.text);
      if (event.kind != GpuKind::kernel) {
        write_transfer(profile.trace, event, place);
        continue;
      }
      const spool::Id kind = builder.kind({.name = events_.words[event.name],
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
      kernel.graph_node = event.graph_node;
      kernel.registers = event.registers;
      profile.trace.kernels.push_back(kernel);
      if (sends) {
        give_work(profile.trace, kind, collective_work(event.collective), "roofline, from NCCL's message sizes");
        continue;
      }
      const std::string why = why_no_work(of, share[i], events_.words[event.name]);
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
    const auto found = events_.collectives.find(word);
    if (found != events_.collectives.end()) work.bytes[Level::nvlink] = {.read = 0, .write = found->second};
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
    const std::string_view text = events_.words[where.line];
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
    const std::string_view name = events_.words[event.name];
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
    if (events_.gpu.empty())
      profile.notes.emplace_back("the trace has no GPU activity (activities=[ProfilerActivity.CUDA])");
    const bool shapes =
        std::any_of(events_.signatures.begin(), events_.signatures.end(), [](auto& s) { return s.dims != 0; });
    if (!events_.gpu.empty() && !shapes) {
      profile.notes.emplace_back("no shapes in the trace (record_shapes=True): operators have times but no work");
    }
  }

  ByteSource& source_;
  const Events events_;
  std::vector<HostContext> places_;  ///< of GPU events
  std::unordered_map<std::uint32_t, Operator> operators_;
  std::map<spool::Id, std::string> reasons_;
};

}  // namespace
}  // namespace kineto

ImportedProfile read_kineto(ByteSource& source) { return kineto::ProfileWriter(source).write(); }

}  // namespace roofline
