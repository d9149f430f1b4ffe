// SPDX-License-Identifier: Apache-2.0
// The numbers that signature schemes read from a call: private keys, nonces, and messages as numbers.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>

#include "crypto/hash.hpp"
#include "ecc/order.hpp"
#include "ecc/schemes/block.hpp"

namespace manymod::ecc {

/// Estimated nanoseconds of a digest.
inline constexpr double kDigestNs = 300;

/// Numbers of a block's items: a row each, or one row for all items.
class Scalars {
 public:
  /// A row for each item, to be filled in by rows().
  Scalars(const Curve& curve, std::size_t count) : rows_(count, curve.scalar_limbs()) {}
  /// Read numbers 0 < x < n of scalar_bytes bytes, big-endian. An item with any other string gets the status
  /// `invalid` and the number 1. Constant-time, except that lengths and statuses are public.
  Scalars(const Curve& curve, const ItemsIn& items, const Block& block, mm_status invalid);

  [[nodiscard]] bool is_shared() const { return shared_; }
  [[nodiscard]] Rows& rows() { return rows_; }
  [[nodiscard]] std::span<const Limb> operator[](std::size_t row) const { return rows_[shared_ ? 0 : row]; }
  [[nodiscard]] NumberRows view() const { return {rows_.view().data, shared_ ? 0 : rows_.limbs()}; }

 private:
  bool shared_ = false;
  Rows rows_;
};

/// The public keys d G of a call's private keys d. Constant-time.
class OwnKeys {
 public:
  OwnKeys(const PointEngine& engine, const Inputs& inputs)
      : engine_(engine), inputs_(inputs), shared_(1, engine.curve().limbs()) {}

  /// The public keys of a block's items. If all items share one private key, its public key is computed once
  /// for the call; else `own`, with a point for each item, receives the keys. Those of keys that were
  /// prepared are known. Undefined once `stop` was requested. Thread-safe.
  [[nodiscard]] PointRows of(const Block& block, const Scalars& secret, Points& own,
                             const StopToken& stop) const;

 private:
  const PointEngine& engine_;
  const Inputs& inputs_;
  mutable std::once_flag once_;
  mutable Points shared_;
};

/// r = the leftmost order_bits bits of a digest (bits2int of RFC 6979). On input: scalar_limbs limbs. On
/// output: r < 2^order_bits, which may be n or more.
void leftmost_bits(const Curve& curve, std::span<Limb> r, ByteSpan digest);

/// Messages as numbers modulo n. For use by one thread at a time.
class MessageNumbers {
 public:
  /// `hash`: of the messages; prehashed: they are digests of any length.
  MessageNumbers(const Curve& curve, mm_hash hash, bool prehashed);

  /// e of each item of a block.
  void read(Rows& e, const ItemsIn& messages, const Block& block);

 private:
  const Curve& curve_;
  std::optional<crypto::Hasher> hasher_;

  void read_one(std::span<Limb> e, ByteSpan message);
};

/// What RFC 6979 derives nonces from.
struct NonceSeed {
  std::span<const Limb> secret;
  std::span<const Limb> message;  ///< modulo n
  ByteSpan extra;                 ///< of section 3.6; empty: none
};

/// Deterministic nonces (RFC 6979, section 3.2). For use by one thread at a time. Constant-time but for the
/// number of candidates that are rejected, which says nothing about the others.
class NonceGenerator {
 public:
  static constexpr std::size_t kMaxExtra = 32;

  NonceGenerator(const Curve& curve, mm_hash hash);
  NonceGenerator(const NonceGenerator&) = delete;
  NonceGenerator& operator=(const NonceGenerator&) = delete;
  ~NonceGenerator();

  /// k = the candidate with index `skip` among those with 0 < k < n.
  void generate(std::span<Limb> k, const NonceSeed& seed, unsigned skip);

 private:
  static constexpr std::size_t kMaxScalar = MM_ECC_MAX_BITS / 8 + 1;

  const Curve& curve_;
  crypto::Hmac first_;  ///< under the key that all nonces begin with
  crypto::Hmac hmac_;
  /// V || separator || seed, as K is computed from them: in a row, because hashing three parts takes longer.
  std::array<std::uint8_t, crypto::kMaxDigest + 1 + 2 * kMaxScalar + kMaxExtra> input_{};
  std::array<std::uint8_t, kMaxScalar + crypto::kMaxDigest> candidate_{};

  [[nodiscard]] std::span<std::uint8_t> value() { return std::span(input_).first(hmac_.size()); }
  [[nodiscard]] std::size_t write_seed(const NonceSeed& seed);
  void update(crypto::Hmac& hmac, std::uint8_t separator, std::size_t seed_size);
  void next(std::span<Limb> k);
  void accept(std::span<const Limb> k, bool& accepted) const;
};

/// The nonces of a call's items.
class Nonces {
 public:
  Nonces(const Curve& curve, const Inputs& inputs, mm_hash hash);

  /// k of each item of a block; `attempt`: how many nonces of each item were of no use.
  void generate(Rows& k, const Scalars& secret, const Rows& message, const Block& block, unsigned attempt);
  /// Whether an item can have another nonce.
  [[nodiscard]] bool has_more() const { return inputs_.nonces != MM_ECC_NONCE_GIVEN; }

 private:
  const Curve& curve_;
  const Inputs& inputs_;
  std::optional<NonceGenerator> generator_;
};

}  // namespace manymod::ecc
