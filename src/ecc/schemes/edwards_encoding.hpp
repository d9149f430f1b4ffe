// SPDX-License-Identifier: Apache-2.0
// Encodings of points of Edwards curves (RFC 8032, sections 5.1.2 and 5.2.2): y, little-endian, and in the
// top bit of the last byte the parity of x.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/limb.hpp"
#include "ecc/curve.hpp"
#include "ecc/point_engine.hpp"
#include "repr/bytes.hpp"

namespace manymod::ecc {

/// limbs = the little-endian number in `bytes`, zero-extended. On input: bytes.size() <= 8 limbs.size().
/// Timing: constant-time.
void limbs_from_little_endian(std::span<Limb> limbs, ByteSpan bytes);
/// bytes = the low bytes of the number in `limbs`, little-endian. Timing: constant-time.
void little_endian_from_limbs(std::span<std::uint8_t> bytes, std::span<const Limb> limbs);

/// canonical: y < p, and no sign on x = 0, as RFC 8032 has it. any: y of field_bits bits is reduced, and x =
/// 0 may have the sign, as ZIP 215 has it.
enum class EdwardsReading : std::uint8_t { canonical, any };

/// Bytes of an encoding: field_bits of y, one of x, and for Ed448 seven that are 0.
inline std::size_t edwards_point_bytes(const Curve& curve) { return curve.field_bits / 8 + 1; }

/// bytes = the encoding of (x, y). On input: edwards_point_bytes(curve) bytes; x, y < p. Timing:
/// constant-time.
void write_edwards_point(const Curve& curve, std::span<std::uint8_t> bytes, const Limb* x, const Limb* y);

/// Points of a batch that are read from encodings: first read() for every row, then lift() once. Rows that
/// are no points become the neutral element, so that engines may compute with all of them. Public.
class EdwardsPoints {
 public:
  EdwardsPoints(const PointEngine& engine, EdwardsReading reading, std::size_t rows);

  /// Take an encoding, of any length, as that of a row; the bytes are read once.
  void read(std::size_t row, ByteSpan bytes);
  /// Make a row the neutral element, with valid() = false.
  void clear(std::size_t row);
  /// Compute x of the first `rows` rows.
  void lift(std::size_t rows);

  /// Whether the row's encoding was that of a point. After lift().
  [[nodiscard]] bool valid(std::size_t row) const { return valid_[row] != 0; }
  /// r = -r for the first `rows` rows. After lift().
  void negate(std::size_t rows);

  [[nodiscard]] Limb* x(std::size_t row) { return x_.data() + row * limbs_; }
  [[nodiscard]] Limb* y(std::size_t row) { return y_.data() + row * limbs_; }
  [[nodiscard]] PointRows rows() const { return {{x_.data(), limbs_}, {y_.data(), limbs_}}; }

 private:
  const PointEngine& engine_;
  EdwardsReading reading_;
  std::size_t limbs_;
  std::vector<Limb> x_, y_;
  std::vector<std::uint8_t> odd_, valid_, found_;
};

}  // namespace manymod::ecc
