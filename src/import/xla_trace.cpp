// A GPU is a process named "/device:GPU:0", its streams are threads named "Stream #13(Compute)". Other threads of it
// repeat the kernels as modules and operations.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "import/chrome_events.hpp"
#include "import/clean_times.hpp"
#include "import/event_pairs.hpp"
#include "import/other_tools.hpp"
#include "import/xla_details.hpp"
#include "text/parse.hpp"

namespace roofline {
namespace {

constexpr std::string_view kGpu = "/device:GPU:";
constexpr const char* kGpusOnly =
    "record a run on a GPU (jax.profiler.trace): GPUs of NVIDIA, AMD and Intel are supported";

class XlaTrace {
 public:
  explicit XlaTrace(ByteSource& source) : source_(source), builder_(profile_.trace) {}

  ImportedProfile read() {
    profile_.kind = ImportedKind::xla;
    profile_.tool = "the profiler of JAX and TensorFlow (XLA)";
    profile_.trace.times_by = kXlaProfiler;
    const auto wanted = [](std::string_view name) {
      return name == "name" || name == "hlo_op" || name == "hlo_module" || name == "tf_op" ||
             name == "correlation_id" || name == "kernel_details" || name == "memcpy_details";
    };
    const ChromeTrace events = read_chrome_trace(source_, wanted, [this](ChromeEvent& event) { take(event); });
    if (events.stayed_open) profile_.notes.emplace_back(kStayedOpen);
    ProcessTrace& trace = profile_.trace;
    if (trace.kernels.empty() && trace.copies.empty()) {
      if (has_tpus_) source_.fail("a trace of JAX or TensorFlow of TPUs, which are not imported", kGpusOnly);
      source_.fail("a trace of JAX or TensorFlow without GPU streams (\"/device:GPU:0\"): nothing to read", kGpusOnly);
    }
    for (const auto& [process, index] : gpus_) profile_.devices.push_back({.index = index});
    for (const DeviceFacts& device : profile_.devices) builder_.device(device, source_.name());
    clean_times(trace, profile_.time_defects);
    builder_.finish();
    note_no_counters(trace, "XLA's profiler");
    profile_.notes.emplace_back("the trace names no GPU: roofs come from --machine");
    return std::move(profile_);
  }

 private:
  /// Names of processes and threads precede the events.
  void take(ChromeEvent& event) {
    constexpr std::size_t kMost = 4096;
    const std::string_view name = event.text("name");
    has_tpus_ |= event.phase == "M" && name.starts_with("/device:TPU:");
    if (event.phase == "M" && event.name == "process_name" && name.find(kGpu) != std::string_view::npos) {
      if (gpus_.size() < kMost) gpus_[event.process] = xla_number_behind(name, kGpu);
    } else if (event.phase == "M" && event.name == "thread_name" && name.find("Stream #") != std::string_view::npos) {
      if (streams_.size() < kMost) streams_[{event.process, event.thread}] = xla_number_behind(name, "Stream #");
    } else if (event.phase == "X" || event.is_unpaired() || event.is_asynchronous()) {
      const auto gpu = gpus_.find(event.process);
      const auto stream = streams_.find({event.process, event.thread});
      if (gpu == gpus_.end() || stream == streams_.end()) return;
      if (event.phase == "X") return add(event, gpu->second, stream->second);
      count_left_out(event, profile_.time_defects);
    }
  }

  template <typename Record>
  Record record_of(const ChromeEvent& event, std::uint32_t gpu, std::uint32_t stream) const {
    Record record = {};
    const Span when = event.times().value_or(Span{});
    record.start = when.start;
    record.end = when.end;
    record.device = gpu;
    record.stream = stream;
    const ChromeEvent::Argument* correlation = event.find("correlation_id");
    if (correlation != nullptr) record.correlation = parsed_number<std::uint32_t>(correlation->text).value_or(0);
    return record;
  }

  void add(const ChromeEvent& event, std::uint32_t gpu, std::uint32_t stream) {
    const std::string_view copied = event.text("memcpy_details");
    if (!copied.empty()) {
      auto copy = record_of<spool::Copy>(event, gpu, stream);
      copy.bytes = xla_detail(copied, "size:");
      copy.peer = gpu;
      const XlaCopyEnds ends = xla_copy_ends(copied, event.name);
      copy.from = ends.from;
      copy.to = ends.to;
      profile_.trace.copies.push_back(copy);
      return;
    }
    if (event.name.starts_with("Memset") || event.name.starts_with("Memcpy")) return;
    const std::string_view details = event.text("kernel_details");
    auto kernel = record_of<spool::Kernel>(event, gpu, stream);
    const std::string_view op = event.text("hlo_op");
    ImportedPlace place;
    place.module = event.text("hlo_module");
    place.operation = op.empty() ? event.text("tf_op") : op;
    kernel.kind = builder_.kind({.name = event.name,
                                 .grid = xla_extents(details, " grid:"),
                                 .block = xla_extents(details, " block:"),
                                 .cluster = {},
                                 .dynamic_shared = xla_small_detail(details, "dynamic_shared:"),
                                 .place = builder_.place(place)});
    kernel.registers = xla_small_detail(details, "regs:");
    kernel.static_shared = xla_small_detail(details, "static_shared:");
    if (kernel.kind > reasoned_) builder_.without_work(reasoned_ = kernel.kind, "XLA's trace has no FLOPs or bytes");
    profile_.trace.kernels.push_back(kernel);
  }

  ByteSource& source_;
  ImportedProfile profile_;
  TraceBuilder builder_;
  std::map<std::int64_t, std::uint32_t> gpus_;                              ///< by process
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> streams_;  ///< by process and thread
  bool has_tpus_ = false;
  spool::Id reasoned_ = 0;  ///< last signature that has its reason: new ones have higher ids
};

}  // namespace

ImportedProfile read_xla_trace(ByteSource& source) { return XlaTrace(source).read(); }

bool looks_like_xla_trace(std::string_view beginning) {
  const auto has = [beginning](std::string_view text) { return beginning.find(text) != std::string_view::npos; };
  return has("\"traceEvents\"") && (has("\"/device:") || has("\"/host:CPU\"") || has("\"hlo_module\""));
}

}  // namespace roofline
