// SPDX-License-Identifier: Apache-2.0
// The numbers of the named curves.
//
// Sources: FIPS 186-4, appendix D (P-256, P-384, P-521); SEC 2 (secp256k1); GB/T 32918.5 (SM2); RFC 5639
// (brainpool); EIP-196 (BN254); draft-irtf-cfrg-pairing-friendly-curves (BLS12-381); RFC 7748 (X25519, X448);
// RFC 8032 (Ed25519, Ed448). tests/cpp/ecc/curves_test.cpp checks them.
#include <array>
#include <memory>

#include "core/published_once.hpp"
#include "ecc/curve.hpp"
#include "ecc/hex.hpp"
#include "ecc/hex_curves.hpp"
#include "repr/limbs.hpp"

namespace manymod::ecc {
namespace {

/// Hexadecimal numbers, big-endian. See Curve.
struct Row {
  CurveId id;
  const char* name;
  mm_ecc_form form;
  hex_curves::HexCurve numbers;
  std::string_view cofactor;
};

constexpr Row kRows[] = {
    {CurveId::p256, "P-256", MM_ECC_WEIERSTRASS, hex_curves::kP256, "01"},
    {CurveId::p384, "P-384", MM_ECC_WEIERSTRASS, hex_curves::kP384, "01"},
    {CurveId::p521, "P-521", MM_ECC_WEIERSTRASS, hex_curves::kP521, "01"},
    {CurveId::secp256k1, "secp256k1", MM_ECC_WEIERSTRASS, hex_curves::kSecp256k1, "01"},
    {CurveId::sm2, "SM2", MM_ECC_WEIERSTRASS, hex_curves::kSm2, "01"},
    {CurveId::brainpool256r1,
     "brainpoolP256r1",
     MM_ECC_WEIERSTRASS,
     {"a9fb57dba1eea9bc3e660a909d838d726e3bf623d52620282013481d1f6e5377",
      "7d5a0975fc2c3057eef67530417affe7fb8055c126dc5c6ce94a4b44f330b5d9",
      "26dc5c6ce94a4b44f330b5d9bbd77cbf958416295cf7e1ce6bccdc18ff8c07b6",
      "8bd2aeb9cb7e57cb2c4b482ffc81b7afb9de27e1e3bd23c23a4453bd9ace3262",
      "547ef835c3dac4fd97f8461a14611dc9c27745132ded8e545c1d54c72f046997",
      "a9fb57dba1eea9bc3e660a909d838d718c397aa3b561a6f7901e0e82974856a7"},
     "01"},
    {CurveId::brainpool384r1,
     "brainpoolP384r1",
     MM_ECC_WEIERSTRASS,
     {"8cb91e82a3386d280f5d6f7e50e641df152f7109ed5456b412b1da197fb71123acd3a729"
      "901d1a71874700133107ec53",
      "7bc382c63d8c150c3c72080ace05afa0c2bea28e4fb22787139165efba91f90f8aa5814a"
      "503ad4eb04a8c7dd22ce2826",
      "04a8c7dd22ce28268b39b55416f0447c2fb77de107dcd2a62e880ea53eeb62d57cb43902"
      "95dbc9943ab78696fa504c11",
      "1d1c64f068cf45ffa2a63a81b7c13f6b8847a3e77ef14fe3db7fcafe0cbd10e8e826e034"
      "36d646aaef87b2e247d4af1e",
      "8abe1d7520f9c2a45cb1eb8e95cfd55262b70b29feec5864e19c054ff99129280e464621"
      "7791811142820341263c5315",
      "8cb91e82a3386d280f5d6f7e50e641df152f7109ed5456b31f166e6cac0425a7cf3ab6af"
      "6b7fc3103b883202e9046565"},
     "01"},
    {CurveId::brainpool512r1,
     "brainpoolP512r1",
     MM_ECC_WEIERSTRASS,
     {"aadd9db8dbe9c48b3fd4e6ae33c9fc07cb308db3b3c9d20ed6639cca703308717d4d9b00"
      "9bc66842aecda12ae6a380e62881ff2f2d82c68528aa6056583a48f3",
      "7830a3318b603b89e2327145ac234cc594cbdd8d3df91610a83441caea9863bc2ded5d5a"
      "a8253aa10a2ef1c98b9ac8b57f1117a72bf2c7b9e7c1ac4d77fc94ca",
      "3df91610a83441caea9863bc2ded5d5aa8253aa10a2ef1c98b9ac8b57f1117a72bf2c7b9"
      "e7c1ac4d77fc94cadc083e67984050b75ebae5dd2809bd638016f723",
      "81aee4bdd82ed9645a21322e9c4c6a9385ed9f70b5d916c1b43b62eef4d0098eff3b1f78"
      "e2d0d48d50d1687b93b97d5f7c6d5047406a5e688b352209bcb9f822",
      "7dde385d566332ecc0eabfa9cf7822fdf209f70024a57b1aa000c55b881f8111b2dcde49"
      "4a5f485e5bca4bd88a2763aed1ca2b2fa8f0540678cd1e0f3ad80892",
      "aadd9db8dbe9c48b3fd4e6ae33c9fc07cb308db3b3c9d20ed6639cca70330870553e5c41"
      "4ca92619418661197fac10471db1d381085ddaddb58796829ca90069"},
     "01"},
    {CurveId::bn254,
     "BN254",
     MM_ECC_WEIERSTRASS,
     {"30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47", "00", "03", "01", "02",
      "30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001"},
     "01"},
    {CurveId::bls12_381,
     "BLS12-381",
     MM_ECC_WEIERSTRASS,
     {"1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffe"
      "b153ffffb9feffffffffaaab",
      "00", "04",
      "17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83f"
      "f97a1aeffb3af00adb22c6bb",
      "08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744"
      "a2888ae40caa232946c5e7e1",
      "73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001"},
     "396c8c005555e1568c00aaab0000aaab"},
    {CurveId::ed25519,
     "Ed25519",
     MM_ECC_EDWARDS,
     {"7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed",
      "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffec",
      "52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3",
      "216936d3cd6e53fec0a4e231fdd6dc5c692cc7609525a7b2c9562d608f25d51a",
      "6666666666666666666666666666666666666666666666666666666666666658",
      "1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed"},
     "08"},
    {CurveId::x25519,
     "X25519",
     MM_ECC_MONTGOMERY,
     {"7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed", "076d06", "", "09", "",
      "1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed"},
     "08"},
    {CurveId::ed448,
     "Ed448",
     MM_ECC_EDWARDS,
     {"fffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffffffffffff"
      "ffffffffffffffffffffffffffffffffffffffff",
      "01",
      "fffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffffffffffff"
      "ffffffffffffffffffffffffffffffffffff6756",
      "4f1970c66bed0ded221d15a622bf36da9e146570470f1767ea6de324a3d3a46412ae1af7"
      "2ab66511433b80e18b00938e2626a82bc70cc05e",
      "693f46716eb6bc248876203756c9c7624bea73736ca3984087789c1e05a0c2d73ad3ff1c"
      "e67c39c4fdbd132c4ed7c8ad9808795bf230fa14",
      "3fffffffffffffffffffffffffffffffffffffffffffffffffffffff7cca23e9c44edb49"
      "aed63690216cc2728dc58f552378c292ab5844f3"},
     "04"},
    {CurveId::x448,
     "X448",
     MM_ECC_MONTGOMERY,
     {"fffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffffffffffff"
      "ffffffffffffffffffffffffffffffffffffffff",
      "0262a6", "", "05", "",
      "3fffffffffffffffffffffffffffffffffffffffffffffffffffffff7cca23e9c44edb49"
      "aed63690216cc2728dc58f552378c292ab5844f3"},
     "04"},
};

/// A number below p, or none: Montgomery curves lack some.
std::vector<Limb> parse_residue(std::string_view hex, std::size_t limbs) {
  std::vector<Limb> number = limbs_from_hex(hex);
  if (!number.empty()) number.resize(limbs);
  return number;
}

Curve parse_curve(const Row& row) {
  Curve curve;
  curve.id = row.id;
  curve.name = row.name;
  curve.form = row.form;
  curve.p = limbs_from_hex(row.numbers.p);
  curve.a = parse_residue(row.numbers.a, curve.limbs());
  curve.b = parse_residue(row.numbers.b, curve.limbs());
  curve.x = parse_residue(row.numbers.x, curve.limbs());
  curve.y = parse_residue(row.numbers.y, curve.limbs());
  curve.n = limbs_from_hex(row.numbers.n);
  curve.cofactor = limbs_from_hex(row.cofactor);
  curve.field_bits = limbs::bit_length_var(curve.p);
  curve.order_bits = limbs::bit_length_var(curve.n);
  return curve;
}

using Curves = std::array<Curve, std::size(kRows)>;

Curves parse_curves() {
  Curves curves;
  for (std::size_t i = 0; i < curves.size(); ++i) curves[i] = parse_curve(kRows[i]);
  return curves;
}

}  // namespace

std::span<const Curve> named_curves() {
  static constinit PublishedForever<Curves> curves;
  return *curves.get([] { return std::make_unique<const Curves>(parse_curves()); });
}

const Curve& named_curve(CurveId id) { return named_curves()[static_cast<std::size_t>(id)]; }

}  // namespace manymod::ecc
