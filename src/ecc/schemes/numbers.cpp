// SPDX-License-Identifier: Apache-2.0
#include "ecc/schemes/numbers.hpp"

#include <algorithm>

#include "core/read_once.hpp"
#include "crypto/random.hpp"
#include "ecc/schemes/prepared_keys.hpp"
#include "repr/limbs.hpp"

namespace manymod::ecc {
namespace {

/// x = 1 unless the mask is set.
void one_unless(std::span<Limb> x, Limb valid) {
  for (Limb& limb : x) limb &= valid;
  x[0] |= ~valid & 1;
}

}  // namespace

Scalars::Scalars(const Curve& curve, const ItemsIn& items, const Block& block, mm_status invalid)
    : shared_(items.is_shared()), rows_(items.is_shared() ? 1 : block.size(), curve.scalar_limbs()) {
  const std::size_t rows = shared_ ? 1 : block.size();
  for (std::size_t row = 0; row < rows; ++row) {
    const ByteSpan bytes = items[block.item(row)];
    const std::span<Limb> x = rows_[row];
    if (bytes.size() == curve.scalar_bytes()) limbs_from_bytes(x, bytes);
    const Limb valid = in_range(x, curve.n);
    one_unless(x, valid);
    for (std::size_t i = row; i < (shared_ ? block.size() : row + 1); ++i) {
      block.fail_unless(valid, i, invalid);
    }
  }
}

PointRows OwnKeys::of(const Block& block, const Scalars& secret, Points& own, const StopToken& stop) const {
  if (const PreparedKeys* const prepared = inputs_.prepared) {
    const Curve& curve = engine_.curve();
    for (std::size_t row = 0; row < block.size(); ++row) {
      const std::size_t key = inputs_.key_of(block.item(row));
      limbs_from_bytes(own.x[row], prepared->x(key, curve));
      limbs_from_bytes(own.y[row], prepared->y(key, curve));
    }
    return own.rows(curve);
  }
  const auto multiply = [&](Points& keys, const StopToken& until) {
    engine_.multiply_base(keys.results(engine_.curve()), secret.view(), {0, keys.infinity.size()},
                          TimingClass::secret, until);
  };
  if (!secret.is_shared()) {
    multiply(own, stop);
    return own.rows(engine_.curve());
  }
  std::call_once(once_, [&] { multiply(shared_, {}); });
  return {{shared_.x.view().data, 0}, {shared_.y.view().data, 0}, nullptr};
}

void leftmost_bits(const Curve& curve, std::span<Limb> r, ByteSpan digest) {
  const std::size_t size = std::min(digest.size(), curve.scalar_bytes());
  limbs_from_bytes(r, digest.first(size));
  if (8 * size > curve.order_bits) limbs::shift_right_bits(r, r, 8 * size - curve.order_bits);
}

MessageNumbers::MessageNumbers(const Curve& curve, mm_hash hash, bool prehashed) : curve_(curve) {
  if (!prehashed) hasher_.emplace(hash);
}

void MessageNumbers::read_one(std::span<Limb> e, ByteSpan message) {
  std::array<std::uint8_t, crypto::kMaxDigest> digest;
  if (hasher_) {
    hasher_->digest(digest, {message});
    message = ByteSpan(digest).first(hasher_->size());
  }
  leftmost_bits(curve_, e, message);
  limbs::reduce_once(e, curve_.n);
}

void MessageNumbers::read(Rows& e, const ItemsIn& messages, const Block& block) {
  for (std::size_t row = 0; row < block.size(); ++row) {
    if (row > 0 && messages.is_shared()) {
      std::ranges::copy(e[0], e[row].begin());
    } else {
      read_one(e[row], messages[block.item(row)]);
    }
  }
}

NonceGenerator::NonceGenerator(const Curve& curve, mm_hash hash) : curve_(curve), first_(hash), hmac_(hash) {
  constexpr std::array<std::uint8_t, crypto::kMaxDigest> kZeros{};
  first_.set_key(ByteSpan(kZeros).first(hmac_.size()));
}

NonceGenerator::~NonceGenerator() {
  wipe_bytes(input_.data(), input_.size());
  wipe_bytes(candidate_.data(), candidate_.size());
}

std::size_t NonceGenerator::write_seed(const NonceSeed& seed) {
  const std::size_t size = curve_.scalar_bytes();
  const std::span<std::uint8_t> bytes = std::span(input_).subspan(hmac_.size() + 1);
  bytes_from_limbs(bytes.first(size), seed.secret);
  bytes_from_limbs(bytes.subspan(size, size), seed.message);
  std::ranges::copy(seed.extra, bytes.subspan(2 * size).begin());
  return 2 * size + seed.extra.size();
}

// K = HMAC(K, V || separator || seed); V = HMAC(K, V). `hmac` has the old K, and hmac_ gets the new one.
void NonceGenerator::update(crypto::Hmac& hmac, std::uint8_t separator, std::size_t seed_size) {
  std::array<std::uint8_t, crypto::kMaxDigest> key;
  input_[hmac_.size()] = separator;
  hmac.digest(key, {ByteSpan(input_).first(hmac_.size() + 1 + seed_size)});
  hmac_.set_key(ByteSpan(key).first(hmac_.size()));
  hmac_.digest(value(), {value()});
  wipe_bytes(key.data(), key.size());
}

// A candidate: the leftmost bits of as many V = HMAC(K, V) as it takes.
void NonceGenerator::next(std::span<Limb> k) {
  const std::size_t size = hmac_.size();
  std::size_t filled = 0;
  for (; filled < curve_.scalar_bytes(); filled += size) {
    hmac_.digest(value(), {value()});
    std::ranges::copy(value(), candidate_.begin() + static_cast<std::ptrdiff_t>(filled));
  }
  leftmost_bits(curve_, k, ByteSpan(candidate_).first(filled));
}

// accepted = true for a candidate in range, which is public. Not inlined, because the secret-independence
// tests suppress findings in this function by its name.
[[gnu::noinline]] void NonceGenerator::accept(std::span<const Limb> k, bool& accepted) const {
  if (in_range(k, curve_.n) != 0) accepted = true;
}

void NonceGenerator::generate(std::span<Limb> k, const NonceSeed& seed, unsigned skip) {
  std::ranges::fill(value(), std::uint8_t{1});
  const std::size_t seed_size = write_seed(seed);
  update(first_, 0, seed_size);
  update(hmac_, 1, seed_size);
  for (;;) {
    next(k);
    bool accepted = false;
    accept(k, accepted);
    if (accepted && skip-- == 0) return;
    update(hmac_, 0, 0);
  }
}

Nonces::Nonces(const Curve& curve, const Inputs& inputs, mm_hash hash) : curve_(curve), inputs_(inputs) {
  if (has_more()) generator_.emplace(curve, hash);
}

void Nonces::generate(Rows& k, const Scalars& secret, const Rows& message, const Block& block,
                      unsigned attempt) {
  if (!generator_) {
    const Scalars given(curve_, *inputs_.nonce, block, MM_ITEM_ECC_SECRET);
    for (std::size_t row = 0; row < block.size(); ++row) std::ranges::copy(given[row], k[row].begin());
    return;
  }
  constexpr std::size_t kExtra = NonceGenerator::kMaxExtra;
  const bool hedged = inputs_.nonces == MM_ECC_NONCE_HEDGED;
  SecretBytes random(hedged ? kExtra * block.size() : 0);
  crypto::private_random_bytes(random.first(random.size()));
  for (std::size_t row = 0; row < block.size(); ++row) {
    const ByteSpan extra = hedged ? random.all().subspan(row * kExtra, kExtra) : ByteSpan();
    generator_->generate(k[row], {secret[row], message[row], extra}, attempt);
  }
}

}  // namespace manymod::ecc
