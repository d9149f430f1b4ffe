# SPDX-License-Identifier: Apache-2.0
# tests/fuzz: a program for each *_fuzz.cpp, which gives bytes to a part of the library and checks what it does with them.
#
#   MANYMOD_BUILD_FUZZERS   ON: programs of libFuzzer, for a build with Clang and MANYMOD_SANITIZE of fuzzer-no-link
#                           (preset fuzz; `make fuzz` finds the compiler and runs them). OFF: in a build with sanitizers
#                           and tests, programs that run the seeds and mutations of them, as tests of ctest
#   MANYMOD_FUZZ_SECONDS    how long each of those tests runs

set(MANYMOD_FUZZ_SECONDS 5 CACHE STRING "Seconds that each fuzzing test of ctest runs")
set(manymod_fuzz_folder "${CMAKE_CURRENT_SOURCE_DIR}/tests/fuzz")
file(GLOB manymod_fuzz_sources CONFIGURE_DEPENDS "${manymod_fuzz_folder}/*_fuzz.cpp")

# The oracle of the harnesses is libcrypto.
if(NOT manymod_libcrypto)
  if(MANYMOD_BUILD_FUZZERS)
    message(FATAL_ERROR "MANYMOD_BUILD_FUZZERS is ON, but the fuzzing programs need libcrypto of OpenSSL 3")
  endif()
  message(STATUS "Fuzzing programs: skipped: they need libcrypto of OpenSSL 3")
  return()
endif()

set(manymod_fuzz_main "${manymod_fuzz_folder}/replay.cpp")
set(manymod_fuzz_link_options "")
if(MANYMOD_BUILD_FUZZERS)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_FLAGS -fsanitize=fuzzer)
  check_cxx_source_compiles("extern \"C\" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }"
                            MANYMOD_HAS_LIBFUZZER)
  unset(CMAKE_REQUIRED_FLAGS)
  if(NOT MANYMOD_HAS_LIBFUZZER)
    message(FATAL_ERROR "MANYMOD_BUILD_FUZZERS needs a Clang with libFuzzer: install clang-19 and libclang-rt-19-dev")
  endif()
  set(manymod_fuzz_main "")
  set(manymod_fuzz_link_options -fsanitize=fuzzer)
endif()

add_library(manymod_fuzz_support OBJECT "${manymod_fuzz_folder}/call_builder.cpp" ${manymod_fuzz_main})
manymod_configure_target(manymod_fuzz_support)
target_include_directories(manymod_fuzz_support PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}/tests")
target_link_libraries(manymod_fuzz_support PUBLIC manymod_internal)

add_custom_target(manymod_fuzzers)
foreach(source IN LISTS manymod_fuzz_sources)
  get_filename_component(name "${source}" NAME_WE)
  if((name MATCHES "^signd_" AND NOT TARGET manymod_signd_client) OR
     (name MATCHES "^provider_" AND NOT TARGET manymod_provider_objects))
    continue()
  endif()
  add_executable(${name} "${source}")
  manymod_configure_target(${name})
  target_link_libraries(${name} PRIVATE manymod_fuzz_support manymod_static)
  target_link_options(${name} PRIVATE ${manymod_fuzz_link_options})
  if(name MATCHES "^signd_")
    target_link_libraries(${name} PRIVATE manymod_signd_client)
  elseif(name MATCHES "^provider_")
    target_link_libraries(${name} PRIVATE manymod_provider_objects)
  endif()
  add_dependencies(manymod_fuzzers ${name})
  if(MANYMOD_BUILD_FUZZERS)
    continue()
  endif()
  string(REGEX REPLACE "_fuzz$" "" corpus "${name}")
  add_test(NAME ${name}
           COMMAND ${name} --seconds "${MANYMOD_FUZZ_SECONDS}" "${manymod_fuzz_folder}/corpus/${corpus}")
  math(EXPR timeout "${MANYMOD_FUZZ_SECONDS} + 300")
  set_tests_properties(${name} PROPERTIES LABELS fuzz TIMEOUT ${timeout})
endforeach()
