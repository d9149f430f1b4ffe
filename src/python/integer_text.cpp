// SPDX-License-Identifier: Apache-2.0
#include "python/integer_text.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "arch/scalar/word.hpp"

namespace manymod::python {
namespace {

using word::Wide;

// A limb holds up to 19 decimal digits: 10^19 < 2^64. With its top bit set, 10^19 is also a normalised
// divisor.
constexpr std::size_t kChunkDigits = 19;
constexpr Limb kChunk = 10'000'000'000'000'000'000U;
static_assert(kChunk >> 63 == 1);

// floor((2^128 - 1) / kChunk) - 2^64.
constexpr Limb kChunkReciprocal = static_cast<Limb>(~Wide{0} / kChunk);

/// Divide high 2^64 + low by kChunk, high < kChunk (Möller and Granlund, Improved Division by Invariant
/// Integers, 2011, algorithm 4). Stores the remainder in *high. @return the quotient
Limb divide_by_chunk(Limb* high, Limb low) {
  const Wide product = Wide{kChunkReciprocal} * *high + ((Wide{*high} << 64) | low);
  Limb quotient = static_cast<Limb>(product >> 64) + 1;
  Limb remainder = low - quotient * kChunk;
  if (remainder > static_cast<Limb>(product)) {
    --quotient;
    remainder += kChunk;
  }
  if (remainder >= kChunk) {
    ++quotient;
    remainder -= kChunk;
  }
  *high = remainder;
  return quotient;
}

constexpr std::uint8_t kNoDigit = 0xff;

constexpr std::array<std::uint8_t, 256> kDigitValues = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (unsigned i = 0; i < 10; ++i) values['0' + i] = static_cast<std::uint8_t>(i);
  for (unsigned i = 0; i < 6; ++i) {
    values['a' + i] = static_cast<std::uint8_t>(10 + i);
    values['A' + i] = static_cast<std::uint8_t>(10 + i);
  }
  return values;
}();

std::uint8_t digit_value(char digit) { return kDigitValues[static_cast<unsigned char>(digit)]; }

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

bool all_digits(std::string_view text, std::uint8_t base) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [base](char c) { return digit_value(c) < base; });
}

Limb decimal_chunk(std::string_view digits) {
  Limb value = 0;
  for (const char c : digits) value = value * 10 + digit_value(c);
  return value;
}

// Writes no more than `width` limbs, even if other threads write to the text meanwhile.
void read_decimal(std::string_view digits, Limb* limbs, std::size_t width) {
  std::size_t used = 0;
  std::size_t length = (digits.size() - 1) % kChunkDigits + 1;  // the first chunk takes what is left over
  for (; !digits.empty(); digits.remove_prefix(length), length = kChunkDigits) {
    Limb carry = decimal_chunk(digits.substr(0, length));
    for (std::size_t j = 0; j < used; ++j) {
      const Wide sum = Wide{limbs[j]} * kChunk + carry;
      limbs[j] = static_cast<Limb>(sum);
      carry = static_cast<Limb>(sum >> 64);
    }
    if (carry != 0 && used < width) limbs[used++] = carry;
  }
}

void read_hexadecimal(std::string_view digits, Limb* limbs) {
  std::size_t shift = 0;
  for (std::size_t i = digits.size(); i-- > 0; shift += 4) {
    limbs[shift / kLimbBits] |= Limb{digit_value(digits[i])} << (shift % kLimbBits);
  }
}

std::size_t used_limbs(const Limb* limbs, std::size_t width) {
  while (width > 0 && limbs[width - 1] == 0) --width;
  return width;
}

}  // namespace

IntegerText scan_integer(std::string_view text, std::size_t max_decimal_digits) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  IntegerText found;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    found.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  const bool prefixed = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  if (prefixed) text.remove_prefix(2);
  if (!all_digits(text, prefixed ? 16 : 10) || (!prefixed && text.size() > max_decimal_digits)) return {};
  found.notation = prefixed ? Notation::hexadecimal : Notation::decimal;
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
  found.digits = text;
  return found;
}

std::size_t limbs_of_text(const IntegerText& scanned) {
  const std::size_t digits = scanned.digits.size();
  // log2(10) < 3402 / 1024
  const std::size_t bits = scanned.notation == Notation::hexadecimal ? 4 * digits : digits * 3402 / 1024 + 1;
  return std::max<std::size_t>(1, limbs_for_bits(bits));
}

void read_integer_text(const IntegerText& scanned, Limb* limbs, std::size_t width) {
  std::fill(limbs, limbs + width, Limb{0});
  if (scanned.digits.empty()) return;
  if (scanned.notation == Notation::hexadecimal) {
    read_hexadecimal(scanned.digits, limbs);
  } else {
    read_decimal(scanned.digits, limbs, width);
  }
}

void append_decimal(const Limb* limbs, std::size_t width, std::vector<Limb>& scratch, std::string& text) {
  std::size_t used = used_limbs(limbs, width);
  if (used == 0) {
    text += '0';
    return;
  }
  scratch.assign(limbs, limbs + used);
  const std::size_t start = text.size();
  // Digits are appended from the last one on, then reversed.
  while (used > 0) {
    Limb chunk = 0;
    for (std::size_t j = used; j-- > 0;) scratch[j] = divide_by_chunk(&chunk, scratch[j]);
    if (scratch[used - 1] == 0) --used;
    for (std::size_t i = 0; i < kChunkDigits && (used > 0 || chunk > 0); ++i, chunk /= 10) {
      text += static_cast<char>('0' + chunk % 10);
    }
  }
  std::reverse(text.begin() + static_cast<std::ptrdiff_t>(start), text.end());
}

void append_hexadecimal(const Limb* limbs, std::size_t width, std::size_t min_digits, std::string& text) {
  const std::size_t used = used_limbs(limbs, width);
  const std::size_t bits =
      used == 0 ? 0 : used * kLimbBits - static_cast<std::size_t>(std::countl_zero(limbs[used - 1]));
  const std::size_t digits = (bits + 3) / 4;
  text += "0x";
  text.append(std::max<std::size_t>(min_digits, 1) - std::min(std::max<std::size_t>(min_digits, 1), digits),
              '0');
  for (std::size_t i = digits; i-- > 0;) {
    text += "0123456789abcdef"[limbs[i / 16] >> (4 * (i % 16)) & 15];
  }
}

}  // namespace manymod::python
