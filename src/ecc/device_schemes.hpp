// SPDX-License-Identifier: Apache-2.0
// Schemes that an engine computes as a whole on its device. A GPU then computes hashes and inverses modulo
// the order besides the points, so that only operands and signatures are copied.
#pragma once

#include <cstddef>
#include <cstdint>

#include "abi/items.hpp"
#include "core/limb.hpp"
#include "core/ticker.hpp"
#include "ecc/point_engine.hpp"
#include "manymod/ecc.h"

namespace manymod::ecc {

/// Operands and results of signing: rows of curve.limbs() limbs.
struct EcdsaSigning {
  NumberRows secret;  ///< 0 < d < n
  NumberRows digest;  ///< the leftmost bits of the digest, as many as n has
  /// 0 < k < n; data null: derived by RFC 6979, with the hash that is as long as n, or SHA-512 for P-521
  NumberRows nonce;
  bool low_s = false;
  Limb* r = nullptr;                 ///< curve.limbs() limbs an item
  Limb* s = nullptr;                 ///< the same
  std::uint8_t* recovery = nullptr;  ///< bit 0: y is odd; bit 1: x >= n
  /// 1, or 0 if the nonce cannot be used (with RFC 6979: the first candidate); r and s are then undefined.
  std::uint8_t* done = nullptr;
};

struct EcdsaVerification {
  PointRows keys;  ///< any coordinates below 2^(64 curve.limbs()); none is infinity
  NumberRows digest, r, s;
  bool low_s = false;             ///< reject s > n / 2
  std::uint8_t* valid = nullptr;  ///< 1 for valid signatures, else 0, also for keys that are not on the curve
};

/// What a call on byte strings computes.
enum class RowOperation : std::uint8_t { public_key, exchange, sign, verify, recover, add, sum };

/// A call on rows: the operands and results of each item are byte strings as in the C ABI (manymod/ecc.h),
/// and those of each kind have one length, that of the curve. The operation decides which members are used.
struct RowCall {
  static constexpr std::size_t kMostMessage = 256, kMostPrefix = 512;

  RowOperation operation = RowOperation::public_key;
  ByteRows secret;  ///< private keys; for sums: scalars, of any value
  /// Signing by EdDSA, BIP 340 and SM2: rows of `secret` are those of PreparedKeys, with public keys.
  bool prepared = false;
  /// Public keys; in SEC 1 all are uncompressed, or all are compressed. For recovery: the nonces' points k
  /// G, compressed.
  ByteRows point;
  ByteRows second;  ///< additions: the second points, encoded likewise
  /// ECDSA unless it hashes: the leftmost bytes of digests, no more than a scalar has. Else messages of at
  /// most kMostMessage bytes.
  ByteRows message;
  bool hashes = false;                           ///< ECDSA: by DeviceSchemes::message_hash()
  const std::uint32_t* message_sizes = nullptr;  ///< bytes of each message; null: message.size
  ByteRows signature;                            ///< r and s, or R and S
  ByteRows nonce;                                ///< unless they are derived
  bool derives_nonces = true;                    ///< by RFC 6979, as EcdsaSigning::nonce; always for EdDSA
  /// ECDSA and SM2: 32 random bytes for hedged nonces, or none. BIP 340: the 32 auxiliary ones.
  ByteRows extra;
  mm_ecc_scheme scheme = MM_ECC_DEFAULT;  ///< the scheme of signatures
  bool prehashed = false;                 ///< SM2: messages are digests of 32 bytes
  /// SM2 unless prehashed: what is hashed before the public key, one string for all items.
  ByteRows prefix;
  bool cofactored = false;  ///< EdDSA is verified by ZIP 215, else by RFC 8032
  bool low_s = false;
  bool check = false;                                      ///< verify signatures before they are returned
  bool recoverable = false;                                ///< append a recovery id to r and s
  mm_ecc_point_format point_format = MM_ECC_UNCOMPRESSED;  ///< of resulting points
  std::uint8_t* result = nullptr;                          ///< result_size bytes of item i at i result_stride
  std::size_t result_stride = 0, result_size = 0;
  std::uint8_t* ok = nullptr;  ///< verdicts of verifications
  /// The only result of a sum: scalar times point, added up over the items that were done.
  PointResults sum;
  /// On input: 1 for the items to compute, else 0. On output: 1 for items computed from valid operands; all
  /// others must be computed elsewhere, and their results are zero or unwritten.
  std::uint8_t* done = nullptr;

  [[nodiscard]] bool is_secret() const {
    return operation == RowOperation::public_key || operation == RowOperation::exchange ||
           operation == RowOperation::sign;
  }
};

/// Items are disjoint between threads, as for PointEngine. Signing is constant-time.
class DeviceSchemes {
 public:
  DeviceSchemes() = default;
  DeviceSchemes(const DeviceSchemes&) = delete;
  DeviceSchemes& operator=(const DeviceSchemes&) = delete;

  /// Whether it computes such calls, whatever the items are.
  [[nodiscard]] virtual bool offers(const RowCall& call) const = 0;
  /// The hash by which it computes digests of messages for ECDSA; MM_HASH_NONE if it computes none.
  [[nodiscard]] virtual mm_hash message_hash() const = 0;
  /// Computes the items of a call that it offers. Items that are not done: see RowCall::done. Constant-time
  /// but for verification, recovery, additions and sums.
  virtual void run(const RowCall& call, ItemRange items, const StopToken& stop) const = 0;

  // The following are for Weierstrass curves.

  /// Whether it derives nonces for this curve.
  [[nodiscard]] virtual bool has_deterministic_nonces() const = 0;
  /// @return false if the device failed: items are then undefined, and to be computed elsewhere
  [[nodiscard]] virtual bool sign(const EcdsaSigning& batch, ItemRange items,
                                  const StopToken& stop) const = 0;
  [[nodiscard]] virtual bool verify(const EcdsaVerification& batch, ItemRange items,
                                    const StopToken& stop) const = 0;

 protected:
  ~DeviceSchemes() = default;
};

}  // namespace manymod::ecc
