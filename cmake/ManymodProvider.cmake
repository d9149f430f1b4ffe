# SPDX-License-Identifier: Apache-2.0
# provider/: the module manymod.so, which OpenSSL 3 loads as a provider (docs/provider.md). It has the library in it and
# exports OSSL_provider_init alone.
#
#   MANYMOD_BUILD_PROVIDER       ON: build it, and stop if it cannot be built; AUTO: with the tests, if it can. It needs
#                                the client of MANYMOD_BUILD_DAEMON, and so Linux and libcrypto
#   MANYMOD_PROVIDER_MODULE_DIR  where it is installed

set(MANYMOD_PROVIDER_MODULE_DIR "${CMAKE_INSTALL_LIBDIR}/ossl-modules" CACHE STRING "Folder of OpenSSL's modules")
if(NOT TARGET manymod_signd_client)
  manymod_not_built(MANYMOD_BUILD_PROVIDER "the OpenSSL provider needs MANYMOD_BUILD_DAEMON, whose client it uses")
  return()
endif()
file(GLOB provider_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/provider/*.cpp")
add_library(manymod_provider_objects OBJECT ${provider_sources})
manymod_configure_target(manymod_provider_objects)
# The functions that OpenSSL calls have the same names in each operation.
set(provider_operations asym_cipher eddsa keyexch keymgmt scheme signature)
list(TRANSFORM provider_operations REPLACE "(.+)" "${CMAKE_CURRENT_SOURCE_DIR}/provider/\\1.cpp")
manymod_unite_sources(manymod_provider_objects ${provider_operations})
set_target_properties(manymod_provider_objects PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_link_libraries(manymod_provider_objects PUBLIC manymod_static manymod_signd_client)
add_library(manymod_provider MODULE $<TARGET_OBJECTS:manymod_provider_objects>)
manymod_configure_target(manymod_provider)
target_link_libraries(manymod_provider PRIVATE manymod_static manymod_signd_client)
set_target_properties(manymod_provider PROPERTIES PREFIX "" OUTPUT_NAME manymod
  LIBRARY_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/ossl-modules")
manymod_export_only(manymod_provider "${CMAKE_CURRENT_SOURCE_DIR}/cmake/manymod_provider.map")
# nodelete: libcrypto unloads modules while threads that they started may be waiting in them.
target_link_options(manymod_provider PRIVATE "LINKER:-z,nodelete")
if(NOT MANYMOD_SANITIZE)
  target_link_options(manymod_provider PRIVATE "LINKER:-z,defs")
endif()
install(TARGETS manymod_provider LIBRARY DESTINATION "${MANYMOD_PROVIDER_MODULE_DIR}" COMPONENT provider)

# Single operations with the provider and without.
if(MANYMOD_BUILD_BENCH)
  include(ManymodThirdParty)
  manymod_need_cli11()
  add_executable(manymod-provider-single bench/provider/single.cpp)
  manymod_configure_target(manymod-provider-single)
  target_link_libraries(manymod-provider-single PRIVATE OpenSSL::Crypto CLI11::CLI11)
  set_target_properties(manymod-provider-single PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/bench")
endif()
