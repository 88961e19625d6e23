// A fleet for programs: fleet.json and fleet.csv (docs/report-schema.md).
#include <nlohmann/json.hpp>

#include <map>

#include "model/nan.hpp"
#include "render/columns.hpp"
#include "render/documents.hpp"
#include "render/fleet/fleet_render.hpp"
#include "report/json/json_value.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

void put_machine(Json& json, const MachineSummary& summary) {
  json["host"] = summary.host;
  json["device"] = summary.device();
  json["index"] = summary.index;
  put_text(json, "uuid", summary.uuid);
  json["file"] = summary.file;
  json["measured_at"] = summary.measured_at;
}

Json norm_to_json(const CeilingNorm& norm, const Fleet& fleet) {
  Json json = {{"name", norm.label},
               {"kind", to_string(norm.kind)},
               {"unit", unit_of(norm.kind)},
               {"role", to_string(norm.role)},
               {"machines", norm.relative.size()}};
  if (!norm.relative.empty()) {
    json["median"] = norm.median;
    json["spread"] = norm.spread;
    json["quantiles"] = {{"p01", norm.quantile(0.01)}, {"p05", norm.quantile(0.05)}, {"p25", norm.quantile(0.25)},
                         {"p75", norm.quantile(0.75)}, {"p95", norm.quantile(0.95)}, {"p99", norm.quantile(0.99)}};
  }
  if (norm.threshold) json["outlier_below"] = norm.median * (1 - *norm.threshold);
  json["suspect"] = Json::array();
  for (const std::size_t machine : norm.suspects) json["suspect"].push_back(fleet_machine(fleet.machines[machine]));
  return json;
}

Json outlier_to_json(const Outlier& outlier, const Fleet& fleet) {
  Json json = Json::object();
  put_machine(json, fleet.machines[outlier.machine]);
  json["ceilings"] = Json::array();
  for (const Deviation& slow : outlier.slow) {
    json["ceilings"].push_back({{"name", slow.label},
                                {"value", slow.value},
                                {"unit", unit_of(slow.kind)},
                                {"relative", slow.relative},
                                {"score", slow.score}});
  }
  json["why"] = outlier.why;
  json["also"] = outlier.also;
  json["not_recorded"] = outlier.unrecorded;
  return json;
}

Json drift_to_json(const CeilingDrift& drift, const Fleet& fleet) {
  const MachineSummary& summary = fleet.machines[drift.machine];
  Json json = {{"host", summary.host},   {"device", summary.device()},
               {"ceiling", drift.label}, {"change", drift.step ? "step" : "drift"},
               {"ratio", drift.ratio},   {"from", drift.from},
               {"to", drift.to}};
  put_text(json, "along", drift.along);
  return json;
}

Json group_to_json(const FleetGroup& group, const Fleet& fleet) {
  const MachineSummary& one = fleet.machines[group.machines.front()];
  Json json = {{"name", group.name},
               {"kind", to_string(one.kind)},
               {"device", one.name},
               {"units", one.units},
               {"memory_bytes", one.memory_bytes},
               {"machines", group.machines.size()},
               {"judged", group.judged()},
               {"notes", group.notes}};
  json["judged_in_part"] = Json::array();
  for (const JudgingGap& gap : group.gaps) {
    json["judged_in_part"].push_back(
        {{"resource", gap.resource}, {"main_memory", gap.main_memory}, {"judged", gap.judged}});
  }
  json["ceilings"] = Json::array();
  for (const CeilingNorm& norm : group.norms) json["ceilings"].push_back(norm_to_json(norm, fleet));
  json["outliers"] = Json::array();
  for (const Outlier& outlier : group.outliers) json["outliers"].push_back(outlier_to_json(outlier, fleet));
  return json;
}

/// A ceiling of a machine, with the norm of its group.
struct FleetRow {
  const MachineSummary* summary;
  const FleetGroup* group;
  const CeilingSummary* ceiling;
  const CeilingNorm* norm;
  bool outlier;

  bool counts() const { return ceiling->audit == CheckStatus::pass; }
};

template <auto figure>
constexpr auto fleet_csv(std::string_view key, bool (*when)(const Fleet&) = nullptr) {
  return csv_column<figure, FleetRow, Fleet>(key, when);
}

std::span<const Column<FleetRow, Fleet>> fleet_columns() {
  using Row = FleetRow;
  static constexpr Column<Row, Fleet> kColumns[] = {
      fleet_csv<[](const Row& r) { return std::string(r.summary->host); }>("host"),
      fleet_csv<[](const Row& r) { return r.summary->device(); }>("device"),
      fleet_csv<[](const Row& r) { return r.group->name; }>("group"),
      fleet_csv<[](const Row& r) { return std::string(r.summary->measured_at); }>("measured_at"),
      fleet_csv<[](const Row& r) { return std::string(r.ceiling->label); }>("ceiling"),
      fleet_csv<[](const Row& r) { return r.ceiling->value; }>("value"),
      fleet_csv<[](const Row& r) { return std::string(unit_of(r.ceiling->kind)); }>("unit"),
      fleet_csv<[](const Row& r) { return r.counts() ? r.norm->median : kNaN; }>("median"),
      fleet_csv<[](const Row& r) { return r.counts() ? r.ceiling->value / r.norm->median - 1 : kNaN; }>("relative"),
      fleet_csv<[](const Row& r) { return std::string(to_string(r.ceiling->audit)); }>("audit"),
      fleet_csv<[](const Row& r) { return r.outlier; }>("outlier"),
      fleet_csv<[](const Row& r) { return std::string(r.summary->file); }>("file"),
  };
  return kColumns;
}

}  // namespace

Json fleet_to_json(const Fleet& fleet) {
  Json json = {{"schema", kFleetSchema},         {"tool_version", fleet.tool_version},
               {"created_at", fleet.created_at}, {"paths", fleet.paths},
               {"files", fleet.files},           {"machines", fleet.machines.size()},
               {"outliers", fleet.outliers()}};
  json["groups"] = Json::array();
  for (const FleetGroup& group : fleet.groups) json["groups"].push_back(group_to_json(group, fleet));
  json["changes"] = Json::array();
  for (const CeilingDrift& drift : fleet.drifts) json["changes"].push_back(drift_to_json(drift, fleet));
  json["left_out"] = Json::array();
  for (const LeftOut& left : fleet.left_out) json["left_out"].push_back({{"file", left.file}, {"reason", left.reason}});
  return json;
}

std::string render_fleet_json(const Fleet& fleet) { return to_json_text(fleet_to_json(fleet)); }

std::string render_fleet_csv(const Fleet& fleet) {
  std::vector<FleetRow> rows;
  for (const FleetGroup& group : fleet.groups) {
    std::map<std::string_view, const CeilingNorm*> norms;
    for (const CeilingNorm& norm : group.norms) norms[norm.label] = &norm;
    for (const std::size_t machine : group.machines) {
      const MachineSummary& summary = fleet.machines[machine];
      for (const CeilingSummary& ceiling : summary.ceilings) {
        const CeilingNorm* norm = norms.at(ceiling.label);
        const bool outlier = norm->threshold && ceiling.audit == CheckStatus::pass &&
                             ceiling.value <= norm->median * (1 - *norm->threshold);
        rows.push_back({&summary, &group, &ceiling, norm, outlier});
      }
    }
  }
  return csv_table(fleet_columns(), fleet, rows);
}

}  // namespace roofline
