// Stored as it was traced; of what follows from it, only what other programs would have to compute is written too.
#include "report/json/profile_json.hpp"

#include <array>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "model/nan.hpp"
#include "report/host_causes.hpp"
#include "report/json/host_json.hpp"
#include "report/json/json_members.hpp"
#include "report/json/kernel_samples_json.hpp"
#include "report/json/machine_members.hpp"
#include "report/json/memory_json.hpp"
#include "report/json/ranks_json.hpp"
#include "report/profile_findings.hpp"
#include "report/work_source.hpp"

namespace roofline {

using Json = nlohmann::ordered_json;

// Found by the templates of json_members.hpp, at the place of their use.
static auto vocabulary(BetweenWork) { return std::pair(&parse_between_work, "kind of work between steps"); }
static auto vocabulary(LaneKind) { return std::pair(&parse_lane_kind, "kind of lane"); }
static auto vocabulary(SavingCause) { return std::pair(&parse_saving_cause, "cause of lost time"); }
static auto vocabulary(SavingKind) { return std::pair(&parse_saving_kind, "kind of saving"); }
static auto vocabulary(StartUpPart) { return std::pair(&parse_start_up_part, "part of the start-up"); }
static auto vocabulary(StepSource) { return std::pair(&parse_step_source, "source of steps"); }
static auto vocabulary(TimeSource) { return std::pair(&parse_time_source, "source of times"); }
static auto vocabulary(WorkSource) { return std::pair(&parse_work_source, "source of work"); }

static Json json_of(const CopyPath& path) { return to_string(path); }
static void read_json(const JsonValue& json, CopyPath& path) {
  path = json.word(parse_copy_path, "direction of a copy");
}

static void members(auto& io, Slice& slice) {
  io("start_s", slice.start_s);
  io("end_s", slice.end_s);
  io.index("result", slice.point);
  io.text("text", slice.text);
  io.text("line", slice.line);
  io.optional("state", slice.state);
  io.optional("cause", slice.cause);
  io.positive("merged", slice.merged);
  io.positive("busy_s", slice.busy_s);
}

/// Files of earlier versions only say whether a lane is the host's.
static void members(auto& io, Lane& lane) {
  io("name", lane.name);
  bool host = lane.host();
  io("host", host);
  if (host != lane.host()) lane.kind = LaneKind::calls;
  io.since("kind", lane.kind);
  io("slices", lane.slices);
}

static void members(auto& io, HostCause& cause) {
  io("cause", cause.id);
  io.seconds("seconds", cause.seconds);
  io("what", cause.text);
  io("action", cause.action);
  io.text("line", cause.line);
}

static void members(auto& io, Timeline& timeline) {
  io("start_s", timeline.start_s);
  io("length_s", timeline.length_s);
  io.optional("step", timeline.step);
  io.positive("hidden_threads", timeline.hidden_threads);
  io("lanes", timeline.lanes);
}

static void members(auto& io, StartUpShare& share) {
  io("part", share.part);
  io.seconds("seconds", share.seconds);
}

static void members(auto& io, SlowStep& step) {
  io("step", step.number);
  io.seconds("seconds", step.seconds);
  io.text("different", step.different);
  io.positive("apart", step.apart);
}

static void members(auto& io, WallTime& wall) {
  io("device", wall.device);
  io("name", wall.device_name);
  io.seconds("wall_s", wall.wall_s);
  io("before_s", wall.before_s);
  io.seconds("kernels_s", wall.kernels_s);
  io.seconds("copies_s", wall.copies_s);
  io("counting_s", wall.counting_s);
  io("idle_launching_s", wall.idle_launching_s);
  io("idle_waiting_s", wall.idle_waiting_s);
  io("idle_elsewhere_s", wall.idle_elsewhere_s);
  io("after_s", wall.after_s);
  io.since("kernel_s", wall.kernel_s);
  io.since("roofed_s", wall.roofed_s);
  io.since("at_roof_s", wall.at_roof_s);
  io.positive("rank_wait_s", wall.rank_wait_s);
  io.positive("communication_s", wall.communication_s);
  io.positive("recording_s", wall.recording_s);
  io.positive("idle_unknown_s", wall.idle_unknown_s);
}

/// Files of earlier versions have an action for checkpoints only.
static void members(auto& io, WorkBetweenSteps& work) {
  io.seconds("seconds", work.seconds);
  io("share", work.share);
  io("times", work.times);
  io.text("line", work.line);
  io.text("action", work.action);
  if (!work.action.empty() && work.work == BetweenWork::launched) work.work = BetweenWork::saving;
  io.since("work", work.work);
}

static void members(auto& io, Steps& steps) {
  io("source", steps.source);
  io("count", steps.count);
  io.seconds("median_s", steps.median_s);
  io.seconds("low_s", steps.low_s);
  io.seconds("high_s", steps.high_s);
  io.seconds("total_s", steps.total_s);
  io.seconds("start_up_s", steps.start_up_s);
  io.seconds("tear_down_s", steps.tear_down_s);
  io("start_up", steps.start_up);
  io.seconds("at_roof_s", steps.at_roof_s);
  io("launches", steps.launches);
  io.interval("ci95", steps.ci95);
  io.interval("mean_ci95", steps.mean_ci95);
  io.optional("untouched_s", steps.untouched_s);
  io.interval("untouched_ci95", steps.untouched_ci95);
  io("devices", steps.devices);
  io("slow", steps.slow);
  io.optional("between", steps.between);
  io.require([&](const JsonValue& json) {
    if (steps.count < 1) json["count"].fail("there is at least one step");
  });
}

static void members(auto& io, ProfiledProcess& process) {
  io("pid", process.pid);
  io("command", process.command);
  io("launches", process.launches);
  io("kernels", process.kernels);
  io("dropped", process.dropped);
  io("without_time", process.without_time);
  io("torn", process.torn);
  io("notes", process.notes);
}

/// For a file of an earlier version, which has no cause.
static SavingCause cause_of(SavingKind kind) {
  static constexpr std::array<SavingCause, 7> kCauses = {
      SavingCause::unknown_idle, SavingCause::copies,        SavingCause::kernel,      SavingCause::fusion,
      SavingCause::kernel,       SavingCause::memory_growth, SavingCause::uneven_ranks};
  return kCauses.at(static_cast<std::size_t>(kind));
}

static void members(auto& io, Saving& saving) {
  io("kind", saving.kind);
  io.since("cause", saving.cause);
  io.require([&](const JsonValue& json) {
    if (!json.find("cause")) saving.cause = cause_of(saving.kind);
  });
  io("seconds", saving.seconds);
  io("what", saving.what);
  io("evidence", saving.evidence);
  io("action", saving.action);
  io.text("line", saving.line);
  io.positive("one_off", saving.one_off);
  io.index("result", saving.point);
}

static void members(auto& io, CallSum& call) {
  io("name", call.name);
  io("calls", call.calls);
  io.seconds("total_s", call.total_s);
  io.seconds("median_s", call.median_s);
  io.seconds("max_s", call.max_s);
}

static void members(auto& io, CopySum& copy) {
  io("direction", copy.path);
  io("copies", copy.copies);
  io.positive("bytes", copy.bytes);
  io.seconds("total_s", copy.total_s);
  io.derived("moved_bytes", moved_bytes(copy));
  io.text("line", copy.line);
  io.text("roof", copy.roof);
  if (!copy.roof.empty()) {
    io("roof_bytes_per_s", copy.roof_bytes_per_s);
    io.derived("fraction_of_roof", fraction_of_roof(copy));
  }
  io.require([&](const JsonValue& json) {
    // Earlier versions have the moved bytes as the size.
    if (!json.find("moved_bytes") && moved_bytes(copy) > copy.bytes) copy.bytes /= 2;
  });
}

static void members(auto& io, TreeSum& node) {
  io("name", node.name);
  io.index("parent", node.parent);
  io("launches", node.launches);
  io.seconds("total_s", node.total_s);
  io("backward_s", node.backward_s);
  io("self_s", node.self_s);
  io.positive("wall_s", node.wall_s);
}

static void members(auto& io, LineSum& line) {
  io("file", line.file);
  io("line", line.number);
  io.text("function", line.function);
  io("launches", line.launches);
  io.seconds("total_s", line.total_s);
  io("backward_s", line.backward_s);
}

static void members(auto& io, CpuLoop& loop) {
  io("loop", loop.loop);
  io.text("called_from", loop.called_from);
  io.text("compiler_remark", loop.remark);
  io.seconds("thread_s", loop.thread_s);
  io.interval("thread_ci95", loop.thread_ci95);
  io("share", loop.share);
  io("threads", loop.threads);
  io("together", loop.together);
  io("at_once", loop.at_once);
  io.positive("busiest", loop.busiest);
  io("entries", loop.entries);
  io("iterations", loop.iterations);
}

static void members(auto& io, TimelessCode& code) {
  io("name", code.name);
  io("flops_share", code.flops_share);
  io("bytes_share", code.bytes_share);
}

static void members(auto& io, EmulatedTotals& totals) {
  io("flops", totals.flops);
  io("read_bytes", totals.read_bytes);
  io("write_bytes", totals.write_bytes);
}

static void members(auto& io, EmulatedRun& run) {
  io("complete", run.complete);
  io.text("ended", run.ended);
  io.text("isa", run.isa);
  io.seconds("seconds", run.seconds);
  io("rate_hz", run.rate_hz);
  io.text("why_no_times", run.why_no_times);
  io.positive("counted_s", run.counted_s);
  io.seconds("cpu_s", run.cpu_s);
  io.seconds("joined_s", run.joined_s);
  io.seconds("folded_s", run.folded_s);
  io("timeless", run.timeless);
  io.optional("totals", run.totals);
}

/// Parents precede their children, so that no node is its own ancestor.
static void check_tree(const JsonValue& json, const std::vector<TreeSum>& nodes) {
  const std::vector<JsonValue> elements = json.elements();
  for (std::size_t i = 0; i < nodes.size(); ++i) elements[i].check_index("parent", nodes[i].parent, i);
}

static void members(auto& io, Profile& profile) {
  io("program", profile.program);
  io("folder", profile.folder);
  io.optional("exit_status", profile.exit_status);
  io.optional("signal", profile.signal);
  io("processes", profile.processes);
  io.optional("steps", profile.steps);
  io.text("why_no_steps", profile.why_no_steps);
  io.seconds("wall_s", profile.wall_s);
  io.optional("untraced_s", profile.untraced_s);
  io.optional("traced_s", profile.traced_s);
  io.derived("inflation", inflation(profile).value_or(kNaN));
  io("counting_s", profile.counting_s);
  io.unless("recorded_share", profile.recorded_share, 1);
  io("devices", profile.devices);
  io.seconds("kernel_s", profile.kernel_s);
  io("roofed_s", profile.roofed_s);
  io("at_roof_s", profile.at_roof_s);
  io("counted_s", profile.counted_s);
  io("counters", profile.counters);
  io.text("why_no_counters", profile.why_no_counters);
  io.derived("sources", "");  // set by profile_to_json()
  io("wins", profile.savings);
  io("calls", profile.calls);
  io("copies", profile.copies);
  io("ranges", profile.ranges);
  io("modules", profile.modules);
  io("lines", profile.lines);
  io("without_line_s", profile.without_line_s);
  io("without_module_s", profile.without_module_s);
  io.optional("timeline", profile.timeline);
  io.optional("host", profile.host);
  io.when(!profile.memory.empty(), "memory", profile.memory);
  io.when(!profile.instructions.empty(), "instructions", profile.instructions);
  io.optional("ranks", profile.ranks);
  io.optional("emulated", profile.emulated);
  io.require([&](const JsonValue& json) {
    check_tree(json["ranges"], profile.ranges);
    check_tree(json["modules"], profile.modules);
  });
}

static void members(auto& io, StepCost& cost) {
  io("launches", cost.launches);
  io.seconds("seconds", cost.seconds);
}

static void members(auto& io, GraphKernel& kernel) {
  io("name", kernel.name);
  io("share", kernel.share);
}

struct KindSources {
  ProfiledKind& kind;
};
static void members(auto& io, KindSources& of) {
  io("time_s", of.kind.time_source);
  io.unless("work", of.kind.work_source, WorkSource::none);
}

static void members(auto& io, ProfiledKind& kind) {
  io("full_name", kind.full_name);
  io("launches", kind.launches);
  io.seconds("total_s", kind.total_s);
  io("sources", KindSources{kind});
  io("grid", kind.grid);
  io("block", kind.block);
  io("cluster", kind.cluster);
  io("device", kind.device);
  io.text("range", kind.range);
  io.text("module", kind.module);
  io.text("line", kind.line);
  io.text("operation", kind.operation);
  io("backward", kind.backward);
  io("in_graph", kind.in_graph);
  io("graph", kind.graph);
  io.unless_empty("graph_kernels", kind.graph_kernels);
  io("counted", kind.counted);
  io("complete", kind.complete);
  io.text("not_counted", kind.not_counted);
  io.text("mixed", kind.mixed);
  io.optional("loop", kind.loop);
  io.optional("sampled", kind.sampled);
  io.optional("step", kind.step);
}

/// Sources of the sums; rows name their own.
static Json sources_of(const Report& report) {
  Json sources = Json::object();
  std::set<std::string_view> times, work;
  for (const Point& point : report.points) {
    if (!point.profiled) continue;
    times.insert(to_string(point.profiled->time_source));
    if (std::isfinite(point.bound.attainable_time_s)) work.insert(work_source(point));
  }
  work.erase("");
  const auto one_of = [](const std::set<std::string_view>& all) { return all.size() == 1 ? *all.begin() : "mixed"; };
  for (const char* sum : {"wall_s", "devices", "kernel_s", "calls", "copies", "ranges", "modules", "lines"}) {
    sources[sum] = times.empty() ? to_string(TimeSource::traced) : one_of(times);
  }
  if (report.profile->steps) sources["steps"] = sources["wall_s"];
  if (report.profile->roofed_s > 0 && !work.empty()) sources["at_roof_s"] = one_of(work);
  return sources;
}

Json profile_to_json(const Report& report) {
  Json json = to_json_value(*report.profile);
  json["sources"] = sources_of(report);
  if (const std::vector<HostCause> causes = host_causes(report); !causes.empty()) {
    json["host_causes"] = to_json_value(causes);
  }
  return json;
}

Profile read_profile(const JsonValue& json, std::size_t rows) {
  auto profile = read_value<Profile>(json);
  if (!profile.savings.empty()) {
    const std::vector<JsonValue> wins = json["wins"].elements();
    for (std::size_t i = 0; i < wins.size(); ++i) wins[i].check_index("result", profile.savings[i].point, rows);
  }
  if (!profile.timeline) return profile;
  const std::vector<JsonValue> lanes = json["timeline"]["lanes"].elements();
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const std::vector<Slice>& read = profile.timeline->lanes[i].slices;
    if (read.empty()) continue;
    const std::vector<JsonValue> slices = lanes[i]["slices"].elements();
    for (std::size_t k = 0; k < slices.size(); ++k) {
      if (read[k].point >= 0) slices[k].check_index("result", read[k].point, rows);
    }
  }
  return profile;
}

Json profiled_to_json(const Point& point) {
  ProfiledKind kind = *point.profiled;
  if (work_source(point).empty()) kind.work_source = WorkSource::none;
  return to_json_value(kind);
}

ProfiledKind read_profiled(const JsonValue& json) { return read_value<ProfiledKind>(json); }

}  // namespace roofline
