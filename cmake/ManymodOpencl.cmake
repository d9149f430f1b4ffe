# SPDX-License-Identifier: Apache-2.0
# OpenCL kernels: the text of each src/**/*.cl is embedded in the library, whose users' drivers compile it. Neither
# building nor loading the library needs anything of OpenCL.

function(manymod_embed_opencl target)
  set(root "${CMAKE_CURRENT_SOURCE_DIR}/src")
  set(generated "${CMAKE_CURRENT_BINARY_DIR}/opencl/kernel_sources.cpp")
  file(GLOB_RECURSE programs CONFIGURE_DEPENDS RELATIVE "${root}" "${root}/*.cl")
  file(GLOB_RECURSE parts CONFIGURE_DEPENDS "${root}/*.cl" "${root}/*.clh")
  add_custom_command(
    OUTPUT "${generated}"
    COMMAND "${Python_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed_opencl.py"
            --root "${root}" --output "${generated}" ${programs}
    DEPENDS ${parts} "${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed_opencl.py"
    COMMENT "OpenCL kernels"
    VERBATIM)
  target_sources(${target} PRIVATE "${generated}")
  set_source_files_properties("${generated}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
