// SPDX-License-Identifier: Apache-2.0
// A key of a ring: the engines for its sizes, and the data precomputed for its moduli.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lanes/moduli.hpp"
#include "rsa/arithmetic.hpp"
#include "rsa/blinding.hpp"
#include "rsa/device_key.hpp"
#include "rsa/key.hpp"
#include "rsa/power.hpp"

namespace manymod::rsa {

/// The ring's engines for the lengths of one key's moduli: variable-time (`open`) and constant-time
/// (`secret`) modulo n, constant-time modulo each prime of private keys.
struct RingKeyEngines {
  const PowerEngines& open;
  const PowerEngines& secret;
  std::vector<const PowerEngines*> primes = {};
};

/// One modulus, prepared for the engines that compute powers modulo it.
struct PreparedPower {
  PreparedPower(const PowerEngines& power_engines, std::span<const Limb> modulus)
      : engines(power_engines), moduli(engines.set(), modulus, Operation::powmod, engines.timing()) {}

  const PowerEngines& engines;
  PreparedModuli moduli;

  /// The modulus prepared for a GPU of `engines`.
  [[nodiscard]] const PreparedModulus* on(const PowerGpu& gpu) const {
    return moduli.get(gpu.choice, gpu.place);
  }
};

/// Data that private operations with a key need.
struct PrivateParts {
  PrivateParts(const Key& key, const RingKeyEngines& engines) {
    for (std::size_t i = 0; i < key.primes(); ++i) primes.emplace_back(*engines.primes[i], key.prime(i));
  }

  std::deque<PreparedPower> primes;
  PublishedOnce<PrivateArithmetic> arithmetic;
  PublishedOnce<DeviceKey> on_device;
  mutable BlindingStock blinding;
  mutable BlindingStock lane_blinding;
};

/// Neither copied nor moved: engines refer to its numbers.
class RingKey {
 public:
  RingKey(std::shared_ptr<const Key> key, const RingKeyEngines& engines)
      : key_(std::move(key)), open_(engines.open, key_->n()), secret_(engines.secret, key_->n()) {
    if (key_->is_private()) private_.emplace(*key_, engines);
  }

  [[nodiscard]] const Key& key() const { return *key_; }
  /// For variable-time powers modulo n.
  [[nodiscard]] const PreparedPower& open() const { return open_; }
  /// For constant-time powers modulo n.
  [[nodiscard]] const PreparedPower& secret() const { return secret_; }

  /// See public_scale. Every call has the same radix.
  [[nodiscard]] std::span<const Limb> scale_on_device(std::size_t radix_n) const {
    const limbs::Buffer& scale = *scale_on_device_.get(
        [&] { return std::make_unique<const limbs::Buffer>(public_scale(*key_, radix_n)); });
    return scale.first(scale.size());
  }

  /// For private keys only.
  [[nodiscard]] const PreparedPower& p() const { return prime(0); }
  [[nodiscard]] const PreparedPower& q() const { return prime(1); }
  /// For powers modulo Key::prime(i).
  [[nodiscard]] const PreparedPower& prime(std::size_t i) const { return private_->primes[i]; }
  [[nodiscard]] const PrivateArithmetic& arithmetic() const {
    return *private_->arithmetic.get([this] { return std::make_unique<const PrivateArithmetic>(*key_); });
  }
  /// Constants for multiplications modulo n and modulo p on GPUs. Every call has the same radices.
  [[nodiscard]] const DeviceKey& on_device(std::size_t radix_n, std::size_t radix_p) const {
    return *private_->on_device.get(
        [&] { return std::make_unique<const DeviceKey>(arithmetic(), key_->qinv(), radix_n, radix_p); });
  }
  [[nodiscard]] BlindingStock& blinding() const { return private_->blinding; }
  /// The stock of pairs for the lanes of secret_lanes().
  [[nodiscard]] BlindingStock& lane_blinding() const { return private_->lane_blinding; }

  /// n in the lanes of the CPU engine that computes constant-time powers of many rows; null if that engine
  /// has no lanes, or more lanes than `rows`.
  [[nodiscard]] const lanes::Moduli* secret_lanes(std::size_t rows) const {
    constexpr std::size_t kForManyRows = 0;
    const EngineChoice& choice = secret_.engines.set()[kForManyRows];
    if (choice.gpus() > 0 || choice.lanes == 1 || choice.lanes > rows) return nullptr;
    return secret_.moduli.get(kForManyRows, 0)->in_lanes();
  }

 private:
  std::shared_ptr<const Key> key_;
  PreparedPower open_;
  PreparedPower secret_;
  PublishedOnce<limbs::Buffer> scale_on_device_;
  std::optional<PrivateParts> private_;
};

}  // namespace manymod::rsa
