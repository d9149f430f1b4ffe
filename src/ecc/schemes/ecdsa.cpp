// SPDX-License-Identifier: Apache-2.0
// ECDSA: FIPS 186-5, section 6; SEC 1, section 4.1; RFC 6979. reference/ecc/ecdsa.py is its oracle.
#include <algorithm>
#include <memory>
#include <vector>

#include "ecc/device_schemes.hpp"
#include "ecc/schemes/signatures.hpp"
#include "repr/constant_time.hpp"
#include "repr/limbs.hpp"

namespace manymod::ecc {
namespace {

class Messages final : public SignedMessages {
 public:
  Messages(const Curve& curve, const Inputs& inputs, mm_hash hash)
      : messages_(*inputs.message), numbers_(curve, hash, inputs.prehashed) {}

  void read(Signing& x, const Block& block, const StopToken&) override {
    numbers_.read(x.message, messages_, block);
  }

 private:
  const ItemsIn& messages_;
  MessageNumbers numbers_;
};

class EcdsaSigner final : public Signer {
 public:
  explicit EcdsaSigner(const SchemeArguments& arguments)
      : Signer(arguments), low_s_(wants_low_s(curve(), inputs_.low_s)) {}

  [[nodiscard]] double item_ns() const override {
    if (engine_.device_schemes() == nullptr || inputs_.check) return Signer::item_ns();
    return engine_.item_ns(PointOperation::multiply_base) + kHostOfSigningNs;
  }

 protected:
  [[nodiscard]] std::unique_ptr<SignedMessages> messages() const override {
    return std::make_unique<Messages>(curve(), inputs_, hash_of(inputs_, task_, curve()));
  }

  void make(Signing& x, const Block& block, Nonces& nonces, unsigned attempt,
            const StopToken& stop) const override {
    if (attempt == 0 && make_on_device(x, block, nonces, stop)) return;
    Signer::make(x, block, nonces, attempt, stop);
  }

  /// r = x mod n.
  void compute_r(Rows& r, const Points& points, const Signing&, std::size_t count) const override {
    order().reduce(r.data(), points.x.view(), curve().limbs(), count);
  }

  /// s = (e + r d) / k.
  void compute_s(Signing& x, std::size_t count) const override {
    numerator(x.s, x, count);
    divide(x.s, x.k, count);
    for (std::size_t row = 0; row < count; ++row) {
      const Limb above = at_least(x.point.x[row], curve().n);
      x.id[row] = static_cast<std::uint8_t>((x.point.y[row][0] & 1) | (above << 1));
    }
    if (low_s_) lower_s(x, count);
  }

  /// k = (e + r d) / s: u + v d with u = e / s and v = r / s.
  void recompute_k(Rows& k, const Signing& x, std::size_t count) const override {
    numerator(k, x, count);
    divide(k, x.s, count);
  }

  /// Whether x is r or r + n, which the recovery id tells. It may be r + 2 n on tiny curves, which no device
  /// has.
  [[nodiscard]] bool is_signature_of(const Signing& x, std::size_t row) const override {
    if (inputs_.signature_format != MM_ECC_RECOVERABLE || (x.id[row] & 2) == 0) return true;
    if (engine_.device_schemes() != nullptr) return true;
    Rows rest(1, std::max(curve().limbs(), order().limbs()));
    limbs::copy_extend(rest[0], x.point.x[row]);
    Limb borrow = 0;
    for (std::size_t i = 0; i < rest.limbs(); ++i) {
      rest[0][i] = word::sub_borrow(rest[0][i], i < order().limbs() ? curve().n[i] : 0, borrow);
    }
    return at_least(rest[0], curve().n) == 0;
  }

 private:
  const bool low_s_;

  /// The same on the device that computes the points, if it has the scheme. @return whether it has, and did
  /// not fail
  bool make_on_device(Signing& x, const Block& block, Nonces& nonces, const StopToken& stop) const {
    const DeviceSchemes* const device = engine_.device_schemes();
    if (device == nullptr) return false;
    const bool derives = inputs_.nonces == MM_ECC_NONCE_DETERMINISTIC && device->has_deterministic_nonces() &&
                         hash_of(inputs_, task_, curve()) == usual_hash(task_, curve());
    if (!derives) nonces.generate(x.k, x.secret, x.message, block, 0);
    std::vector<std::uint8_t> done(block.size());
    EcdsaSigning batch;
    batch.secret = x.secret.view();
    batch.digest = x.message.view();
    if (!derives) batch.nonce = x.k.view();
    batch.low_s = low_s_;
    batch.r = x.r.data();
    batch.s = x.s.data();
    batch.recovery = x.id.data();
    batch.done = done.data();
    if (!device->sign(batch, block.range(), stop)) return false;
    if (stop.was_requested()) return true;
    make_rest(x, done, block, nonces, stop);
    return true;
  }

  /// Makes the items of which the device could not use the nonce; which ones is public.
  void make_rest(Signing& x, std::span<const std::uint8_t> done, const Block& block, Nonces& nonces,
                 const StopToken& stop) const {
    for (std::size_t row = 0; row < block.size(); ++row) {
      if (done[row] != 0) continue;
      const Block single(block.items().subspan(row, 1), outputs_.status);
      Signing y(curve(), *inputs_.secret, single);
      std::ranges::copy(x.message[row], y.message[0].begin());
      Signer::make(y, single, nonces, 0, stop);
      if (stop.was_requested()) return;
      std::ranges::copy(y.r[0], x.r[row].begin());
      std::ranges::copy(y.s[0], x.s[row].begin());
      x.id[row] = y.id[0];
    }
  }

  /// e + r d.
  void numerator(Rows& sum, const Signing& x, std::size_t count) const {
    order().mul(sum.data(), x.secret.view(), x.r.view(), count);
    order().add(sum.data(), sum.view(), x.message.view(), count);
  }

  /// r = r / x.
  void divide(Rows& r, const Rows& x, std::size_t count) const {
    Rows inverse(count, order().limbs());
    order().inverse(inverse.data(), x.view(), count);
    order().mul(r.data(), r.view(), inverse.view(), count);
  }

  /// The lower one of s and n - s, which belongs to the opposite of k G.
  void lower_s(Signing& x, std::size_t count) const {
    Rows negative(count, order().limbs());
    order().negate(negative.data(), x.s.view(), count);
    for (std::size_t row = 0; row < count; ++row) {
      const Limb high = is_high(x.s[row], curve().n);
      for (std::size_t i = 0; i < order().limbs(); ++i) {
        x.s[row][i] = constant_time::select(high, negative[row][i], x.s[row][i]);
      }
      x.id[row] = static_cast<std::uint8_t>(x.id[row] ^ (high & 1));
    }
  }
};

/// u = e / d and v = x / d modulo n: what verification and recovery multiply points by.
struct Factors {
  Factors(const Order& order, const Rows& e, const Rows& x, const Rows& denominator, std::size_t count)
      : u(count, order.limbs()), v(count, order.limbs()) {
    Rows inverse(count, order.limbs());
    order.inverse(inverse.data(), denominator.view(), count);
    order.mul(u.data(), inverse.view(), e.view(), count);
    order.mul(v.data(), inverse.view(), x.view(), count);
  }
  Rows u, v;
};

class EcdsaVerifier final : public BlockScheme {
 public:
  explicit EcdsaVerifier(const SchemeArguments& arguments)
      : BlockScheme(arguments), order_(Order::of(curve())), low_s_(wants_low_s(curve(), inputs_.low_s)) {}

  [[nodiscard]] double item_ns() const override {
    const bool on_device = engine_.device_schemes() != nullptr;
    return BlockScheme::item_ns() + (on_device ? kHostOfVerificationNs : kDigestNs + kOrderNs);
  }

  void compute(std::span<const std::size_t> items, const StopToken& stop) const override {
    MessageNumbers messages(curve(), hash_of(inputs_, task_, curve()), inputs_.prehashed);
    for_blocks(items, engine_, outputs_.status, stop,
               [&](const Block& block) { verify(block, messages, stop); });
  }

 private:
  const std::unique_ptr<const Order> order_;
  const bool low_s_;

  void verify(const Block& block, MessageNumbers& messages, const StopToken& stop) const {
    const std::size_t count = block.size();
    PublicKeys keys(engine_, *inputs_.point, block);
    const Signatures x = read_signatures(curve(), inputs_, block);
    Rows e(count, order_->limbs());
    messages.read(e, *inputs_.message, block);
    if (verify_on_device(block, keys, x, e, stop) || stop.was_requested()) return;
    const Factors factors(*order_, e, x.r, x.s, count);
    Points point(count, curve().limbs());
    engine_.multiply_two(point.results(), factors.u.view(), factors.v.view(), keys.rows(), block.range(),
                         stop);
    if (stop.was_requested()) return;
    order_->reduce(e.data(), point.x.view(), curve().limbs(), count);
    for (std::size_t row = 0; row < count; ++row) {
      if (!block.succeed(row)) continue;
      const bool valid = point.infinity[row] == 0 && std::ranges::equal(e[row], x.r[row]);
      const bool accepted = valid && !(low_s_ && is_high(x.s[row], curve().n) != 0);
      outputs_.ok[block.item(row)] = accepted ? 1 : 0;
    }
  }

  /// The same on the device that computes the points. @return whether it has the scheme and did not fail
  bool verify_on_device(const Block& block, const PublicKeys& keys, const Signatures& x, const Rows& e,
                        const StopToken& stop) const {
    const DeviceSchemes* const device = engine_.device_schemes();
    if (device == nullptr) return false;
    std::vector<std::uint8_t> valid(block.size());
    const EcdsaVerification batch{keys.rows(), e.view(), x.r.view(), x.s.view(), low_s_, valid.data()};
    if (!device->verify(batch, block.range(), stop) || stop.was_requested()) return false;
    for (std::size_t row = 0; row < block.size(); ++row) {
      if (block.succeed(row)) outputs_.ok[block.item(row)] = valid[row];
    }
    return true;
  }
};

/// SEC 1, section 4.1.6: Q = (s / r) R - (e / r) G.
class EcdsaRecovery final : public BlockScheme {
 public:
  explicit EcdsaRecovery(const SchemeArguments& arguments)
      : BlockScheme(arguments), order_(Order::of(curve())), low_s_(wants_low_s(curve(), inputs_.low_s)) {}

  [[nodiscard]] double item_ns() const override {
    return BlockScheme::item_ns() + engine_.item_ns(PointOperation::lift) + kDigestNs + kOrderNs;
  }

  void compute(std::span<const std::size_t> items, const StopToken& stop) const override {
    MessageNumbers messages(curve(), hash_of(inputs_, task_, curve()), inputs_.prehashed);
    for_blocks(items, engine_, outputs_.status, stop,
               [&](const Block& block) { recover(block, messages, stop); });
  }

 private:
  const std::unique_ptr<const Order> order_;
  const bool low_s_;

  void recover(const Block& block, MessageNumbers& messages, const StopToken& stop) const {
    const std::size_t count = block.size();
    const Signatures x = read_signatures(curve(), inputs_, block);
    reject_high(x, block);
    Points nonce_points(count, curve().limbs());
    lift(nonce_points, x, block);
    Rows e(count, order_->limbs());
    messages.read(e, *inputs_.message, block);
    Factors factors(*order_, e, x.s, x.r, count);
    order_->negate(factors.u.data(), factors.u.view(), count);
    Points key(count, curve().limbs());
    engine_.multiply_two(key.results(), factors.u.view(), factors.v.view(),
                         {nonce_points.x.view(), nonce_points.y.view()}, block.range(), stop);
    if (!stop.was_requested()) write(key, block);
  }

  void reject_high(const Signatures& x, const Block& block) const {
    if (!low_s_) return;
    for (std::size_t row = 0; row < block.size(); ++row) {
      if (is_high(x.s[row], curve().n) != 0) block.fail(row, MM_ITEM_ECC_NO_KEY);
    }
  }

  /// The points with x = r, or r + n where bit 1 of the id is set, and with the parity of y in its bit 0.
  void lift(Points& points, const Signatures& x, const Block& block) const {
    for (std::size_t row = 0; row < block.size(); ++row) {
      if (nonce_coordinate(points.x[row], x.r[row], x.id[row], curve())) continue;
      block.fail(row, MM_ITEM_ECC_NO_KEY);
      std::ranges::copy(curve().x, points.x[row].begin());
    }
    std::vector<std::uint8_t> odd(block.size());
    std::ranges::transform(x.id, odd.begin(),
                           [](std::uint8_t id) { return static_cast<std::uint8_t>(id & 1); });
    engine_.lift(points.y.data(), points.infinity.data(), points.x.view(), odd.data(), block.range());
    for (std::size_t row = 0; row < block.size(); ++row) {
      const bool has_parity = (points.y[row][0] & 1) == odd[row];
      if (points.infinity[row] != 0 && has_parity) continue;
      block.fail(row, MM_ITEM_ECC_NO_KEY);
      std::ranges::copy(curve().x, points.x[row].begin());
      std::ranges::copy(curve().y, points.y[row].begin());
    }
  }

  void write(const Points& key, const Block& block) const {
    for (std::size_t row = 0; row < block.size(); ++row) {
      if (key.infinity[row] != 0) block.fail(row, MM_ITEM_ECC_NO_KEY);
      if (!block.succeed(row)) continue;
      const mm_ecc_point_format format = inputs_.point_format;
      write_sec1(curve(), format, outputs_.result(block.item(row), point_bytes(curve(), format)), key.x[row],
                 key.y[row]);
    }
  }
};

}  // namespace

std::unique_ptr<Scheme> make_ecdsa(const SchemeArguments& arguments) {
  if (arguments.task.op == MM_ECC_SIGN) return std::make_unique<EcdsaSigner>(arguments);
  if (arguments.task.op == MM_ECC_RECOVER) return std::make_unique<EcdsaRecovery>(arguments);
  return std::make_unique<EcdsaVerifier>(arguments);
}

}  // namespace manymod::ecc
