// SPDX-License-Identifier: Apache-2.0
// Properties of a job's integers, in host memory or on a device.
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

/// Properties that the device has computed of operands in its memory.
struct DeviceFacts {
  std::optional<ModulusFact> all_moduli;     ///< if moduli are on_device and have equal properties
  std::vector<ModulusFact> moduli;           ///< of each modulus, if they are on_device and differ
  LengthRange exponents;                     ///< if exponents are on_device, in variable-time calls
  std::vector<std::uint32_t> exponent_bits;  ///< length of each exponent; empty if the lengths are similar
                                             ///< and only the longest matters

  [[nodiscard]] const ModulusFact& modulus(std::size_t item) const {
    return all_moduli ? *all_moduli : moduli[item];
  }
  [[nodiscard]] std::uint32_t exponent_length(std::size_t index) const {
    return exponent_bits.empty() ? exponents.longest : exponent_bits[index];
  }
};

/// Whether any array of the job is on_device.
inline bool uses_device_memory(const Job& job) {
  return job.x.on_device || job.y.on_device || job.z.on_device || job.modulus.on_device ||
         job.result.on_device;
}

/// Classification of the modulus of `item` in a plan for moduli of up to `modulus_bits` bits.
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

/// Bit length of exponent `index`, saturated at 2^32 - 1; for exponents on_device whose individual lengths
/// are not known, that of the longest. Variable-time; only for variable-time calls.
inline std::uint32_t exponent_bits(const Job& job, std::size_t index) {
  if (job.y.on_device) return job.facts->exponent_length(index);
  const std::size_t bits = limbs::bit_length_var(job.y.magnitude(index));
  return static_cast<std::uint32_t>(std::min<std::size_t>(bits, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace manymod
