// SPDX-License-Identifier: Apache-2.0
// Conversion between gmpy2.mpz and limbs. gmpy2 is optional and never imported here: only a program that has
// imported it can pass an mpz.
#pragma once

#include <Python.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "python/pyint.hpp"
#include "repr/canonical.hpp"

namespace manymod::python {

/// The layout of an mpz object of gmpy2: the object header, then GMP's __mpz_struct.
struct MpzObject {
  PyObject_HEAD int allocated;
  int size;  ///< limbs in use, negative for a negative number
  const Limb* limbs;
};

/// The gmpy2 of this process and its verified properties.
class Gmpy2 {
 public:
  /// The gmpy2 of this process, examined on first use after the program has imported it; null if it has not.
  static const Gmpy2* loaded();

  [[nodiscard]] bool is_mpz(PyObject* value) const { return Py_TYPE(value) == mpz_type_; }
  /// Whether the layout was verified with known values, so that MpzObject may be used.
  [[nodiscard]] bool layout_verified() const { return layout_verified_; }
  /// A new mpz, or null with a Python exception set.
  [[nodiscard]] PyObject* write(const Limb* limbs, std::size_t width, bool negative) const;
  /// Whether reserve() and finish() may be used.
  [[nodiscard]] bool writes_directly() const { return new_mpz_ != nullptr; }
  /// A new mpz of the value 0 with room for `width` limbs, or null with a Python exception set.
  [[nodiscard]] PyObject* reserve(std::size_t width) const;
  /// The limbs of an mpz that reserve() made.
  [[nodiscard]] static Limb* limbs_of(PyObject* value) {
    return const_cast<Limb*>(reinterpret_cast<MpzObject*>(value)->limbs);
  }
  /// Give an mpz that reserve() made a value for which it has room.
  static void fill(PyObject* value, const Limb* limbs, std::size_t width, bool negative);
  /// Give an mpz that reserve() made the value of its first `width` limbs.
  static void finish(PyObject* value, std::size_t width, bool negative);
  /// How write() creates objects: "direct" or "from_binary".
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

/// Length and sign of an mpz whose layout was verified. Unless `exact`, the length is that of its limbs,
/// which are not read.
[[nodiscard]] IntExtent mpz_extent(const PyObject* value, bool exact);

/// Write |value| to limbs[0, width), zero-extended. @return false if it does not fit
[[nodiscard]] bool read_mpz(const PyObject* value, Limb* limbs, std::size_t width, bool* negative);

/// Prefetch the limbs of an mpz whose object is in the cache, but no more than a few lines of them: the
/// processor itself fetches what follows.
inline void prefetch_mpz_limbs(const PyObject* value) {
#if defined(__GNUC__)
  constexpr std::size_t kLineLimbs = 8;
  constexpr std::size_t kMostLines = 10;
  const auto* const mpz = reinterpret_cast<const MpzObject*>(value);
  const auto limbs = static_cast<std::size_t>(mpz->size < 0 ? -mpz->size : mpz->size);
  const std::size_t count = std::min(limbs, kMostLines * kLineLimbs);
  for (std::size_t i = 0; i < count; i += kLineLimbs) __builtin_prefetch(mpz->limbs + i);
  // Limbs begin anywhere in a line, so that the last ones may be in one more.
  if (count != 0) __builtin_prefetch(mpz->limbs + count - 1);
#else
  (void)value;
#endif
}

/// Prefetch the limbs of an mpz with room for `width` ones, to be written.
inline void prefetch_mpz_room(PyObject* value, std::size_t width) {
#if defined(__GNUC__)
  const Limb* const limbs = Gmpy2::limbs_of(value);
  for (std::size_t i = 0; i < width; i += 8) __builtin_prefetch(limbs + i, 1);
#else
  (void)value;
  (void)width;
#endif
}

}  // namespace manymod::python
