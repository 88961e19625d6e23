#include "report/json/host_json.hpp"

#include <limits>

#include "report/json/steps_json.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

int read_line_number(const JsonValue& json) {
  const std::int64_t number = json.integer();
  if (number < 0 || number > std::numeric_limits<int>::max()) json.fail("no line has this number");
  return static_cast<int>(number);
}

int read_entry(const JsonValue& json, std::size_t count) {
  const std::int64_t index = json.integer();
  if (index < 0 || static_cast<std::uint64_t>(index) >= count) json.fail("there is no entry of this number");
  return static_cast<int>(index);
}

/// States in which no time was spent are left out.
Json host_times_to_json(const HostTimes& times) {
  Json json = Json::object();
  for (const ThreadState state : kThreadStates) {
    if (times.of(state) > 0) json[std::string(id_of(state))] = times.of(state);
  }
  return json;
}

HostTimes read_host_times(const JsonValue& json) {
  HostTimes times;
  for (const auto& [id, seconds] : json.members()) {
    const std::optional<ThreadState> state = parse_thread_state(id);
    if (!state) json.fail("unknown state of a thread '" + id + "'");
    times.of(*state) = read_seconds(seconds);
  }
  return times;
}

Json host_frame_to_json(const HostFrame& frame) {
  Json json = {{"function", frame.function}};
  put_text(json, "file", frame.file);
  if (frame.line > 0) json["line"] = frame.line;
  json["python"] = frame.python;
  json["own"] = frame.own;
  return json;
}

HostFrame read_host_frame(const JsonValue& json) {
  const auto line = json.find("line");
  return {.function = json["function"].text(),
          .file = json.text_or("file", ""),
          .line = line ? read_line_number(*line) : 0,
          .python = json["python"].boolean(),
          .own = json["own"].boolean()};
}

Json host_thread_to_json(const HostThreadSum& sum) {
  const HostThread& thread = sum.thread;
  Json json = {{"pid", thread.pid}, {"tid", thread.tid}, {"parent", thread.parent}, {"name", thread.name}};
  put_text(json, "command", thread.command);
  json["main"] = thread.main;
  json["seconds"] = host_times_to_json(sum.times);
  if (sum.hottest_line >= 0) json["hottest"] = {{"line", sum.hottest_line}, {"seconds", sum.hottest_s}};
  if (sum.longest_wait >= 0) json["longest_wait"] = {{"line", sum.longest_wait}, {"seconds", sum.longest_wait_s}};
  return json;
}

HostThreadSum read_host_thread(const JsonValue& json, std::size_t lines) {
  HostThreadSum sum = {.thread = {.pid = json["pid"].integer(),
                                  .tid = json["tid"].integer(),
                                  .parent = json["parent"].integer(),
                                  .name = json["name"].text(),
                                  .command = json.text_or("command", ""),
                                  .main = json["main"].boolean()},
                       .times = read_host_times(json["seconds"])};
  if (const auto hottest = json.find("hottest")) {
    sum.hottest_line = read_entry((*hottest)["line"], lines);
    sum.hottest_s = read_seconds((*hottest)["seconds"]);
  }
  if (const auto wait = json.find("longest_wait")) {
    sum.longest_wait = read_entry((*wait)["line"], lines);
    sum.longest_wait_s = read_seconds((*wait)["seconds"]);
  }
  return sum;
}

Json host_process_to_json(const HostProcessSum& process) {
  return {{"pid", process.pid},
          {"parent", process.parent},
          {"command", process.command},
          {"threads", process.threads},
          {"seconds", host_times_to_json(process.times)}};
}

HostProcessSum read_process_sum(const JsonValue& json) {
  return {.pid = json["pid"].integer(),
          .parent = json["parent"].integer(),
          .command = json["command"].text(),
          .threads = json["threads"].integer(),
          .times = read_host_times(json["seconds"])};
}

Json host_stack_to_json(const HostStackSum& stack) {
  return {
      {"thread", stack.thread}, {"state", id_of(stack.state)}, {"seconds", stack.seconds}, {"frames", stack.frames}};
}

HostStackSum read_host_stack(const JsonValue& json, const HostProfile& host) {
  HostStackSum stack = {.thread = read_entry(json["thread"], host.threads.size()),
                        .frames = {},
                        .state = json["state"].word(parse_thread_state, "state of a thread"),
                        .seconds = read_seconds(json["seconds"])};
  for (const JsonValue& frame : json["frames"].elements()) {
    stack.frames.push_back(read_entry(frame, host.frames.size()));
  }
  return stack;
}

/// A frame's members and its sums.
Json host_place_to_json(const HostFrame& place, const HostTimes& times) {
  Json json = host_frame_to_json(place);
  json["seconds"] = host_times_to_json(times);
  return json;
}

Json host_line_to_json(const HostLineSum& line) { return host_place_to_json(line.place, line.times); }

HostLineSum read_host_line(const JsonValue& json) {
  return {.place = read_host_frame(json), .times = read_host_times(json["seconds"])};
}

Json host_function_to_json(const HostFunctionSum& function) {
  Json json = host_place_to_json(function.place, function.times);
  json["inclusive_cpu_s"] = function.inclusive_cpu_s;
  return json;
}

HostFunctionSum read_host_function(const JsonValue& json) {
  return {.place = read_host_frame(json),
          .times = read_host_times(json["seconds"]),
          .inclusive_cpu_s = read_seconds(json["inclusive_cpu_s"])};
}

Json usage_to_json(const ProcessUsage& usage) {
  return {{"user_s", usage.user_s}, {"system_s", usage.system_s}, {"page_faults", usage.page_faults}};
}

ProcessUsage read_usage(const JsonValue& json) {
  return {.user_s = read_seconds(json["user_s"]),
          .system_s = read_seconds(json["system_s"]),
          .page_faults = read_seconds(json["page_faults"])};
}

Json alone_to_json(const HostAlone& alone) {
  Json json = {{"at_once", alone.at_once}, {"seconds", alone.seconds}};
  if (alone.line < 0) return json;
  json["line"] = alone.line;
  json["line_s"] = alone.line_s;
  json["others_s"] = alone.others_s;
  return json;
}

HostAlone read_alone(const JsonValue& json, std::size_t lines) {
  HostAlone alone = {.at_once = json["at_once"].integer(), .seconds = read_seconds(json["seconds"])};
  if (!json.find("line")) return alone;
  alone.line = read_entry(json["line"], lines);
  alone.line_s = read_seconds(json["line_s"]);
  alone.others_s = read_seconds(json["others_s"]);
  return alone;
}

}  // namespace

Json host_to_json(const HostProfile& host) {
  Json json = {{"wall_s", host.wall_s}, {"rate_hz", host.rate_hz}, {"cost_s", host.cost_s}, {"samples", host.samples}};
  put_text(json, "why_none", host.why_none);
  put_text(json, "why_no_native", host.why_no_native);
  json["seconds"] = host_times_to_json(host.times);
  if (host.usage.is_known()) json["cpu"] = usage_to_json(host.usage);
  if (host.alone.at_once > 0) json["alone"] = alone_to_json(host.alone);
  json["thread_count"] = host.thread_count;
  json["process_count"] = host.process_count;
  json["lines"] = list_to_json(host.lines, host_line_to_json);
  json["functions"] = list_to_json(host.functions, host_function_to_json);
  json["threads"] = list_to_json(host.threads, host_thread_to_json);
  json["processes"] = list_to_json(host.processes, host_process_to_json);
  json["frames"] = list_to_json(host.frames, host_frame_to_json);
  json["stacks"] = list_to_json(host.stacks, host_stack_to_json);
  return json;
}

HostProfile read_host(const JsonValue& json) {
  HostProfile host = {.wall_s = read_seconds(json["wall_s"]),
                      .rate_hz = read_seconds(json["rate_hz"]),
                      .cost_s = read_seconds(json["cost_s"]),
                      .samples = json["samples"].integer(),
                      .why_none = json.text_or("why_none", ""),
                      .why_no_native = json.text_or("why_no_native", ""),
                      .times = read_host_times(json["seconds"]),
                      .alone = {},
                      .usage = {},
                      .thread_count = json["thread_count"].integer(),
                      .process_count = json["process_count"].integer(),
                      .lines = read_list(json["lines"], read_host_line),
                      .functions = read_list(json["functions"], read_host_function),
                      .threads = {},
                      .processes = read_list(json["processes"], read_process_sum),
                      .frames = read_list(json["frames"], read_host_frame),
                      .stacks = {}};
  if (const auto alone = json.find("alone")) host.alone = read_alone(*alone, host.lines.size());
  if (const auto cpu = json.find("cpu")) host.usage = read_usage(*cpu);
  host.threads =
      read_list(json["threads"], [&](const JsonValue& thread) { return read_host_thread(thread, host.lines.size()); });
  host.stacks = read_list(json["stacks"], [&](const JsonValue& stack) { return read_host_stack(stack, host); });
  return host;
}

}  // namespace roofline
