# Several files compiled as one, where ROOFLINE_UNITY asks for it. CMake's own way (UNITY_BUILD) knows no CUDA before 3.31.
#
# roofline_bundles(<variable> <ending> <count> <sources…>): so many files that include the sources, one after the other; the
# sources themselves without ROOFLINE_UNITY. Which one a source goes to depends on its path alone: a new file meets what is
# there, and brings nothing together that has not met before. The name that all of them share, kRegistrar, is another one
# in each.
function(roofline_bundles variable ending count)
  if(NOT ROOFLINE_UNITY)
    set(${variable} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  math(EXPR last "${count} - 1")
  foreach(bundle RANGE ${last})
    set(text_${bundle} "")
  endforeach()
  foreach(source IN LISTS ARGN)
    file(RELATIVE_PATH path ${CMAKE_CURRENT_SOURCE_DIR} ${source})
    string(MD5 hash ${path})
    string(SUBSTRING ${hash} 0 6 number)
    math(EXPR bundle "0x${number} % ${count}")
    string(APPEND text_${bundle} "#define kRegistrar kRegistrar_${hash}\n#include \"${source}\"\n#undef kRegistrar\n")
  endforeach()
  set(files "")
  foreach(bundle RANGE ${last})
    if(text_${bundle})
      set(file ${CMAKE_CURRENT_BINARY_DIR}/bundles/${variable}_${bundle}${ending})
      file(CONFIGURE OUTPUT ${file} CONTENT "${text_${bundle}}" @ONLY)
      list(APPEND files ${file})
    endif()
  endforeach()
  set(${variable} ${files} PARENT_SCOPE)
endfunction()
