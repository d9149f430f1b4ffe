// SPDX-License-Identifier: Apache-2.0
// A key ring: keys prepared for the devices of its options, and calls on them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "manymod/rsa.h"
#include "rsa/private_operation.hpp"
#include "rsa/ring_devices.hpp"
#include "rsa/ring_key.hpp"

namespace manymod::rsa {

/// Engines of one timing class, by the number of limbs of the moduli.
using EnginesByLimbs = std::map<std::size_t, std::unique_ptr<const PowerEngines>>;

class Ring {
 public:
  /// @throws StatusError for options that are wrong or that no variant can serve
  Ring(const mm_rsa_ring_options& options, std::span<const std::shared_ptr<const Key>> keys);
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  /// @throws StatusError for a malformed call, or one that libcrypto or a device fails
  mm_status run(const mm_rsa_call& call) const;

  [[nodiscard]] std::size_t size() const { return keys_.size(); }
  [[nodiscard]] const RingKey& key(std::size_t index) const { return *keys_[index]; }
  /// A number shared by all keys whose rows a GPU can compute together: their moduli have the same number of
  /// limbs, their primes have the same numbers of limbs, and their public exponents are equal.
  [[nodiscard]] std::size_t kind_of(std::size_t index) const { return kinds_[index]; }
  /// Position of a key where keys are sorted by the length of their moduli, then by their kind.
  [[nodiscard]] std::size_t place_of(std::size_t index) const { return places_[index]; }
  [[nodiscard]] std::size_t max_modulus_bytes() const;
  [[nodiscard]] unsigned threads() const { return threads_; }
  [[nodiscard]] const RingDevices& devices() const { return devices_; }
  [[nodiscard]] mm_rsa_ring_info info() const;
  /// See mm_rsa_ring_variant.
  [[nodiscard]] const std::string& variant_name(std::size_t key, bool private_operation,
                                                std::size_t items) const;

  /// raise_to_private for this ring's keys.
  bool raise_private(Rows& rows, std::span<RowOutcome> outcomes, unsigned threads,
                     const ProgressPart& progress) const;
  /// Add to the counts of info(): items computed, and how many of them failed the first check.
  void count_private(std::uint64_t computed, std::uint64_t wrong) const;

  /// The GPUs that compute powers, if there are enough of them: the maximum over all lengths of moduli.
  [[nodiscard]] unsigned gpus() const;
  /// A GPU that computes that many powers of a timing class, for some length of moduli, if there is one.
  [[nodiscard]] std::optional<PowerGpu> gpu_for(TimingClass timing, std::size_t powers) const;
  /// How many powers of a timing class a GPU computes at a time: the maximum over all lengths of moduli; 0 if
  /// the CPU computes that many powers for every length.
  [[nodiscard]] std::size_t gpu_wave(TimingClass timing, std::size_t powers) const;

  /// For tests: corrupts intermediate results of all later calls.
  void set_fault_hook(FaultHook hook) { fault_hook_ = std::move(hook); }

 private:
  unsigned threads_;
  bool blinding_;
  FaultHook fault_hook_;
  EnginesByLimbs open_engines_;    ///< variable-time
  EnginesByLimbs secret_engines_;  ///< constant-time
  std::vector<std::unique_ptr<const RingKey>> keys_;
  std::vector<std::size_t> kinds_, places_;  ///< of each key
  RingDevices devices_;
  mutable std::atomic<std::uint64_t> private_items_{0};
  mutable std::atomic<std::uint64_t> recomputed_{0};

  [[nodiscard]] const EnginesByLimbs& engines(TimingClass timing) const {
    return timing == TimingClass::secret ? secret_engines_ : open_engines_;
  }
};

}  // namespace manymod::rsa
