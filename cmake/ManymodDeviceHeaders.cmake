# SPDX-License-Identifier: Apache-2.0
# The headers for users' own kernels: include/manymod/device and the headers of src/ that these include. They are copied to
# one tree in the build folder, the latter to manymod/device/detail with their #include lines adapted. Examples use the
# tree from there, and it is installed.
#
#   manymod_device_include  its include directory
#   manymod_device_headers  its files

set(manymod_device_include "${CMAKE_CURRENT_BINARY_DIR}/device_include")
set(manymod_device_headers "")

# Copy <name>, a path below <folder>, to <target>, and the headers that it includes to manymod/device/detail.
function(manymod_stage_device_header folder name target)
  set(file "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/${name}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  file(READ "${file}" text)
  string(REGEX MATCHALL "#include \"[^\"]+\"" includes "${text}")
  string(REGEX REPLACE "#include \"" "#include \"manymod/device/detail/" text "${text}")
  set(staged "${manymod_device_include}/${target}")
  file(CONFIGURE OUTPUT "${staged}" CONTENT "@text@" @ONLY)
  set(headers ${manymod_device_headers} "${staged}")
  foreach(include IN LISTS includes)
    string(REGEX REPLACE "#include \"([^\"]+)\"" "\\1" include "${include}")
    set(target "manymod/device/detail/${include}")
    if(NOT "${manymod_device_include}/${target}" IN_LIST headers)
      set(manymod_device_headers ${headers})
      manymod_stage_device_header(src "${include}" "${target}")
      set(headers ${manymod_device_headers})
    endif()
  endforeach()
  set(manymod_device_headers ${headers} PARENT_SCOPE)
endfunction()

file(GLOB manymod_device_interface CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}/include"
     "${CMAKE_CURRENT_SOURCE_DIR}/include/manymod/device/*")
foreach(header IN LISTS manymod_device_interface)
  manymod_stage_device_header(include "${header}" "${header}")
endforeach()

add_library(manymod_device INTERFACE)
add_library(manymod::device ALIAS manymod_device)
set_target_properties(manymod_device PROPERTIES EXPORT_NAME device)
target_include_directories(manymod_device INTERFACE
  "$<BUILD_INTERFACE:${manymod_device_include}>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
# An option rather than the feature cuda_std_20, which CMake before 3.26 does not know of nvcc 12 and 13.
target_compile_options(manymod_device INTERFACE
  "$<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<NOT:$<IN_LIST:$<TARGET_PROPERTY:CUDA_STANDARD>,20;23>>>:-std=c++20>")
