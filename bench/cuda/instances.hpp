// SPDX-License-Identifier: Apache-2.0
// Operands of one width, with odd moduli, and the CPU library's word on the answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "gpu/buffer.hpp"
#include "gpu/cuda/stream.hpp"
#include "gpu/program/program.hpp"
#include "manymod/manymod.h"

namespace manymod::bench {

/// The least significant first.
using Words = std::vector<std::uint32_t>;

enum class Moduli : std::uint8_t { each, shared };

/// Random numbers of `bits` bits for `count` instances, here and on the device. A row is an even number of
/// words.
class Instances {
 public:
  /// A row for each instance, or one for all.
  struct Operand {
    Words words;
    gpu::DeviceBuffer on_device;
  };

  Instances(const cuda::Stream& stream, unsigned bits, std::size_t count, Moduli moduli);

  [[nodiscard]] unsigned bits() const { return bits_; }
  [[nodiscard]] std::uint32_t width() const { return width_; }  ///< words of a row
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] bool one_modulus() const { return moduli_ == Moduli::shared; }
  [[nodiscard]] std::size_t modulus_count() const { return one_modulus() ? 1 : count_; }
  [[nodiscard]] const Operand& modulus() const { return modulus_; }    ///< odd, top bit set
  [[nodiscard]] const Operand& base() const { return base_; }          ///< below 2^bits
  [[nodiscard]] const Operand& factor() const { return factor_; }      ///< below 2^(bits - 1)
  [[nodiscard]] const Operand& exponent() const { return exponent_; }  ///< top bit set

  [[nodiscard]] gpu::DeviceOperand on_device(const Operand& operand) const {
    return {operand.on_device.as<std::uint32_t>(), width_, is_shared(operand) ? 0 : width_};
  }
  [[nodiscard]] std::span<const std::uint32_t> row(const Operand& operand, std::size_t item) const {
    return std::span(operand.words).subspan(is_shared(operand) ? 0 : item * width_, width_);
  }

 private:
  unsigned bits_;
  std::uint32_t width_;
  std::size_t count_;
  Moduli moduli_;
  Operand modulus_, base_, factor_, exponent_;

  [[nodiscard]] bool is_shared(const Operand& operand) const {
    return one_modulus() && &operand == &modulus_;
  }
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
  Verdict powers(Words results);
  /// base (factor / R)^steps / R, an odd number of steps, by the words of R^2.
  [[nodiscard]] Verdict products(std::span<const std::uint32_t> results, const Words& radix_squared,
                                 std::uint32_t steps) const;
  /// (base / R)^(2^steps), at least one step.
  [[nodiscard]] Verdict squares(std::span<const std::uint32_t> results, const Words& radix_squared,
                                std::uint32_t steps) const;
  /// factor + steps (the next instance's factor), or the difference
  [[nodiscard]] Verdict sums(std::span<const std::uint32_t> results, std::uint32_t steps,
                             bool subtract) const;

 private:
  const Instances& instances_;
  std::size_t sampled_;
  std::map<std::size_t, Words> powers_;  ///< by the CPU library
  Words others_;                         ///< all powers of a kernel whose sample was right

  [[nodiscard]] std::vector<std::size_t> sample(std::size_t count) const;
  void compute_powers(const std::vector<std::size_t>& items);
  bool is_power(std::span<const std::uint32_t> results, std::size_t item);
  void compare_with_others(std::span<const std::uint32_t> results, Verdict& verdict);
};

/// Nanoseconds of one multiplication, or addition, modulo numbers of that width on one thread of the
/// processor, in a batch.
double cpu_nanoseconds(const Instances& instances, std::size_t count, mm_op op);

}  // namespace manymod::bench
