// SPDX-License-Identifier: Apache-2.0
#include "ecc/schemes/xdh.hpp"

#include <array>
#include <memory>
#include <optional>

#include "crypto/hash.hpp"
#include "ecc/schemes/block.hpp"
#include "ecc/schemes/edwards_encoding.hpp"
#include "repr/limbs.hpp"
#include "repr/wipe.hpp"

namespace manymod::ecc {
namespace {

constexpr std::size_t kMaxSecretBytes = 56;

class Xdh final : public BlockScheme {
 public:
  using BlockScheme::BlockScheme;

  void compute(std::span<const std::size_t> items, const StopToken& stop) const override {
    std::optional<crypto::Hasher> hasher;
    if (exchanges() && inputs_.hash != MM_HASH_NONE) hasher.emplace(inputs_.hash);
    for_blocks(items, engine_, outputs_.status, stop,
               [&](const Block& block) { multiply(block, hasher, stop); });
  }

 private:
  [[nodiscard]] bool exchanges() const { return task_.op == MM_ECC_EXCHANGE; }
  [[nodiscard]] std::size_t bytes() const { return curve().coordinate_bytes(); }

  void multiply(const Block& block, std::optional<crypto::Hasher>& hasher, const StopToken& stop) const {
    const std::size_t count = block.size(), limbs = curve().limbs();
    Rows scalars(count, limbs), u(exchanges() ? count : 0, limbs), results(count, limbs);
    for (std::size_t row = 0; row < count; ++row) {
      read_scalar(scalars[row], block, row);
      if (exchanges()) read_u(u[row], block, row);
    }
    if (exchanges()) {
      engine_.ladder(results.data(), scalars.view(), u.view(), static_cast<unsigned>(curve().field_bits),
                     block.range(), stop);
    } else {
      engine_.multiply_base({results.data(), nullptr, nullptr}, scalars.view(), block.range(),
                            TimingClass::secret, stop);
    }
    if (stop.was_requested()) return;
    for (std::size_t row = 0; row < count; ++row) {
      bool small_order = false;
      note_small_order(results[row], small_order);
      if (small_order) block.fail(row, MM_ITEM_ECC_SMALL_ORDER);
      if (block.succeed(row)) write(block.item(row), results[row], hasher);
    }
  }

  /// A multiple of the cofactor with bit field_bits - 1 set and none above.
  void read_scalar(std::span<Limb> scalar, const Block& block, std::size_t row) const {
    const ByteSpan secret = (*inputs_.secret)[block.item(row)];
    if (secret.size() != bytes()) return block.fail(row, MM_ITEM_ECC_SECRET);
    limbs_from_little_endian(scalar, secret);
    const std::size_t top = curve().field_bits - 1;
    scalar[0] &= ~(curve().cofactor[0] - 1);
    limbs::truncate_bits(scalar, top);
    scalar[top / kLimbBits] |= Limb{1} << top % kLimbBits;
  }
  /// u mod p: below 2^field_bits < 2 p.
  void read_u(std::span<Limb> u, const Block& block, std::size_t row) const {
    const ByteSpan point = (*inputs_.point)[block.item(row)];
    if (point.size() != bytes()) return block.fail(row, MM_ITEM_ECC_POINT);
    limbs_from_little_endian(u, point);
    limbs::truncate_bits(u, curve().field_bits);
    limbs::reduce_once(u, curve().p);
  }

  /// small_order = true for a result of 0, which is public. Not inlined, because the secret-independence
  /// tests suppress findings in this function by its name.
  [[gnu::noinline]] void note_small_order(std::span<const Limb> u, bool& small_order) const {
    if (limbs::is_zero(u) == 1) small_order = exchanges();
  }

  void write(std::size_t item, std::span<const Limb> u, std::optional<crypto::Hasher>& hasher) const {
    if (!hasher) return little_endian_from_limbs(outputs_.result(item, bytes()), u);
    std::array<std::uint8_t, kMaxSecretBytes> secret;
    const std::span<std::uint8_t> used = std::span(secret).first(bytes());
    little_endian_from_limbs(used, u);
    hasher->digest(outputs_.result(item, hasher->size()), {used});
    wipe_bytes(secret.data(), secret.size());
  }
};

}  // namespace

std::unique_ptr<Scheme> make_xdh(mm_ecc_op op, const PointEngine& engine, const Inputs& inputs,
                                 const Outputs& outputs) {
  return std::make_unique<Xdh>(SchemeArguments{{op, MM_ECC_DEFAULT}, engine, inputs, outputs});
}

}  // namespace manymod::ecc
