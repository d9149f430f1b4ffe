// SPDX-License-Identifier: Apache-2.0
#include "modexp/windows.hpp"

#include <algorithm>

namespace manymod {
namespace {

/// Exponents up to this many bits are recoded with every width: there the exact pattern of ones decides.
constexpr std::size_t kShortExponentBits = 128;

std::size_t sliding_window_width(std::size_t bits) {
  std::size_t best = 1;
  double best_cost = 0;
  for (std::size_t width = 1; width <= kMaxWindow; ++width) {
    const double cost = static_cast<double>(std::size_t{1} << (width - 1)) +
                        static_cast<double>(bits) / static_cast<double>(width + 1);
    if (width == 1 || cost < best_cost) {
      best = width;
      best_cost = cost;
    }
  }
  return best;
}

}  // namespace

std::size_t fixed_window_width(std::size_t bits, double scan) {
  std::size_t best = 1;
  double best_cost = 0;
  for (std::size_t width = 1; width <= kMaxWindow; ++width) {
    const auto entries = static_cast<double>(std::size_t{1} << width);
    const std::size_t whole_windows = (bits + width - 1) / width;
    const auto windows = static_cast<double>(whole_windows);
    const double cost = entries - 2 + windows * (1 + scan * entries);
    if (width == 1 || cost < best_cost) {
      best = width;
      best_cost = cost;
    }
  }
  return best;
}

std::size_t SlidingSchedule::operations() const {
  std::size_t count = final_squarings + table_entries;
  for (const Step& step : steps) count += step.squarings + 1;
  return count;
}

SlidingSchedule sliding_schedule(std::span<const Limb> exponent, std::size_t width) {
  SlidingSchedule schedule;
  std::size_t top = limbs::bit_length_var(exponent);
  std::uint32_t squarings = 0;
  while (top > 0) {
    if (!limbs::test_bit(exponent, top - 1)) {
      ++squarings;
      --top;
      continue;
    }
    std::size_t length = std::min(width, top);
    while (!limbs::test_bit(exponent, top - length)) --length;
    const std::uint32_t digit = limbs::extract_bits(exponent, top - length, length);
    const bool first = schedule.steps.empty();
    squarings += static_cast<std::uint32_t>(length);
    schedule.steps.push_back({first ? 0 : squarings, digit / 2});
    schedule.table_entries = std::max<std::size_t>(schedule.table_entries, digit / 2 + 1);
    squarings = 0;
    top -= length;
  }
  schedule.final_squarings = squarings;
  return schedule;
}

SlidingSchedule best_sliding_schedule(std::span<const Limb> exponent) {
  const std::size_t bits = limbs::bit_length_var(exponent);
  if (bits > kShortExponentBits) return sliding_schedule(exponent, sliding_window_width(bits));
  SlidingSchedule best = sliding_schedule(exponent, 1);
  for (std::size_t width = 2; width <= 5; ++width) {
    SlidingSchedule candidate = sliding_schedule(exponent, width);
    if (candidate.operations() < best.operations()) best = std::move(candidate);
  }
  return best;
}

}  // namespace manymod
