#include "cli/mix_roofs.hpp"

#include <fmt/format.h>

#include "cli/option_values.hpp"
#include "model/error.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

constexpr std::string_view kInPlace = ":in-place";

double bytes_in(const std::string& text) {
  constexpr double kMost = 1e18;
  return parse_number(text, "--mix", 0, kMost, false);
}

}  // namespace

Traffic parse_mix(const std::string& text) {
  const bool in_place = text.ends_with(kInPlace);
  const std::string bytes = text.substr(0, text.size() - (in_place ? kInPlace.size() : 0));
  const std::size_t colon = bytes.find(':');
  const std::string hint = "READ:WRITE in bytes of any scale, as in 2:1, 0:1 or 1:1:in-place";
  if (colon == std::string::npos) throw UsageError(fmt::format("--mix {}: no colon", text), hint);
  const Traffic traffic{
      .read = bytes_in(bytes.substr(0, colon)), .write = bytes_in(bytes.substr(colon + 1)), .in_place = in_place};
  if (!(traffic.total() > 0)) throw UsageError(fmt::format("--mix {}: no bytes", text), hint);
  return traffic;
}

nlohmann::ordered_json mixes_json(const Machine& machine, const std::vector<std::string>& mixes) {
  using Json = nlohmann::ordered_json;
  Json json = {{"schema", "roofline.mixes/1"},
               {"identity", machine.device.identity},
               {"measured_at", machine.measured_at},
               {"mixes", Json::array()}};
  for (const std::string& mix : mixes) {
    const Traffic traffic = parse_mix(mix);
    const auto roof = machine.bandwidth(main_memory(machine.device.kind), traffic);
    Json row = {{"mix", mix}, {"read", traffic.read}, {"write", traffic.write}, {"in_place", traffic.in_place}};
    if (roof) {
      row["ceiling"] = roof->nearest->name;
      if (roof->other != nullptr) row["mixed_with"] = roof->other->name;
      row["value"] = roof->value;
      if (roof->ci95.known()) row["ci95"] = {roof->ci95.low, roof->ci95.high};
    } else {
      row["absent"] = {{"value", "no bandwidth of main memory was measured"}};
    }
    json["mixes"].push_back(std::move(row));
  }
  return json;
}

std::string mixes_text(const Machine& machine, const std::vector<std::string>& mixes) {
  std::string text;
  for (const std::string& mix : mixes) {
    const auto roof = machine.bandwidth(main_memory(machine.device.kind), parse_mix(mix));
    std::string rate_text = kAbsent, from = "not measured";
    if (roof) {
      rate_text = rate(roof->value, CeilingKind::bandwidth);
      from = roof->nearest->name;
      if (roof->other != nullptr) from += fmt::format(" and {}, interpolated", roof->other->name);
    }
    text += fmt::format("{:<16} {:>10}  {}\n", mix, rate_text, from);
  }
  return text;
}

}  // namespace roofline
