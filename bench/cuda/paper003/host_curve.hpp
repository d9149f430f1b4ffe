// SPDX-License-Identifier: Apache-2.0
// What the program paper003 compares results with: the chord and tangent law in affine coordinates on the
// host's 64-bit arithmetic, with an inversion in each step. It shares no code with the kernels.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "curves.hpp"
#include "field/scalar.hpp"

namespace manymod::bench::paper003 {

using Words = std::vector<std::uint32_t>;

inline constexpr std::size_t kHostLimbs = 6;  ///< 384 bits

class HostCurve {
 public:
  using Field = field::ScalarField<kHostLimbs>;
  using Element = Field::Element;
  struct Affine {
    Element x, y;
    bool infinity = false;
  };
  /// X, Y, Z of Jacobian coordinates, below p.
  struct Jacobian {
    Words x, y, z;
  };

  explicit HostCurve(const NamedCurve& curve);

  [[nodiscard]] unsigned words() const { return words_; }
  [[nodiscard]] const Words& p() const { return p_; }
  [[nodiscard]] const Words& a() const { return a_words_; }
  [[nodiscard]] const Affine& generator() const { return generator_; }

  [[nodiscard]] Affine add(const Affine& u, const Affine& v) const;
  /// k u, from the highest bit down.
  [[nodiscard]] Affine multiply(std::span<const std::uint32_t> k, const Affine& u) const;
  /// x y^steps mod p.
  [[nodiscard]] Words product(const Words& x, const Words& y, unsigned steps) const;
  /// 2^exponent mod p.
  [[nodiscard]] Words power_of_two(unsigned exponent) const;

  /// Coordinates with Z = z. In: z != 0.
  [[nodiscard]] Jacobian jacobian(const Affine& u, const Words& z) const;
  /// Whether (X, Y, Z), coordinates below p, is the point u.
  [[nodiscard]] bool is_point(const Jacobian& found, const Affine& u) const;

 private:
  unsigned words_;
  Words p_, a_words_;
  Field field_;
  Element a_;
  Affine generator_;

  [[nodiscard]] Element element(const Words& x) const;
  [[nodiscard]] Words words_of(const Element& x) const;
  [[nodiscard]] bool is_below_p(const Words& x) const;
};

}  // namespace manymod::bench::paper003
