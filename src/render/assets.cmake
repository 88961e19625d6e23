# What travels inside the binary for the page. Needs chart.cmake's subset of Inter. Each page carries all of it, so it is
# made small here.
find_program(ESBUILD esbuild)
if(NOT ESBUILD)
  message(FATAL_ERROR "esbuild is missing: apt-get install esbuild")
endif()
find_program(WOFF2_COMPRESS woff2_compress)
if(NOT WOFF2_COMPRESS)
  message(FATAL_ERROR "woff2_compress is missing: apt-get install woff2")
endif()

# roofline_minified(<symbol> <file> <options of esbuild…> FROM <files…>): joins files, which may use each other's names.
function(roofline_minified symbol file)
  cmake_parse_arguments(arg "" "" "FROM" ${ARGN})
  list(TRANSFORM arg_FROM PREPEND ${CMAKE_CURRENT_LIST_DIR}/assets/)
  list(JOIN arg_FROM "' '" quoted)
  list(JOIN arg_UNPARSED_ARGUMENTS " " options)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${file})
  add_custom_command(OUTPUT ${output} VERBATIM
    DEPENDS ${arg_FROM} ${CMAKE_CURRENT_LIST_FILE}
    COMMAND sh -c "cat '${quoted}' | '${ESBUILD}' --minify --charset=utf8 --log-level=warning ${options} >'${output}'"
    COMMENT "Minifying the page's ${file}")
  roofline_embed(roofline_render ${symbol} ${output})
endfunction()

roofline_minified(roofline_page_css page.css --loader=css FROM page.css)
roofline_minified(roofline_dark_css dark.css --loader=css FROM dark.css)
roofline_minified(roofline_profile_css profile.css --loader=css FROM profile.css)
roofline_minified(roofline_unpack_js unpack.js FROM unpack.js)

# In the order in which the parts need each other; a suite's page has no charts of bars.
set(before base rows view names cards pointer table)
set(after files state)
list(TRANSFORM before REPLACE "(.+)" "page/\\1.js")
list(TRANSFORM after REPLACE "(.+)" "page/\\1.js")
roofline_minified(roofline_suite_js suite.js --format=iife FROM ${before} ${after})
roofline_minified(roofline_profile_js profile.js --format=iife FROM ${before} page/bars.js page/timeline.js ${after})

# The page's own letters only: a third of the chart's subset. What is missing here comes from the reader's fonts. Without
# subroutines the outlines compress better, and the chart's widths know no kerning.
set(page_characters
  20-7E,A0,B0,B1,B5,B7,D7,2013,2014,2018,2019,201C,201D,2026,2190-2193,2212,221E,2248,2264,2265,25B2)
string(REPLACE ";" "," page_characters "${page_characters}")
foreach(weight regular semibold)
  set(letters ${CMAKE_CURRENT_BINARY_DIR}/page-${weight})
  add_custom_command(OUTPUT ${letters}.woff2 VERBATIM
    DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/inter-${weight}.otf ${CMAKE_CURRENT_LIST_FILE}
    COMMAND ${HB_SUBSET} ${CMAKE_CURRENT_BINARY_DIR}/inter-${weight}.otf --unicodes=${page_characters}
            --layout-features=tnum --no-hinting --desubroutinize --drop-tables+=GDEF,GPOS --name-IDs=0,1,2 --output-file=${letters}.otf
    COMMAND ${WOFF2_COMPRESS} ${letters}.otf
    COMMENT "Subsetting Inter ${weight} for the page")
  roofline_embed(roofline_render roofline_page_font_${weight} ${letters}.woff2)
endforeach()
