// SPDX-License-Identifier: Apache-2.0
// ECDSA and shared secrets on rows of bytes, and failures of the GPU.
#include <array>

#include "ecc/device/row_fixture.hpp"
#include "ecc/test_curves.hpp"

namespace manymod::test {
namespace {

/// Options of signatures of digests by given nonces, from which keys are recovered.
void recoverable_of_digests(ecc::Inputs& inputs) {
  inputs.prehashed = true;
  inputs.nonces = MM_ECC_NONCE_GIVEN;
  inputs.signature_format = MM_ECC_RECOVERABLE;
  inputs.low_s = -1;
}

class CudaEcdsaRows : public CudaRows {
 protected:
  void check_public_keys();
  void check_shared_secrets();
  void check_signatures();
  void check_verdicts();
  void check_messages();
  void check_items_of_any_length();
  void check_der();
  void check_hedged_nonces();
  void check_recovery();
  void check_mixed_encodings();
  void check_digests_of_secrets();
};

/// In one test, because the tables of wide curves take long on the host.
TEST_P(CudaEcdsaRows, AgreeWithTheHost) {
  check_public_keys();
  check_shared_secrets();
  check_signatures();
  check_verdicts();
  check_recovery();
  check_messages();
  if (curve_.limbs() > 4) return;
  check_mixed_encodings();
  check_digests_of_secrets();
  check_items_of_any_length();
  check_der();
  if (GetParam() != CurveId::sm2) check_hedged_nonces();
}

void CudaEcdsaRows::check_public_keys() {
  std::vector<Bytes> secrets = scalars();
  spoil(secrets);
  for (const auto format : {MM_ECC_UNCOMPRESSED, MM_ECC_COMPRESSED, MM_ECC_X_ONLY}) {
    const SchemeRun run = agree({secrets, {}, {}, {}, {}, {}}, MM_ECC_PUBLIC_KEY, {1, 2, 3},
                                [&](ecc::Inputs& inputs) { inputs.point_format = format; });
    EXPECT_EQ(run.status[2], MM_ITEM_ECC_SECRET);
  }
}

void CudaEcdsaRows::check_shared_secrets() {
  const std::size_t size = curve_.coordinate_bytes();
  std::vector<Bytes> points = public_keys(scalars()), secrets = scalars();
  spoil(secrets);
  points[4][0] = 5;
  points[5].back() ^= 1;
  std::fill_n(points[6].begin() + 1, size, std::uint8_t{0xff});  // x >= p
  // Both coordinates in hybrid form, which the host reads.
  points[7][0] = static_cast<std::uint8_t>(6 | (points[7].back() & 1));
  points[8][0] = static_cast<std::uint8_t>(7 ^ (points[8].back() & 1));
  const SchemeRun run = agree({secrets, points, {}, {}, {}, {}}, MM_ECC_EXCHANGE, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(run.status[3], MM_ITEM_ECC_SECRET);
  EXPECT_EQ(run.status[5], MM_ITEM_ECC_POINT);
  EXPECT_EQ(run.status[7], MM_OK);
  EXPECT_EQ(run.status[8], MM_ITEM_ECC_POINT);
  for (Bytes& point : points) {
    point[0] = static_cast<std::uint8_t>(2 | (point.back() & 1));
    point.resize(1 + size);
  }
  points[4][0] = 4;
  points[7][0] = 0;
  points[8][0] ^= 1;
  points[9] = compressed_without_y();
  agree({secrets, points, {}, {}, {}, {}}, MM_ECC_EXCHANGE, {1, 2, 3, 4, 6, 7, 9});
  // One key for all items.
  agree({{secrets[0]}, {points[0]}, {}, {}, {}, {}}, MM_ECC_EXCHANGE, {});
}

void CudaEcdsaRows::check_signatures() {
  SchemeItems items;
  items.secret = scalars();
  items.nonce = scalars();
  spoil(items.secret);
  for (std::size_t i = 0; i < kCount; ++i) items.message.push_back(random_bytes(32));
  std::ranges::fill(items.message[4], std::uint8_t{0xff});  // n or more, on curves of 256 bits
  std::swap(items.nonce[1], items.nonce[5]);
  items.nonce[5] = bytes_of(curve_.n);
  items.nonce[6] = bytes_of(std::vector<Limb>(curve_.n.size()));
  const bool derives = GetParam() != CurveId::sm2;
  for (const bool prehashed : {true, false}) {
    for (const auto format : {MM_ECC_RAW, MM_ECC_RECOVERABLE}) {
      if (!prehashed && format == MM_ECC_RAW) continue;
      const auto options = [&](ecc::Inputs& inputs) {
        inputs.signature_format = format;
        inputs.prehashed = prehashed;
        inputs.low_s = prehashed ? 1 : -1;
      };
      if (derives) agree(items, MM_ECC_SIGN, {1, 2, 3}, options);
      const SchemeRun run = agree(items, MM_ECC_SIGN, {1, 2, 3, 5, 6}, [&](ecc::Inputs& inputs) {
        options(inputs);
        inputs.nonces = MM_ECC_NONCE_GIVEN;
      });
      EXPECT_EQ(run.status[6], MM_ITEM_ECC_SECRET);
      EXPECT_EQ(run.status[4], MM_OK);
    }
  }
}

/// Messages that end at and around the ends of blocks, which the GPU hashes; messages of which one is too
/// long for it, so that the host hashes all of them; and a hash that the GPU does not have.
void CudaEcdsaRows::check_messages() {
  const bool has_hash = GetParam() != CurveId::sm2;
  SchemeItems items;
  items.secret = scalars();
  items.nonce = scalars();
  constexpr std::array<std::size_t, kCount> kSizes{0, 1, 55, 56, 64, 111, 112, 128, 255, 256};
  for (const std::size_t size : kSizes) items.message.push_back(random_bytes(size));
  const auto options = [](ecc::Inputs& inputs) {
    inputs.nonces = MM_ECC_NONCE_GIVEN;
    inputs.signature_format = MM_ECC_RECOVERABLE;
  };
  const SchemeRun signing = agree(items, MM_ECC_SIGN, {}, options, Places::pointers, {});
  EXPECT_EQ(gpu_->hashes, has_hash);
  SchemeItems signed_items{{}, {}, items.message, signing.output, {}, {}};
  const auto recoverable = [](ecc::Inputs& inputs) { inputs.signature_format = MM_ECC_RECOVERABLE; };
  signed_items.point = agree(signed_items, MM_ECC_RECOVER, {}, recoverable, Places::pointers, {}).output;
  EXPECT_EQ(gpu_->hashes, has_hash);
  EXPECT_EQ(signed_items.point, public_keys(items.secret));
  for (Bytes& signature : signed_items.signature) signature.pop_back();
  signed_items.message[8].back() ^= 1;
  const SchemeRun verification = agree(signed_items, MM_ECC_VERIFY, {}, {}, Places::pointers, {});
  EXPECT_EQ(gpu_->hashes, has_hash);
  EXPECT_EQ(std::ranges::count(verification.ok, 1), kCount - 1);

  SchemeItems empty = items;
  for (Bytes& message : empty.message) message.clear();
  agree(empty, MM_ECC_SIGN, {}, options);

  items.message[4] = random_bytes(257);
  agree(items, MM_ECC_SIGN, {}, options, Places::pointers, {});
  EXPECT_FALSE(gpu_->hashes);
  agree(items, MM_ECC_SIGN, {}, options, Places::pointers, {0, 1, 3, 9});
  EXPECT_EQ(gpu_->hashes, has_hash);
  const auto other_hash = [&](ecc::Inputs& inputs) {
    options(inputs);
    inputs.hash = MM_SHA3_256;
  };
  agree(items, MM_ECC_SIGN, {}, other_hash, Places::pointers, {});
  EXPECT_FALSE(gpu_->hashes);
}

/// Digests and keys of different lengths, and some of a call's items. Digests that are shorter than the
/// others are the GPU's if no bits of a longer one are dropped.
void CudaEcdsaRows::check_items_of_any_length() {
  SchemeItems items;
  items.secret = scalars();
  items.nonce = scalars();
  for (std::size_t i = 0; i < kCount; ++i) items.message.push_back(random_bytes(i == 3 ? 20 : 48));
  items.secret[5].push_back(0);
  const auto options = [](ecc::Inputs& inputs) {
    inputs.prehashed = true;
    inputs.nonces = MM_ECC_NONCE_GIVEN;
  };
  using List = std::vector<std::size_t>;
  const bool pads = curve_.order_bits % 8 == 0;
  const SchemeRun run = agree(items, MM_ECC_SIGN, pads ? List{5} : List{3, 5}, options, Places::pointers, {});
  EXPECT_EQ(run.status[3], MM_OK);
  EXPECT_EQ(run.status[5], MM_ITEM_ECC_SECRET);
  agree(items, MM_ECC_SIGN, pads ? List{1} : List{0, 1}, options, Places::pointers, {3, 5, 9});
}

/// Keys of good signatures, and signatures of none.
void CudaEcdsaRows::check_recovery() {
  const std::size_t size = curve_.scalar_bytes();
  const auto at_s = static_cast<std::ptrdiff_t>(size);
  SchemeItems items;
  items.secret = scalars();
  items.nonce = scalars();
  for (std::size_t i = 0; i < kCount; ++i) items.message.push_back(random_bytes(curve_.order_bits / 8));
  items.message[1] = Bytes(curve_.order_bits / 8);
  items.message[2][0] = 0;
  items.signature = same(items, MM_ECC_SIGN, recoverable_of_digests).output;
  const std::vector<Bytes> keys = public_keys(items.secret);
  items.secret.clear(), items.nonce.clear();
  // (s / r) R = (e / r) G for R = G and s = e.
  EXPECT_TRUE(limbs::less_var(curve_.x, curve_.n));
  items.signature[2] = bytes_of(curve_.x);
  items.signature[2].resize(2 * size + 1);
  std::ranges::copy_backward(items.message[2], items.signature[2].end() - 1);
  items.signature[2].back() = static_cast<std::uint8_t>(curve_.y[0] & 1);
  std::fill_n(items.signature[3].begin(), size, std::uint8_t{0});
  std::ranges::copy(bytes_of(curve_.n), items.signature[4].begin() + at_s);
  items.signature[5].back() = 4;
  items.signature[6].back() |= 2;  // x = r + n is p or more
  const SchemeRun run = agree(items, MM_ECC_RECOVER, {2, 3, 4, 5, 6}, recoverable_of_digests);
  EXPECT_EQ(run.status[2], MM_ITEM_ECC_NO_KEY);
  EXPECT_EQ(run.status[4], MM_ITEM_ECC_SIGNATURE);
  EXPECT_EQ(run.status[5], MM_ITEM_ECC_SIGNATURE);
  EXPECT_EQ(run.status[6], MM_ITEM_ECC_NO_KEY);
  for (const std::size_t item : std::initializer_list<std::size_t>{0, 1, 7, 8, 9}) {
    EXPECT_EQ(run.output[item], keys[item]);
  }
  if (curve_.limbs() > 4) return;
  // Small r: with either id half of them are x of a point.
  for (std::size_t i = 0; i < kCount; ++i) {
    std::fill_n(items.signature[i].begin(), size, std::uint8_t{0});
    items.signature[i][size - 1] = static_cast<std::uint8_t>(1 + i / 2);
    items.signature[i].back() = static_cast<std::uint8_t>(i % 4);
  }
  items.signature[9].pop_back();
  for (const auto format : {MM_ECC_COMPRESSED, MM_ECC_X_ONLY}) {
    for (const int low_s : {1, -1}) {
      same(items, MM_ECC_RECOVER, [&](ecc::Inputs& inputs) {
        recoverable_of_digests(inputs);
        inputs.prehashed = low_s == 1;
        inputs.point_format = format;
        inputs.low_s = low_s;
      });
    }
  }
}

/// Compressed and uncompressed keys, and no keys: the GPU computes all but those.
void CudaEcdsaRows::check_mixed_encodings() {
  SchemeItems items;
  items.secret = scalars();
  for (std::size_t i = 0; i < kCount; ++i) items.message.push_back(random_bytes(32));
  const auto prehashed = [](ecc::Inputs& inputs) { inputs.prehashed = true; };
  items.signature = same(items, MM_ECC_SIGN, prehashed).output;
  items.point = public_keys(items.secret);
  for (const std::size_t i : std::initializer_list<std::size_t>{0, 3, 4, 6, 9}) {
    items.point[i][0] = static_cast<std::uint8_t>(2 | (items.point[i].back() & 1));
    items.point[i].resize(1 + curve_.coordinate_bytes());
  }
  items.point[2].pop_back();
  items.point[4] = compressed_without_y();
  items.point[8].clear();
  items.message[6][0] ^= 1;
  const auto computed = [&](const SchemeItems& given, mm_ecc_op op, const std::vector<std::size_t>& chosen) {
    const std::size_t before = gpu_->computed;
    const SchemeRun run = same(given, op, prehashed, Places::pointers, chosen);
    EXPECT_EQ(run.status[3], MM_OK);
    if (op == MM_ECC_VERIFY) {
      EXPECT_EQ(run.ok[3], 1);
      EXPECT_EQ(run.ok[6], 0);
    }
    return gpu_->computed - before;
  };
  EXPECT_EQ(computed({items.secret, items.point, {}, {}, {}, {}}, MM_ECC_EXCHANGE, {}), kCount - 3);
  items.secret.clear();
  EXPECT_EQ(computed(items, MM_ECC_VERIFY, {}), kCount - 3);
  EXPECT_EQ(computed(items, MM_ECC_VERIFY, {1, 3, 4, 5}), 3U);
  EXPECT_EQ(computed(items, MM_ECC_VERIFY, {0, 3, 6}), 3U);
}

/// Shared secrets that are hashed, by the host.
void CudaEcdsaRows::check_digests_of_secrets() {
  SchemeItems items;
  items.point = public_keys(scalars());
  items.secret = scalars();
  spoil(items.secret);
  const SchemeRun run =
      agree(items, MM_ECC_EXCHANGE, {1, 2, 3}, [](ecc::Inputs& inputs) { inputs.hash = MM_SHA512; });
  EXPECT_EQ(run.output[0].size(), 64U);
}

/// DER is made and read by the host.
void CudaEcdsaRows::check_der() {
  SchemeItems items;
  items.secret = scalars();
  items.nonce = scalars();
  for (std::size_t i = 0; i < kCount; ++i) items.message.push_back(random_bytes(32));
  items.nonce[4] = bytes_of(curve_.n);
  const auto options = [](ecc::Inputs& inputs) {
    inputs.signature_format = MM_ECC_DER;
    inputs.prehashed = true;
    inputs.nonces = MM_ECC_NONCE_GIVEN;
  };
  const SchemeRun run = agree(items, MM_ECC_SIGN, {4}, options);
  EXPECT_EQ(run.output[0][0], 0x30);
  items.signature = run.output;
  items.signature[4] = run.output[0];
  items.point = public_keys(items.secret);
  items.secret.clear(), items.nonce.clear();
  items.signature[2].push_back(0);
  items.signature[3].back() ^= 1;
  items.signature[5][1] ^= 1;
  // A number that is too long, and one that is negative.
  items.signature[6] = from_hex("302702220100" + std::string(64, '1') + "020101");
  items.signature[7] = from_hex("3006020181020101");
  const SchemeRun verdicts = agree(items, MM_ECC_VERIFY, {2, 5, 6, 7}, options, Places::pointers, {});
  EXPECT_EQ(std::ranges::count(verdicts.ok, 1), 4);
}

/// Signatures of random nonces are valid, and differ from each other and from those of RFC 6979.
void CudaEcdsaRows::check_hedged_nonces() {
  SchemeItems items;
  items.secret = scalars();
  items.message.assign(kCount, random_bytes(32));
  const auto sign = [&](mm_ecc_nonces nonces) {
    SchemeRun run(items, kCount);
    run.inputs.prehashed = true;
    run.inputs.nonces = nonces;
    run.run([&](const auto& inputs, const auto& outputs) {
      return ecc::make_scheme({MM_ECC_SIGN, MM_ECC_ECDSA}, *gpu_, inputs, outputs);
    });
    EXPECT_EQ(gpu_->done, std::vector<std::uint8_t>(kCount, 1));
    return run.output;
  };
  const std::vector<Bytes> first = sign(MM_ECC_NONCE_HEDGED), second = sign(MM_ECC_NONCE_HEDGED);
  const std::vector<Bytes> derived = sign(MM_ECC_NONCE_DETERMINISTIC);
  for (std::size_t i = 0; i < kCount; ++i) {
    EXPECT_NE(first[i], second[i]);
    EXPECT_NE(first[i], derived[i]);
  }
  items.point = public_keys(items.secret);
  items.secret.clear();
  items.signature = first;
  const SchemeRun run = agree(items, MM_ECC_VERIFY, {}, [](ecc::Inputs& inputs) { inputs.prehashed = true; });
  EXPECT_EQ(std::ranges::count(run.ok, 1), std::ptrdiff_t(kCount));
}

void CudaEcdsaRows::check_verdicts() {
  const std::size_t size = curve_.scalar_bytes();
  const auto prehashed = [](ecc::Inputs& inputs) { inputs.prehashed = true; };
  SchemeItems items;
  items.secret = scalars();
  items.nonce = scalars();
  for (std::size_t i = 0; i < kCount; ++i) items.message.push_back(random_bytes(32));
  SchemeRun signing(items, kCount);
  prehashed(signing.inputs);
  signing.inputs.low_s = -1;
  signing.inputs.nonces = MM_ECC_NONCE_GIVEN;
  items.signature = signing
                        .run([&](const auto& inputs, const auto& outputs) {
                          return ecc::make_scheme({MM_ECC_SIGN, MM_ECC_ECDSA}, *host_, inputs, outputs);
                        })
                        .output;
  items.point = public_keys(items.secret);
  items.secret.clear(), items.nonce.clear();
  const auto set = [&](std::size_t item, std::size_t at, const Bytes& number) {
    std::ranges::copy(number, items.signature[item].begin() + static_cast<std::ptrdiff_t>(at));
  };
  set(1, 0, bytes_of(std::vector<Limb>(curve_.n.size())));
  set(2, 0, bytes_of(curve_.n));
  set(3, size, bytes_of(std::vector<Limb>(curve_.n.size())));
  set(4, size, bytes_of(curve_.n));
  items.point[5].back() ^= 1;
  items.signature[6][size - 1] ^= 1;
  items.message[7][0] ^= 1;
  for (const int low_s : {1, -1}) {
    const SchemeRun run = agree(items, MM_ECC_VERIFY, {1, 2, 3, 4, 5}, [&](ecc::Inputs& inputs) {
      prehashed(inputs);
      inputs.low_s = low_s;
    });
    EXPECT_EQ(run.status[4], MM_ITEM_ECC_SIGNATURE);
    EXPECT_EQ(run.status[5], MM_ITEM_ECC_POINT);
    EXPECT_EQ(run.ok[6] + run.ok[7], 0);
    if (low_s < 0) {
      EXPECT_EQ(run.ok[0] + run.ok[8], 2);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Curves, CudaEcdsaRows,
                         ::testing::Values(CurveId::p256, CurveId::p384, CurveId::p521, CurveId::secp256k1,
                                           CurveId::sm2),
                         title);
// Kernels for any curve; the order of the second one has two bits less than its bytes.
INSTANTIATE_TEST_SUITE_P(AnyCurve, CudaEcdsaRows, ::testing::Values(CurveId::brainpool256r1, CurveId::bn254),
                         title);

class CudaRowsOfWidestCurve : public CudaRowsOfCurve {
 protected:
  CudaRowsOfWidestCurve() : CudaRowsOfCurve(prime_order_curves().front().curve) {}
};

TEST_F(CudaRowsOfWidestCurve, RecoversKeys) {
  ASSERT_EQ(curve_.field_bits, 640);
  SchemeItems items;
  items.secret = scalars();
  items.nonce = scalars();
  for (std::size_t i = 0; i < kCount; ++i) items.message.push_back(random_bytes(32));
  const std::vector<Bytes> keys = public_keys(items.secret);
  items.signature = same(items, MM_ECC_SIGN, recoverable_of_digests).output;
  items.secret.clear(), items.nonce.clear();
  EXPECT_EQ(agree(items, MM_ECC_RECOVER, {}, recoverable_of_digests, Places::rows, {}).output, keys);
}

using CudaRowFailures = CudaRows;

/// Each launch of a call fails once: the host computes the items.
TEST_P(CudaRowFailures, LeaveItemsToTheHost) {
  SchemeItems items;
  items.secret = scalars();
  const std::vector<Bytes> expected = public_keys(items.secret);
  bool failed = true;
  std::size_t launch = 0;
  for (; failed; ++launch) {
    const std::size_t failing = fake_cuda::counts().launches + launch;
    fake_cuda::settings().failing_launch = failing;
    SchemeRun run(items, kCount, Places::rows);
    run.run([&](const auto& inputs, const auto& outputs) {
      return ecc::make_scheme({MM_ECC_PUBLIC_KEY, MM_ECC_DEFAULT}, *gpu_, inputs, outputs);
    });
    failed = fake_cuda::counts().launches > failing;
    fake_cuda::settings().failing_launch = fake_cuda::kNever;
    EXPECT_EQ(run.output, expected) << launch;
  }
  EXPECT_GT(launch, 4U);
}

INSTANTIATE_TEST_SUITE_P(Curves, CudaRowFailures, ::testing::Values(CurveId::p256), title);

}  // namespace
}  // namespace manymod::test
