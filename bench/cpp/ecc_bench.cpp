// SPDX-License-Identifier: Apache-2.0
// Point arithmetic: every variant that this machine runs, on the named curves that it offers. Names are
// variant/curve/operation, and items_per_second counts items, on one thread for CPU variants.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "ecc/variants.hpp"
#include "repr/limbs.hpp"

namespace {

using manymod::Limb;
using manymod::TimingClass;
namespace ecc = manymod::ecc;
namespace limbs = manymod::limbs;
using Limbs = std::vector<Limb>;

/// Items of a call on CPUs: enough for whole blocks and groups of lanes, few enough to take milliseconds.
constexpr std::size_t kCpuItems = 256;
constexpr std::size_t kGpuItems = std::size_t{1} << 20;
/// Sums are about many items.
constexpr std::size_t kSumItems = std::size_t{1} << 16;

enum class Function { base, base_secret, multiply, multiply_secret, two, ladder, add, lift, check, sum };
struct Named {
  const char* name;
  Function function;
};
constexpr Named kFunctions[] = {
    {"multiply_base", Function::base},
    {"multiply_base_secret", Function::base_secret},
    {"multiply", Function::multiply},
    {"multiply_secret", Function::multiply_secret},
    {"multiply_two", Function::two},
    {"ladder", Function::ladder},
    {"add", Function::add},
    {"lift", Function::lift},
    {"check", Function::check},
    {"sum", Function::sum},
};

/// Operands and results of one engine.
class Work {
 public:
  Work(const ecc::PointEngine& engine, std::size_t items)
      : engine_(engine),
        curve_(engine.curve()),
        items_(items),
        scalars_(random_numbers(curve_.scalar_limbs(), curve_.order_bits - 1, 1)),
        others_(random_numbers(curve_.scalar_limbs(), curve_.order_bits - 1, 2)),
        coordinates_(random_numbers(curve_.limbs(), curve_.field_bits - 1, 3)),
        px_(items * curve_.limbs()),
        py_(px_),
        x_(px_),
        y_(px_),
        odd_(items),
        flags_(items) {
    if (curve_.form == MM_ECC_MONTGOMERY) return;
    engine_.multiply_base({px_.data(), py_.data(), infinity()}, others(), all(), TimingClass::public_, {});
  }

  void run(Function function) {
    switch (function) {
      case Function::base:
        return engine_.multiply_base(results(), scalars(), all(), TimingClass::public_, {});
      case Function::base_secret:
        return engine_.multiply_base(results(), scalars(), all(), TimingClass::secret, {});
      case Function::multiply:
        return engine_.multiply(results(), scalars(), points(), all(), TimingClass::public_, {});
      case Function::multiply_secret:
        return engine_.multiply(results(), scalars(), points(), all(), TimingClass::secret, {});
      case Function::two:
        return engine_.multiply_two(results(), scalars(), others(), points(), all(), {});
      case Function::ladder:
        return engine_.ladder(x_.data(), {coordinates_.data(), curve_.limbs()},
                              {coordinates_.data(), curve_.limbs()}, static_cast<unsigned>(curve_.field_bits),
                              all(), {});
      case Function::add:
        return engine_.add(results(), points(), {{curve_.x.data(), 0}, {curve_.y.data(), 0}, nullptr}, all());
      case Function::lift:
        return engine_.lift(x_.data(), flags_.data(), {coordinates_.data(), curve_.limbs()}, odd_.data(),
                            all());
      case Function::check:
        return engine_.check(flags_.data(), points(), all());
      case Function::sum:
        return engine_.sum(results(), scalars(), points(), all(), {});
    }
  }

 private:
  const ecc::PointEngine& engine_;
  const ecc::Curve& curve_;
  std::size_t items_;
  Limbs scalars_, others_, coordinates_;
  Limbs px_, py_, x_, y_;
  std::vector<std::uint8_t> odd_, flags_;

  [[nodiscard]] Limbs random_numbers(std::size_t words, std::size_t bits, unsigned seed) const {
    std::mt19937_64 random(seed);
    Limbs numbers(items_ * words);
    for (Limb& limb : numbers) limb = random();
    for (std::size_t i = 0; i < items_; ++i)
      limbs::truncate_bits(std::span(numbers).subspan(i * words, words), bits);
    return numbers;
  }
  [[nodiscard]] ecc::ItemRange all() const { return {0, items_}; }
  [[nodiscard]] ecc::NumberRows scalars() const { return {scalars_.data(), curve_.scalar_limbs()}; }
  [[nodiscard]] ecc::NumberRows others() const { return {others_.data(), curve_.scalar_limbs()}; }
  [[nodiscard]] ecc::PointRows points() const {
    return {{px_.data(), curve_.limbs()}, {py_.data(), curve_.limbs()}, nullptr};
  }
  std::uint8_t* infinity() { return curve_.form == MM_ECC_EDWARDS ? nullptr : flags_.data(); }
  ecc::PointResults results() { return {x_.data(), y_.data(), infinity()}; }
};

void measure(benchmark::State& state, const ecc::Variant& variant, const ecc::Curve& curve,
             Function function) {
  const auto engine = variant.make(curve, {});
  const std::size_t usual = variant.backend != manymod::Backend::cpu ? kGpuItems : kCpuItems;
  const std::size_t items = function == Function::sum ? std::max(usual, kSumItems) : usual;
  Work work(*engine, items);
  for (auto _ : state) work.run(function);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(items));
}

[[maybe_unused]] const bool registered = [] {
  for (const ecc::Variant& variant : ecc::variants()) {
    // OpenCL drivers compile the kernels of each length.
    if (variant.backend == manymod::Backend::opencl || !variant.runs_here()) continue;
    for (const ecc::Curve& curve : ecc::named_curves()) {
      if (!variant.offers(curve)) continue;
      for (const auto& [name, function] : kFunctions) {
        if ((function == Function::ladder) != (curve.form == MM_ECC_MONTGOMERY)) continue;
        benchmark::RegisterBenchmark(
            (std::string(variant.name) + "/" + curve.name + "/" + name).c_str(),
            [&variant, &curve, f = function](benchmark::State& state) { measure(state, variant, curve, f); });
      }
    }
  }
  return true;
}();

}  // namespace
