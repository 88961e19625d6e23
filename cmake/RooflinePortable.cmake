# Binaries that are carried to other machines need no newer glibc than ROOFLINE_GLIBC_FLOOR, whatever the one they are
# linked with (src/portable). x86-64.
option(ROOFLINE_PORTABLE "Link so that a glibc of 2.31 (2020) or later will do" OFF)
set(ROOFLINE_GLIBC_FLOOR 2.31)

if(ROOFLINE_PORTABLE)
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" OR ROOFLINE_SANITIZE)
    message(FATAL_ERROR "ROOFLINE_PORTABLE is for x86-64, and not together with sanitizers")
  endif()
  # Two builds in different folders give the same bytes: no path of either is in them, and what GCC would choose at random
  # follows from the object's name.
  foreach(map "${PROJECT_SOURCE_DIR}/=" "${PROJECT_BINARY_DIR}/=build/")
    add_compile_options($<$<COMPILE_LANGUAGE:C,CXX,ASM>:-ffile-prefix-map=${map}>
      $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-ffile-prefix-map=${map}>)
  endforeach()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    string(REPLACE "<FLAGS>" "<FLAGS> -frandom-seed=<OBJECT>" CMAKE_C_COMPILE_OBJECT "${CMAKE_C_COMPILE_OBJECT}")
    string(REPLACE "<FLAGS>" "<FLAGS> -frandom-seed=<OBJECT>" CMAKE_CXX_COMPILE_OBJECT "${CMAKE_CXX_COMPILE_OBJECT}")
  endif()
  # Of a newer glibc these are empty; an older one has there what has moved to libc.so.6 since.
  foreach(name libpthread.so.0 libdl.so.2 librt.so.1)
    find_library(ROOFLINE_${name} NAMES ${name} REQUIRED)
    mark_as_advanced(ROOFLINE_${name})
    list(APPEND portable_libraries ${ROOFLINE_${name}})
  endforeach()
endif()

# roofline_portable(<target> <sources of src/portable…>)
function(roofline_portable target)
  if(NOT ROOFLINE_PORTABLE)
    return()
  endif()
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/src/portable/)
  target_sources(${target} PRIVATE ${ARGN})
  set_source_files_properties(${ARGN} PROPERTIES SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS "-fPIC;-O2")
  target_link_libraries(${target} PRIVATE ${portable_libraries})
  target_link_options(${target} PRIVATE LINKER:--no-as-needed)
  add_custom_command(TARGET ${target} POST_BUILD VERBATIM
    COMMAND ${CMAKE_COMMAND} -DOBJDUMP=${CMAKE_OBJDUMP} -DFILE=$<TARGET_FILE:${target}> -DFLOOR=${ROOFLINE_GLIBC_FLOOR}
      -P ${PROJECT_SOURCE_DIR}/cmake/check_glibc.cmake)
endfunction()
