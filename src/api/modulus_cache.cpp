// SPDX-License-Identifier: Apache-2.0
#include "api/modulus_cache.hpp"

#include <thread>

#include "repr/copied.hpp"

namespace manymod {
namespace {

// Try to lock for a short time: holders keep the mutex for less than a microsecond. If it stays locked, it is
// the copy in a forked child of a mutex that another thread of the parent held.
std::unique_lock<std::mutex> lock_without_waiting(std::mutex& mutex) {
  constexpr int kAttempts = 50;
  std::unique_lock lock(mutex, std::try_to_lock);
  for (int attempt = 1; attempt < kAttempts && !lock.owns_lock(); ++attempt) {
    std::this_thread::yield();
    static_cast<void>(lock.try_lock());
  }
  return lock;
}

}  // namespace

CachedModulus::CachedModulus(const EngineSet& engines, std::span<const Limb> modulus,
                             std::size_t modulus_bits, Operation op, TimingClass timing)
    : value_(limbs::normalized_var(modulus)),
      class_(classify_modulus(value(), modulus_bits, timing)),
      prepared_(engines, value(), op, timing) {}

bool CachedModulus::is(std::span<const Limb> modulus) const {
  const std::span<const Limb> own = value();
  if (modulus.size() != own.size()) return false;
  Limb difference = 0;
  for (std::size_t i = 0; i < own.size(); ++i) difference |= modulus[i] ^ own[i];
  return difference == 0;
}

std::shared_ptr<const CachedModulus> ModulusCache::get(const BatchView& modulus, std::size_t modulus_bits,
                                                       Operation op, TimingClass timing) const {
  const std::span<const Limb> padded = modulus.magnitude(0);
  const std::span<const Limb> value = padded.first(limbs::normalized_size_var(padded));
  {
    const auto lock = lock_without_waiting(mutex_);
    if (lock.owns_lock() && last_ && last_->is(value)) return last_;
  }
  // The new entry is prepared, and the old one destroyed, outside the lock, so that other calls on this plan
  // do not wait.
  auto fresh = std::make_shared<const CachedModulus>(engines_, value, modulus_bits, op, timing);
  std::shared_ptr<const CachedModulus> kept = fresh;
  {
    const auto lock = lock_without_waiting(mutex_);
    if (lock.owns_lock()) last_.swap(kept);
  }
  return fresh;
}

}  // namespace manymod
