// SPDX-License-Identifier: Apache-2.0
// A multiplier modulo a small prime that counts operations, so that exponentiation methods can be checked
// exhaustively and by their operation counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "repr/canonical.hpp"

namespace manymod::test {

/// Residues modulo `prime`, one limb per lane. Models TableMonoid of modexp/monoid.hpp.
class SmallField {
 public:
  explicit SmallField(Limb prime, std::size_t lanes = 1) : prime_(prime), lanes_(lanes) {}

  [[nodiscard]] std::size_t lanes() const { return lanes_; }
  [[nodiscard]] std::size_t words() const { return lanes_; }

  void mul(Limb* r, const Limb* a, const Limb* b) const {
    ++multiplications;
    for (std::size_t lane = 0; lane < lanes_; ++lane) r[lane] = a[lane] * b[lane] % prime_;
  }
  void sqr(Limb* r, const Limb* a) const {
    ++squarings;
    for (std::size_t lane = 0; lane < lanes_; ++lane) r[lane] = a[lane] * a[lane] % prime_;
  }
  void set_one(Limb* r) const {
    for (std::size_t lane = 0; lane < lanes_; ++lane) r[lane] = 1;
  }
  void gather(Limb* r, const Limb* table, std::span<const std::uint32_t> indices) const {
    for (std::size_t lane = 0; lane < lanes_; ++lane) r[lane] = table[indices[lane] * lanes_ + lane];
  }
  void select(Limb* r, const Limb* table, std::size_t entries, std::span<const std::uint32_t> indices) const {
    entries_scanned += entries;
    gather(r, table, indices);
  }
  void gather_shared(Limb* r, const Limb* table, std::span<const std::uint32_t> indices) const {
    for (std::size_t lane = 0; lane < lanes_; ++lane) r[lane] = table[indices[lane]];
  }
  void select_shared(Limb* r, const Limb* table, std::size_t entries,
                     std::span<const std::uint32_t> indices) const {
    entries_scanned += entries;
    gather_shared(r, table, indices);
  }

  /// base^exponent by repeated multiplication, which is not counted.
  [[nodiscard]] Limb power(Limb base, Limb exponent) const {
    Limb result = 1;
    for (Limb i = 0; i < exponent; ++i) result = result * base % prime_;
    return result;
  }

  mutable std::size_t multiplications = 0;
  mutable std::size_t squarings = 0;
  mutable std::size_t entries_scanned = 0;

 private:
  Limb prime_;
  std::size_t lanes_;
};

}  // namespace manymod::test
