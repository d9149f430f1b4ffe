# SPDX-License-Identifier: Apache-2.0
# The provider exports its entry point and nothing else, and needs nothing of libcrypto and libssl that OpenSSL 3.0.0
# does not have: distributions have old ones, such as Ubuntu 22.04 its 3.0.2, and libcrypto says nothing about a
# provider that it cannot load: cmake -DNM=.. -DMODULE=.. -P check_provider_exports.cmake
execute_process(COMMAND "${NM}" -D --defined-only "${MODULE}" OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^ \n]+\n" names "${symbols}")
list(TRANSFORM names STRIP)
if(NOT names STREQUAL "OSSL_provider_init")
  message(FATAL_ERROR "exported: ${names}")
endif()
execute_process(COMMAND "${NM}" -D --undefined-only "${MODULE}" OUTPUT_VARIABLE symbols
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^ \n]+@+OPENSSL_[0-9.]+" needed "${symbols}")
set(newer "${needed}")
list(FILTER newer EXCLUDE REGEX "@OPENSSL_3\\.0\\.0$")
if(newer)
  message(FATAL_ERROR "needs newer versions than OpenSSL 3.0.0: ${newer}")
endif()
