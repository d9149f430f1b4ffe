// SPDX-License-Identifier: Apache-2.0
// Operands of one width, an odd modulus to each instance, and the CPU library's word on the answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "cuda/memory.hpp"
#include "cuda/stream.hpp"
#include "manymod/manymod.h"
#include "modmul/device/program.hpp"

namespace manymod::bench {

/// Random numbers of `bits` bits for `count` instances, here and on the device. A row is an even number of
/// words.
class Instances {
 public:
  struct Operand {
    std::vector<std::uint32_t> words;
    cuda::DeviceBuffer on_device;
  };

  Instances(const cuda::Stream& stream, unsigned bits, std::size_t count);

  [[nodiscard]] unsigned bits() const { return bits_; }
  [[nodiscard]] std::uint32_t width() const { return width_; }  ///< words of a row
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] const Operand& modulus() const { return modulus_; }    ///< odd, top bit set
  [[nodiscard]] const Operand& base() const { return base_; }          ///< below 2^bits
  [[nodiscard]] const Operand& factor() const { return factor_; }      ///< below 2^(bits - 1)
  [[nodiscard]] const Operand& exponent() const { return exponent_; }  ///< top bit set

  [[nodiscard]] device::DeviceOperand on_device(const Operand& operand) const {
    return {operand.on_device.as<std::uint32_t>(), width_, width_};
  }
  [[nodiscard]] std::span<const std::uint32_t> row(const Operand& operand, std::size_t item) const {
    return std::span(operand.words).subspan(item * width_, width_);
  }

 private:
  unsigned bits_;
  std::uint32_t width_;
  std::size_t count_;
  Operand modulus_, base_, factor_, exponent_;
};

struct Verdict {
  std::size_t checked = 0;   ///< answers compared with the CPU library's
  std::size_t compared = 0;  ///< answers compared with another kernel's
  std::size_t wrong = 0;
  std::string what;  ///< is wrong, with the first item

  void add_wrong(const std::string& text) {
    if (wrong++ == 0) what = text;
  }
};

/// Judges the answers of the first instances, `results` of as many rows.
class Checker {
 public:
  Checker(const Instances& instances, std::size_t sampled) : instances_(instances), sampled_(sampled) {}

  /// base^exponent: a sample against the CPU library, all against those of an earlier call.
  Verdict powers(std::vector<std::uint32_t> results);
  /// base (factor / R)^steps / R
  [[nodiscard]] Verdict products(std::span<const std::uint32_t> results, std::uint32_t radix_bits,
                                 std::uint32_t steps) const;
  /// (base / R)^(2^steps)
  [[nodiscard]] Verdict squares(std::span<const std::uint32_t> results, std::uint32_t radix_bits,
                                std::uint32_t steps) const;
  /// factor + steps (the next instance's factor), or the difference
  [[nodiscard]] Verdict sums(std::span<const std::uint32_t> results, std::uint32_t steps,
                             bool subtract) const;

 private:
  using Row = std::vector<std::uint32_t>;

  const Instances& instances_;
  std::size_t sampled_;
  std::map<std::size_t, Row> powers_;  ///< by the CPU library
  Row others_;                         ///< all powers of a kernel whose sample was right

  [[nodiscard]] std::vector<std::size_t> sample(std::size_t count) const;
  void compute_powers(const std::vector<std::size_t>& items);
  bool is_power(std::span<const std::uint32_t> results, std::size_t item);
  void compare_with_others(std::span<const std::uint32_t> results, Verdict& verdict);
};

/// Nanoseconds of one multiplication, or addition, modulo numbers of that width on one thread of the
/// processor, in a batch.
double cpu_nanoseconds(const Instances& instances, std::size_t count, mm_op op);

}  // namespace manymod::bench
