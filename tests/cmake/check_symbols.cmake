# SPDX-License-Identifier: Apache-2.0
# The shared library exports the C ABI of the headers, all of it and nothing else; it is the one that LIST has; and its
# SONAME and the version of its symbols name the version of the ABI.
# cmake -DNM=... -DREADELF=... -DLIBRARY=... -DINCLUDE=<folder of the headers> -DLIST=... -DABI=0.1 -P check_symbols.cmake
execute_process(COMMAND "${NM}" -D --defined-only --with-symbol-versions "${LIBRARY}" OUTPUT_VARIABLE table
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^ \n]+\n" exported "${table}")
list(TRANSFORM exported STRIP)
list(REMOVE_ITEM exported "MANYMOD_${ABI}" "MANYMOD_${ABI}@@MANYMOD_${ABI}") # the version's own entry
string(REPLACE "." "\\." version "@@MANYMOD_${ABI}")
list(TRANSFORM exported REPLACE "${version}$" "")
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

file(STRINGS "${LIST}" listed REGEX "^[^#]")
if(NOT exported STREQUAL listed)
  set(added ${exported})
  list(REMOVE_ITEM added ${listed})
  list(REMOVE_ITEM listed ${exported})
  message(FATAL_ERROR "${LIST} differs. Exported and not listed: ${added}\nListed and not exported, or not in the order "
                      "of names: ${listed}")
endif()

execute_process(COMMAND "${READELF}" -d "${LIBRARY}" OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
if(NOT dynamic MATCHES "SONAME[^\n]*\\[libmanymod\\.so\\.${ABI}\\]")
  message(FATAL_ERROR "the SONAME is not libmanymod.so.${ABI}: ${dynamic}")
endif()
