# What every target of this project is compiled with.
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
find_program(CCACHE ccache)
if(CCACHE)
  foreach(lang C CXX CUDA)
    set(CMAKE_${lang}_COMPILER_LAUNCHER ${CCACHE})
  endforeach()
endif()

add_library(roofline_options INTERFACE)
target_compile_features(roofline_options INTERFACE cxx_std_20)
target_include_directories(roofline_options INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
target_compile_definitions(roofline_options INTERFACE ROOFLINE_VERSION="${PROJECT_VERSION}")
target_compile_options(roofline_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast>
  $<$<AND:$<BOOL:${ROOFLINE_WERROR}>,$<COMPILE_LANGUAGE:CXX>>:-Werror>
  # CMake 3.25 ignores CMAKE_CUDA_STANDARD 20 with nvcc 13.
  # fmt 9 takes nvcc for a compiler without constexpr functions, and then can't compile its own constants.
  $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 -Xcompiler=-Wall,-Wextra -DFMT_USE_CONSTEXPR=1>
  $<$<AND:$<BOOL:${ROOFLINE_WERROR}>,$<COMPILE_LANGUAGE:CUDA>>:-Werror=all-warnings -Xcompiler=-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC bug 105651: std::string's operator+ warns of an overlap that can't be.
  target_compile_options(roofline_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(ROOFLINE_SANITIZE)
  target_compile_options(roofline_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${ROOFLINE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all>)
  target_link_options(roofline_options INTERFACE -fsanitize=${ROOFLINE_SANITIZE})
endif()
