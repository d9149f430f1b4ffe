// SPDX-License-Identifier: Apache-2.0
// ECDSA: FIPS 186-5, section 6; SEC 1, section 4.1; RFC 6979. reference/ecc/ecdsa.py is its oracle.
#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "core/read_once.hpp"
#include "ecc/schemes/encodings.hpp"
#include "ecc/schemes/numbers.hpp"
#include "repr/constant_time.hpp"

namespace manymod::ecc {
namespace {

// Of the stages beside the points, for estimates of time: digests and nonces, and arithmetic modulo n.
constexpr double kDigestNs = 300;
constexpr double kNonceNs = 2200;
constexpr double kOrderNs = 400;

// After so many nonces that give r = 0 or s = 0 an item gets MM_ITEM_ECC_NONCE. On curves of use the first
// one is never met; tiny ones may have keys and messages without a signature.
constexpr unsigned kMostAttempts = 64;

/// Whether s <= n / 2 is asked for: of signatures that are made and of those that are verified.
bool wants_low_s(const Curve& curve, int low_s) {
  return low_s > 0 || (low_s == 0 && curve.id == CurveId::secp256k1);
}

mm_hash hash_of(const Inputs& inputs, const Curve& curve) {
  return inputs.hash != MM_HASH_NONE ? inputs.hash : usual_hash({MM_ECC_SIGN, MM_ECC_ECDSA}, curve);
}

/// 1 if a >= n, else 0, for numbers of any lengths.
Limb at_least(std::span<const Limb> a, std::span<const Limb> n) {
  Limb borrow = 0;
  for (std::size_t i = 0; i < std::max(a.size(), n.size()); ++i) {
    word::sub_borrow(i < a.size() ? a[i] : 0, i < n.size() ? n[i] : 0, borrow);
  }
  return borrow ^ 1;
}

/// A mask: whether 2 s > n, as n is odd whether s > n / 2.
Limb is_high(std::span<const Limb> s, std::span<const Limb> n) {
  Limb borrow = 0;
  Limb carry = 0;
  for (std::size_t i = 0; i < n.size(); ++i) {
    const Limb doubled = (s[i] << 1) | carry;
    carry = s[i] >> 63;
    word::sub_borrow(n[i], doubled, borrow);
  }
  return word::mask_from_bit(borrow | carry);
}

// ---- signatures that are made --------------------------------------------------------------------------

/// The numbers of a block of signatures.
struct Signing {
  Signing(const Curve& curve, const ItemsIn& secrets, const Block& block)
      : secret(curve, secrets, block, MM_ITEM_ECC_SECRET),
        message(block.size(), curve.scalar_limbs()),
        k(block.size(), curve.scalar_limbs()),
        r(block.size(), curve.scalar_limbs()),
        s(block.size(), curve.scalar_limbs()),
        point(block.size(), curve.limbs()),
        id(block.size()) {}

  Scalars secret;
  Rows message, k, r, s;
  Points point;                  ///< k G
  std::vector<std::uint8_t> id;  ///< recovery ids
};

class Signer final : public BlockScheme {
 public:
  explicit Signer(const SchemeArguments& arguments)
      : BlockScheme(arguments),
        order_(Order::of(curve())),
        low_s_(wants_low_s(curve(), inputs_.low_s)),
        check_(inputs_.check && inputs_.nonces == MM_ECC_NONCE_DETERMINISTIC) {}

  [[nodiscard]] double item_ns() const override {
    const double points = engine_.item_ns(PointOperation::multiply_base) * (check_ ? 2 : 1);
    return points + kDigestNs + kOrderNs + (inputs_.nonces == MM_ECC_NONCE_GIVEN ? 0 : kNonceNs);
  }

  void compute(std::span<const std::size_t> items, const StopToken& stop) const override {
    MessageNumbers messages(curve(), hash_of(inputs_, curve()), inputs_.prehashed);
    Nonces nonces(curve(), inputs_, hash_of(inputs_, curve()));
    for_blocks(items, engine_, outputs_.status, stop,
               [&](const Block& block) { sign(block, messages, nonces, 0, stop); });
  }

 private:
  const std::unique_ptr<const Order> order_;
  const bool low_s_;
  const bool check_;

  /// `attempt`: how many nonces of the items were of no use.
  void sign(const Block& block, MessageNumbers& messages, Nonces& nonces, unsigned attempt,
            const StopToken& stop) const {
    Signing x(curve(), *inputs_.secret, block);
    messages.read(x.message, *inputs_.message, block);
    nonces.generate(x.k, x.secret, x.message, block, attempt);
    engine_.multiply_base(x.point.results(), x.k.view(), block.range(), TimingClass::secret, stop);
    if (stop.was_requested()) return;
    compute_numbers(x, block.size());
    const std::vector<std::size_t> unusable = items_without_signature(x, block);
    if (check_) verify_again(x, block, stop);
    if (stop.was_requested()) return;
    write(x, block, unusable);
    if (!unusable.empty()) retry(unusable, messages, nonces, attempt, stop);
  }

  void retry(const std::vector<std::size_t>& items, MessageNumbers& messages, Nonces& nonces,
             unsigned attempt, const StopToken& stop) const {
    const Block block(items, outputs_.status);
    if (nonces.has_more() && attempt < kMostAttempts) {
      return sign(block, messages, nonces, attempt + 1, stop);
    }
    for (std::size_t row = 0; row < block.size(); ++row) block.fail(row, MM_ITEM_ECC_NONCE);
  }

  /// r = x mod n, s = (e + r d) / k.
  void compute_numbers(Signing& x, std::size_t count) const {
    order_->reduce(x.r.data(), x.point.x.view(), curve().limbs(), count);
    Rows inverse(count, order_->limbs());
    order_->inverse(inverse.data(), x.k.view(), count);
    numerator(x.s, x, count);
    order_->mul(x.s.data(), x.s.view(), inverse.view(), count);
    for (std::size_t row = 0; row < count; ++row) {
      const Limb above = at_least(x.point.x[row], curve().n);
      x.id[row] = static_cast<std::uint8_t>((x.point.y[row][0] & 1) | (above << 1));
    }
    if (low_s_) lower_s(x, count);
  }

  /// e + r d.
  void numerator(Rows& sum, const Signing& x, std::size_t count) const {
    order_->mul(sum.data(), x.secret.view(), x.r.view(), count);
    order_->add(sum.data(), sum.view(), x.message.view(), count);
  }

  /// The lower one of s and n - s, which belongs to the opposite of k G.
  void lower_s(Signing& x, std::size_t count) const {
    Rows negative(count, order_->limbs());
    order_->negate(negative.data(), x.s.view(), count);
    for (std::size_t row = 0; row < count; ++row) {
      const Limb high = is_high(x.s[row], curve().n);
      for (std::size_t i = 0; i < order_->limbs(); ++i) {
        x.s[row][i] = constant_time::select(high, negative[row][i], x.s[row][i]);
      }
      x.id[row] = static_cast<std::uint8_t>(x.id[row] ^ (high & 1));
    }
  }

  /// Items whose nonce gave r = 0, s = 0 or an x that the recovery id does not tell. Whether it did is
  /// public. Not inlined, because the secret-independence tests suppress findings in this function by its
  /// name.
  [[gnu::noinline]] std::vector<std::size_t> items_without_signature(const Signing& x,
                                                                     const Block& block) const {
    std::vector<std::size_t> items;
    for (std::size_t row = 0; row < block.size(); ++row) {
      if (block.failed(row)) continue;
      const bool usable = in_range(x.r[row], curve().n) != 0 && in_range(x.s[row], curve().n) != 0;
      const bool told = inputs_.signature_format != MM_ECC_RECOVERABLE || is_told(x, row);
      if (!usable || !told) items.push_back(block.item(row));
    }
    return items;
  }

  /// Whether x is r or r + n. It may be r + 2 n on tiny curves.
  [[nodiscard]] bool is_told(const Signing& x, std::size_t row) const {
    if ((x.id[row] & 2) == 0) return true;
    Rows rest(1, std::max(curve().limbs(), order_->limbs()));
    limbs::copy_extend(rest[0], x.point.x[row]);
    Limb borrow = 0;
    for (std::size_t i = 0; i < rest.limbs(); ++i) {
      rest[0][i] = word::sub_borrow(rest[0][i], i < order_->limbs() ? curve().n[i] : 0, borrow);
    }
    return at_least(rest[0], curve().n) == 0;
  }

  /// The equation of verification before signatures leave, x((e / s) G + (r / s) Q) = r modulo n, for Q = d G
  /// the same as x(((e + r d) / s) G): one multiplication of the generator. A fault in k G, in s or in its
  /// inverse gives another point.
  void verify_again(const Signing& x, const Block& block, const StopToken& stop) const {
    const std::size_t count = block.size();
    Rows k(count, order_->limbs());
    Rows inverse(count, order_->limbs());
    numerator(k, x, count);
    order_->inverse(inverse.data(), x.s.view(), count);
    order_->mul(k.data(), k.view(), inverse.view(), count);
    Points point(count, curve().limbs());
    engine_.multiply_base(point.results(), k.view(), block.range(), TimingClass::secret, stop);
    if (stop.was_requested()) return;
    order_->reduce(k.data(), point.x.view(), curve().limbs(), count);
    for (std::size_t row = 0; row < count; ++row) reject_fault(x, k[row], point.y[row][0] & 1, block, row);
  }

  /// `r` and `odd`: of the point that the equation gives. Whether it is right is public. Not inlined, because
  /// the secret-independence tests suppress findings in this function by its name.
  [[gnu::noinline]] void reject_fault(const Signing& x, std::span<const Limb> r, Limb odd, const Block& block,
                                      std::size_t row) const {
    // r = 0 and s = 0 are no signatures: they never leave.
    const bool leaves = in_range(x.r[row], curve().n) != 0 && in_range(x.s[row], curve().n) != 0;
    const bool right = std::ranges::equal(r, x.r[row]) && odd == (x.id[row] & 1U);
    if (leaves && !right) block.fail(row, MM_ITEM_ECC_FAULT);
  }

  void write(const Signing& x, const Block& block, std::span<const std::size_t> unusable) const {
    for (std::size_t row = 0; row < block.size(); ++row) {
      const std::size_t item = block.item(row);
      const bool leaves = !std::ranges::binary_search(unusable, item);
      if (leaves && block.succeed(row)) write_one(item, x.r[row], x.s[row], x.id[row]);
    }
  }

  /// Signatures are public. Not inlined, because the secret-independence tests suppress findings in this
  /// function by its name.
  [[gnu::noinline]] void write_one(std::size_t item, std::span<const Limb> r, std::span<const Limb> s,
                                   std::uint8_t id) const {
    const std::size_t size = curve().scalar_bytes();
    if (inputs_.signature_format == MM_ECC_DER) {
      std::array<std::uint8_t, kMaxDer> der;
      const std::size_t length = write_der(der, r, s);
      std::copy_n(der.begin(), length, outputs_.result(item, length).begin());
      return;
    }
    const bool recoverable = inputs_.signature_format == MM_ECC_RECOVERABLE;
    const auto bytes = outputs_.result(item, 2 * size + (recoverable ? 1 : 0));
    bytes_from_limbs(bytes.first(size), r);
    bytes_from_limbs(bytes.subspan(size, size), s);
    if (recoverable) bytes.back() = id;
  }
};

// ---- signatures that are read --------------------------------------------------------------------------

/// The numbers of a block of signatures, 1 for those that are none.
struct Signatures {
  Signatures(const Curve& curve, std::size_t count)
      : r(count, curve.scalar_limbs()), s(count, curve.scalar_limbs()), id(count) {}

  Rows r, s;
  std::vector<std::uint8_t> id;  ///< recovery ids, where the format has them
};

class SignatureReader {
 public:
  SignatureReader(const Curve& curve, mm_ecc_signature_format format) : curve_(curve), format_(format) {}

  /// Items whose bytes are not the encoding of two numbers 0 < r, s < n get the status
  /// MM_ITEM_ECC_SIGNATURE.
  void read(Signatures& x, const ItemsIn& bytes, const Block& block) const {
    for (std::size_t row = 0; row < block.size(); ++row) {
      if (read_one(x, row, bytes[block.item(row)])) continue;
      block.fail(row, MM_ITEM_ECC_SIGNATURE);
      for (Rows* numbers : {&x.r, &x.s}) {
        std::ranges::fill((*numbers)[row], Limb{0});
        (*numbers)[row][0] = 1;
      }
    }
  }

 private:
  const Curve& curve_;
  mm_ecc_signature_format format_;

  [[nodiscard]] bool read_one(Signatures& x, std::size_t row, ByteSpan bytes) const {
    const std::span<Limb> r = x.r[row];
    const std::span<Limb> s = x.s[row];
    if (format_ == MM_ECC_DER) {
      if (!read_der(bytes, r, s)) return false;
    } else {
      const std::size_t size = curve_.scalar_bytes();
      const bool recoverable = format_ == MM_ECC_RECOVERABLE;
      if (bytes.size() != 2 * size + (recoverable ? 1 : 0)) return false;
      limbs_from_bytes(r, bytes.first(size));
      limbs_from_bytes(s, bytes.subspan(size, size));
      if (recoverable) x.id[row] = read_once(bytes[2 * size]);
      if (x.id[row] > 3) return false;
    }
    return in_range(r, curve_.n) != 0 && in_range(s, curve_.n) != 0;
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

class Verifier final : public BlockScheme {
 public:
  explicit Verifier(const SchemeArguments& arguments)
      : BlockScheme(arguments),
        order_(Order::of(curve())),
        low_s_(wants_low_s(curve(), inputs_.low_s)),
        reader_(curve(), inputs_.signature_format) {}

  [[nodiscard]] double item_ns() const override { return BlockScheme::item_ns() + kDigestNs + kOrderNs; }

  void compute(std::span<const std::size_t> items, const StopToken& stop) const override {
    MessageNumbers messages(curve(), hash_of(inputs_, curve()), inputs_.prehashed);
    for_blocks(items, engine_, outputs_.status, stop,
               [&](const Block& block) { verify(block, messages, stop); });
  }

 private:
  const std::unique_ptr<const Order> order_;
  const bool low_s_;
  const SignatureReader reader_;

  void verify(const Block& block, MessageNumbers& messages, const StopToken& stop) const {
    const std::size_t count = block.size();
    PublicKeys keys(engine_, *inputs_.point, block);
    Signatures x(curve(), count);
    reader_.read(x, *inputs_.signature, block);
    Rows e(count, order_->limbs());
    messages.read(e, *inputs_.message, block);
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
};

/// SEC 1, section 4.1.6: Q = (s / r) R - (e / r) G.
class Recovery final : public BlockScheme {
 public:
  explicit Recovery(const SchemeArguments& arguments)
      : BlockScheme(arguments),
        order_(Order::of(curve())),
        low_s_(wants_low_s(curve(), inputs_.low_s)),
        reader_(curve(), inputs_.signature_format) {}

  [[nodiscard]] double item_ns() const override {
    return BlockScheme::item_ns() + engine_.item_ns(PointOperation::lift) + kDigestNs + kOrderNs;
  }

  void compute(std::span<const std::size_t> items, const StopToken& stop) const override {
    MessageNumbers messages(curve(), hash_of(inputs_, curve()), inputs_.prehashed);
    for_blocks(items, engine_, outputs_.status, stop,
               [&](const Block& block) { recover(block, messages, stop); });
  }

 private:
  const std::unique_ptr<const Order> order_;
  const bool low_s_;
  const SignatureReader reader_;

  void recover(const Block& block, MessageNumbers& messages, const StopToken& stop) const {
    const std::size_t count = block.size();
    Signatures x(curve(), count);
    reader_.read(x, *inputs_.signature, block);
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
      if (candidate(points.x[row], x.r[row], (x.id[row] & 2) != 0)) continue;
      block.fail(row, MM_ITEM_ECC_NO_KEY);
      std::ranges::copy(curve().x, points.x[row].begin());
    }
    std::vector<std::uint8_t> odd(block.size());
    std::ranges::transform(x.id, odd.begin(), [](std::uint8_t id) { return std::uint8_t(id & 1); });
    engine_.lift(points.y.data(), points.infinity.data(), points.x.view(), odd.data(), block.range());
    for (std::size_t row = 0; row < block.size(); ++row) {
      const bool has_parity = (points.y[row][0] & 1) == odd[row];
      if (points.infinity[row] != 0 && has_parity) continue;
      block.fail(row, MM_ITEM_ECC_NO_KEY);
      std::ranges::copy(curve().x, points.x[row].begin());
      std::ranges::copy(curve().y, points.y[row].begin());
    }
  }

  /// x = r + n if `above`, else r. @return whether it is below p
  [[nodiscard]] bool candidate(std::span<Limb> x, std::span<const Limb> r, bool above) const {
    if (!above) {
      limbs::copy_extend(x, r);
      return limbs::less_var(r, curve().p);
    }
    Rows sum(1, order_->limbs() + 1);
    sum[0][order_->limbs()] = limbs::add(sum[0].first(order_->limbs()), r, curve().n);
    limbs::copy_extend(x, sum[0]);
    return limbs::less_var(sum[0], curve().p);
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
  if (arguments.task.op == MM_ECC_SIGN) return std::make_unique<Signer>(arguments);
  if (arguments.task.op == MM_ECC_RECOVER) return std::make_unique<Recovery>(arguments);
  return std::make_unique<Verifier>(arguments);
}

}  // namespace manymod::ecc
