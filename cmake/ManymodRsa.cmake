# SPDX-License-Identifier: Apache-2.0
# RSA and curves, which use digests, HMAC and randomness of libcrypto.
#
#   MANYMOD_RSA   AUTO: if OpenSSL 3 is found; ON: stop if it is not; OFF: without
#
# Without it the functions of rsa.h and ecc.h return MM_ERR_UNSUPPORTED.
set(MANYMOD_RSA AUTO CACHE STRING "RSA by libcrypto of OpenSSL 3: AUTO, ON or OFF")
set_property(CACHE MANYMOD_RSA PROPERTY STRINGS AUTO ON OFF)

set(manymod_libcrypto "")
set(manymod_pc_libcrypto "")
if(MANYMOD_RSA STREQUAL "AUTO")
  find_package(OpenSSL 3.0 QUIET COMPONENTS Crypto)
elseif(MANYMOD_RSA)
  find_package(OpenSSL 3.0 REQUIRED COMPONENTS Crypto)
endif()
if(MANYMOD_RSA AND TARGET OpenSSL::Crypto)
  set(manymod_libcrypto OpenSSL::Crypto)
  set(manymod_pc_libcrypto -lcrypto)
  message(STATUS "RSA: libcrypto ${OPENSSL_VERSION}")
else()
  message(STATUS "RSA: not built")
endif()

function(manymod_select_rsa_sources variable)
  if(manymod_libcrypto)
    list(FILTER ${variable} EXCLUDE REGEX "^src/(ecc|rsa)/missing\\.cpp$")
  else()
    list(FILTER ${variable} EXCLUDE REGEX "^src/(crypto|ecc|rsa)/")
    list(APPEND ${variable} src/ecc/missing.cpp src/rsa/missing.cpp)
  endif()
  set(${variable} "${${variable}}" PARENT_SCOPE)
endfunction()
