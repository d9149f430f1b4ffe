// SPDX-License-Identifier: Apache-2.0
// Exponentiation by windows over any monoid: fixed windows (each lane has an exponent of its own,
// constant-time or variable-time) and sliding windows over odd powers (all lanes share one public exponent).
// Handbook of Applied Cryptography, algorithms 14.82 and 14.85. The digits are those of modexp/recoding.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/operation.hpp"
#include "core/ticker.hpp"
#include "modexp/limb_bits.hpp"
#include "modexp/monoid.hpp"
#include "modexp/recoding.hpp"
#include "repr/limbs.hpp"

namespace manymod {

inline constexpr std::size_t kMaxWindow = 10;

/// Window width that minimises 2^w - 2 + ceil(bits/w) (1 + scan 2^w) multiplications. `scan` is the cost of
/// reading one table entry, in multiplications: 0 for indexed loads.
std::size_t fixed_window_width(std::size_t bits, double scan);

/// Sliding windows of one exponent, from its top down. Each step is `squarings` squarings followed by a
/// multiplication by the odd power base^(2 index + 1); after the last step come `final_squarings` squarings.
struct SlidingSchedule {
  struct Step {
    std::uint32_t squarings;
    std::uint32_t index;
  };
  std::vector<Step> steps;  ///< empty for exponent 0; the first step has no squarings
  std::size_t final_squarings = 0;
  std::size_t table_entries = 0;  ///< odd powers used: base^1, base^3, ..., base^(2 table_entries - 1)

  /// Squarings and multiplications that the power costs, the table of odd powers included.
  [[nodiscard]] std::size_t operations() const;
};

/// The schedule with windows of at most `width` bits, each of which begins and ends with a one. If a stop is
/// requested it is of no use, and powers by it stop. Variable-time.
SlidingSchedule sliding_schedule(std::span<const Limb> exponent, std::size_t width,
                                 const StopToken& stop = {});

/// The cheapest schedule: short exponents are recoded with each width, long ones with the width that
/// minimises 2^(w-1) + bits/(w+1). `stop` as in sliding_schedule. Variable-time.
SlidingSchedule best_sliding_schedule(std::span<const Limb> exponent, const StopToken& stop = {});

/// The digits of the non-adjacent form of `width` bits (recoding::signed_sliding_digits), d_0 first and
/// without zeros at the end. On input: 2 <= width <= 8. Variable-time.
std::vector<std::int8_t> width_naf(std::span<const Limb> exponent, std::size_t width);

/// Limbs of workspace for fixed_window_power / sliding_window_power.
template <Monoid M>
std::size_t fixed_window_workspace(const M& m, std::size_t width) {
  return ((std::size_t{1} << width) + 1) * m.words();
}
template <Monoid M>
std::size_t sliding_window_workspace(const M& m, const SlidingSchedule& schedule) {
  return (schedule.table_entries + 1) * m.words();
}

/// Whether the squarings of a window of `width` bits can read all of the table besides.
template <Monoid M>
bool selects_while_squaring([[maybe_unused]] const M& m, TimingClass timing, std::size_t width) {
  if constexpr (SelectingMonoid<M>) {
    const std::size_t entries = std::size_t{1} << width;
    return timing == TimingClass::secret && m.entries_per_square() <= entries &&
           entries <= width * m.entries_per_square();
  }
  return false;
}

/// fixed_window_width for constant-time powers: the widest window whose selection is free, where there is
/// one. `scan`: see fixed_window_width.
template <Monoid M>
std::size_t secret_window_width(const M& m, std::size_t bits, double scan) {
  std::size_t width = fixed_window_width(bits, 0);
  while (width > 1 && !selects_while_squaring(m, TimingClass::secret, width)) --width;
  return width > 1 ? width : fixed_window_width(bits, scan);
}

/// table[i] = base^i, i < entries. On input: entries is even.
template <Monoid M>
void all_powers(const M& m, Limb* table, const Limb* base, std::size_t entries) {
  const std::size_t words = m.words();
  m.set_one(table);
  std::copy_n(base, words, table + words);
  for (std::size_t i = 2; i < entries; i += 2) {
    m.sqr(table + i * words, table + i / 2 * words);
    m.mul(table + (i + 1) * words, table + i * words, table + words);
  }
}

/// r = base^exponent in every lane.
///
/// exponents: one per lane, each below 2^bits; bits beyond an exponent's end are 0. r may be base. @return
/// false, with r unusable, if a stop was requested. Timing: with TimingClass::secret the sequence of
/// operations and addresses depends on `bits` and `width` alone.
template <TableMonoid M>
bool fixed_window_power(const M& m, Limb* r, const Limb* base,
                        std::span<const std::span<const Limb>> exponents, std::size_t bits, std::size_t width,
                        TimingClass timing, Limb* workspace, const StopToken& stop) {
  const std::size_t words = m.words();
  const std::size_t entries = std::size_t{1} << width;
  Limb* table = workspace;
  Limb* factor = workspace + entries * words;
  all_powers(m, table, base, entries);

  std::array<std::uint32_t, kMaxLanes> storage;
  const std::span<std::uint32_t> digits(storage.data(), m.lanes());
  const auto read_digits = [&](std::size_t position) {
    for (std::size_t lane = 0; lane < digits.size(); ++lane) {
      digits[lane] = recoding::LimbBits(exponents[lane])(position, width);
    }
  };
  const auto look_up = [&](Limb* target) {
    if (timing == TimingClass::secret) {
      m.select(target, table, entries, digits);
    } else {
      m.gather(target, table, digits);
    }
  };

  const bool select_while_squaring = selects_while_squaring(m, timing, width);
  std::size_t position =
      bits == 0 ? 0 : recoding::top_window(static_cast<unsigned>(bits), static_cast<unsigned>(width)).first;
  read_digits(position);
  look_up(r);
  while (position > 0) {
    if (stop.requested()) return false;
    position -= width;
    read_digits(position);
    if (select_while_squaring) {
      if constexpr (SelectingMonoid<M>) {
        for (std::size_t i = 0; i < width; ++i) m.sqr_select(r, r, factor, table, entries, digits, i);
      }
    } else {
      for (std::size_t i = 0; i < width; ++i) m.sqr(r, r);
      look_up(factor);
    }
    m.mul(r, r, factor);
  }
  return true;
}

/// r = r^(2^times). @return false, with r unusable, if a stop was requested.
template <Monoid M>
bool square_times(const M& m, Limb* r, std::size_t times, const StopToken& stop) {
  for (std::size_t i = 0; i < times; ++i) {
    if (stop.requested()) return false;
    m.sqr(r, r);
  }
  return true;
}

/// table[i] = base^(2 i + 1), i < entries; `square` is one element of scratch.
template <Monoid M>
void odd_powers(const M& m, Limb* table, const Limb* base, std::size_t entries, Limb* square) {
  const std::size_t words = m.words();
  std::copy_n(base, words, table);
  if (entries > 1) m.sqr(square, base);
  for (std::size_t i = 1; i < entries; ++i) m.mul(table + i * words, table + (i - 1) * words, square);
}

/// r = base^exponent in every lane for the one public exponent that `schedule` recodes. r may be base.
/// @return false, with r unusable, if a stop was requested.
template <Monoid M>
bool sliding_window_power(const M& m, Limb* r, const Limb* base, const SlidingSchedule& schedule,
                          Limb* workspace, const StopToken& stop) {
  const std::size_t words = m.words();
  if (stop.was_requested()) return false;
  if (schedule.steps.empty()) {
    m.set_one(r);
    return true;
  }
  Limb* table = workspace;
  odd_powers(m, table, base, schedule.table_entries, workspace + schedule.table_entries * words);
  std::copy_n(table + schedule.steps.front().index * words, words, r);
  for (std::size_t step = 1; step < schedule.steps.size(); ++step) {
    if (!square_times(m, r, schedule.steps[step].squarings, stop)) return false;
    m.mul(r, r, table + schedule.steps[step].index * words);
  }
  return square_times(m, r, schedule.final_squarings, stop);
}

}  // namespace manymod
