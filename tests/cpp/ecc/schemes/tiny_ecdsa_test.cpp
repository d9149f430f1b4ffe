// SPDX-License-Identifier: Apache-2.0
// ECDSA on a curve of 97 points with coordinates below 103: every key with every nonce, every pair of numbers
// as a signature, and every recovery id. What almost never happens on other curves happens often here: x(R)
// >= n, r = 0, s = 0, sums at infinity.
#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "ecc/test_calls.hpp"
#include "support/brief.hpp"

namespace manymod::testing {
namespace {

constexpr int kP = 103, kA = 2, kB = 11, kN = 97;

int mod(int x, int m) { return ((x % m) + m) % m; }
int inverse(int x, int m) {
  for (int y = 1; y < m; ++y) {
    if (mod(x * y, m) == 1) return y;
  }
  return 0;
}

struct Point {
  int x = 0, y = 0;
  bool infinity = true;
};

Point sum(const Point& p, const Point& q) {
  if (p.infinity) return q;
  if (q.infinity) return p;
  if (p.x == q.x && mod(p.y + q.y, kP) == 0) return {};
  const int slope = p.x == q.x ? (3 * p.x * p.x + kA) * inverse(mod(2 * p.y, kP), kP)
                               : (q.y - p.y) * inverse(mod(q.x - p.x, kP), kP);
  const int x = mod(mod(slope, kP) * mod(slope, kP) - p.x - q.x, kP);
  return {x, mod(mod(slope, kP) * (p.x - x) - p.y, kP), false};
}

/// The multiples of the generator, by their factors.
const std::array<Point, kN>& multiples() {
  static const std::array<Point, kN> all = [] {
    std::array<Point, kN> points{};
    for (int k = 1; k < kN; ++k)
      points[static_cast<std::size_t>(k)] = sum(points[static_cast<std::size_t>(k - 1)], {1, 23, false});
    return points;
  }();
  return all;
}
const Point& multiple(int k) { return multiples()[static_cast<std::size_t>(mod(k, kN))]; }

Bytes byte(int value) { return {static_cast<std::uint8_t>(value)}; }
Bytes encoded(const Point& p) { return {4, static_cast<std::uint8_t>(p.x), static_cast<std::uint8_t>(p.y)}; }

EccCurve tiny_curve() {
  const Bytes p = byte(kP), a = byte(kA), b = byte(kB), x = byte(1), y = byte(23), n = byte(kN);
  return EccCurve(wrapper::ecc::Numbers{MM_ECC_WEIERSTRASS, p, a, b, x, y, n});
}

/// The digest whose leftmost seven bits are e.
Bytes digest_of(int e) { return byte(e << 1); }

EccOptions options_for(mm_ecc_signature_format format) {
  EccOptions options;
  options.prehashed = true;
  options.signature_format = format;
  options.low_s = -1;
  return options;
}

TEST(TinyEcdsa, EveryKeyWithEveryNonce) {
  EccPlan plan = cpu_plan(tiny_curve());
  std::vector<Bytes> secrets, nonces, messages, expected;
  for (int d = 1; d < kN; ++d) {
    for (int k = 1; k < kN; ++k) {
      const int e = mod(d * 31 + k * 7, 128);
      const Point& point = multiple(k);
      const int r = mod(point.x, kN);
      const int s = mod((mod(e, kN) + r * d) * inverse(k, kN), kN);
      secrets.push_back(byte(d));
      nonces.push_back(byte(k));
      messages.push_back(digest_of(e));
      const auto id = static_cast<std::uint8_t>(point.y % 2 + (point.x >= kN ? 2 : 0));
      expected.push_back(
          r == 0 || s == 0 ? Bytes() : Bytes{static_cast<std::uint8_t>(r), static_cast<std::uint8_t>(s), id});
    }
  }
  EccOperands operands;
  operands.secrets = secrets;
  operands.nonces = nonces;
  operands.messages = messages;
  EccOptions options = options_for(MM_ECC_RECOVERABLE);
  options.nonces = MM_ECC_NONCE_GIVEN;
  std::vector<mm_status> statuses;
  EXPECT_EQ(plan.run(MM_ECC_SIGN, secrets.size(), operands, options, &statuses), expected);
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    EXPECT_EQ(statuses[i], expected[i].empty() ? MM_ITEM_ECC_NONCE : MM_OK) << i;
  }
}

TEST(TinyEcdsa, DeterministicNoncesAreTriedUntilOneGivesASignature) {
  EccPlan plan = cpu_plan(tiny_curve());
  std::vector<Bytes> secrets, messages, keys;
  for (int d = 1; d < kN; ++d) {
    for (int e = 0; e < 128; e += 5) {
      secrets.push_back(byte(d));
      messages.push_back(digest_of(e));
      keys.push_back(encoded(multiple(d)));
    }
  }
  for (const auto nonces : {MM_ECC_NONCE_DETERMINISTIC, MM_ECC_NONCE_HEDGED}) {
    EccOptions options = options_for(MM_ECC_DER);
    options.nonces = nonces;
    const std::vector<Bytes> signatures = plan.sign(secrets, messages, options);
    EXPECT_EQ(plan.verify(keys, messages, signatures, options_for(MM_ECC_DER)),
              std::vector<bool>(keys.size(), true));
  }
}

TEST(TinyEcdsa, EveryPairOfNumbers) {
  EccPlan plan = cpu_plan(tiny_curve());
  for (const int d : {1, 50}) {
    for (const int e : {0, 97}) {
      if (kBriefTests && (d == 1) != (e == 0)) continue;
      std::vector<Bytes> signatures;
      std::vector<bool> expected;
      for (int r = 0; r < 128; ++r) {
        for (int s = 0; s < 128; ++s) {
          signatures.push_back({static_cast<std::uint8_t>(r), static_cast<std::uint8_t>(s)});
          const int w = inverse(s, kN);
          const Point& point = multiple(mod(e, kN) * w + mod(r * w, kN) * d);
          expected.push_back(r > 0 && r < kN && s > 0 && s < kN && !point.infinity && mod(point.x, kN) == r);
        }
      }
      const std::vector<Bytes> key{encoded(multiple(d))};
      const std::vector<Bytes> messages(signatures.size(), digest_of(e));
      std::vector<mm_status> statuses;
      EXPECT_EQ(plan.verify(key, messages, signatures, options_for(MM_ECC_RAW), &statuses), expected);
    }
  }
}

TEST(TinyEcdsa, EveryRecoveryId) {
  EccPlan plan = cpu_plan(tiny_curve());
  std::vector<Bytes> signatures, expected;
  constexpr int kE = 45;
  std::array<int, 4> found{};
  for (int r = 1; r < kN; ++r) {
    for (int s = 1; s < kN; s += kBriefTests ? 3 : 1) {
      for (int id = 0; id < 4; ++id) {
        signatures.push_back(
            {static_cast<std::uint8_t>(r), static_cast<std::uint8_t>(s), static_cast<std::uint8_t>(id)});
        expected.emplace_back();
        for (int k = 1; k < kN; ++k) {
          const Point& point = multiple(k);
          if (point.x != r + (id >= 2 ? kN : 0) || point.y % 2 != id % 2) continue;
          const Point& key = multiple(mod(s * k - kE, kN) * inverse(r, kN));
          if (key.infinity) continue;
          expected.back() = encoded(key);
          ++found[static_cast<std::size_t>(id)];
        }
      }
    }
  }
  for (const int count : found) EXPECT_GT(count, 0);
  const std::vector<Bytes> messages(signatures.size(), digest_of(kE));
  EccOperands operands;
  operands.messages = messages;
  operands.signatures = signatures;
  std::vector<mm_status> statuses;
  EXPECT_EQ(plan.run(MM_ECC_RECOVER, signatures.size(), operands, options_for(MM_ECC_RECOVERABLE), &statuses),
            expected);
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    EXPECT_EQ(statuses[i], expected[i].empty() ? MM_ITEM_ECC_NO_KEY : MM_OK) << i;
  }
}

}  // namespace
}  // namespace manymod::testing
