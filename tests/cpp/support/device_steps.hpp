// SPDX-License-Identifier: Apache-2.0
// Builders for programs (gpu/program/program.hpp) and their operands in tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "gpu/program/program.hpp"
#include "support/device_values.hpp"

namespace manymod::test {

/// The numbers of a batch, one after the other, with the same number of words each.
class DeviceNumbers {
 public:
  explicit DeviceNumbers(std::vector<Words> numbers) : numbers_(std::move(numbers)) {
    for (const Words& number : numbers_) words_.insert(words_.end(), number.begin(), number.end());
  }
  /// Number i of the batch; the first if there is one for all items.
  [[nodiscard]] const Words& operator[](std::size_t i) const {
    return numbers_[numbers_.size() == 1 ? 0 : i];
  }
  [[nodiscard]] gpu::DeviceOperand operand() const {
    const auto width = static_cast<std::uint32_t>(numbers_.front().size());
    return {words_.data(), width, numbers_.size() == 1 ? 0 : width};
  }

 private:
  std::vector<Words> numbers_;
  Words words_;
};

namespace program {

using gpu::Digit;
using gpu::Source;
using gpu::Step;

// Steps: load or multiply by an element; a step can also store its result, start with squarings, or select
// its element by a digit of an exponent.
inline Step load(Source source, std::uint32_t index = 0) {
  Step step;
  step.source = source;
  step.load = true;
  step.index = index;
  return step;
}
inline Step multiply(Source source, std::uint32_t index = 0) {
  Step step;
  step.source = source;
  step.index = index;
  step.multiplications = 1;
  return step;
}
inline Step stored(Step step, std::uint32_t slot) {
  step.store = true;
  step.slot = slot;
  return step;
}
inline Step after_squarings(Step step, std::uint32_t squarings) {
  step.squarings = squarings;
  return step;
}
inline Step by_digit(Step step, Digit digit) {
  step.digit = digit;
  return step;
}

}  // namespace program

}  // namespace manymod::test
