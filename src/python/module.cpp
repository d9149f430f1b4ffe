// SPDX-License-Identifier: Apache-2.0
// The private extension module manymod._core. Its functions rely on their Python callers for the meaning of
// arguments, but check every shape, type and length.
#include <nanobind/nanobind.h>

#include "python/call.hpp"
#include "python/convert.hpp"
#include "python/device_limbs.hpp"
#include "python/ecc.hpp"
#include "python/rsa.hpp"
#include "python/service.hpp"
#include "python/stable_abi.hpp"

NB_MODULE(_core, module) {
  manymod::python::find_python_functions();
  // Cached plans outlive the interpreter's leak check, and a forked child does not destroy those of its
  // parent.
  nanobind::set_leak_warnings(false);
  module.doc() = "Private: conversions and the C ABI of manymod.";
  manymod::python::bind_constants(module);
  manymod::python::bind_convert(module);
  manymod::python::bind_limbs(module);
  manymod::python::bind_columns(module);
  manymod::python::bind_call(module);
  manymod::python::bind_device(module);
  manymod::python::bind_hardware(module);
  manymod::python::bind_ecc(module);
  manymod::python::bind_rsa(module);
  manymod::python::bind_service(module);
}
