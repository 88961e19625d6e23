# Third-party libraries, linked statically where Debian ships an archive, so that one binary starts on a
# machine that has none of them.
find_package(PkgConfig REQUIRED)
find_package(yaml-cpp 0.7 REQUIRED)
pkg_check_modules(HWLOC REQUIRED hwloc)
pkg_check_modules(CAIRO REQUIRED cairo)
pkg_check_modules(FREETYPE REQUIRED freetype2)

# roofline_static(<target> <archive name> <prefix of pkg_check_modules> <what the archive needs besides…>)
function(roofline_static target archive prefix)
  find_library(${prefix}_ARCHIVE lib${archive}.a)
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE ${${prefix}_INCLUDE_DIRS})
  if(${prefix}_ARCHIVE)
    target_link_libraries(${target} INTERFACE ${${prefix}_ARCHIVE} ${ARGN})
  else()
    target_link_libraries(${target} INTERFACE ${${prefix}_LINK_LIBRARIES})
  endif()
endfunction()
