// SPDX-License-Identifier: Apache-2.0
// Multiples of one point at a time in a group of this folder (weierstrass.hpp says what a group is).
// Additions are complete, so that scalars and points have no exceptional cases.
//
// Sources: Booth 1951 (signed windows); Brickell, Gordon, McCurley, Wilson 1992 (k G by a table for each
// window, without doublings); Solinas 2000, section 4.1 (w-NAF); reference/ecc/scalar/.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/operation.hpp"
#include "field/batch_inverse.hpp"
#include "modexp/limb_bits.hpp"
#include "modexp/recoding.hpp"
#include "repr/constant_time.hpp"

namespace manymod::ecc::scalar64 {

/// Bits of signed windows, and of w-NAF digits. Tables have 2^(kWidth - 1) points.
inline constexpr unsigned kWidth = 5;
inline constexpr std::size_t kEntries = std::size_t{1} << (kWidth - 1);
/// Points that share an inversion.
inline constexpr std::size_t kBlock = 32;
/// Bits of the longest scalar: an order has at most one bit more than its field.
inline constexpr std::size_t kMaxOrderBits = MM_ECC_MAX_BITS + 1;

/// Room for the algorithms below. It holds secrets.
template <class Group>
struct Workspace {
  using Point = typename Group::Point;
  using Element = typename Group::Element;

  std::array<Point, kEntries> table;
  Point entry, sum;
  typename Group::Operand operand;
  std::array<std::int16_t, kMaxOrderBits + 1> digits;
  std::array<Point, kBlock> points;
  std::array<Element, kBlock> inverses, scratch;
  std::array<Limb, kBlock> finite;
};

/// work.inverses[i] = 1 / Z of work.points[i], 0 and work.finite[i] = 0 at infinity. On input: count <=
/// kBlock.
template <class Group>
void invert_denominators(const Group& group, Workspace<Group>& work, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) work.inverses[i] = Group::denominator(work.points[i]);
  field::batch_inverse(group.field(), work.inverses.data(), work.finite.data(), work.inverses.data(), count,
                       work.scratch.data());
}

/// r = table[index], 0 <= index < table.size(). Every entry is read.
template <class Group, class P>
void select(const Group& group, P& r, std::span<const P> table, std::uint32_t index) {
  r = table[0];
  for (std::uint32_t i = 1; i < table.size(); ++i) group.cmov(r, table[i], constant_time::equal(i, index));
}

/// table[i] = (i + 1) p.
template <class Group>
void fill_multiples(const Group& group, std::span<typename Group::Point> table,
                    const typename Group::Point& p) {
  table[0] = p;
  for (std::size_t i = 1; i < table.size(); ++i) {
    if (i % 2 == 1) {
      group.twice(table[i], table[i / 2]);
    } else {
      group.add(table[i], table[i - 1], p);
    }
  }
}

/// r = k p. Timing: constant-time in k and p; `bits`, the length of scalars, is public. Aliasing: r may be p.
template <class Group>
void multiply_windows(const Group& group, typename Group::Point& r, std::span<const Limb> k, unsigned bits,
                      const typename Group::Point& p, Workspace<Group>& work) {
  const recoding::LimbBits scalar(k);
  fill_multiples(group, std::span(work.table), p);
  group.set_neutral(r);
  for (unsigned i = recoding::signed_digit_count(bits, kWidth); i-- > 0;) {
    for (unsigned bit = 0; bit < kWidth; ++bit) group.twice(r, r);
    const recoding::SignedDigit digit = recoding::signed_digit(scalar, kWidth, i);
    select(group, work.entry, std::span<const typename Group::Point>(work.table), digit.magnitude - 1);
    group.negate_where(work.entry, word::mask_from_bit(digit.negative));
    group.add(work.sum, r, work.entry);
    group.cmov(r, work.sum, ~constant_time::is_zero(digit.magnitude));
  }
}

/// r = k p. Variable-time in k. Aliasing: r may be p.
template <class Group>
void multiply_naf(const Group& group, typename Group::Point& r, std::span<const Limb> k, unsigned bits,
                  const typename Group::Point& p, Workspace<Group>& work) {
  constexpr std::size_t kOdd = kEntries / 2;  // the odd multiples below 2^(kWidth - 1)
  work.table[0] = p;
  group.twice(work.sum, p);
  for (std::size_t i = 1; i < kOdd; ++i) group.add(work.table[i], work.table[i - 1], work.sum);
  work.digits.fill(0);
  unsigned position = recoding::signed_sliding_digits(
      recoding::LimbBits(k), bits, kWidth,
      [&](unsigned at, std::int32_t digit) { work.digits[at] = static_cast<std::int16_t>(digit); });
  group.set_neutral(r);
  while (position-- > 0) {
    group.twice(r, r);
    const int digit = work.digits[position];
    if (digit == 0) continue;
    work.entry = work.table[static_cast<std::size_t>(std::abs(digit) / 2)];
    group.negate_where(work.entry, word::mask_from_bit(digit < 0 ? 1 : 0));
    group.add(r, r, work.entry);
  }
}

/// Multiples d 2^(width i) G of a generator G for 0 < d <= 2^(width - 1), for all windows i: k G takes an
/// addition a window. Public.
template <class Group>
class BaseTable {
 public:
  using Point = typename Group::Point;
  using Operand = typename Group::Operand;

  /// `bits` >= 2: of G's order n, an odd prime. Operands are not infinity, as 2^(width - 1) < n.
  BaseTable(const Group& group, const Point& generator, unsigned bits)
      : width_(std::min(kWidth, bits)), windows_(recoding::signed_digit_count(bits, width_)) {
    const std::size_t entries = std::size_t{1} << (width_ - 1);
    operands_.resize(windows_ * entries);
    std::vector<Workspace<Group>> storage(1);
    Workspace<Group>& work = storage[0];
    work.sum = generator;
    for (unsigned i = 0; i < windows_; ++i) {
      fill_multiples(group, std::span(work.points).first(entries), work.sum);
      group.twice(work.sum, work.points[entries - 1]);
      invert_denominators(group, work, entries);
      for (std::size_t j = 0; j < entries; ++j) {
        typename Group::Element x, y;
        group.field().mul(x, work.points[j].x, work.inverses[j]);
        group.field().mul(y, work.points[j].y, work.inverses[j]);
        group.prepare(operands_[i * entries + j], x, y);
      }
    }
  }

  /// r = r + k G. Constant-time in r and k.
  void accumulate(const Group& group, Point& r, std::span<const Limb> k, Workspace<Group>& work) const {
    const recoding::LimbBits scalar(k);
    for (unsigned i = 0; i < windows_; ++i) {
      const recoding::SignedDigit digit = recoding::signed_digit(scalar, width_, i);
      select(group, work.operand, window(i), digit.magnitude - 1);
      group.negate_where(work.operand, word::mask_from_bit(digit.negative));
      group.add(work.sum, r, work.operand);
      group.cmov(r, work.sum, ~constant_time::is_zero(digit.magnitude));
    }
  }
  /// The same. Variable-time.
  void accumulate_var(const Group& group, Point& r, std::span<const Limb> k, Workspace<Group>& work) const {
    const recoding::LimbBits scalar(k);
    for (unsigned i = 0; i < windows_; ++i) {
      const recoding::SignedDigit digit = recoding::signed_digit(scalar, width_, i);
      if (digit.magnitude == 0) continue;
      work.operand = window(i)[digit.magnitude - 1];
      group.negate_where(work.operand, word::mask_from_bit(digit.negative));
      group.add(r, r, work.operand);
    }
  }

 private:
  unsigned width_;
  unsigned windows_;
  std::vector<Operand> operands_;

  [[nodiscard]] std::span<const Operand> window(unsigned i) const {
    const std::size_t entries = std::size_t{1} << (width_ - 1);
    return std::span(operands_).subspan(i * entries, entries);
  }
};

}  // namespace manymod::ecc::scalar64
