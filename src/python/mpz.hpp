// SPDX-License-Identifier: Apache-2.0
// gmpy2.mpz read and written as limbs. gmpy2 is optional and never imported here: an mpz can only reach us
// from a program that has imported it.
#pragma once

#include <Python.h>

#include <cstddef>
#include <cstdint>

#include "python/pyint.hpp"
#include "repr/canonical.hpp"

namespace manymod::python {

/// An mpz as gmpy2 lays it out: the object's header, then GMP's __mpz_struct.
struct MpzObject {
  PyObject_HEAD int allocated;
  int size;  ///< limbs in use, negative for a negative number
  const Limb* limbs;
};

/// gmpy2 as found in this process, with what was learnt about it.
class Gmpy2 {
 public:
  /// The process's gmpy2, examined on first use after the program imported it; nullptr if it did not.
  static const Gmpy2* loaded();

  [[nodiscard]] bool is_mpz(const PyObject* value) const { return Py_TYPE(value) == mpz_type_; }
  /// Whether the layout was verified with known values, so that MpzObject may be used.
  [[nodiscard]] bool layout_verified() const { return layout_verified_; }
  /// New mpz, or nullptr with a Python error set.
  [[nodiscard]] PyObject* write(const Limb* limbs, std::size_t width, bool negative) const;
  /// "direct" or "from_binary": how write() makes its objects.
  [[nodiscard]] const char* write_method() const { return new_mpz_ != nullptr ? "direct" : "from_binary"; }

 private:
  using NewMpz = PyObject* (*)(void*);
  using Realloc = void* (*)(void*, long);

  bool examine(PyObject* module);
  bool verify_layout() const;
  void find_writer(PyObject* module);
  [[nodiscard]] bool verify_writer() const;
  [[nodiscard]] PyObject* write_direct(const Limb* limbs, std::size_t width, bool negative) const;
  [[nodiscard]] PyObject* write_binary(const Limb* limbs, std::size_t width, bool negative) const;

  PyTypeObject* mpz_type_ = nullptr;
  PyObject* from_binary_ = nullptr;
  NewMpz new_mpz_ = nullptr;
  Realloc realloc_ = nullptr;
  bool layout_verified_ = false;
};

/// Extent of an mpz whose layout was verified.
[[nodiscard]] IntExtent mpz_extent(const PyObject* value);

/// |value| into limbs[0, width), zero-padded; false if it does not fit.
[[nodiscard]] bool read_mpz(const PyObject* value, Limb* limbs, std::size_t width, bool* negative);

}  // namespace manymod::python
