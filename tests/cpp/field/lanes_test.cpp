// SPDX-License-Identifier: Apache-2.0
#include "field/lanes.hpp"

#include "support/field_tests.hpp"
#include "support/lane_kernel_sets.hpp"

namespace manymod::test {
namespace {

/// Room for 644 bits in 29-bit digits, or for two vectors of nine digits.
constexpr std::size_t kWords = 8 * 23;

/// On the kernels of lane_kernel_sets()[kSet].
template <std::size_t kSet>
struct LaneBackend {
  using Field = field::LaneField<kWords>;
  static_assert(field::Field<Field>);
  static constexpr std::size_t kCost = 2;

  static LaneKernelSet set() { return lane_kernel_sets().at(kSet); }
  static const lanes::Kernels& kernels() { return *set().kernels; }
  static std::string missing() {
    if (kSet >= lane_kernel_sets().size()) return "this build has no such kernels";
    if (kernels().digit_bits == 64) return "digits of 64 bits leave no room for a field's sums";
    const std::string features = missing_features(set());
    return features.empty() ? "" : "this processor lacks " + features;
  }
  static std::size_t digits(std::size_t bits) { return field::lane_field_digits(kernels(), bits); }
  static std::size_t max_bits() { return 640; }
  static std::size_t max_load_bits(std::size_t bits) { return 64 * limbs_for_bits(bits); }
  static std::size_t instances(std::size_t bits) {
    return kernels().lanes * field::lane_field_vectors(kernels(), digits(bits));
  }
  static std::size_t radix_bits(std::size_t bits) { return digits(bits) * kernels().digit_bits; }
  static naive::Limbs bound(const naive::Limbs& n, std::size_t bits, unsigned m) {
    const naive::Limbs product =
        naive::limbs(naive::multiply(naive::digits(n), {2 * m}), limbs_for_bits(radix_bits(bits)) + 1);
    return product;
  }

  struct Io {
    const Field& f;
    FieldOutputs& outputs;
    std::size_t digits;
    using Element = typename Field::Element;

    void load(Element& r, const std::vector<naive::Limbs>& x) {
      const std::vector<std::span<const Limb>> sources(x.begin(), x.end());
      f.from_limbs(r, sources);
    }
    void set_raw(Element& r, const std::vector<naive::Limbs>& x, unsigned m) {
      const std::size_t each = kernels().lanes;
      for (std::size_t lane = 0; lane < x.size(); ++lane) {
        for (std::size_t d = 0; d < digits; ++d) {
          r.words[lane / each * each * digits + d * each + lane % each] =
              digit(x[lane], kernels().digit_bits, d);
        }
      }
      field::Rules::set(r, m);
    }
    void store(std::size_t i, const Element& a) {
      const std::vector<std::span<Limb>> sinks(outputs.numbers[i].begin(), outputs.numbers[i].end());
      f.to_limbs(sinks, a);
    }
    void flag(std::size_t i, const field::LaneMask& mask) {
      for (std::size_t lane = 0; lane < outputs.flags[i].size(); ++lane) {
        outputs.flags[i][lane] = mask.lane[lane] == 0 ? 0 : mask.lane[lane] == ~Limb{0} ? 1 : -2;
      }
    }
  };

  template <class Body>
  static void with_field(const std::vector<naive::Limbs>& n, std::size_t bits, FieldOutputs& outputs,
                         Body body) {
    const std::vector<std::span<const Limb>> all(n.begin(), n.end());
    limbs::Buffer scratch;
    std::vector<lanes::Moduli> moduli;
    std::vector<const lanes::Moduli*> pointers;
    for (std::size_t first = 0; first < n.size(); first += kernels().lanes) {
      moduli.emplace_back(kernels());
      moduli.back().assign(std::span(all).subspan(first, kernels().lanes), digits(bits), scratch);
    }
    for (const lanes::Moduli& one : moduli) pointers.push_back(&one);
    const Field f(pointers);
    ASSERT_EQ(f.lanes(), n.size());
    Io io{f, outputs, digits(bits)};
    body(f, io);
  }
};

struct LaneNames {
  template <class Backend>
  static std::string GetName(int index) {  // NOLINT(readability-identifier-naming): GoogleTest's
    const auto sets = lane_kernel_sets();
    const auto i = static_cast<std::size_t>(index);
    return i < sets.size() ? sets[i].name : "none" + std::to_string(index);
  }
};

using Backends = testing::Types<LaneBackend<0>, LaneBackend<1>, LaneBackend<2>, LaneBackend<3>,
                                LaneBackend<4>, LaneBackend<5>, LaneBackend<6>, LaneBackend<7>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Lanes, FieldContract, Backends, LaneNames);

TEST(LaneField, EveryKernelSetIsTested) { EXPECT_LE(lane_kernel_sets().size(), 8U); }

}  // namespace
}  // namespace manymod::test
