#include "report/profile.hpp"

#include "model/spelling.hpp"

namespace roofline {
namespace {

constexpr std::array<std::string_view, 4> kTimes = {"traced", "replayed", "averaged", "sampled"};
constexpr std::array<std::string_view, 5> kWork = {"", "counted", "modelled", "stated", "emulated"};
constexpr std::array<std::string_view, 7> kMemory = {"unknown", "pageable", "pinned",        "device",
                                                     "array",   "managed",  "unified memory"};
constexpr std::array<std::string_view, 6> kDirections = {
    "host to device", "device to host", "device to device", "device to another device", "host to host", "memset"};

}  // namespace

std::string_view to_string(TimeSource source) { return spell(kTimes, source); }
std::string_view to_string(WorkSource source) { return spell(kWork, source); }
std::optional<TimeSource> parse_time_source(std::string_view text) { return unspell<TimeSource>(kTimes, text); }
std::optional<WorkSource> parse_work_source(std::string_view text) { return unspell<WorkSource>(kWork, text); }

std::string to_string(const CopyPath& path) {
  const auto memory = [](CopyMemory kind) { return std::string(spell(kMemory, kind)); };
  if (path == CopyPath{}) return "direction not recorded";
  if (path.direction == CopyDirection::other) return memory(path.from) + " to " + memory(path.to);
  const std::string direction(spell(kDirections, path.direction));
  const bool host = path.direction == CopyDirection::host_to_device || path.direction == CopyDirection::device_to_host;
  const bool known = host && path.host() != CopyMemory::unknown;  // ROCm's traces say "Host"
  return known ? direction + ", " + memory(path.host()) : direction;
}

std::optional<CopyPath> parse_copy_path(std::string_view text) {
  const auto matches = [text](const CopyPath& path) { return to_string(path) == text; };
  for (std::size_t direction = 0; direction <= kDirections.size(); ++direction) {
    for (std::size_t from = 0; from < kMemory.size(); ++from) {
      for (std::size_t to = 0; to < kMemory.size(); ++to) {
        const CopyPath path = {static_cast<CopyDirection>(direction), static_cast<CopyMemory>(from),
                               static_cast<CopyMemory>(to)};
        if (matches(path)) return path;
      }
    }
  }
  return std::nullopt;
}

std::optional<double> inflation(const Profile& profile) {
  if (!profile.untraced_s || !profile.traced_s || *profile.untraced_s <= 0) return std::nullopt;
  return (*profile.traced_s - profile.counting_s) / *profile.untraced_s - 1;
}

}  // namespace roofline
