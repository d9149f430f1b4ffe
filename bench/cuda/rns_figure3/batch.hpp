// SPDX-License-Identifier: Apache-2.0
// Ciphertexts c_i, each with an odd modulus of its own, and one exponent d for all: c_i^d mod N_i.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/buffer.hpp"
#include "gpu/cuda/stream.hpp"
#include "gpu/program/program.hpp"

namespace manymod::bench {

using Limbs = std::vector<std::uint64_t>;

class Batch {
 public:
  /// The exponent has `bits` bits, half of them set, the top one among them.
  Batch(const cuda::Stream& stream, unsigned bits, std::size_t count);

  [[nodiscard]] unsigned bits() const { return bits_; }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::uint32_t words() const { return bits_ / 32; }
  [[nodiscard]] const Limbs& exponent() const { return exponent_; }

  [[nodiscard]] gpu::DeviceOperand moduli() const { return rows(moduli_on_device_); }
  [[nodiscard]] gpu::DeviceOperand bases() const { return rows(bases_on_device_); }

  /// Powers of the first `items` items by the library on the processor.
  [[nodiscard]] Limbs powers_on_cpu(std::size_t items, unsigned threads = 0) const;
  /// Seconds that it takes with so many threads.
  [[nodiscard]] double seconds_on_cpu(std::size_t items, unsigned threads) const;

 private:
  unsigned bits_;
  std::size_t count_;
  Limbs moduli_, bases_, exponent_;
  gpu::DeviceBuffer moduli_on_device_, bases_on_device_;

  [[nodiscard]] std::size_t limbs() const { return bits_ / 64; }
  [[nodiscard]] gpu::DeviceOperand rows(const gpu::DeviceBuffer& buffer) const {
    return {buffer.as<std::uint32_t>(), words(), words()};
  }
};

}  // namespace manymod::bench
