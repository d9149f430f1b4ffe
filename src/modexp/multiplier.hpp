// SPDX-License-Identifier: Apache-2.0
// What exponentiation asks of a technique.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "repr/canonical.hpp"

namespace manymod {

/// A multiplier works on elements of words() limbs: lanes() independent residues in the technique's own
/// layout.
///   mul, sqr   r = a b, r = a^2 in every lane; r may be an operand
///   set_one    r = 1 in every lane
template <class M>
concept Multiplier = requires(const M& m, Limb* r, const Limb* a) {
  { m.lanes() } -> std::convertible_to<std::size_t>;
  { m.words() } -> std::convertible_to<std::size_t>;
  m.mul(r, a, a);
  m.sqr(r, a);
  m.set_one(r);
};

/// A multiplier that reads tables with an index of its own for each lane.
///   gather     r = table[indices[lane]] lane by lane; the table's entries are elements; public indices
///   select     the same without a secret-dependent address or branch: all `entries` are read
///   *_shared   the same from a table of single-lane residues (words() / lanes() limbs) that all lanes share
template <class M>
concept TableMultiplier = Multiplier<M> && requires(const M& m, Limb* r, const Limb* a, std::size_t entries,
                                                    std::span<const std::uint32_t> indices) {
  m.gather(r, a, indices);
  m.select(r, a, entries, indices);
  m.gather_shared(r, a, indices);
  m.select_shared(r, a, entries, indices);
};

/// A multiplier that can select from a table while it squares, which costs it nothing.
///   free_entries()   entries it can look at in one squaring; 0: none
///   sqr_select       r = a^2, and after steps 0, 1, .., each in a squaring of its own, until step
///                    free_entries() >= entries, lane by lane target = table[indices[lane]]; further steps
///                    change nothing. target must not be r or a. free_entries() <= entries <= 64
template <class M>
concept SelectingMultiplier =
    TableMultiplier<M> && requires(const M& m, Limb* r, const Limb* a, std::size_t entries,
                                   std::span<const std::uint32_t> indices) {
      { m.free_entries() } -> std::convertible_to<std::size_t>;
      m.sqr_select(r, a, r, a, entries, indices, entries);
    };

/// Lanes a multiplier may have at most.
inline constexpr std::size_t kMaxLanes = 16;

}  // namespace manymod
