#include "report/profile.hpp"

namespace roofline {

std::optional<double> inflation(const Profile& profile) {
  if (!profile.untraced_s || !profile.traced_s || *profile.untraced_s <= 0) return std::nullopt;
  return (*profile.traced_s - profile.counting_s) / *profile.untraced_s - 1;
}

}  // namespace roofline
