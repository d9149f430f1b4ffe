# SPDX-License-Identifier: Apache-2.0
# Install rules: the component "python" is the content of a wheel, the component "library" is for C and C++ users.
include(CMakePackageConfigHelpers)
include(ManymodDeviceHeaders)

set(manymod_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/manymod")
install(TARGETS manymod manymod_static manymod_device EXPORT manymod_targets
        RUNTIME COMPONENT library LIBRARY COMPONENT library ARCHIVE COMPONENT library)
install(DIRECTORY include/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT library
        PATTERN device EXCLUDE)
foreach(header IN LISTS manymod_device_headers)
  file(RELATIVE_PATH name "${manymod_device_include}" "${header}")
  get_filename_component(folder "${name}" DIRECTORY)
  install(FILES "${header}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/${folder}" COMPONENT library)
endforeach()
install(EXPORT manymod_targets NAMESPACE manymod:: DESTINATION "${manymod_package_dir}" COMPONENT library)
configure_package_config_file(cmake/manymodConfig.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/manymodConfig.cmake"
                              INSTALL_DESTINATION "${manymod_package_dir}")
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/manymodConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
configure_file(cmake/manymod.pc.in "${CMAKE_CURRENT_BINARY_DIR}/manymod.pc" @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/manymodConfig.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/manymodConfigVersion.cmake"
        DESTINATION "${manymod_package_dir}" COMPONENT library)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/manymod.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
        COMPONENT library)
