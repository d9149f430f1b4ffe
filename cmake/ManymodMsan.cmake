# SPDX-License-Identifier: Apache-2.0
# tests/cpp/msan: the vector techniques under MemorySanitizer, which reports what depends on secrets also in code whose
# instructions valgrind does not know. It needs Clang 19 or newer, whichever compiler builds the rest.

set(manymod_msan_flags -fsanitize=memory -fno-sanitize-memory-param-retval)

# Take the first Clang that is new enough and has the runtime. Others must not stay in the cache, or a Clang that is
# installed later would never be found.
set(manymod_msan_usable FALSE)
set(manymod_msan_probe "${CMAKE_CURRENT_BINARY_DIR}/msan/probe.cpp")
file(WRITE "${manymod_msan_probe}" "static_assert(__clang_major__ >= 19);\nint main() {}\n")
foreach(name IN ITEMS clang++-22 clang++-21 clang++-20 clang++-19 clang++)
  find_program(MANYMOD_MSAN_CXX NAMES ${name})
  if(MANYMOD_MSAN_CXX)
    execute_process(COMMAND "${MANYMOD_MSAN_CXX}" ${manymod_msan_flags} "${manymod_msan_probe}" -o "${manymod_msan_probe}.out"
                    RESULT_VARIABLE manymod_msan_outcome OUTPUT_QUIET ERROR_QUIET)
    if(manymod_msan_outcome EQUAL 0)
      set(manymod_msan_usable TRUE)
      break()
    endif()
  endif()
  unset(MANYMOD_MSAN_CXX CACHE)
endforeach()

if(NOT manymod_msan_usable)
  add_test(NAME msan_secret_lanes
           COMMAND "${CMAKE_COMMAND}" -P "${CMAKE_CURRENT_SOURCE_DIR}/cmake/MsanMissing.cmake")
  set_tests_properties(msan_secret_lanes PROPERTIES LABELS msan SKIP_REGULAR_EXPRESSION "skipped:")
  return()
endif()

# Compile `source` to the object file that `object` names, in the folder `folder` of the build.
function(manymod_compile_by_clang source folder object)
  set(file "${CMAKE_CURRENT_BINARY_DIR}/${folder}/${source}.o")
  get_filename_component(directory "${file}" DIRECTORY)
  file(MAKE_DIRECTORY "${directory}")
  add_custom_command(
    OUTPUT "${file}"
    COMMAND "${MANYMOD_MSAN_CXX}" -std=c++20 ${ARGN}
            "-I${CMAKE_CURRENT_SOURCE_DIR}/src" "-I${CMAKE_CURRENT_SOURCE_DIR}/include"
            -MD -MF "${file}.d" -c "${CMAKE_CURRENT_SOURCE_DIR}/${source}" -o "${file}"
    DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${source}"
    DEPFILE "${file}.d"
    COMMENT "Clang, ${folder}: ${source}"
    VERBATIM)
  set(${object} "${file}" PARENT_SCOPE)
endfunction()

# The program and the sources of the library that it runs.
file(GLOB manymod_msan_sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}"
     "tests/cpp/msan/*.cpp" "src/core/cpu_features.cpp" "src/core/environment.cpp" "src/engine/*.cpp"
     "src/lanes/*.cpp" "src/modexp/*.cpp" "src/modmul/dpf52/bounds.cpp" "tests/cpp/support/lane_field*.cpp"
     "src/ecc/lanes/edwards_*.avx2.cpp" "src/ecc/lanes/edwards_*.avx512*.cpp" "src/ecc/lanes/edwards_lane_calls.cpp"
     "src/ecc/lanes/recoding.cpp" "src/ecc/lanes/lane_block.cpp" "src/ecc/lanes/p256.*.cpp" "src/ecc/lanes/p521.*.cpp"
     "src/ecc/lanes/runtime_curves.*.cpp" "src/modmul/montgomery_lanes/*.cpp"
     "src/modmul/*/*.avx2.cpp" "src/modmul/*/*.avx512f.cpp" "src/modmul/*/*.avx512ifma.cpp")
set(manymod_msan_objects "")
set(manymod_msan_foreign_objects "")
foreach(source IN LISTS manymod_msan_sources)
  set(flags -O1)
  set(objects manymod_msan_objects)
  foreach(suffix IN LISTS manymod_isa_suffixes)
    if(source MATCHES "\\.${suffix}\\.cpp$")
      set(flags -O1 ${manymod_isa_flags_${suffix}})
      if(suffix IN_LIST manymod_foreign_isas)
        list(APPEND flags ${manymod_foreign_isa_flags})
        set(objects manymod_msan_foreign_objects)
      endif()
    endif()
  endforeach()
  # Unrolled tenfold, these would take longer to optimise than to run.
  if(source MATCHES "/ifma52/kernels\\.")
    list(APPEND flags -O0)
  endif()
  manymod_compile_by_clang("${source}" msan object -g1 -DMANYMOD_X86_64=1
                           "-I${CMAKE_CURRENT_SOURCE_DIR}/tests/cpp" ${manymod_msan_flags} ${flags})
  list(APPEND ${objects} "${object}")
endforeach()
list(APPEND manymod_msan_objects ${manymod_msan_foreign_objects})
set(manymod_msan_program "${CMAKE_CURRENT_BINARY_DIR}/msan/secret_lanes")
add_custom_command(
  OUTPUT "${manymod_msan_program}"
  COMMAND "${MANYMOD_MSAN_CXX}" ${manymod_msan_flags} ${manymod_msan_objects} -o "${manymod_msan_program}"
  DEPENDS ${manymod_msan_objects}
  VERBATIM)
add_custom_target(manymod_msan ALL DEPENDS "${manymod_msan_program}")

add_test(NAME msan_secret_lanes COMMAND "${manymod_msan_program}")
# The check must report planted dependences.
foreach(plant IN ITEMS branch address)
  add_test(NAME msan_finds_secret_${plant} COMMAND "${manymod_msan_program}" ${plant})
  set_tests_properties(msan_finds_secret_${plant} PROPERTIES
    PASS_REGULAR_EXPRESSION "MemorySanitizer: use-of-uninitialized-value")
endforeach()
set_tests_properties(msan_secret_lanes msan_finds_secret_branch msan_finds_secret_address
                     PROPERTIES LABELS msan TIMEOUT 300)
# The longest test starts first, so that others run beside it.
set_tests_properties(msan_secret_lanes PROPERTIES COST 300)

# Compilers differ in the masks that they turn into branches: what Clang makes of scalar code at -O3 runs under valgrind
# beside what the build's compiler makes of it. All compilers are tried by `make compilers`.
if(MANYMOD_VALGRIND AND MANYMOD_VALGRIND_INCLUDE)
  set(sources_of_field src/modinv/safegcd.cpp src/modmul/scalar64/kernels.generic.cpp src/modmul/scalar64/montgomery.cpp
      src/core/cpu_features.cpp src/core/environment.cpp)
  foreach(name IN ITEMS field device_api device_points)
    set(objects "")
    foreach(source IN ITEMS tests/cpp/ctgrind/${name}.cpp ${sources_of_${name}})
      manymod_compile_by_clang("${source}" ctgrind_clang object -O3 -DNDEBUG "-I${CMAKE_CURRENT_SOURCE_DIR}/tests/cpp"
                               "-idirafter${MANYMOD_VALGRIND_INCLUDE}")
      list(APPEND objects "${object}")
    endforeach()
    set(program "${CMAKE_CURRENT_BINARY_DIR}/ctgrind_clang/${name}")
    add_custom_command(OUTPUT "${program}" COMMAND "${MANYMOD_MSAN_CXX}" ${objects} -o "${program}" DEPENDS ${objects} VERBATIM)
    add_custom_target(ctgrind_clang_${name} ALL DEPENDS "${program}")
    add_test(NAME ctgrind_clang_${name} COMMAND "${MANYMOD_VALGRIND}" --error-exitcode=9 -q --track-origins=no "${program}")
    set_tests_properties(ctgrind_clang_${name} PROPERTIES LABELS "ctgrind;constant_time" TIMEOUT 600)
  endforeach()
endif()
