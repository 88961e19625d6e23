#include "import/proton.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <vector>

#include "import/chrome_events.hpp"
#include "import/clean_times.hpp"
#include "import/event_pairs.hpp"
#include "import/json_stream.hpp"
#include "import/roofs.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr const char* kAuthor = "the kernel author (launch_metadata)";
/// Kernels of Proton itself, and scopes of what the author's launch_metadata launches to compute its figures. Proton's
/// own viewer leaves both out.
bool is_helper(std::string_view name) {
  return name.starts_with("__proton_launch_metadata") || name == "<metric>" || name.starts_with("<metadata>");
}

using Metrics = std::map<std::string, double, std::less<>>;

/// What the author states of one launch; std::nullopt if there is nothing. "flops16" are products on tensor cores, as
/// Proton's own viewer takes them, and so are those without a width, whose roof is then no lower than it should be.
std::optional<Work> work_of(const Metrics& metrics, double launches) {
  static constexpr std::pair<std::string_view, Pipe> kPipes[] = {{"flops8", Pipe::tensor_fp8},
                                                                 {"flops16", Pipe::tensor_fp16},
                                                                 {"flops32", Pipe::fp32},
                                                                 {"flops64", Pipe::fp64},
                                                                 {"flops", Pipe::tensor_fp16}};
  Work work;
  work.launches = 0;
  const auto stated = [&](std::string_view name) {
    const auto found = metrics.find(name);
    const double value = found == metrics.end() ? 0 : found->second / std::max(1.0, launches);
    if (!std::isfinite(value) || !(value > 0)) return 0.0;
    return value < 1 ? value : std::round(value);  // whole, so that equal launches of two scopes have equal work
  };
  for (const auto& [name, pipe] : kPipes) {
    if (stated(name) > 0) work.flops[pipe] += stated(name);
  }
  if (const double bytes = stated("bytes"); bytes > 0) work.bytes[Level::hbm] = unsplit_traffic(bytes);
  return work.flops.empty() && work.bytes.empty() ? std::nullopt : std::optional(work);
}

/// A kernel of the trace, with its work where the author states one.
spool::Id add_kind(ProcessTrace& trace, TraceBuilder& builder, const std::vector<std::string>& scopes,
                   const std::string& name, const Metrics& metrics, double launches) {
  ImportedPlace place;
  for (const std::string& scope : scopes) {
    if (scope != "ROOT" && !scope.empty()) place.range = builder.range(place.range, scope);
  }
  const auto work = work_of(metrics, launches);
  const spool::Id kind =
      builder.kind({.name = name, .place = builder.place(place), .scalars = work ? work_identity(*work) : 0});
  if (work && !trace.models.contains(kind))
    trace.models[kind] = {.work = *work, .by = kAuthor, .source = WorkSource::stated};
  if (!work) builder.without_work(kind, "launch_metadata states no FLOPs or bytes");
  return kind;
}

/// A node of the tree, in the order of the file: parents stand before their children.
struct Node {
  int parent = -1;
  std::string name;
  Metrics metrics;

  /// "time (ns)", "Time (ns)", "Count".
  double metric(std::string_view lower) const {
    for (const auto& [key, value] : metrics) {
      if (lower_case(key) == lower && std::isfinite(value)) return value;
    }
    return 0;
  }
};

class TreeReader final : public JsonEvents {
 public:
  std::vector<Node> nodes;
  std::vector<DeviceFacts> devices;

 private:
  enum class In : std::uint8_t { top, node, frame, metrics, children, vendor, device, other };

  In in() const { return in_.empty() ? In::other : in_.back(); }

  void open(bool object) override {
    In next = In::other;
    if (in_.empty() && !object) {
      next = In::top;
    } else if (object && (in() == In::top || in() == In::children)) {
      next = In::node;
      constexpr std::size_t kMost = std::size_t{1} << 24;
      if (nodes.size() >= kMost) source().fail("more than 16 million nodes");
      path_.push_back(static_cast<int>(nodes.size()));
      nodes.push_back({.parent = path_.size() > 1 ? path_[path_.size() - 2] : -1, .name = {}, .metrics = {}});
    } else if (in() == In::node) {
      next = key_ == "frame" && object       ? In::frame
             : key_ == "metrics" && object   ? In::metrics
             : key_ == "children" && !object ? In::children
             : object                        ? In::vendor
                                             : In::other;
    } else if (in() == In::vendor && object) {
      next = In::device;
      devices.emplace_back();
      devices.back().index = static_cast<std::uint32_t>(std::atoi(key_.c_str()));
    }
    in_.push_back(next);
  }

  void close(bool) override {
    if (in() == In::node) path_.pop_back();
    in_.pop_back();
  }

  void on_key(std::string& name) override { key_.swap(name); }

  void on_text(std::string& text) override {
    if (in() == In::frame && key_ == "name") nodes[static_cast<std::size_t>(path_.back())].name.swap(text);
    if (in() == In::device && key_ == "arch") take_arch(text);
    if (in() == In::metrics && key_ == "device_id") {
      nodes[static_cast<std::size_t>(path_.back())].metrics[key_] = std::atoi(text.c_str());
    }
  }

  void on_number(const JsonNumber& number) override {
    if (in() == In::metrics) nodes[static_cast<std::size_t>(path_.back())].metrics[key_] = number.value;
    if (in() != In::device) return;
    if (!std::isfinite(number.value)) return;
    DeviceFacts& device = devices.back();
    constexpr double kKilo = 1e3;
    if (key_ == "num_sms")
      device.sms = static_cast<std::uint32_t>(std::clamp<std::int64_t>(number.integer, 0, 1 << 20));
    if (key_ == "clock_rate") device.core_hz = number.value * kKilo;
    if (key_ == "memory_clock_rate") device.memory_hz = number.value * kKilo;
    if (key_ == "bus_width") device.bus_bits = number.value;
    if (key_ == "arch") take_arch(fmt::format("{}", number.integer));
  }

  void take_arch(const std::string& text) {
    if (text.starts_with("gfx")) {
      devices.back().chip = text;
      devices.back().is_amd = true;
    }
    const int arch = std::atoi(text.c_str());
    if (arch < 10 || arch > 9999) return;
    devices.back().compute_major = static_cast<std::uint32_t>(arch / 10);
    devices.back().compute_minor = static_cast<std::uint32_t>(arch % 10);
  }

  std::vector<In> in_;
  std::vector<int> path_;  ///< nodes around this place
  std::string key_;
};

std::vector<std::string> scopes_of(const std::vector<Node>& nodes, int node) {
  std::vector<std::string> scopes;
  for (; node >= 0; node = nodes[static_cast<std::size_t>(node)].parent) {
    scopes.push_back(nodes[static_cast<std::size_t>(node)].name);
  }
  std::reverse(scopes.begin(), scopes.end());
  return scopes;
}

/// Proton names no GPU. Different ones get names, so that each has the roofs of its attributes.
void name_different_models(std::vector<DeviceFacts>& devices) {
  const auto model = [](const DeviceFacts& device) {
    return std::tuple(device.compute_major, device.compute_minor, device.chip, device.sms);
  };
  const bool different = std::any_of(devices.begin(), devices.end(), [&](const DeviceFacts& device) {
    return model(device) != model(devices.front());
  });
  if (!different) return;
  for (DeviceFacts& device : devices) device.name = name_by_attributes(device);
}

ImportedProfile profile_of(const char* tool) {
  ImportedProfile profile;
  profile.kind = ImportedKind::proton;
  profile.tool = tool;
  profile.trace.times_by = tool;
  note_no_counters(profile.trace, "Proton");
  return profile;
}

}  // namespace

ImportedProfile read_proton_tree(ByteSource& source) {
  TreeReader reader;
  read_json(source, reader);
  const std::vector<Node>& nodes = reader.nodes;
  ImportedProfile profile = profile_of("Triton Proton");
  profile.has_starts = false;
  ProcessTrace& trace = profile.trace;
  TraceBuilder builder(trace);
  std::vector<bool> helpers(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const int parent = nodes[i].parent;
    helpers[i] = is_helper(nodes[i].name) || (parent >= 0 && helpers[static_cast<std::size_t>(parent)]);
  }
  std::vector<int> timed_children(nodes.size(), 0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const bool timed = !helpers[i] && nodes[i].metric("time (ns)") > 0;
    if (timed && nodes[i].parent >= 0) ++timed_children[static_cast<std::size_t>(nodes[i].parent)];
  }
  std::uint64_t clock = 1;
  double launches = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    const double time = node.metric("time (ns)");
    if (!(time > 0) || helpers[i]) continue;
    // Some versions sum up the times of a scope; its kernels have their own.
    if (timed_children[i] > 0) continue;
    const double count = std::max(1.0, std::round(node.metric("count")));
    constexpr double kMostLaunches = 1 << 23, kLongest = 1e17;
    launches += count;
    if (launches > kMostLaunches || time > kLongest) {
      source.fail(fmt::format("\"{}\" with {} launches of {} ns in total", node.name.substr(0, 80), count, time));
    }
    // The metadata may be on a scope around this kernel alone.
    const Metrics* stated = &node.metrics;
    if (!work_of(*stated, 1) && node.parent >= 0 && timed_children[static_cast<std::size_t>(node.parent)] == 1) {
      stated = &nodes[static_cast<std::size_t>(node.parent)].metrics;
    }
    const spool::Id kind = add_kind(trace, builder, scopes_of(nodes, node.parent), node.name, *stated, count);
    const double device = node.metric("device_id");
    // Each launch ends at the rounded sum of the times, so that their sum is exact.
    const std::uint64_t begin = clock;
    for (std::int64_t launch = 1; launch <= static_cast<std::int64_t>(count); ++launch) {
      spool::Kernel kernel = {};
      kernel.kind = kind;
      kernel.device = device > 0 && device < 1024 ? static_cast<std::uint32_t>(device) : 0;
      kernel.start = clock;
      clock = begin + static_cast<std::uint64_t>(std::llround(time / count * static_cast<double>(launch)));
      kernel.end = clock;
      trace.kernels.push_back(kernel);
    }
  }
  if (trace.kernels.empty()) {
    source.fail("no kernels with times in this tree", "run kernels between proton.start() and proton.finalize()");
  }
  profile.devices = reader.devices;
  if (profile.devices.empty()) profile.devices.emplace_back();
  name_different_models(profile.devices);
  for (const DeviceFacts& device : profile.devices) builder.device(device, source.name());
  builder.finish();
  profile.trace.times = TimeSource::averaged;
  profile.notes.emplace_back("Proton's tree has mean kernel times only, without their variation");
  return profile;
}

ImportedProfile read_proton_trace(ByteSource& source) {
  ImportedProfile profile = profile_of("Triton Proton");
  ProcessTrace& trace = profile.trace;
  TraceBuilder builder(trace);
  std::map<std::int64_t, std::uint32_t> streams;
  const ChromeTrace events = read_chrome_trace(
      source, [](std::string_view name) { return name == "call_stack" || name == "metrics" || name == "name"; },
      [&](ChromeEvent& event) {
        if (event.phase == "M" && event.name == "thread_name") {
          const std::string_view text = event.text("name");
          const std::size_t digit = text.find_last_not_of("0123456789");
          if (text.find("tream") != std::string_view::npos && digit + 1 < text.size()) {
            streams[event.thread] = static_cast<std::uint32_t>(std::atoi(std::string(text.substr(digit + 1)).c_str()));
          }
          return;
        }
        if (event.category == "kernel") count_left_out(event, profile.time_defects);
        if (event.phase != "X" || event.category != "kernel" || is_helper(event.name)) return;
        std::vector<std::string> scopes;
        const auto stack = nlohmann::json::parse(event.text("call_stack"), nullptr, false);
        if (stack.is_array() && !stack.empty()) {
          for (std::size_t i = 0; i + 1 < stack.size(); ++i) {
            if (stack[i].is_string()) scopes.push_back(stack[i].get<std::string>());
          }
        }
        if (std::any_of(scopes.begin(), scopes.end(), is_helper)) return;
        Metrics metrics;
        const auto stated = nlohmann::json::parse(event.text("metrics"), nullptr, false);
        if (stated.is_object()) {
          for (const auto& [name, value] : stated.items()) {
            if (value.is_number()) metrics[name] = value.get<double>();
          }
        }
        spool::Kernel kernel = {};
        const Span when = event.times().value_or(Span{});
        kernel.start = when.start;
        kernel.end = when.end;
        kernel.kind = add_kind(trace, builder, scopes, event.name, metrics, 1);
        const auto stream = streams.find(event.thread);
        kernel.stream = stream != streams.end() ? stream->second : static_cast<std::uint32_t>(event.thread & 0xffff);
        trace.kernels.push_back(kernel);
      });
  if (trace.kernels.empty()) source.fail("no kernels in this trace");
  if (events.stayed_open) profile.notes.emplace_back(kStayedOpen);
  profile.devices.emplace_back();
  builder.device({}, source.name());
  clean_times(trace, profile.time_defects);
  builder.finish();
  return profile;
}

bool looks_like_proton_tree(std::string_view beginning) {
  return beginning.find("\"children\"") != std::string_view::npos &&
         beginning.find("\"frame\"") != std::string_view::npos &&
         beginning.find("\"traceEvents\"") == std::string_view::npos;
}

bool looks_like_proton_trace(std::string_view beginning) {
  return beginning.find("\"call_stack\"") != std::string_view::npos &&
         beginning.find("\"cat\"") != std::string_view::npos;
}

}  // namespace roofline
