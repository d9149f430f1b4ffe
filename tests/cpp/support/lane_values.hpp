// SPDX-License-Identifier: Apache-2.0
// Conversion of elements of vector kernels from and to plain integers, guarded memory for them, and
// Montgomery reduction in 32-bit digits that shares no code with the library.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#include "lanes/kernels.hpp"
#include "repr/canonical.hpp"
#include "support/naive.hpp"

namespace manymod::test {

/// The content of guards.
inline constexpr Limb kUntouched = 0x5AFE5AFE5AFE5AFE;

/// Words on a 64-byte boundary, between guards of one cache line each.
class GuardedWords {
 public:
  explicit GuardedWords(std::size_t size, Limb fill = kUntouched)
      : size_(size), words_(new(kLine) Limb[size + 2 * kGuard]) {
    std::fill_n(words_.get(), size + 2 * kGuard, kUntouched);
    std::fill_n(data(), size, fill);
  }
  GuardedWords(const GuardedWords& other) : GuardedWords(other.size_) {
    std::copy_n(other.data(), size_, data());
  }
  GuardedWords(GuardedWords&&) = default;
  GuardedWords& operator=(const GuardedWords&) = delete;
  GuardedWords& operator=(GuardedWords&&) = default;
  ~GuardedWords() = default;

  [[nodiscard]] Limb* data() { return words_.get() + kGuard; }
  [[nodiscard]] const Limb* data() const { return words_.get() + kGuard; }
  [[nodiscard]] std::size_t size() const { return size_; }
  Limb& operator[](std::size_t i) { return data()[i]; }
  const Limb& operator[](std::size_t i) const { return data()[i]; }
  [[nodiscard]] bool guards_intact() const {
    for (std::size_t i = 0; i < kGuard; ++i) {
      if (words_[i] != kUntouched || data()[size_ + i] != kUntouched) return false;
    }
    return true;
  }
  [[nodiscard]] std::vector<Limb> words() const { return {data(), data() + size_}; }

 private:
  static constexpr std::align_val_t kLine{64};
  static constexpr std::size_t kGuard = 8;
  struct Free {
    void operator()(Limb* words) const { operator delete[](words, kLine); }
  };
  std::size_t size_;
  std::unique_ptr<Limb[], Free> words_;
};

/// 2^count - 1 for 1 <= count <= 64.
inline Limb low_bits(unsigned count) { return count == kLimbBits ? ~Limb{0} : (Limb{1} << count) - 1; }

/// Bits [d w, d w + w) of x.
inline Limb digit(const naive::Limbs& x, unsigned w, std::size_t d) {
  Limb out = 0;
  for (unsigned taken = 0; taken < w;) {
    const std::size_t bit = d * w + taken;
    if (bit / kLimbBits >= x.size()) break;
    const auto shift = static_cast<unsigned>(bit % kLimbBits);
    const unsigned count = std::min(w - taken, static_cast<unsigned>(kLimbBits) - shift);
    out |= ((x[bit / kLimbBits] >> shift) & low_bits(count)) << taken;
    taken += count;
  }
  return out;
}

/// One integer for each lane.
using LaneValues = std::vector<naive::Limbs>;

/// The element whose lanes hold these integers.
inline GuardedWords pack(const lanes::Kernels& kernels, const LaneValues& values, std::size_t digits) {
  GuardedWords element(digits * kernels.lanes);
  for (std::size_t d = 0; d < digits; ++d) {
    for (std::size_t lane = 0; lane < kernels.lanes; ++lane) {
      element[d * kernels.lanes + lane] = digit(values[lane], kernels.digit_bits, d);
    }
  }
  return element;
}

/// The integer in one lane, from the low w bits of its words.
inline naive::Limbs unpack(const lanes::Kernels& kernels, const Limb* element, std::size_t digits,
                           std::size_t lane) {
  const unsigned w = kernels.digit_bits;
  naive::Limbs value(limbs_for_bits(digits * w), 0);
  for (std::size_t d = 0; d < digits; ++d) {
    const Limb word = element[d * kernels.lanes + lane] & low_bits(w);
    const std::size_t bit = d * w;
    value[bit / kLimbBits] |= word << (bit % kLimbBits);
    if (bit % kLimbBits + w > kLimbBits) value[bit / kLimbBits + 1] |= word >> (kLimbBits - bit % kLimbBits);
  }
  return value;
}

/// a + b, or a - b, modulo 2^(64 size). On input: equal sizes.
inline naive::Limbs sum(const naive::Limbs& a, const naive::Limbs& b) {
  naive::Limbs out(a);
  bool carry = false;
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = a[i] + b[i] + (carry ? 1 : 0);
    carry = carry ? out[i] <= a[i] : out[i] < a[i];
  }
  return out;
}
inline naive::Limbs difference(const naive::Limbs& a, const naive::Limbs& b) {
  naive::Limbs out(a);
  bool borrow = false;
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = a[i] - b[i] - (borrow ? 1 : 0);
    borrow = borrow ? a[i] <= b[i] : a[i] < b[i];
  }
  return out;
}
/// `value` in `size` limbs.
inline naive::Limbs small(Limb value, std::size_t size) {
  naive::Limbs out(size, 0);
  out[0] = value;
  return out;
}
/// a < b.
inline bool below(const naive::Limbs& a, const naive::Limbs& b) {
  return !naive::at_least(naive::digits(a), naive::digits(b));
}
/// 2^exponent modulo 2^(64 size).
inline naive::Limbs power_of_two_limbs(std::size_t exponent, std::size_t size) {
  naive::Limbs out(size, 0);
  if (exponent / kLimbBits < size) out[exponent / kLimbBits] = Limb{1} << (exponent % kLimbBits);
  return out;
}
inline std::size_t bit_length(const naive::Limbs& a) {
  std::size_t bits = a.size() * kLimbBits;
  while (bits > 0 && ((a[(bits - 1) / kLimbBits] >> ((bits - 1) % kLimbBits)) & 1) == 0) --bits;
  return bits;
}
/// a mod 2^bits.
inline naive::Limbs truncated(naive::Limbs a, std::size_t bits) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (i * kLimbBits >= bits) a[i] = 0;
    if (i * kLimbBits < bits && bits - i * kLimbBits < kLimbBits) a[i] &= low_bits(bits % kLimbBits);
  }
  return a;
}

/// a b / 2^bits mod n. On input: n odd. Montgomery reduction by 32 bits per step, and by the remaining bits
/// in the last step.
naive::Limbs montgomery_product(const naive::Limbs& a, const naive::Limbs& b, const naive::Limbs& n,
                                std::size_t bits);

/// base^exponent mod n. On input: n odd. In Montgomery form, since naive::power_mod divides bit by bit in
/// every step.
inline naive::Limbs power_mod(const naive::Limbs& base, const naive::Limbs& exponent, const naive::Limbs& n) {
  const std::size_t bits = n.size() * kLimbBits;
  const naive::Limbs r = power_of_two_limbs(bits, n.size() + 1);
  const naive::Limbs factor = naive::multiply_mod(base, r, n);
  naive::Limbs result = naive::multiply_mod(r, small(1, 1), n);
  for (std::size_t bit = bit_length(exponent); bit-- > 0;) {
    result = montgomery_product(result, result, n, bits);
    if ((exponent[bit / kLimbBits] >> (bit % kLimbBits) & 1) != 0) {
      result = montgomery_product(result, factor, n, bits);
    }
  }
  return montgomery_product(result, small(1, n.size()), n, bits);
}

}  // namespace manymod::test
