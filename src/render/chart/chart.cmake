# What the chart needs besides C++: Cairo and FreeType, and the font inside the binary.

# Cairo's archive refers to what all its surfaces need; of that only fontconfig and expat (behind its toy
# font interface, which nothing here calls) and the PNG and pixman code end up in a link. X11 does not.
roofline_static_group(roofline_cairo PREFIXES CAIRO FREETYPE ZLIB
  ARCHIVES cairo pixman-1 png16 freetype fontconfig expat brotlidec brotlicommon z)
target_link_libraries(roofline_render PUBLIC roofline_cairo)

# Inter's Latin, Greek, arrows and mathematics; with tabular figures for the page that embeds
# a part of it. About 36 KB a weight.
set(ROOFLINE_FONT_DIR /usr/share/fonts/opentype/inter CACHE PATH "Folder of Inter-Regular.otf and Inter-SemiBold.otf")
find_program(HB_SUBSET hb-subset)
if(NOT HB_SUBSET)
  message(FATAL_ERROR "hb-subset is missing: apt-get install libharfbuzz-bin")
endif()
set(font_characters
  20-7E,A0-FF,131,152,153,2C6,2DC,391-3A9,3B1-3C9,2010-2015,2018-201E,2020-2022,2026,2030,2032,2033,2039,203A,2070-2079
  2080-2089,20AC,2122,2190-2199,2202,2206,220F,2211,2212,2215,2219,221A,221E,222B,2248,2260,2264,2265,25B2,25B3,25BC
  25C6,25CA,25CF,25A0,2713,2717)
string(REPLACE ";" "," font_characters "${font_characters}")
foreach(weight Regular SemiBold)
  set(source ${ROOFLINE_FONT_DIR}/Inter-${weight}.otf)
  if(NOT EXISTS ${source})
    message(FATAL_ERROR "${source} is missing: apt-get install fonts-inter, or set ROOFLINE_FONT_DIR")
  endif()
  string(TOLOWER ${weight} lower)
  set(subset ${CMAKE_CURRENT_BINARY_DIR}/inter-${lower}.otf)
  add_custom_command(OUTPUT ${subset} VERBATIM
    DEPENDS ${source} ${CMAKE_CURRENT_LIST_FILE}
    COMMAND ${HB_SUBSET} ${source} --unicodes=${font_characters} --layout-features=tnum --no-hinting
            --output-file=${subset}
    COMMENT "Subsetting Inter ${weight}")
  roofline_embed(roofline_render roofline_font_${lower} ${subset})
endforeach()
