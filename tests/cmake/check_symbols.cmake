# SPDX-License-Identifier: Apache-2.0
# The shared library exports the C ABI of the headers, all of it and nothing else.
# cmake -DNM=... -DLIBRARY=... -DINCLUDE=<folder of the headers> -P check_symbols.cmake
execute_process(COMMAND "${NM}" -D --defined-only "${LIBRARY}" OUTPUT_VARIABLE table COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^ \n]+\n" exported "${table}")
list(TRANSFORM exported STRIP)
list(SORT exported)

file(GLOB headers "${INCLUDE}/*.h")
set(text "")
foreach(header IN LISTS headers)
  file(READ "${header}" one)
  string(APPEND text "${one}")
endforeach()
string(REGEX MATCHALL "MM_API [^;(]*[ *](mm_[a-z_]+)\\(" declarations "${text}")
list(TRANSFORM declarations REPLACE "^.*[ *](mm_[a-z_]+)\\($" "\\1")
list(SORT declarations)

if(NOT declarations OR NOT exported STREQUAL declarations)
  message(FATAL_ERROR "exported: ${exported}\ndeclared: ${declarations}")
endif()
