// SPDX-License-Identifier: Apache-2.0
// CPython's int is a sign and a magnitude in digits of 30 bits, least significant first (PEP 757 describes
// the layout and its public interface, from 3.14 on). 32 digits are exactly 15 limbs, so the kernels below
// convert such blocks through 16 words of 60 bits: word k holds bits [60k, 60k+60), limb j holds bits [64j,
// 64j+64).
#include "python/pyint.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace manymod::python {
namespace {

using Digit = std::uint32_t;
constexpr unsigned kDigitBits = 30;
constexpr Limb kDigitMask = (Limb{1} << kDigitBits) - 1;
constexpr Limb kWordMask = (Limb{1} << 60) - 1;
constexpr std::size_t kBlockDigits = 32;
constexpr std::size_t kBlockLimbs = 15;

#if PY_VERSION_HEX < 0x030E0000
static_assert(PyLong_SHIFT == kDigitBits, "CPython must be built with 30-bit digits");

/// The digits of an int, borrowed.
class Digits {
 public:
  explicit Digits(PyObject* value) {
    const auto* integer = reinterpret_cast<const PyLongObject*>(value);
#if PY_VERSION_HEX >= 0x030C0000
    // lv_tag: the digit count, shifted left by 3; bits 0 and 1 are the sign (0 plus, 1 zero, 2 minus).
    const auto tag = integer->long_value.lv_tag;
    data_ = integer->long_value.ob_digit;
    count_ = tag >> 3;
    negative_ = (tag & 3) == 2;
#else
    const Py_ssize_t size = Py_SIZE(integer);
    data_ = integer->ob_digit;
    count_ = static_cast<std::size_t>(size < 0 ? -size : size);
    negative_ = size < 0;
#endif
  }
  [[nodiscard]] const Digit* data() const { return data_; }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] bool negative() const { return negative_; }

 private:
  const Digit* data_ = nullptr;
  std::size_t count_ = 0;
  bool negative_ = false;
};
#else
/// The exported digits of an int (PEP 757); an int that CPython exports as an int64 is split into digits
/// here.
class Digits {
 public:
  explicit Digits(PyObject* value) {
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
    negative_ = exported_.value < 0;
    const auto bits = static_cast<std::uint64_t>(exported_.value);
    for (std::uint64_t rest = negative_ ? 0 - bits : bits; rest != 0; rest >>= kDigitBits) {
      small_[count_++] = static_cast<Digit>(rest & kDigitMask);
    }
  }
  ~Digits() {
    if (exported_.digits != nullptr) PyLong_FreeExport(&exported_);
  }
  Digits(const Digits&) = delete;
  Digits& operator=(const Digits&) = delete;
  [[nodiscard]] const Digit* data() const { return data_ != nullptr ? data_ : small_; }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] bool negative() const { return negative_; }

 private:
  PyLongExport exported_{};
  const Digit* data_ = nullptr;
  Digit small_[3] = {};
  std::size_t count_ = 0;
  bool negative_ = false;
};
#endif

std::size_t digits_bits(const Digits& digits) {
  if (digits.count() == 0) return 0;
  const Digit top = digits.data()[digits.count() - 1];
  return (digits.count() - 1) * kDigitBits + static_cast<std::size_t>(std::bit_width(top));
}

/// Convert 32 digits to 15 limbs: limb j = word j >> 4j | word j+1 << (60 - 4j).
void unpack_block(const Digit* digits, Limb* limbs) {
  Limb words[16];
  for (std::size_t k = 0; k < 16; ++k) words[k] = digits[2 * k] | Limb{digits[2 * k + 1]} << kDigitBits;
  for (std::size_t j = 0; j < kBlockLimbs; ++j) {
    limbs[j] = words[j] >> (4 * j) | words[j + 1] << (60 - 4 * j);
  }
}

/// Convert 15 limbs to 32 digits: word k = (limb k-1 >> (64 - 4k) | limb k << 4k) mod 2^60.
void pack_block(const Limb* limbs, Digit* digits) {
  Limb words[16];
  words[0] = limbs[0] & kWordMask;
  for (std::size_t k = 1; k < kBlockLimbs; ++k) {
    words[k] = (limbs[k - 1] >> (64 - 4 * k) | limbs[k] << (4 * k)) & kWordMask;
  }
  words[15] = limbs[14] >> 4;
  for (std::size_t k = 0; k < 16; ++k) {
    digits[2 * k] = static_cast<Digit>(words[k] & kDigitMask);
    digits[2 * k + 1] = static_cast<Digit>(words[k] >> kDigitBits);
  }
}

/// Convert all digits to `width` limbs. In: they fit.
void unpack(const Digit* digits, std::size_t count, Limb* limbs, std::size_t width) {
  Limb* const end = limbs + width;
  for (; count >= kBlockDigits && end - limbs >= static_cast<std::ptrdiff_t>(kBlockLimbs);
       count -= kBlockDigits, digits += kBlockDigits, limbs += kBlockLimbs) {
    unpack_block(digits, limbs);
  }
  Limb pending = 0;
  unsigned filled = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Limb digit = digits[i];
    pending |= digit << filled;
    filled += kDigitBits;
    if (filled >= kLimbBits) {
      filled -= static_cast<unsigned>(kLimbBits);
      if (limbs == end) return;  // the remaining bits of the top digit are 0
      *limbs++ = pending;
      pending = digit >> (kDigitBits - filled);
    }
  }
  if (limbs != end && filled != 0) *limbs++ = pending;
  std::fill(limbs, end, Limb{0});
}

/// Convert limbs[0, width) to their low `count` digits. In: count <= ceil(64 width / 30).
void pack(const Limb* limbs, std::size_t width, Digit* digits, std::size_t count) {
  for (; count >= kBlockDigits; count -= kBlockDigits, digits += kBlockDigits) {
    pack_block(limbs, digits);
    limbs += kBlockLimbs;
    width -= kBlockLimbs;
  }
  Limb pending = 0;
  unsigned held = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (held >= kDigitBits || width == 0) {
      digits[i] = static_cast<Digit>(pending & kDigitMask);
      pending >>= kDigitBits;
      held = held >= kDigitBits ? held - kDigitBits : 0;
      continue;
    }
    const Limb next = *limbs++;
    --width;
    digits[i] = static_cast<Digit>((pending | next << held) & kDigitMask);
    pending = next >> (kDigitBits - held);
    held += static_cast<unsigned>(kLimbBits) - kDigitBits;
  }
}

#if PY_VERSION_HEX < 0x030E0000
/// A new int of exactly `count` digits, which `fill` writes; the top digit is nonzero.
template <typename Fill>
PyObject* make_int(std::size_t count, bool negative, Fill fill) {
  PyLongObject* integer = _PyLong_New(static_cast<Py_ssize_t>(count));
  if (integer == nullptr) return nullptr;
#if PY_VERSION_HEX >= 0x030C0000
  integer->long_value.lv_tag = (count << 3) | (negative ? 2u : 0u);
  fill(integer->long_value.ob_digit);
#else
  if (negative) Py_SET_SIZE(integer, -static_cast<Py_ssize_t>(count));
  fill(integer->ob_digit);
#endif
  return reinterpret_cast<PyObject*>(integer);
}
#else
template <typename Fill>
PyObject* make_int(std::size_t count, bool negative, Fill fill) {
  void* digits = nullptr;
  PyLongWriter* writer = PyLongWriter_Create(negative ? 1 : 0, static_cast<Py_ssize_t>(count), &digits);
  if (writer == nullptr) return nullptr;
  fill(static_cast<Digit*>(digits));
  return PyLongWriter_Finish(writer);
}
#endif

}  // namespace

IntExtent int_extent(PyObject* value) {
  const Digits digits(value);
  return {digits_bits(digits), digits.negative()};
}

bool read_int(PyObject* value, Limb* limbs, std::size_t width, bool* negative) {
  const Digits digits(value);
  *negative = digits.negative();
  if (digits_bits(digits) > width * kLimbBits) return false;
  unpack(digits.data(), digits.count(), limbs, width);
  return true;
}

PyObject* write_int(const Limb* limbs, std::size_t width, bool negative) {
  while (width > 0 && limbs[width - 1] == 0) --width;
  if (width == 0) return PyLong_FromLong(0);
  if (width == 1 && limbs[0] <= kWordMask) {  // CPython shares small ints, so it creates them itself
    const auto value = static_cast<long long>(limbs[0]);
    return PyLong_FromLongLong(negative ? -value : value);
  }
  const std::size_t bits = width * kLimbBits - static_cast<std::size_t>(std::countl_zero(limbs[width - 1]));
  const std::size_t count = (bits + kDigitBits - 1) / kDigitBits;
  return make_int(count, negative, [&](Digit* digits) { pack(limbs, width, digits, count); });
}

}  // namespace manymod::python
