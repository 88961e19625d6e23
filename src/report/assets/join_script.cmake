# Joins the parts of the page's script: cmake -D OUTPUT=… -D PARTS=a.js,b.js -P join_script.cmake. They share one
# function's scope. Indentation and lines of comment stay behind, for every page carries the script.
string(REPLACE "," ";" PARTS "${PARTS}")
set(script "(() => {\n'use strict';\n")
foreach(part IN LISTS PARTS)
  file(READ ${part} text)
  string(REGEX REPLACE "\n +" "\n" text "\n${text}")
  string(REGEX REPLACE "\n//[^\n]*" "" text "${text}")
  string(APPEND script "${text}")
endforeach()
string(REGEX REPLACE "\n\n+" "\n" script "${script}})();\n")
file(WRITE ${OUTPUT} "${script}")
