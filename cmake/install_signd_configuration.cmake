# SPDX-License-Identifier: Apache-2.0
# Install the daemon's configuration where none is: an administrator's is kept.
#
#   source              the file to install
#   configuration       its path, which the unit has as well
#   configured_prefix   what CMAKE_INSTALL_PREFIX was when that path was made; `cmake --install --prefix` names another
string(FIND "${configuration}" "${configured_prefix}/" position)
if(position EQUAL 0)
  string(LENGTH "${configured_prefix}" length)
  string(SUBSTRING "${configuration}" ${length} -1 below_prefix)
  set(configuration "${CMAKE_INSTALL_PREFIX}${below_prefix}")
endif()
if(EXISTS "$ENV{DESTDIR}${configuration}")
  message(STATUS "Kept: $ENV{DESTDIR}${configuration}")
else()
  get_filename_component(folder "${configuration}" DIRECTORY)
  file(INSTALL DESTINATION "${folder}" TYPE FILE FILES "${source}")
endif()
