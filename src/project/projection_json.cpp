#include "project/projection_json.hpp"

#include <nlohmann/json.hpp>

namespace roofline {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson time_json(const ProjectedTime& time) {
  return {{"seconds", time.seconds}, {"range", {time.low, time.high}}};
}

OrderedJson row_json(const Report& report, const ProjectedRow& row) {
  OrderedJson json = {{"label", report.points[row.point].workload.label},
                      {"launches", row.weight},
                      {"here_s", row.here_s},
                      {"there", time_json(row.there)}};
  if (row.why_range.empty()) {
    json["limit_here"] = row.limit_here;
    json["limit_there"] = row.limit_there;
  } else {
    json["why_range"] = row.why_range;
  }
  return json;
}

OrderedJson projection_json(const Report& report, const Projection& projection, double price) {
  OrderedJson json = {{"machine", projection.machine},
                      {"measured_roofs", projection.measured},
                      {"here_s", projection.whole_here()},
                      {"there", time_json(projection.whole_there())},
                      {"projected_share", projection.projected_share}};
  if (price > 0) json["price"] = price * projection.whole_there().seconds / 3600;
  if (projection.step) {
    const ProjectedStep& step = *projection.step;
    json["step"] = {{"kernels_s", step.kernels_s}, {"copies_s", step.copies_s}, {"idle_s", step.idle_s}};
  }
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
