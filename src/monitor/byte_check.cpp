// A ratio of counted to known bytes in each direction, and the document in which it is kept.
#include "monitor/byte_check.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;
constexpr const char* kSchema = "roofline.monitor-check/1";

bool near(double counted, double known) { return known > 0 && std::abs(counted / known - 1) <= ByteCheck::kTolerance; }

Json bytes_to_json(const MovedBytes& bytes) { return {{"read", bytes.read}, {"write", bytes.write}}; }

std::optional<MovedBytes> bytes_from_json(const Json& json, const char* key) {
  if (!json.contains(key)) return std::nullopt;
  return MovedBytes{json[key].at("read"), json[key].at("write")};
}

}  // namespace

std::string_view to_string(CountedBy source) { return source == CountedBy::sums ? "counted" : "share of peak"; }

std::optional<MovedBytes> moved_bytes(const GpuActivity& activity, CountedBy source) {
  const auto value = [&](std::string_view name) -> std::optional<double> {
    const auto found = activity.values.find(name);
    return found == activity.values.end() ? std::nullopt : std::optional(found->second);
  };
  if (source == CountedBy::sums) {
    const auto read = value("dram_read_bytes");
    const auto write = value("dram_write_bytes");
    return read && write ? std::optional(MovedBytes{*read, *write}) : std::nullopt;
  }
  const auto read = value("dram_read_fraction");
  const auto write = value("dram_write_fraction");
  const auto bytes_per_cycle = value("dram_bytes_per_cycle");
  const auto hz = value("dram_hz");
  if (!read || !write || !bytes_per_cycle || !hz) return std::nullopt;
  const double most = *bytes_per_cycle * *hz * activity.seconds;
  return MovedBytes{*read * most, *write * most};
}

std::optional<CountedBy> ByteCheck::trusted() const {
  const auto holds = [&](const std::optional<MovedBytes>& bytes) {
    return bytes && near(bytes->read, known.read) && near(bytes->write, known.write);
  };
  if (holds(counted)) return CountedBy::sums;
  if (holds(share_of_peak)) return CountedBy::share_of_peak;
  return std::nullopt;
}

std::string byte_check_to_json(const ByteCheck& check) {
  Json json = {{"schema", kSchema},
               {"activity_source", check.activity_source},
               {"driver", check.driver},
               {"checked_at", check.checked_at},
               {"known_bytes", bytes_to_json(check.known)}};
  if (check.counted) json["counted_bytes"] = bytes_to_json(*check.counted);
  if (check.share_of_peak) json["share_of_peak_bytes"] = bytes_to_json(*check.share_of_peak);
  if (const auto source = check.trusted()) json["trusted"] = to_string(*source);
  return json.dump(2) + "\n";
}

std::optional<ByteCheck> byte_check_from_json(const std::string& text) try {
  const Json json = Json::parse(text);
  if (json.at("schema") != kSchema) return std::nullopt;
  ByteCheck check;
  check.activity_source = json.at("activity_source");
  check.driver = json.at("driver");
  check.checked_at = json.at("checked_at");
  check.known = bytes_from_json(json, "known_bytes").value_or(MovedBytes{});
  check.counted = bytes_from_json(json, "counted_bytes");
  check.share_of_peak = bytes_from_json(json, "share_of_peak_bytes");
  return check;
} catch (const nlohmann::json::exception&) {
  return std::nullopt;
}

}  // namespace roofline
