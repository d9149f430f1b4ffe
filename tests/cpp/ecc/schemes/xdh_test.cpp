// SPDX-License-Identifier: Apache-2.0
#include "ecc/schemes/xdh.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <memory>
#include <string>
#include <vector>

#include "crypto/hash.hpp"
#include "crypto/libcrypto.hpp"
#include "ecc/schemes/scheme_runs.hpp"
#include "support/brief.hpp"
#include "support/naive.hpp"

namespace manymod::test {
namespace {

using ecc::CurveId;
using ecc::PointEngine;

SchemeRun run(const PointEngine& engine, mm_ecc_op op, const SchemeItems& items, std::size_t count,
              mm_hash hash = MM_HASH_NONE) {
  SchemeRun r(items, count);
  r.inputs.hash = hash;
  r.run([&](const ecc::Inputs& inputs, const ecc::Outputs& outputs) {
    return ecc::make_xdh(op, engine, inputs, outputs);
  });
  return r;
}
Bytes exchange(const PointEngine& engine, const Bytes& secret, const Bytes& u) {
  return run(engine, MM_ECC_EXCHANGE, {{secret}, {u}, {}, {}, {}}, 1).output[0];
}

class Xdh : public testing::TestWithParam<CurveId> {
 protected:
  std::vector<std::unique_ptr<const PointEngine>> engines_ = engines_of(GetParam());
  naive::Generator generate_{12};

  [[nodiscard]] bool is_448() const { return GetParam() == CurveId::x448; }
  [[nodiscard]] std::size_t size() const { return is_448() ? 56 : 32; }
  Bytes random() {
    Bytes r(size());
    for (auto& byte : r) byte = static_cast<std::uint8_t>(generate_.below(256));
    return r;
  }
  /// p + small, little-endian.
  [[nodiscard]] Bytes above_p(unsigned small) const {
    Bytes r(size(), 0xFF);
    if (is_448()) {
      r[28] = 0xFE;
      for (std::size_t i = 0; small > 0 && i < size(); ++i) {
        const unsigned sum = r[i] + small;
        r[i] = static_cast<std::uint8_t>(sum);
        small = sum >> 8;
      }
    } else {
      r[0] = static_cast<std::uint8_t>(0xED + small);
      r[31] = 0x7F;
    }
    return r;
  }
};

/// RFC 7748, section 5.2: k = u = the base point, then (k, u) = (result, k), 1 and 1000 times.
TEST_P(Xdh, IteratedVectors) {
  const char* const once = is_448() ? "3f482c8a9f19b01e6c46ee9711d9dc14fd4bf67af30765c2ae2b846a4d23a8cd"
                                      "0db897086239492caf350b51f833868b9bc2b3bca9cf4113"
                                    : "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079";
  const char* const thousand = is_448() ? "aa3b4749d55b9daf1e5b00288826c467274ce3ebbdd5c17b975e09d4af6c67cf"
                                          "10d087202db88286e2b79fceea3ec353ef54faa26e219f38"
                                        : "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51";
  for (const auto& engine : engines_) {
    SCOPED_TRACE(engine->variant());
    Bytes k(size()), u;
    k[0] = is_448() ? 5 : 9;
    u = k;
    for (unsigned i = 0; i < 1000; ++i) {
      Bytes next = exchange(*engine, k, u);
      u = std::exchange(k, std::move(next));
      if (i == 0) {
        EXPECT_EQ(k, from_hex(once));
        if (kBriefTests) break;
      }
    }
    if (!kBriefTests) {
      EXPECT_EQ(k, from_hex(thousand));
    }
  }
}

/// Section 5.2.
TEST_P(Xdh, Vectors) {
  struct Vector {
    bool is_448;
    const char *scalar, *u, *result;
  };
  const Vector vectors[] = {
      {false, "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
       "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
       "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"},
      {false, "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
       "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
       "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957"},
      {false, "0900000000000000000000000000000000000000000000000000000000000000",
       "0900000000000000000000000000000000000000000000000000000000000000",
       "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079"},
      {true,
       "3d262fddf9ec8e88495266fea19a34d28882acef045104d0d1aae121700a779c"
       "984c24f8cdd78fbff44943eba368f54b29259a4f1c600ad3",
       "06fce640fa3487bfda5f6cf2d5263f8aad88334cbd07437f020f08f9814dc031"
       "ddbdc38c19c6da2583fa5429db94ada18aa7a7fb4ef8a086",
       "ce3e4ff95a60dc6697da1db1d85e6afbdf79b50a2412d7546d5f239fe14fbaad"
       "eb445fc66a01b0779d98223961111e21766282f73dd96b6f"},
      {true,
       "203d494428b8399352665ddca42f9de8fef600908e0d461cb021f8c538345dd7"
       "7c3e4806e25f46d3315c44e0a5b4371282dd2c8d5be3095f",
       "0fbcc2f993cd56d3305b0b7d9e55d4c1a8fb5dbb52f8e9a1e9b6201b165d0158"
       "94e56c4d3570bee52fe205e28a78b91cdfbde71ce8d157db",
       "884a02576239ff7a2f2f63b2db6a9ff37047ac13568e1e30fe63c4a7ad1b3ee3"
       "a5700df34321d62077e63633c575c1c954514e99da7c179d"},
      {true,
       "0500000000000000000000000000000000000000000000000000000000000000"
       "000000000000000000000000000000000000000000000000",
       "0500000000000000000000000000000000000000000000000000000000000000"
       "000000000000000000000000000000000000000000000000",
       "3f482c8a9f19b01e6c46ee9711d9dc14fd4bf67af30765c2ae2b846a4d23a8cd"
       "0db897086239492caf350b51f833868b9bc2b3bca9cf4113"},
  };
  for (const auto& engine : engines_) {
    for (const Vector& v : vectors) {
      if (v.is_448 != is_448()) continue;
      EXPECT_EQ(exchange(*engine, from_hex(v.scalar), from_hex(v.u)), from_hex(v.result));
    }
  }
}

/// Both sides have the same secret, also as a digest; Alice's key of X448 is that of section 6.2.
TEST_P(Xdh, BothSidesAgree) {
  const Bytes alice = is_448() ? from_hex(
                                     "9a8f4925d1519f5775cf46b04b5800d4ee9ee8bae8bc5565d498c28dd9c9baf5"
                                     "74a9419744897391006382a6f127ab1d9ac2d8c0a598726b")
                               : random();
  for (const auto& engine : engines_) {
    SCOPED_TRACE(engine->variant());
    const Bytes bob = random();
    const auto keys = run(*engine, MM_ECC_PUBLIC_KEY, {{alice, bob}, {}, {}, {}, {}}, 2).output;
    const Bytes shared = exchange(*engine, alice, keys[1]);
    EXPECT_EQ(shared, exchange(*engine, bob, keys[0]));
    EXPECT_NE(shared, Bytes(size()));
    const auto hashed = run(*engine, MM_ECC_EXCHANGE, {{alice}, {keys[1]}, {}, {}, {}}, 1, MM_SHA256);
    Bytes digest(32);
    crypto::Hasher(MM_SHA256).digest(digest, {shared});
    EXPECT_EQ(hashed.output[0], digest);
    if (is_448()) {
      EXPECT_EQ(keys[0], from_hex("9b08f7cc31b7e3e67d22d5aea121074a273bd2b83de09c63faa73d2c22c5d9bb"
                                  "c836647241d953d40c5b12da88120d53177f80e532c41fa0"));
    }
  }
}

/// Random strings are u coordinates of the curve or of its twist; all are multiplied as libcrypto does.
TEST_P(Xdh, AgreesWithLibcrypto) {
  const std::size_t count = 270;
  const int type = is_448() ? EVP_PKEY_X448 : EVP_PKEY_X25519;
  SchemeItems items;
  for (std::size_t i = 0; i < count; ++i) {
    items.secret.push_back(random());
    items.point.push_back(i < 19 && !is_448() ? above_p(static_cast<unsigned>(i)) : random());
  }
  for (const auto& engine : engines_) {
    SCOPED_TRACE(engine->variant());
    const auto found = run(*engine, MM_ECC_EXCHANGE, items, count);
    const auto keys = run(*engine, MM_ECC_PUBLIC_KEY, {items.secret, {}, {}, {}, {}}, count);
    for (std::size_t i = 0; i < count; ++i) {
      const crypto::Libcrypto<EVP_PKEY> own(
          EVP_PKEY_new_raw_private_key(type, nullptr, items.secret[i].data(), size()));
      const crypto::Libcrypto<EVP_PKEY> peer(
          EVP_PKEY_new_raw_public_key(type, nullptr, items.point[i].data(), size()));
      ASSERT_TRUE(own && peer);
      const std::unique_ptr<EVP_PKEY_CTX, decltype(&EVP_PKEY_CTX_free)> context(
          EVP_PKEY_CTX_new(own.get(), nullptr), EVP_PKEY_CTX_free);
      Bytes shared(size()), key(size());
      std::size_t length = size(), key_length = size();
      ASSERT_EQ(EVP_PKEY_get_raw_public_key(own.get(), key.data(), &key_length), 1);
      EXPECT_EQ(keys.output[i], key);
      ASSERT_EQ(EVP_PKEY_derive_init(context.get()), 1);
      ASSERT_EQ(EVP_PKEY_derive_set_peer(context.get(), peer.get()), 1);
      if (EVP_PKEY_derive(context.get(), shared.data(), &length) != 1) {
        EXPECT_EQ(found.status[i], MM_ITEM_ECC_SMALL_ORDER) << i;
        continue;
      }
      ASSERT_EQ(found.status[i], MM_OK) << i;
      ASSERT_EQ(found.output[i], shared) << i;
    }
  }
}

/// u of small order, on the curve and on its twist, reduced or not, between other items.
TEST_P(Xdh, SmallOrders) {
  std::vector<Bytes> small = {Bytes(size()), above_p(0), above_p(1)};
  Bytes one(size()), minus_one = above_p(0);
  one[0] = 1;
  --minus_one[0];
  small.push_back(one);
  small.push_back(minus_one);
  if (!is_448()) {
    small.push_back(from_hex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"));
    small.push_back(from_hex("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"));
    // The top bit is ignored.
    const std::size_t count = small.size();
    for (std::size_t i = 0; i < count; ++i) {
      small.push_back(small[i]);
      small.back()[31] |= 0x80;
    }
  }
  SchemeItems items;
  for (const Bytes& u : small) {
    items.secret.insert(items.secret.end(), {random(), random()});
    items.point.insert(items.point.end(), {u, random()});
  }
  for (const auto& engine : engines_) {
    SCOPED_TRACE(engine->variant());
    const auto r = run(*engine, MM_ECC_EXCHANGE, items, 2 * small.size());
    for (std::size_t i = 0; i < small.size(); ++i) {
      EXPECT_EQ(r.status[2 * i], MM_ITEM_ECC_SMALL_ORDER) << i;
      EXPECT_TRUE(r.output[2 * i].empty());
      EXPECT_EQ(r.status[2 * i + 1], MM_OK);
      EXPECT_EQ(r.output[2 * i + 1], exchange(*engines_[0], items.secret[2 * i + 1], items.point[2 * i + 1]));
    }
  }
}

TEST_P(Xdh, ReadsOnlyWhatCounts) {
  for (const auto& engine : engines_) {
    const Bytes secret = random();
    Bytes u = random(), other = u, clamped = secret;
    u[size() - 1] &= 0x7F;
    other = u;
    if (!is_448()) {
      other[size() - 1] |= 0x80;
      EXPECT_EQ(exchange(*engine, secret, u), exchange(*engine, secret, other));
    }
    clamped[0] ^= 1;
    clamped[size() - 1] ^= 0x80;
    EXPECT_EQ(exchange(*engine, secret, u), exchange(*engine, clamped, u));
    const auto r =
        run(*engine, MM_ECC_EXCHANGE,
            {{secret, Bytes(size() - 1), secret, secret}, {u, u, Bytes(size() + 1), Bytes{}}, {}, {}, {}}, 4);
    EXPECT_EQ(r.status,
              (std::vector<std::uint8_t>{MM_OK, MM_ITEM_ECC_SECRET, MM_ITEM_ECC_POINT, MM_ITEM_ECC_POINT}));
  }
}

INSTANTIATE_TEST_SUITE_P(Curves, Xdh, testing::Values(CurveId::x25519, CurveId::x448),
                         [](const auto& curve) { return curve.param == CurveId::x448 ? "X448" : "X25519"; });

}  // namespace
}  // namespace manymod::test
