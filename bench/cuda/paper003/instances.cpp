// SPDX-License-Identifier: Apache-2.0
#include "instances.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <random>

namespace manymod::bench::paper003 {
namespace {

/// A number below p, not 0.
Words random_residue(std::mt19937& generate, unsigned words) {
  Words r(words);
  for (std::uint32_t& word : r) word = static_cast<std::uint32_t>(generate());
  r.back() >>= 1;  // primes have their top bit set
  r[0] |= 1;
  return r;
}

/// A number of which half the bits are 1.
Words random_scalar(std::mt19937& generate, unsigned words) {
  std::vector<unsigned> positions(std::size_t{32} * words);
  std::iota(positions.begin(), positions.end(), 0u);
  std::shuffle(positions.begin(), positions.end(), generate);
  Words r(words, 0);
  for (std::size_t i = 0; i < positions.size() / 2; ++i) r[positions[i] / 32] |= 1u << (positions[i] % 32);
  return r;
}

void interleave(Words& all, unsigned coordinate, std::size_t item, std::size_t stride, const Words& number) {
  for (std::size_t j = 0; j < number.size(); ++j)
    all[(coordinate * number.size() + j) * stride + item] = number[j];
}

Words deinterleave(const Words& all, unsigned coordinate, std::size_t item, std::size_t stride,
                   unsigned words) {
  Words r(words);
  for (unsigned j = 0; j < words; ++j) r[j] = all[(std::size_t{coordinate} * words + j) * stride + item];
  return r;
}

}  // namespace

Instances::Instances(const NamedCurve& curve)
    : curve_(curve),
      p_(kDistinct),
      q_(kDistinct),
      sums_(kDistinct),
      doubles_(kDistinct),
      multiples_(kDistinct),
      shared_multiples_(kDistinct),
      products_(kDistinct) {
  std::mt19937 generate(curve.bits);
  std::vector<Affine> points{curve_.generator()};
  while (points.size() < 2 * kDistinct) points.push_back(curve_.add(points.back(), curve_.generator()));
  std::vector<Words> z;
  for (std::size_t i = 0; i < 2 * kDistinct; ++i) z.push_back(random_residue(generate, curve_.words()));
  for (std::size_t i = 0; i < kDistinct; ++i) scalars_.push_back(random_scalar(generate, curve_.words()));
  Words power(kSteps / 32 + 1, 0), steps(1, kSteps);
  power[kSteps / 32] = 1u << (kSteps % 32);
  for_each_index(kDistinct, [&](std::size_t i) {
    const Affine &p = points[i], &q = points[kDistinct + i];
    p_[i] = curve_.jacobian(p, z[i]);
    q_[i] = curve_.jacobian(q, z[kDistinct + i]);
    sums_[i] = curve_.add(p, curve_.multiply(steps, q));
    doubles_[i] = curve_.multiply(power, p);
    multiples_[i] = curve_.multiply(scalars_[i], p);
    shared_multiples_[i] = curve_.multiply(scalars_[0], p);
    products_[i] = curve_.product(p_[i].x, q_[i].x, kProducts);
  });
}

Words Instances::points(bool second, std::size_t stride) const {
  Words r(3 * stride * curve_.words());
  for (std::size_t i = 0; i < stride; ++i) {
    const Jacobian& point = (second ? q_ : p_)[i % kDistinct];
    interleave(r, 0, i, stride, point.x);
    interleave(r, 1, i, stride, point.y);
    interleave(r, 2, i, stride, point.z);
  }
  return r;
}

Words Instances::scalars(bool shared, std::size_t stride) const {
  Words r(stride * curve_.words());
  for (std::size_t i = 0; i < stride; ++i) interleave(r, 0, i, stride, scalars_[shared ? 0 : i % kDistinct]);
  return r;
}

bool Instances::is_right(ecc::giorgi::Operation operation, bool shared_scalar, const Jacobian& found,
                         std::size_t item) const {
  using ecc::giorgi::Operation;
  switch (operation) {
    case Operation::multiply:
      return found.x == products_[item];
    case Operation::add:
      return curve_.is_point(found, sums_[item]);
    case Operation::twice:
      return curve_.is_point(found, doubles_[item]);
    default:
      return curve_.is_point(found, (shared_scalar ? shared_multiples_ : multiples_)[item]);
  }
}

std::size_t Instances::wrong(ecc::giorgi::Operation operation, bool shared_scalar, const Words& result,
                             std::size_t count, std::size_t stride) const {
  std::atomic<std::size_t> r = 0;
  for_each_index(count, [&](std::size_t i) {
    const Jacobian found{deinterleave(result, 0, i, stride, curve_.words()),
                         deinterleave(result, 1, i, stride, curve_.words()),
                         deinterleave(result, 2, i, stride, curve_.words())};
    if (!is_right(operation, shared_scalar, found, i % kDistinct)) ++r;
  });
  return r;
}

}  // namespace manymod::bench::paper003
