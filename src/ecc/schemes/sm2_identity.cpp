// SPDX-License-Identifier: Apache-2.0
#include "ecc/schemes/sm2_identity.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace manymod::ecc {

namespace {

constexpr std::string_view kUsual = "1234567812345678";
constexpr std::size_t kMostBytes = 0xffff / 8;

/// Forget Z unless it is that of `key`, which is public. Not inlined, because the secret-independence tests
/// suppress findings in this function by its name.
[[gnu::noinline]] void forget_other_key(Sm2Prefix& prefix, ByteSpan key) {
  if (!std::ranges::equal(key, prefix.key)) prefix.z.reset();
}

}  // namespace

Sm2Identity::Sm2Identity(const Curve& curve)
    : coordinate_(curve.coordinate_bytes()), numbers_(4 * curve.coordinate_bytes()) {
  std::span<std::uint8_t> rest(numbers_);
  for (const std::vector<Limb>* number : {&curve.a, &curve.b, &curve.x, &curve.y}) {
    bytes_from_limbs(rest.first(coordinate_), *number);
    rest = rest.subspan(coordinate_);
  }
}

std::vector<std::uint8_t> Sm2Identity::before_key(ByteSpan id) const {
  if (id.empty()) id = {reinterpret_cast<const std::uint8_t*>(kUsual.data()), kUsual.size()};
  if (id.size() > kMostBytes) return {};
  const std::size_t bits = 8 * id.size();
  std::vector<std::uint8_t> bytes{static_cast<std::uint8_t>(bits >> 8), static_cast<std::uint8_t>(bits)};
  bytes.insert(bytes.end(), id.begin(), id.end());
  bytes.insert(bytes.end(), numbers_.begin(), numbers_.end());
  return bytes;
}

bool Sm2Identity::digest(Sm2Digest& z, ByteSpan id, std::span<const Limb> x, std::span<const Limb> y,
                         Sm2Prefix& prefix) const {
  if (!prefix.begun || !std::ranges::equal(id, prefix.id)) {
    // The caller's bytes are read once.
    prefix.id.assign(id.begin(), id.end());
    const std::vector<std::uint8_t> before = before_key(prefix.id);
    prefix.begun = !before.empty();
    prefix.z.reset();
    if (!prefix.begun) return false;
    prefix.before_key.begin(before);
  }
  std::array<std::uint8_t, 64> key;
  bytes_from_limbs(std::span(key).first(coordinate_), x);
  bytes_from_limbs(std::span(key).subspan(coordinate_, coordinate_), y);
  forget_other_key(prefix, key);
  if (!prefix.z) {
    prefix.key = key;
    prefix.hasher.continue_digest(prefix.z.emplace(), prefix.before_key, {key});
  }
  z = *prefix.z;
  return true;
}

}  // namespace manymod::ecc
