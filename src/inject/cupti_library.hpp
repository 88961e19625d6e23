// CUPTI and the driver, found at run time: no symbol of theirs is needed to load this library.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <string>

namespace roofline::inject {

/// Functions of CUPTI, by their names without the prefix.
struct Cupti {
  void* library = nullptr;
  std::string path;

  decltype(&cuptiGetVersion) version = nullptr;
  decltype(&cuptiGetResultString) result_string = nullptr;
  decltype(&cuptiSubscribe) subscribe = nullptr;
  decltype(&cuptiEnableCallback) enable_callback = nullptr;
  decltype(&cuptiEnableDomain) enable_domain = nullptr;
  decltype(&cuptiGetCallbackName) callback_name = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) register_buffers = nullptr;
  decltype(&cuptiActivityRegisterTimestampCallback) register_clock = nullptr;
  decltype(&cuptiActivitySetAttribute) set_attribute = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityFlushAll) flush = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) dropped = nullptr;
  decltype(&cuptiGetGraphNodeId) graph_node_id = nullptr;

  /// What CUPTI says of a refusal.
  std::string explain(CUptiResult status) const;
};

/// False: CUPTI was not found, or lacks something. Once, before anything asks for cupti().
bool find_cupti(int driver_version);
const Cupti& cupti();

/// The few calls of the driver that callbacks need.
struct Driver {
  void* library = nullptr;

  decltype(&cuDriverGetVersion) version = nullptr;
  decltype(&cuCtxGetDevice) context_device = nullptr;
  decltype(&cuDeviceGetName) device_name = nullptr;
  decltype(&cuDeviceGetAttribute) device_attribute = nullptr;
  decltype(&cuDeviceGetUuid) device_uuid = nullptr;
  CUresult (*stream_is_capturing)(CUstream, CUstreamCaptureStatus*) = nullptr;
  CUresult (*stream_is_capturing_ptsz)(CUstream, CUstreamCaptureStatus*) = nullptr;
  decltype(&cuThreadExchangeStreamCaptureMode) exchange_capture_mode = nullptr;
  CUresult (*function_parameter)(CUfunction, size_t, size_t*, size_t*) = nullptr;  ///< of CUDA 12.4
  CUresult (*kernel_parameter)(CUkernel, size_t, size_t*, size_t*) = nullptr;
  CUresult (*function_name)(const char**, CUfunction) = nullptr;
  CUresult (*kernel_name)(const char**, CUkernel) = nullptr;
};
const Driver& driver();

}  // namespace roofline::inject
