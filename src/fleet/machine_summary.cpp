#include "fleet/machine_summary.hpp"

#include <mutex>
#include <unordered_set>

#include "model/find.hpp"

namespace roofline {

std::string_view interned(std::string_view text) {
  static std::mutex mutex;
  static std::unordered_set<std::string> words;
  const std::lock_guard lock(mutex);
  return *words.emplace(text).first;
}

std::string MachineSummary::device() const {
  if (kind == DeviceKind::cpu) return "cpu";
  const std::string_view id = uuid.starts_with("GPU-") ? std::string_view(uuid).substr(4, 8) : std::string_view(uuid);
  return "GPU " + std::to_string(index) + (id.empty() ? "" : " (" + std::string(id) + ")");
}

std::string MachineSummary::key() const {
  return (host_recorded || uuid.empty() ? host : "") + '\n' + (uuid.empty() ? identity : uuid);
}

const std::string* MachineSummary::fact(AttributeKey key) const { return find_attribute(facts, key); }

const CeilingSummary* MachineSummary::find(std::string_view label) const {
  return find_by(ceilings, &CeilingSummary::label, label);
}

}  // namespace roofline
