// SPDX-License-Identifier: Apache-2.0
// Conversion between Python ints and limbs without an intermediate bytes object.
#pragma once

#include <Python.h>

#include <cstddef>

#include "repr/canonical.hpp"

namespace manymod::python {

/// Length and sign of an integer. Zero has 0 bits and is not negative.
struct IntExtent {
  std::size_t bits = 0;
  bool negative = false;
};

/// Bit length and sign of `value`. On input: PyLong_Check(value).
[[nodiscard]] IntExtent int_extent(PyObject* value);

/// Write |value| to limbs[0, width), zero-extended. On input: PyLong_Check(value).
/// @return false if |value| >= 2^(64 width); the limbs are then unspecified
[[nodiscard]] bool read_int(PyObject* value, Limb* limbs, std::size_t width, bool* negative);

/// A new reference to (-1)^negative * sum_j limbs[j] 2^(64 j), or null with a Python exception set.
[[nodiscard]] PyObject* write_int(const Limb* limbs, std::size_t width, bool negative);

/// Prefetch the beginning of an int that read_int will read soon.
inline void prefetch_int(const PyObject* value) {
#if defined(__GNUC__)
  const char* start = reinterpret_cast<const char*>(value);
  __builtin_prefetch(start);
  __builtin_prefetch(start + 64);
#else
  (void)value;
#endif
}

}  // namespace manymod::python
