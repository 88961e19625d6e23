#include "inject/range_session.hpp"

#include <cstdio>
#include <limits>

namespace roofline::inject {
namespace {

/// To start takes 0.18 s with room for 8 ranges, 0.22 s for 32 and 0.39 s for 256 (docs/evidence/profile-counting.md).
constexpr std::size_t kRoom = 32;

}  // namespace

RangeSession::RangeSession(const CuptiProfiler& profiler, const CounterGroups& groups, const CounterGroup& group,
                           CUcontext context)
    : groups_(groups),
      group_(&group),
      range_(group.instrumented ? CountedRange::kernel : CountedRange::user),
      room_(group.instrumented ? 1 : kRoom),
      session_(profiler, context) {}

bool RangeSession::change(const CounterGroup& group) {
  if (range_ != CountedRange::user || group.instrumented || session_.started()) return false;
  group_ = &group;
  return true;
}

void RangeSession::start() {
  if (session_.started()) return;
  session_.configure(c_strings(group_->names), group_->config, room_, range_);
  session_.start();
}

void RangeSession::begin() {
  ++pending_;
  if (range_ == CountedRange::kernel) return;
  char name[16];  // values are in the order of the names
  std::snprintf(name, sizeof(name), "%04zu", pending_);
  session_.begin_range(name);
}

void RangeSession::end() {
  if (range_ == CountedRange::user) session_.end_range();
}

std::vector<std::vector<double>> RangeSession::collect() {
  std::vector<std::vector<double>> values;
  if (!session_.started()) return values;
  session_.stop();
  const std::size_t ranges = pending_;
  pending_ = 0;
  const std::size_t decoded = session_.decode();
  const std::vector<double> nothing(group_->names.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t range = 0; range < ranges; ++range) {
    values.push_back(range < decoded ? groups_.evaluate(*group_, session_.data(), range) : nothing);
  }
  return values;
}

}  // namespace roofline::inject
