// SPDX-License-Identifier: Apache-2.0
// SM2 key exchange: GB/T 32918.3. reference/ecc/sm2.py is its oracle.
#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "ecc/schemes/encodings.hpp"
#include "ecc/schemes/numbers.hpp"
#include "ecc/schemes/sm2_identity.hpp"

namespace manymod::ecc {
namespace {

constexpr std::size_t kNumberBytes = 32;  ///< of a coordinate and of a digest

/// What a block reads and computes. "Initiator" is the user A of the standard, "responder" is B.
struct Exchange {
  Exchange(const PointEngine& engine, const Inputs& inputs, const Block& block)
      : secret(engine.curve(), *inputs.secret, block, MM_ITEM_ECC_SECRET),
        ephemeral(engine.curve(), *inputs.nonce, block, MM_ITEM_ECC_SECRET),
        peer_key(engine, *inputs.point, block),
        peer_ephemeral(engine, *inputs.second, block),
        own(block.size(), engine.curve().limbs()),
        ephemeral_point(block.size(), engine.curve().limbs()),
        shared(block.size(), engine.curve().limbs()) {}

  Scalars secret, ephemeral;
  PublicKeys peer_key, peer_ephemeral;
  Points own;     ///< room for `key`
  PointRows key;  ///< of the own secrets
  Points ephemeral_point;
  Points shared;  ///< U of the standard
};

using Coordinates = std::array<std::uint8_t, 2 * kNumberBytes>;

void write_point(Coordinates& bytes, std::span<const Limb> x, std::span<const Limb> y) {
  bytes_from_limbs(std::span(bytes).first(kNumberBytes), x);
  bytes_from_limbs(std::span(bytes).last(kNumberBytes), y);
}

/// r = 2^127 + (x mod 2^127).
void half_of(std::span<Limb> r, std::span<const Limb> x) {
  constexpr Limb kTop = Limb{1} << (kLimbBits - 1);
  std::ranges::fill(r, Limb{0});
  r[0] = x[0];
  r[1] = x[1] | kTop;
}

/// The hashes of one thread.
struct ExchangeHashes {
  crypto::Hasher sm3{MM_SM3};
  Sm2Prefix own, peer;
};

class Sm2Exchange final : public BlockScheme {
 public:
  explicit Sm2Exchange(const SchemeArguments& arguments)
      : BlockScheme(arguments), order_(Order::of(curve())), keys_(engine_, inputs_), identity_(curve()) {}

  [[nodiscard]] double item_ns() const override {
    return 2 * engine_.item_ns(PointOperation::multiply_base) +
           2 * engine_.item_ns(PointOperation::multiply) + 6 * kDigestNs;
  }

  void compute(std::span<const std::size_t> items, const StopToken& stop) const override {
    ExchangeHashes hashes;
    for_blocks(items, engine_, outputs_.status, stop,
               [&](const Block& block) { exchange(block, hashes, stop); });
  }

 private:
  const std::unique_ptr<const Order> order_;
  const OwnKeys keys_;
  const Sm2Identity identity_;

  void exchange(const Block& block, ExchangeHashes& hashes, const StopToken& stop) const {
    Exchange x(engine_, inputs_, block);
    x.key = keys_.of(block, x.secret, x.own, stop);
    engine_.multiply_base(x.ephemeral_point.results(), x.ephemeral.view(), block.range(), TimingClass::secret,
                          stop);
    if (stop.was_requested()) return;
    const Rows t = own_factor(x, block.size());
    Points sum(block.size(), curve().limbs());
    add_peer(sum, x, block, stop);
    if (stop.was_requested()) return;
    engine_.multiply(x.shared.results(), t.view(), {sum.x.view(), sum.y.view()}, block.range(),
                     TimingClass::secret, stop);
    if (stop.was_requested()) return;
    for (std::size_t row = 0; row < block.size(); ++row) {
      block.fail_unless(Limb{x.shared.infinity[row]} - 1, row, MM_ITEM_ECC_SMALL_ORDER);
      write(x, block, row, hashes);
    }
  }

  /// t = d + half(x of the own ephemeral point) r mod n.
  [[nodiscard]] Rows own_factor(const Exchange& x, std::size_t count) const {
    Rows t(count, order_->limbs());
    for (std::size_t row = 0; row < count; ++row) half_of(t[row], x.ephemeral_point.x[row]);
    order_->mul(t.data(), x.ephemeral.view(), t.view(), count);
    order_->add(t.data(), t.view(), x.secret.view(), count);
    return t;
  }

  /// P + half(x of R) R for the other side's points. Where that is infinity the generator takes its place.
  void add_peer(Points& sum, const Exchange& x, const Block& block, const StopToken& stop) const {
    const std::size_t count = block.size();
    Rows half(count, order_->limbs());
    for (std::size_t row = 0; row < count; ++row) half_of(half[row], x.peer_ephemeral.x(row));
    Points product(count, curve().limbs());
    engine_.multiply(product.results(), half.view(), x.peer_ephemeral.rows(), block.range(),
                     TimingClass::public_, stop);
    if (stop.was_requested()) return;
    engine_.add(sum.results(), x.peer_key.rows(),
                {product.x.view(), product.y.view(), product.infinity.data()}, block.range());
    for (std::size_t row = 0; row < count; ++row) {
      if (sum.infinity[row] == 0) continue;
      block.fail(row, MM_ITEM_ECC_SMALL_ORDER);
      std::ranges::copy(curve().x, sum.x[row].begin());
      std::ranges::copy(curve().y, sum.y[row].begin());
    }
  }

  void write(const Exchange& x, const Block& block, std::size_t row, ExchangeHashes& hashes) const {
    const std::size_t item = block.item(row);
    Sm2Digest own{}, peer{};
    const bool known = identity_.digest(own, id_of(inputs_.context, item), coordinate(x.key.x, row),
                                        coordinate(x.key.y, row), hashes.own) &&
                       identity_.digest(peer, id_of(inputs_.peer_context, item), x.peer_key.x(row),
                                        x.peer_key.y(row), hashes.peer);
    if (!known) block.fail(row, MM_ITEM_ECC_LENGTH);
    if (!block.succeed(row)) return;
    const Sm2Digest& za = inputs_.responder ? peer : own;
    const Sm2Digest& zb = inputs_.responder ? own : peer;
    Coordinates shared;
    write_point(shared, x.shared.x[row], x.shared.y[row]);
    const std::size_t confirmations = inputs_.confirm ? 2 * kNumberBytes : 0;
    const auto bytes = outputs_.result(item, inputs_.key_bytes + confirmations);
    derive(bytes.first(inputs_.key_bytes), shared, za, zb, hashes.sm3);
    if (inputs_.confirm) confirm(bytes.last(2 * kNumberBytes), x, row, shared, za, zb, hashes.sm3);
    wipe_bytes(shared.data(), shared.size());
  }

  [[nodiscard]] std::span<const Limb> coordinate(const NumberRows& rows, std::size_t row) const {
    return {rows[row], curve().limbs()};
  }
  [[nodiscard]] static ByteSpan id_of(const std::optional<ItemsIn>& ids, std::size_t item) {
    return ids ? (*ids)[item] : ByteSpan();
  }

  /// The key derivation function of GB/T 32918.3, section 5.4.3: SM3 of the data and a counter from 1.
  static void derive(std::span<std::uint8_t> key, const Coordinates& shared, const Sm2Digest& za,
                     const Sm2Digest& zb, crypto::Hasher& sm3) {
    Sm2Digest digest;
    for (std::uint32_t counter = 1; !key.empty(); ++counter) {
      const std::array<std::uint8_t, 4> number{
          static_cast<std::uint8_t>(counter >> 24), static_cast<std::uint8_t>(counter >> 16),
          static_cast<std::uint8_t>(counter >> 8), static_cast<std::uint8_t>(counter)};
      sm3.digest(digest, {shared, za, zb, number});
      const std::size_t size = std::min(key.size(), digest.size());
      std::copy_n(digest.begin(), size, key.begin());
      key = key.subspan(size);
    }
    wipe_bytes(digest.data(), digest.size());
  }

  /// What the responder sends, SM3(2 || y of U || inner), and the initiator, SM3(3 || y of U || inner).
  void confirm(std::span<std::uint8_t> bytes, const Exchange& x, std::size_t row, const Coordinates& shared,
               const Sm2Digest& za, const Sm2Digest& zb, crypto::Hasher& sm3) const {
    Coordinates own, peer;
    write_point(own, x.ephemeral_point.x[row], x.ephemeral_point.y[row]);
    write_point(peer, x.peer_ephemeral.x(row), x.peer_ephemeral.y(row));
    const ByteSpan x_bytes = ByteSpan(shared).first(kNumberBytes);
    const ByteSpan y_bytes = ByteSpan(shared).last(kNumberBytes);
    Sm2Digest inner;
    sm3.digest(inner, {x_bytes, za, zb, inputs_.responder ? peer : own, inputs_.responder ? own : peer});
    for (const std::uint8_t sender : {std::uint8_t{2}, std::uint8_t{3}}) {
      sm3.digest(bytes.subspan((sender - 2U) * kNumberBytes, kNumberBytes),
                 {ByteSpan(&sender, 1), y_bytes, inner});
    }
    wipe_bytes(inner.data(), inner.size());
  }
};

}  // namespace

std::unique_ptr<Scheme> make_sm2_exchange(const SchemeArguments& arguments) {
  return std::make_unique<Sm2Exchange>(arguments);
}

}  // namespace manymod::ecc
