// SPDX-License-Identifier: Apache-2.0
// Primes of elliptic curves for which a product is reduced by its own few additions, shifts or products of
// digits, on every backend. All are p = 2^kBits + smaller signed powers of two (times small factors), listed
// in kTerms from the largest to the smallest.
//
//   secp256k1    2^256 - 2^32 - 977                          SEC 2
//   Curve25519   2^255 - 19                                  RFC 7748
//   P256         2^256 - 2^224 + 2^192 + 2^96 - 1            FIPS 186-4, D.1.2.3
//   SM2          2^256 - 2^224 - 2^96 + 2^64 - 1             GB/T 32918.5
//   P384         2^384 - 2^128 - 2^96 + 2^32 - 1             FIPS 186-4, D.1.2.4
//   P521         2^521 - 1                                   FIPS 186-4, D.1.2.5
//   Curve448     2^448 - 2^224 - 1                           RFC 7748; Hamburg 2015 ("Goldilocks")
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>

#include "core/limb.hpp"

namespace manymod::primes {

/// factor 2^exponent
struct Term {
  std::int32_t factor;
  std::uint32_t exponent;
};

struct Secp256k1 {
  static constexpr const char* kName = "secp256k1";
  static constexpr unsigned kBits = 256;
  static constexpr std::size_t kLimbs = 4;
  static constexpr Limb kLimb[kLimbs] = {0xfffffffefffffc2f, 0xffffffffffffffff, 0xffffffffffffffff,
                                         0xffffffffffffffff};
  static constexpr Term kTerms[] = {{1, 256}, {-1, 32}, {-977, 0}};
};

struct Curve25519 {
  static constexpr const char* kName = "curve25519";
  static constexpr unsigned kBits = 255;
  static constexpr std::size_t kLimbs = 4;
  static constexpr Limb kLimb[kLimbs] = {0xffffffffffffffed, 0xffffffffffffffff, 0xffffffffffffffff,
                                         0x7fffffffffffffff};
  static constexpr Term kTerms[] = {{1, 255}, {-19, 0}};
};

struct P256 {
  static constexpr const char* kName = "p256";
  static constexpr unsigned kBits = 256;
  static constexpr std::size_t kLimbs = 4;
  static constexpr Limb kLimb[kLimbs] = {0xffffffffffffffff, 0x00000000ffffffff, 0x0000000000000000,
                                         0xffffffff00000001};
  static constexpr Term kTerms[] = {{1, 256}, {-1, 224}, {1, 192}, {1, 96}, {-1, 0}};
};

struct Sm2 {
  static constexpr const char* kName = "sm2";
  static constexpr unsigned kBits = 256;
  static constexpr std::size_t kLimbs = 4;
  static constexpr Limb kLimb[kLimbs] = {0xffffffffffffffff, 0xffffffff00000000, 0xffffffffffffffff,
                                         0xfffffffeffffffff};
  static constexpr Term kTerms[] = {{1, 256}, {-1, 224}, {-1, 96}, {1, 64}, {-1, 0}};
};

struct P384 {
  static constexpr const char* kName = "p384";
  static constexpr unsigned kBits = 384;
  static constexpr std::size_t kLimbs = 6;
  static constexpr Limb kLimb[kLimbs] = {0x00000000ffffffff, 0xffffffff00000000, 0xfffffffffffffffe,
                                         0xffffffffffffffff, 0xffffffffffffffff, 0xffffffffffffffff};
  static constexpr Term kTerms[] = {{1, 384}, {-1, 128}, {-1, 96}, {1, 32}, {-1, 0}};
};

struct P521 {
  static constexpr const char* kName = "p521";
  static constexpr unsigned kBits = 521;
  static constexpr std::size_t kLimbs = 9;
  static constexpr Limb kLimb[kLimbs] = {0xffffffffffffffff, 0xffffffffffffffff, 0xffffffffffffffff,
                                         0xffffffffffffffff, 0xffffffffffffffff, 0xffffffffffffffff,
                                         0xffffffffffffffff, 0xffffffffffffffff, 0x00000000000001ff};
  static constexpr Term kTerms[] = {{1, 521}, {-1, 0}};
};

struct Curve448 {
  static constexpr const char* kName = "curve448";
  static constexpr unsigned kBits = 448;
  static constexpr std::size_t kLimbs = 7;
  static constexpr Limb kLimb[kLimbs] = {0xffffffffffffffff, 0xffffffffffffffff, 0xffffffffffffffff,
                                         0xfffffffeffffffff, 0xffffffffffffffff, 0xffffffffffffffff,
                                         0xffffffffffffffff};
  static constexpr Term kTerms[] = {{1, 448}, {-1, 224}, {-1, 0}};
};

using All = std::tuple<Secp256k1, Curve25519, P256, Sm2, P384, P521, Curve448>;

/// Most limbs of one of these primes.
inline constexpr std::size_t kMaxLimbs = P521::kLimbs;

/// Whether kLimb is the sum of kTerms and has kBits bits.
template <class Prime>
constexpr bool is_consistent() {
  Limb sum[Prime::kLimbs + 1] = {};
  for (const Term& term : Prime::kTerms) {
    // |factor| < 2^16, in the limb of the exponent and the one above; then added or subtracted.
    const Limb factor = static_cast<Limb>(term.factor < 0 ? -term.factor : term.factor);
    const std::size_t at = term.exponent / kLimbBits;
    const unsigned shift = term.exponent % kLimbBits;
    const Limb part[2] = {factor << shift, shift == 0 ? 0 : factor >> (kLimbBits - shift)};
    Limb carry = 0;
    for (std::size_t i = at; i <= Prime::kLimbs; ++i) {
      const Limb x = i - at < 2 ? part[i - at] : 0;
      const Limb before = sum[i];
      if (term.factor < 0) {
        sum[i] = before - x - carry;
        carry = before < x || (before == x && carry != 0) ? 1 : 0;
      } else {
        sum[i] = before + x + carry;
        carry = sum[i] < before || (sum[i] == before && carry != 0) ? 1 : 0;
      }
    }
  }
  bool same = sum[Prime::kLimbs] == 0;
  for (std::size_t i = 0; i < Prime::kLimbs; ++i) same = same && sum[i] == Prime::kLimb[i];
  return same && Prime::kLimb[Prime::kLimbs - 1] >> ((Prime::kBits - 1) % kLimbBits) == 1;
}

static_assert(is_consistent<Secp256k1>() && is_consistent<Curve25519>() && is_consistent<P256>() &&
              is_consistent<Sm2>() && is_consistent<P384>() && is_consistent<P521>() &&
              is_consistent<Curve448>());

}  // namespace manymod::primes
