# Assets are embedded in the binary: the page's style sheets and scripts (src/render/assets) and the chart's fonts.

# roofline_embed(<target> <symbol> <file>): the file's bytes become read-only data of <target>, between the
# symbols <symbol>_begin and <symbol>_end. The assembler's .incbin takes 15 ms where a hex array of 600 KB
# takes the compiler a second. <file> may be made by the build; a change of it assembles again.
function(roofline_embed target symbol file)
  get_filename_component(path ${file} ABSOLUTE)
  set(assembly ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.s)
  file(CONFIGURE OUTPUT ${assembly} @ONLY CONTENT [=[
.section .rodata
.balign 16
.global @symbol@_begin
@symbol@_begin:
.incbin "@path@"
.global @symbol@_end
@symbol@_end:
.byte 0
.section .note.GNU-stack,"",%progbits
]=])
  set_source_files_properties(${assembly} TARGET_DIRECTORY ${target} PROPERTIES OBJECT_DEPENDS ${path})
  target_sources(${target} PRIVATE ${assembly})
endfunction()
