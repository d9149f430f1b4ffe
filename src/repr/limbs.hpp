// SPDX-License-Identifier: Apache-2.0
// Numbers as little-endian arrays of 64-bit limbs: the few operations that every technique needs besides its
// multiplier. Functions whose names end in `_var` are variable-time in values; all others are constant-time
// and depend on sizes only. Unless stated otherwise, the result r is a or b itself or does not overlap them,
// and it does not overlap n.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <new>
#include <span>
#include <vector>

#include "arch/scalar/word.hpp"
#include "repr/canonical.hpp"
#include "repr/verify.hpp"
#include "repr/wipe.hpp"

namespace manymod::limbs {

/// The number of limbs without leading zero limbs.
inline std::size_t normalized_size_var(std::span<const Limb> a) {
  std::size_t size = a.size();
  while (size > 0 && a[size - 1] == 0) --size;
  return size;
}

/// The number of bits of a up to its highest 1; 0 for a = 0.
inline std::size_t bit_length_var(std::span<const Limb> a) {
  const std::size_t size = normalized_size_var(a);
  return size == 0 ? 0 : size * kLimbBits - static_cast<std::size_t>(std::countl_zero(a[size - 1]));
}

/// The number of trailing zero bits. On input: a != 0.
inline std::size_t trailing_zeros_var(std::span<const Limb> a) {
  std::size_t i = 0;
  while (a[i] == 0) ++i;
  return i * kLimbBits + static_cast<std::size_t>(std::countr_zero(a[i]));
}

/// Bit i of a; 0 beyond its end. Variable-time in i.
inline bool test_bit(std::span<const Limb> a, std::size_t i) {
  return i / kLimbBits < a.size() && ((a[i / kLimbBits] >> (i % kLimbBits)) & 1) != 0;
}

/// Bits [position, position + count) of a; bits beyond its end are 0. On input: 1 <= count <= 32.
/// Variable-time in position.
inline std::uint32_t extract_bits(std::span<const Limb> a, std::size_t position, std::size_t count) {
  const std::size_t index = position / kLimbBits;
  const std::size_t shift = position % kLimbBits;
  if (index >= a.size()) return 0;
  Limb bits = a[index] >> shift;
  if (shift + count > kLimbBits && index + 1 < a.size()) bits |= a[index + 1] << (kLimbBits - shift);
  return static_cast<std::uint32_t>(bits & ((Limb{1} << count) - 1));
}

/// Whether a < b, for arrays of any sizes. It compares from the top limbs down and stops at the first
/// difference.
inline bool less_var(std::span<const Limb> a, std::span<const Limb> b) {
  for (std::size_t i = std::max(a.size(), b.size()); i-- > 0;) {
    const Limb x = i < a.size() ? a[i] : 0;
    const Limb y = i < b.size() ? b[i] : 0;
    if (x != y) return x < y;
  }
  return false;
}

/// r = a, extended by zero limbs. On input: a without leading zero limbs fits r.
inline void copy_extend(std::span<Limb> r, std::span<const Limb> a) {
  const std::size_t size = std::min(r.size(), a.size());
  std::copy_n(a.begin(), size, r.begin());
  std::fill(r.begin() + static_cast<std::ptrdiff_t>(size), r.end(), Limb{0});
}

/// r = a + b mod 2^(64 size), size = r.size(); @return the carry. On input: a and b have at least that many
/// limbs.
inline Limb add(std::span<Limb> r, std::span<const Limb> a, std::span<const Limb> b) {
  Limb carry = 0;
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = word::add_carry(a[i], b[i], carry);
  return carry;
}

/// r = a - b mod 2^(64 size), size = r.size(); @return the borrow. On input: a and b have at least that many
/// limbs.
inline Limb sub(std::span<Limb> r, std::span<const Limb> a, std::span<const Limb> b) {
  Limb borrow = 0;
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = word::sub_borrow(a[i], b[i], borrow);
  return borrow;
}

/// r = a - bit b mod 2^(64 size), size = r.size(); @return the borrow. On input: bit is 0 or 1.
inline Limb sub_if(std::span<Limb> r, std::span<const Limb> a, std::span<const Limb> b, Limb bit) {
  const Limb mask = word::mask_from_bit(bit);
  Limb borrow = 0;
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = word::sub_borrow(a[i], b[i] & mask, borrow);
  return borrow;
}

/// r = a + bit b mod 2^(64 size), size = r.size(); @return the carry. On input: bit is 0 or 1.
inline Limb add_if(std::span<Limb> r, std::span<const Limb> a, std::span<const Limb> b, Limb bit) {
  const Limb mask = word::mask_from_bit(bit);
  Limb carry = 0;
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = word::add_carry(a[i], b[i] & mask, carry);
  return carry;
}

/// 1 if a < b, else 0. On input: equal sizes.
inline Limb less(std::span<const Limb> a, std::span<const Limb> b) {
  Limb borrow = 0;
  for (std::size_t i = 0; i < a.size(); ++i) word::sub_borrow(a[i], b[i], borrow);
  return borrow;
}

/// 1 if a == 0, else 0.
inline Limb is_zero(std::span<const Limb> a) {
  Limb any = 0;
  for (const Limb limb : a) any |= limb;
  return word::is_zero_bit(any);
}

/// a = carry 2^(64 size) + a mod n, size = a.size(). On input: carry is 0 or 1, and the value is below 2 n.
inline void reduce_once(std::span<Limb> a, std::span<const Limb> n, Limb carry = 0) {
  sub_if(a, a, n, carry | (less(a, n) ^ 1));
  MANYMOD_VERIFY_RANGE(less(a, n) == 1);
}

/// r = a + b mod n. On input: a, b < n.
inline void add_mod(std::span<Limb> r, std::span<const Limb> a, std::span<const Limb> b,
                    std::span<const Limb> n) {
  MANYMOD_VERIFY_RANGE(less(a, n) == 1 && less(b, n) == 1);
  const Limb carry = add(r, a, b);
  reduce_once(r, n, carry);
}

/// r = a - b mod n. On input: a, b < n.
inline void sub_mod(std::span<Limb> r, std::span<const Limb> a, std::span<const Limb> b,
                    std::span<const Limb> n) {
  MANYMOD_VERIFY_RANGE(less(a, n) == 1 && less(b, n) == 1);
  const Limb borrow = sub(r, a, b);
  add_if(r, r, n, borrow);
}

/// r = -a mod n. On input: a < n.
inline void negate_mod(std::span<Limb> r, std::span<const Limb> a, std::span<const Limb> n) {
  MANYMOD_VERIFY_RANGE(less(a, n) == 1);
  const Limb nonzero = is_zero(a) ^ 1;
  const Limb mask = word::mask_from_bit(nonzero);
  Limb borrow = 0;
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = word::sub_borrow(n[i], a[i], borrow) & mask;
}

/// r = a 2^shift mod 2^(64 r.size()); @return the bits shifted out. On input: 0 <= shift < 64.
inline Limb shift_left(std::span<Limb> r, std::span<const Limb> a, unsigned shift) {
  if (shift == 0) {
    std::copy_n(a.begin(), r.size(), r.begin());
    return 0;
  }
  Limb out = 0;
  for (std::size_t i = 0; i < r.size(); ++i) {
    const Limb limb = a[i];
    r[i] = (limb << shift) | out;
    out = limb >> (kLimbBits - shift);
  }
  return out;
}

/// r = floor(a / 2^bits) mod 2^(64 r.size()).
inline void shift_right_bits(std::span<Limb> r, std::span<const Limb> a, std::size_t bits) {
  const std::size_t skip = std::min(bits / kLimbBits, a.size());
  const std::span<const Limb> rest = a.subspan(skip);
  const auto shift = static_cast<unsigned>(bits % kLimbBits);
  for (std::size_t i = 0; i < r.size(); ++i) {
    const Limb low = i < rest.size() ? rest[i] : 0;
    const Limb above = i + 1 < rest.size() ? rest[i + 1] : 0;
    r[i] = shift == 0 ? low : (low >> shift) | (above << (kLimbBits - shift));
  }
}

/// a = a mod 2^bits.
inline void truncate_bits(std::span<Limb> a, std::size_t bits) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (i * kLimbBits >= bits) {
      a[i] = 0;
    } else if ((i + 1) * kLimbBits > bits) {
      a[i] &= (Limb{1} << (bits % kLimbBits)) - 1;
    }
  }
}

/// A std::allocator that aligns to a cache line: the widest vector loads and stores fault on anything less.
template <class T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};

  LineAllocator() = default;
  template <class U>
  explicit LineAllocator(const LineAllocator<U>&) {}

  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kLine)); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, kLine); }
  bool operator==(const LineAllocator&) const = default;
};

/// Limbs on the heap, aligned to 64 bytes. They are zeroed before they are freed, as every scratch array may
/// hold a secret.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t size) : limbs_(size, 0) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer(Buffer&& other) noexcept : limbs_(std::move(other.limbs_)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(limbs_, other.limbs_);
    return *this;
  }
  ~Buffer() { wipe(std::span(limbs_)); }

  /// Ensures a size of at least `size` limbs; if it grows, the contents are lost.
  void require(std::size_t size) {
    if (size > limbs_.size()) *this = Buffer(size);
  }
  [[nodiscard]] Limb* data() { return limbs_.data(); }
  [[nodiscard]] const Limb* data() const { return limbs_.data(); }
  [[nodiscard]] std::size_t size() const { return limbs_.size(); }
  /// The first `size` limbs, or `size` limbs from `from` on.
  [[nodiscard]] std::span<Limb> first(std::size_t size) { return std::span(limbs_).first(size); }
  [[nodiscard]] std::span<const Limb> first(std::size_t size) const { return std::span(limbs_).first(size); }
  [[nodiscard]] std::span<Limb> part(std::size_t from, std::size_t size) {
    return std::span(limbs_).subspan(from, size);
  }
  [[nodiscard]] std::span<const Limb> part(std::size_t from, std::size_t size) const {
    return std::span(limbs_).subspan(from, size);
  }

 private:
  std::vector<Limb, LineAllocator<Limb>> limbs_;
};

}  // namespace manymod::limbs
