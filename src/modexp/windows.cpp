// SPDX-License-Identifier: Apache-2.0
#include "modexp/windows.hpp"

#include <algorithm>

#include "modexp/limb_bits.hpp"
#include "modexp/recoding.hpp"

namespace manymod {
namespace {

/// Exponents up to this many bits are recoded with every width: there the exact pattern of ones decides.
constexpr std::size_t kShortExponentBits = 128;

/// Digits that are recoded, in some hundred microseconds, before a request to stop is looked for.
constexpr std::size_t kDigitsPerPoll = std::size_t{1} << 14;

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

SlidingSchedule sliding_schedule(std::span<const Limb> exponent, std::size_t width, const StopToken& stop) {
  const recoding::LimbBits bits(exponent);
  SlidingSchedule schedule;
  auto left = static_cast<unsigned>(limbs::bit_length_var(exponent));
  std::uint32_t squarings = 0;
  for (std::size_t number = 1; left > 0; ++number) {
    if (number % kDigitsPerPoll == 0 && stop.requested_now()) break;
    const recoding::SlidingDigit digit =
        recoding::top_sliding_digit(bits, left, static_cast<unsigned>(width));
    squarings += digit.count;
    left -= digit.count;
    if (digit.value == 0) continue;
    const bool first = schedule.steps.empty();
    schedule.steps.push_back({first ? 0 : squarings, digit.value / 2});
    schedule.table_entries = std::max<std::size_t>(schedule.table_entries, digit.value / 2 + 1);
    squarings = 0;
  }
  schedule.final_squarings = squarings;
  return schedule;
}

SlidingSchedule best_sliding_schedule(std::span<const Limb> exponent, const StopToken& stop) {
  const std::size_t bits = limbs::bit_length_var(exponent);
  if (bits > kShortExponentBits) return sliding_schedule(exponent, sliding_window_width(bits), stop);
  SlidingSchedule best = sliding_schedule(exponent, 1);
  for (std::size_t width = 2; width <= 5; ++width) {
    SlidingSchedule candidate = sliding_schedule(exponent, width);
    if (candidate.operations() < best.operations()) best = std::move(candidate);
  }
  return best;
}

std::vector<std::int8_t> width_naf(std::span<const Limb> exponent, std::size_t width) {
  const auto length = static_cast<unsigned>(limbs::bit_length_var(exponent));
  std::vector<std::int8_t> digits(length + 1, 0);
  const unsigned positions = recoding::signed_sliding_digits(
      recoding::LimbBits(exponent), length, static_cast<unsigned>(width),
      [&](unsigned i, std::int32_t digit) { digits[i] = static_cast<std::int8_t>(digit); });
  digits.resize(positions);
  return digits;
}

}  // namespace manymod
