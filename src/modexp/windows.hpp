// SPDX-License-Identifier: Apache-2.0
// Exponentiation by windows: fixed windows (any exponent per lane, public or secret) and sliding windows over
// odd powers (one public exponent). Handbook of Applied Cryptography, algorithms 14.82 and 14.85.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/operation.hpp"
#include "core/ticker.hpp"
#include "modexp/multiplier.hpp"
#include "repr/limbs.hpp"

namespace manymod {

inline constexpr std::size_t kMaxWindow = 10;

/// Window width that minimises 2^w - 2 + ceil(bits/w) (1 + scan 2^w) multiplications. `scan` is the cost of
/// reading one table entry, in multiplications: 0 for indexed loads.
std::size_t fixed_window_width(std::size_t bits, double scan);

/// How one exponent is worked off from its top: `squarings`, then a multiplication by the odd power 2 index +
/// 1, step by step; then `final_squarings`.
struct SlidingSchedule {
  struct Step {
    std::uint32_t squarings;
    std::uint32_t index;
  };
  std::vector<Step> steps;  ///< empty for exponent 0; the first step has no squarings
  std::size_t final_squarings = 0;
  std::size_t table_entries = 0;  ///< odd powers used: base^1, base^3, ..., base^(2 table_entries - 1)

  /// Squarings and multiplications it costs, the table included.
  [[nodiscard]] std::size_t operations() const;
};

/// Recode with windows of at most `width` bits that begin and end with a one.
SlidingSchedule sliding_schedule(std::span<const Limb> exponent, std::size_t width);

/// The cheapest schedule: short exponents are recoded with each width, long ones with the width that
/// minimises 2^(w-1) + bits/(w+1).
SlidingSchedule best_sliding_schedule(std::span<const Limb> exponent);

/// Limbs of workspace for fixed_window_power / sliding_window_power.
template <Multiplier M>
std::size_t fixed_window_workspace(const M& m, std::size_t width) {
  return ((std::size_t{1} << width) + 1) * m.words();
}
template <Multiplier M>
std::size_t sliding_window_workspace(const M& m, const SlidingSchedule& schedule) {
  return (schedule.table_entries + 1) * m.words();
}

/// Whether the squarings of a window of `width` bits can look at all of its table on the side.
template <Multiplier M>
bool selects_while_squaring([[maybe_unused]] const M& m, TimingClass timing, std::size_t width) {
  if constexpr (SelectingMultiplier<M>) {
    const std::size_t entries = std::size_t{1} << width;
    return timing == TimingClass::secret && m.free_entries() <= entries &&
           entries <= width * m.free_entries();
  }
  return false;
}

/// fixed_window_width for exponents of timing class secret: the widest window whose selection is free, where
/// there is one. `scan`: see there.
template <Multiplier M>
std::size_t secret_window_width(const M& m, std::size_t bits, double scan) {
  std::size_t width = fixed_window_width(bits, 0);
  while (width > 1 && !selects_while_squaring(m, TimingClass::secret, width)) --width;
  return width > 1 ? width : fixed_window_width(bits, scan);
}

/// r = base^exponent in every lane.
///
/// exponents: one per lane, read as `bits` bits (bits beyond an exponent's end are 0). With timing class
/// secret the sequence of operations and addresses depends on bits and width only. r may be base. Returns
/// false, r unusable, if a stop was requested.
template <TableMultiplier M>
bool fixed_window_power(const M& m, Limb* r, const Limb* base,
                        std::span<const std::span<const Limb>> exponents, std::size_t bits, std::size_t width,
                        TimingClass timing, Limb* workspace, const StopToken& stop) {
  const std::size_t words = m.words();
  const std::size_t entries = std::size_t{1} << width;
  Limb* table = workspace;
  Limb* factor = workspace + entries * words;
  m.set_one(table);
  std::copy_n(base, words, table + words);
  for (std::size_t i = 2; i < entries; i += 2) {
    m.sqr(table + i * words, table + i / 2 * words);
    m.mul(table + (i + 1) * words, table + i * words, table + words);
  }

  std::array<std::uint32_t, kMaxLanes> storage;
  const std::span<std::uint32_t> digits(storage.data(), m.lanes());
  const auto read_digits = [&](std::size_t position) {
    for (std::size_t lane = 0; lane < digits.size(); ++lane) {
      digits[lane] = limbs::extract_bits(exponents[lane], position, width);
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
  std::size_t position = bits == 0 ? 0 : (bits - 1) / width * width;
  read_digits(position);
  look_up(r);
  while (position > 0) {
    if (stop.requested()) return false;
    position -= width;
    read_digits(position);
    if (select_while_squaring) {
      if constexpr (SelectingMultiplier<M>) {
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

/// r = r^(2^times). Returns false, r unusable, if a stop was requested.
template <Multiplier M>
bool square_times(const M& m, Limb* r, std::size_t times, const StopToken& stop) {
  for (std::size_t i = 0; i < times; ++i) {
    if (stop.requested()) return false;
    m.sqr(r, r);
  }
  return true;
}

/// table[i] = base^(2 i + 1), i < entries; `square` is one element of scratch.
template <Multiplier M>
void odd_powers(const M& m, Limb* table, const Limb* base, std::size_t entries, Limb* square) {
  const std::size_t words = m.words();
  std::copy_n(base, words, table);
  if (entries > 1) m.sqr(square, base);
  for (std::size_t i = 1; i < entries; ++i) m.mul(table + i * words, table + (i - 1) * words, square);
}

/// r = base^exponent in every lane for the one public exponent that `schedule` was made from. r may be base.
/// Returns false, r unusable, if a stop was requested.
template <Multiplier M>
bool sliding_window_power(const M& m, Limb* r, const Limb* base, const SlidingSchedule& schedule,
                          Limb* workspace, const StopToken& stop) {
  const std::size_t words = m.words();
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
