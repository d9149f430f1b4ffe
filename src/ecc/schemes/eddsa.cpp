// SPDX-License-Identifier: Apache-2.0
#include "ecc/schemes/eddsa.hpp"

#include <algorithm>

#include "ecc/hex.hpp"
#include "ecc/schemes/eddsa_parts.hpp"
#include "repr/limbs.hpp"
#include "repr/wipe.hpp"

namespace manymod::ecc {
namespace eddsa {
namespace {

constexpr Instance kEd25519{32,
                            MM_SHA512,
                            64,
                            "SigEd25519 no Ed25519 collisions",
                            false,
                            8,
                            "7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7"};
constexpr Instance kEd448{57, MM_SHAKE256, 114, "SigEd448", true, 4, ""};

}  // namespace

const Instance& instance_of(const Curve& curve) { return curve.id == CurveId::ed448 ? kEd448 : kEd25519; }

void reduce(const Order& order, Limb* r, ByteSpan bytes) {
  std::array<Limb, limbs_for_bits(8 * kMaxDigest)> number;
  const std::span<Limb> used = std::span(number).first(limbs_for_bits(8 * bytes.size()));
  limbs_from_little_endian(used, bytes);
  order.reduce(r, {used.data(), 0}, used.size(), 1);
  wipe(number);
}

void multiply_add(const Order& order, Limb* r, const Limb* a, const Limb* b, const Limb* c) {
  std::array<Limb, kMaxOrderLimbs> product;
  order.mul(product.data(), {a, 0}, {b, 0}, 1);
  order.add(r, {product.data(), 0}, {c, 0}, 1);
  wipe(product);
}

ByteSpan Hash::digest(Digest& digest, std::initializer_list<ByteSpan> parts) {
  const std::span<std::uint8_t> output = std::span(digest).first(instance_.digest_bytes);
  if (hasher_.facts().extendable) {
    hasher_.extended_digest(output, parts);
  } else {
    hasher_.digest(output, parts);
  }
  return output;
}

void expand(ExpandedKey& key, const Curve& curve, const Order& order, Hash& hash, ByteSpan secret) {
  const Instance& instance = instance_of(curve);
  const std::size_t size = instance.size;
  Digest digest;
  hash.digest(digest, {secret});
  std::copy_n(digest.data() + size, size, key.prefix.data());
  const std::size_t top = curve.order_bits + 1;
  digest[0] = static_cast<std::uint8_t>(digest[0] & ~(instance.cofactor - 1));
  for (std::size_t bit = top; bit < 8 * size; bit = (bit | 7) + 1) {
    digest[bit / 8] = static_cast<std::uint8_t>(digest[bit / 8] & ((1U << bit % 8) - 1));
  }
  digest[top / 8] = static_cast<std::uint8_t>(digest[top / 8] | 1U << top % 8);
  reduce(order, key.scalar.data(), ByteSpan(digest).first(size));
  wipe_bytes(digest.data(), digest.size());
}

Text text_of(const Inputs& inputs, std::size_t item) {
  Text text;
  text.message = (*inputs.message)[item];
  if (inputs.context) text.context = (*inputs.context)[item];
  const bool wrong_digest = inputs.prehashed && text.message.size() != kPrehashBytes;
  if (wrong_digest || text.context.size() > kMaxContext) text.status = MM_ITEM_ECC_LENGTH;
  return text;
}

Domain::Domain(const Instance& instance, bool prehashed, ByteSpan context) {
  if (!instance.always_domain && !prehashed && context.empty()) return;
  std::ranges::copy(instance.domain, bytes_.begin());
  size_ = instance.domain.size();
  bytes_[size_++] = prehashed ? 1 : 0;
  bytes_[size_++] = static_cast<std::uint8_t>(context.size());
  std::ranges::copy(context, bytes_.begin() + static_cast<std::ptrdiff_t>(size_));
  size_ += context.size();
}

// Orders 1, 2 and 4 have y = 1, -1 and 0. With one y of order 8, all points of that order have it or its
// negative: they are its odd multiples.
SmallOrders::SmallOrders(const Curve& curve) {
  std::vector<Limb> zero(curve.limbs()), one(curve.limbs());
  one[0] = 1;
  y_ = {zero, one, one};
  limbs::negate_mod(y_[2], one, curve.p);
  const std::string_view order_eight = instance_of(curve).order_eight;
  if (order_eight.empty()) return;
  std::vector<Limb> eight = limbs_from_hex(order_eight);
  eight.resize(curve.limbs());
  y_.push_back(eight);
  y_.push_back(eight);
  limbs::negate_mod(y_.back(), eight, curve.p);
}

bool SmallOrders::contains(const Limb* y) const {
  return std::ranges::any_of(
      y_, [y](const std::vector<Limb>& one) { return std::equal(one.begin(), one.end(), y); });
}

}  // namespace eddsa

std::unique_ptr<Scheme> make_eddsa(mm_ecc_op op, const PointEngine& engine, const Inputs& inputs,
                                   const Outputs& outputs) {
  const bool verifies = op == MM_ECC_VERIFY || op == MM_ECC_VERIFY_ALL;
  return verifies ? eddsa::make_verification(op, engine, inputs, outputs)
                  : eddsa::make_signing(op, engine, inputs, outputs);
}

}  // namespace manymod::ecc
