// SPDX-License-Identifier: Apache-2.0
// What exponentiation needs of the numbers it multiplies: an associative product with a one, computed for
// several independent numbers at once.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "repr/canonical.hpp"

namespace manymod {

/// A monoid whose elements are words() limbs: lanes() independent numbers in a layout of the monoid's own.
///   mul, sqr   r = a b, r = a^2 in every lane; r may be an operand
///   set_one    r = 1 in every lane
template <class M>
concept Monoid = requires(const M& m, Limb* r, const Limb* a) {
  { m.lanes() } -> std::convertible_to<std::size_t>;
  { m.words() } -> std::convertible_to<std::size_t>;
  m.mul(r, a, a);
  m.sqr(r, a);
  m.set_one(r);
};

/// A monoid that reads tables, at a different index in each lane.
///   gather     r = table[indices[lane]] lane by lane; the table's entries are elements. Variable-time
///   select     the same in constant time: all `entries` are read, and no address or branch depends on an
///              index
///   *_shared   the same from a table of single numbers (words() / lanes() limbs each) that all lanes share
template <class M>
concept TableMonoid = Monoid<M> && requires(const M& m, Limb* r, const Limb* a, std::size_t entries,
                                            std::span<const std::uint32_t> indices) {
  m.gather(r, a, indices);
  m.select(r, a, entries, indices);
  m.gather_shared(r, a, indices);
  m.select_shared(r, a, entries, indices);
};

/// A monoid that can select from a table while it squares, at no further cost.
///   entries_per_square()  entries that one squaring can read besides; 0: none
///   sqr_select            r = a^2, and a part of target = table[indices[lane]]. Steps 0, 1, .., each in a
///                         squaring of its own, complete the selection: the last one needed is the first with
///                         (step + 1) entries_per_square() >= entries, and further ones change nothing.
///                         target must be neither r nor a. entries_per_square() <= entries <= 64
template <class M>
concept SelectingMonoid = TableMonoid<M> && requires(const M& m, Limb* r, const Limb* a, std::size_t entries,
                                                     std::span<const std::uint32_t> indices) {
  { m.entries_per_square() } -> std::convertible_to<std::size_t>;
  m.sqr_select(r, a, r, a, entries, indices, entries);
};

/// Lanes that a monoid may have at most.
inline constexpr std::size_t kMaxLanes = 16;

}  // namespace manymod
