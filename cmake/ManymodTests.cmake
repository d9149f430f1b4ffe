# SPDX-License-Identifier: Apache-2.0
# tests/cpp: one GoogleTest program, one valgrind program for each file of tests/cpp/ctgrind, and one program
# under MemorySanitizer (ManymodMsan).
include(ManymodThirdParty)
include(GoogleTest)

file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "tests/cpp/*.cpp")
set(ctgrind_sources ${test_sources})
list(FILTER ctgrind_sources INCLUDE REGEX "^tests/cpp/ctgrind/")
list(FILTER test_sources EXCLUDE REGEX "^tests/cpp/(ctgrind|msan|support/fake_cuda)/")

# A CUDA driver without a GPU, for tests of what goes wrong with one.
add_library(manymod_fake_cuda SHARED tests/cpp/support/fake_cuda/driver.cpp)
manymod_configure_target(manymod_fake_cuda)
target_include_directories(manymod_fake_cuda PRIVATE tests/cpp)
target_link_libraries(manymod_fake_cuda PRIVATE manymod_internal)

if(test_sources)
  manymod_need_googletest()
  add_executable(manymod_tests ${test_sources})
  # Unrolled device code, of many shapes on the host: optimising it takes minutes, and sanitizers multiply that.
  set(manymod_device_test_options -O1)
  if(MANYMOD_SANITIZE)
    set(manymod_device_test_options -O0)
  endif()
  file(GLOB manymod_device_tests CONFIGURE_DEPENDS
       "${CMAKE_CURRENT_SOURCE_DIR}/tests/cpp/modmul/device_*_test.cpp"
       "${CMAKE_CURRENT_SOURCE_DIR}/tests/cpp/device_api/*_test.cpp"
       "${CMAKE_CURRENT_SOURCE_DIR}/tests/cpp/modmul/dpf52_cuda_test.cpp"
       "${CMAKE_CURRENT_SOURCE_DIR}/tests/cpp/modmul/fios_test.cpp"
       "${CMAKE_CURRENT_SOURCE_DIR}/tests/cpp/modmul/two_pass16_test.cpp")
  set_property(SOURCE ${manymod_device_tests} APPEND PROPERTY COMPILE_OPTIONS ${manymod_device_test_options})
  manymod_configure_target(manymod_tests)
  target_include_directories(manymod_tests PRIVATE tests/cpp)
  target_compile_definitions(manymod_tests PRIVATE "MANYMOD_FAKE_CUDA=\"$<TARGET_FILE:manymod_fake_cuda>\"")
  target_link_libraries(manymod_tests PRIVATE manymod_static manymod_internal manymod_fake_cuda GTest::gtest_main)
  gtest_discover_tests(manymod_tests DISCOVERY_MODE PRE_TEST PROPERTIES LABELS unit TIMEOUT 600)
endif()

# A secret is marked as undefined memory; valgrind then reports each branch and address that depends on it.
# Sanitizers and valgrind exclude each other.
if(NOT MANYMOD_SANITIZE)
  find_program(MANYMOD_VALGRIND valgrind)
  find_path(MANYMOD_VALGRIND_INCLUDE valgrind/memcheck.h)
  foreach(source IN LISTS ctgrind_sources)
    get_filename_component(name "${source}" NAME_WE)
    set(name "ctgrind_${name}")
    if(MANYMOD_VALGRIND AND MANYMOD_VALGRIND_INCLUDE)
      add_executable(${name} "${source}")
      manymod_configure_target(${name})
      target_include_directories(${name} SYSTEM PRIVATE "${MANYMOD_VALGRIND_INCLUDE}")
      target_link_libraries(${name} PRIVATE manymod_static manymod_internal)
      add_test(NAME ${name} COMMAND "${MANYMOD_VALGRIND}" --error-exitcode=9 -q --track-origins=no
                                    "--suppressions=${CMAKE_CURRENT_SOURCE_DIR}/tests/cpp/ctgrind/declassified.supp"
                                    "$<TARGET_FILE:${name}>")
    else()
      add_test(NAME ${name} COMMAND "${CMAKE_COMMAND}" -P "${CMAKE_CURRENT_SOURCE_DIR}/cmake/ValgrindMissing.cmake")
    endif()
    set_tests_properties(${name} PROPERTIES LABELS ctgrind TIMEOUT 600)
  endforeach()
endif()

if(MANYMOD_X86_64 AND NOT MANYMOD_SANITIZE)
  include(ManymodMsan)
endif()

# The kernels' registers and local memory, as the compiler reported them.
if(manymod_device_resources)
  add_test(NAME device_resources
           COMMAND "${Python_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/tests/cmake/check_device_resources.py"
                   "${CMAKE_CURRENT_SOURCE_DIR}/tests/cmake/device_spills.txt" ${manymod_device_resources})
else()
  add_test(NAME device_resources
           COMMAND "${CMAKE_COMMAND}" -P "${CMAKE_CURRENT_SOURCE_DIR}/cmake/CudaMissing.cmake")
  set_tests_properties(device_resources PROPERTIES SKIP_REGULAR_EXPRESSION "skipped:")
endif()
set_tests_properties(device_resources PROPERTIES LABELS package)

# The library as others meet it: its exported symbols, and an installation that a user's project finds.
if(UNIX AND NOT APPLE AND NOT MANYMOD_SANITIZE)
  add_test(NAME exported_symbols
           COMMAND "${CMAKE_COMMAND}" "-DNM=${CMAKE_NM}" "-DLIBRARY=$<TARGET_FILE:manymod>"
                   "-DHEADER=${CMAKE_CURRENT_SOURCE_DIR}/include/manymod/manymod.h"
                   -P "${CMAKE_CURRENT_SOURCE_DIR}/tests/cmake/check_symbols.cmake")
  set(installed_nvcc "")
  if(manymod_cuda_on)
    set(installed_nvcc "${MANYMOD_NVCC}")
  endif()
  add_test(NAME installed_package
           COMMAND "${CMAKE_COMMAND}" "-DBUILD=${CMAKE_CURRENT_BINARY_DIR}" "-DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}"
                   "-DWORK=${CMAKE_CURRENT_BINARY_DIR}/installed_package" "-DGENERATOR=${CMAKE_GENERATOR}"
                   "-DNVCC=${installed_nvcc}"
                   -P "${CMAKE_CURRENT_SOURCE_DIR}/tests/cmake/check_install.cmake")
  set_tests_properties(exported_symbols installed_package PROPERTIES LABELS package TIMEOUT 300)
endif()

# Only optimised builds are meant to run on other processors; without inlining nearly everything is shared.
if(MANYMOD_X86_64 AND CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT MANYMOD_SANITIZE)
  add_test(NAME isa_isolation
           COMMAND "${Python_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/tests/cmake/check_isa_isolation.py"
                   "${CMAKE_NM}" "$<TARGET_OBJECTS:manymod_objects>"
           COMMAND_EXPAND_LISTS)
  set_tests_properties(isa_isolation PROPERTIES LABELS package)
  add_test(NAME vector_instructions
           COMMAND "${Python_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/tests/cmake/check_vector_instructions.py"
                   "${CMAKE_OBJDUMP}" "$<TARGET_OBJECTS:manymod_objects>"
           COMMAND_EXPAND_LISTS)
  set_tests_properties(vector_instructions PROPERTIES LABELS package)
endif()
