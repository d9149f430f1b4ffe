// SPDX-License-Identifier: Apache-2.0
// Conversions between Python's sequences of integers, big-endian bytes and limb arrays.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>

#include "core/limb.hpp"
#include "python/mpz.hpp"

namespace manymod::python {

/// Big-endian bytes[0, width) to limbs[0, limb_width), zero-extended. On input 8 limb_width >= width.
void read_bytes(const std::uint8_t* bytes, std::size_t width, Limb* limbs, std::size_t limb_width);

/// The low 8 width bits of limbs[0, limb_width) to big-endian bytes[0, width). @return whether the higher
/// bits are 0
bool write_bytes(const Limb* limbs, std::size_t limb_width, std::uint8_t* bytes, std::size_t width);

class Gmpy2;  // python/mpz.hpp

/// Reads elements of a scanned sequence of ints and mpz.
class ElementReader {
 public:
  explicit ElementReader(nanobind::handle sequence);
  /// Writes elements [start, start + count) to rows of `width` limbs, `stride` apart, and their signs unless
  /// `negative` is null. @throws nb::value_error, nb::type_error if the sequence is not as it was scanned
  void read(Py_ssize_t start, std::size_t count, Limb* limbs, std::size_t width, std::size_t stride,
            std::uint8_t* negative) const;

 private:
  nanobind::object fast_;
};

/// Makes a list of ints or mpz.
class ElementWriter {
 public:
  /// @throws nb::import_error if mpz are asked for and gmpy2 is not imported
  ElementWriter(Py_ssize_t count, bool mpz);
  /// The next `count` elements, from rows as ElementReader writes them; a null `negative`: none is.
  void write(std::size_t count, const Limb* limbs, std::size_t width, std::size_t stride,
             const std::uint8_t* negative);
  /// Whether the elements are mpz that Gmpy2::reserve() can make.
  [[nodiscard]] bool reserves_mpz() const { return gmpy2_ != nullptr && gmpy2_->writes_directly(); }
  /// Make a new reference the next element. @return it, borrowed. @throws nb::python_error if it is null
  PyObject* append(PyObject* value);
  /// The list, all of whose elements have been written.
  nanobind::object finish();

 private:
  nanobind::object list_;
  const Gmpy2* gmpy2_ = nullptr;
  Py_ssize_t next_ = 0;

  void write_long_mpz(std::size_t count, const Limb* limbs, std::size_t width, std::size_t stride,
                      const std::uint8_t* negative);
};

/// Add the conversion functions to the extension module.
void bind_convert(nanobind::module_& module);

/// Add the queries on limb arrays (bit lengths, comparison) to the extension module.
void bind_limbs(nanobind::module_& module);

/// Add the constants of the C ABI.
void bind_constants(nanobind::module_& module);

/// Add the conversions between columns of tables (text, byte strings, decimals) and limb arrays.
void bind_columns(nanobind::module_& module);

}  // namespace manymod::python
