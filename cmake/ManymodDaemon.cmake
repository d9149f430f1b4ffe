# SPDX-License-Identifier: Apache-2.0
# daemon/: manymod-signd, which holds private keys, and the library of its clients.
#
#   MANYMOD_BUILD_DAEMON   ON: build both; ON with the tests. It needs Linux and libcrypto
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux" OR NOT manymod_libcrypto)
  message(STATUS "manymod-signd: not built: it needs Linux and libcrypto of OpenSSL 3")
  return()
endif()

# Includes are relative to daemon/. A client needs of manymod its headers alone.
file(GLOB daemon_client_sources CONFIGURE_DEPENDS daemon/protocol/*.cpp daemon/client/*.cpp)
add_library(manymod_signd_client STATIC ${daemon_client_sources})
file(GLOB daemon_server_sources CONFIGURE_DEPENDS daemon/server/*.cpp)
add_library(manymod_signd_server STATIC ${daemon_server_sources})
foreach(library IN ITEMS manymod_signd_client manymod_signd_server)
  manymod_configure_target(${library})
  target_include_directories(${library} PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}/daemon" "${CMAKE_CURRENT_SOURCE_DIR}/include")
  set_target_properties(${library} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${library} PUBLIC Threads::Threads)
endforeach()
target_link_libraries(manymod_signd_server PUBLIC manymod_signd_client manymod_static ${manymod_libcrypto})

add_executable(manymod-signd daemon/manymod-signd.cpp)
manymod_configure_target(manymod-signd)
target_link_libraries(manymod-signd PRIVATE manymod_signd_server)

set(manymod_signd_program "${CMAKE_INSTALL_FULL_SBINDIR}/manymod-signd")
set(manymod_signd_configuration "${CMAKE_INSTALL_FULL_SYSCONFDIR}/manymod/signd.conf")
configure_file(daemon/manymod-signd.service.in "${CMAKE_CURRENT_BINARY_DIR}/manymod-signd.service" @ONLY)
install(TARGETS manymod-signd RUNTIME DESTINATION "${CMAKE_INSTALL_SBINDIR}" COMPONENT daemon)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/manymod-signd.service" DESTINATION lib/systemd/system COMPONENT daemon)
install(FILES daemon/signd.conf DESTINATION "${CMAKE_INSTALL_SYSCONFDIR}/manymod" COMPONENT daemon)

if(MANYMOD_BUILD_TESTS)
  include(ManymodThirdParty)
  include(GoogleTest)
  manymod_need_googletest()
  file(GLOB daemon_tests CONFIGURE_DEPENDS tests/daemon/*.cpp)
  add_executable(manymod_signd_tests ${daemon_tests})
  manymod_configure_target(manymod_signd_tests)
  target_include_directories(manymod_signd_tests PRIVATE tests)
  target_compile_definitions(manymod_signd_tests PRIVATE
    "MANYMOD_SIGND=\"$<TARGET_FILE:manymod-signd>\"" "$<$<BOOL:${MANYMOD_SANITIZE}>:MANYMOD_SANITIZED=1>")
  target_compile_options(manymod_signd_tests PRIVATE ${MANYMOD_TEST_OPTIONS})
  target_link_libraries(manymod_signd_tests PRIVATE manymod_signd_server GTest::gtest_main)
  add_dependencies(manymod_signd_tests manymod-signd)
  add_test(NAME signd_tests COMMAND manymod_signd_tests)
  set_tests_properties(signd_tests PROPERTIES LABELS unit TIMEOUT 300)
endif()

# The load generator, and a daemon without arithmetic, whose processor time is all the rest.
if(MANYMOD_BUILD_BENCH)
  add_executable(manymod-signd-load bench/signd/load.cpp)
  target_link_libraries(manymod-signd-load PRIVATE manymod_signd_client)
  add_executable(manymod-signd-empty daemon/manymod-signd.cpp bench/signd/no_arithmetic.cpp)
  target_link_libraries(manymod-signd-empty PRIVATE manymod_signd_server)
  target_link_options(manymod-signd-empty PRIVATE LINKER:--wrap=mm_rsa_run)
  foreach(program IN ITEMS manymod-signd-load manymod-signd-empty)
    manymod_configure_target(${program})
    set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/bench")
  endforeach()
endif()
