# Run by CPack before each package is made: all of its files get the date of SOURCE_DATE_EPOCH. rpm keeps the dates of
# files that are earlier, as those of a checkout may be.
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  file(GLOB_RECURSE files LIST_DIRECTORIES true "${CPACK_TEMPORARY_DIRECTORY}/*")
  foreach(file IN LISTS files)
    execute_process(COMMAND touch -h -d "@$ENV{SOURCE_DATE_EPOCH}" "${file}" COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endif()
