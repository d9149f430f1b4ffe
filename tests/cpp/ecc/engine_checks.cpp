// SPDX-License-Identifier: Apache-2.0
#include "ecc/engine_checks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "ecc/engine_cases.hpp"
#include "ecc/plain_group.hpp"
#include "repr/limbs.hpp"
#include "support/brief.hpp"

namespace manymod::test {
namespace {

using namespace cases;

// ---- curves whose points can be listed --------------------------------------------------------------------

/// All points of a small curve, infinity first, with their sums and multiples.
class Listed {
 public:
  explicit Listed(const ecc::Curve& curve) : curve_(curve), group_(curve) {
    if (curve.form == MM_ECC_WEIERSTRASS) points_.push_back(group_.neutral());
    for (Limb x = 0; x < curve.p[0]; ++x) {
      for (Limb y = 0; y < curve.p[0]; ++y) {
        PlainPoint point{{x}, {y}, false};
        plane_.push_back(point);
        if (group_.contains(point)) points_.push_back(std::move(point));
      }
    }
    for (const PlainPoint& point : points_) index_.emplace(key(point), index_.size());
  }
  [[nodiscard]] const PlainGroup& group() const { return group_; }
  [[nodiscard]] const std::vector<PlainPoint>& points() const { return points_; }
  /// All pairs of coordinates, on the curve or not.
  [[nodiscard]] const std::vector<PlainPoint>& plane() const { return plane_; }
  [[nodiscard]] bool finite(std::size_t i) const { return !points_[i].infinite; }
  [[nodiscard]] std::size_t index(const PlainPoint& point) const { return index_.at(key(point)); }
  /// multiples(p)[k] = the index of k p for 0 <= k < n.
  [[nodiscard]] std::vector<std::size_t> multiples(const PlainPoint& p) const {
    std::vector<std::size_t> all;
    PlainPoint sum = group_.neutral();
    for (Limb k = 0; k < curve_.n[0]; ++k) {
      all.push_back(index(sum));
      sum = group_.add(sum, p);
    }
    return all;
  }

 private:
  const ecc::Curve& curve_;
  PlainGroup group_;
  std::vector<PlainPoint> points_, plane_;
  std::map<std::pair<Limb, Limb>, std::size_t> index_;

  static std::pair<Limb, Limb> key(const PlainPoint& p) {
    return p.infinite ? std::pair{~Limb{0}, Limb{0}} : std::pair{p.x[0], p.y[0]};
  }
};

void check_all_sums(const PointEngine& engine, const Listed& all) {
  Cases cases(engine);
  for (const PlainPoint& p : all.points()) {
    for (const PlainPoint& q : all.points()) cases.sum(p, q, all.group().add(p, q));
  }
  cases.run_add();
}

void check_all_multiples(const PointEngine& engine, const Listed& all) {
  const Limb n = engine.curve().n[0];
  const auto& points = all.points();
  const std::vector<std::size_t> of_base = all.multiples(all.group().generator());
  Cases base(engine), multiples(engine), two(engine);
  base.base({0}, points[of_base[0]]);
  for (Limb k = 0; k < n; ++k) base.base({k}, points[of_base[k]]);
  base.base({0}, points[of_base[0]]);
  base.run_multiply_base();

  // All of small groups, and a share of larger ones.
  std::mt19937_64 random(2);
  constexpr std::size_t kMost = kBriefTests ? 200 : 2000;
  const auto chosen = [&](std::size_t among) { return among <= kMost || random() % among < kMost; };
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!all.finite(i)) continue;
    const std::vector<std::size_t> of_point = all.multiples(points[i]);
    for (Limb k = 0; k < n; ++k) {
      if (chosen(n * points.size())) multiples.multiple({k}, points[i], points[of_point[k]]);
      for (Limb u = 0; u < n; ++u) {
        if (!chosen(n * n * points.size())) continue;
        two.two({u}, {k}, points[i], all.group().add(points[of_base[u]], points[of_point[k]]));
      }
    }
  }
  multiples.run_multiply();
  two.run_multiply_two();
}

void check_small_sums(const PointEngine& engine, const Listed& all) {
  std::mt19937_64 random(1);
  const Limb n = engine.curve().n[0];
  constexpr std::size_t kCounts[] = {0, 1, 2, 3, 5, 17, 60, 200};
  for (const std::size_t terms : kCounts) {
    Cases cases(engine);
    PlainPoint sum = all.group().neutral();
    for (std::size_t i = 0; i < terms; ++i) {
      const PlainPoint& point = all.points()[random() % all.points().size()];
      const Limbs k{random() % n};
      const PlainPoint multiple = all.group().multiply(k, point);
      cases.multiple(k, point, multiple);
      sum = all.group().add(sum, multiple);
    }
    cases.run_sum(sum);
  }
}

// ---- curves of any size -----------------------------------------------------------------------------------

/// Scalars below n, points and their multiples.
class Edges {
 public:
  Edges(const ecc::Curve& curve, unsigned seed) : curve_(curve), group_(curve), random_(seed) {
    add_scalars();
    add_points();
  }
  [[nodiscard]] const PlainGroup& group() const { return group_; }
  [[nodiscard]] const std::vector<Limbs>& scalars() const { return scalars_; }
  [[nodiscard]] const std::vector<PlainPoint>& points() const { return points_; }
  /// The indices into scalars() that points other than the generator are multiplied with.
  [[nodiscard]] std::vector<std::size_t> few_scalars() const {
    const std::size_t random = scalars_.size() - 1;
    return {0, 1, 2, last_, random};
  }
  /// The multiple of point `p` by scalar `k`; both are indices. Point 0 is the generator.
  const PlainPoint& multiple(std::size_t k, std::size_t p) {
    const auto [at, is_new] = multiples_.try_emplace({k, p});
    if (is_new) at->second = group_.multiply(scalars_[k], points_[p]);
    return at->second;
  }
  Limbs random_below(const Limbs& bound) {
    Limbs number(bound.size());
    do {
      for (Limb& limb : number) limb = random_();
      limbs::truncate_bits(number, limbs::bit_length_var(bound));
    } while (!limbs::less_var(number, bound));
    return number;
  }

 private:
  const ecc::Curve& curve_;
  PlainGroup group_;
  std::mt19937_64 random_;
  std::vector<Limbs> scalars_;
  std::size_t last_ = 0;  ///< the index of n - 1
  std::vector<PlainPoint> points_;
  std::map<std::pair<std::size_t, std::size_t>, PlainPoint> multiples_;

  [[nodiscard]] Limbs word(Limb value) const {
    Limbs number(curve_.scalar_limbs());
    number[0] = value;
    return number;
  }
  /// n - value; (n - value) / 2 for an odd value.
  [[nodiscard]] Limbs below_order(Limb value, bool halved) const {
    Limbs number(curve_.scalar_limbs());
    limbs::sub(number, curve_.n, word(value));
    if (halved) limbs::shift_right_bits(number, Limbs(number), 1);
    return number;
  }
  void add_scalars() {
    constexpr Limb kSmall[] = {0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 127, 128};
    for (const Limb value : kSmall) scalars_.push_back(word(value));
    last_ = scalars_.size();
    for (const Limb value : {Limb{1}, Limb{2}, Limb{16}}) scalars_.push_back(below_order(value, false));
    scalars_.push_back(below_order(1, true));
    // Windows of all zeros and of all ones next to each other, up to the top.
    Limbs ones(curve_.scalar_limbs(), ~Limb{0});
    limbs::truncate_bits(ones, curve_.order_bits - 1);
    scalars_.push_back(ones);
    Limbs power(curve_.scalar_limbs());
    power[(curve_.order_bits - 1) / kLimbBits] = Limb{1} << ((curve_.order_bits - 1) % kLimbBits);
    scalars_.push_back(power);
    for (Limb& limb : ones) limb &= 0xFFFF0000FFFF0000;
    scalars_.push_back(ones);
    for (int i = 0; i < 4; ++i) scalars_.push_back(random_below(curve_.n));
    std::erase_if(scalars_, [&](const Limbs& k) { return !limbs::less_var(k, curve_.n); });
  }
  void add_points() {
    points_.push_back(group_.generator());
    points_.push_back(group_.negate(points_[0]));
    points_.push_back(group_.multiply(random_below(curve_.n), points_[0]));
    // Points of other orders, if there are, and with a coordinate 0 or small.
    for (Limb value = 0; value < 3; ++value) {
      Limbs given(curve_.limbs());
      given[0] = value;
      if (auto point = group_.lift(given, true)) points_.push_back(std::move(*point));
    }
    for (int found = 0; found < 2;) {
      if (auto point = group_.lift(random_below(curve_.p), false)) {
        points_.push_back(std::move(*point));
        ++found;
      }
    }
    if (curve_.has_cofactor_one()) return;
    // n P has an order that divides the cofactor.
    PlainPoint small = group_.multiply(curve_.n, points_.back());
    for (int i = 0; i < 4 && !small.infinite; ++i) {
      points_.push_back(small);
      small = group_.add(small, small);
    }
    if (curve_.form == MM_ECC_EDWARDS) {
      PlainPoint order_two = group_.neutral();
      order_two.y = curve_.p;
      order_two.y[0] -= 1;
      points_.push_back(std::move(order_two));
      points_.push_back(group_.neutral());
    }
  }
};

void check_edge_multiples(const PointEngine& engine, Edges& edges) {
  Cases base(engine), multiples(engine);
  // Twice over, so that blocks of items begin and end at several cases.
  for (int round = 0; round < (kBriefTests ? 1 : 2); ++round) {
    for (std::size_t k = 0; k < edges.scalars().size(); ++k)
      base.base(edges.scalars()[k], edges.multiple(k, 0));
  }
  for (std::size_t k = 0; k < edges.scalars().size(); ++k)
    multiples.multiple(edges.scalars()[k], edges.points()[0], edges.multiple(k, 0));
  for (std::size_t p = 1; p < edges.points().size(); ++p) {
    for (const std::size_t k : edges.few_scalars())
      multiples.multiple(edges.scalars()[k], edges.points()[p], edges.multiple(k, p));
  }
  base.run_multiply_base();
  multiples.run_multiply();
}

/// Sums u G + v P: with P = G and P = -G there are u G = +- v P, also as the result infinity.
void check_edge_pairs(const PointEngine& engine, Edges& edges) {
  Cases cases(engine);
  const PlainGroup& group = edges.group();
  const auto add_case = [&](std::size_t u, std::size_t v, std::size_t p) {
    cases.two(edges.scalars()[u], edges.scalars()[v], edges.points()[p],
              group.add(edges.multiple(u, 0), edges.multiple(v, p)));
  };
  const std::vector<std::size_t> few = edges.few_scalars();
  for (const std::size_t u : few) {
    for (const std::size_t v : few) add_case(u, v, 2);
  }
  for (std::size_t p = 3; p < edges.points().size(); ++p) {
    for (std::size_t i = 0; i < few.size(); ++i) add_case(few[i], few[few.size() - 1 - i], p);
  }
  for (std::size_t p = 0; p < 2; ++p) {
    for (std::size_t k = 0; k < edges.scalars().size(); k += kBriefTests ? 2 : 1) add_case(k, k, p);
  }
  cases.run_multiply_two();
}

/// u G + v P against itself, itself and a point of small order, its opposite, and G.
void check_edge_comparisons(const PointEngine& engine, Edges& edges, unsigned doublings) {
  const PlainGroup& group = edges.group();
  std::vector<PlainPoint> small;
  for (const PlainPoint& p : edges.points()) {
    if (group.multiply(engine.curve().cofactor, p) == group.neutral()) small.push_back(p);
  }
  ASSERT_GE(small.size(), 4U);
  Cases cases(engine);
  std::size_t equal = 0;
  const auto add_case = [&](const Limbs& u, const Limbs& v, std::size_t p, const PlainPoint& sum,
                            const PlainPoint& r) {
    PlainPoint difference = group.add(sum, group.negate(r));
    for (unsigned i = 0; i < doublings; ++i) difference = group.add(difference, difference);
    const bool zero = difference == group.neutral();
    equal += zero ? 1 : 0;
    cases.comparison(u, v, edges.points()[p], r, zero);
  };
  const auto add_cases = [&](std::size_t u, std::size_t v, std::size_t p) {
    const PlainPoint sum = group.add(edges.multiple(u, 0), edges.multiple(v, p));
    for (const PlainPoint& r :
         {sum, group.add(sum, small[(u + v + p) % small.size()]), group.negate(sum), group.generator()}) {
      add_case(edges.scalars()[u], edges.scalars()[v], p, sum, r);
    }
  };
  const std::vector<std::size_t> few = edges.few_scalars();
  for (std::size_t p = 0; p < edges.points().size(); ++p) {
    for (std::size_t i = 0; i < few.size(); ++i) add_cases(few[i], few[few.size() - 1 - i], p);
  }
  for (std::size_t k = 0; k < edges.scalars().size(); ++k) add_cases(edges.scalars().size() - 1 - k, k, 0);
  EXPECT_GT(equal, few.size() * edges.points().size());
  cases.run_comparison(doublings);
}

void check_edge_sums(const PointEngine& engine, Edges& edges) {
  const PlainGroup& group = edges.group();
  std::vector<PlainPoint> points = edges.points();
  points.push_back(group.neutral());
  for (const PlainPoint& p : edges.points()) points.push_back(group.negate(p));
  Cases cases(engine);
  for (const PlainPoint& p : points) {
    for (const PlainPoint& q : points) cases.sum(p, q, group.add(p, q));
  }
  cases.run_add();

  Cases terms(engine);
  PlainPoint total = group.neutral();
  const auto add_term = [&](std::size_t k, std::size_t p) {
    terms.multiple(edges.scalars()[k], edges.points()[p], edges.multiple(k, p));
    total = group.add(total, edges.multiple(k, p));
  };
  for (std::size_t p = 0; p < edges.points().size(); ++p) {
    for (const std::size_t k : edges.few_scalars()) add_term(k, p);
  }
  terms.run_sum(total);
  for (int round = 0; round < (kBriefTests ? 2 : 10); ++round) {
    for (std::size_t k = 0; k < edges.scalars().size(); ++k) add_term(k, 0);
  }
  if (engine.curve().form == MM_ECC_WEIERSTRASS) terms.multiple(edges.scalars().back(), group.neutral(), {});
  terms.run_sum(total);
}

void check_edge_coordinates(const PointEngine& engine, Edges& edges) {
  const ecc::Curve& curve = engine.curve();
  std::vector<Limbs> given;
  for (const PlainPoint& point : edges.points())
    given.push_back(curve.form == MM_ECC_EDWARDS ? point.y : point.x);
  for (int i = 0; i < (kBriefTests ? 5 : 20); ++i) given.push_back(edges.random_below(curve.p));
  Limbs largest = curve.p;
  largest[0] -= 1;
  given.push_back(largest);
  check_lifts(engine, edges.group(), given);

  std::vector<PlainPoint> points = edges.points();
  points.push_back(edges.group().neutral());
  for (std::size_t i = 0; i < edges.points().size(); ++i) {
    PlainPoint off = edges.points()[i];
    Limb& limb = i % 2 == 0 ? off.x[0] : off.y[0];
    limb ^= 1;
    if (limbs::less_var(off.x, curve.p) && limbs::less_var(off.y, curve.p)) points.push_back(std::move(off));
  }
  check_membership(engine, edges.group(), points);
}

/// u of multiples of the base point.
void check_base_multiples(const PointEngine& engine, const PlainGroup& group, std::mt19937_64& random) {
  const ecc::Curve& curve = engine.curve();
  const auto bits = static_cast<unsigned>(curve.field_bits);
  std::vector<Limbs> scalars;
  for (Limb times = 0; times < 5; ++times) {
    for (const int step : {-1, 0, 1, 2}) {
      Limbs k(curve.limbs());
      for (Limb i = 0; i < times; ++i) static_cast<void>(limbs::add(k, k, curve.n));
      if (step >= 0) {
        k[0] += static_cast<Limb>(step);
      } else if (times > 0) {
        k[0] -= 1;
      }
      scalars.push_back(k);
    }
  }
  for (int i = 0; i < 8; ++i) {
    Limbs k(curve.limbs(), ~Limb{0});
    for (Limb& limb : k) limb = i == 0 ? limb : random();
    limbs::truncate_bits(k, bits);
    k[(bits - 1) / kLimbBits] |= Limb{1} << (bits - 1) % kLimbBits;
    scalars.push_back(k);
  }
  Rows k(curve.limbs());
  for (const Limbs& scalar : scalars) k.push(scalar);
  Limbs results(scalars.size() * curve.limbs(), ~Limb{0});
  engine.multiply_base({results.data(), nullptr, nullptr}, k.view(), {0, scalars.size()}, TimingClass::secret,
                       {});
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    const auto from = results.begin() + static_cast<std::ptrdiff_t>(i * curve.limbs());
    EXPECT_EQ(hex({from, from + static_cast<std::ptrdiff_t>(curve.limbs())}),
              hex(group.ladder(scalars[i], bits, curve.x)))
        << "base point, scalar " << i;
  }
}

void check_ladders(const PointEngine& engine, unsigned seed) {
  const ecc::Curve& curve = engine.curve();
  const PlainGroup group(curve);
  std::mt19937_64 random(seed);
  std::vector<Limbs> coordinates{curve.x};
  const auto push_word = [&](Limb value) {
    coordinates.emplace_back(curve.limbs());
    coordinates.back()[0] = value;
  };
  for (Limb value = 0; value < 4; ++value) push_word(value);
  for (Limb below = 1; below <= 2; ++below) {
    coordinates.push_back(curve.p);
    coordinates.back()[0] -= below;
  }
  for (int i = 0; i < 3; ++i) {
    Limbs u(curve.limbs());
    for (Limb& limb : u) limb = random();
    limbs::truncate_bits(u, curve.field_bits - 1);
    coordinates.push_back(std::move(u));
  }
  check_base_multiples(engine, group, random);
  const auto bits = static_cast<unsigned>(curve.field_bits);
  for (const unsigned length : {bits, 9U, 1U, 0U}) {
    Rows k(curve.limbs()), u(curve.limbs());
    std::vector<Limbs> expected;
    for (std::size_t i = 0; i < 3 * coordinates.size(); ++i) {
      Limbs scalar(curve.limbs());
      for (Limb& limb : scalar) limb = i % 3 == 2 ? ~Limb{0} : i % 3 == 1 ? random() : Limb{0};
      if (i % 3 == 0) limbs::copy_extend(scalar, curve.n);
      const Limbs& coordinate = coordinates[i % coordinates.size()];
      k.push(scalar);
      u.push(coordinate);
      expected.push_back(group.ladder(scalar, length, coordinate));
    }
    Limbs results(expected.size() * curve.limbs(), ~Limb{0});
    engine.ladder(results.data(), k.view(), u.view(), length, {0, expected.size()}, {});
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto from = results.begin() + static_cast<std::ptrdiff_t>(i * curve.limbs());
      EXPECT_EQ(hex({from, from + static_cast<std::ptrdiff_t>(curve.limbs())}), hex(expected[i]))
          << "ladder of " << length << " bits, item " << i;
    }
  }
}

}  // namespace

void check_every_point(const PointEngine& engine) {
  const Listed all(engine.curve());
  check_all_sums(engine, all);
  check_all_multiples(engine, all);
  check_small_sums(engine, all);
  check_membership(engine, all.group(), all.plane());
  std::vector<Limbs> given;
  for (Limb x = 0; x < engine.curve().p[0]; ++x) given.push_back({x});
  check_lifts(engine, all.group(), given);
}

void check_edges(const PointEngine& engine, unsigned seed) {
  if (engine.curve().form == MM_ECC_MONTGOMERY) return check_ladders(engine, seed);
  Edges edges(engine.curve(), seed);
  check_edge_multiples(engine, edges);
  check_edge_pairs(engine, edges);
  if (engine.comparison() != nullptr) {
    for (const unsigned doublings : {0U, 1U, 3U}) check_edge_comparisons(engine, edges, doublings);
  }
  check_edge_sums(engine, edges);
  check_edge_coordinates(engine, edges);
}

}  // namespace manymod::test
