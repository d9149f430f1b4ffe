// SPDX-License-Identifier: Apache-2.0
// Python ints read and written as limbs, without a bytes object in between. The layouts of the supported
// CPython versions are known to pyint.cpp alone.
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

/// Extent of `value`, an int (PyLong_Check holds).
[[nodiscard]] IntExtent int_extent(PyObject* value);

/// |value| into limbs[0, width), zero-padded. `value` is an int.
/// @return false if |value| >= 2^(64 width); the limbs are then unspecified.
[[nodiscard]] bool read_int(PyObject* value, Limb* limbs, std::size_t width, bool* negative);

/// New reference to (-1)^negative * sum_j limbs[j] 2^(64 j), or nullptr with a Python error set.
[[nodiscard]] PyObject* write_int(const Limb* limbs, std::size_t width, bool negative);

/// Ask the cache for the start of an int that read_int will want soon.
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
