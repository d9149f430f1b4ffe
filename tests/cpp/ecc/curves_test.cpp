// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "ecc/curve.hpp"
#include "ecc/curve_checks.hpp"
#include "ecc/plain_group.hpp"
#include "ecc/test_curves.hpp"
#include "repr/bytes.hpp"
#include "repr/limbs.hpp"

namespace manymod::test {
namespace {

using Limbs = std::vector<Limb>;
using Bytes = std::vector<std::uint8_t>;

Bytes bytes_of(const Limbs& number) {
  Bytes bytes(8 * number.size());
  bytes_from_limbs(bytes, number);
  return bytes;
}

/// All numbers of named curves go through the checks of users' curves: primes, order of the generator, ..
TEST(NamedCurves, TheirNumbersPassAllChecks) {
  for (const ecc::Curve& curve : ecc::named_curves()) {
    SCOPED_TRACE(curve.name);
    if (curve.form == MM_ECC_MONTGOMERY) continue;
    const Bytes p = bytes_of(curve.p), a = bytes_of(curve.a), b = bytes_of(curve.b), x = bytes_of(curve.x),
                y = bytes_of(curve.y), n = bytes_of(curve.n), cofactor = bytes_of(curve.cofactor);
    mm_ecc_curve_numbers numbers{};
    numbers.struct_size = sizeof numbers;
    numbers.form = curve.form;
    const auto view = [](const Bytes& bytes) { return mm_bytes{bytes.data(), bytes.size()}; };
    numbers.p = view(p);
    numbers.a = view(a);
    numbers.b = view(b);
    numbers.x = view(x);
    numbers.y = view(y);
    numbers.n = view(n);
    numbers.cofactor = view(cofactor);
    const ecc::Curve made = ecc::make_curve(numbers);
    EXPECT_EQ(made.id, ecc::CurveId::custom);
    EXPECT_EQ(made.name, "");
    EXPECT_EQ(made.p, curve.p);
    EXPECT_EQ(made.a, curve.a);
    EXPECT_EQ(made.b, curve.b);
    EXPECT_EQ(made.x, curve.x);
    EXPECT_EQ(made.y, curve.y);
    EXPECT_EQ(made.n, curve.n);
    EXPECT_EQ(made.cofactor, curve.cofactor);
    EXPECT_EQ(made.field_bits, curve.field_bits);
    EXPECT_EQ(made.order_bits, curve.order_bits);
  }
}

/// X25519 and X448 are other forms of Ed25519's curve and of one isogenous to Ed448's: the same field, order
/// and cofactor.
TEST(NamedCurves, MontgomeryCurvesBelongToEdwardsCurves) {
  for (const auto& [montgomery, edwards, a, u] :
       {std::tuple{ecc::CurveId::x25519, ecc::CurveId::ed25519, Limb{486662}, Limb{9}},
        std::tuple{ecc::CurveId::x448, ecc::CurveId::ed448, Limb{156326}, Limb{5}}}) {
    const ecc::Curve& curve = ecc::named_curve(montgomery);
    const ecc::Curve& other = ecc::named_curve(edwards);
    EXPECT_EQ(curve.p, other.p);
    EXPECT_EQ(curve.n, other.n);
    EXPECT_EQ(curve.cofactor, other.cofactor);
    EXPECT_EQ(limbs::bit_length_var(curve.a), limbs::bit_length_var(Limbs{a}));
    EXPECT_EQ(curve.a[0], a);
    EXPECT_EQ(curve.x[0], u);
    EXPECT_TRUE(curve.b.empty());
    EXPECT_TRUE(curve.y.empty());
    EXPECT_EQ(PlainGroup(curve).ladder(curve.n, static_cast<unsigned>(curve.order_bits), curve.x),
              Limbs(curve.limbs()));
  }
}

TEST(NamedCurves, HaveIdsInTheirOrder) {
  std::size_t i = 0;
  for (const ecc::Curve& curve : ecc::named_curves()) {
    EXPECT_EQ(static_cast<std::size_t>(curve.id), i++);
    EXPECT_EQ(&ecc::named_curve(curve.id), &curve);
    EXPECT_EQ(curve.limbs(), limbs_for_bits(curve.field_bits));
    EXPECT_EQ(curve.scalar_limbs(), limbs_for_bits(curve.order_bits));
  }
  EXPECT_EQ(i, static_cast<std::size_t>(ecc::CurveId::custom));
}

TEST(NamedCurves, AreFoundByTheirNamesAndAliases) {
  for (const ecc::Curve& curve : ecc::named_curves()) EXPECT_EQ(ecc::find_curve(curve.name), &curve);
  const std::pair<const char*, ecc::CurveId> aliases[] = {
      {"secp256r1", ecc::CurveId::p256},
      {"PRIME256V1", ecc::CurveId::p256},
      {"nist p-256", ecc::CurveId::p256},
      {"secp384r1", ecc::CurveId::p384},
      {"secp521r1", ecc::CurveId::p521},
      {"SECP256K1", ecc::CurveId::secp256k1},
      {"sm2", ecc::CurveId::sm2},
      {"BrainpoolP256R1", ecc::CurveId::brainpool256r1},
      {"alt_bn128", ecc::CurveId::bn254},
      {"bls12-381", ecc::CurveId::bls12_381},
      {"edwards25519", ecc::CurveId::ed25519},
      {"Curve25519", ecc::CurveId::x25519},
      {"edwards448", ecc::CurveId::ed448},
      {"curve448", ecc::CurveId::x448},
  };
  for (const auto& [name, id] : aliases) EXPECT_EQ(ecc::find_curve(name), &ecc::named_curve(id)) << name;
  for (const char* name : {"", "P-25", "P-2566", "P-256 ", "wapip192"})
    EXPECT_EQ(ecc::find_curve(name), nullptr);
}

}  // namespace
}  // namespace manymod::test
