# SPDX-License-Identifier: Apache-2.0
# The private extension module manymod._core; scikit-build-core makes the wheel from component "python".
find_package(nanobind CONFIG REQUIRED)

file(GLOB_RECURSE python_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/src/python/*.cpp")
# One extension for all versions of Python from 3.12 on, by the stable ABI: a wheel built with -C wheel.py-api=cp312.
set(manymod_stable_abi "")
if(SKBUILD_SABI_VERSION)
  set(manymod_stable_abi STABLE_ABI)
else()
  list(FILTER python_sources EXCLUDE REGEX "/stable_abi\\.cpp$")
endif()
nanobind_add_module(_core ${manymod_stable_abi} NB_STATIC NOMINSIZE NB_SUPPRESS_WARNINGS ${python_sources})
manymod_configure_target(_core)
# The objects themselves, not the archive: this keeps their link order (see manymod_objects).
target_link_libraries(_core PRIVATE manymod_objects)
# Private copies of mm_*: another libmanymod in the same process must not replace them.
manymod_export_only(_core "${CMAKE_CURRENT_SOURCE_DIR}/cmake/python.map")

install(TARGETS _core LIBRARY DESTINATION manymod COMPONENT python)
manymod_install_headers(python manymod/include)
