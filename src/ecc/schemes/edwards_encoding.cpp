// SPDX-License-Identifier: Apache-2.0
#include "ecc/schemes/edwards_encoding.hpp"

#include <algorithm>
#include <array>

#include "manymod/ecc.h"
#include "repr/limbs.hpp"

namespace manymod::ecc {
namespace {

constexpr std::size_t kMaxBytes = MM_ECC_MAX_BITS / 8 + 1;

Limb little_endian_limb(const std::uint8_t* bytes) { return __builtin_bswap64(load_limb(bytes)); }

/// x = p - x, or 0 for x = 0.
void negate_coordinate(std::span<Limb> x, std::span<const Limb> p) { limbs::negate_mod(x, x, p); }

}  // namespace

void limbs_from_little_endian(std::span<Limb> limbs, ByteSpan bytes) {
  std::size_t at = 0;
  for (Limb& limb : limbs) {
    limb = 0;
    if (at + sizeof limb <= bytes.size()) {
      limb = little_endian_limb(bytes.data() + at);
    } else {
      for (std::size_t i = at; i < bytes.size(); ++i) limb |= Limb{bytes[i]} << 8 * (i - at);
    }
    at += sizeof limb;
  }
}

void little_endian_from_limbs(std::span<std::uint8_t> bytes, std::span<const Limb> limbs) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const Limb limb = i / 8 < limbs.size() ? limbs[i / 8] : 0;
    bytes[i] = static_cast<std::uint8_t>(limb >> 8 * (i % 8));
  }
}

void write_edwards_point(const Curve& curve, std::span<std::uint8_t> bytes, const Limb* x, const Limb* y) {
  little_endian_from_limbs(bytes, {y, curve.limbs()});
  bytes.back() = static_cast<std::uint8_t>(bytes.back() | (x[0] & 1) << 7);
}

EdwardsPoints::EdwardsPoints(const PointEngine& engine, EdwardsReading reading, std::size_t rows)
    : engine_(engine),
      reading_(reading),
      limbs_(engine.curve().limbs()),
      x_(rows * limbs_),
      y_(rows * limbs_),
      odd_(rows),
      valid_(rows),
      found_(rows) {}

void EdwardsPoints::clear(std::size_t row) {
  std::fill_n(x(row), limbs_, Limb{0});
  std::fill_n(y(row), limbs_, Limb{0});
  y(row)[0] = 1;
  odd_[row] = 0;
  valid_[row] = 0;
}

void EdwardsPoints::read(std::size_t row, ByteSpan bytes) {
  const Curve& curve = engine_.curve();
  clear(row);
  if (bytes.size() != edwards_point_bytes(curve)) return;
  std::array<std::uint8_t, kMaxBytes> copy{};
  std::ranges::copy(bytes, copy.begin());
  std::uint8_t& last = copy[bytes.size() - 1];
  const auto odd = static_cast<std::uint8_t>(last >> 7);
  last &= 0x7F;
  std::array<Limb, limbs_for_bits(8 * kMaxBytes)> wide{};
  limbs_from_little_endian(wide, ByteSpan(copy).first(bytes.size()));
  const std::span<Limb> number = std::span(wide).first(limbs_for_bits(8 * bytes.size()));
  if (limbs::bit_length_var(number) > curve.field_bits) return;
  const std::span<Limb> value = std::span(wide).first(limbs_);
  if (!limbs::less_var(value, curve.p)) {
    if (reading_ == EdwardsReading::canonical) return;
    // y < 2^field_bits < 2 p.
    limbs::sub(value, value, curve.p);
  }
  std::ranges::copy(value, y(row));
  odd_[row] = odd;
  valid_[row] = 1;
}

void EdwardsPoints::lift(std::size_t rows) {
  engine_.lift(x_.data(), found_.data(), {y_.data(), limbs_}, odd_.data(), {0, rows});
  for (std::size_t row = 0; row < rows; ++row) {
    const bool signed_zero = odd_[row] != 0 && limbs::is_zero({x(row), limbs_}) == 1;
    const bool valid =
        valid_[row] != 0 && found_[row] != 0 && !(signed_zero && reading_ == EdwardsReading::canonical);
    if (!valid) clear(row);
  }
}

void EdwardsPoints::negate(std::size_t rows) {
  for (std::size_t row = 0; row < rows; ++row) negate_coordinate({x(row), limbs_}, engine_.curve().p);
}

}  // namespace manymod::ecc
