// SPDX-License-Identifier: Apache-2.0
// What is known of a job's integers, wherever they are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/length_range.hpp"
#include "core/modulus_class.hpp"
#include "engine/engine.hpp"
#include "repr/limbs.hpp"

namespace manymod {

/// Found by the device for operands in its memory.
struct DeviceFacts {
  std::optional<ModulusFact> all_moduli;     ///< of every modulus, where they are on_device and all alike
  std::vector<ModulusFact> moduli;           ///< of each, where they are on_device and not alike
  LengthRange exponents;                     ///< where they are on_device, in class public
  std::vector<std::uint32_t> exponent_bits;  ///< of each of them; empty where their lengths are alike and
                                             ///< nothing goes by the length of each

  [[nodiscard]] const ModulusFact& modulus(std::size_t item) const {
    return all_moduli ? *all_moduli : moduli[item];
  }
  [[nodiscard]] std::uint32_t exponent_length(std::size_t index) const {
    return exponent_bits.empty() ? exponents.longest : exponent_bits[index];
  }
};

inline bool uses_device_memory(const Job& job) {
  return job.x.on_device || job.y.on_device || job.modulus.on_device || job.result.on_device;
}

inline ModulusFact modulus_fact(const Job& job, std::size_t item, std::size_t modulus_bits) {
  if (job.modulus.on_device) return job.facts->modulus(item);
  const std::span<const Limb> padded = job.modulus.magnitude(item);
  const std::size_t size = limbs::normalized_size_var(padded);
  return modulus_fact(size, padded[0], size == 0 ? 0 : padded[size - 1], modulus_bits,
                      job.timing == TimingClass::secret);
}

inline bool modulus_is_odd(const Job& job, std::size_t item) {
  if (job.modulus.on_device) return job.facts->modulus(item).odd != 0;
  return (job.modulus.magnitude(item)[0] & 1) != 0;
}

/// Bits of exponent `index`, at most 2^32 - 1; on a device those of the longest, where the length of each is
/// not known. Class public.
inline std::uint32_t exponent_bits(const Job& job, std::size_t index) {
  if (job.y.on_device) return job.facts->exponent_length(index);
  const std::size_t bits = limbs::bit_length_var(job.y.magnitude(index));
  return static_cast<std::uint32_t>(std::min<std::size_t>(bits, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace manymod
