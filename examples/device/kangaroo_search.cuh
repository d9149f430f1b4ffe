// SPDX-License-Identifier: Apache-2.0
// Pollard's kangaroos on secp256k1: the host's part of kangaroo.cu, without calls of CUDA.
//
// Sought is k' of k' G, 0 <= k' < N = 2^bits. Tame kangaroos begin at r G, wild ones at (k' + r - N / 2) G,
// for random 0 <= r < N, and jump by N^(1/2) / 2 on average. Where a tame and a wild one meet, they stay
// together up to a distinguished point, and their distances tell k'. That takes about 2.08 N^(1/2) jumps, and
// for each kangaroo those to its next distinguished point (J. M. Pollard, "Kangaroos, Monopoly and Discrete
// Logarithms", 2000; P. C. van Oorschot, M. J. Wiener, "Parallel collision search with cryptanalytic
// applications", 1999).
//
// All kangaroos are moved by 2^255 G, so that none ever meets a point that is added to it.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <unordered_map>
#include <vector>

#include "kangaroo.cuh"

namespace kangaroo {

/// A number of little-endian words below the order of the curve.
struct Scalar {
  std::uint32_t word[Curve::kOrderWords] = {};
};

/// a + b, or a - b, modulo 2^256.
inline Scalar sum(const Scalar& a, const Scalar& b, bool negative = false) {
  Scalar r;
  std::uint64_t carry = negative ? 1 : 0;
  for (unsigned j = 0; j < Curve::kOrderWords; ++j) {
    carry += std::uint64_t{a.word[j]} + (negative ? ~b.word[j] : b.word[j]);
    r.word[j] = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  return r;
}
/// 2^bit
inline Scalar power_of_two(unsigned bit) {
  Scalar r;
  r.word[bit / 32] = std::uint32_t{1} << (bit % 32);
  return r;
}
inline Scalar scalar(const Quad& distance) {
  Scalar r;
  widen(r.word, distance);
  return r;
}
inline Curve::Jacobian multiple(const Scalar& k) {
  return Curve::multiply_public(Curve::generator(), k.word);
}

class Search {
 public:
  /// For k of target = k G with first <= k < first + 2^bits. In: 2 <= bits <= 125, first + 2^bits below the
  /// order of the curve.
  Search(const Affine& target, const Scalar& first, unsigned bits, std::uint64_t seed)
      : target_(target), first_(first), bits_(bits), random_(seed) {
    const Scalar shift = power_of_two(255);
    tame_ = Curve::to_affine(multiple(shift));
    const auto from_middle = multiple(sum(shift, power_of_two(bits - 1), true));
    const auto from_first = Curve::add(from_middle, Curve::negate(multiple(first)));
    wild_ = Curve::to_affine(Curve::add(from_first, target));
    for (unsigned i = 0; i < kJumps; ++i) {
      const Quad distance = random_below((bits + 1) / 2);
      // Never 0.
      jumps_.push_back(jump(sum(distance, Quad{{1, 0, 0, 0}})));
    }
  }

  [[nodiscard]] const std::vector<Jump>& jumps() const { return jumps_; }
  /// Where kangaroo i begins its distance.
  [[nodiscard]] const Affine& base(std::uint32_t i) const { return i % 2 == 0 ? tame_ : wild_; }
  /// A distance to begin with.
  Quad random_distance() { return random_below(bits_); }

  /// The jumps to expect of `count` kangaroos of which one in 2^distinguished points is distinguished.
  [[nodiscard]] double expected_jumps(double count, unsigned distinguished) const {
    return 2.08 * std::exp2(bits_ / 2.0) + count * std::exp2(distinguished);
  }

  enum class Outcome { nothing, repeated, found };
  /// Takes a kangaroo on a distinguished point. repeated: it follows another of its kind, and must start
  /// anew. found: key() is k, which has been checked.
  Outcome take(const Sighting& sighting) {
    const std::uint64_t key = std::uint64_t{sighting.x[0].word[3]} << 32 | sighting.x[0].word[2];
    const bool wild = sighting.kangaroo % 2 != 0;
    const auto [place, is_new] = trails_.try_emplace(key, Trail{sighting.distance, wild});
    if (is_new) return Outcome::nothing;
    const Trail& other = place->second;
    if (other.wild == wild) return Outcome::repeated;
    const Quad& tame_distance = wild ? other.distance : sighting.distance;
    const Quad& wild_distance = wild ? sighting.distance : other.distance;
    const Scalar offset =
        sum(sum(scalar(tame_distance), power_of_two(bits_ - 1)), scalar(wild_distance), true);
    key_ = sum(first_, offset);
    return Curve::equal(multiple(key_), Curve::from_affine(target_)) ? Outcome::found : Outcome::nothing;
  }
  [[nodiscard]] const Scalar& key() const { return key_; }
  [[nodiscard]] std::size_t trails() const { return trails_.size(); }

 private:
  struct Trail {
    Quad distance;
    bool wild;
  };

  Affine target_, tame_, wild_;
  Scalar first_, key_;
  unsigned bits_;
  std::mt19937_64 random_;
  std::vector<Jump> jumps_;
  std::unordered_map<std::uint64_t, Trail> trails_;  ///< by words of x

  Quad random_below(unsigned bits) {
    Quad r{};
    for (unsigned j = 0; j < 4; ++j) {
      const unsigned used = bits > 32 * j ? bits - 32 * j : 0;
      const auto word = static_cast<std::uint32_t>(random_());
      r.word[j] = used >= 32 ? word : word & ((std::uint32_t{1} << used) - 1);
    }
    return r;
  }
  static Jump jump(const Quad& distance) {
    Jump r;
    const Affine p = Curve::to_affine(multiple(scalar(distance)));
    store(r.x, 1, p.x);
    store(r.y, 1, p.y);
    r.distance = distance;
    return r;
  }
};

}  // namespace kangaroo
