#include "inject/range_session.hpp"

#include <cstdio>
#include <limits>

namespace roofline::inject {
namespace {

/// To begin takes 0.18 s with room for 8 ranges, 0.22 s for 32 and 0.39 s for 256 (docs/evidence/profile-counting.md).
constexpr std::size_t kRoom = 32;

/// For the calls that take nothing but the object.
template <typename Params, typename Function>
CUptiResult call(Function* function, CUpti_RangeProfiler_Object* object) {
  Params params = {};
  params.structSize = sizeof(Params);
  params.pRangeProfilerObject = object;
  return function(&params);
}

}  // namespace

RangeSession::RangeSession(const Profiler& profiler, const CounterGroups& groups, const CounterGroup& group,
                           CUcontext context, Ranges ranges)
    : profiler_(profiler),
      groups_(groups),
      group_(group),
      ranges_(ranges),
      room_(ranges == Ranges::ours && !group.instrumented ? kRoom : 1) {
  ROOFLINE_PROFILER_PARAMS(CUpti_RangeProfiler_Enable_Params, params);
  params.ctx = context;
  profiler_.check(profiler_.enable(&params), "switching the counters on");
  object_ = params.pRangeProfilerObject;
}

RangeSession::~RangeSession() {
  if (started_) {
    ROOFLINE_PROFILER_PARAMS(CUpti_RangeProfiler_Stop_Params, params);
    params.pRangeProfilerObject = object_;
    static_cast<void>(profiler_.stop(&params));
  }
  static_cast<void>(call<CUpti_RangeProfiler_Disable_Params>(profiler_.disable, object_));
}

void RangeSession::configure() {
  std::vector<const char*> names = group_.name_pointers();
  ROOFLINE_PROFILER_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
  size.pRangeProfilerObject = object_;
  size.pMetricNames = names.data();
  size.numMetrics = names.size();
  size.maxNumOfRanges = room_;
  size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(room_);
  profiler_.check(profiler_.data_size(&size), "making room for the counters");
  data_.assign(size.counterDataSize, 0);
  ROOFLINE_PROFILER_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, image);
  image.pRangeProfilerObject = object_;
  image.counterDataSize = data_.size();
  image.pCounterData = data_.data();
  profiler_.check(profiler_.data_initialize(&image), "making room for the counters");

  ROOFLINE_PROFILER_PARAMS(CUpti_RangeProfiler_SetConfig_Params, config);
  config.pRangeProfilerObject = object_;
  config.configSize = group_.config.size();
  config.pConfig = group_.config.data();
  config.counterDataImageSize = data_.size();
  config.pCounterDataImage = data_.data();
  config.range = ranges_ == Ranges::ours ? CUPTI_UserRange : CUPTI_AutoRange;
  // Of one pass: nothing is saved, restored or run again.
  config.replayMode = ranges_ == Ranges::ours ? CUPTI_UserReplay : CUPTI_KernelReplay;
  config.maxRangesPerPass = room_;
  config.numNestingLevels = 1;
  config.minNestingLevel = 1;
  config.targetNestingLevel = ranges_ == Ranges::ours ? 1 : 0;
  profiler_.check(profiler_.set_config(&config), "configuring the counters");
}

void RangeSession::start() {
  if (started_) return;
  configure();
  profiler_.check(call<CUpti_RangeProfiler_Start_Params>(profiler_.start, object_), "starting the counters");
  started_ = true;
}

void RangeSession::begin() {
  ++pending_;
  if (ranges_ == Ranges::CUPTIs) return;
  char name[16];  // values come in the names' order
  std::snprintf(name, sizeof(name), "%04zu", pending_);
  ROOFLINE_PROFILER_PARAMS(CUpti_RangeProfiler_PushRange_Params, params);
  params.pRangeProfilerObject = object_;
  params.pRangeName = name;
  profiler_.check(profiler_.push_range(&params), "beginning a counted range");
}

void RangeSession::end() {
  if (ranges_ == Ranges::CUPTIs) return;
  profiler_.check(call<CUpti_RangeProfiler_PopRange_Params>(profiler_.pop_range, object_), "ending a counted range");
}

std::vector<std::vector<double>> RangeSession::collect() {
  std::vector<std::vector<double>> values;
  if (!started_) return values;
  ROOFLINE_PROFILER_PARAMS(CUpti_RangeProfiler_Stop_Params, stop);
  stop.pRangeProfilerObject = object_;
  profiler_.check(profiler_.stop(&stop), "stopping the counters");
  started_ = false;
  const std::size_t ranges = pending_;
  pending_ = 0;
  ROOFLINE_PROFILER_PARAMS(CUpti_RangeProfiler_DecodeData_Params, decode);
  decode.pRangeProfilerObject = object_;
  profiler_.check(profiler_.decode(&decode), "decoding the counters");
  ROOFLINE_PROFILER_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
  info.pCounterDataImage = data_.data();
  info.counterDataImageSize = data_.size();
  profiler_.check(profiler_.data_info(&info), "decoding the counters");
  const std::vector<double> nothing(group_.names.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t range = 0; range < ranges; ++range) {
    values.push_back(range < info.numTotalRanges ? groups_.evaluate(group_, data_, range) : nothing);
  }
  return values;
}

}  // namespace roofline::inject
