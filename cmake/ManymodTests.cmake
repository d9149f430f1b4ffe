# SPDX-License-Identifier: Apache-2.0
# tests/cpp: one GoogleTest program, one valgrind program for each file of tests/cpp/ctgrind, and one program
# under MemorySanitizer (ManymodMsan).
#
#   MANYMOD_TEST_OPTIONS       options to compile the tests with, after those of the build type
#   MANYMOD_TEST_SHARDS        0: each unit test is a test of ctest, in a process of its own. Otherwise ctest runs so
#                              many processes, each a share of the unit tests: sanitized ones take long to start
#   MANYMOD_TEST_DEVICE_CODE   with the unit tests of the kernels' code on the host. It is all in headers, so that they
#                              test nothing of the library as it was compiled, and take as long as all other tests
include(GoogleTest)
set(MANYMOD_TEST_OPTIONS "" CACHE STRING "Options to compile the C++ tests with, such as -O1: they run once")
set(MANYMOD_TEST_SHARDS 0 CACHE STRING "Processes that the unit tests are shared among; 0: one for each test")
option(MANYMOD_TEST_DEVICE_CODE "With the unit tests of the CUDA kernels' code on the host" ON)

file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "tests/cpp/*.cpp")
if(NOT manymod_libcrypto)
  list(FILTER test_sources EXCLUDE REGEX
       "^tests/cpp/((ecc|rsa)/|ctgrind/(curve|ecc|rsa)_|service/((ecc|rsa)_requests|wrapper)_test)")
endif()
set(ctgrind_sources ${test_sources})
list(FILTER ctgrind_sources INCLUDE REGEX "^tests/cpp/ctgrind/")
list(FILTER test_sources EXCLUDE REGEX "^tests/cpp/(ctgrind|msan|privileged|provider|support/fake_cuda)/")
set(lane_field_sources ${test_sources})
list(FILTER lane_field_sources INCLUDE REGEX "^tests/cpp/support/lane_field")
list(REMOVE_ITEM test_sources ${lane_field_sources})

# Unrolled device code of many shapes, compiled for the host: its optimisation takes minutes, and sanitizers multiply
# that. Its own tests check its results. In the kernels of the substitute driver below, sanitizers only check its accesses
# to the memory that the library passes to it.
set(manymod_device_test_options -O1)
set(manymod_fake_kernel_options -O1)
if(MANYMOD_SANITIZE)
  set(manymod_device_test_options -O0)
  set(manymod_fake_kernel_options -Og -fno-sanitize=undefined)
endif()
# Helpers, not under test themselves, in which the tests spend most of their time. Without the address sanitizer the
# first one uses vectors; its callers check what it reads.
set_source_files_properties(
  tests/cpp/support/byte_product.cpp tests/cpp/support/fiber_switch.cpp tests/cpp/support/lane_values.cpp
  tests/cpp/support/lockstep.cpp tests/cpp/support/naive.cpp tests/cpp/ecc/plain_group.cpp
  PROPERTIES COMPILE_OPTIONS "-O3;-fno-sanitize=undefined" SKIP_PRECOMPILE_HEADERS ON)
set_property(SOURCE tests/cpp/support/byte_product.cpp APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize=address)
# Its calls are instances of templates for each of 60 fields, which take three times as long to optimise as to compile.
set_source_files_properties(tests/cpp/field/lane_fields_test.cpp PROPERTIES
  COMPILE_OPTIONS -O0 SKIP_PRECOMPILE_HEADERS ON)
# This file returns to other stacks than it was called on, which shadow stacks would not allow.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_property(SOURCE tests/cpp/support/fiber_switch.cpp APPEND PROPERTY COMPILE_OPTIONS -fcf-protection=none)
endif()

# Fields in lanes, which are headers for instruction-set files, by pointers: compiled with the options of the library, for
# which CMakeLists.txt has the reasons. Those that this machine does not execute are left out of every build.
manymod_split_by_isa(lane_field_sources lane_field_isa_sources)
if(MANYMOD_SANITIZE AND MANYMOD_X86_64)
  set_property(SOURCE ${lane_field_isa_sources} APPEND PROPERTY COMPILE_OPTIONS
               -fno-sanitize-address-use-after-scope -fno-sanitize=undefined)
endif()
manymod_set_foreign_isas("${lane_field_isa_sources}" "${manymod_foreign_isas}")
add_library(manymod_lane_fields OBJECT ${lane_field_sources} ${lane_field_isa_sources})
manymod_configure_target(manymod_lane_fields)
target_include_directories(manymod_lane_fields PRIVATE tests/cpp)
target_link_libraries(manymod_lane_fields PRIVATE manymod_internal)

# A substitute for the CUDA driver, which runs the kernels on the host without a GPU. Programs that load the driver by
# its name find it in the folder fake_cuda of the build.
add_library(manymod_fake_cuda SHARED
  tests/cpp/support/fake_cuda/devices.cpp tests/cpp/support/fake_cuda/ecc_kernels.cpp
  tests/cpp/support/fake_cuda/kernels.cpp
  tests/cpp/support/fake_cuda/launches.cpp tests/cpp/support/fake_cuda/memory.cpp
  tests/cpp/support/fake_cuda/rns_kernels.cpp tests/cpp/support/fake_cuda/start.cpp
  tests/cpp/support/fake_cuda/state.cpp
  tests/cpp/support/fiber_switch.cpp tests/cpp/support/lockstep.cpp tests/cpp/support/byte_product.cpp
  src/modmul/dpf52/bounds.cpp)
set_property(SOURCE tests/cpp/support/fake_cuda/ecc_kernels.cpp tests/cpp/support/fake_cuda/kernels.cpp
             tests/cpp/support/fake_cuda/rns_kernels.cpp APPEND PROPERTY
             COMPILE_OPTIONS ${manymod_fake_kernel_options})
manymod_configure_target(manymod_fake_cuda)
target_include_directories(manymod_fake_cuda PRIVATE tests/cpp)
target_link_libraries(manymod_fake_cuda PRIVATE manymod_internal)
# Each emulated addition reads and writes its thread's carry, whose address the address sanitizer makes expensive unless it
# is known when a program starts. Programs that load the library later have no room for such variables.
if(MANYMOD_SANITIZE)
  target_compile_options(manymod_fake_cuda PRIVATE -ftls-model=initial-exec)
endif()
foreach(name IN ITEMS libcuda.so.1 libnvidia-ml.so.1)
  add_custom_command(TARGET manymod_fake_cuda POST_BUILD
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${CMAKE_CURRENT_BINARY_DIR}/fake_cuda"
    COMMAND "${CMAKE_COMMAND}" -E create_symlink "$<TARGET_FILE:manymod_fake_cuda>"
            "${CMAKE_CURRENT_BINARY_DIR}/fake_cuda/${name}"
    VERBATIM)
endforeach()
if(manymod_cuda_on AND TARGET example_gpu_arrays_c AND NOT MANYMOD_SANITIZE)
  add_test(NAME example_gpu_arrays_on_fake_cuda COMMAND example_gpu_arrays_c)
  set_tests_properties(example_gpu_arrays_on_fake_cuda PROPERTIES LABELS example TIMEOUT 120
    ENVIRONMENT "LD_LIBRARY_PATH=${CMAKE_CURRENT_BINARY_DIR}/fake_cuda" FAIL_REGULAR_EXPRESSION "no CUDA device")
endif()

if(test_sources)
  include(ManymodTestHeaders)
  # What all unit tests are compiled with.
  add_library(manymod_test_settings INTERFACE)
  target_include_directories(manymod_test_settings INTERFACE tests/cpp)
  target_compile_definitions(manymod_test_settings INTERFACE "MANYMOD_FAKE_CUDA=\"$<TARGET_FILE:manymod_fake_cuda>\"")
  if(MANYMOD_SANITIZE)
    target_compile_definitions(manymod_test_settings INTERFACE MANYMOD_SANITIZED=1)
  endif()
  target_link_libraries(manymod_test_settings INTERFACE manymod_internal manymod_test_headers)

  set(manymod_device_tests ${test_sources})
  list(FILTER manymod_device_tests INCLUDE REGEX "_cuda_test\\.cpp$")
  list(REMOVE_ITEM test_sources ${manymod_device_tests})
  # These spend their time in plain arithmetic of the tests, which would be too slow under sanitizers without optimisation.
  set(manymod_arithmetic_tests "")
  if(MANYMOD_SANITIZE)
    set(manymod_arithmetic_tests ${test_sources})
    list(FILTER manymod_arithmetic_tests INCLUDE REGEX "^tests/cpp/(mod[a-z]+/|lanes/|repr/|ecc/engine|gpu/(kernels|program)/|api/batch_sizes_)")
    list(REMOVE_ITEM test_sources ${manymod_arithmetic_tests})
  endif()
  set(manymod_arithmetic_test_options -O1)
  if(NOT MANYMOD_TEST_DEVICE_CODE)
    set(manymod_device_tests "")
  endif()

  add_executable(manymod_tests ${test_sources})
  manymod_configure_target(manymod_tests)
  target_compile_options(manymod_tests PRIVATE ${MANYMOD_TEST_OPTIONS})
  foreach(group IN ITEMS device arithmetic)
    if(manymod_${group}_tests)
      add_library(manymod_${group}_tests OBJECT ${manymod_${group}_tests})
      manymod_configure_target(manymod_${group}_tests)
      target_link_libraries(manymod_${group}_tests PRIVATE manymod_test_settings)
      target_compile_options(manymod_${group}_tests PRIVATE ${MANYMOD_TEST_OPTIONS} ${manymod_${group}_test_options})
      target_link_libraries(manymod_tests PRIVATE manymod_${group}_tests)
    endif()
  endforeach()
  # Of an inline function that several objects emit, the linker keeps the first copy. The library comes first, so that
  # the tests run its copies, with its options: those of the tests may be unoptimised.
  if(UNIX AND NOT APPLE)
    target_link_options(manymod_tests PRIVATE
      "LINKER:--whole-archive" "$<TARGET_FILE:manymod_static>" "LINKER:--no-whole-archive")
  endif()
  target_link_libraries(manymod_tests PRIVATE
    manymod_static manymod_fake_cuda manymod_lane_fields manymod_test_settings)
  if(MANYMOD_TEST_SHARDS GREATER 0)
    math(EXPR last_shard "${MANYMOD_TEST_SHARDS} - 1")
    foreach(shard RANGE ${last_shard})
      add_test(NAME unit_tests_${shard} COMMAND manymod_tests)
      set_tests_properties(unit_tests_${shard} PROPERTIES LABELS unit TIMEOUT 900
        ENVIRONMENT "GTEST_TOTAL_SHARDS=${MANYMOD_TEST_SHARDS};GTEST_SHARD_INDEX=${shard}")
    endforeach()
  else()
    gtest_discover_tests(manymod_tests DISCOVERY_MODE PRE_TEST PROPERTIES LABELS unit TIMEOUT 600)
  endif()
endif()

find_program(MANYMOD_VALGRIND valgrind)
if(TARGET manymod_provider)
  include(ManymodProviderTests)
endif()

# This test is a program of its own, a copy of which runs with another user's privileges.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT MANYMOD_SANITIZE)
  add_executable(manymod_privileged tests/cpp/privileged/environment.cpp)
  manymod_configure_target(manymod_privileged)
  target_link_libraries(manymod_privileged PRIVATE manymod_static)
  add_test(NAME privileged_environment COMMAND manymod_privileged)
  set_tests_properties(privileged_environment PROPERTIES LABELS package SKIP_REGULAR_EXPRESSION "skipped:")
endif()

# The programs mark secrets as undefined memory, so that valgrind reports each branch and address that depends on one.
# Sanitizers and valgrind exclude each other.
if(NOT MANYMOD_SANITIZE)
  find_path(MANYMOD_VALGRIND_INCLUDE valgrind/memcheck.h)
  foreach(source IN LISTS ctgrind_sources)
    get_filename_component(name "${source}" NAME_WE)
    set(name "ctgrind_${name}")
    if(MANYMOD_VALGRIND AND MANYMOD_VALGRIND_INCLUDE)
      add_executable(${name} "${source}")
      manymod_configure_target(${name})
      target_include_directories(${name} PRIVATE tests/cpp)
      target_include_directories(${name} SYSTEM PRIVATE "${MANYMOD_VALGRIND_INCLUDE}")
      target_link_libraries(${name} PRIVATE manymod_static manymod_internal)
      add_test(NAME ${name} COMMAND "${MANYMOD_VALGRIND}" --error-exitcode=9 -q --track-origins=no
                                    "--suppressions=${CMAKE_CURRENT_SOURCE_DIR}/tests/cpp/ctgrind/declassified.supp"
                                    "$<TARGET_FILE:${name}>")
    else()
      add_test(NAME ${name} COMMAND "${CMAKE_COMMAND}" -P "${CMAKE_CURRENT_SOURCE_DIR}/cmake/ValgrindMissing.cmake")
    endif()
    set_tests_properties(${name} PROPERTIES LABELS "ctgrind;constant_time" TIMEOUT 600 COST 100)
  endforeach()
endif()

if(MANYMOD_X86_64 AND NOT MANYMOD_SANITIZE)
  include(ManymodMsan)
endif()

# A check of the compiler's reports: the kernels' registers and local memory.
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

# The machine code of the kernels: no instruction with a data-dependent effect on timing may depend on a secret. The check
# knows the instructions of sm_90.
if(manymod_architectures MATCHES "(^|,)90a(,|$)" AND NOT MANYMOD_SANITIZE)
  manymod_find_cuda_tool(MANYMOD_CUOBJDUMP cuobjdump "CUDA disassembler")
  add_executable(manymod_device_layouts tests/cmake/device_layouts.cpp)
  manymod_configure_target(manymod_device_layouts)
  target_link_libraries(manymod_device_layouts PRIVATE manymod_internal)
  set(leaks "${CMAKE_CURRENT_SOURCE_DIR}/tests/cmake/device_leaks.cu")
  manymod_compile_device("${leaks}" "${manymod_device_dir}/leaks" 90a)
  add_custom_target(manymod_device_leaks ALL DEPENDS "${manymod_device_dir}/leaks.fatbin")
  set(check "${Python_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/tests/cmake/check_device_secrets.py"
            "${MANYMOD_CUOBJDUMP}" "$<TARGET_FILE:manymod_device_layouts>")
  add_test(NAME device_secrets
           COMMAND ${check} "${CMAKE_CURRENT_SOURCE_DIR}/tests/cmake/device_declassified.txt" ${manymod_fatbins})
  # The check must report the planted leaks and nothing else.
  add_test(NAME device_secrets_finds_leaks COMMAND ${check} /dev/null "${manymod_device_dir}/leaks.fatbin")
  string(CONCAT found
    "leaks_by_waiting_1x1: wait or copy depends on a secret.*leaks_by_lane_1x1: lane depends on a secret.*"
    "leaks_by_meeting_1x1: branch depends on a secret.*"
    "leaks_by_matrix_1x1: branch depends on a secret.*leaks_by_product_1x1: branch depends on a secret.*"
    "leaks_by_address_1x1: address depends on a secret.*leaks_by_branch_1x1: branch depends on a secret.*"
    "8 kernels checked, 7 with findings")
  set_tests_properties(device_secrets_finds_leaks PROPERTIES PASS_REGULAR_EXPRESSION "${found}")
  set_tests_properties(device_secrets PROPERTIES PROCESSORS 2 COST 200)
else()
  add_test(NAME device_secrets COMMAND "${CMAKE_COMMAND}" -P "${CMAKE_CURRENT_SOURCE_DIR}/cmake/CudaMissing.cmake")
  set_tests_properties(device_secrets PROPERTIES SKIP_REGULAR_EXPRESSION "skipped:")
endif()
set_tests_properties(device_secrets PROPERTIES LABELS package TIMEOUT 300)

# The library from outside: its exported symbols, and an installation that a user's project finds.
if(UNIX AND NOT APPLE AND NOT MANYMOD_SANITIZE)
  add_test(NAME exported_symbols
           COMMAND "${CMAKE_COMMAND}" "-DNM=${CMAKE_NM}" "-DLIBRARY=$<TARGET_FILE:manymod>"
                   "-DINCLUDE=${CMAKE_CURRENT_SOURCE_DIR}/include/manymod" "-DREADELF=${CMAKE_READELF}"
                   "-DLIST=${CMAKE_CURRENT_SOURCE_DIR}/tests/abi/symbols.txt" "-DABI=${manymod_abi_version}"
                   -P "${CMAKE_CURRENT_SOURCE_DIR}/tests/cmake/check_symbols.cmake")
  set(installed_nvcc "")
  if(manymod_cuda_on)
    set(installed_nvcc "${MANYMOD_NVCC}")
  endif()
  add_test(NAME installed_package
           COMMAND "${CMAKE_COMMAND}" "-DBUILD=${CMAKE_CURRENT_BINARY_DIR}" "-DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}"
                   "-DWORK=${CMAKE_CURRENT_BINARY_DIR}/installed_package" "-DGENERATOR=${CMAKE_GENERATOR}"
                   "-DNVCC=${installed_nvcc}" "-DLIBCRYPTO=$<BOOL:${manymod_libcrypto}>"
                   -P "${CMAKE_CURRENT_SOURCE_DIR}/tests/cmake/check_install.cmake")
  # Its header is that of an older version: it must not see this one's.
  add_executable(manymod_older_program tests/abi/older_program.c)
  manymod_configure_target(manymod_older_program)
  target_link_libraries(manymod_older_program PRIVATE "$<TARGET_LINKER_FILE:manymod>")
  add_dependencies(manymod_older_program manymod)
  add_test(NAME older_program COMMAND manymod_older_program)
  set_tests_properties(exported_symbols installed_package older_program PROPERTIES LABELS package TIMEOUT 300)
  set_tests_properties(installed_package PROPERTIES COST 120)
endif()

# Only optimised builds must run on other processors: without inlining, instruction-set files share nearly all functions.
if(MANYMOD_X86_64 AND CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT MANYMOD_SANITIZE)
  add_test(NAME isa_isolation
           COMMAND "${Python_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/tests/cmake/check_isa_isolation.py"
                   "${CMAKE_NM}" "$<TARGET_OBJECTS:manymod_objects>"
           COMMAND_EXPAND_LISTS)
  set_tests_properties(isa_isolation PROPERTIES LABELS package)
  # With Clang, CMAKE_OBJDUMP is that of LLVM, which writes other mnemonics.
  find_program(MANYMOD_GNU_OBJDUMP objdump REQUIRED DOC "GNU objdump")
  set(what_is_checked)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(what_is_checked --instructions-only)
  endif()
  add_test(NAME vector_instructions
           COMMAND "${Python_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/tests/cmake/check_vector_instructions.py"
                   ${what_is_checked} "${MANYMOD_GNU_OBJDUMP}" "$<TARGET_OBJECTS:manymod_objects>"
           COMMAND_EXPAND_LISTS)
  set_tests_properties(vector_instructions PROPERTIES LABELS "package;constant_time" COST 150)
endif()
