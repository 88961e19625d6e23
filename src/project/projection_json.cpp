#include "project/projection_json.hpp"

#include <nlohmann/json.hpp>

namespace roofline {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson time_json(const ProjectedTime& time) {
  return {{"seconds", time.seconds}, {"range", {time.low, time.high}}};
}

OrderedJson pair_json(double here, double there) { return {{"here", here}, {"there", there}}; }

/// What a grid and the caches change.
void add_geometry(OrderedJson& json, const ProjectedRow& row) {
  if (row.launch_here && row.launch_there) {
    json["waves"] = pair_json(row.launch_here->waves, row.launch_there->waves);
    json["occupancy"] = pair_json(row.launch_here->occupancy, row.launch_there->occupancy);
  }
  if (row.bytes_here > 0) json["bytes"] = pair_json(row.bytes_here, row.bytes_there);
}

OrderedJson row_json(const Report& report, const ProjectedRow& row) {
  OrderedJson json = {{"label", report.points[row.point].workload.label},
                      {"launches", row.weight},
                      {"here_s", row.here_s},
                      {"there", row.why_not.empty() ? time_json(row.there) : OrderedJson()}};
  if (!row.why_not.empty()) {
    json["why_not"] = row.why_not;
  } else if (!row.why_range.empty()) {
    json["why_range"] = row.why_range;
  } else {
    json["limit_here"] = row.limit_here;
    json["limit_there"] = row.limit_there;
    add_geometry(json, row);
  }
  return json;
}

OrderedJson changes_json(const Projection& projection) {
  OrderedJson json = OrderedJson::array();
  for (const LimitChange& change : limit_changes(projection)) {
    json.push_back({{"here", to_string(change.here)},
                    {"there", to_string(change.there)},
                    {"rows", change.rows.size()},
                    {"here_s", change.here_s}});
  }
  return json;
}

OrderedJson projection_json(const Report& report, const Projection& projection, double price) {
  const bool runs = projection.runs_there();
  OrderedJson json = {{"machine", projection.machine},
                      {"measured_roofs", projection.measured},
                      {"here_s", projection.whole_here()},
                      {"there", runs ? time_json(projection.whole_there()) : OrderedJson()},
                      {"projected_share", projection.projected_share},
                      {"refused_s", projection.refused_s}};
  if (projection.batch != 1) json["batch"] = projection.batch;
  if (price > 0 && runs) json["price"] = price_of(projection, price);
  if (projection.energy) {
    json["energy"] = {{"joules", projection.energy->joules}, {"upper_bound", projection.energy->upper_bound}};
  }
  if (projection.step) {
    const ProjectedStep& step = *projection.step;
    json["step"] = {{"kernels_s", step.kernels_s}, {"copies_s", step.copies_s}, {"idle_s", step.idle_s}};
  }
  json["limit_changes"] = changes_json(projection);
  json["rows"] = OrderedJson::array();
  for (const ProjectedRow& row : projection.rows) json["rows"].push_back(row_json(report, row));
  return json;
}

}  // namespace

OrderedJson projections_to_json(const Report& report, const std::vector<Projection>& projections,
                                const std::vector<double>& prices) {
  OrderedJson json = {{"schema", "roofline.project/1"},
                      {"run", report.invocation.run_name},
                      {"machine", report.machine.device.name},
                      {"onto", OrderedJson::array()}};
  for (std::size_t i = 0; i < projections.size(); ++i) {
    json["onto"].push_back(projection_json(report, projections[i], prices[i]));
  }
  return json;
}

}  // namespace roofline
