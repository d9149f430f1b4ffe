// SPDX-License-Identifier: Apache-2.0
#include "rsa/ring.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>
#include <vector>

#include "abi/enum_value.hpp"
#include "abi/options.hpp"
#include "rsa/call.hpp"

namespace manymod::rsa {
namespace {

bool checked_blinding(const mm_rsa_blinding& blinding) {
  const long long value = enum_value(blinding);
  if (value == MM_RSA_BLINDING_ON || value == MM_RSA_BLINDING_OFF) return value == MM_RSA_BLINDING_ON;
  throw StatusError(MM_ERR_ARGUMENT,
                    "blinding is " + std::to_string(value) + ", which is not an mm_rsa_blinding");
}

const PowerEngines& engines_for(EnginesByLimbs& engines, const mm_rsa_ring_options& options,
                                TimingClass timing, std::size_t limbs) {
  std::unique_ptr<const PowerEngines>& found = engines[limbs];
  if (!found) found = std::make_unique<const PowerEngines>(options, timing, limbs);
  return *found;
}

// Limbs of n, p and q, the number of primes, and the public exponent.
using Kind = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t, std::vector<Limb>>;

Kind kind_of_key(const Key& key) {
  const std::span<const Limb> e = key.e();
  const bool whole = key.is_private();
  return {key.limbs(),
          whole ? key.p().size() : 0,
          whole ? key.q().size() : 0,
          key.primes(),
          {e.begin(), e.end()}};
}

// Indices of keys. The first element of a kind is the length of the modulus.
using KeysByKind = std::map<Kind, std::vector<std::size_t>>;

std::vector<std::size_t> places_of(const KeysByKind& kinds) {
  std::size_t keys = 0;
  for (const auto& [kind, alike] : kinds) keys += alike.size();
  std::vector<std::size_t> places(keys);
  std::size_t next = 0;
  for (const auto& [kind, alike] : kinds) {
    for (const std::size_t key : alike) places[key] = next++;
  }
  return places;
}

}  // namespace

Ring::Ring(const mm_rsa_ring_options& options, std::span<const std::shared_ptr<const Key>> keys)
    : threads_(checked_threads(options.threads)), blinding_(checked_blinding(options.blinding)) {
  if (keys.empty()) throw StatusError(MM_ERR_ARGUMENT, "a ring needs at least one key");
  KeysByKind kinds;
  for (const auto& key : keys) {
    std::vector<std::size_t>& alike = kinds[kind_of_key(*key)];
    kinds_.push_back(alike.empty() ? kinds.size() - 1 : kinds_[alike.front()]);
    alike.push_back(keys_.size());
    RingKeyEngines engines{engines_for(open_engines_, options, TimingClass::public_, key->limbs()),
                           engines_for(secret_engines_, options, TimingClass::secret, key->limbs())};
    for (std::size_t i = 0; i < key->primes(); ++i) {
      engines.primes.push_back(
          &engines_for(secret_engines_, options, TimingClass::secret, key->prime(i).size()));
    }
    keys_.push_back(std::make_unique<const RingKey>(key, engines));
  }
  places_ = places_of(kinds);
}

std::size_t Ring::max_modulus_bytes() const {
  std::size_t longest = 0;
  for (const auto& key : keys_) longest = std::max(longest, key->key().bytes());
  return longest;
}

mm_rsa_ring_info Ring::info() const {
  mm_rsa_ring_info info{};
  info.keys = size();
  info.max_modulus_bytes = max_modulus_bytes();
  info.private_items = private_items_.load(std::memory_order_relaxed);
  info.recomputed = recomputed_.load(std::memory_order_relaxed);
  return info;
}

const std::string& Ring::variant_name(std::size_t key, bool private_operation, std::size_t items) const {
  static const std::string none;
  if (key >= size() || (private_operation && !keys_[key]->key().is_private())) return none;
  const RingKey& chosen = *keys_[key];
  return private_operation ? private_variant(chosen, items, threads_)
                           : chosen.open().engines.variant_name(items);
}

std::size_t Ring::gpu_wave(TimingClass timing, std::size_t powers) const {
  std::size_t most = 0;
  for (const auto& [limbs, of_length] : engines(timing)) {
    most = std::max(most, of_length->gpu_wave(powers));
  }
  return most;
}

std::optional<PowerGpu> Ring::gpu_for(TimingClass timing, std::size_t powers) const {
  for (const auto& [limbs, of_length] : engines(timing)) {
    if (const std::optional<PowerGpu> gpu = of_length->gpu_for(powers)) return gpu;
  }
  return std::nullopt;
}

unsigned Ring::gpus() const {
  unsigned most = 0;
  for (const auto* all : {&open_engines_, &secret_engines_}) {
    for (const auto& [limbs, engines] : *all) most = std::max(most, engines->gpus());
  }
  return most;
}

bool Ring::raise_private(Rows& rows, std::span<RowOutcome> outcomes, unsigned threads,
                         const ProgressPart& progress) const {
  PrivateSettings settings;
  settings.blinding = blinding_;
  settings.threads = threads;
  settings.fault_hook = fault_hook_ ? &fault_hook_ : nullptr;
  settings.devices = &devices_;
  return raise_to_private(rows, outcomes, settings, progress);
}

void Ring::count_private(std::uint64_t computed, std::uint64_t wrong) const {
  private_items_.fetch_add(computed, std::memory_order_relaxed);
  recomputed_.fetch_add(wrong, std::memory_order_relaxed);
}

mm_status Ring::run(const mm_rsa_call& call) const { return call.count == 0 ? MM_OK : run_call(*this, call); }

}  // namespace manymod::rsa
