// The events of a trace are in no order: they are stored as compact records and joined at the end. GPU events refer to
// the call that launched them (correlation); operators, modules, ranges and lines are spans of the calling thread.
// External id is an operator's number in some versions and the correlation in others: it is used without a call only.
#include "import/kineto.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "import/kineto_booking.hpp"
#include "import/kineto_context.hpp"
#include "import/kineto_devices.hpp"
#include "import/kineto_events.hpp"
#include "import/kineto_origins.hpp"
#include "import/op_work.hpp"
#include "profile/recording.hpp"
#include "report/work_source.hpp"
#include "text/block_names.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace kineto {
namespace {

/// A time in ns since 1970; 0 where it cannot be one. Traces without a base have such times, unless they count from the
/// boot of the machine.
std::uint64_t since_epoch(std::int64_t base_ns, std::uint64_t time_ns) {
  constexpr std::uint64_t kFirst = 1'000'000'000'000'000'000, kLast = 4 * kFirst;  // 2001 to 2096
  const std::uint64_t time = static_cast<std::uint64_t>(std::max<std::int64_t>(0, base_ns)) + time_ns;
  return time >= kFirst && time < kLast ? time : 0;
}

/// Kernels that CUPTI counted: they have counters, and no times of their own.
constexpr std::string_view kCounterRanges = "cuda_profiler_range";

class ProfileWriter {
 public:
  explicit ProfileWriter(ByteSource& source)
      : source_(source), events_(read_events(source)), origins_(origins_of(events_)) {}

  ImportedProfile write() {
    ImportedProfile profile;
    profile.kind = ImportedKind::kineto;
    profile.tool = "torch.profiler";
    profile.devices = devices_of(events_);
    profile.trace.process.pid = small(events_.rank >= 0 ? events_.rank : events_.last_process);
    profile.trace.times_by = profile.tool;
    TraceBuilder builder(profile.trace);
    for (const DeviceFacts& device : profile.devices) builder.device(device, source_.name());
    places_ = host_contexts(events_, origins_, source_, builder, profile.trace);
    write_calls(builder);
    write_gpu(profile, builder);
    profile.time_defects = events_.time_defects;
    clean_times(profile.trace, profile.time_defects);
    profile.began_ns = since_epoch(events_.base_ns, builder.finish());
    add_notes(profile);
    return profile;
  }

 private:
  void write_calls(TraceBuilder& builder) const {
    for (const Call& call : events_.calls) {
      builder.call(events_.words[call.name], {.start = call.start,
                                              .end = call.end,
                                              .correlation = number_of(call),
                                              .thread = events_.thread_ids[call.thread]});
    }
  }

  /// Numbers of the trace are unique within a process only, and may exceed 32 bits.
  std::uint32_t number_of(const Call& call) const {
    return static_cast<std::uint32_t>(&call - events_.calls.data()) + 1;
  }

  /// That of its call; events without one share a number where they do in the trace, as those of a graph do. 0: none.
  std::uint32_t number_of(std::size_t index) {
    const GpuEvent& event = events_.gpu[index];
    if (const Call* call = origins_.of[index].call) return number_of(*call);
    if (event.correlation == kNone) return 0;
    const auto next = static_cast<std::uint32_t>(events_.calls.size() + without_call_.size()) + 1;
    return without_call_.try_emplace({event.process, event.device, event.correlation}, next).first->second;
  }

  /// By a kernel's name, which many kernels share.
  std::optional<Gradient> gradient_of_kernel(std::uint32_t name) const {
    const auto [found, is_new] = gradients_.try_emplace(name);
    if (is_new) found->second = gradient_of(events_.words[name]);
    return found->second;
  }

  Work work_of_kernel(const OpWork& work, std::uint32_t name) const {
    const auto gradient = gradient_of_kernel(name);
    const auto part = gradient ? work.gradients.find(*gradient) : work.gradients.end();
    return part == work.gradients.end() ? work.work : part->second;
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
    std::uint64_t identity = 0;  ///< of the work: operators of equal shapes may do different work
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
      if (stated.bytes > 0) work.work.bytes[Level::hbm] = unsplit_traffic(stated.bytes);
      work.work.launches = 0;
      of.work = work;
      of.by = "Inductor (kernel_flop, kernel_num_gb)";
    }
    if (of.work) of.identity = work_identity(of.work->work);
    return of;
  }

  void write_gpu(ImportedProfile& profile, TraceBuilder& builder) {
    std::vector<KernelOfOperator> kernels;
    for (std::size_t i = 0; i < events_.gpu.size(); ++i) {
      const GpuEvent& event = events_.gpu[i];
      const HostContext& where = places_[i];
      const Operator& of = operator_of(where.signature);
      const bool sends = event.collective != 0 && event.kind == GpuKind::kernel;
      const spool::Id place = write_place(builder, where, sends ? events_.words[event.collective] : of.text);
      if (event.kind != GpuKind::kernel) {
        write_transfer(profile.trace, i, place);
        continue;
      }
      const spool::Id kind = write_kernel(profile.trace, builder, i, place);
      if (sends) {
        profile.trace.models.try_emplace(kind, ProcessTrace::Model{.work = collective_work(event.collective),
                                                                   .by = "roofline, from NCCL's message sizes"});
      } else {
        kernels.push_back({.operation = where.operation,
                           .signature = where.signature,
                           .kind = kind,
                           .row = row_of(profile.trace, kind),
                           .name = event.name,
                           .start = event.start,
                           .length = event.end - event.start,
                           .device = event.device,
                           .stream = event.stream});
      }
    }
    for (const BookedKind& booked : book(kernels)) {
      const Operator& of = operator_of(booked.signature);
      if (booked.share > 0) {
        profile.trace.models.try_emplace(
            booked.kind,
            ProcessTrace::Model{.work = part_of(work_of_kernel(*of.work, booked.name), booked.share), .by = of.by});
      } else {
        builder.without_work(booked.kind, why_no_work(of, booked, gradient_of_kernel(booked.name)));
      }
    }
  }

  /// Kinds whose places differ by the numbers in their ranges and modules share a row, and its work.
  spool::Id row_of(const ProcessTrace& trace, spool::Id id) {
    const auto known = rows_of_kinds_.find(id);
    if (known != rows_of_kinds_.end()) return known->second;
    const spool::Kind& kind = trace.kind(id);
    const spool::Place& place = trace.place(kind.place);
    const std::string key =
        fmt::format("{}|{}|{}|{}|{:x}|{}|{}|{}|{}|{}", kind.name, fmt::join(kind.grid, "x"), fmt::join(kind.block, "x"),
                    kind.dynamic_shared, kind.scalars, any_block(trace.text(place.module)),
                    without_numbers(range_path(trace, place.range)), place.line, place.backward, place.operation);
    const auto row = rows_.try_emplace(key, static_cast<spool::Id>(rows_.size() + 1)).first->second;
    return rows_of_kinds_[id] = row;
  }

  std::vector<BookedKind> book(const std::vector<KernelOfOperator>& kernels) {
    return book_work(kernels, [this](const KernelOfOperator& kernel) {
      const Operator& of = operator_of(kernel.signature);
      if (!of.work) return WorkRule::none;
      if (of.work->gradients.empty()) return of.work->by_longest_kernel ? WorkRule::longest : WorkRule::alone;
      const std::optional<Gradient> gradient = gradient_of_kernel(kernel.name);
      if (!gradient) return WorkRule::none;
      return *gradient == Gradient::input ? WorkRule::data_gradient : WorkRule::weight_gradient;
    });
  }

  spool::Id write_kernel(ProcessTrace& trace, TraceBuilder& builder, std::size_t index, spool::Id place) {
    const GpuEvent& event = events_.gpu[index];
    spool::Kernel kernel = {};
    kernel.start = event.start;
    kernel.end = event.end;
    kernel.correlation = number_of(index);
    kernel.kind = builder.kind({.name = events_.words[event.name],
                                .grid = event.grid,
                                .block = event.block,
                                .cluster = {},
                                .dynamic_shared = event.shared,
                                .place = place,
                                .scalars = operator_of(places_[index].signature).identity});
    kernel.device = event.device;
    kernel.context = event.context;
    kernel.stream = event.stream;
    kernel.graph_node = event.graph_node;
    kernel.registers = event.registers;
    trace.kernels.push_back(kernel);
    return kernel.kind;
  }

  Work collective_work(std::uint32_t word) const {
    Work work;
    work.launches = 0;
    const auto found = events_.collectives.find(word);
    if (found != events_.collectives.end()) work.bytes[Level::nvlink] = {.read = 0, .write = found->second};
    return work;
  }

  static std::string why_no_work(const Operator& of, const BookedKind& booked, std::optional<Gradient> gradient) {
    if (of.text.empty()) return "not launched by a PyTorch operator in the trace";
    const std::string name = of.text.substr(0, of.text.find('('));
    if (!of.work) {
      if (of.text == name && name.starts_with("aten::")) return name + ": shapes not recorded (record_shapes=True)";
      return name +
             (has_model(name) ? ": its arguments are not recorded or don't fit the work model" : ": no work model");
    }
    if (!of.work->gradients.empty() && !gradient) return "can't tell which gradient it computes";
    if (!of.work->gradients.empty() || of.work->by_longest_kernel) {
      return "its operator's work is attributed to another kernel";
    }
    return fmt::format("one of {} kernels of {}", booked.siblings, name);
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

  void write_transfer(ProcessTrace& trace, std::size_t index, spool::Id place) {
    const GpuEvent& event = events_.gpu[index];
    const std::uint32_t correlation = number_of(index);
    if (event.kind == GpuKind::fill) {
      trace.fills.push_back({.start = event.start,
                             .end = event.end,
                             .bytes = event.bytes,
                             .correlation = correlation,
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
    copy.correlation = correlation;
    copy.device = copy.peer = event.device;
    copy.context = event.context;
    copy.stream = event.stream;
    copy.place = place;
    // "Memcpy HtoD (Pageable -> Device)"
    const std::string_view name = events_.words[event.name];
    const std::size_t arrow = name.find("->");
    copy.from = memory_in(name.substr(0, arrow));
    copy.to = arrow == std::string_view::npos ? spool::Memory::unknown : memory_in(name.substr(arrow));
    // "Memcpy M2D (Host (User Allocated) -> Device)" of Level Zero
    constexpr std::string_view kBegin = "Memcpy ";
    if (name.starts_with(kBegin) && name.size() >= kBegin.size() + 3 && name[kBegin.size() + 1] == '2') {
      copy.from = memory_of_letter(name[kBegin.size()]);
      copy.to = memory_of_letter(name[kBegin.size() + 2]);
    }
    // "Memcpy HtoD" without the kinds of memory
    const auto [from, to] = ends_of(name);
    if (copy.from == spool::Memory::unknown) copy.from = from;
    if (copy.to == spool::Memory::unknown) copy.to = to;
    if (event.collective != 0 || name.find("PtoP") != std::string_view::npos) copy.peer = event.device + 1;
    trace.copies.push_back(copy);
  }

  /// "HtoD" in the name of a copy.
  static std::pair<spool::Memory, spool::Memory> ends_of(std::string_view name) {
    const std::size_t at = name.find("to", 1);
    if (at == std::string_view::npos || at + 2 >= name.size()) return {};
    const auto memory = [](char letter) {
      return letter == 'H' ? spool::Memory::host : letter == 'D' ? spool::Memory::device : spool::Memory::unknown;
    };
    return {memory(name[at - 1]), memory(name[at + 2])};
  }

  static spool::Memory memory_in(std::string_view text) {
    static constexpr std::pair<std::string_view, spool::Memory> kNames[] = {
        {"Pageable", spool::Memory::pageable}, {"Pinned", spool::Memory::pinned}, {"Device", spool::Memory::device},
        {"Host", spool::Memory::host},         {"Array", spool::Memory::array},   {"Managed", spool::Memory::managed}};
    for (const auto& [name, memory] : kNames) {
      if (text.find(name) != std::string_view::npos) return memory;
    }
    return spool::Memory::unknown;
  }

  /// "Memcpy M2D" of Level Zero: memory of malloc() to the device's.
  static spool::Memory memory_of_letter(char letter) {
    switch (letter) {
      case 'M':
        return spool::Memory::pageable;
      case 'H':
        return spool::Memory::pinned;
      case 'D':
        return spool::Memory::device;
      case 'S':
        return spool::Memory::managed;
      default:
        return spool::Memory::unknown;
    }
  }

  /// What to do about a trace without GPU events. With calls of CUDA in it, the activity of the device was on.
  std::string how_to_record(const ProcessTrace& trace) const {
    if (lower_case(events_.categories.list_unknown()).find("privateuse1") != std::string::npos) {
      return "events of its device (PrivateUse1) are not imported: GPUs of NVIDIA, AMD and Intel are supported";
    }
    if (events_.categories.has_prefix("mtia_")) {
      return "events of an MTIA device (mtia_ccp_events) are not read: GPUs of NVIDIA, AMD and Intel are supported";
    }
    if (events_.categories.has_prefix(kCounterRanges)) {
      return "it has counters of ranges (cuda_profiler_range) and no kernels, because CUPTI replays to count: record "
             "again without profiler_metrics in _ExperimentalConfig, and join an ncu report for FLOPs and bytes";
    }
    return why_no_kernels(
        trace, "record without another profiler (nsys, ncu, DCGM), with a PyTorch and CUPTI for the installed driver",
        events_.calls.empty() ? "record with the activity of the device, such as activities=[ProfilerActivity.CUDA]"
                              : "it has calls of the GPU's runtime, but no launch: record a part with kernels");
  }

  void add_notes(ImportedProfile& profile) const {
    note_no_counters(profile.trace, "torch.profiler", profile.devices);
    if (events_.gpu.empty()) {
      profile.notes.push_back(fmt::format("no valid GPU event among its categories: {}; {}", events_.categories.list(),
                                          how_to_record(profile.trace)));
    } else if (const std::string unknown = events_.categories.list_unknown(); !unknown.empty()) {
      profile.notes.push_back("events of unknown categories were left out: " + unknown);
    }
    if (events_.stayed_open) profile.notes.emplace_back(kStayedOpen);
    if (events_.shared_devices > 0) {
      profile.notes.push_back(
          counted_noun(events_.shared_devices,
                       "GPU number occurs in several processes of the trace, as after a merge of ranks",
                       "GPU numbers occur in several processes of the trace, as after a merge of ranks") +
          ": each process has a GPU of its own here");
    }
    if (origins_.ambiguous > 0) {
      profile.notes.push_back(fmt::format(
          "{} GPU events have no operator: their numbers occur in several processes of the trace", origins_.ambiguous));
    }
    const bool shapes =
        std::any_of(events_.signatures.begin(), events_.signatures.end(), [](auto& s) { return s.dims != 0; });
    if (!events_.gpu.empty() && !shapes && profile.trace.models.empty()) {
      profile.notes.emplace_back("no shapes in the trace (record_shapes=True): operators have times but no work");
    }
  }

  ByteSource& source_;
  const Events events_;
  const Origins origins_;
  std::vector<HostContext> places_;  ///< of GPU events
  std::unordered_map<std::uint32_t, Operator> operators_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>, std::uint32_t> without_call_;
  std::map<std::string, spool::Id> rows_;
  std::map<spool::Id, spool::Id> rows_of_kinds_;
  mutable std::unordered_map<std::uint32_t, std::optional<Gradient>> gradients_;  ///< by the word of a kernel's name
};

}  // namespace
}  // namespace kineto

ImportedProfile read_kineto(ByteSource& source) { return kineto::ProfileWriter(source).write(); }

}  // namespace roofline
