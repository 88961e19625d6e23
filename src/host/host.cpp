// uname, the wall clock and the monotonic clock.
#include "host/host.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <chrono>
#include <ctime>

namespace roofline {

std::string host_description() {
  utsname system{};
  if (::uname(&system) != 0) return "unknown";
  return fmt::format("{} {} {}", system.sysname, system.release, system.machine);
}

std::string host_name() {
  utsname system{};
  return ::uname(&system) == 0 ? system.nodename : "";
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[sizeof "2026-11-21T04:30:00Z"];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace roofline
