# SPDX-License-Identifier: Apache-2.0
# Install rules: the component "python" is the content of a wheel, the component "library" is for C and C++ users.
include(CMakePackageConfigHelpers)
include(ManymodDeviceHeaders)

set(manymod_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/manymod")
install(TARGETS manymod_device EXPORT manymod_device_targets)
# Each library has a file of its own: programs with the shared one need nothing of what the static one links.
foreach(library IN ITEMS manymod manymod_static)
  install(TARGETS ${library} EXPORT ${library}_targets
          RUNTIME COMPONENT library LIBRARY COMPONENT library ARCHIVE COMPONENT library)
endforeach()
# The public headers; those for CUDA kernels with the headers of src/ that they include (ManymodDeviceHeaders).
function(manymod_install_headers component destination)
  install(DIRECTORY include/ DESTINATION "${destination}" COMPONENT ${component} PATTERN device EXCLUDE)
  foreach(header IN LISTS manymod_device_headers)
    file(RELATIVE_PATH name "${manymod_device_include}" "${header}")
    get_filename_component(folder "${name}" DIRECTORY)
    install(FILES "${header}" DESTINATION "${destination}/${folder}" COMPONENT ${component})
  endforeach()
endfunction()
manymod_install_headers(library "${CMAKE_INSTALL_INCLUDEDIR}")
foreach(targets IN ITEMS manymod_device_targets manymod_targets manymod_static_targets)
  install(EXPORT ${targets} NAMESPACE manymod:: DESTINATION "${manymod_package_dir}" COMPONENT library)
endforeach()
# What the static library needs of the C++ runtime.
set(manymod_cxx_runtime ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(FILTER manymod_cxx_runtime INCLUDE REGEX "^(stdc\\+\\+|c\\+\\+|m)$")
list(REMOVE_DUPLICATES manymod_cxx_runtime)
configure_package_config_file(cmake/manymodConfig.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/manymodConfig.cmake"
                              INSTALL_DESTINATION "${manymod_package_dir}")
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/manymodConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)

# For pkg-config: the prefix as seen from the file's own folder.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(manymod_pc_prefix "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH up "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(manymod_pc_prefix "\${pcfiledir}/${up}")
endif()
foreach(folder IN ITEMS INCLUDEDIR LIBDIR)
  set(manymod_pc_${folder} "\${prefix}/${CMAKE_INSTALL_${folder}}")
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${folder}}")
    set(manymod_pc_${folder} "${CMAKE_INSTALL_${folder}}")
  endif()
endforeach()
set(manymod_pc_private ${manymod_cxx_runtime} ${CMAKE_DL_LIBS})
list(TRANSFORM manymod_pc_private PREPEND "-l")
list(JOIN manymod_pc_private " " manymod_pc_private)
configure_file(cmake/manymod.pc.in "${CMAKE_CURRENT_BINARY_DIR}/manymod.pc" @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/manymodConfig.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/manymodConfigVersion.cmake"
        DESTINATION "${manymod_package_dir}" COMPONENT library)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/manymod.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
        COMPONENT library)
