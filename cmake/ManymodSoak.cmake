# SPDX-License-Identifier: Apache-2.0
# tests/soak: random calls from threads and forks with failing allocations, after which the process has the memory that
# it had before. The program runs the harnesses of tests/fuzz on the library as it is installed.
#
#   MANYMOD_SOAK_SECONDS   how long the test of ctest runs (`make soak`: an hour)

set(MANYMOD_SOAK_SECONDS 10 CACHE STRING "Seconds that the soak test of ctest runs")
add_library(manymod_failing_allocations SHARED tests/soak/failing_allocations.cpp)
manymod_configure_target(manymod_failing_allocations)
if(NOT manymod_libcrypto)
  message(STATUS "Soak test: skipped: its oracle is libcrypto of OpenSSL 3")
  return()
endif()

set(manymod_soak_objects "")
foreach(name IN ITEMS calls rsa_calls ecc_calls)
  add_library(manymod_soak_${name} OBJECT "tests/fuzz/${name}_fuzz.cpp")
  manymod_configure_target(manymod_soak_${name})
  target_compile_definitions(manymod_soak_${name} PRIVATE "LLVMFuzzerTestOneInput=manymod_fuzz_${name}")
  target_include_directories(manymod_soak_${name} PRIVATE tests)
  target_link_libraries(manymod_soak_${name} PRIVATE manymod_internal)
  list(APPEND manymod_soak_objects "$<TARGET_OBJECTS:manymod_soak_${name}>")
endforeach()
add_executable(manymod_soak tests/soak/soak.cpp tests/fuzz/call_builder.cpp ${manymod_soak_objects})
manymod_configure_target(manymod_soak)
target_include_directories(manymod_soak PRIVATE tests)
target_link_libraries(manymod_soak PRIVATE manymod manymod_internal)
add_test(NAME soak COMMAND manymod_soak --seconds "${MANYMOD_SOAK_SECONDS}")
math(EXPR manymod_soak_timeout "${MANYMOD_SOAK_SECONDS} + 300")
set_tests_properties(soak PROPERTIES LABELS soak TIMEOUT ${manymod_soak_timeout} PROCESSORS 2
  ENVIRONMENT "LD_PRELOAD=$<TARGET_FILE:manymod_failing_allocations>;MALLOC_ARENA_MAX=2")
