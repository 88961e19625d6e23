# What travels inside the binary for the page. Needs chart.cmake's subset of Inter.
roofline_embed(roofline_render roofline_page_css render/assets/page.css)

# The page's script, in the order in which its parts need each other.
set(script_parts "")
foreach(part base rows view names cards pointer table timeline files state)
  list(APPEND script_parts ${CMAKE_CURRENT_LIST_DIR}/assets/page/${part}.js)
endforeach()
list(JOIN script_parts "," script_list)
add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/page.js VERBATIM
  DEPENDS ${script_parts} ${CMAKE_CURRENT_LIST_DIR}/assets/join_script.cmake
  COMMAND ${CMAKE_COMMAND} -D OUTPUT=${CMAKE_CURRENT_BINARY_DIR}/page.js -D PARTS=${script_list}
          -P ${CMAKE_CURRENT_LIST_DIR}/assets/join_script.cmake
  COMMENT "Joining the page's script")
roofline_embed(roofline_render roofline_page_js ${CMAKE_CURRENT_BINARY_DIR}/page.js)

# The page's own letters only: a third of the chart's subset, for each page carries them in base64. What is
# missing here comes from the reader's fonts. Without subroutines the outlines deflate better, and the
# chart's widths know no kerning.
set(page_characters
  20-7E,A0,B0,B1,B5,B7,D7,2013,2014,2018,2019,201C,201D,2026,2190-2193,2212,221E,2248,2264,2265,25B2)
string(REPLACE ";" "," page_characters "${page_characters}")
foreach(weight regular semibold)
  set(letters ${CMAKE_CURRENT_BINARY_DIR}/page-${weight}.otf)
  add_custom_command(OUTPUT ${letters} VERBATIM
    DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/inter-${weight}.otf ${CMAKE_CURRENT_LIST_FILE}
    COMMAND ${HB_SUBSET} ${CMAKE_CURRENT_BINARY_DIR}/inter-${weight}.otf --unicodes=${page_characters}
            --layout-features=tnum --no-hinting --desubroutinize --output-file=${letters}
    COMMENT "Subsetting Inter ${weight} for the page")
  roofline_embed(roofline_render roofline_page_font_${weight} ${letters})
endforeach()
