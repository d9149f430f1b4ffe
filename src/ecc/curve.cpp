// SPDX-License-Identifier: Apache-2.0
#include "ecc/curve.hpp"

#include <algorithm>

namespace manymod::ecc {
namespace {

struct Alias {
  std::string_view name;
  CurveId id;
};

/// SEC 2, ANSI X9.62 and FIPS 186 name the same curves differently; RFC 7748 and RFC 8032 name curves and
/// algorithms.
constexpr Alias kAliases[] = {
    {"secp256r1", CurveId::p256},
    {"prime256v1", CurveId::p256},
    {"NIST P-256", CurveId::p256},
    {"nistp256", CurveId::p256},
    {"P256", CurveId::p256},
    {"secp384r1", CurveId::p384},
    {"ansip384r1", CurveId::p384},
    {"NIST P-384", CurveId::p384},
    {"nistp384", CurveId::p384},
    {"P384", CurveId::p384},
    {"secp521r1", CurveId::p521},
    {"ansip521r1", CurveId::p521},
    {"NIST P-521", CurveId::p521},
    {"nistp521", CurveId::p521},
    {"P521", CurveId::p521},
    {"ansip256k1", CurveId::secp256k1},
    {"sm2p256v1", CurveId::sm2},
    {"curveSM2", CurveId::sm2},
    {"alt_bn128", CurveId::bn254},
    {"BN254 G1", CurveId::bn254},
    {"BLS12381", CurveId::bls12_381},
    {"BLS12-381 G1", CurveId::bls12_381},
    {"edwards25519", CurveId::ed25519},
    {"curve25519", CurveId::x25519},
    {"edwards448", CurveId::ed448},
    {"curve448", CurveId::x448},
};

/// ASCII letters only: the locale has no say.
char to_lower(char c) { return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_name(std::string_view x, std::string_view y) {
  return std::ranges::equal(x, y, {}, to_lower, to_lower);
}

}  // namespace

const Curve* find_curve(std::string_view name) {
  for (const Curve& curve : named_curves())
    if (same_name(curve.name, name)) return &curve;
  for (const Alias& alias : kAliases)
    if (same_name(alias.name, name)) return &named_curve(alias.id);
  return nullptr;
}

}  // namespace manymod::ecc
