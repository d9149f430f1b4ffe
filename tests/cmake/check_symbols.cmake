# SPDX-License-Identifier: Apache-2.0
# The shared library exports the C ABI of manymod.h, all of it and nothing else.
# cmake -DNM=... -DLIBRARY=... -DHEADER=... -P check_symbols.cmake
execute_process(COMMAND "${NM}" -D --defined-only "${LIBRARY}" OUTPUT_VARIABLE table COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^ \n]+\n" exported "${table}")
list(TRANSFORM exported STRIP)
list(SORT exported)

file(READ "${HEADER}" header)
string(REGEX MATCHALL "MM_API [^;(]*[ *](mm_[a-z_]+)\\(" declarations "${header}")
list(TRANSFORM declarations REPLACE "^.*[ *](mm_[a-z_]+)\\($" "\\1")
list(SORT declarations)

if(NOT declarations OR NOT exported STREQUAL declarations)
  message(FATAL_ERROR "exported: ${exported}\ndeclared: ${declarations}")
endif()
