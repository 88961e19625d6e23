// CUDA statuses as exceptions.
#include "device/cuda/check.hpp"

#include <fmt/format.h>

#include "model/error.hpp"

namespace roofline {
namespace {

const char* hint_for(cudaError_t status) {
  switch (status) {
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
      return "this binary has no code for this GPU: rebuild with its architecture in -DROOFLINE_CUDA_GENCODE";
    case cudaErrorMemoryAllocation:
      return "choose a smaller size, or stop other programs that use this GPU";
    case cudaErrorDevicesUnavailable:
      return "another process uses this GPU exclusively: find it with nvidia-smi";
    case cudaErrorInsufficientDriver:
      return "update the driver: it is older than this CUDA runtime";
    default:
      return "";
  }
}

}  // namespace

bool is_sticky(cudaError_t status) {
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContextIsDestroyed:
    case cudaErrorMpsClientTerminated:
    case cudaErrorUnknown:
    case cudaErrorContained:
    // The GPU is lost, not the context: only a new process can determine whether it is available again.
    case cudaErrorNoDevice:
    case cudaErrorDevicesUnavailable:
    case cudaErrorSystemNotReady:
      return true;
    default:
      return false;
  }
}

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  const std::string message = fmt::format("{}: {} ({})", what, cudaGetErrorString(status), cudaGetErrorName(status));
  if (is_sticky(status)) {
    const std::string hint = hint_for(status);
    throw PoisonedDevice(message,
                         hint.empty() ? "the GPU context of this process is lost; a new process can continue" : hint);
  }
  // The runtime keeps the error for the next cudaGetLastError: it is taken here, so that it isn't laid at
  // the door of the next launch.
  static_cast<void>(cudaGetLastError());
  throw Error(message, hint_for(status));
}

void check_launch(const char* kernel) { check(cudaGetLastError(), kernel); }

}  // namespace roofline
