// Where CUPTI is found. Includes no CUDA header; nothing of CUPTI is needed to start.
#pragma once

#include <string>

namespace roofline {

/// The path of a libcupti.so that is tried first.
inline constexpr const char* kCuptiVariable = "ROOFLINE_CUPTI";
inline constexpr const char* kCuptiNotFound = "CUPTI was not found";
inline constexpr const char* kCuptiRemedy =
    "install the CUDA Toolkit or `pip install nvidia-cuda-cupti`, or set ROOFLINE_CUPTI=/path/to/libcupti.so";

struct CuptiLibrary {
  void* handle = nullptr;  ///< stays open; null: not found
  std::string path;
};

/// The first CUPTI that `accept` takes. For the major version `newest` and then the one before it: what the process has
/// loaded, the dynamic loader (LD_LIBRARY_PATH), $CUDA_HOME and $CUDA_PATH, the CUDA Toolkit, pip wheels beside loaded
/// libraries, and pip wheels of the Pythons in PATH.
CuptiLibrary find_cupti(int newest, bool (*accept)(void* handle));

}  // namespace roofline
