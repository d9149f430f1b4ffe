# SPDX-License-Identifier: Apache-2.0
# Each file of examples/ is a program against the public headers and the shared library; ctest runs it.
file(GLOB example_sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "examples/*.c" "examples/*.cpp")
foreach(source IN LISTS example_sources)
  get_filename_component(name "${source}" NAME)
  string(REPLACE "." "_" name "example_${name}")
  add_executable(${name} "${source}")
  manymod_configure_target(${name})
  target_link_libraries(${name} PRIVATE manymod::manymod)
  if(MANYMOD_SANITIZE)
    # Clang's driver for C leaves out the part of UndefinedBehaviorSanitizer that the library's C++ calls.
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS example TIMEOUT 120)
endforeach()

# examples/device: programs that nvcc compiles with nothing but the headers for users' kernels. Their tests are skipped
# without a GPU.
option(MANYMOD_BUILD_DEVICE_EXAMPLES "Build the CUDA examples, which link cudart" OFF)
if(MANYMOD_BUILD_DEVICE_EXAMPLES)
  if(NOT manymod_cuda_on)
    message(FATAL_ERROR "MANYMOD_BUILD_DEVICE_EXAMPLES is on, but ${manymod_cuda_why}")
  endif()
  set(device_example_options "")
  string(REPLACE "," ";" device_example_architectures "${manymod_architectures}")
  foreach(architecture IN LISTS device_example_architectures)
    string(REGEX REPLACE "\\+ptx$" "" architecture "${architecture}")
    list(APPEND device_example_options "-gencode=arch=compute_${architecture},code=sm_${architecture}")
  endforeach()
  file(GLOB device_example_sources CONFIGURE_DEPENDS "examples/device/*.cu")
  file(GLOB device_example_headers CONFIGURE_DEPENDS "examples/device/*.cuh")
  foreach(source IN LISTS device_example_sources)
    get_filename_component(name "${source}" NAME_WE)
    set(program "${CMAKE_CURRENT_BINARY_DIR}/example_device_${name}")
    add_custom_command(
      OUTPUT "${program}"
      COMMAND "${MANYMOD_NVCC}" -std=c++20 ${device_example_options} -Werror all-warnings
              "-I${manymod_device_include}" -o "${program}" "${source}"
      DEPENDS "${source}" ${device_example_headers} ${manymod_device_headers}
      COMMENT "CUDA example: ${name}"
      VERBATIM)
    add_custom_target(example_device_${name}_program ALL DEPENDS "${program}")
    add_test(NAME example_device_${name} COMMAND "${program}")
    set_tests_properties(example_device_${name} PROPERTIES LABELS example TIMEOUT 120 SKIP_RETURN_CODE 77)
  endforeach()
endif()
