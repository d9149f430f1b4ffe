// SPDX-License-Identifier: Apache-2.0
#include "ecc/ring.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <string>

#include "abi/last_error.hpp"
#include "core/all_zero.hpp"
#include "core/status_error.hpp"
#include "ecc/call.hpp"
#include "ecc/schemes/block.hpp"
#include "ecc/schemes/choice.hpp"
#include "ecc/schemes/eddsa_parts.hpp"

namespace manymod::ecc {
namespace {

std::size_t checked_count(const mm_ecc_ring_keys& given) {
  if (given.count == 0) throw StatusError(MM_ERR_ARGUMENT, "keys.count is 0: a ring needs a key");
  return given.count;
}

std::size_t longest_row(const Plan& plan) {
  std::size_t most = 0;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    most = std::max(most, PreparedKeys::row_bytes(plan.curve(i).curve()));
  }
  return most;
}

/// Whether a string is a private key of a curve whose keys have no rows. Constant-time, except that lengths
/// and the answer are public.
bool is_private_key(const Curve& curve, ByteSpan secret) {
  if (secret.size() != secret_bytes(curve)) return false;
  if (curve.form == MM_ECC_MONTGOMERY) return true;
  Rows number(1, curve.scalar_limbs());
  limbs_from_bytes(number[0], secret);
  return in_range(number[0], curve.n) != 0;
}

struct KeyPlace {
  std::uint32_t curve;
  ByteSpan secret;
};

/// The public keys of private keys, one row each.
class PublicKeyRows {
 public:
  PublicKeyRows(const Plan& plan, std::span<const KeyPlace> keys) : status_(keys.size()) {
    std::vector<std::uint32_t> curves;
    std::vector<mm_bytes> items;
    for (const KeyPlace& key : keys) {
      curves.push_back(key.curve);
      items.push_back({key.secret.data(), key.secret.size()});
    }
    mm_ecc_call call{};
    call.op = MM_ECC_PUBLIC_KEY;
    call.count = items.size();
    call.curve = curves.data();
    call.secret = {items.size(), nullptr, 0, 0, nullptr, items.data()};
    width_ = std::max<std::size_t>(1, longest_result(plan, call));
    rows_.resize(items.size() * width_);
    call.output = {rows_.data(), items.size(), width_, nullptr};
    call.item_status = status_.data();
    static_cast<void>(run_call(plan, call));
  }

  [[nodiscard]] ByteSpan operator[](std::size_t row) const {
    return ByteSpan(rows_).subspan(row * width_, width_);
  }
  [[nodiscard]] std::uint8_t status(std::size_t row) const { return status_[row]; }

 private:
  std::size_t width_ = 0;
  std::vector<std::uint8_t> rows_, status_;
};

/// Expands keys of EdDSA whose public keys are known.
class Expander {
 public:
  /// The parts live until the next call.
  eddsa::KeyParts expand(const Curve& curve, ByteSpan secret, ByteSpan public_key) {
    if (curve_ != &curve) {
      curve_ = &curve;
      hash_.emplace(eddsa::instance_of(curve));
      order_ = Order::of(curve);
    }
    const std::size_t size = eddsa::instance_of(curve).size;
    eddsa::expand(key_[0], curve, *order_, *hash_, secret);
    std::copy_n(public_key.begin(), size, key_[0].public_key.begin());
    return key_[0].parts(curve.scalar_limbs(), size);
  }

 private:
  SecretArray<eddsa::ExpandedKey> key_{1};
  const Curve* curve_ = nullptr;
  std::optional<eddsa::Hash> hash_;
  std::unique_ptr<const Order> order_;
};

/// Constant-time.
bool is_same(ByteSpan a, ByteSpan b) {
  std::uint8_t difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<std::uint8_t>(a[i] ^ b[i]);
  return difference == 0;
}

bool same_curve(const Curve& a, const Curve& b) {
  return a.id == b.id && a.form == b.form && a.p == b.p && a.a == b.a && a.b == b.b && a.x == b.x &&
         a.y == b.y && a.n == b.n && a.cofactor == b.cofactor;
}

}  // namespace

Ring::Ring(const Plan& plan, const mm_ecc_ring_keys& given)
    : curve_(copied_indices(given.curve, checked_count(given))),
      status_(given.count),
      keys_(ItemsIn(given.secret, given.count, "keys.secret"), given.count, longest_row(plan)) {
  curve_.resize(given.count);
  for (std::size_t i = 0; i < plan.size(); ++i) curves_.push_back(plan.curve(i).shared_curve());
  prepare(plan);
  keys_.seal();
  is_plain_ = all_zero(std::span<const std::uint8_t>(status_)) &&
              std::ranges::all_of(curve_, [](std::uint32_t curve) { return curve == 0; });
}

void Ring::prepare(const Plan& plan) {
  std::vector<std::size_t> keys;
  for (std::size_t key = 0; key < size(); ++key) {
    if (curve_[key] >= plan.size()) {
      status_[key] = static_cast<std::uint8_t>(MM_ITEM_ECC_CURVE);
    } else if (const Curve& curve = *curves_[curve_[key]]; PreparedKeys::row_bytes(curve) != 0) {
      keys.push_back(key);
    } else {
      fail_unless(is_private_key(curve, keys_.secrets()[key]), key, MM_ITEM_ECC_SECRET);
    }
  }
  if (!keys.empty()) add_public_keys(plan, keys);
}

// Public keys are computed twice, as signatures that a private key makes with a wrong public key may reveal
// it. The second time a copy of some key comes before those of each curve, so that lanes of vectors compute
// other keys than the first time: one that is always wrong would give the same wrong keys.
void Ring::add_public_keys(const Plan& plan, std::span<const std::size_t> keys) {
  std::vector<KeyPlace> places, shifted;
  std::deque<SecretBytes> copies;
  std::vector<bool> has_copy(plan.size());
  for (const std::size_t key : keys) {
    const KeyPlace& place = places.emplace_back(curve_[key], keys_.secrets()[key]);
    if (has_copy[place.curve]) continue;
    has_copy[place.curve] = true;
    const ByteSpan secret = place.secret;
    copies.emplace_back(std::vector<std::uint8_t>(secret.begin(), secret.end()));
    shifted.emplace_back(place.curve, copies.back().all());
  }
  shifted.insert(shifted.end(), places.begin(), places.end());
  const PublicKeyRows found(plan, places), again(plan, shifted);
  Expander expander;
  for (std::size_t row = 0; row < keys.size(); ++row) {
    const std::size_t key = keys[row], other = copies.size() + row;
    const Curve& curve = *curves_[curve_[key]];
    const ByteSpan bytes = found[row];
    status_[key] = found.status(row);
    if (status_[key] != MM_OK) continue;
    fail_unless(again.status(other) == MM_OK && is_same(bytes, again[other]), key, MM_ITEM_ECC_FAULT);
    if (curve.form == MM_ECC_EDWARDS) {
      keys_.put(key, expander.expand(curve, keys_.secrets()[key], bytes));
    } else {
      const std::size_t width = curve.coordinate_bytes();
      keys_.put_point(key, bytes.subspan(1, width), bytes.subspan(1 + width, width));
    }
  }
}

// Statuses are public. Not inlined, because the secret-independence tests suppress findings in this function
// by its name.
[[gnu::noinline]] void Ring::fail_unless(bool valid, std::size_t key, mm_status status) {
  if (!valid) status_[key] = static_cast<std::uint8_t>(status);
}

void Ring::require_curves_of(const Plan& plan) const {
  bool same = plan.size() == curves_.size();
  for (std::size_t i = 0; same && i < curves_.size(); ++i) {
    const Curve& curve = plan.curve(i).curve();
    same = &curve == curves_[i].get() || same_curve(curve, *curves_[i]);
  }
  if (!same) throw StatusError(MM_ERR_ARGUMENT, "the ring's keys are on other curves than the plan's");
}

mm_status Ring::report(std::uint8_t* item_status) const {
  if (item_status != nullptr) std::ranges::copy(status_, item_status);
  const auto failed = [](std::uint8_t status) { return status != MM_OK; };
  const auto first = std::ranges::find_if(status_, failed);
  if (first == status_.end()) return MM_OK;
  return fail(MM_ERR_ITEMS, std::to_string(std::ranges::count_if(status_, failed)) + " of " +
                                std::to_string(size()) + " keys cannot be used; the first is key " +
                                std::to_string(first - status_.begin()) + ": " +
                                mm_status_message(static_cast<mm_status>(*first)));
}

}  // namespace manymod::ecc
