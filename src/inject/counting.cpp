#include "inject/counting.hpp"

namespace roofline::inject {

bool counting_enters(const LaunchSite&) { return false; }
void counting_exits(const LaunchSite&) {}
void counting_context_destroyed(CUcontext) {}
void counting_finish() {}
std::uint64_t counting_cost() { return 0; }

}  // namespace roofline::inject
