# The CUDA half is optional: without it everything runs on the CPU.
set(ROOFLINE_HAS_CUDA OFF)

# The GPUs of this machine that kernels are written for, as compute capabilities times ten: 89;90.
set(local_gpus "")
if("LOCAL" IN_LIST ROOFLINE_CUDA OR "LOCAL" IN_LIST ROOFLINE_CUDA_GENCODE)
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
    OUTPUT_VARIABLE capabilities OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed STREQUAL "0")
    string(REPLACE "." "" capabilities "${capabilities}")
    string(REGEX MATCHALL "[0-9]+" local_gpus "${capabilities}")
    list(REMOVE_DUPLICATES local_gpus)
    list(FILTER local_gpus EXCLUDE REGEX "^[1-7][0-9]$")
  endif()
endif()
set(wanted ${ROOFLINE_CUDA})
if(wanted STREQUAL "LOCAL")
  set(wanted AUTO)
  if(NOT local_gpus)
    set(wanted OFF)
  endif()
endif()

if(NOT wanted STREQUAL "OFF")
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
  elseif(wanted STREQUAL "ON")
    message(FATAL_ERROR "ROOFLINE_CUDA=ON, but no CUDA compiler was found; install the CUDA Toolkit or set CUDACXX")
  endif()
endif()

# sm_80 serves Ampere and Ada; sm_90a is what wgmma needs; the PTX serves what comes later.
set(ROOFLINE_CUDA_GENCODE
  -gencode=arch=compute_80,code=sm_80
  -gencode=arch=compute_90a,code=sm_90a
  -gencode=arch=compute_90,code=compute_90
  CACHE STRING "nvcc -gencode options, or LOCAL: those of the above that this machine's GPUs take")
if(ROOFLINE_CUDA_GENCODE STREQUAL "LOCAL")
  set(ROOFLINE_CUDA_GENCODE "")
  foreach(capability IN LISTS local_gpus)
    if(capability LESS 90)
      list(APPEND ROOFLINE_CUDA_GENCODE -gencode=arch=compute_80,code=sm_80)
    elseif(capability GREATER 90)
      list(APPEND ROOFLINE_CUDA_GENCODE -gencode=arch=compute_90,code=compute_90)
    endif()
  endforeach()
  # Also where there is no GPU: what is compiled only to see that it compiles, is Hopper's, which has all of it.
  if(NOT ROOFLINE_CUDA_GENCODE OR "90" IN_LIST local_gpus)
    list(APPEND ROOFLINE_CUDA_GENCODE -gencode=arch=compute_90a,code=sm_90a)
  endif()
  list(REMOVE_DUPLICATES ROOFLINE_CUDA_GENCODE)
endif()
message(STATUS "CUDA half: ${ROOFLINE_HAS_CUDA} ${ROOFLINE_CUDA_GENCODE}")
