# *.simd.cpp files are compiled once for each instruction-set level, with ROOFLINE_ISA naming it, and the
# level is chosen at run time (src/device/cpu/isa.hpp). Eigen is renamed for each level: its inline
# functions would otherwise be merged by the linker into whichever level came first.
# *.amx.cpp files are for one level alone, avx512: every CPU with AMX has it. Their tile instructions need no flags.
# ROOFLINE_HIGHEST_ISA names the highest level of this build: code at another one must not be asked for.
set(ROOFLINE_CPU_LEVELS ALL CACHE STRING "Instruction-set levels of the CPU kernels: ALL, or LOCAL (those that this machine runs)")
set(ROOFLINE_ISAS baseline)
set(ROOFLINE_ISA_FLAGS_baseline "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND ROOFLINE_ISAS avx2 avx512)
  # Conversions of fp16 (F16C) came with AVX2 to every CPU that has it, but no flag brings the one with the other.
  set(ROOFLINE_ISA_FLAGS_avx2 -mavx2 -mfma -mf16c -mbmi2)
  set(ROOFLINE_ISA_FLAGS_avx512 -mf16c -mavx512f -mavx512vl -mavx512bw -mavx512dq -mfma -mbmi2 -mprefer-vector-width=512
    # g++ 12's own avx512fintrin.h sets off both warnings (GCC bug 105593).
    -Wno-maybe-uninitialized -Wno-uninitialized)
endif()
# Linux names in /proc/cpuinfo what it lets programs use. Where it names nothing, all levels are built.
set(cpu_flags "")
if(ROOFLINE_CPU_LEVELS STREQUAL "LOCAL" AND EXISTS /proc/cpuinfo)
  file(STRINGS /proc/cpuinfo cpu_flags REGEX "^flags" LIMIT_COUNT 1)
  string(REGEX MATCHALL "[a-z0-9_]+" cpu_flags "${cpu_flags}")
endif()
if(cpu_flags)
  set(needed_for_avx2 avx2 fma f16c bmi2)
  set(needed_for_avx512 ${needed_for_avx2} avx512f avx512vl avx512bw avx512dq)
  foreach(isa avx2 avx512)
    list(REMOVE_ITEM needed_for_${isa} ${cpu_flags})
    if(needed_for_${isa})
      list(REMOVE_ITEM ROOFLINE_ISAS ${isa})
    endif()
  endforeach()
endif()
message(STATUS "CPU kernels: ${ROOFLINE_ISAS}")
list(GET ROOFLINE_ISAS -1 highest_isa)
target_compile_definitions(roofline_options INTERFACE ROOFLINE_HIGHEST_ISA=${highest_isa})
if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Scheduled before registers are given out, the loads of a register tile come first and push sums out of them.
  set(ROOFLINE_ISA_FLAGS_baseline -fno-schedule-insns)
endif()

# roofline_simd_sources(<name> <files…>): an object library <name>_<level> for each level, all of them in <name>_objects.
function(roofline_simd_sources name)
  set(objects "")
  # Sanitizers look for mistakes, not for speed, and Eigen's products take them minutes to compile at -O3.
  set(optimise -O3)
  if(ROOFLINE_SANITIZE)
    set(optimise -O1 -fexpensive-optimizations)  # the latter forms FMAs, which the probes verify to the last bit
  endif()
  foreach(isa IN LISTS ROOFLINE_ISAS)
    set(sources ${ARGN})
    if(NOT isa STREQUAL avx512)
      list(FILTER sources EXCLUDE REGEX "\\.amx\\.cpp$")
    endif()
    add_library(${name}_${isa} OBJECT ${sources})
    target_link_libraries(${name}_${isa} PRIVATE roofline_options Eigen3::Eigen)
    get_property(precompiled GLOBAL PROPERTY ROOFLINE_PRECOMPILED_${isa})
    if(precompiled)
      target_precompile_headers(${name}_${isa} REUSE_FROM ${precompiled})
    else()
      target_precompile_headers(${name}_${isa} PRIVATE <Eigen/Core>)
      set_property(GLOBAL PROPERTY ROOFLINE_PRECOMPILED_${isa} ${name}_${isa})
    endif()
    target_compile_definitions(${name}_${isa} PRIVATE ROOFLINE_ISA=${isa} Eigen=Eigen_${isa})
    # -fno-math-errno and friends only: results stay IEEE, so that verification means something.
    target_compile_options(${name}_${isa} PRIVATE ${ROOFLINE_ISA_FLAGS_${isa}} ${optimise} -fno-math-errno -fno-trapping-math -Wno-psabi)
    list(APPEND objects $<TARGET_OBJECTS:${name}_${isa}>)
  endforeach()
  set(${name}_objects ${objects} PARENT_SCOPE)
endfunction()
