# SPDX-License-Identifier: Apache-2.0
# The provider exports its entry point and nothing else: cmake -DNM=.. -DMODULE=.. -P check_provider_exports.cmake
execute_process(COMMAND "${NM}" -D --defined-only "${MODULE}" OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^ \n]+\n" names "${symbols}")
list(TRANSFORM names STRIP)
if(NOT names STREQUAL "OSSL_provider_init")
  message(FATAL_ERROR "exported: ${names}")
endif()
