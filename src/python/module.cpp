// SPDX-License-Identifier: Apache-2.0
// The private extension module manymod._core. Its functions trust their Python callers for semantics, never
// for shapes, types or lengths.
#include <nanobind/nanobind.h>

#include "python/call.hpp"
#include "python/convert.hpp"
#include "python/device_limbs.hpp"
#include "python/rsa.hpp"

NB_MODULE(_core, module) {
  // The plans kept for reuse outlive the interpreter's last check, and a forked child leaves its parent's
  // alone.
  nanobind::set_leak_warnings(false);
  module.doc() = "Private: conversions and the C ABI of manymod.";
  manymod::python::bind_convert(module);
  manymod::python::bind_limbs(module);
  manymod::python::bind_call(module);
  manymod::python::bind_device(module);
  manymod::python::bind_hardware(module);
  manymod::python::bind_rsa(module);
}
