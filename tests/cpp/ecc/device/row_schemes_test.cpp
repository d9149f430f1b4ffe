// SPDX-License-Identifier: Apache-2.0
// X25519, Ed25519 and BIP 340 on rows of bytes.
#include "ecc/device/row_fixture.hpp"

namespace manymod::test {
namespace {

using CudaX25519Rows = CudaRows;

TEST_P(CudaX25519Rows, KeysAndSharedSecrets) {
  SchemeItems items;
  for (std::size_t i = 0; i < kCount; ++i) items.secret.push_back(random_bytes(32));
  agree(items, MM_ECC_PUBLIC_KEY, {});
  for (std::size_t i = 0; i < kCount; ++i) items.point.push_back(random_bytes(32));
  // u = 0, 1, p, p + 1 lead to 0; p + 9 and bit 255 do not matter.
  for (std::size_t i = 1; i <= 5; ++i) std::ranges::fill(items.point[i], std::uint8_t{0xff});
  std::ranges::fill(items.point[1], std::uint8_t{0});
  std::ranges::fill(items.point[2], std::uint8_t{0});
  items.point[2][0] = 1;
  items.point[3][0] = 0xed;
  items.point[4][0] = 0xee;
  items.point[5][0] = 0xf6;
  items.point[6] = items.point[7];
  items.secret[6] = items.secret[7];
  items.point[6].back() ^= 0x80;
  const SchemeRun run = agree(items, MM_ECC_EXCHANGE, {1, 2, 3, 4});
  EXPECT_EQ(run.status[4], MM_ITEM_ECC_SMALL_ORDER);
  EXPECT_EQ(run.output[6], run.output[7]);
}

INSTANTIATE_TEST_SUITE_P(Curves, CudaX25519Rows, ::testing::Values(CurveId::x25519), title);

class CudaEd25519Rows : public CudaRows {
 protected:
  [[nodiscard]] std::vector<Bytes> all_random(std::size_t size) {
    std::vector<Bytes> r;
    for (std::size_t i = 0; i < kCount; ++i) r.push_back(random_bytes(size));
    return r;
  }
};

/// Messages of lengths around those that fill a block of SHA-512 with what is hashed before them: 32 bytes of
/// a nonce's, 64 of a challenge's.
TEST_P(CudaEd25519Rows, KeysAndSignatures) {
  SchemeItems items;
  items.secret = all_random(32);
  agree(items, MM_ECC_PUBLIC_KEY, {});
  for (const std::size_t size : std::initializer_list<std::size_t>{0, 1, 31, 32, 47, 48, 79, 80, 81, 256}) {
    items.message = all_random(size);
    for (const bool check : {true, false}) {
      agree(items, MM_ECC_SIGN, {}, [&](ecc::Inputs& inputs) { inputs.check = check; });
      if (size != 81) break;
    }
  }
  items.secret.resize(1);
  agree(items, MM_ECC_SIGN, {});
}

TEST_P(CudaEd25519Rows, Verdicts) {
  SchemeItems items;
  items.secret = all_random(32);
  items.message = all_random(45);
  SchemeRun signing(items, kCount);
  items.signature = signing
                        .run([&](const auto& inputs, const auto& outputs) {
                          return ecc::make_scheme({MM_ECC_SIGN, MM_ECC_EDDSA}, *host_, inputs, outputs);
                        })
                        .output;
  items.point = public_keys(items.secret);
  items.secret.clear();
  const Bytes p = from_hex("edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f");
  const Bytes n = from_hex("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");
  items.signature[1][40] ^= 1;
  items.signature[2][0] ^= 1;
  items.message[3][44] ^= 1;
  items.point[4][31] ^= 0x80;  // the opposite key
  std::ranges::copy(n, items.signature[5].begin() + 32);
  std::fill_n(items.signature[6].begin() + 32, 32, std::uint8_t{0});
  items.point[7] = p;  // y = p
  // x = 0 with a sign, and without.
  items.point[8] = items.point[9] = Bytes(32, 0);
  items.point[8][0] = items.point[9][0] = 1;
  items.point[8][31] = 0x80;
  SchemeRun run = agree(items, MM_ECC_VERIFY, {5, 7, 8});
  EXPECT_EQ(std::ranges::count(run.ok, 1), 1);
  EXPECT_EQ(run.ok[0], 1);
  EXPECT_EQ(run.status[5], MM_ITEM_ECC_SIGNATURE);
  EXPECT_EQ(run.status[8], MM_ITEM_ECC_POINT);
  EXPECT_EQ(run.status[9], MM_OK);
  // y = 2 is of no point.
  items.point[9][0] = 2;
  run = agree(items, MM_ECC_VERIFY, {5, 7, 8, 9});
  EXPECT_EQ(run.status[9], MM_ITEM_ECC_POINT);
}

/// ZIP 215: keys and commitments of small order, and encodings that are not canonical, are valid where S = 0.
TEST_P(CudaEd25519Rows, VerdictsOfZip215) {
  const std::vector<Bytes> points{
      from_hex("0100000000000000000000000000000000000000000000000000000000000000"),
      from_hex("0100000000000000000000000000000000000000000000000000000000000080"),  // x = 0 with a sign
      from_hex("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),  // order 2
      from_hex("0000000000000000000000000000000000000000000000000000000000000080"),  // order 4
      from_hex("edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),  // the same, y = p
      from_hex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),  // order 8
      from_hex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"),
      from_hex("eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff")};  // y = p + 1, a sign
  SchemeItems items;
  items.message = all_random(7);
  items.signature.assign(kCount, Bytes(64));
  for (std::size_t i = 0; i < kCount; ++i) {
    items.point.push_back(points[i % points.size()]);
    std::ranges::copy(points[(3 * i + 5) % points.size()], items.signature[i].begin());
  }
  items.signature[8][32] = 1;                                                                   // S = 1
  items.signature[9][0] = 2, std::fill_n(items.signature[9].begin() + 1, 31, std::uint8_t{0});  // no point
  const auto zip215 = [](ecc::Inputs& inputs) { inputs.policy = MM_ECC_ZIP215; };
  const SchemeRun run = agree(items, MM_ECC_VERIFY, {9}, zip215);
  EXPECT_EQ(run.ok[8] + run.ok[9], 0);
  EXPECT_EQ(std::ranges::count(run.ok, 1), 8);
}

INSTANTIATE_TEST_SUITE_P(Curves, CudaEd25519Rows, ::testing::Values(CurveId::ed25519), title);

/// Messages of different lengths, the longest of which the GPU does not hash; keys and signatures of wrong
/// lengths; and some of a call's items.
TEST_P(CudaEd25519Rows, ItemsOfAnyLength) {
  SchemeItems items;
  items.secret = all_random(32);
  for (std::size_t i = 0; i < kCount; ++i) items.message.push_back(random_bytes(i * i * 4));
  items.secret[2].pop_back();
  const SchemeRun signing = agree(items, MM_ECC_SIGN, {2, 9}, {}, Places::pointers, {});
  EXPECT_EQ(signing.status[9], MM_OK);
  EXPECT_EQ(signing.status[2], MM_ITEM_ECC_SECRET);
  agree(items, MM_ECC_SIGN, {1}, {}, Places::pointers, {0, 2, 3, 7});
  items.secret[2] = items.secret[1];
  items.point = public_keys(items.secret);
  items.secret.clear();
  items.signature = signing.output;
  items.signature[3].pop_back();
  items.point[4].pop_back();
  agree(items, MM_ECC_VERIFY, {2, 3, 4, 9}, {}, Places::pointers, {});
  const SchemeRun run = agree(items, MM_ECC_VERIFY, {1}, {}, Places::pointers, {1, 3, 5, 6, 8});
  EXPECT_EQ(run.ok[8], 1);
  EXPECT_EQ(run.status[2], MM_ITEM_NOT_COMPUTED);
}

class CudaSchnorrRows : public CudaRows {
 protected:
  CudaSchnorrRows() { scheme_ = MM_ECC_BIP340; }

  [[nodiscard]] SchemeItems signing_items(std::size_t message_size) {
    SchemeItems items;
    items.secret = scalars();
    for (std::size_t i = 0; i < kCount; ++i) items.message.push_back(random_bytes(message_size));
    return items;
  }
};

TEST_P(CudaSchnorrRows, Signatures) {
  for (const std::size_t size : std::initializer_list<std::size_t>{0, 32, 55, 119, 256}) {
    SchemeItems items = signing_items(size);
    if (size == 32) spoil(items.secret);
    const std::vector<std::size_t> left =
        size == 32 ? std::vector<std::size_t>{1, 2, 3} : std::vector<std::size_t>{};
    agree(items, MM_ECC_SIGN, left);
    for (std::size_t i = 0; i < kCount; ++i) items.nonce.push_back(random_bytes(32));
    agree(items, MM_ECC_SIGN, left, [](ecc::Inputs& inputs) {
      inputs.nonces = MM_ECC_NONCE_GIVEN;
      inputs.check = false;
    });
  }
  SchemeItems items = signing_items(12);
  items.secret[4].pop_back();
  items.message[5] = random_bytes(300);
  agree(items, MM_ECC_SIGN, {4, 5}, {}, Places::pointers, {});
}

TEST_P(CudaSchnorrRows, Verdicts) {
  SchemeItems items = signing_items(20);
  const auto by = [this](mm_ecc_op op) {
    return [this, op](const auto& inputs, const auto& outputs) {
      return ecc::make_scheme({op, MM_ECC_BIP340}, *host_, inputs, outputs);
    };
  };
  items.signature = SchemeRun(items, kCount).run(by(MM_ECC_SIGN)).output;
  items.point = SchemeRun({items.secret, {}, {}, {}, {}, {}}, kCount).run(by(MM_ECC_PUBLIC_KEY)).output;
  items.secret.clear();
  items.signature[1][3] ^= 1;
  items.signature[2][40] ^= 1;
  items.message[3][0] ^= 1;
  std::fill_n(items.signature[4].begin(), 32, std::uint8_t{0xff});  // r >= p
  std::ranges::copy(bytes_of(curve_.n), items.signature[5].begin() + 32);
  std::fill_n(items.signature[6].begin() + 32, 32, std::uint8_t{0});
  std::swap(items.point[7], items.point[8]);
  const Bytes no_point = compressed_without_y();
  std::copy(no_point.begin() + 1, no_point.end(), items.point[9].begin());
  const SchemeRun run = agree(items, MM_ECC_VERIFY, {4, 5, 9});
  EXPECT_EQ(std::ranges::count(run.ok, 1), 1);
  EXPECT_EQ(run.ok[0], 1);
  EXPECT_EQ(run.status[4], MM_ITEM_ECC_SIGNATURE);
  EXPECT_EQ(run.status[9], MM_ITEM_ECC_POINT);
}

class CudaSm2Rows : public CudaRows {
 protected:
  CudaSm2Rows() { scheme_ = MM_ECC_SM2DSA; }

  [[nodiscard]] SchemeItems signing_items(std::size_t message_size) {
    SchemeItems items;
    items.secret = scalars();
    items.nonce = scalars();
    for (std::size_t i = 0; i < kCount; ++i) items.message.push_back(random_bytes(message_size));
    return items;
  }
};

TEST_P(CudaSm2Rows, Signatures) {
  SchemeItems items = signing_items(32);
  spoil(items.secret);
  std::vector<Limb> last = curve_.n;
  last[0] -= 1;
  items.secret[4] = bytes_of(last);  // 1 + d has no inverse
  items.nonce[5] = bytes_of(curve_.n);
  for (const bool prehashed : {true, false}) {
    for (const auto format : {MM_ECC_RAW, MM_ECC_DER}) {
      const auto options = [&](ecc::Inputs& inputs) {
        inputs.prehashed = prehashed;
        inputs.signature_format = format;
      };
      const SchemeRun run = agree(items, MM_ECC_SIGN, {1, 2, 3, 4}, options);
      EXPECT_EQ(run.status[4], MM_ITEM_ECC_SECRET);
      agree(items, MM_ECC_SIGN, {1, 2, 3, 4, 5}, [&](ecc::Inputs& inputs) {
        options(inputs);
        inputs.nonces = MM_ECC_NONCE_GIVEN;
      });
    }
  }
  // Messages around the end of a block behind Z, and another id.
  for (const std::size_t size : std::initializer_list<std::size_t>{0, 23, 24, 100}) {
    items = signing_items(size);
    if (size == 23) items.context = {random_bytes(21)};
    agree(items, MM_ECC_SIGN, {});
  }
}

TEST_P(CudaSm2Rows, Verdicts) {
  SchemeItems items = signing_items(20);
  SchemeRun signing(items, kCount);
  items.signature = signing
                        .run([&](const auto& inputs, const auto& outputs) {
                          return ecc::make_scheme({MM_ECC_SIGN, MM_ECC_SM2DSA}, *host_, inputs, outputs);
                        })
                        .output;
  items.point = public_keys(items.secret);
  items.secret.clear(), items.nonce.clear();
  items.signature[1][3] ^= 1;
  items.signature[2][40] ^= 1;
  items.message[3][0] ^= 1;
  std::fill_n(items.signature[4].begin(), 32, std::uint8_t{0});
  std::ranges::copy(bytes_of(curve_.n), items.signature[5].begin() + 32);
  items.point[6].back() ^= 1;
  // r + s = n.
  std::vector<Limb> r(curve_.n.size()), s(curve_.n);
  r[0] = 5, s[0] -= 5;
  items.signature[7] = bytes_of(r);
  const Bytes rest = bytes_of(s);
  items.signature[7].insert(items.signature[7].end(), rest.begin(), rest.end());
  const SchemeRun run = agree(items, MM_ECC_VERIFY, {4, 5, 6});
  EXPECT_EQ(std::ranges::count(run.ok, 1), 3);
  EXPECT_EQ(run.ok[0] + run.ok[8] + run.ok[9], 3);
}

INSTANTIATE_TEST_SUITE_P(Curves, CudaSm2Rows, ::testing::Values(CurveId::sm2), title);
INSTANTIATE_TEST_SUITE_P(Curves, CudaSchnorrRows, ::testing::Values(CurveId::secp256k1), title);

}  // namespace
}  // namespace manymod::test
