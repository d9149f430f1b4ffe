// SPDX-License-Identifier: Apache-2.0
#include "field/scalar.hpp"

#include "support/field_tests.hpp"
#include "support/kernel_sets.hpp"

namespace manymod::test {
namespace {

template <std::size_t kLimbs, std::size_t kSet>
struct ScalarBackend {
  using Field = field::ScalarField<kLimbs>;
  static_assert(field::Field<Field>);
  static constexpr std::size_t kCost = 1;
  static constexpr std::size_t kSize = kLimbs;
  static constexpr std::size_t kKernelSet = kSet;

  static std::string missing() {
    return kSet < usable_kernel_sets().size() ? "" : "this processor has no such kernels";
  }
  static std::size_t max_bits() { return 64 * kLimbs; }
  static std::size_t max_load_bits(std::size_t /*bits*/) { return 64 * kLimbs; }
  static std::size_t instances(std::size_t /*bits*/) { return 1; }
  static std::size_t radix_bits(std::size_t /*bits*/) { return 64 * kLimbs; }
  static naive::Limbs bound(const naive::Limbs& n, std::size_t /*bits*/, unsigned /*m*/) { return n; }

  struct Io {
    const Field& f;
    FieldOutputs& outputs;
    using Element = typename Field::Element;

    void load(Element& r, const std::vector<naive::Limbs>& x) { f.from_limbs(r, x[0]); }
    void set_raw(Element& r, const std::vector<naive::Limbs>& x, unsigned m) {
      limbs::copy_extend(r.limb, x[0]);
      field::Rules::set(r, m);
    }
    void store(std::size_t i, const Element& a) { f.to_limbs(outputs.numbers[i][0], a); }
    void flag(std::size_t i, Limb mask) { outputs.flags[i][0] = mask == 0 ? 0 : mask == ~Limb{0} ? 1 : -2; }
  };

  template <class Body>
  static void with_field(const std::vector<naive::Limbs>& n, std::size_t /*bits*/, FieldOutputs& outputs,
                         Body body) {
    const Field f(*usable_kernel_sets()[kSet].kernels, n[0]);
    Io io{f, outputs};
    body(f, io);
  }
};

struct ScalarNames {
  template <class Backend>
  static std::string GetName(int /*index*/) {  // NOLINT(readability-identifier-naming): GoogleTest's
    return std::to_string(Backend::kSize) + "limbs_" + (Backend::kKernelSet == 0 ? "generic" : "adx");
  }
};

using Backends =
    testing::Types<ScalarBackend<1, 0>, ScalarBackend<2, 0>, ScalarBackend<4, 0>, ScalarBackend<6, 0>,
                   ScalarBackend<9, 0>, ScalarBackend<10, 0>, ScalarBackend<1, 1>, ScalarBackend<4, 1>,
                   ScalarBackend<6, 1>, ScalarBackend<9, 1>, ScalarBackend<10, 1>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Scalar, FieldContract, Backends, ScalarNames);

}  // namespace
}  // namespace manymod::test
