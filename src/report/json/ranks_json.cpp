#include "report/json/ranks_json.hpp"

#include "report/json/json_members.hpp"

namespace roofline {

static auto vocabulary(RankMatching) { return std::pair(&parse_rank_matching, "way to match collectives"); }

void members(auto& io, RankSum& rank) {
  io("rank", rank.rank);
  io("pid", rank.pid);
  io.text("host", rank.host);
  io.index("device", rank.device);
  io("compute_s", rank.compute_s);
  io("waiting_s", rank.waiting_s);
  io("transfer_s", rank.transfer_s);
  io("copies_s", rank.copies_s);
  io("idle_s", rank.idle_s);
  io("overlapped_s", rank.overlapped_s);
  io("caused_wait_s", rank.caused_wait_s);
  io("last_share", rank.last_share);
}

void members(auto& io, CollectiveSum& sum) {
  io("name", sum.name);
  io("ranks", sum.ranks);
  io.positive("bytes", sum.bytes);
  io("calls", sum.calls);
  io("waiting_s", sum.waiting_s);
  io("exposed_s", sum.exposed_s);
  io("transfer_s", sum.transfer_s);
  io.text("line", sum.line);
  io.text("roof", sum.roof);
  io.positive("attainable_s", sum.attainable_s);
}

void members(auto& io, Ranks& ranks) {
  io.text("launcher", ranks.launcher);
  io("size", ranks.size);
  io.positive("whole_run", ranks.whole_run);
  io("matching", ranks.matching);
  io("step_s", ranks.step_s);
  io("matched_share", ranks.matched_share);
  io("ranks", ranks.ranks);
  io("collectives", ranks.collectives);
}

nlohmann::ordered_json json_of(const Ranks& ranks) { return write_members(ranks); }
void read_json(const JsonValue& json, Ranks& ranks) { read_members(json, ranks); }

}  // namespace roofline
