# Fails on weak symbols of *.simd.cpp objects that carry no level in their name: the linker keeps one of
# several equal weak symbols, and it may be the one that this CPU can't run.
set(offenders "")
# A target's objects, as CMake lists them, hold its precompiled header too.
list(FILTER OBJECTS EXCLUDE REGEX "\\.gch$")
foreach(object IN LISTS OBJECTS)
  execute_process(COMMAND ${NM} --defined-only ${object} OUTPUT_VARIABLE symbols RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${NM} can't read ${object}")
  endif()
  string(REPLACE "\n" ";" symbols "${symbols}")
  foreach(symbol IN LISTS symbols)
    # Eigen_<level>, or roofline's own templates, which have the level as an argument (LNS_3IsaE…).
    if(symbol MATCHES " [WVu] " AND NOT symbol MATCHES "Eigen_(baseline|avx2|avx512)|3IsaE|DW\\.ref\\.")
      list(APPEND offenders "${object}: ${symbol}")
    endif()
  endforeach()
endforeach()
if(offenders)
  list(JOIN offenders "\n" text)
  message(FATAL_ERROR "weak symbols shared between instruction-set levels:\n${text}")
endif()
