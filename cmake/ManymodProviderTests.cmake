# SPDX-License-Identifier: Apache-2.0
# tests/cpp/provider: the provider through libcrypto's EVP interface, alone and under valgrind.
file(GLOB provider_test_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/tests/cpp/provider/*.cpp")
add_executable(manymod_provider_tests ${provider_test_sources} tests/cpp/support/sanitizer_options.cpp)
manymod_configure_target(manymod_provider_tests)
target_compile_options(manymod_provider_tests PRIVATE ${MANYMOD_TEST_OPTIONS})
target_compile_definitions(manymod_provider_tests PRIVATE
  "MANYMOD_PROVIDER_MODULE=\"$<TARGET_FILE:manymod_provider>\""
  "MANYMOD_PROVIDER_TEST_KEYS=\"${CMAKE_CURRENT_SOURCE_DIR}/tests/cpp/provider/keys\"")
target_link_libraries(manymod_provider_tests PRIVATE OpenSSL::Crypto Threads::Threads GTest::gtest_main)
add_dependencies(manymod_provider_tests manymod_provider)
# The tests run without the machine's configuration of OpenSSL.
add_test(NAME provider COMMAND manymod_provider_tests)
set_tests_properties(provider PROPERTIES LABELS unit TIMEOUT 300 ENVIRONMENT "OPENSSL_CONF=/dev/null")
if(NOT MANYMOD_SANITIZE)
  add_test(NAME provider_exports
           COMMAND "${CMAKE_COMMAND}" "-DNM=${CMAKE_NM}" "-DMODULE=$<TARGET_FILE:manymod_provider>"
                   -P "${CMAKE_CURRENT_SOURCE_DIR}/tests/cmake/check_provider_exports.cmake")
  set_tests_properties(provider_exports PROPERTIES LABELS package)
endif()
set(memory_tests "ProviderJobs.PauseUntil*:ProviderJobs.Outlive*:ProviderReferences.AreKeys*:*AreWritten*/ECP256")
string(APPEND memory_tests ":*SignAndVerify/RSA2048:*SignAndVerify/ED25519:ProviderPublicKeys.CanBeChanged")
if(MANYMOD_VALGRIND AND NOT MANYMOD_SANITIZE)
  add_test(NAME provider_valgrind
           COMMAND "${MANYMOD_VALGRIND}" -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite
                   "$<TARGET_FILE:manymod_provider_tests>" "--gtest_filter=${memory_tests}")
  set_tests_properties(provider_valgrind PROPERTIES LABELS unit TIMEOUT 300 ENVIRONMENT "OPENSSL_CONF=/dev/null")
endif()
