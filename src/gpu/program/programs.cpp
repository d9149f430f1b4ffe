// SPDX-License-Identifier: Apache-2.0
#include "gpu/program/programs.hpp"

#include <algorithm>

namespace manymod::gpu {
namespace {

// The least StartPower::bits: with fewer bits, the squarings would cost more than the division steps that
// they save.
constexpr std::uint32_t kLeastStartBits = 32;

// Whether the two steps select from the same table by digits of the same exponent and shape.
bool same_selection(const Step& step, const Step& first) {
  return step.source == first.source && step.index == first.index &&
         step.digit.exponent == first.digit.exponent && step.digit.stride == first.digit.stride &&
         step.digit.count == first.digit.count;
}

class Builder {
 public:
  explicit Builder(bool secret = false) { program_.scan = secret; }

  Step& add(Source source, std::uint32_t index = 0) {
    Step step;
    step.source = source;
    step.index = index;
    program_.steps.push_back(step);
    return program_.steps.back();
  }
  Step& load(Source source, std::uint32_t index = 0) {
    Step& step = add(source, index);
    step.load = true;
    return step;
  }
  Step& multiply(Source source, std::uint32_t index = 0) {
    Step& step = add(source, index);
    step.multiplications = 1;
    return step;
  }
  Step& square(std::uint32_t times) {
    Step& step = add(Source::none);
    step.squarings = times;
    return step;
  }
  /// Store x after the last step.
  void store_last(std::uint32_t slot) {
    program_.steps.back().store = true;
    program_.steps.back().slot = slot;
    if (slot >= program_.slots) program_.slots = slot + 1;
  }
  void store(std::uint32_t slot) {
    add(Source::none);
    store_last(slot);
  }

  /// With slot `first` + 1 = x: slot `first` + e = x^e for 2 <= e < `entries`, an even number. Half of them
  /// are squares.
  void store_powers(std::uint32_t first, std::uint32_t entries) {
    for (std::uint32_t e = 2; e < entries; e += 2) {
      load(Source::slot, first + e / 2);
      square(1);
      store_last(first + e);
      multiply(Source::slot, first + 1);
      store_last(first + e + 1);
    }
  }

  /// x = R^2 mod n
  void load_radix_squared(std::uint32_t radix_bits) {
    load(Source::start);
    square(start_power(radix_bits).squarings);
  }

  /// Convert x from Montgomery form: x / R.
  Program finish() {
    multiply(Source::one);
    return finish_without_conversion();
  }
  /// x is the result: the last product was by an integer below n.
  Program finish_without_conversion() {
    count_selection_runs(program_.steps);
    return std::move(program_);
  }

 private:
  Program program_;
};

Digit window_digit(std::uint32_t exponent, std::uint32_t first, std::uint32_t count) {
  return {.exponent = exponent, .first = first, .stride = 1, .count = count};
}

// Slots 0 .. table_entries - 1 = x, x^3, x^5, .., where x is the value after the last step.
void store_odd_powers(Builder& build, const SlidingSchedule& exponent) {
  build.store_last(0);
  const auto entries = static_cast<std::uint32_t>(exponent.table_entries);
  if (entries <= 1) return;
  build.square(1);
  build.store_last(entries);
  build.load(Source::slot, 0);
  for (std::uint32_t e = 1; e < entries; ++e) {
    build.multiply(Source::slot, entries);
    build.store_last(e);
  }
}

// x = the power, computed from the odd powers of its base in the table.
void raise(Builder& build, const SlidingSchedule& exponent) {
  build.load(Source::slot, exponent.steps.front().index);
  for (std::size_t s = 1; s < exponent.steps.size(); ++s) {
    build.multiply(Source::slot, exponent.steps[s].index).squarings = exponent.steps[s].squarings;
  }
  if (exponent.final_squarings > 0) build.square(static_cast<std::uint32_t>(exponent.final_squarings));
}

}  // namespace

std::size_t products_of(const Step& step) { return std::size_t{step.squarings} + step.multiplications; }

std::size_t products_of(const Program& program) {
  std::size_t products = 0;
  for (const Step& step : program.steps) products += products_of(step);
  return products;
}

void count_selection_runs(std::vector<Step>& steps) {
  for (std::size_t i = steps.size(); i-- > 0;) {
    const bool continues = i + 1 < steps.size() && !steps[i].store && steps[i].source == Source::digit &&
                           same_selection(steps[i + 1], steps[i]);
    steps[i].selection_run = continues ? steps[i + 1].selection_run + 1 : 1;
  }
}

bool Program::needs_start() const {
  return std::ranges::any_of(steps, [](const Step& step) { return step.source == Source::start; });
}

StartPower start_power(std::uint32_t radix_bits) {
  StartPower start{radix_bits, 0};
  while (start.bits % 2 == 0 && start.bits / 2 >= kLeastStartBits) {
    start.bits /= 2;
    ++start.squarings;
  }
  return start;
}

Program fixed_window_program(std::uint32_t radix_bits, std::uint32_t exponent_bits, std::uint32_t window,
                             bool secret) {
  constexpr std::uint32_t kBase = 1;
  Builder build(secret);
  build.load_radix_squared(radix_bits);
  build.store_last(kBase);
  build.multiply(Source::one);
  build.store_last(0);
  if (exponent_bits == 0) return build.finish();
  build.load(Source::slot, kBase);
  build.multiply(Source::operand, 0);
  build.store_last(kBase);
  build.store_powers(0, 1u << window);
  std::uint32_t first = (exponent_bits - 1) / window * window;
  build.load(Source::digit).digit = window_digit(1, first, window);
  while (first > 0) {
    first -= window;
    Step& step = build.multiply(Source::digit);
    step.squarings = window;
    step.digit = window_digit(1, first, window);
  }
  return build.finish();
}

Program sliding_window_program(std::uint32_t radix_bits, const SlidingSchedule& exponent) {
  Builder build;
  build.load_radix_squared(radix_bits);
  if (exponent.steps.empty()) {
    build.multiply(Source::one);
    return build.finish();
  }
  build.multiply(Source::operand, 0);
  store_odd_powers(build, exponent);
  raise(build, exponent);
  return build.finish();
}

Program interleaved_windows_program(std::uint32_t radix_bits, std::uint32_t terms,
                                    std::uint32_t exponent_bits, std::uint32_t window) {
  const std::uint32_t entries = 1u << window, radix_squared = terms * entries;
  Builder build;
  build.load_radix_squared(radix_bits);
  build.store_last(radix_squared);
  build.multiply(Source::one);
  if (exponent_bits == 0 || terms == 0) return build.finish();
  for (std::uint32_t t = 0; t < terms; ++t) build.store(t * entries);
  for (std::uint32_t t = 0; t < terms; ++t) {
    build.load(Source::slot, radix_squared);
    build.multiply(Source::operand, t);
    build.store_last(t * entries + 1);
    build.store_powers(t * entries, entries);
  }
  std::uint32_t first = (exponent_bits - 1) / window * window + window;
  bool begun = false;
  while (first > 0) {
    first -= window;
    if (begun) build.square(window);
    for (std::uint32_t t = 0; t < terms; ++t) {
      Step& step =
          begun ? build.multiply(Source::digit, t * entries) : build.load(Source::digit, t * entries);
      step.digit = window_digit(terms + t, first, window);
      begun = true;
    }
  }
  return build.finish();
}

Program comb_table_program(std::uint32_t radix_bits, const CombShape& shape) {
  const auto per_block = std::uint32_t{1} << shape.teeth;
  const auto blocks = static_cast<std::uint32_t>(shape.blocks);
  const auto rows = static_cast<std::uint32_t>(shape.rows),
             columns = static_cast<std::uint32_t>(shape.columns);
  const std::uint32_t radix_squared = blocks * per_block;
  Builder build;
  build.load_radix_squared(radix_bits);
  build.store_last(radix_squared);
  build.multiply(Source::one);
  for (std::uint32_t block = 0; block < blocks; ++block) build.store(block * per_block);
  build.load(Source::slot, radix_squared);
  build.multiply(Source::operand, 0);
  for (std::uint32_t t = 0; t < shape.teeth; ++t) {
    for (std::uint32_t row = 0; row < rows; row += columns) {
      build.store(row / columns * per_block + (1u << t));
      build.square(std::min(columns, rows - row));
    }
  }
  for (std::uint32_t block = 0; block < blocks; ++block) {
    for (std::uint32_t i = 3; i < per_block; ++i) {
      const std::uint32_t lowest = i & (~i + 1);
      if (lowest == i) continue;
      build.load(Source::slot, block * per_block + (i ^ lowest));
      build.multiply(Source::slot, block * per_block + lowest);
      build.store_last(block * per_block + i);
    }
  }
  return build.finish_without_conversion();
}

Program comb_power_program(const CombShape& shape, bool secret) {
  Builder build(secret);
  bool begun = false;
  for (std::size_t column = shape.columns; column-- > 0;) {
    if (begun) build.square(1);
    for (std::size_t block = 0; block < shape.blocks; ++block) {
      const std::size_t row = block * shape.columns + column;
      if (row >= shape.rows) continue;
      const auto first = static_cast<std::uint32_t>(block << shape.teeth);
      Step& step = begun ? build.multiply(Source::comb, first) : build.load(Source::comb, first);
      step.digit = {.exponent = 0,
                    .first = static_cast<std::uint32_t>(row),
                    .stride = static_cast<std::uint32_t>(shape.rows),
                    .count = static_cast<std::uint32_t>(shape.teeth)};
      begun = true;
    }
  }
  return build.finish();
}

Program product_program(std::uint32_t radix_bits, std::uint32_t second) {
  Builder build;
  build.load_radix_squared(radix_bits);
  build.multiply(Source::operand, 0);
  build.multiply(Source::operand, second);
  return build.finish_without_conversion();
}

Program plain_product_program(std::uint32_t factors) {
  Builder build;
  build.load(Source::operand, 0);
  for (std::uint32_t factor = 1; factor < factors; ++factor) build.multiply(Source::operand, factor);
  return build.finish_without_conversion();
}

Program scaled_power_program(const SlidingSchedule& exponent) {
  Builder build;
  build.load(Source::operand, 0);
  store_odd_powers(build, exponent);
  raise(build, exponent);
  build.multiply(Source::operand, 1);
  return build.finish_without_conversion();
}

Program repeated_product_program(std::uint32_t count) {
  Builder build;
  build.load(Source::operand, 0);
  build.multiply(Source::operand, 1).multiplications = count;
  return build.finish();
}

Program repeated_square_program(std::uint32_t count) {
  Builder build;
  build.load(Source::operand, 0);
  build.square(count);
  return build.finish();
}

}  // namespace manymod::gpu
