// SPDX-License-Identifier: Apache-2.0
// The private extension module manymod._core. Its functions trust their Python callers for semantics, never
// for shapes, types or lengths.
#include <nanobind/nanobind.h>

#include "python/call.hpp"
#include "python/convert.hpp"

NB_MODULE(_core, module) {
  module.doc() = "Private: conversions and the C ABI of manymod.";
  manymod::python::bind_convert(module);
  manymod::python::bind_limbs(module);
  manymod::python::bind_call(module);
  manymod::python::bind_hardware(module);
}
