// SPDX-License-Identifier: Apache-2.0
// Operands and results of calls of engines, and comparisons with the textbook laws.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "ecc/plain_group.hpp"
#include "ecc/point_engine.hpp"
#include "ecc/sum_comparison.hpp"

namespace manymod::test::cases {

using ecc::ItemRange;
using ecc::NumberRows;
using ecc::PointEngine;
using ecc::PointResults;
using ecc::PointRows;
using Limbs = std::vector<Limb>;

inline constexpr std::uint8_t kUntouched = 0xA5;
inline constexpr TimingClass kTimings[] = {TimingClass::public_, TimingClass::secret};

/// Numbers of one length, one after the other.
class Rows {
 public:
  explicit Rows(std::size_t limbs) : limbs_(limbs) {}
  void push(const Limbs& number) { data_.insert(data_.end(), number.begin(), number.end()); }
  [[nodiscard]] NumberRows view() const { return {data_.data(), limbs_}; }

 private:
  std::size_t limbs_;
  std::vector<Limb> data_;
};

class Points {
 public:
  explicit Points(const ecc::Curve& curve)
      : edwards_(curve.form == MM_ECC_EDWARDS), x_(curve.limbs()), y_(curve.limbs()) {}
  void push(const PlainPoint& point) {
    x_.push(point.x);
    y_.push(point.y);
    infinite_.push_back(point.infinite ? 1 : 0);
  }
  [[nodiscard]] std::size_t size() const { return infinite_.size(); }
  [[nodiscard]] PointRows view() const {
    return {x_.view(), y_.view(), edwards_ ? nullptr : infinite_.data()};
  }

 private:
  bool edwards_;
  Rows x_, y_;
  std::vector<std::uint8_t> infinite_;
};

/// Room for results of all items but the first and the last, which must stay as they are.
class Results {
 public:
  Results(const ecc::Curve& curve, std::size_t count)
      : curve_(curve), x_(count * curve.limbs(), ~Limb{0}), y_(x_), infinite_(count, kUntouched) {}
  [[nodiscard]] PointResults view() {
    return {x_.data(), y_.data(), curve_.form == MM_ECC_EDWARDS ? nullptr : infinite_.data()};
  }
  [[nodiscard]] PlainPoint at(std::size_t item) const {
    return {limbs(x_, item), limbs(y_, item), infinite_[item] == 1};
  }
  [[nodiscard]] bool untouched(std::size_t item) const {
    const Limbs ones(curve_.limbs(), ~Limb{0});
    return limbs(x_, item) == ones && limbs(y_, item) == ones && infinite_[item] == kUntouched;
  }

 private:
  const ecc::Curve& curve_;
  Limbs x_, y_;
  std::vector<std::uint8_t> infinite_;

  [[nodiscard]] Limbs limbs(const Limbs& all, std::size_t item) const {
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(item * curve_.limbs());
    return {from, from + static_cast<std::ptrdiff_t>(curve_.limbs())};
  }
};

inline std::string hex(const Limbs& number) {
  std::string text;
  for (std::size_t i = number.size(); i-- > 0;) {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(number[i]));
    text += digits;
  }
  return text;
}
inline std::string describe(const PlainPoint& p) {
  return p.infinite ? "infinity" : "(" + hex(p.x) + ", " + hex(p.y) + ")";
}

/// Runs call(results, items) for all items but the first and the last, and compares.
template <class Call>
void expect_points(const PointEngine& engine, const std::vector<PlainPoint>& expected, const char* function,
                   const Call& call) {
  if (expected.size() < 3) return;
  Results results(engine.curve(), expected.size());
  const ItemRange items{1, expected.size() - 1};
  call(results.view(), items);
  EXPECT_TRUE(results.untouched(0) && results.untouched(items.end)) << function << " leaves its range";
  std::size_t wrong = 0;
  for (std::size_t i = items.begin; i < items.end; ++i) {
    const PlainPoint found = results.at(i);
    if (found == expected[i]) continue;
    if (++wrong > 3) continue;
    ADD_FAILURE() << function << ", item " << i << ": " << describe(found) << " instead of "
                  << describe(expected[i]);
  }
  EXPECT_EQ(wrong, 0U) << function;
}

/// Cases of scalars and points with their results.
class Cases {
 public:
  explicit Cases(const PointEngine& engine)
      : engine_(engine),
        curve_(engine.curve()),
        k_(curve_.scalar_limbs()),
        second_(curve_.scalar_limbs()),
        p_(curve_),
        q_(curve_) {}

  void base(const Limbs& k, const PlainPoint& result) {
    k_.push(k);
    expected_.push_back(result);
  }
  void multiple(const Limbs& k, const PlainPoint& p, const PlainPoint& result) {
    p_.push(p);
    base(k, result);
  }
  void two(const Limbs& u, const Limbs& v, const PlainPoint& p, const PlainPoint& result) {
    second_.push(v);
    multiple(u, p, result);
  }
  void sum(const PlainPoint& p, const PlainPoint& q, const PlainPoint& result) {
    p_.push(p);
    q_.push(q);
    expected_.push_back(result);
  }

  /// Whether 2^doublings (u G + v P - R) = 0.
  void comparison(const Limbs& u, const Limbs& v, const PlainPoint& p, const PlainPoint& r, bool equal) {
    k_.push(u);
    second_.push(v);
    p_.push(p);
    q_.push(r);
    equal_.push_back(equal ? 1 : 0);
  }

  void run_multiply_base() const {
    for (const TimingClass timing : kTimings) {
      expect_points(engine_, expected_,
                    timing == TimingClass::secret ? "multiply_base, secret" : "multiply_base",
                    [&](const PointResults& r, ItemRange items) {
                      engine_.multiply_base(r, k_.view(), items, timing, {});
                    });
    }
  }
  void run_multiply() const {
    for (const TimingClass timing : kTimings) {
      expect_points(engine_, expected_, timing == TimingClass::secret ? "multiply, secret" : "multiply",
                    [&](const PointResults& r, ItemRange items) {
                      engine_.multiply(r, k_.view(), finite(), items, timing, {});
                    });
    }
  }
  void run_multiply_two() const {
    expect_points(engine_, expected_, "multiply_two", [&](const PointResults& r, ItemRange items) {
      engine_.multiply_two(r, k_.view(), second_.view(), finite(), items, {});
    });
  }
  void run_add() const {
    expect_points(engine_, expected_, "add", [&](const PointResults& r, ItemRange items) {
      engine_.add(r, p_.view(), q_.view(), items);
    });
  }
  void run_comparison(unsigned doublings) const {
    std::vector<std::uint8_t> found(equal_.size(), kUntouched), expected = equal_;
    expected.front() = expected.back() = kUntouched;
    engine_.comparison()->compare(found.data(), k_.view(), second_.view(), p_.view(), q_.view(), doublings,
                                  {1, found.size() - 1}, {});
    EXPECT_EQ(found, expected) << "compare, " << doublings << " doublings";
  }
  /// The sum of all cases of multiple().
  void run_sum(const PlainPoint& expected) const {
    Results results(curve_, 1);
    engine_.sum(results.view(), k_.view(), p_.view(), {0, p_.size()}, {});
    EXPECT_EQ(describe(results.at(0)), describe(expected)) << "sum of " << p_.size() << " terms";
  }

 private:
  const PointEngine& engine_;
  const ecc::Curve& curve_;
  Rows k_, second_;
  Points p_, q_;
  std::vector<PlainPoint> expected_;
  std::vector<std::uint8_t> equal_;

  /// Without flags of infinity, which these functions may do without.
  [[nodiscard]] PointRows finite() const {
    PointRows rows = p_.view();
    rows.infinity = nullptr;
    return rows;
  }
};

/// Checks lift on all of `given`, whose points are found by the group.
inline void check_lifts(const PointEngine& engine, const PlainGroup& group, const std::vector<Limbs>& given) {
  const ecc::Curve& curve = engine.curve();
  Rows rows(curve.limbs());
  std::vector<std::uint8_t> odd, found(2 * given.size(), kUntouched);
  for (const Limbs& x : given) {
    rows.push(x);
    rows.push(x);
    odd.insert(odd.end(), {0, 1});
  }
  Limbs results(odd.size() * curve.limbs(), ~Limb{0});
  engine.lift(results.data(), found.data(), rows.view(), odd.data(), {0, odd.size()});
  for (std::size_t i = 0; i < odd.size(); ++i) {
    const std::optional<PlainPoint> point = group.lift(given[i / 2], odd[i] == 1);
    const bool edwards = curve.form == MM_ECC_EDWARDS;
    const Limbs none(curve.limbs());
    const Limbs& other = !point ? none : edwards ? point->x : point->y;
    const auto from = results.begin() + static_cast<std::ptrdiff_t>(i * curve.limbs());
    ASSERT_EQ(int{found[i]}, point ? 1 : 0) << "lift of " << hex(given[i / 2]);
    ASSERT_EQ(hex({from, from + static_cast<std::ptrdiff_t>(curve.limbs())}), hex(other))
        << "lift of " << hex(given[i / 2]);
  }
}

inline void check_membership(const PointEngine& engine, const PlainGroup& group,
                             const std::vector<PlainPoint>& points) {
  Points rows(engine.curve());
  for (const PlainPoint& point : points) rows.push(point);
  std::vector<std::uint8_t> valid(points.size(), kUntouched);
  engine.check(valid.data(), rows.view(), {0, points.size()});
  for (std::size_t i = 0; i < points.size(); ++i)
    ASSERT_EQ(int{valid[i]}, group.contains(points[i]) ? 1 : 0) << "check of " << describe(points[i]);
}

}  // namespace manymod::test::cases
