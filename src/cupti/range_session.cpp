#include "cupti/range_session.hpp"

namespace roofline {
namespace {

/// For functions whose only input is the object.
template <typename Params, typename Function>
CUptiResult call(Function* function, CUpti_RangeProfiler_Object* object) {
  Params params = {};
  // The size of a block is where its last field ends: the object's, in all of these.
  params.structSize = sizeof(Params);
  params.pRangeProfilerObject = object;
  return function(&params);
}

}  // namespace

CuptiRangeSession::CuptiRangeSession(const CuptiProfiler& profiler, CUcontext context) : profiler_(profiler) {
  ROOFLINE_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params, params);
  params.ctx = context;
  profiler_.check(profiler_.enable(&params), "enabling the counters");
  object_ = params.pRangeProfilerObject;
}

CuptiRangeSession::~CuptiRangeSession() {
  if (started_) {
    ROOFLINE_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params, params);
    params.pRangeProfilerObject = object_;
    static_cast<void>(profiler_.stop(&params));
  }
  static_cast<void>(call<CUpti_RangeProfiler_Disable_Params>(profiler_.disable, object_));
}

void CuptiRangeSession::configure(std::vector<const char*> metrics, std::span<const std::uint8_t> config,
                                  std::size_t room, CountedRange range) {
  ROOFLINE_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
  size.pRangeProfilerObject = object_;
  size.pMetricNames = metrics.data();
  size.numMetrics = metrics.size();
  size.maxNumOfRanges = room;
  size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(room);
  profiler_.check(profiler_.data_size(&size), "sizing the counter data");
  data_.assign(size.counterDataSize, 0);
  ROOFLINE_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, image);
  image.pRangeProfilerObject = object_;
  image.counterDataSize = data_.size();
  image.pCounterData = data_.data();
  profiler_.check(profiler_.data_initialize(&image), "initializing the counter data");

  const bool user = range == CountedRange::user;
  ROOFLINE_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params, params);
  params.pRangeProfilerObject = object_;
  params.configSize = config.size();
  params.pConfig = config.data();
  params.counterDataImageSize = data_.size();
  params.pCounterDataImage = data_.data();
  params.range = user ? CUPTI_UserRange : CUPTI_AutoRange;
  params.replayMode = user ? CUPTI_UserReplay : CUPTI_KernelReplay;
  params.maxRangesPerPass = room;
  params.numNestingLevels = 1;
  params.minNestingLevel = 1;
  params.targetNestingLevel = user ? 1 : 0;
  profiler_.check(profiler_.set_config(&params), "configuring the counters");
}

void CuptiRangeSession::start() {
  profiler_.check(call<CUpti_RangeProfiler_Start_Params>(profiler_.start, object_), "starting the counters");
  started_ = true;
}

void CuptiRangeSession::begin_range(const std::string& name) {
  ROOFLINE_CUPTI_PARAMS(CUpti_RangeProfiler_PushRange_Params, params);
  params.pRangeProfilerObject = object_;
  params.pRangeName = name.c_str();
  profiler_.check(profiler_.push_range(&params), "beginning a counted range");
}

void CuptiRangeSession::end_range() {
  profiler_.check(call<CUpti_RangeProfiler_PopRange_Params>(profiler_.pop_range, object_), "ending a counted range");
}

bool CuptiRangeSession::stop() {
  ROOFLINE_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params, params);
  params.pRangeProfilerObject = object_;
  profiler_.check(profiler_.stop(&params), "stopping the counters");
  started_ = false;
  return params.isAllPassSubmitted != 0;
}

std::size_t CuptiRangeSession::decode() {
  ROOFLINE_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData_Params, params);
  params.pRangeProfilerObject = object_;
  profiler_.check(profiler_.decode(&params), "decoding the counters");
  ROOFLINE_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
  info.pCounterDataImage = data_.data();
  info.counterDataImageSize = data_.size();
  profiler_.check(profiler_.data_info(&info), "decoding the counters");
  return info.numTotalRanges;
}

}  // namespace roofline
