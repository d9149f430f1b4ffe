// SPDX-License-Identifier: Apache-2.0
// The digits of CPython's int: a sign and a magnitude in digits of 30 bits, least significant first.
// Since 3.14 they are read and written by public functions (PEP 757), before through the object's layout.
#pragma once

#include <Python.h>

#include <cstddef>
#include <cstdint>

#include "python/stable_abi.hpp"
#include "repr/canonical.hpp"

namespace manymod::python {

using Digit = std::uint32_t;
inline constexpr unsigned kDigitBits = 30;
inline constexpr Limb kDigitMask = (Limb{1} << kDigitBits) - 1;

#if PY_VERSION_HEX >= 0x030C0000
/// The int object of 3.12 and 3.13, which headers for the stable ABI do not show.
struct IntObject {
  PyObject_HEAD  // which declares a member
      std::uintptr_t
          tag;  ///< the digit count, shifted left by 3; bits 0 and 1 are the sign (0 plus, 1 zero, 2 minus)
  Digit digits[1];
};
#endif

#if !defined(Py_LIMITED_API) && PY_VERSION_HEX < 0x030E0000
static_assert(PyLong_SHIFT == kDigitBits, "CPython must be built with 30-bit digits");
#if PY_VERSION_HEX >= 0x030C0000
static_assert(offsetof(IntObject, tag) == offsetof(PyLongObject, long_value.lv_tag) &&
              offsetof(IntObject, digits) == offsetof(PyLongObject, long_value.ob_digit));
#endif
#endif

/// The digits of an int. On input: PyLong_Check(value).
class Digits {
 public:
  explicit Digits(PyObject* value) {
#if defined(Py_LIMITED_API)
    if (exports_digits()) {
      take_exported(value);
    } else {
      borrow(value);
    }
#elif PY_VERSION_HEX >= 0x030E0000
    take_exported(value);
#else
    borrow(value);
#endif
  }
  Digits(const Digits&) = delete;
  Digits& operator=(const Digits&) = delete;
  [[nodiscard]] const Digit* data() const { return data_; }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] bool negative() const { return negative_; }

#if defined(Py_LIMITED_API) || PY_VERSION_HEX >= 0x030E0000
  ~Digits() {
    if (exported_.digits != nullptr) PyLong_FreeExport(&exported_);
  }

 private:
  void take_exported(PyObject* value) {
    if (PyLong_Export(value, &exported_) < 0) {
      PyErr_Clear();  // this fails only for an object that is not an int, which callers exclude
      return;
    }
    if (exported_.digits != nullptr) {
      data_ = static_cast<const Digit*>(exported_.digits);
      count_ = static_cast<std::size_t>(exported_.ndigits);
      negative_ = exported_.negative != 0;
      return;
    }
    // CPython exports an int that fits as an int64.
    data_ = small_;
    negative_ = exported_.value < 0;
    const auto bits = static_cast<std::uint64_t>(exported_.value);
    for (std::uint64_t rest = negative_ ? 0 - bits : bits; rest != 0; rest >>= kDigitBits) {
      small_[count_++] = static_cast<Digit>(rest & kDigitMask);
    }
  }

  PyLongExport exported_{};
  Digit small_[3] = {};
#endif

 private:
#if defined(Py_LIMITED_API) || PY_VERSION_HEX < 0x030E0000
  void borrow(PyObject* value) {
#if PY_VERSION_HEX >= 0x030C0000
    const auto* const integer = reinterpret_cast<const IntObject*>(value);
    data_ = integer->digits;
    count_ = integer->tag >> 3;
    negative_ = (integer->tag & 3) == 2;
#else
    const auto* const integer = reinterpret_cast<const PyLongObject*>(value);
    const Py_ssize_t size = Py_SIZE(integer);
    data_ = integer->ob_digit;
    count_ = static_cast<std::size_t>(size < 0 ? -size : size);
    negative_ = size < 0;
#endif
  }
#endif

  const Digit* data_ = nullptr;
  std::size_t count_ = 0;
  bool negative_ = false;
};

#if defined(Py_LIMITED_API) || PY_VERSION_HEX >= 0x030E0000
/// A new int of exactly `count` digits, which `fill` writes; the top digit is nonzero.
template <typename Fill>
PyObject* make_int_by_writer(std::size_t count, bool negative, Fill fill) {
  void* digits = nullptr;
  PyLongWriter* const writer = PyLongWriter_Create(negative ? 1 : 0, static_cast<Py_ssize_t>(count), &digits);
  if (writer == nullptr) return nullptr;
  fill(static_cast<Digit*>(digits));
  return PyLongWriter_Finish(writer);
}
#endif

#if defined(Py_LIMITED_API) || PY_VERSION_HEX < 0x030E0000
/// The same.
template <typename Fill>
PyObject* make_int_by_layout(std::size_t count, bool negative, Fill fill) {
  auto* const made = reinterpret_cast<PyObject*>(_PyLong_New(static_cast<Py_ssize_t>(count)));
  if (made == nullptr) return nullptr;
#if PY_VERSION_HEX >= 0x030C0000
  auto* const integer = reinterpret_cast<IntObject*>(made);
  integer->tag = (count << 3) | (negative ? 2u : 0u);
  fill(integer->digits);
#else
  auto* const integer = reinterpret_cast<PyLongObject*>(made);
  if (negative) Py_SET_SIZE(integer, -static_cast<Py_ssize_t>(count));
  fill(integer->ob_digit);
#endif
  return made;
}
#endif

/// The same, in the way of this Python.
template <typename Fill>
PyObject* make_int(std::size_t count, bool negative, Fill fill) {
#if defined(Py_LIMITED_API)
  return exports_digits() ? make_int_by_writer(count, negative, fill)
                          : make_int_by_layout(count, negative, fill);
#elif PY_VERSION_HEX >= 0x030E0000
  return make_int_by_writer(count, negative, fill);
#else
  return make_int_by_layout(count, negative, fill);
#endif
}

}  // namespace manymod::python
