# SPDX-License-Identifier: Apache-2.0
# Each file of examples/ is a program against the public headers and the shared library; ctest runs it.
file(GLOB example_sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "examples/*.c" "examples/*.cpp")
foreach(source IN LISTS example_sources)
  get_filename_component(name "${source}" NAME)
  string(REPLACE "." "_" name "example_${name}")
  add_executable(${name} "${source}")
  manymod_configure_target(${name})
  target_link_libraries(${name} PRIVATE manymod::manymod)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS example TIMEOUT 120)
endforeach()
