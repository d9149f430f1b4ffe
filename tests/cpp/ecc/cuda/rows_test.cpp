// SPDX-License-Identifier: Apache-2.0
// Calls on rows of bytes that the GPU converts and checks, on the substitute for the CUDA driver: results,
// verdicts and statuses are those of the host, for good items and for every kind of bad one.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "ecc/cuda/engine.hpp"
#include "ecc/cuda/noting_device.hpp"
#include "ecc/scalar64/engine.hpp"
#include "ecc/schemes/choice.hpp"
#include "ecc/schemes/scheme_runs.hpp"
#include "gpu/cuda/device.hpp"
#include "repr/limbs.hpp"
#include "support/fake_cuda/fixture.hpp"

namespace manymod::test {
namespace {

using ecc::CurveId;

/// Of the table for u G + v P: tables of the library's width take minutes on the host.
constexpr unsigned kNarrowWindow = 4;

std::unique_ptr<const ecc::PointEngine> on_host(CurveId id) {
  return ecc::scalar64::variant().make(ecc::named_curve(id), 0);
}
std::unique_ptr<const ecc::PointEngine> on_gpu(CurveId id) {
  return ecc::cuda::make_engine(ecc::named_curve(id), cuda::Driver::current().device(0), on_host(id),
                                kNarrowWindow);
}

std::string title(const ::testing::TestParamInfo<CurveId>& test) {
  std::string name = ecc::named_curve(test.param).name;
  std::erase_if(name, [](unsigned char c) { return std::isalnum(c) == 0; });
  return name;
}

class CudaRows : public manymod::testing::FakeGpuTest, public ::testing::WithParamInterface<CurveId> {
 protected:
  static constexpr std::size_t kCount = 10;

  const ecc::Curve& curve_ = ecc::named_curve(GetParam());
  const std::unique_ptr<const ecc::PointEngine> host_ = on_host(GetParam());
  std::unique_ptr<const NotingDevice> gpu_;
  std::mt19937_64 random_{11};

  void SetUp() override {
    FakeGpuTest::SetUp();
    gpu_ = std::make_unique<const NotingDevice>(on_gpu(GetParam()));
  }
  void TearDown() override {
    gpu_.reset();
    FakeGpuTest::TearDown();
  }

  [[nodiscard]] Bytes random_bytes(std::size_t size) {
    Bytes r(size);
    for (std::uint8_t& byte : r) byte = static_cast<std::uint8_t>(random_());
    return r;
  }
  [[nodiscard]] Bytes bytes_of(const std::vector<Limb>& number) const {
    Bytes r(curve_.scalar_bytes());
    bytes_from_limbs(r, number);
    return r;
  }
  [[nodiscard]] Bytes scalar() {
    std::vector<Limb> r(curve_.n.size());
    do {
      for (Limb& limb : r) limb = random_();
      limbs::truncate_bits(r, curve_.order_bits);
    } while (!limbs::less_var(r, curve_.n));
    return bytes_of(r);
  }
  [[nodiscard]] std::vector<Bytes> scalars() {
    std::vector<Bytes> r(kCount);
    for (Bytes& one : r) one = scalar();
    return r;
  }
  /// 0, n and the largest number with as many bytes, as items 1 to 3.
  void spoil(std::vector<Bytes>& numbers) const {
    numbers[1] = bytes_of(std::vector<Limb>(curve_.n.size()));
    numbers[2] = bytes_of(curve_.n);
    std::ranges::fill(numbers[3], std::uint8_t{0xff});
  }
  [[nodiscard]] std::vector<Bytes> public_keys(const std::vector<Bytes>& secrets) const {
    const ecc::Task task = ecc::on_curve({MM_ECC_PUBLIC_KEY, MM_ECC_DEFAULT}, curve_);
    SchemeRun run({secrets, {}, {}, {}, {}, {}}, secrets.size());
    return run
        .run([&](const auto& inputs, const auto& outputs) {
          return ecc::make_scheme(task, *host_, inputs, outputs);
        })
        .output;
  }

  /// x of no point.
  [[nodiscard]] Bytes compressed_without_y() const {
    Bytes r(1 + curve_.coordinate_bytes(), 0);
    r[0] = 2;
    for (r.back() = 1;; ++r.back()) {
      SchemeRun run({{}, {r}, {}, {}, {}, {}}, 1);
      run.run([&](const auto& inputs, const auto& outputs) {
        return ecc::make_scheme({MM_ECC_POINT, MM_ECC_DEFAULT}, *host_, inputs, outputs);
      });
      if (run.status[0] != MM_OK) return r;
    }
  }

  using Options = std::function<void(ecc::Inputs& inputs)>;

  /// Runs a call on the GPU, from arrays and from pointers, and on the host. The GPU is to have done all
  /// items but `left`.
  SchemeRun agree(const SchemeItems& items, mm_ecc_op op, const std::vector<std::size_t>& left,
                  const Options& options = {}) const {
    const SchemeRun r = agree(items, op, left, options, Places::pointers, {});
    agree(items, op, left, options, Places::rows, {});
    return r;
  }
  /// The same in one form, for `chosen` items of the call, of which `left` has the positions.
  SchemeRun agree(const SchemeItems& items, mm_ecc_op op, const std::vector<std::size_t>& left,
                  const Options& options, Places places, const std::vector<std::size_t>& chosen) const {
    const ecc::Task task = ecc::on_curve({op, scheme_for(op)}, curve_);
    SchemeRun expected(items, kCount), found(items, kCount, places);
    const auto run = [&](SchemeRun& one, const ecc::PointEngine& engine) {
      if (options) options(one.inputs);
      one.chosen = chosen;
      one.run([&](const auto& inputs, const auto& outputs) {
        return ecc::make_scheme(task, engine, inputs, outputs);
      });
    };
    run(found, *gpu_);
    run(expected, *host_);
    EXPECT_EQ(found.status, expected.status);
    EXPECT_EQ(found.output, expected.output);
    EXPECT_EQ(found.ok, expected.ok);
    std::vector<std::uint8_t> done(chosen.empty() ? kCount : chosen.size(), 1);
    for (const std::size_t row : left) done[row] = 0;
    EXPECT_EQ(gpu_->done, done);
    return found;
  }

 private:
  /// On SM2 as well.
  [[nodiscard]] mm_ecc_scheme scheme_for(mm_ecc_op op) const {
    const bool signs = op == MM_ECC_SIGN || op == MM_ECC_VERIFY;
    return signs && curve_.form == MM_ECC_WEIERSTRASS ? MM_ECC_ECDSA : MM_ECC_DEFAULT;
  }
};

class CudaEcdsaRows : public CudaRows {
 protected:
  void check_public_keys();
  void check_shared_secrets();
  void check_signatures();
  void check_verdicts();
  void check_items_of_any_length();
};

/// In one test, because the tables of wide curves take long on the host.
TEST_P(CudaEcdsaRows, AgreeWithTheHost) {
  check_public_keys();
  check_shared_secrets();
  check_signatures();
  check_verdicts();
  if (curve_.limbs() <= 4) check_items_of_any_length();
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

/// Digests and keys of different lengths, of which the first digest decides, and some of a call's items.
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
  const SchemeRun run = agree(items, MM_ECC_SIGN, {3, 5}, options, Places::pointers, {});
  EXPECT_EQ(run.status[3], MM_OK);
  EXPECT_EQ(run.status[5], MM_ITEM_ECC_SECRET);
  agree(items, MM_ECC_SIGN, {1, 2}, options, Places::pointers, {3, 5, 9});
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
  SchemeRun run = agree(items, MM_ECC_VERIFY, {5, 6, 7, 8});
  EXPECT_EQ(std::ranges::count(run.ok, 1), 1);
  EXPECT_EQ(run.ok[0], 1);
  EXPECT_EQ(run.status[5], MM_ITEM_ECC_SIGNATURE);
  EXPECT_EQ(run.status[8], MM_ITEM_ECC_POINT);
  EXPECT_EQ(run.status[9], MM_OK);
  // y = 2 is of no point.
  items.point[9][0] = 2;
  run = agree(items, MM_ECC_VERIFY, {5, 6, 7, 8, 9});
  EXPECT_EQ(run.status[9], MM_ITEM_ECC_POINT);
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
