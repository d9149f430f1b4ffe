// SPDX-License-Identifier: Apache-2.0
// Elliptic curve Diffie-Hellman: SEC 1, section 3.3.1; NIST SP 800-56A, section 5.7.1.2, without the
// cofactor. reference/ecc/ecdh.py is its oracle.
#include <array>
#include <memory>
#include <optional>

#include "ecc/schemes/encodings.hpp"
#include "ecc/schemes/numbers.hpp"

namespace manymod::ecc {
namespace {

class EcdhExchange final : public BlockScheme {
 public:
  using BlockScheme::BlockScheme;

  [[nodiscard]] double item_ns() const override { return BlockScheme::item_ns() + kDigestNs; }

  void compute(std::span<const std::size_t> items, const StopToken& stop) const override {
    std::optional<crypto::Hasher> hasher;
    if (inputs_.hash != MM_HASH_NONE) hasher.emplace(inputs_.hash);
    for_blocks(items, engine_, outputs_.status, stop,
               [&](const Block& block) { exchange(block, hasher, stop); });
  }

 private:
  void exchange(const Block& block, std::optional<crypto::Hasher>& hasher, const StopToken& stop) const {
    const Scalars secret(curve(), *inputs_.secret, block, MM_ITEM_ECC_SECRET);
    const PublicKeys keys(engine_, *inputs_.point, block);
    Points shared(block.size(), curve().limbs());
    engine_.multiply(shared.results(), secret.view(), keys.rows(), block.range(), TimingClass::secret, stop);
    if (stop.was_requested()) return;
    for (std::size_t row = 0; row < block.size(); ++row) {
      // Only points outside of the generator's group, on curves with a cofactor, lead to infinity.
      block.fail_unless(Limb{shared.infinity[row]} - 1, row, MM_ITEM_ECC_SMALL_ORDER);
      if (block.succeed(row)) write(block.item(row), shared.x[row], hasher);
    }
  }

  void write(std::size_t item, std::span<const Limb> x, std::optional<crypto::Hasher>& hasher) const {
    const std::size_t size = curve().coordinate_bytes();
    if (!hasher) return bytes_from_limbs(outputs_.result(item, size), x);
    std::array<std::uint8_t, MM_ECC_MAX_BITS / 8> bytes;
    bytes_from_limbs(std::span(bytes).first(size), x);
    hasher->digest(outputs_.result(item, hasher->size()), {ByteSpan(bytes).first(size)});
    wipe_bytes(bytes.data(), bytes.size());
  }
};

}  // namespace

std::unique_ptr<Scheme> make_ecdh(const SchemeArguments& arguments) {
  return std::make_unique<EcdhExchange>(arguments);
}

}  // namespace manymod::ecc
