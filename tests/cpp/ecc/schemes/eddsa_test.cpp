// SPDX-License-Identifier: Apache-2.0
#include "ecc/schemes/eddsa.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "crypto/libcrypto.hpp"
#include "ecc/faulty_engine.hpp"
#include "ecc/plain_group.hpp"
#include "ecc/schemes/eddsa_parts.hpp"
#include "ecc/schemes/eddsa_vectors.hpp"
#include "ecc/schemes/edwards_encoding.hpp"
#include "ecc/schemes/scheme_runs.hpp"
#include "support/brief.hpp"
#include "support/naive.hpp"

namespace manymod::test {
namespace {

using ecc::CurveId;
using ecc::PointEngine;

constexpr mm_ecc_policy kPolicies[] = {MM_ECC_RFC8032, MM_ECC_STRICT, MM_ECC_ZIP215};

SchemeRun run(const PointEngine& engine, mm_ecc_op op, const SchemeItems& items, std::size_t count,
              const ecc::Inputs& options = {}, Places places = Places::pointers) {
  SchemeRun r(items, count, places);
  r.inputs.prehashed = options.prehashed;
  r.inputs.policy = options.policy;
  r.inputs.check = options.check;
  r.run([&](const ecc::Inputs& inputs, const ecc::Outputs& outputs) {
    return ecc::make_eddsa(op, engine, inputs, outputs);
  });
  return r;
}
ecc::Inputs with_policy(mm_ecc_policy policy) {
  ecc::Inputs options;
  options.policy = policy;
  return options;
}
bool verify(const PointEngine& engine, const Bytes& key, const Bytes& message, const Bytes& signature,
            mm_ecc_policy policy = MM_ECC_RFC8032) {
  return run(engine, MM_ECC_VERIFY, {{}, {key}, {message}, {signature}, {}}, 1, with_policy(policy)).ok[0] ==
         1;
}

class Eddsa : public testing::TestWithParam<CurveId> {
 protected:
  std::vector<std::unique_ptr<const PointEngine>> engines_ = engines_of(GetParam());
  naive::Generator generate_{11};

  [[nodiscard]] bool is_448() const { return GetParam() == CurveId::ed448; }
  [[nodiscard]] std::size_t size() const { return is_448() ? 57 : 32; }
  Bytes random(std::size_t size) {
    Bytes r(size);
    for (auto& byte : r) byte = static_cast<std::uint8_t>(generate_.below(256));
    return r;
  }
  /// A batch of signatures under different keys, and one more of the last key.
  SchemeItems signed_items(std::size_t count) {
    SchemeItems items;
    for (std::size_t i = 0; i < count; ++i) {
      items.secret.push_back(i + 1 < count || i == 0 ? random(size()) : items.secret.back());
      items.message.push_back(random(i));
    }
    items.point = run(*engines_[0], MM_ECC_PUBLIC_KEY, {items.secret, {}, {}, {}, {}}, count).output;
    items.signature = run(*engines_[0], MM_ECC_SIGN, {items.secret, {}, items.message, {}, {}}, count).output;
    return items;
  }
  [[nodiscard]] static SchemeItems to_verify(const SchemeItems& items) {
    return {{}, items.point, items.message, items.signature, {}};
  }
};

TEST_P(Eddsa, PublishedVectors) {
  std::size_t tested = 0;
  for (const EddsaVector& v : kEddsaVectors) {
    if (v.ed448 != is_448()) continue;
    ++tested;
    ecc::Inputs options;
    options.prehashed = v.prehashed;
    const Bytes secret = from_hex(v.secret), key = from_hex(v.public_key), message = from_hex(v.message);
    const Bytes context = from_hex(v.context), signature = from_hex(v.signature);
    for (const auto& engine : engines_) {
      SCOPED_TRACE(std::string(engine->variant()) + " " + v.secret);
      EXPECT_EQ(run(*engine, MM_ECC_PUBLIC_KEY, {{secret}, {}, {}, {}, {}}, 1).output[0], key);
      EXPECT_EQ(run(*engine, MM_ECC_SIGN, {{secret}, {}, {message}, {}, {context}}, 1, options).output[0],
                signature);
      for (const mm_ecc_policy policy : kPolicies) {
        options.policy = policy;
        const SchemeItems items{{}, {key}, {message}, {signature}, {context}};
        EXPECT_EQ(run(*engine, MM_ECC_VERIFY, items, 1, options).ok[0], 1);
        const SchemeItems other{{}, {key}, {message}, {signature}, {Bytes{'x'}}};
        EXPECT_EQ(run(*engine, MM_ECC_VERIFY, other, 1, options).ok[0], 0);
      }
      options.policy = MM_ECC_ZIP215;
      EXPECT_EQ(
          run(*engine, MM_ECC_VERIFY_ALL, {{}, {key}, {message}, {signature}, {context}}, 1, options).ok[0],
          1);
    }
  }
  EXPECT_GE(tested, 8U);
}

/// More items than a batch has, against libcrypto; every item has another message, one key or many.
TEST_P(Eddsa, AgreesWithLibcrypto) {
  const std::size_t count = kBriefTests ? 70 : 300;
  const int type = is_448() ? EVP_PKEY_ED448 : EVP_PKEY_ED25519;
  for (const bool one_key : {false, true}) {
    SchemeItems items;
    for (std::size_t i = 0; i < count; ++i) {
      if (!one_key || i == 0) items.secret.push_back(random(size()));
      items.message.push_back(random(i));
    }
    for (const auto& engine : engines_) {
      SCOPED_TRACE(engine->variant());
      const std::size_t step = engine == engines_[0] ? 37 : is_448() ? 7 : 1;
      ecc::Inputs options;
      options.check = one_key;
      const auto keys = run(*engine, MM_ECC_PUBLIC_KEY, {items.secret, {}, {}, {}, {}}, count).output;
      const auto found = run(*engine, MM_ECC_SIGN, {items.secret, {}, items.message, {}, {}}, count, options);
      for (std::size_t i = 0; i < count; i += step) {
        const Bytes& secret = items.secret[one_key ? 0 : i];
        const crypto::Libcrypto<EVP_PKEY> key(
            EVP_PKEY_new_raw_private_key(type, nullptr, secret.data(), secret.size()));
        ASSERT_NE(key, nullptr);
        Bytes public_key(size()), signature(2 * size());
        std::size_t length = public_key.size(), signature_length = signature.size();
        ASSERT_EQ(EVP_PKEY_get_raw_public_key(key.get(), public_key.data(), &length), 1);
        const crypto::Libcrypto<EVP_MD_CTX> context(EVP_MD_CTX_new());
        ASSERT_EQ(EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()), 1);
        ASSERT_EQ(EVP_DigestSign(context.get(), signature.data(), &signature_length, items.message[i].data(),
                                 items.message[i].size()),
                  1);
        ASSERT_EQ(keys[i], public_key) << i;
        ASSERT_EQ(found.status[i], MM_OK) << i;
        ASSERT_EQ(found.output[i], signature) << i;
      }
      for (const mm_ecc_policy policy : kPolicies) {
        const auto verdicts = run(*engine, MM_ECC_VERIFY, {{}, keys, items.message, found.output, {}}, count,
                                  with_policy(policy));
        EXPECT_EQ(verdicts.ok, std::vector<std::uint8_t>(count, 1));
      }
    }
  }
}

/// Keys that items have at one address, as those of a service have, in any order and more than are
/// remembered at once.
TEST_P(Eddsa, KeysInCommon) {
  const std::size_t count = kBriefTests ? 70 : 1000;
  for (const std::size_t keys : {2U, 9U, 300U}) {
    std::vector<Bytes> secrets;
    for (std::size_t i = 0; i < keys; ++i) secrets.push_back(random(size()));
    SchemeItems items;
    for (std::size_t i = 0; i < count; ++i) {
      items.secret.push_back(secrets[generate_.below(keys)]);
      items.message.push_back(random(i % 40));
    }
    for (const mm_ecc_op op : {MM_ECC_PUBLIC_KEY, MM_ECC_SIGN}) {
      const auto apart = run(*engines_.back(), op, items, count);
      const auto shared = run(*engines_.back(), op, items, count, {}, Places::shared);
      EXPECT_EQ(shared.output, apart.output);
      EXPECT_EQ(shared.status, std::vector<std::uint8_t>(count, MM_OK));
    }
  }
}

/// Every byte of key, signature and message counts.
TEST_P(Eddsa, MutationsAreRejected) {
  const SchemeItems valid = signed_items(4);
  SchemeItems bad;
  const auto mutate = [&](auto member) {
    for (std::size_t at = 0; at < (valid.*member)[3].size(); at += kBriefTests ? 3 : 1) {
      for (const unsigned bit : {0U, 7U}) {
        if (kBriefTests && (at % 2 == 0) != (bit == 0)) continue;
        bad.point.push_back(valid.point[3]);
        bad.message.push_back(valid.message[3]);
        bad.signature.push_back(valid.signature[3]);
        (bad.*member).back()[at] ^= static_cast<std::uint8_t>(1U << bit);
      }
    }
  };
  mutate(&SchemeItems::point);
  mutate(&SchemeItems::message);
  mutate(&SchemeItems::signature);
  const std::size_t count = bad.point.size();
  for (const auto& engine : engines_) {
    for (const mm_ecc_policy policy : kPolicies) {
      SCOPED_TRACE(engine->variant());
      const auto r = run(*engine, MM_ECC_VERIFY, bad, count, with_policy(policy));
      EXPECT_EQ(r.ok, std::vector<std::uint8_t>(count, 0));
      for (const std::uint8_t status : r.status) {
        EXPECT_TRUE(status == MM_OK || status == MM_ITEM_ECC_POINT || status == MM_ITEM_ECC_SIGNATURE);
      }
    }
  }
}

/// One bad item anywhere spoils the verdict of its batch, and leaves the verdicts of items alone.
TEST_P(Eddsa, OneBadItem) {
  const std::size_t count = is_448() ? 5 : 21;
  const SchemeItems valid = signed_items(count);
  for (const auto& engine : engines_) {
    SCOPED_TRACE(engine->variant());
    const auto policy = with_policy(MM_ECC_ZIP215);
    EXPECT_EQ(run(*engine, MM_ECC_VERIFY_ALL, to_verify(valid), count, policy).ok,
              std::vector<std::uint8_t>(count, 1));
    for (std::size_t bad = 0; bad < count; bad += kBriefTests ? 3 : 1) {
      SchemeItems items = to_verify(valid);
      switch (bad % 4) {
        case 0:
          items.message[bad].push_back(1);
          break;
        case 1:
          items.signature[bad][size()] ^= 1;
          break;
        case 2:
          items.signature[bad].pop_back();
          break;
        default:
          items.point[bad].push_back(0);
      }
      EXPECT_EQ(run(*engine, MM_ECC_VERIFY_ALL, items, count, policy).ok,
                std::vector<std::uint8_t>(count, 0));
      for (const mm_ecc_policy each : kPolicies) {
        const auto r = run(*engine, MM_ECC_VERIFY, items, count, with_policy(each));
        for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(r.ok[i], i == bad ? 0 : 1) << i << " " << bad;
        EXPECT_EQ(r.status[bad], bad % 4 == 2   ? MM_ITEM_ECC_SIGNATURE
                                 : bad % 4 == 3 ? MM_ITEM_ECC_POINT
                                                : MM_OK);
      }
    }
    // Two errors that cancel where all coefficients are equal: S + 1 and S - 1.
    SchemeItems items = to_verify(valid);
    std::size_t i = size(), j = size();
    while (++items.signature[0][i] == 0) ++i;
    while (items.signature[1][j]-- == 0) ++j;
    EXPECT_EQ(run(*engine, MM_ECC_VERIFY_ALL, items, count, policy).ok, std::vector<std::uint8_t>(count, 0));
  }
}

TEST_P(Eddsa, LengthsAndStatuses) {
  const SchemeItems valid = signed_items(1);
  for (const auto& engine : engines_) {
    SCOPED_TRACE(engine->variant());
    // Statuses of single items; their neighbours are computed.
    SchemeItems items{{valid.secret[0], Bytes(size() - 1), Bytes(size() + 1), Bytes{}, valid.secret[0]},
                      {},
                      {valid.message[0]},
                      {},
                      {Bytes{}, Bytes{}, Bytes{}, Bytes{}, Bytes(256, 1)}};
    auto r = run(*engine, MM_ECC_SIGN, items, 5);
    EXPECT_EQ(r.status, (std::vector<std::uint8_t>{MM_OK, MM_ITEM_ECC_SECRET, MM_ITEM_ECC_SECRET,
                                                   MM_ITEM_ECC_SECRET, MM_ITEM_ECC_LENGTH}));
    EXPECT_EQ(r.output[0], valid.signature[0]);
    EXPECT_TRUE(r.output[1].empty() && r.output[4].empty());
    ecc::Inputs options;
    options.prehashed = true;
    r = run(*engine, MM_ECC_SIGN, {valid.secret, {}, {Bytes(63), Bytes(64), Bytes(65)}, {}, {}}, 3, options);
    EXPECT_EQ(r.status, (std::vector<std::uint8_t>{MM_ITEM_ECC_LENGTH, MM_OK, MM_ITEM_ECC_LENGTH}));
    r = run(*engine, MM_ECC_VERIFY,
            {{},
             valid.point,
             valid.message,
             {valid.signature[0], valid.signature[0], Bytes{}},
             {Bytes{}, Bytes(256, 0), Bytes{}}},
            3);
    EXPECT_EQ(r.status, (std::vector<std::uint8_t>{MM_OK, MM_ITEM_ECC_LENGTH, MM_ITEM_ECC_SIGNATURE}));
    EXPECT_EQ(r.ok, (std::vector<std::uint8_t>{1, 0, 0}));
  }
}

/// S + n is the same number modulo n, and always rejected.
TEST_P(Eddsa, LargeResponses) {
  const SchemeItems valid = signed_items(1);
  const auto& n = ecc::named_curve(GetParam()).n;
  Bytes order(size()), signature = valid.signature[0];
  ecc::little_endian_from_limbs(order, n);
  unsigned carry = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    carry += unsigned{signature[size() + i]} + order[i];
    signature[size() + i] = static_cast<std::uint8_t>(carry);
    carry >>= 8;
  }
  for (const auto& engine : engines_) {
    for (const mm_ecc_policy policy : kPolicies) {
      const auto r = run(*engine, MM_ECC_VERIFY, {{}, valid.point, valid.message, {signature}, {}}, 1,
                         with_policy(policy));
      EXPECT_EQ(r.ok[0], 0);
      EXPECT_EQ(r.status[0], MM_ITEM_ECC_SIGNATURE);
    }
  }
}

/// A wrong R does not leave, and its neighbours do; without the check it would.
TEST_P(Eddsa, Faults) {
  // Few signatures are checked one by one, many by one equation first, which takes 16 points for each item
  // that an engine computes together.
  for (const std::size_t count : {5U, 130U}) {
    const SchemeItems valid = signed_items(count);
    const SchemeItems items{{valid.secret[0]}, {}, valid.message, {}, {}};
    const auto expected = run(*engines_[0], MM_ECC_SIGN, items, count).output;
    for (const auto& engine : engines_) {
      // Row 0 is the key, row i + 1 the R of item i.
      for (const std::size_t bad : {0U, 2U, 4U}) {
        const FaultyEngine faulty(*engine, bad + 1, 0);
        auto r = run(faulty, MM_ECC_SIGN, items, count);
        for (std::size_t i = 0; i < count; ++i) {
          EXPECT_EQ(r.status[i], i == bad ? MM_ITEM_ECC_FAULT : MM_OK);
          EXPECT_EQ(r.output[i], i == bad ? Bytes{} : expected[i]);
        }
        const FaultyEngine permanent(*engine, bad + 1);
        EXPECT_EQ(run(permanent, MM_ECC_SIGN, items, count).status[bad], MM_ITEM_ECC_FAULT);
        ecc::Inputs unchecked;
        unchecked.check = false;
        r = run(permanent, MM_ECC_SIGN, items, count, unchecked);
        EXPECT_EQ(r.status[bad], MM_OK);
        EXPECT_NE(r.output[bad], expected[bad]);
      }
      const FaultyEngine faulty(*engine, 0);
      for (const std::uint8_t status : run(faulty, MM_ECC_SIGN, items, count).status) {
        EXPECT_EQ(status, MM_ITEM_ECC_FAULT);
      }
    }
  }
}

/// Rows that are no points become the neutral element, whatever was computed of them before.
TEST_P(Eddsa, ClearedPointsAreNeutral) {
  const ecc::Curve& curve = ecc::named_curve(GetParam());
  const Bytes key = signed_items(1).point[0];
  ecc::EdwardsPoints points(*engines_[0], ecc::EdwardsReading::canonical, 1);
  points.read(0, key);
  points.lift(1);
  ASSERT_TRUE(points.valid(0));
  points.clear(0);
  EXPECT_FALSE(points.valid(0));
  for (std::size_t i = 0; i < curve.limbs(); ++i) {
    EXPECT_EQ(points.x(0)[i], 0U);
    EXPECT_EQ(points.y(0)[i], i == 0 ? 1U : 0U);
  }
}

/// Keys a G + e T and commitments r G + f T with a point T of the order h of the cofactor: S B - k A - R is
/// -(k e + f) T.
TEST_P(Eddsa, PointsOfMixedOrder) {
  const ecc::Curve& curve = ecc::named_curve(GetParam());
  const ecc::eddsa::Instance& instance = ecc::eddsa::instance_of(curve);
  const auto order = ecc::Order::of(curve);
  const PlainGroup group(curve);
  const unsigned h = instance.cofactor;
  PlainPoint small = group.neutral();
  for (Limb y = 2; group.multiply(std::vector<Limb>{h / 2}, small) == group.neutral(); ++y) {
    std::vector<Limb> given(curve.limbs());
    given[0] = y;
    if (const auto point = group.lift(given, true)) small = group.multiply(curve.n, *point);
  }
  const auto encoded = [&](const std::vector<Limb>& k, Limb e) {
    PlainPoint p{std::vector<Limb>(curve.limbs()), std::vector<Limb>(curve.limbs())};
    engines_[0]->multiply_base({p.x.data(), p.y.data(), nullptr}, {k.data(), 0}, {0, 1}, TimingClass::public_,
                               {});
    p = group.add(p, group.multiply(std::vector<Limb>{e}, small));
    Bytes bytes(size());
    ecc::write_edwards_point(curve, bytes, p.x.data(), p.y.data());
    return bytes;
  };
  ecc::eddsa::Hash hash(instance);
  SchemeItems items;
  std::vector<std::uint8_t> exact, cofactored;
  for (Limb e = 0; e < h; ++e) {
    for (Limb f = 0; f < h; ++f) {
      std::vector<Limb> a(order->limbs()), r(a), k(a), response(a);
      for (auto* number : {&a, &r}) {
        for (Limb& limb : *number) limb = generate_.limb();
        number->back() >>= 4;
      }
      const Bytes key = encoded(a, e), commitment = encoded(r, f), message = random(9);
      ecc::eddsa::Digest digest;
      const ecc::eddsa::Domain domain(instance, false, {});
      ecc::eddsa::reduce(*order, k.data(), hash.digest(digest, {domain.bytes(), commitment, key, message}));
      ecc::eddsa::multiply_add(*order, response.data(), k.data(), a.data(), r.data());
      for (const bool right : {true, false}) {
        Bytes signature(2 * size());
        ecc::little_endian_from_limbs(std::span(signature).last(size()), response);
        std::ranges::copy(commitment, signature.begin());
        if (!right) signature[size()] ^= 8;
        items.point.push_back(key);
        items.message.push_back(message);
        items.signature.push_back(signature);
        exact.push_back(right && (k[0] * e + f) % h == 0 ? 1 : 0);
        cofactored.push_back(right ? 1 : 0);
      }
    }
  }
  EXPECT_GE(std::ranges::count(exact, 1), 2);
  for (const auto& engine : engines_) {
    for (const mm_ecc_policy policy : kPolicies) {
      SCOPED_TRACE(std::string(engine->variant()) + ", policy " + std::to_string(policy));
      EXPECT_EQ(run(*engine, MM_ECC_VERIFY, items, exact.size(), with_policy(policy)).ok,
                policy == MM_ECC_ZIP215 ? cofactored : exact);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Curves, Eddsa, testing::Values(CurveId::ed25519, CurveId::ed448),
                         [](const auto& curve) {
                           return curve.param == CurveId::ed448 ? "Ed448" : "Ed25519";
                         });

/// Small orders and encodings that are not canonical, under each policy, alone and among other items.
TEST(EddsaEdges, Policies) {
  for (const auto& engine : engines_of(CurveId::ed25519)) {
    SchemeItems all;
    for (const EddsaEdge& edge : kEddsaEdges) {
      SCOPED_TRACE(std::string(engine->variant()) + ": " + edge.what);
      const Bytes key = from_hex(edge.public_key), message = from_hex(edge.message);
      const Bytes signature = from_hex(edge.signature);
      EXPECT_EQ(verify(*engine, key, message, signature, MM_ECC_RFC8032), edge.rfc8032);
      EXPECT_EQ(verify(*engine, key, message, signature, MM_ECC_STRICT), edge.strict);
      EXPECT_EQ(verify(*engine, key, message, signature, MM_ECC_ZIP215), edge.zip215);
      const SchemeItems one{{}, {key}, {message}, {signature}, {}};
      EXPECT_EQ(run(*engine, MM_ECC_VERIFY_ALL, one, 1, with_policy(MM_ECC_ZIP215)).ok[0],
                edge.zip215 ? 1 : 0);
      if (!edge.zip215) continue;
      all.point.push_back(key);
      all.message.push_back(message);
      all.signature.push_back(signature);
    }
    // The verdict of many is that of each.
    ASSERT_GE(all.point.size(), 8U);
    EXPECT_EQ(run(*engine, MM_ECC_VERIFY_ALL, all, all.point.size(), with_policy(MM_ECC_ZIP215)).ok,
              std::vector<std::uint8_t>(all.point.size(), 1));
  }
}

/// Every encoding with y of p or more, and both signs of x = 0.
TEST(EdwardsEncoding, CanonicalOrNot) {
  const auto engines = engines_of(CurveId::ed25519);
  ecc::EdwardsPoints strict(*engines[0], ecc::EdwardsReading::canonical, 1);
  ecc::EdwardsPoints any(*engines[0], ecc::EdwardsReading::any, 1);
  const auto read = [](ecc::EdwardsPoints& points, const Bytes& bytes) {
    points.read(0, bytes);
    points.lift(1);
    return points.valid(0);
  };
  for (unsigned low = 0; low < 19; ++low) {
    for (const unsigned sign : {0U, 0x80U}) {
      Bytes small(32), large(32, 0xFF);
      small[0] = static_cast<std::uint8_t>(low);
      small[31] = static_cast<std::uint8_t>(sign);
      large[0] = static_cast<std::uint8_t>(0xED + low);
      large[31] = static_cast<std::uint8_t>(0x7F | sign);
      const bool on_curve = read(any, small);
      const std::vector<Limb> x(any.x(0), any.x(0) + 4);
      EXPECT_FALSE(read(strict, large));
      EXPECT_EQ(read(any, large), on_curve);
      EXPECT_EQ(std::vector<Limb>(any.x(0), any.x(0) + 4), x);
      EXPECT_EQ(any.y(0)[0], on_curve ? low : 1U);
      const bool negative_zero = low == 1 && sign != 0;
      EXPECT_EQ(read(strict, small), on_curve && !negative_zero);
      if (!on_curve || negative_zero) continue;
      Bytes written(32);
      ecc::write_edwards_point(engines[0]->curve(), written, strict.x(0), strict.y(0));
      EXPECT_EQ(written, small);
    }
  }
  for (const std::size_t size : {0U, 31U, 33U}) EXPECT_FALSE(read(any, Bytes(size, 1)));
}

}  // namespace
}  // namespace manymod::test
