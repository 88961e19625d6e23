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
  # ccache can't keep what was compiled with a precompiled header unless it is told to be careless about macros.
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()

# KNOWN: a newer compiler has new warnings, and those must not keep a newcomer from building.
set(werror "$<BOOL:${ROOFLINE_WERROR}>")
set(cuda_werror ${werror})
if(ROOFLINE_WERROR STREQUAL "KNOWN")
  set(werror "$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>")
  set(cuda_werror "$<AND:${werror},$<VERSION_LESS:$<CUDA_COMPILER_VERSION>,13.1>>")
endif()

add_library(roofline_options INTERFACE)
target_compile_features(roofline_options INTERFACE cxx_std_20)
target_include_directories(roofline_options INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
target_compile_definitions(roofline_options INTERFACE ROOFLINE_VERSION="${PROJECT_VERSION}")
target_compile_options(roofline_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast>
  $<$<AND:${werror},$<COMPILE_LANGUAGE:CXX>>:-Werror>
  # CMake 3.25 ignores CMAKE_CUDA_STANDARD 20 with nvcc 13.
  # fmt 9 takes nvcc for a compiler without constexpr functions, and then can't compile its own constants.
  # Of a .cu the host compiler gets launches only, which need no more than -O1.
  $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 -Xcompiler=-Wall,-Wextra,-O1 -DFMT_USE_CONSTEXPR=1>
  $<$<AND:$<COMPILE_LANGUAGE:CUDA>,${cuda_werror}>:-Werror=all-warnings -Xcompiler=-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC bug 105651: std::string's operator+ and insert warn of an overlap, and of an overflow, that can't be.
  target_compile_options(roofline_options INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict;-Wno-stringop-overflow>")
endif()
if(ROOFLINE_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # A bundle's file is not the one that it compiles: GCC takes it for a header, whose anonymous namespaces are mistakes.
  target_compile_options(roofline_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
endif()
if(ROOFLINE_SANITIZE)
  target_compile_options(roofline_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${ROOFLINE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all>)
  # GCC 12 warns of std::regex in the standard library itself, only where that is instrumented.
  target_compile_options(roofline_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
  target_link_options(roofline_options INTERFACE -fsanitize=${ROOFLINE_SANITIZE})
endif()

# What a mistake in reading would need to become more than a crash is made hard to come by. Whatever is measured with
# vectors is compiled without (RooflineSimd): its loops index without asking. Sanitizers have checks of their own.
add_library(roofline_assertions INTERFACE)
target_compile_definitions(roofline_assertions INTERFACE $<$<COMPILE_LANGUAGE:CXX>:_GLIBCXX_ASSERTIONS>)
add_library(roofline_hardened INTERFACE)
target_link_libraries(roofline_hardened INTERFACE roofline_assertions)
target_link_options(roofline_options INTERFACE LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
if(NOT ROOFLINE_SANITIZE)
  target_compile_options(roofline_hardened INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fstack-protector-strong>
    # It needs an optimiser, and some distributions' compilers have defined it already.
    "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<CONFIG:Debug>>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
endif()
# Position-independent executables are what most compilers make unasked.
include(CheckCXXSourceCompiles)
check_cxx_source_compiles("#ifndef __PIE__\n#error\n#endif\nint main() {}" ROOFLINE_PIE_UNASKED)
if(NOT ROOFLINE_PIE_UNASKED)
  set(fixed $<IN_LIST:$<TARGET_PROPERTY:TYPE>,MODULE_LIBRARY$<SEMICOLON>SHARED_LIBRARY>)
  target_compile_options(roofline_options INTERFACE $<$<AND:$<NOT:${fixed}>,$<COMPILE_LANGUAGE:C,CXX>>:-fPIE>
    $<$<AND:$<NOT:${fixed}>,$<COMPILE_LANGUAGE:CUDA>>:-Xcompiler=-fPIE>)
  target_link_options(roofline_options INTERFACE $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-pie>)
endif()

# What only reads, arranges and writes text and tables takes a third less to compile so, and no run can tell.
# GNU only: clang's -O1 inlines less.
set(ROOFLINE_PLAIN $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<CONFIG:Release,RelWithDebInfo>>:-O1>)
