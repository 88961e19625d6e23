// Keys as Triton 2 to 3.5 writes them; what a version lacks has its default.
#include "config/triton_entry.hpp"

#include <nlohmann/json.hpp>

#include "host/files.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

std::int64_t integer_in(const nlohmann::json& json, const char* key, std::int64_t fallback) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number_integer() ? found->get<std::int64_t>() : fallback;
}

}  // namespace

std::optional<TritonEntry> triton_entry(const std::filesystem::path& cubin) {
  std::filesystem::path path = cubin;
  path.replace_extension(".json");
  std::error_code hidden;
  if (cubin.extension() != ".cubin" || !std::filesystem::exists(path, hidden)) return std::nullopt;
  const nlohmann::json json = nlohmann::json::parse(
      read_file(path, {std::uint64_t{16} << 20, "Triton's description of a kernel"}), nullptr, false);
  if (!json.is_object() || !json.contains("num_warps") || !json.contains("name")) return std::nullopt;
  if (!json["name"].is_string()) throw Error(path.string() + ": 'name' is not a string");
  TritonEntry entry;
  entry.name = json["name"].get<std::string>();
  std::int64_t warp = 32;
  if (const auto target = json.find("target"); target != json.end() && target->is_object()) {
    warp = integer_in(*target, "warp_size", warp);
  }
  entry.threads = warp * integer_in(json, "num_warps", 4);
  entry.shared_bytes = integer_in(json, "shared", 0);
  entry.cluster = integer_in(json, "num_ctas", 1);
  const auto cooperative = json.find("launch_cooperative_grid");
  entry.cooperative = cooperative != json.end() && cooperative->is_boolean() && cooperative->get<bool>();
  entry.scratch_bytes = {integer_in(json, "global_scratch_size", 0), integer_in(json, "profile_scratch_size", 0)};
  const auto descriptors = json.find("tensordesc_meta");
  entry.has_descriptors = descriptors != json.end() && descriptors->is_array() && !descriptors->empty();
  return entry;
}

}  // namespace roofline
