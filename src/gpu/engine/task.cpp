// SPDX-License-Identifier: Apache-2.0
#include "gpu/engine/task.hpp"

#include <algorithm>
#include <cstdint>

#include "engine/device_facts.hpp"
#include "gpu/engine/prepared_comb.hpp"
#include "gpu/program/window_choice.hpp"
#include "modexp/windows.hpp"

namespace manymod::gpu {
namespace {

constexpr std::size_t kMaxInterleavedWindowBits = 4;  // each term has a table

// Bit length of the longest exponent of the items. Variable-time.
std::size_t longest_exponent(const Job& job, Items items) {
  const std::size_t terms = std::max<std::size_t>(1, job.terms);
  if (job.y.on_device && job.facts->exponent_bits.empty()) return job.facts->exponents.longest;
  std::size_t bits = 0;
  const auto extend = [&](std::size_t index) {
    bits = std::max<std::size_t>(bits, exponent_bits(job, index));
  };
  if (job.y.count == terms) {
    for (std::size_t t = 0; t < terms; ++t) extend(t);
    return bits;
  }
  for (const std::size_t item : items) {
    for (std::size_t t = 0; t < terms; ++t) extend(item * terms + t);
  }
  return bits;
}

Task power_task(const Job& job, Items items, const BatchView& base, const Shape& shape, std::size_t tables) {
  const bool secret = job.timing == TimingClass::secret;
  const std::vector<Operand> operands{{&base, Entry::factor}, {&job.y, Entry::as_it_is}};
  if (job.may_follow_exponent()) {
    const SlidingSchedule schedule = best_sliding_schedule(job.y.magnitude(0), job.stop);
    return {sliding_window_program(shape.radix_bits, schedule), operands, 1, {}};
  }
  const auto bits =
      static_cast<std::uint32_t>(secret ? job.y.width * kLimbBits : longest_exponent(job, items));
  const std::uint32_t window = window_bits(shape, bits, secret, tables);
  return {fixed_window_program(shape.radix_bits, bits, window, secret), operands, 1, {}};
}

Task multi_power_task(const Job& job, Items items, const Shape& shape) {
  const auto bits = static_cast<std::uint32_t>(longest_exponent(job, items));
  const auto terms = static_cast<std::uint32_t>(job.terms);
  const auto window = static_cast<std::uint32_t>(
      std::min<std::size_t>(fixed_window_width(bits, 0), kMaxInterleavedWindowBits));
  return {interleaved_windows_program(shape.radix_bits, terms, bits, window),
          {{&job.x, Entry::factor}, {&job.y, Entry::as_it_is}},
          job.terms,
          {}};
}

Task fixed_base_task(const Job& job, Items items, const Shape& shape, std::size_t tables) {
  const auto& comb = *static_cast<const PreparedComb*>(job.fixed_base);
  const bool secret = job.timing == TimingClass::secret;
  const std::size_t covered = comb.shape.teeth * comb.shape.rows;
  if (!secret && longest_exponent(job, items) > covered)
    return power_task(job, items, comb.base_view, shape, tables);
  return {comb_power_program(comb.shape, secret),
          {{&job.y, Entry::as_it_is}},
          1,
          {comb.table.as<std::uint32_t>(), comb.table_threads}};
}

}  // namespace

Task task_for(const Job& job, Items items, const Shape& shape, std::size_t tables) {
  switch (job.op) {
    case Operation::powmod:
      return power_task(job, items, job.x, shape, tables);
    case Operation::multi_powmod:
      return multi_power_task(job, items, shape);
    case Operation::fixed_base_powmod:
      return fixed_base_task(job, items, shape, tables);
    case Operation::sqrmod:
      return {product_program(shape.radix_bits, 0), {{&job.x, Entry::residue}}, 1, {}};
    default:
      return {
          product_program(shape.radix_bits, 1), {{&job.x, Entry::factor}, {&job.y, Entry::residue}}, 1, {}};
  }
}

}  // namespace manymod::gpu
