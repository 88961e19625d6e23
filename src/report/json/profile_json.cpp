// Stored as it was traced; of what follows from it, only what other programs would have to compute is written too.
#include "report/json/profile_json.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>
#include <type_traits>

#include "report/json/host_json.hpp"
#include "report/json/kernel_samples_json.hpp"
#include "report/json/memory_json.hpp"
#include "report/json/ranks_json.hpp"
#include "report/json/steps_json.hpp"
#include "report/json/timeline_json.hpp"
#include "report/profile_findings.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

/// An index below `count`; -1 if absent.
int read_index(const JsonValue& json, std::string_view key, std::size_t count, const std::string& of) {
  const auto member = json.find(key);
  if (!member) return -1;
  const std::int64_t index = member->integer();
  if (index < 0 || static_cast<std::uint64_t>(index) >= count) {
    member->fail("there is no " + of + " " + std::to_string(index));
  }
  return static_cast<int>(index);
}

std::vector<std::string> read_texts(const JsonValue& json) {
  std::vector<std::string> texts;
  for (const JsonValue& element : json.elements()) texts.push_back(element.text());
  return texts;
}

Json process_to_json(const ProfiledProcess& process) {
  return {{"pid", process.pid},         {"command", process.command}, {"launches", process.launches},
          {"kernels", process.kernels}, {"dropped", process.dropped}, {"without_time", process.without_time},
          {"torn", process.torn},       {"notes", process.notes}};
}

ProfiledProcess read_process(const JsonValue& json) {
  return {.pid = json["pid"].integer(),
          .command = json["command"].text(),
          .launches = json["launches"].integer(),
          .kernels = json["kernels"].integer(),
          .dropped = json["dropped"].integer(),
          .without_time = json["without_time"].integer(),
          .torn = json["torn"].boolean(),
          .notes = read_texts(json["notes"])};
}

Json saving_to_json(const Saving& saving) {
  Json json = {{"kind", to_string(saving.kind)}, {"cause", to_string(saving.cause)},
               {"seconds", saving.seconds},      {"what", saving.what},
               {"evidence", saving.evidence},    {"action", saving.action}};
  put_text(json, "line", saving.line);
  if (saving.one_off) json["one_off"] = true;
  if (saving.point >= 0) json["result"] = saving.point;
  return json;
}

/// Of a file of an earlier version, which has no cause.
SavingCause cause_of(SavingKind kind) {
  static constexpr std::array<SavingCause, 7> kCauses = {
      SavingCause::unknown_idle, SavingCause::copies,        SavingCause::kernel,      SavingCause::fusion,
      SavingCause::kernel,       SavingCause::memory_growth, SavingCause::uneven_ranks};
  return kCauses.at(static_cast<std::size_t>(kind));
}

Saving read_saving(const JsonValue& json, std::size_t rows) {
  const SavingKind kind = json["kind"].word(parse_saving_kind, "kind of win");
  const auto cause = json.find("cause"), one_off = json.find("one_off");
  return {.kind = kind,
          .cause = cause ? cause->word(parse_saving_cause, "cause of a win") : cause_of(kind),
          .line = json.text_or("line", ""),
          .one_off = one_off && one_off->boolean(),
          .seconds = json["seconds"].number(),
          .what = json["what"].text(),
          .evidence = json["evidence"].text(),
          .action = json["action"].text(),
          .point = read_index(json, "result", rows, "result")};
}

Json call_to_json(const CallSum& call) {
  return {{"name", call.name},
          {"calls", call.calls},
          {"total_s", call.total_s},
          {"median_s", call.median_s},
          {"max_s", call.max_s}};
}

CallSum read_call(const JsonValue& json) {
  return {.name = json["name"].text(),
          .calls = json["calls"].integer(),
          .total_s = read_seconds(json["total_s"]),
          .median_s = read_seconds(json["median_s"]),
          .max_s = read_seconds(json["max_s"])};
}

Json copy_to_json(const CopySum& copy) {
  Json json = {
      {"direction", to_string(copy.path)}, {"copies", copy.copies}, {"bytes", copy.bytes}, {"total_s", copy.total_s}};
  json["moved_bytes"] = moved_bytes(copy);
  put_text(json, "line", copy.line);
  if (copy.roof.empty()) return json;
  json["roof"] = copy.roof;
  json["roof_bytes_per_s"] = copy.roof_bytes_per_s;
  put_number(json, "fraction_of_roof", fraction_of_roof(copy));
  return json;
}

CopySum read_copy(const JsonValue& json) {
  CopySum copy = {.path = json["direction"].word(parse_copy_path, "direction of a copy"),
                  .copies = json["copies"].integer(),
                  .bytes = json["bytes"].number(),
                  .total_s = read_seconds(json["total_s"]),
                  .roof = json.text_or("roof", ""),
                  .roof_bytes_per_s = 0,
                  .line = json.text_or("line", "")};
  if (!copy.roof.empty()) copy.roof_bytes_per_s = json["roof_bytes_per_s"].number();
  // Earlier versions have what was moved as the size.
  if (!json.find("moved_bytes") && moved_bytes(copy) > copy.bytes) copy.bytes /= 2;
  return copy;
}

Json node_to_json(const TreeSum& node) {
  Json json = {{"name", node.name}};
  if (node.parent >= 0) json["parent"] = node.parent;
  json.update(Json{{"launches", node.launches},
                   {"total_s", node.total_s},
                   {"backward_s", node.backward_s},
                   {"self_s", node.self_s}});
  if (node.wall_s > 0) json["wall_s"] = node.wall_s;
  return json;
}

/// Parents stand before their children, so that nothing is its own ancestor.
std::vector<TreeSum> read_tree(const JsonValue& json) {
  std::vector<TreeSum> nodes;
  for (const JsonValue& node : json.elements()) {
    nodes.push_back({.name = node["name"].text(),
                     .parent = read_index(node, "parent", nodes.size(), "earlier node"),
                     .launches = node["launches"].integer(),
                     .total_s = read_seconds(node["total_s"]),
                     .backward_s = node["backward_s"].number(),
                     .self_s = node["self_s"].number(),
                     .wall_s = node.number_or("wall_s", 0)});
  }
  return nodes;
}

Json line_to_json(const LineSum& line) {
  Json json = {{"file", line.file}, {"line", line.number}};
  put_text(json, "function", line.function);
  json.update(Json{{"launches", line.launches}, {"total_s", line.total_s}, {"backward_s", line.backward_s}});
  return json;
}

LineSum read_line(const JsonValue& json) {
  return {.file = json["file"].text(),
          .function = json.text_or("function", ""),
          .number = read_int(json["line"]),
          .launches = json["launches"].integer(),
          .total_s = read_seconds(json["total_s"]),
          .backward_s = json["backward_s"].number()};
}

/// Where sums are from; a row says it of its own figures.
Json sources_of(const Report& report) {
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

void put_end(Json& json, const Profile& profile) {
  if (profile.exit_status) json["exit_status"] = *profile.exit_status;
  if (profile.signal) json["signal"] = *profile.signal;
}

std::optional<int> optional_int(const JsonValue& json, std::string_view key) {
  const auto member = json.find(key);
  return member ? std::optional(read_int(*member)) : std::nullopt;
}

Json dimensions(const std::array<std::int64_t, 3>& extents) {
  return Json::array({extents[0], extents[1], extents[2]});
}

StepCost read_step_cost(const JsonValue& json) {
  return {.launches = json["launches"].number(), .seconds = read_seconds(json["seconds"])};
}

std::array<std::int64_t, 3> read_dimensions(const JsonValue& json) {
  const std::vector<JsonValue> elements = json.elements();
  if (elements.size() != 3) json.fail("expected three extents");
  return {elements[0].integer(), elements[1].integer(), elements[2].integer()};
}

Json loop_to_json(const CpuLoop& loop) {
  Json json = {{"loop", loop.loop}};
  put_text(json, "called_from", loop.called_from);
  put_text(json, "compiler_remark", loop.remark);
  json["thread_s"] = loop.thread_s;
  if (loop.thread_ci95.known()) json["thread_ci95"] = {loop.thread_ci95.low, loop.thread_ci95.high};
  json.update(
      Json{{"share", loop.share}, {"threads", loop.threads}, {"together", loop.together}, {"at_once", loop.at_once}});
  if (loop.busiest > 0) json["busiest"] = loop.busiest;
  json["entries"] = loop.entries;
  json["iterations"] = loop.iterations;
  return json;
}

CpuLoop read_loop(const JsonValue& json) {
  return {.loop = json["loop"].boolean(),
          .called_from = json.text_or("called_from", ""),
          .remark = json.text_or("compiler_remark", ""),
          .thread_s = read_seconds(json["thread_s"]),
          .thread_ci95 = json.optional_interval("thread_ci95"),
          .share = json["share"].number(),
          .threads = json["threads"].integer(),
          .together = json["together"].number(),
          .at_once = json["at_once"].integer(),
          .busiest = json.number_or("busiest", 0),
          .entries = json["entries"].number(),
          .iterations = json["iterations"].number()};
}

Json timeless_to_json(const TimelessCode& code) {
  return {{"name", code.name}, {"flops_share", code.flops_share}, {"bytes_share", code.bytes_share}};
}

Json emulated_to_json(const EmulatedRun& run) {
  Json json = {{"complete", run.complete}};
  put_text(json, "ended", run.ended);
  put_text(json, "isa", run.isa);
  json["seconds"] = run.seconds;
  json["rate_hz"] = run.rate_hz;
  put_text(json, "why_no_times", run.why_no_times);
  json.update(Json{{"cpu_s", run.cpu_s}, {"joined_s", run.joined_s}, {"folded_s", run.folded_s}});
  json["timeless"] = list_to_json(run.timeless, timeless_to_json);
  return json;
}

TimelessCode read_timeless(const JsonValue& json) {
  return {.name = json["name"].text(),
          .flops_share = json["flops_share"].number(),
          .bytes_share = json["bytes_share"].number()};
}

EmulatedRun read_emulated(const JsonValue& json) {
  return {.complete = json["complete"].boolean(),
          .ended = json.text_or("ended", ""),
          .isa = json.text_or("isa", ""),
          .seconds = read_seconds(json["seconds"]),
          .rate_hz = json["rate_hz"].number(),
          .why_no_times = json.text_or("why_no_times", ""),
          .cpu_s = read_seconds(json["cpu_s"]),
          .joined_s = read_seconds(json["joined_s"]),
          .folded_s = read_seconds(json["folded_s"]),
          .timeless = read_list(json["timeless"], read_timeless)};
}

}  // namespace

Json profile_to_json(const Report& report) {
  const Profile& profile = *report.profile;
  Json json = {{"program", profile.program}, {"folder", profile.folder}};
  put_end(json, profile);
  json["processes"] = list_to_json(profile.processes, process_to_json);
  if (profile.steps) json["steps"] = steps_to_json(*profile.steps);
  put_text(json, "why_no_steps", profile.why_no_steps);
  json["wall_s"] = profile.wall_s;
  if (profile.untraced_s) json["untraced_s"] = *profile.untraced_s;
  if (profile.traced_s) json["traced_s"] = *profile.traced_s;
  if (const auto longer = inflation(profile)) json["inflation"] = *longer;
  json["counting_s"] = profile.counting_s;
  if (profile.recorded_share < 1) json["recorded_share"] = profile.recorded_share;
  json["devices"] = list_to_json(profile.devices, wall_to_json);
  json["kernel_s"] = profile.kernel_s;
  json["roofed_s"] = profile.roofed_s;
  json["at_roof_s"] = profile.at_roof_s;
  json["counted_s"] = profile.counted_s;
  json["counters"] = profile.counters;
  put_text(json, "why_no_counters", profile.why_no_counters);
  json["sources"] = sources_of(report);
  json["wins"] = list_to_json(profile.savings, saving_to_json);
  json["calls"] = list_to_json(profile.calls, call_to_json);
  json["copies"] = list_to_json(profile.copies, copy_to_json);
  json["ranges"] = list_to_json(profile.ranges, node_to_json);
  json["modules"] = list_to_json(profile.modules, node_to_json);
  json["lines"] = list_to_json(profile.lines, line_to_json);
  json["without_line_s"] = profile.without_line_s;
  json["without_module_s"] = profile.without_module_s;
  if (profile.timeline) json["timeline"] = timeline_to_json(*profile.timeline);
  if (profile.host) json["host"] = host_to_json(*profile.host);
  if (!profile.memory.empty()) json["memory"] = memory_to_json(profile.memory);
  if (!profile.instructions.empty()) json["instructions"] = kernel_samples_to_json(profile.instructions);
  if (profile.ranks) json["ranks"] = ranks_to_json(*profile.ranks);
  if (profile.emulated) json["emulated"] = emulated_to_json(*profile.emulated);
  return json;
}

Profile read_profile(const JsonValue& json, std::size_t rows) {
  Profile profile{
      .program = read_texts(json["program"]),
      .folder = json["folder"].text(),
      .exit_status = optional_int(json, "exit_status"),
      .signal = optional_int(json, "signal"),
      .processes = read_list(json["processes"], read_process),
      .steps = std::nullopt,
      .why_no_steps = json.text_or("why_no_steps", ""),
      .wall_s = read_seconds(json["wall_s"]),
      .untraced_s = json.optional_number("untraced_s"),
      .traced_s = json.optional_number("traced_s"),
      .counting_s = json["counting_s"].number(),
      .recorded_share = json.optional_number("recorded_share").value_or(1),
      .devices = read_list(json["devices"], read_wall),
      .at_roof_s = json["at_roof_s"].number(),
      .roofed_s = json["roofed_s"].number(),
      .kernel_s = read_seconds(json["kernel_s"]),
      .counted_s = json["counted_s"].number(),
      .counters = json["counters"].boolean(),
      .why_no_counters = json.text_or("why_no_counters", ""),
      .savings = read_list(json["wins"], [rows](const JsonValue& saving) { return read_saving(saving, rows); }),
      .calls = read_list(json["calls"], read_call),
      .copies = read_list(json["copies"], read_copy),
      .ranges = read_tree(json["ranges"]),
      .modules = read_tree(json["modules"]),
      .lines = read_list(json["lines"], read_line),
      .without_line_s = json["without_line_s"].number(),
      .without_module_s = json["without_module_s"].number(),
      .timeline = std::nullopt};
  if (const auto steps = json.find("steps")) profile.steps = read_steps(*steps);
  if (const auto timeline = json.find("timeline")) profile.timeline = read_timeline(*timeline, rows);
  if (const auto host = json.find("host")) profile.host = read_host(*host);
  if (const auto memory = json.find("memory")) profile.memory = read_memory(*memory);
  if (const auto samples = json.find("instructions")) profile.instructions = read_kernel_samples(*samples);
  if (const auto ranks = json.find("ranks")) profile.ranks = read_ranks(*ranks);
  if (const auto emulated = json.find("emulated")) profile.emulated = read_emulated(*emulated);
  return profile;
}

Json profiled_to_json(const Point& point) {
  const ProfiledKind& kind = *point.profiled;
  Json json = {{"full_name", kind.full_name}, {"launches", kind.launches}, {"total_s", kind.total_s}};
  json["sources"] = {{"time_s", to_string(kind.time_source)}};
  if (const std::string_view source = work_source(point); !source.empty()) json["sources"]["work"] = source;
  json["grid"] = dimensions(kind.grid);
  json["block"] = dimensions(kind.block);
  json["cluster"] = dimensions(kind.cluster);
  json["device"] = kind.device;
  put_text(json, "range", kind.range);
  put_text(json, "module", kind.module);
  put_text(json, "line", kind.line);
  put_text(json, "operation", kind.operation);
  json["backward"] = kind.backward;
  json["in_graph"] = kind.in_graph;
  json["graph"] = kind.graph;
  json["counted"] = kind.counted;
  json["complete"] = kind.complete;
  put_text(json, "not_counted", kind.not_counted);
  put_text(json, "mixed", kind.mixed);
  if (kind.loop) json["loop"] = loop_to_json(*kind.loop);
  if (kind.sampled) json["sampled"] = sampled_to_json(*kind.sampled);
  if (kind.step) json["step"] = {{"launches", kind.step->launches}, {"seconds", kind.step->seconds}};
  return json;
}

ProfiledKind read_profiled(const JsonValue& json) {
  const JsonValue sources = json["sources"];
  const auto work = sources.find("work"), step = json.find("step"), loop = json.find("loop");
  const auto sampled = json.find("sampled");
  return {.full_name = json["full_name"].text(),
          .launches = json["launches"].integer(),
          .total_s = read_seconds(json["total_s"]),
          .grid = read_dimensions(json["grid"]),
          .block = read_dimensions(json["block"]),
          .cluster = read_dimensions(json["cluster"]),
          .device = read_int(json["device"]),
          .range = json.text_or("range", ""),
          .module = json.text_or("module", ""),
          .line = json.text_or("line", ""),
          .operation = json.text_or("operation", ""),
          .backward = json["backward"].boolean(),
          .in_graph = json["in_graph"].boolean(),
          .graph = json["graph"].boolean(),
          .counted = json["counted"].integer(),
          .complete = json["complete"].boolean(),
          .not_counted = json.text_or("not_counted", ""),
          .mixed = json.text_or("mixed", ""),
          .time_source = sources["time_s"].word(parse_time_source, "source of times"),
          .work_source = work ? work->word(parse_work_source, "source of work") : WorkSource::none,
          .sources = {},  // beside it in the file, as impl_summary
          .step = step ? std::optional(read_step_cost(*step)) : std::nullopt,
          .loop = loop ? std::optional(read_loop(*loop)) : std::nullopt,
          .sampled = sampled ? std::optional(read_sampled(*sampled)) : std::nullopt};
}

}  // namespace roofline
