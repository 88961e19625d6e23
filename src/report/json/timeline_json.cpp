#include "report/json/timeline_json.hpp"

#include <string>
#include <utility>

#include "report/json/json_members.hpp"

namespace roofline {

// Found by the templates of json_members.hpp, at the place of their use.
static auto vocabulary(LaneKind) { return std::pair(&parse_lane_kind, "kind of lane"); }
static auto vocabulary(ThreadState) { return std::pair(&parse_thread_state, "state of a thread"); }
static auto vocabulary(SavingCause) { return std::pair(&parse_saving_cause, "cause of idle time"); }

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

static void members(auto& io, Timeline& timeline) {
  io("start_s", timeline.start_s);
  io("length_s", timeline.length_s);
  io.optional("step", timeline.step);
  io.positive("hidden_threads", timeline.hidden_threads);
  io("lanes", timeline.lanes);
}

nlohmann::ordered_json timeline_to_json(const Timeline& timeline) { return to_json_value(timeline); }

Timeline read_timeline(const JsonValue& json, std::size_t rows) {
  auto timeline = read_value<Timeline>(json);
  for (std::size_t i = 0; i < timeline.lanes.size(); ++i) {
    const std::vector<Slice>& slices = timeline.lanes[i].slices;
    for (std::size_t k = 0; k < slices.size(); ++k) {
      if (slices[k].point < 0 || static_cast<std::size_t>(slices[k].point) < rows) continue;
      const JsonValue result = json["lanes"].elements()[i]["slices"].elements()[k]["result"];
      result.fail("there is no result " + std::to_string(slices[k].point));
    }
  }
  return timeline;
}

}  // namespace roofline
