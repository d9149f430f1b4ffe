// SPDX-License-Identifier: Apache-2.0
// SM2 signatures: GB/T 32918.2 (ISO/IEC 14888-3). reference/ecc/sm2.py is their oracle. Deterministic nonces
// are those of RFC 6979 with SM3, which the standard allows but does not define.
#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "ecc/schemes/signatures.hpp"
#include "ecc/schemes/sm2_identity.hpp"
#include "repr/constant_time.hpp"
#include "repr/limbs.hpp"

namespace manymod::ecc {
namespace {

/// Messages of one thread as numbers modulo n: SM3(Z || message), where Z stands for the signer's id and key.
class Sm2Messages {
 public:
  Sm2Messages(const Curve& curve, const Inputs& inputs)
      : curve_(curve), inputs_(inputs), hasher_(MM_SM3), identity_(curve) {}

  /// e of an item whose public key is (x, y).
  void read_one(std::span<Limb> e, std::span<const Limb> x, std::span<const Limb> y, const Block& block,
                std::size_t row) {
    Sm2Digest digest{};
    const ByteSpan message = (*inputs_.message)[block.item(row)];
    if (!inputs_.prehashed) {
      const ByteSpan id = inputs_.context ? (*inputs_.context)[block.item(row)] : ByteSpan();
      if (!identity_.digest(digest, id, x, y, prefix_)) block.fail(row, MM_ITEM_ECC_LENGTH);
      hasher_.digest(digest, {digest, message});
    } else if (message.size() == digest.size()) {
      std::ranges::copy(message, digest.begin());
    } else {
      block.fail(row, MM_ITEM_ECC_LENGTH);
    }
    leftmost_bits(curve_, e, digest);
    limbs::reduce_once(e, curve_.n);
  }

 private:
  const Curve& curve_;
  const Inputs& inputs_;
  crypto::Hasher hasher_;
  Sm2Identity identity_;
  Sm2Prefix prefix_;
};

/// The same for signers, who have their public keys computed.
class SignersMessages final : public SignedMessages {
 public:
  SignersMessages(const PointEngine& engine, const Inputs& inputs, const OwnKeys& keys)
      : curve_(engine.curve()), inputs_(inputs), keys_(keys), messages_(curve_, inputs) {}

  void read(Signing& x, const Block& block, const StopToken& stop) override {
    reject_last(x, block);
    Points own(block.size(), curve_.limbs());
    // Digests already contain the key.
    const PointRows keys = inputs_.prehashed ? own.rows(curve_) : keys_.of(block, x.secret, own, stop);
    for (std::size_t row = 0; row < block.size(); ++row) {
      messages_.read_one(x.message[row], {keys.x[row], curve_.limbs()}, {keys.y[row], curve_.limbs()}, block,
                         row);
    }
  }

 private:
  const Curve& curve_;
  const Inputs& inputs_;
  const OwnKeys& keys_;
  Sm2Messages messages_;

  /// d = n - 1 is no key: 1 + d has no inverse.
  void reject_last(const Signing& x, const Block& block) const {
    for (std::size_t row = 0; row < block.size(); ++row) {
      const std::vector<Limb>& n = curve_.n;
      // n is odd: its lowest bit is what n - 1 lacks.
      Limb difference = x.secret[row][0] ^ n[0] ^ 1;
      for (std::size_t i = 1; i < n.size(); ++i) difference |= x.secret[row][i] ^ n[i];
      block.fail_unless(~constant_time::is_zero(difference), row, MM_ITEM_ECC_SECRET);
    }
  }
};

class Sm2Signer final : public Signer {
 public:
  explicit Sm2Signer(const SchemeArguments& arguments)
      : Signer(arguments), keys_(engine_, inputs_), one_(1, order().limbs()) {
    one_[0][0] = 1;
  }

 protected:
  [[nodiscard]] std::unique_ptr<SignedMessages> messages() const override {
    return std::make_unique<SignersMessages>(engine_, inputs_, keys_);
  }

  /// r = e + x mod n.
  void compute_r(Rows& r, const Points& points, const Signing& x, std::size_t count) const override {
    order().reduce(r.data(), points.x.view(), curve().limbs(), count);
    order().add(r.data(), r.view(), x.message.view(), count);
  }

  /// s = (k - r d) / (1 + d).
  void compute_s(Signing& x, std::size_t count) const override {
    Rows product(count, order().limbs());
    order().mul(product.data(), x.secret.view(), x.r.view(), count);
    order().sub(x.s.data(), x.k.view(), product.view(), count);
    order().add(product.data(), x.secret.view(), {one_.view().data, 0}, count);
    order().inverse(product.data(), product.view(), count);
    order().mul(x.s.data(), x.s.view(), product.view(), count);
    for (std::size_t row = 0; row < count; ++row) x.id[row] = x.point.y[row][0] & 1;
  }

  /// k = s + (r + s) d.
  void recompute_k(Rows& k, const Signing& x, std::size_t count) const override {
    order().add(k.data(), x.r.view(), x.s.view(), count);
    order().mul(k.data(), x.secret.view(), k.view(), count);
    order().add(k.data(), k.view(), x.s.view(), count);
  }

  /// r + k = n would give the key away: s (1 + d) = k - r d = -r (1 + d), so that it is s = -r.
  [[nodiscard]] bool is_signature_of(const Signing& x, std::size_t row) const override {
    Rows sum(1, order().limbs());
    limbs::add_mod(sum[0], x.r[row], x.s[row], curve().n);
    return limbs::is_zero(sum[0]) == 0;
  }

 private:
  const OwnKeys keys_;
  Rows one_;
};

class Sm2Verifier final : public BlockScheme {
 public:
  explicit Sm2Verifier(const SchemeArguments& arguments)
      : BlockScheme(arguments), order_(Order::of(curve())) {}

  [[nodiscard]] double item_ns() const override { return BlockScheme::item_ns() + 2 * kDigestNs + kOrderNs; }

  void compute(std::span<const std::size_t> items, const StopToken& stop) const override {
    Sm2Messages messages(curve(), inputs_);
    for_blocks(items, engine_, outputs_.status, stop,
               [&](const Block& block) { verify(block, messages, stop); });
  }

 private:
  const std::unique_ptr<const Order> order_;

  /// x(s G + (r + s) Q) + e = r modulo n, and r + s is not 0.
  void verify(const Block& block, Sm2Messages& messages, const StopToken& stop) const {
    const std::size_t count = block.size();
    const PublicKeys keys(engine_, *inputs_.point, block);
    const Signatures x = read_signatures(curve(), inputs_, block);
    Rows e(count, order_->limbs());
    for (std::size_t row = 0; row < count; ++row) {
      messages.read_one(e[row], keys.x(row), keys.y(row), block, row);
    }
    Rows sum(count, order_->limbs());
    order_->add(sum.data(), x.r.view(), x.s.view(), count);
    Points point(count, curve().limbs());
    engine_.multiply_two(point.results(), x.s.view(), sum.view(), keys.rows(), block.range(), stop);
    if (stop.was_requested()) return;
    Rows found(count, order_->limbs());
    order_->reduce(found.data(), point.x.view(), curve().limbs(), count);
    order_->add(found.data(), found.view(), e.view(), count);
    for (std::size_t row = 0; row < count; ++row) {
      if (!block.succeed(row)) continue;
      const bool valid = limbs::is_zero(sum[row]) == 0 && point.infinity[row] == 0 &&
                         std::ranges::equal(found[row], x.r[row]);
      outputs_.ok[block.item(row)] = valid ? 1 : 0;
    }
  }
};

}  // namespace

std::unique_ptr<Scheme> make_sm2(const SchemeArguments& arguments) {
  if (arguments.task.op == MM_ECC_SIGN) return std::make_unique<Sm2Signer>(arguments);
  return std::make_unique<Sm2Verifier>(arguments);
}

}  // namespace manymod::ecc
