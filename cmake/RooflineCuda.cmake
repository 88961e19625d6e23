# The CUDA half is optional: without it everything runs on the CPU.
set(ROOFLINE_HAS_CUDA OFF)
if(NOT ROOFLINE_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  if(NOT CMAKE_CUDA_COMPILER AND EXISTS /usr/local/cuda/bin/nvcc)
    set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc)
  endif()
  # Architectures are named below: CMake's own list can't say "sm_90a beside PTX".
  set(CMAKE_CUDA_ARCHITECTURES OFF)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    find_package(CUDAToolkit 12.5 REQUIRED)  # cudaGetDriverEntryPointByVersion
    set(ROOFLINE_HAS_CUDA ON)
  elseif(ROOFLINE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "ROOFLINE_CUDA=ON, but no CUDA compiler was found; install the CUDA Toolkit or set CUDACXX")
  endif()
endif()
message(STATUS "CUDA half: ${ROOFLINE_HAS_CUDA}")

# sm_80 serves Ampere and Ada; sm_90a is what wgmma needs; the PTX serves what comes later.
set(ROOFLINE_CUDA_GENCODE
  -gencode=arch=compute_80,code=sm_80
  -gencode=arch=compute_90a,code=sm_90a
  -gencode=arch=compute_90,code=compute_90
  CACHE STRING "nvcc -gencode options")
