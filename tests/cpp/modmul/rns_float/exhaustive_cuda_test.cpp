// SPDX-License-Identifier: Apache-2.0
// Tiny bases with all their numbers, and extensions of residues that no number of the right size has.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <type_traits>
#include <vector>

#include "support/device_values.hpp"
#include "support/rns_float.hpp"

namespace manymod::test {
namespace {

/// Bases of three channels of four bits, or of two channels of two factors each.
struct TinyBases {
  static constexpr unsigned kBits = 6;
  static constexpr unsigned kChannels = 3;
  static constexpr std::uint32_t kB[kChannels] = {7, 11, 13};
  static constexpr std::uint32_t kA[kChannels] = {5, 17, 19};
};
struct TinyFactoredBases {
  static constexpr unsigned kBits = 6;
  static constexpr unsigned kChannels = 2;
  static constexpr std::uint32_t kB[kChannels] = {7 * 11, 17 * 19};
  static constexpr std::uint32_t kA[kChannels] = {13 * 5, 23 * 29};
  static constexpr std::uint32_t kFirstB[kChannels] = {7, 17};
  static constexpr std::uint32_t kFirstA[kChannels] = {13, 23};
};

template <class Kind, class Bases, class Form>
struct Tiny {
  template <class Group, unsigned kPerThread>
  using Multiplier = rns_float::Multiplier<Group, kPerThread, Kind, Bases, Form>;
};

template <class KindOf, class BasesOf, class FormOf, unsigned threads, unsigned per_thread>
struct TinyShape : RnsFloatShape<Tiny<KindOf, BasesOf, FormOf>::template Multiplier, threads, per_thread> {};

template <class Shape>
class RnsFloatExhaustive : public testing::Test {};

using rns_float::Loaded;
using rns_float::Specialised;
using TinyShapes = testing::Types<TinyShape<rns_float::HalfWord, TinyBases, Specialised, 1, 3>,
                                  TinyShape<rns_float::HalfWord, TinyBases, Specialised, 2, 2>,
                                  TinyShape<rns_float::PackedHalfWord, TinyBases, Specialised, 1, 3>,
                                  TinyShape<rns_float::FullWord, TinyBases, Specialised, 1, 3>,
                                  TinyShape<rns_float::Smooth, TinyFactoredBases, Specialised, 1, 2>,
                                  TinyShape<rns_float::Pairs, TinyFactoredBases, Specialised, 1, 2>,
                                  TinyShape<rns_float::HalfWord, TinyBases, Loaded, 1, 3>>;
TYPED_TEST_SUITE(RnsFloatExhaustive, TinyShapes, RnsFloatNames);

// The number of triples grows with the third power of kEnd, and sanitizers multiply the time of each.
#if defined(MANYMOD_SANITIZED)
constexpr std::uint32_t kEnd = 32;
#else
constexpr std::uint32_t kEnd = 64;
#endif

/// All moduli below kEnd that are prime to M_B, even ones included, and all factors below the modulus.
TYPED_TEST(RnsFloatExhaustive, SmallNumbers) {
  using Shape = TypeParam;
  const Words radix = radix_of<typename Shape::Multiplier::BasesOfShape>();
  for (std::uint32_t n = 2; n < kEnd; ++n) {
    const std::uint32_t radix_residue = naive::remainder(radix, {n})[0];
    const bool refused = is_refused<typename Shape::Multiplier::BasesOfShape>({n});
    std::vector<Words> results(std::size_t{kEnd} * kEnd, Words(1));
    ASSERT_TRUE(with_rns_multiplier<Shape>({n}, rns_float_table<Shape>(), [&](const auto& m, const auto&) {
      ASSERT_EQ(m.refused(), refused) << n;
      if (refused) return;
      const auto one = m.from_words(WordSource{nullptr, 0, 1});
      for (std::uint32_t x = 0; x < kEnd; ++x) {
        const auto a = m.from_words(WordSource{nullptr, 0, x});
        for (std::uint32_t y = 0; y < kEnd; ++y) {
          const auto product = x == y ? m.sqr(a) : m.mul(a, m.from_words(WordSource{nullptr, 0, y}));
          m.to_words(WordSink{results[x * kEnd + y].data(), 1}, m.mul(product, one));
        }
      }
    }));
    if (refused) continue;
    for (std::uint32_t x = 0; x < kEnd; ++x) {
      for (std::uint32_t y = 0; y < kEnd; ++y) {
        const std::uint32_t r = results[x * kEnd + y][0];
        ASSERT_LT(r, n);
        ASSERT_EQ(r * radix_residue % n * radix_residue % n, x * y % n) << x << " " << y << " mod " << n;
      }
    }
  }
}

/// One extension of residues that the caller chooses: its digits, and the residues in the other base.
template <class Shape>
class ExtensionRun {
  using Multiplier = typename Shape::Multiplier;
  using Kind = typename Multiplier::KindOfShape;
  using Bases = typename Multiplier::BasesOfShape;
  using Residue = typename Kind::Residue;
  static constexpr unsigned kThreads = Shape::kThreads;
  static constexpr unsigned kPerThread = Shape::kPerThread;
  using L = rns_float::Layout<Kind, kThreads, kPerThread>;
  using Moduli = rns_float::ModuliInRegisters<Kind, kThreads, kPerThread>;
  using Extension =
      rns_float::Extension<Kind, typename Shape::Group, kPerThread, rns_float::ModuliInRegisters>;

 public:
  /// pick(i) is the residue in channel i of B.
  template <class Pick>
  explicit ExtensionRun(const Pick& pick)
      : x_(kThreads * kPerThread), digits_(x_.size()), gathered_(x_.size()) {
    const float* const words = rns_float::host_table<Kind, Bases, kThreads, kPerThread>().words;
    GuardedColumns memory(kThreads, kPerThread);
    run_lockstep<kThreads>([&](typename Shape::Group group) {
      const unsigned lane = group.lane();
      const float* const of_b = words + L::kModuliB + 4 * lane;
      const rns_float::Steps steps{of_b, words + L::kToA + 4 * lane, Bases::kChannels};
      Residue first[kPerThread]{}, second[kPerThread]{};
      for (unsigned k = 0; k < kPerThread; ++k) {
        const unsigned i = k * kThreads + lane;
        if (i >= Bases::kChannels) continue;
        first[k] = second[k] = pick(i);
        x_[i] = as_integer(Kind::digit(rns_float::load_modulus<Kind, kThreads>(of_b, k), first[k]));
      }
      typename Kind::Sum sums[kPerThread]{};
      const float* const of_a = words + L::kModuliA + 4 * lane;
      rns_float::TargetSums<Kind, Moduli, kThreads, kPerThread> gathering{Moduli(of_a), sums};
      Extension::run(group, steps, first, gathering);
      rns_float::DigitStore keeping{{memory.column(lane), memory.stride()}};
      Extension::run(group, steps, second, keeping);
      for (unsigned k = 0; k < kPerThread; ++k) {
        const unsigned i = k * kThreads + lane;
        if (i >= Bases::kChannels) continue;
        const auto m = rns_float::load_modulus<Kind, kThreads>(of_a, k);
        digits_[i] = as_integer(cuda::single_from_pattern(keeping.memory[k]));
        gathered_[i] = as_integer(Kind::digit(m, Kind::total(m, sums[k])));
      }
    });
  }

  /// Checks that the digits are within their bounds, and that they are those of a number that has the
  /// residues on both sides.
  void check() const {
    for (unsigned i = 0; i < Bases::kChannels; ++i) {
      ASSERT_LE(2 * std::abs(digits_[i]), Bases::kB[i] + 1) << "digit " << i;
      ASSERT_EQ(number_mod(Bases::kB[i]), modulo(x_[i], Bases::kB[i])) << "channel " << i << " of B";
      ASSERT_EQ(number_mod(Bases::kA[i]), modulo(gathered_[i], Bases::kA[i])) << "channel " << i << " of A";
    }
  }

 private:
  std::vector<std::int64_t> x_, digits_, gathered_;

  static std::int64_t as_integer(float value) { return static_cast<std::int64_t>(value); }
  static std::int64_t modulo(std::int64_t a, std::int64_t m) { return (a % m + m) % m; }
  [[nodiscard]] std::int64_t number_mod(std::int64_t m) const {
    std::int64_t sum = 0;
    for (unsigned i = Bases::kChannels; i-- > 0;) sum = modulo(sum * Bases::kB[i] + digits_[i], m);
    return sum;
  }
};

template <class Shape>
class RnsFloatExtension : public testing::Test {};

using ExtensionShapes = testing::Types<
    RnsFloatShape<rns_float::half::Multiplier, 8, 6>, RnsFloatShape<rns_float::half::Multiplier, 16, 6>,
    RnsFloatShape<rns_float::half::Multiplier, 32, 6>,
    RnsFloatShape<rns_float::half_packed::Multiplier, 16, 6>,
    RnsFloatShape<rns_float::full::Multiplier, 4, 6>, RnsFloatShape<rns_float::full::Multiplier, 16, 6>,
    RnsFloatShape<rns_float::smooth::Multiplier, 8, 3>, RnsFloatShape<rns_float::smooth::Multiplier, 32, 3>,
    RnsFloatShape<rns_float::pairs::Multiplier, 8, 3>, RnsFloatShape<rns_float::pairs::Multiplier, 32, 3>>;
TYPED_TEST_SUITE(RnsFloatExtension, ExtensionShapes, RnsFloatNames);

/// Residues at the ends of what products leave, a combination that no number of the right size has in all
/// channels: all of one sign, of alternating signs, and of random ones.
TYPED_TEST(RnsFloatExtension, ResiduesAtTheEnds) {
  using Shape = TypeParam;
  using Kind = typename Shape::Multiplier::KindOfShape;
  using Bases = typename Shape::Multiplier::BasesOfShape;
  const rns_float::BaseView b = rns_float::base_b<Bases>();
  naive::Generator generate(26);
  for (unsigned pattern = 0; pattern < 8; ++pattern) {
    std::vector<std::uint64_t> chance;
    for (unsigned i = 0; i < b.channels; ++i) chance.push_back(generate.below(4));
    const ExtensionRun<Shape> run([&](unsigned i) {
      const bool negative =
          pattern == 1 || (pattern == 2 && i % 2 == 0) || (pattern > 2 && chance[i] % 2 == 0);
      const bool at_end = pattern < 3 || chance[i] < 3;
      const auto end = [&](std::uint32_t m) {
        const std::uint32_t most = std::is_same_v<Kind, rns_float::FullWord> ? m : (m + 1) / 2;
        const auto value = static_cast<float>(at_end ? most : i % (m / 2));
        return negative ? -value : value;
      };
      typename Kind::Residue r;
      if constexpr (Kind::kResidueWords == 2) {
        r = {{end(b.factor(i)), -end(b.moduli[i] / b.factor(i))}};
      } else {
        r = {{end(b.moduli[i])}};
      }
      return r;
    });
    run.check();
    if (this->HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace manymod::test
