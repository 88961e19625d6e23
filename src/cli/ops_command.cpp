// roofline ops: what a suite may name: ops, their shapes, types and implementations; and the schema of suites.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "config/suite_schema.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> dtypes_of(const Implementation& implementation) {
  std::vector<std::string> names;
  for (const DType dtype : implementation.dtypes) names.emplace_back(to_string(dtype));
  return names;
}

std::string text_of(const Op& op) {
  std::string text = fmt::format("{}: {}\n", op.name(), op.summary());
  for (const ShapeParameter& parameter : op.parameters()) {
    text += fmt::format("    {:<10} {} (default {})\n", parameter.name, parameter.meaning, parameter.default_value);
  }
  for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::cuda}) {
    for (const Implementation& one : implementations_of(op, kind)) {
      text += fmt::format("    {:<5} {:<12} {:<16} {}\n", to_string(kind), one.name,
                          fmt::format("{}", fmt::join(dtypes_of(one), " ")), one.summary);
    }
  }
  return text;
}

Json json_of(const Op& op) {
  Json json = {{"name", op.name()},
               {"summary", op.summary()},
               {"family", op.family()},
               {"shape", Json::array()},
               {"implementations", Json::array()}};
  for (const ShapeParameter& parameter : op.parameters()) {
    json["shape"].push_back({{"name", parameter.name},
                             {"meaning", parameter.meaning},
                             {"default", parameter.default_value},
                             {"minimum", parameter.minimum},
                             {"maximum", parameter.maximum}});
  }
  for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::cuda}) {
    for (const Implementation& one : implementations_of(op, kind)) {
      json["implementations"].push_back(
          {{"name", one.name}, {"device", to_string(kind)}, {"dtypes", dtypes_of(one)}, {"summary", one.summary}});
    }
  }
  return json;
}

}  // namespace

ExitCode run_ops(const OpsCommand& command, const Options& options) {
  if (command.schema) {
    print_result(suite_schema(all_ops()));
    return ExitCode::ok;
  }
  Json all = Json::array();
  std::string text;
  for (const Op* op : all_ops()) {
    if (options.answer.json) {
      all.push_back(json_of(*op));
    } else {
      text += (text.empty() ? "" : "\n") + text_of(*op);
    }
  }
  const Json document = {{"schema", "roofline.ops/1"}, {"ops", std::move(all)}};
  print_result(options.answer.json ? document.dump(2) + "\n" : text);
  return ExitCode::ok;
}

}  // namespace roofline
