// SPDX-License-Identifier: Apache-2.0
// Schnorr signatures of BIP 340 on secp256k1. reference/ecc/schnorr.py is their oracle.

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "crypto/random.hpp"
#include "ecc/schemes/multiples_check.hpp"
#include "ecc/schemes/signatures.hpp"
#include "repr/constant_time.hpp"
#include "repr/limbs.hpp"

namespace manymod::ecc {
namespace {

constexpr std::size_t kSize = 32;  ///< of a number
using String = std::array<std::uint8_t, kSize>;

/// A hash with a tag of its own: SHA256(SHA256(tag) || SHA256(tag) || data). The tags are hashed once.
class TaggedHash {
 public:
  TaggedHash(crypto::Hasher& sha256, std::string_view tag) : sha256_(sha256), begun_(sha256.another()) {
    const ByteSpan text(reinterpret_cast<const std::uint8_t*>(tag.data()), tag.size());
    std::array<std::uint8_t, 2 * kSize> prefix;
    sha256.digest(prefix, {text});
    std::copy_n(prefix.begin(), kSize, prefix.begin() + kSize);
    begun_.begin(prefix);
  }
  void digest(String& result, ByteSpan a, ByteSpan b = {}, ByteSpan c = {}) {
    sha256_.continue_digest(result, begun_, {a, b, c});
  }

 private:
  crypto::Hasher& sha256_;
  crypto::Hasher begun_;
};

/// The hashes of one thread.
struct Hashes {
  crypto::Hasher sha256{MM_SHA256};
  TaggedHash aux{sha256, "BIP0340/aux"};
  TaggedHash nonce{sha256, "BIP0340/nonce"};
  TaggedHash challenge{sha256, "BIP0340/challenge"};

  /// r = the digest mod n: 2^256 < 2 n.
  static void reduce(std::span<Limb> r, const String& digest, std::span<const Limb> n) {
    limbs_from_bytes(r, digest);
    limbs::reduce_once(r, n);
  }
};

/// k = -k where y is odd.
void negate_where_odd(const Order& order, Rows& k, const NumberRows& y, std::size_t count) {
  Rows negative(count, order.limbs());
  order.negate(negative.data(), k.view(), count);
  for (std::size_t row = 0; row < count; ++row) {
    const constant_time::Mask odd = word::mask_from_bit(y[row][0] & 1);
    for (std::size_t i = 0; i < order.limbs(); ++i) {
      k[row][i] = constant_time::select(odd, negative[row][i], k[row][i]);
    }
  }
}

/// Copies of a block's messages, one for all items if they share it. Two hashes take each message: if it
/// changed between them, two signatures could have one nonce.
class CopiedMessages {
 public:
  CopiedMessages(const ItemsIn& messages, const Block& block)
      : shared_(messages.is_shared()), copies_(shared_ ? 1 : block.size()) {
    for (std::size_t row = 0; row < copies_.size(); ++row) {
      const ByteSpan message = messages[block.item(row)];
      copies_[row].assign(message.begin(), message.end());
    }
  }
  [[nodiscard]] ByteSpan operator[](std::size_t row) const { return copies_[shared_ ? 0 : row]; }

 private:
  bool shared_;
  std::vector<std::vector<std::uint8_t>> copies_;
};

/// The numbers of a block of signatures.
struct Schnorr {
  Schnorr(const Curve& curve, std::size_t count)
      : d(count, curve.scalar_limbs()),
        k(count, curve.scalar_limbs()),
        e(count, curve.scalar_limbs()),
        s(count, curve.scalar_limbs()),
        own(count, curve.limbs()),
        nonce(count, curve.limbs()) {}

  Rows d, k, e, s;  ///< key and nonce, negated where the y of d G or k G is odd; challenge; response
  Points own;       ///< memory for `key`, unless all items share one
  PointRows key;    ///< d G for the given d
  Points nonce;     ///< k G for the derived k
};

class SchnorrSigner final : public BlockScheme {
 public:
  explicit SchnorrSigner(const SchemeArguments& arguments)
      : BlockScheme(arguments),
        order_(Order::of(curve())),
        keys_(engine_, inputs_),
        check_(inputs_.check && inputs_.nonces == MM_ECC_NONCE_DETERMINISTIC) {}

  [[nodiscard]] double item_ns() const override {
    return engine_.item_ns(PointOperation::multiply_base) * (check_ ? 3 : 2) + 3 * kDigestNs + kOrderNs;
  }

  void compute(std::span<const std::size_t> items, const StopToken& stop) const override {
    Hashes hashes;
    for_blocks(
        items, engine_, outputs_.status, stop, [&](const Block& block) { sign(block, hashes, stop); },
        check_ ? kCheckedItems : kBlockItems);
  }

 private:
  const std::unique_ptr<const Order> order_;
  const OwnKeys keys_;
  const bool check_;

  void sign(const Block& block, Hashes& hashes, const StopToken& stop) const {
    const std::size_t count = block.size();
    Schnorr x(curve(), count);
    const Scalars secret(curve(), *inputs_.secret, block, MM_ITEM_ECC_SECRET);
    for (std::size_t row = 0; row < count; ++row) std::ranges::copy(secret[row], x.d[row].begin());
    x.key = keys_.of(block, secret, x.own, stop);
    if (stop.was_requested()) return;
    negate_where_odd(*order_, x.d, x.key.y, count);
    const CopiedMessages messages(*inputs_.message, block);
    make_nonces(x, messages, block, hashes);
    multiply_base(x.nonce, x.k, block, stop);
    if (stop.was_requested()) return;
    negate_where_odd(*order_, x.k, x.nonce.y.view(), count);
    for (std::size_t row = 0; row < count; ++row) make_challenge(x, messages[row], row, hashes);
    order_->mul(x.s.data(), x.d.view(), x.e.view(), count);
    order_->add(x.s.data(), x.s.view(), x.k.view(), count);
    if (check_) verify_again(x, block, stop);
    if (!stop.was_requested()) write(x, block);
  }

  void multiply_base(Points& points, const Rows& k, const Block& block, const StopToken& stop) const {
    engine_.multiply_base(points.results(), k.view(), block.range(), TimingClass::secret, stop);
  }

  void make_nonces(Schnorr& x, const CopiedMessages& messages, const Block& block, Hashes& hashes) const {
    std::vector<String> random(block.size());
    fill_auxiliary(random, block);
    for (std::size_t row = 0; row < block.size(); ++row) {
      make_nonce(x, messages[row], random[row], row, hashes);
      block.fail_unless(in_range(x.k[row], curve().n), row, MM_ITEM_ECC_NONCE);
    }
    wipe_bytes(random.data(), random.size() * kSize);
  }

  /// The auxiliary randomness: zeros, fresh, or given.
  void fill_auxiliary(std::span<String> random, const Block& block) const {
    if (inputs_.nonces == MM_ECC_NONCE_HEDGED) {
      crypto::private_random_bytes(std::as_writable_bytes(random));
    }
    for (std::size_t row = 0; inputs_.nonce && row < block.size(); ++row) {
      const ByteSpan given = (*inputs_.nonce)[block.item(row)];
      if (given.size() == kSize) {
        std::ranges::copy(given, random[row].begin());
      } else {
        block.fail(row, MM_ITEM_ECC_LENGTH);
      }
    }
  }

  /// k = H(d xor H(random) || x of the key || message) mod n.
  void make_nonce(Schnorr& x, ByteSpan message, const String& random, std::size_t row, Hashes& hashes) const {
    String masked, digest, key;
    hashes.aux.digest(digest, random);
    bytes_from_limbs(masked, x.d[row]);
    for (std::size_t i = 0; i < kSize; ++i) masked[i] = static_cast<std::uint8_t>(masked[i] ^ digest[i]);
    bytes_from_limbs(key, {x.key.x[row], curve().limbs()});
    hashes.nonce.digest(digest, masked, key, message);
    Hashes::reduce(x.k[row], digest, curve().n);
    wipe_bytes(masked.data(), kSize);
    wipe_bytes(digest.data(), kSize);
  }

  /// e = H(x of R || x of the key || message) mod n.
  void make_challenge(Schnorr& x, ByteSpan message, std::size_t row, Hashes& hashes) const {
    String r, key, digest;
    bytes_from_limbs(r, x.nonce.x[row]);
    bytes_from_limbs(key, {x.key.x[row], curve().limbs()});
    hashes.challenge.digest(digest, r, key, message);
    Hashes::reduce(x.e[row], digest, curve().n);
  }

  /// The equation of verification, R = s G - e P with an even y, for P = d G: one multiplication by s - e d.
  void verify_again(const Schnorr& x, const Block& block, const StopToken& stop) const {
    const std::size_t count = block.size();
    Rows k(count, order_->limbs());
    order_->mul(k.data(), x.d.view(), x.e.view(), count);
    order_->sub(k.data(), x.s.view(), k.view(), count);
    if (confirms_all(x, k, count, stop) || stop.was_requested()) return;
    const Points point = multiply_again(engine_, k.view(), k.limbs(), count, stop);
    if (stop.was_requested()) return;
    for (std::size_t row = 0; row < count; ++row) {
      Limb difference = point.y[row][0] & 1;
      for (std::size_t i = 0; i < curve().limbs(); ++i) {
        difference |= point.x[row][i] ^ x.nonce.x[row][i];
      }
      block.fail_unless(constant_time::is_zero(difference), row, MM_ITEM_ECC_FAULT);
    }
  }

  /// Whether one equation shows that all k G have the x of nonces and an even y.
  [[nodiscard]] bool confirms_all(const Schnorr& x, const Rows& k, std::size_t count,
                                  const StopToken& stop) const {
    Rows y(count, curve().limbs());
    for (std::size_t row = 0; row < count; ++row) with_parity(y[row], x.nonce.y[row], 0, curve().p);
    return confirms_multiples(engine_, *order_, k.view(),
                              {x.nonce.x.view(), y.view(), x.nonce.infinity.data()}, count, stop);
  }

  void write(const Schnorr& x, const Block& block) const {
    for (std::size_t row = 0; row < block.size(); ++row) {
      if (!block.succeed(row)) continue;
      const auto bytes = outputs_.result(block.item(row), 2 * kSize);
      bytes_from_limbs(bytes.first(kSize), x.nonce.x[row]);
      bytes_from_limbs(bytes.last(kSize), x.s[row]);
    }
  }
};

/// A block's parsed signatures: R by its x, s, and e. Malformed items get a status and placeholder values
/// that every stage accepts.
struct Claims {
  Claims(const PointEngine& engine, const Inputs& inputs, const Block& block, Hashes& hashes)
      : keys(engine, *inputs.point, block, Sec1Reading::x_only),
        r(block.size(), engine.curve().limbs()),
        s(block.size(), engine.curve().scalar_limbs()),
        e(block.size(), engine.curve().scalar_limbs()) {
    for (std::size_t row = 0; row < block.size(); ++row) {
      std::array<std::uint8_t, 2 * kSize> bytes{};
      const ByteSpan given = (*inputs.signature)[block.item(row)];
      if (given.size() == bytes.size()) std::ranges::copy(given, bytes.begin());
      if (given.size() != bytes.size() || !read_numbers(engine.curve(), bytes, row)) {
        block.fail(row, MM_ITEM_ECC_SIGNATURE);
        std::ranges::copy(engine.curve().x, r[row].begin());
        std::ranges::fill(s[row], Limb{0});
      }
      String key, digest;
      bytes_from_limbs(key, keys.x(row));
      hashes.challenge.digest(digest, ByteSpan(bytes).first(kSize), key, (*inputs.message)[block.item(row)]);
      Hashes::reduce(e[row], digest, engine.curve().n);
    }
  }

  PublicKeys keys;
  Rows r, s, e;

 private:
  bool read_numbers(const Curve& curve, ByteSpan bytes, std::size_t row) {
    limbs_from_bytes(r[row], bytes.first(kSize));
    limbs_from_bytes(s[row], bytes.last(kSize));
    return limbs::less_var(r[row], curve.p) && limbs::less_var(s[row], curve.n);
  }
};

class SchnorrVerifier final : public BlockScheme {
 public:
  explicit SchnorrVerifier(const SchemeArguments& arguments)
      : BlockScheme(arguments), order_(Order::of(curve())) {}

  [[nodiscard]] double item_ns() const override {
    return BlockScheme::item_ns() + engine_.item_ns(PointOperation::lift) + kDigestNs + kOrderNs;
  }

  void compute(std::span<const std::size_t> items, const StopToken& stop) const override {
    Hashes hashes;
    for_blocks(items, engine_, outputs_.status, stop,
               [&](const Block& block) { verify(block, hashes, stop); });
  }

 private:
  const std::unique_ptr<const Order> order_;

  /// R = s G - e P has x = r and an even y.
  void verify(const Block& block, Hashes& hashes, const StopToken& stop) const {
    Claims x(engine_, inputs_, block, hashes);
    order_->negate(x.e.data(), x.e.view(), block.size());
    Points point(block.size(), curve().limbs());
    engine_.multiply_two(point.results(), x.s.view(), x.e.view(), x.keys.rows(), block.range(), stop);
    if (stop.was_requested()) return;
    for (std::size_t row = 0; row < block.size(); ++row) {
      if (!block.succeed(row)) continue;
      const bool valid = point.infinity[row] == 0 && (point.y[row][0] & 1) == 0 &&
                         std::ranges::equal(point.x[row], x.r[row]);
      outputs_.ok[block.item(row)] = valid ? 1 : 0;
    }
  }
};

/// One verdict for many signatures: sum a (s G - e P - R) is infinity for random 128-bit numbers a. If one
/// signature is wrong, that holds for one a in 2^128 at most.
class SchnorrBatchVerifier final : public BlockScheme {
 public:
  explicit SchnorrBatchVerifier(const SchemeArguments& arguments)
      : BlockScheme(arguments), order_(Order::of(curve())) {}

  [[nodiscard]] double item_ns() const override {
    return engine_.item_ns(PointOperation::multiply) / 2 + 2 * engine_.item_ns(PointOperation::lift) +
           kDigestNs + kOrderNs;
  }

  void compute(std::span<const std::size_t> items, const StopToken& stop) const override {
    Hashes hashes;
    while (!items.empty() && !stop.requested_now()) {
      const std::size_t count = std::min(items.size(), kTogether);
      const Block block(items.first(count), outputs_.status);
      items = items.subspan(count);
      const bool valid = verify(block, hashes, stop);
      if (stop.was_requested()) return;
      for (std::size_t row = 0; row < count; ++row) {
        if (block.succeed(row)) outputs_.ok[block.item(row)] = valid ? 1 : 0;
      }
    }
  }

 private:
  /// Items whose numbers are in memory at a time: the more, the fewer additions each.
  static constexpr std::size_t kTogether = std::size_t{1} << 15;

  const std::unique_ptr<const Order> order_;

  bool verify(const Block& block, Hashes& hashes, const StopToken& stop) const {
    const std::size_t count = block.size();
    const Claims x(engine_, inputs_, block, hashes);
    // Terms 0 .. count - 1: a R; then a e P; then -(sum a s) G.
    Rows k(2 * count + 1, order_->limbs());
    Points points(2 * count + 1, curve().limbs());
    std::vector<std::uint8_t> found(count), even(count, 0);
    engine_.lift(points.y.data(), found.data(), x.r.view(), even.data(), block.range());
    draw(k, count);
    multiply_claims(k, x, count);
    for (std::size_t row = 0; row < count; ++row) {
      std::ranges::copy(x.r[row], points.x[row].begin());
      std::ranges::copy(x.keys.x(row), points.x[count + row].begin());
      std::ranges::copy(x.keys.y(row), points.y[count + row].begin());
    }
    std::ranges::copy(curve().x, points.x[2 * count].begin());
    std::ranges::copy(curve().y, points.y[2 * count].begin());
    const bool all_found = std::ranges::find(found, std::uint8_t{0}) == found.end();
    const auto failed = [&](std::size_t item) { return outputs_.status[item] != MM_ITEM_NOT_COMPUTED; };
    if (!all_found || std::ranges::any_of(block.items(), failed)) return false;
    Points sum(1, curve().limbs());
    engine_.sum(sum.results(), k.view(), {points.x.view(), points.y.view()}, {0, 2 * count + 1}, stop);
    return sum.infinity[0] != 0;
  }

  /// Random numbers below 2^128 for the first rows.
  void draw(Rows& k, std::size_t count) const {
    std::vector<Limb> random(2 * count);
    crypto::random_bytes(std::span(random));
    for (std::size_t row = 0; row < count; ++row) std::copy_n(&random[2 * row], 2, k[row].begin());
  }

  void multiply_claims(Rows& k, const Claims& x, std::size_t count) const {
    const NumberRows a = k.view();
    order_->mul(k[count].data(), a, x.e.view(), count);
    Rows products(count, order_->limbs());
    order_->mul(products.data(), a, x.s.view(), count);
    const std::span<Limb> total = k[2 * count];
    for (std::size_t row = 0; row < count; ++row) limbs::add_mod(total, total, products[row], curve().n);
    limbs::negate_mod(total, total, curve().n);
  }
};

}  // namespace

std::unique_ptr<Scheme> make_bip340(const SchemeArguments& arguments) {
  if (arguments.task.op == MM_ECC_SIGN) return std::make_unique<SchnorrSigner>(arguments);
  if (arguments.task.op == MM_ECC_VERIFY) return std::make_unique<SchnorrVerifier>(arguments);
  return std::make_unique<SchnorrBatchVerifier>(arguments);
}

}  // namespace manymod::ecc
