// SPDX-License-Identifier: Apache-2.0
// Tables of multiples of a generator, computed on the host.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/limb.hpp"
#include "ecc/cuda/curves.cuda.hpp"
#include "ecc/cuda/edwards.cuda.hpp"
#include "ecc/cuda/elements.cuda.hpp"
#include "ecc/cuda/inverses.cuda.hpp"
#include "ecc/cuda/jobs.cuda.hpp"
#include "ecc/cuda/points.cuda.hpp"
#include "ecc/curve.hpp"
#include "ecc/device/known_answers.hpp"

namespace manymod::ecc::cuda {

inline integers::Words number(const std::vector<Limb>& limbs) {
  return {limbs.data(), static_cast<unsigned>(limbs.size())};
}

/// (2 i + 1) 2^(w window) G for windows of w = kBaseWindow bits, as base_entry reads them.
template <class C>
std::vector<std::uint32_t> base_table(const Curve& curve) {
  using F = typename C::Field;
  constexpr unsigned kWindows = window_count(C::kOrderBits, kBaseWindow);
  constexpr std::size_t kCount = std::size_t{kWindows} * kBaseEntries;
  const F f;
  std::vector<typename C::Point> points(kCount);
  typename C::Point base;
  f.from_limbs(base.x, number(curve.x));
  f.from_limbs(base.y, number(curve.y));
  f.one(base.z);
  for (std::size_t window = 0; window < kWindows; ++window) {
    typename C::Point* const row = points.data() + window * kBaseEntries;
    typename C::Point twice;
    row[0] = base;
    jacobian::twice(f, C::coefficient(), twice, base);
    for (unsigned i = 1; i < kBaseEntries; ++i) jacobian::add(f, row[i], row[i - 1], twice);
    for (unsigned i = 0; i < kBaseWindow; ++i) jacobian::twice(f, C::coefficient(), base, base);
  }
  std::vector<std::uint32_t> scratch(kCount * C::kWords), table(kCount * 2 * C::kWords);
  const auto load_z = [&](std::uint32_t item, typename C::Element& z) { z = points[item].z; };
  const auto use = [&](std::uint32_t item, const typename C::Element& inverse) {
    typename C::Affine r;
    jacobian::to_affine(f, r, points[item], inverse);
    std::uint32_t* const words =
        table.data() + item / kBaseEntries * (2 * C::kWords * kBaseEntries) + item % kBaseEntries;
    for (unsigned j = 0; j < C::kWords; ++j) {
      words[j * kBaseEntries] = r.x.words[j];
      words[(C::kWords + j) * kBaseEntries] = r.y.words[j];
    }
  };
  invert_chain(BlockOfOne(), f, Chain{0, 1, kCount}, scratch.data(), kCount, load_z, use);
  return table;
}

/// (2 i + 1) 2^(w j) G for windows j of w = kBaseWindow bits: that of window j is item i windows + j. On
/// input: 2^w < n.
device::AnsweredPoints odd_multiples_of_generator(const Curve& curve);

/// The table on any curve, in Montgomery form. On input: as above.
template <class C>
std::vector<std::uint32_t> base_table_any(const Curve& curve) {
  constexpr std::size_t kWindowWords = 2 * C::kWords * kBaseEntries;
  std::array<std::uint32_t, C::kWords> prime{}, given{};
  const auto read = [&curve](std::array<std::uint32_t, C::kWords>& to, const std::vector<Limb>& row,
                             std::size_t item) {
    for (std::size_t j = 0; j < 2 * curve.limbs(); ++j) {
      to[j] = static_cast<std::uint32_t>(row[item * curve.limbs() + j / 2] >> (32 * (j % 2)));
    }
  };
  read(prime, curve.p, 0);
  const typename C::Inline f({prime.data(), C::kWords}, LaneMemory{}, SingleThread{});
  const device::AnsweredPoints points = odd_multiples_of_generator(curve);
  const std::size_t windows = points.flags.size() / kBaseEntries;
  std::vector<std::uint32_t> table(windows * kWindowWords);
  for (std::size_t i = 0; i < points.flags.size(); ++i) {
    std::uint32_t* words = table.data() + i % windows * kWindowWords + i / windows;
    for (const std::vector<Limb>* const coordinates : {&points.x, &points.y}) {
      typename C::Element element;
      read(given, *coordinates, i);
      f.from_limbs(element, {given.data(), C::kWords});
      for (unsigned j = 0; j < C::kWords; ++j, words += kBaseEntries) *words = element.word(j);
    }
  }
  return table;
}

/// The same as prepared points, as multiply_base_edwards reads them.
template <class C>
std::vector<std::uint32_t> base_table_edwards(const Curve& curve) {
  constexpr unsigned kWindows = window_count(C::kOrderBits, kBaseWindow);
  constexpr std::size_t kCount = std::size_t{kWindows} * kBaseEntries;
  const typename C::Field f;
  std::vector<typename C::Point> points(kCount);
  typename C::Point base, twice;
  typename C::Element x, y, d, d2;
  f.from_limbs(x, number(curve.x));
  f.from_limbs(y, number(curve.y));
  f.from_limbs(d, number(curve.b));
  f.add(d2, d, d);
  f.template normalize_weak<2>(d2, d2);
  edwards::set_affine(f, base, x, y);
  for (std::size_t window = 0; window < kWindows; ++window) {
    typename C::Point* const row = points.data() + window * kBaseEntries;
    typename C::Cached step;
    row[0] = base;
    edwards::double_point(f, twice, base);
    edwards::cache(f, step, twice, d2);
    for (unsigned i = 1; i < kBaseEntries; ++i) edwards::add(f, row[i], row[i - 1], step);
    for (unsigned i = 0; i < kBaseWindow; ++i) edwards::double_point(f, base, base);
  }
  std::vector<std::uint32_t> scratch(kCount * C::kWords), table(kCount * 3 * C::kWords);
  const auto load_z = [&](std::uint32_t item, typename C::Element& z) { z = points[item].z; };
  const auto use = [&](std::uint32_t item, const typename C::Element& inverse) {
    typename C::Prepared r;
    f.mul(x, points[item].x, inverse);
    f.mul(y, points[item].y, inverse);
    edwards::prepare(f, r, x, y, d);
    std::uint32_t* const words =
        table.data() + item / kBaseEntries * (3 * C::kWords * kBaseEntries) + item % kBaseEntries;
    const typename C::Element* const elements[] = {&r.plus, &r.minus, &r.t};
    for (unsigned j = 0; j < 3 * C::kWords; ++j) {
      words[j * kBaseEntries] = elements[j / C::kWords]->words[j % C::kWords];
    }
  };
  invert_chain(BlockOfOne(), f, Chain{0, 1, kCount}, scratch.data(), kCount, load_z, use);
  return table;
}

}  // namespace manymod::ecc::cuda
