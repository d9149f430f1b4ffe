// SPDX-License-Identifier: Apache-2.0
// 32 digits are exactly 15 limbs, so the kernels below convert such blocks through 16 words of 60 bits: word
// k holds bits [60k, 60k+60), limb j holds bits [64j, 64j+64).
#include "python/pyint.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "python/digits.hpp"

namespace manymod::python {
namespace {

constexpr Limb kWordMask = (Limb{1} << 60) - 1;
constexpr std::size_t kBlockDigits = 32;
constexpr std::size_t kBlockLimbs = 15;

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

/// Convert all digits to `width` limbs. On input: they fit.
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

/// Convert limbs[0, width) to their low `count` digits. On input: count <= ceil(64 width / 30).
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
