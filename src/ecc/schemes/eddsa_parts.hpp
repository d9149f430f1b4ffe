// SPDX-License-Identifier: Apache-2.0
// What signing and verification of EdDSA share: parameters, hashes, and arithmetic modulo the order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "crypto/hash.hpp"
#include "ecc/order.hpp"
#include "ecc/schemes/eddsa_key.hpp"
#include "ecc/schemes/edwards_encoding.hpp"
#include "ecc/schemes/scheme.hpp"

namespace manymod::ecc::eddsa {

/// The parameters of RFC 8032, sections 5.1 and 5.2.
struct Instance {
  std::size_t size;          ///< bytes of a private key, of a point and of S
  mm_hash hash;              ///< SHA-512 or SHAKE256
  std::size_t digest_bytes;  ///< 2 size
  std::string_view domain;   ///< dom2 or dom4 up to its flag
  bool always_domain;        ///< else an empty context without prehashing has no dom
  unsigned cofactor;
  std::string_view order_eight;  ///< y of a point of order 8, big-endian hexadecimal; empty: there is none
};
/// On input: Ed25519 or Ed448.
const Instance& instance_of(const Curve& curve);

inline constexpr std::size_t kMaxDigest = 2 * kMaxSize;
inline constexpr std::size_t kPrehashBytes = 64;
inline constexpr std::size_t kMaxContext = 255;

using Digest = std::array<std::uint8_t, kMaxDigest>;

/// r = the little-endian number in `bytes` mod n. On input: bytes.size() <= kMaxDigest. Constant-time.
void reduce(const Order& order, Limb* r, ByteSpan bytes);
/// r = a b + c mod n. On input: a, b, c < n. Aliasing: r may be an operand. Constant-time.
void multiply_add(const Order& order, Limb* r, const Limb* a, const Limb* b, const Limb* c);

/// The hashes of one thread.
class Hash {
 public:
  explicit Hash(const Instance& instance) : instance_(instance), hasher_(instance.hash) {}

  /// The first digest_bytes bytes of `digest` are the hash of the parts.
  ByteSpan digest(Digest& digest, std::initializer_list<ByteSpan> parts);

 private:
  const Instance& instance_;
  crypto::Hasher hasher_;
};

/// key = the scalar and the prefix of `secret`; the public key stays as it is. On input: secret.size() is
/// that of the curve's keys. Timing: constant-time.
void expand(ExpandedKey& key, const Curve& curve, const Order& order, Hash& hash, ByteSpan secret);

/// A context and a message or digest that a hash takes, with the status of lengths that are not allowed.
struct Text {
  ByteSpan context, message;
  mm_status status = MM_OK;
};
Text text_of(const Inputs& inputs, std::size_t item);

/// What every hash of an item begins with: dom, or nothing.
class Domain {
 public:
  Domain(const Instance& instance, bool prehashed, ByteSpan context);
  [[nodiscard]] ByteSpan bytes() const { return ByteSpan(bytes_).first(size_); }

 private:
  static constexpr std::size_t kMaxPrefix = 32;
  std::array<std::uint8_t, kMaxPrefix + 2 + kMaxContext> bytes_;
  std::size_t size_ = 0;
};

/// The points of small order of a curve: all those whose y is one of these.
class SmallOrders {
 public:
  explicit SmallOrders(const Curve& curve);
  /// On input: y < p, of a point of the curve.
  [[nodiscard]] bool contains(const Limb* y) const;

 private:
  std::vector<std::vector<Limb>> y_;
};

/// Items of a batch: engines compute several together, and this many fill the widest ones of a CPU.
inline constexpr std::size_t kBatch = 256;

std::unique_ptr<Scheme> make_signing(mm_ecc_op op, const PointEngine& engine, const Inputs& inputs,
                                     const Outputs& outputs);
std::unique_ptr<Scheme> make_verification(mm_ecc_op op, const PointEngine& engine, const Inputs& inputs,
                                          const Outputs& outputs);

/// Estimated nanoseconds of the hashes of one item.
inline constexpr double kHashNs = 700;
/// What a thread of the host takes for a signature or verification of which a GPU computes the points:
/// hashes, arithmetic modulo the order and encodings. From the times of calls with an H100, 6 to 18
/// microseconds.
inline constexpr double kHostOfGpuNs = 13000;
/// Whether the engine computes batches that only a GPU fills.
inline bool is_on_gpu(const PointEngine& engine) { return engine.granularity() > kBatch; }

}  // namespace manymod::ecc::eddsa
