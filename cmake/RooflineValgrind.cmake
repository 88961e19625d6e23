# roofline_count, the Valgrind tool that counts what CPU programs execute, is optional. It needs Valgrind's headers and static
# libraries (Debian: valgrind). It is a program of its own under the GPL; nothing else links it.
set(ROOFLINE_HAS_VALGRIND OFF)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  set(ROOFLINE_VALGRIND_ARCH arm64)
else()
  set(ROOFLINE_VALGRIND_ARCH amd64)
endif()

if(NOT ROOFLINE_VALGRIND STREQUAL "OFF")
  set(core libcoregrind-${ROOFLINE_VALGRIND_ARCH}-linux.a)
  find_path(ROOFLINE_VALGRIND_INCLUDE_DIR pub_tool_tooliface.h PATH_SUFFIXES valgrind)
  find_path(ROOFLINE_VALGRIND_LIBRARY_DIR ${core} PATH_SUFFIXES valgrind PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}
    /usr/lib /usr/local/lib /usr/lib64)
  find_path(ROOFLINE_VALGRIND_LIBEXEC default.supp PATH_SUFFIXES valgrind libexec/valgrind lib/valgrind
    PATHS /usr/libexec /usr/lib /usr/local/libexec)
  if(ROOFLINE_VALGRIND_INCLUDE_DIR AND ROOFLINE_VALGRIND_LIBRARY_DIR)
    set(ROOFLINE_HAS_VALGRIND ON)
  elseif(ROOFLINE_VALGRIND STREQUAL "ON")
    message(FATAL_ERROR "ROOFLINE_VALGRIND=ON, but pub_tool_tooliface.h or ${core} was not found; install valgrind with its headers")
  endif()
endif()
message(STATUS "Counting CPU programs (Valgrind): ${ROOFLINE_HAS_VALGRIND}")
