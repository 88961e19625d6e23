#include "report/json/host_json.hpp"

#include "report/json/json_members.hpp"

namespace roofline {

using Json = nlohmann::ordered_json;

/// States without time are omitted.
static Json json_of(const HostTimes& times) {
  Json json = Json::object();
  for (const ThreadState state : kThreadStates) {
    if (times.of(state) > 0) json[std::string(id_of(state))] = times.of(state);
  }
  return json;
}

static void read_json(const JsonValue& json, HostTimes& times) {
  JsonReader io{json};
  for (const auto& [id, seconds] : json.members()) {
    const std::optional<ThreadState> state = parse_thread_state(id);
    if (!state) json.fail("unknown state of a thread '" + id + "'");
    io.seconds(id.c_str(), times.of(*state));
  }
}

static void members(auto& io, HostFrame& frame) {
  io("function", frame.function);
  io.text("file", frame.file);
  io.positive("line", frame.line);
  io("python", frame.python);
  io("own", frame.own);
  io.require([&](const JsonValue& json) {
    if (frame.line < 0) json["line"].fail("no line with this index");
  });
}

/// Index into HostProfile::lines; absent if negative.
struct LineTime {
  int& line;
  double& seconds;
};
static void members(auto& io, LineTime& at) {
  io.index("line", at.line);
  if (at.line >= 0) io.seconds("seconds", at.seconds);
}

static void members(auto& io, HostThreadSum& sum) {
  io("pid", sum.thread.pid);
  io("tid", sum.thread.tid);
  io("parent", sum.thread.parent);
  io("name", sum.thread.name);
  io.text("command", sum.thread.command);
  io("main", sum.thread.main);
  io("seconds", sum.times);
  LineTime hottest{sum.hottest_line, sum.hottest_s}, wait{sum.longest_wait, sum.longest_wait_s};
  io.unless_empty("hottest", hottest);
  io.unless_empty("longest_wait", wait);
}

static void members(auto& io, HostProcessSum& process) {
  io("pid", process.pid);
  io("parent", process.parent);
  io("command", process.command);
  io("threads", process.threads);
  io("seconds", process.times);
}

static void members(auto& io, HostStackSum& stack) {
  io("thread", stack.thread);
  io("state", stack.state);
  io.seconds("seconds", stack.seconds);
  io("frames", stack.frames);
}

static void members(auto& io, HostLineSum& line) {
  members(io, line.place);
  io.text("source", line.source);
  io("seconds", line.times);
}

static void members(auto& io, HostFunctionSum& function) {
  members(io, function.place);
  io("seconds", function.times);
  io.seconds("inclusive_cpu_s", function.inclusive_cpu_s);
}

static void members(auto& io, ProcessUsage& usage) {
  io.seconds("user_s", usage.user_s);
  io.seconds("system_s", usage.system_s);
  io.seconds("page_faults", usage.page_faults);
  io.positive("sleeps", usage.sleeps);
}

static void members(auto& io, HostAlone& alone) {
  io("at_once", alone.at_once);
  io.seconds("seconds", alone.seconds);
  io.index("line", alone.line);
  if (alone.line < 0) return;
  io.seconds("line_s", alone.line_s);
  io.seconds("others_s", alone.others_s);
}

static void members(auto& io, HostSlowCode& code) {
  io("kind", code.kind);
  io("place", code.place);
  io.seconds("seconds", code.seconds);
  io.seconds("loop_s", code.loop_s);
  io("doubles", code.doubles);
  io("converted", code.converted);
  io("invariant", code.invariant);
}

/// Throws UsageError for an index without an entry.
static void check_entries(const JsonValue& json, const HostProfile& host) {
  const std::vector<JsonValue> threads = host.threads.empty() ? std::vector<JsonValue>() : json["threads"].elements();
  for (std::size_t i = 0; i < host.threads.size(); ++i) {
    const HostThreadSum& thread = host.threads[i];
    if (thread.hottest_line < 0 && thread.longest_wait < 0) continue;
    const JsonValue& at = threads[i];
    if (thread.hottest_line >= 0) at["hottest"].check_index("line", thread.hottest_line, host.lines.size());
    if (thread.longest_wait >= 0) at["longest_wait"].check_index("line", thread.longest_wait, host.lines.size());
  }
  const auto is_entry = [](int index, std::size_t count) {
    return index >= 0 && static_cast<std::size_t>(index) < count;
  };
  const std::vector<JsonValue> stacks = host.stacks.empty() ? std::vector<JsonValue>() : json["stacks"].elements();
  for (std::size_t i = 0; i < host.stacks.size(); ++i) {
    const HostStackSum& stack = host.stacks[i];
    bool valid = is_entry(stack.thread, host.threads.size());
    for (const int frame : stack.frames) valid = valid && is_entry(frame, host.frames.size());
    if (!valid) stacks[i].fail("refers to a thread or frame that does not exist");
  }
  if (host.alone.line >= 0) json["alone"].check_index("line", host.alone.line, host.lines.size());
  if (host.idle.line >= 0) json["idle"].check_index("line", host.idle.line, host.lines.size());
}

static void members(auto& io, HostIdle& idle) {
  io.seconds("seconds", idle.seconds);
  io.positive("state_s", idle.state_s);
  if (!(idle.state_s > 0)) return;
  io("state", idle.state);
  io.index("line", idle.line);
}

static void members(auto& io, HostProfile& host) {
  io.seconds("wall_s", host.wall_s);
  io.seconds("rate_hz", host.rate_hz);
  io.seconds("cost_s", host.cost_s);
  io("samples", host.samples);
  io.text("why_none", host.why_none);
  io.text("why_no_native", host.why_no_native);
  io("seconds", host.times);
  io.when(host.usage.is_known(), "cpu", host.usage);
  io.when(host.alone.at_once > 0, "alone", host.alone);
  io.when(host.idle.seconds > 0, "idle", host.idle);
  io("thread_count", host.thread_count);
  io("process_count", host.process_count);
  io("lines", host.lines);
  io("functions", host.functions);
  io("threads", host.threads);
  io("processes", host.processes);
  io("frames", host.frames);
  io("stacks", host.stacks);
  io.when(!host.slow_code.empty(), "slow_code", host.slow_code);
  io.require([&](const JsonValue& json) { check_entries(json, host); });
}

Json json_of(const HostProfile& host) { return write_members(host); }
void read_json(const JsonValue& json, HostProfile& host) { read_members(json, host); }

}  // namespace roofline
