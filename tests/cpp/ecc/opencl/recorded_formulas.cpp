// SPDX-License-Identifier: Apache-2.0
#include "ecc/opencl/recorded_formulas.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "ecc/formulas/complete.hpp"
#include "ecc/formulas/edwards.hpp"
#include "ecc/formulas/ladder.hpp"

namespace manymod::test {
namespace {

/// A field whose elements are numbers of values: operands of the function, then results of operations.
class RecordingField {
 public:
  struct Element {
    std::size_t value = 0;
  };
  struct Mask {
    std::string name;
    Mask operator&(Mask) const;
    Mask operator|(Mask) const;
    Mask operator~() const;
  };
  struct Source {};
  struct Sink {};

  /// Which the function receives.
  Element operand(std::string name) {
    operands_.push_back(std::move(name));
    return {operands_.size() - 1};
  }

  void mul(Element& r, const Element& a, const Element& b) const { record("MUL", r, {a, b}); }
  void sqr(Element& r, const Element& a) const { record("SQR", r, {a}); }
  void add(Element& r, const Element& a, const Element& b) const { record("SUM", r, {a, b}); }
  template <unsigned kB = 1>
  void sub(Element& r, const Element& a, const Element& b) const {
    record("SUB", r, {a, b}, ", " + std::to_string(kB));
  }
  template <unsigned kA = 1>
  void neg(Element& r, const Element& a) const {
    static_assert(kA == 1, "kernels have no other");
    record("NEG", r, {a});
  }
  template <unsigned kA = 8>
  void normalize_weak(Element& r, const Element& a) const {
    record("REDUCE", r, {a});
  }
  void cmov(Element& r, const Element& a, const Mask& mask) const {
    record("CHOOSE", r, {r, a}, ", " + mask.name);
  }

  // Of the concept of a field, but of no formula here: not defined.
  void zero(Element& r) const;
  void one(Element& r) const;
  void from_limbs(Element& r, Source x) const;
  void to_limbs(Sink x, const Element& a) const;
  void half(Element& r, const Element& a) const;
  [[nodiscard]] Mask is_zero(const Element& a) const;
  [[nodiscard]] Mask equal(const Element& a, const Element& b) const;
  Mask inverse(Element& r, const Element& a) const;

  /// The operations as statements, which leave `results` in the elements of those names. The one that has a
  /// condition is that of the last operation, which depends on it.
  struct Result {
    const char* name;
    Element element;
    const char* condition = nullptr;
  };
  [[nodiscard]] std::string statements(const std::vector<Result>& results) const;

 private:
  struct Operation {
    const char* macro;
    std::vector<std::size_t> read;
    std::string option;
  };

  std::vector<std::string> operands_;
  mutable std::vector<Operation> operations_;  ///< operation i makes value operands_.size() + i

  void record(const char* macro, Element& r, const std::vector<Element>& read,
              std::string option = "") const {
    Operation operation{macro, {}, std::move(option)};
    for (const Element& element : read) operation.read.push_back(element.value);
    operations_.push_back(std::move(operation));
    r.value = operands_.size() + operations_.size() - 1;
  }
  [[nodiscard]] std::vector<std::size_t> last_uses(const std::vector<Result>& results) const;
};

/// Of each value, the operation that reads it last; those of results are never free.
std::vector<std::size_t> RecordingField::last_uses(const std::vector<Result>& results) const {
  std::vector<std::size_t> last(operands_.size() + operations_.size(), 0);
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    for (const std::size_t value : operations_[i].read) last[value] = i;
  }
  for (const Result& result : results) last[result.element.value] = operations_.size();
  return last;
}

std::string RecordingField::statements(const std::vector<Result>& results) const {
  const std::vector<std::size_t> last = last_uses(results);
  const auto conditional =
      std::ranges::find_if(results, [](const Result& result) { return result.condition != nullptr; });
  std::vector<std::string> names = operands_;
  std::vector<bool> in_use;
  std::vector<std::size_t> variables(operands_.size());
  std::string text;
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    const Operation& operation = operations_[i];
    std::string read;
    for (const std::size_t value : operation.read) read += ", " + names[value];
    // A result may take the place of an operand.
    for (const std::size_t value : operation.read) {
      if (value >= operands_.size() && last[value] == i) in_use[variables[value]] = false;
    }
    const auto free = static_cast<std::size_t>(std::ranges::find(in_use, false) - in_use.begin());
    if (free == in_use.size()) in_use.push_back(false);
    in_use[free] = true;
    variables.push_back(free);
    names.push_back("t" + std::to_string(free));
    const bool depends = conditional != results.end() && conditional->element.value == operands_.size() + i;
    if (depends) {
      EXPECT_EQ(i + 1, operations_.size());
      text += std::string("  if (") + conditional->condition + ") {\n  ";
    }
    text += std::string("  MM_") + operation.macro + "(" + names.back() + read + operation.option + ");\n";
    if (depends) text += std::string("    ") + conditional->name + " = " + names.back() + ";\n  }\n";
  }
  std::string declared;
  for (std::size_t i = 0; i < in_use.size(); ++i) declared += (i == 0 ? "t" : ", t") + std::to_string(i);
  for (const Result& result : results) {
    if (result.condition == nullptr)
      text += std::string("  ") + result.name + " = " + names[result.element.value] + ";\n";
  }
  return "  mm_element " + declared + ";\n" + text;
}

using Point = ecc::ProjectivePoint<RecordingField>;

Point point_operand(RecordingField& f, const std::string& name) {
  return {f.operand(name + "->x"), f.operand(name + "->y"), f.operand(name + "->z")};
}
ecc::WeierstrassCoefficients<RecordingField> coefficients(RecordingField& f) {
  return {f.operand("c->a"), f.operand("c->b"), f.operand("c->b3")};
}
std::string statements(const RecordingField& f, const Point& r) {
  return f.statements({{"r->x", r.x}, {"r->y", r.y}, {"r->z", r.z}});
}

/// The functions of a kind of curve.
std::string functions(const char* kind, const std::string& sum, const std::string& twice) {
  return std::string("#if") + " defined(MM_A_" + kind + ")\n" +
         "// r = p + q.\n"
         "static MM_CALLED void mm_add(mm_point* r, const mm_point* p, const mm_point* q, uint with_t, "
         "const mm_curve* c) {\n" +
         sum +
         "}\n"
         "// r = 2 p.\n"
         "static MM_CALLED void mm_twice(mm_point* r, const mm_point* p, uint with_t, const mm_curve* c) "
         "{\n" +
         twice + "}\n#endif\n";
}

template <ecc::CoefficientA kA>
std::string recorded(const char* name) {
  RecordingField sums, doubles;
  Point r;
  const Point p = point_operand(sums, "p"), q = point_operand(sums, "q");
  ecc::complete::add<kA>(sums, coefficients(sums), r, p, q);
  const std::string sum = statements(sums, r);
  const Point single = point_operand(doubles, "p");
  ecc::complete::twice<kA>(doubles, coefficients(doubles), r, single);
  return functions(name, sum, statements(doubles, r));
}

using Extended = ecc::edwards::Extended<RecordingField>;
using Coefficients = ecc::edwards::Coefficients<RecordingField>;

Extended extended_operand(RecordingField& f, const std::string& name) {
  return {f.operand(name + "->x"), f.operand(name + "->y"), f.operand(name + "->z"), f.operand(name + "->t")};
}
std::string statements(const RecordingField& f, const Extended& r) {
  return f.statements({{"r->x", r.x}, {"r->y", r.y}, {"r->z", r.z}, {"r->t", r.t, "with_t"}});
}

std::string recorded_edwards(const char* name, Coefficients::Kind kind) {
  const auto curve = [kind](RecordingField& f) {
    return Coefficients{f.operand("c->a"), f.operand("c->b"), kind};
  };
  RecordingField sums, doubles;
  Extended r;
  const Extended p = extended_operand(sums, "p"), q = extended_operand(sums, "q");
  ecc::edwards::add_general(sums, r, p, q, curve(sums));
  const std::string sum = statements(sums, r);
  const Extended single = extended_operand(doubles, "p");
  ecc::edwards::double_general(doubles, r, single, curve(doubles));
  return functions(name, sum, statements(doubles, r));
}

std::string recorded_ladder() {
  RecordingField f;
  ecc::ladder::Pair<RecordingField> pair{{f.operand("r->low.x"), f.operand("r->low.z")},
                                         {f.operand("r->high.x"), f.operand("r->high.z")}};
  const RecordingField::Element u = f.operand("(*u)"), constant = f.operand("c->b");
  ecc::ladder::step(f, pair, {"high"}, u, constant);
  return "#if defined(MM_A_montgomery)\n"
         "// (P, Q) to (2 P, P + Q), or where `high` is set to (2 Q, P + Q), u that of the difference.\n"
         "static MM_CALLED void mm_step_ladder(mm_pair* r, uint high, const mm_element* u, const mm_curve* "
         "c) "
         "{\n" +
         f.statements({{"r->low.x", pair.low.x},
                       {"r->low.z", pair.low.z},
                       {"r->high.x", pair.high.x},
                       {"r->high.z", pair.high.z}}) +
         "}\n#endif\n";
}

}  // namespace

std::string recorded_formulas() {
  using ecc::CoefficientA;
  return "// SPDX-License-Identifier: Apache-2.0\n"
         "// Written by tests/cpp/ecc/opencl/recorded_formulas.cpp, and compared with what it writes by a "
         "test:\n"
         "// the formulas of ecc/formulas/complete.hpp and edwards.hpp for each kind of coefficient a, where "
         "r "
         "may be\n"
         "// p or q, and of ladder.hpp.\n" +
         recorded<CoefficientA::any>("any") + recorded<CoefficientA::minus_three>("three") +
         recorded<CoefficientA::zero>("zero") + recorded_edwards("minus", Coefficients::Kind::minus_one) +
         recorded_edwards("one", Coefficients::Kind::one) +
         recorded_edwards("twisted", Coefficients::Kind::other) + recorded_ladder();
}

}  // namespace manymod::test
