// CUPTI's tracing functions and the driver, found at run time: no symbol of theirs is needed to load this library.
#pragma once

#include <cuda.h>
#include <cupti.h>
#include <cupti_pcsampling.h>

#include <string>

#include "host/shared_library.hpp"

namespace roofline::inject {

/// Functions of CUPTI, by their names without the prefix.
struct Cupti : SharedLibrary {
  using SharedLibrary::SharedLibrary;

  std::string path;

  decltype(&cuptiGetVersion) version = symbol("cuptiGetVersion");
  decltype(&cuptiSubscribe) subscribe = symbol("cuptiSubscribe");
  decltype(&cuptiEnableCallback) enable_callback = symbol("cuptiEnableCallback");
  decltype(&cuptiEnableDomain) enable_domain = symbol("cuptiEnableDomain");
  decltype(&cuptiGetCallbackName) callback_name = symbol("cuptiGetCallbackName");
  decltype(&cuptiActivityRegisterCallbacks) register_buffers = symbol("cuptiActivityRegisterCallbacks");
  decltype(&cuptiActivityRegisterTimestampCallback) register_clock = symbol("cuptiActivityRegisterTimestampCallback");
  decltype(&cuptiActivitySetAttribute) set_attribute = symbol("cuptiActivitySetAttribute");
  decltype(&cuptiActivityEnable) enable = symbol("cuptiActivityEnable");
  decltype(&cuptiActivityDisable) disable = symbol("cuptiActivityDisable");
  decltype(&cuptiActivityFlushAll) flush = symbol("cuptiActivityFlushAll");
  decltype(&cuptiActivityFlushPeriod) flush_period = symbol("cuptiActivityFlushPeriod");
  decltype(&cuptiActivityGetNextRecord) next_record = symbol("cuptiActivityGetNextRecord");
  decltype(&cuptiActivityGetNumDroppedRecords) dropped = symbol("cuptiActivityGetNumDroppedRecords");
  decltype(&cuptiGetGraphNodeId) graph_node_id = symbol("cuptiGetGraphNodeId");
};

/// CUPTI's sampling of instructions; not complete() where CUPTI is too old.
struct CuptiInstructions : SharedLibrary {
  using SharedLibrary::SharedLibrary;

  decltype(&cuptiPCSamplingEnable) enable = symbol("cuptiPCSamplingEnable");
  decltype(&cuptiPCSamplingDisable) disable = symbol("cuptiPCSamplingDisable");
  decltype(&cuptiPCSamplingGetData) data = symbol("cuptiPCSamplingGetData");
  decltype(&cuptiPCSamplingSetConfigurationAttribute) configure = symbol("cuptiPCSamplingSetConfigurationAttribute");
  decltype(&cuptiPCSamplingGetNumStallReasons) count_reasons = symbol("cuptiPCSamplingGetNumStallReasons");
  decltype(&cuptiPCSamplingGetStallReasons) reasons = symbol("cuptiPCSamplingGetStallReasons");
  decltype(&cuptiGetCubinCrc) checksum = symbol("cuptiGetCubinCrc");
};

/// Opens CUPTI, once, before anything else uses cupti(). False: not found, or a function is missing.
bool open_cupti(int driver_version);
/// Every function is null unless open_cupti() returned true.
const Cupti& cupti();

/// The driver's functions that callbacks use; null if the driver is too old for the function.
struct Driver : SharedLibrary {
  using SharedLibrary::SharedLibrary;

  decltype(&cuDriverGetVersion) version = symbol("cuDriverGetVersion");
  decltype(&cuCtxGetDevice) context_device = symbol("cuCtxGetDevice");
  decltype(&cuDeviceGetName) device_name = symbol("cuDeviceGetName");
  decltype(&cuDeviceGetAttribute) device_attribute = symbol("cuDeviceGetAttribute");
  decltype(&cuDeviceGetUuid) device_uuid = symbol("cuDeviceGetUuid");
  CUresult (*stream_is_capturing)(CUstream, CUstreamCaptureStatus*) = symbol("cuStreamIsCapturing");
  CUresult (*stream_is_capturing_ptsz)(CUstream, CUstreamCaptureStatus*) = symbol("cuStreamIsCapturing_ptsz");
  decltype(&cuThreadExchangeStreamCaptureMode) exchange_capture_mode = symbol("cuThreadExchangeStreamCaptureMode");
  CUresult (*function_parameter)(CUfunction, size_t, size_t*, size_t*) = symbol("cuFuncGetParamInfo");  ///< CUDA 12.4
  CUresult (*kernel_parameter)(CUkernel, size_t, size_t*, size_t*) = symbol("cuKernelGetParamInfo");
  CUresult (*function_name)(const char**, CUfunction) = symbol("cuFuncGetName");
  CUresult (*kernel_name)(const char**, CUkernel) = symbol("cuKernelGetName");
};
const Driver& driver();

/// The driver's functions around a counted launch.
struct DriverEvents : SharedLibrary {
  using SharedLibrary::SharedLibrary;

  decltype(&cuCtxGetCurrent) current_context = symbol("cuCtxGetCurrent");
  decltype(&cuCtxGetDevice) context_device = symbol("cuCtxGetDevice");
  decltype(&cuEventCreate) event_create = symbol("cuEventCreate");
  decltype(&cuEventQuery) event_query = symbol("cuEventQuery");
  CUresult (*context_record)(CUcontext, CUevent) = symbol("cuCtxRecordEvent");  ///< CUDA 12.5
};

}  // namespace roofline::inject
