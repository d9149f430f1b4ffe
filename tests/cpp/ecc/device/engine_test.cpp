// SPDX-License-Identifier: Apache-2.0
// The engine of curves on the substitute for the CUDA driver: the kernels of all curves as host code, without
// a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "ecc/cuda/variants.cuda.hpp"
#include "ecc/device/device_curve.hpp"
#include "ecc/device/known_answers.hpp"
#include "ecc/device_schemes.hpp"
#include "ecc/engine_checks.hpp"
#include "ecc/plan.hpp"
#include "ecc/scalar64/engine.hpp"
#include "ecc/schemes/choice.hpp"
#include "ecc/schemes/scheme_runs.hpp"
#include "ecc/test_curves.hpp"
#include "gpu/cuda/device.hpp"
#include "repr/limbs.hpp"
#include "support/brief.hpp"
#include "support/fake_cuda/fixture.hpp"

namespace manymod::test {
namespace {

using ecc::CurveId;

/// Of the table for u G + v P: tables of the library's width take minutes on the host.
unsigned narrow_window(const ecc::Curve& curve) { return curve.field_bits > 384 ? 2 : 4; }

std::unique_ptr<const ecc::PointEngine> on_host(CurveId id) {
  return ecc::scalar64::variant().make(ecc::named_curve(id), {});
}
std::unique_ptr<const ecc::PointEngine> on_gpu(const ecc::Curve& curve) {
  gpu::Device* const device = &cuda::Driver::current().device(0);
  return ecc::cuda::make_engine(curve, {&device, 1}, ecc::scalar64::variant().make(curve, {}),
                                narrow_window(curve));
}
std::unique_ptr<const ecc::PointEngine> on_gpu(CurveId id) { return on_gpu(ecc::named_curve(id)); }

using CudaTables = manymod::testing::FakeGpuTest;

/// Plans that choose between the processor and a GPU for each call must not wait for tables.
TEST_F(CudaTables, AreMadeForTheFirstCallThatTheGpuComputes) {
  const auto engine = on_gpu(CurveId::p256);
  const ecc::Curve& curve = engine->curve();
  std::vector<Limb> x(curve.limbs()), y(x);
  std::uint8_t infinity = 0;
  const ecc::PointRows generator{{curve.x.data(), 0}, {curve.y.data(), 0}};
  engine->add({x.data(), y.data(), &infinity}, generator, generator, {0, 1});
  EXPECT_EQ(fake_cuda::counts().launches, 0U);
  engine->multiply_base({x.data(), y.data(), &infinity}, {curve.x.data(), 0}, {0, 1}, TimingClass::secret,
                        {});
  EXPECT_GT(fake_cuda::counts().launches, 2U);
}

std::string title(const ::testing::TestParamInfo<CurveId>& test) {
  std::string name = ecc::named_curve(test.param).name;
  std::erase_if(name, [](unsigned char c) { return std::isalnum(c) == 0; });
  return name;
}

class CudaPoints : public manymod::testing::FakeGpuTest, public ::testing::WithParamInterface<CurveId> {};

TEST_P(CudaPoints, Edges) { check_edges(*on_gpu(GetParam()), 3); }

INSTANTIATE_TEST_SUITE_P(Curves, CudaPoints,
                         ::testing::Values(CurveId::p256, CurveId::p384, CurveId::p521, CurveId::secp256k1,
                                           CurveId::sm2, CurveId::ed25519, CurveId::x25519),
                         title);
// Curves that kernels are not compiled for: with any a, and with a = 0, a cofactor and an order shorter than
// p.
INSTANTIATE_TEST_SUITE_P(AnyCurve, CudaPoints, ::testing::Values(CurveId::brainpool256r1, CurveId::bls12_381),
                         title);

/// The first known answers, which have infinity and sums of equal and of opposite points among them.
void expect_known_answers(const ecc::Curve& curve) {
  constexpr std::size_t kCount = 7;
  const auto host = ecc::scalar64::variant().make(curve, {});
  const auto gpu = on_gpu(curve);
  const ecc::device::KnownOperands known(*host);
  const ecc::ItemRange items{0, kCount};
  const auto expect_same = [&](const auto& compute) {
    ecc::device::AnsweredPoints expected(curve, kCount), found(expected);
    compute(*host, expected.results());
    const std::size_t before = fake_cuda::counts().launches;
    compute(*gpu, found.results());
    EXPECT_GT(fake_cuda::counts().launches, before);
    EXPECT_TRUE(found == expected);
  };
  expect_same([&](const ecc::PointEngine& engine, const ecc::PointResults& r) {
    engine.multiply_base(r, known.u(), items, TimingClass::secret, {});
  });
  expect_same([&](const ecc::PointEngine& engine, const ecc::PointResults& r) {
    engine.multiply(r, known.v(), known.points(), items, TimingClass::secret, {});
  });
  expect_same([&](const ecc::PointEngine& engine, const ecc::PointResults& r) {
    engine.multiply_two(r, known.u(), known.v(), known.points(), items, {});
  });
  expect_same([&](const ecc::PointEngine& engine, const ecc::PointResults& r) {
    engine.check(r.infinity, known.candidates(), items);
  });
}

/// Rows that are shorter than the numbers of kernels, and the widest ones.
TEST_F(CudaTables, AreOfCurvesOfAllLengths) {
  for (const TestCurve& test : prime_order_curves()) {
    SCOPED_TRACE(test.description);
    expect_known_answers(test.curve);
  }
}

class CudaSignatures : public manymod::testing::FakeGpuTest, public ::testing::WithParamInterface<CurveId> {
 protected:
  const ecc::Curve& curve_ = ecc::named_curve(GetParam());
  std::mt19937_64 random_{7};

  [[nodiscard]] std::vector<Limb> number_below(const std::vector<Limb>& n) {
    std::vector<Limb> r(n.size());
    do {
      for (Limb& limb : r) limb = random_();
      limbs::truncate_bits(r, curve_.order_bits);
    } while (!limbs::less_var(r, n));
    return r;
  }
  [[nodiscard]] Bytes bytes_of(const std::vector<Limb>& number) const {
    Bytes r(curve_.scalar_bytes());
    bytes_from_limbs(r, number);
    return r;
  }
};

/// The sums of windows of k G, and of k P, that end with an addition of equal points: n is the sum of the
/// windows below the last one and of that one, or both are equal.
TEST_P(CudaSignatures, LastAdditionsOfEqualAndOppositePoints) {
  std::vector<std::vector<Limb>> scalars;
  const auto below_n = [&](const std::vector<Limb>& k) { return limbs::less_var(k, curve_.n); };
  // 2 d 2^(7 (windows - 1)) - n for the digits d of the last window.
  const unsigned top =
      ecc::device::kBaseWindow *
      (ecc::device::window_count(static_cast<unsigned>(curve_.order_bits), ecc::device::kBaseWindow) - 1);
  for (Limb digit = 1; digit < 128; digit += 2) {
    std::vector<Limb> k(curve_.n.size() + 1), n(curve_.n);
    n.push_back(0);
    k[(top + 1) / kLimbBits] = digit << ((top + 1) % kLimbBits);
    if ((top + 1) % kLimbBits > kLimbBits - 7) {
      k[(top + 1) / kLimbBits + 1] = digit >> (kLimbBits - (top + 1) % kLimbBits);
    }
    if (limbs::less_var(k, n)) continue;
    Limb borrow = 0;
    for (std::size_t i = 0; i < k.size(); ++i) k[i] = word::sub_borrow(k[i], n[i], borrow);
    const bool is_short = k.back() == 0;
    k.pop_back();
    if (is_short && below_n(k)) scalars.push_back(k);
  }
  EXPECT_FALSE(scalars.empty());
  // n - 2 (n mod 16), and its opposite.
  std::vector<Limb> opposite(curve_.n.size()), k(curve_.n);
  opposite[0] = 2 * (curve_.n[0] % 16);
  Limb borrow = 0;
  for (std::size_t i = 0; i < k.size(); ++i) k[i] = word::sub_borrow(k[i], opposite[i], borrow);
  scalars.push_back(k);
  scalars.push_back(opposite);

  std::vector<Limb> rows;
  for (const std::vector<Limb>& scalar : scalars) rows.insert(rows.end(), scalar.begin(), scalar.end());
  const std::size_t count = scalars.size(), size = count * curve_.limbs();
  const ecc::NumberRows all{rows.data(), curve_.limbs()};
  const ecc::PointRows generator{{curve_.x.data(), 0}, {curve_.y.data(), 0}};
  std::vector<std::vector<Limb>> found;
  for (const bool gpu : {false, true}) {
    const auto engine = gpu ? on_gpu(GetParam()) : on_host(GetParam());
    std::vector<Limb> x(size), y(size);
    std::vector<std::uint8_t> infinity(count);
    engine->multiply_base({x.data(), y.data(), infinity.data()}, all, {0, count}, TimingClass::secret, {});
    found.insert(found.end(), {x, y});
    EXPECT_EQ(std::ranges::count(infinity, 0), static_cast<std::ptrdiff_t>(count));
    engine->multiply({x.data(), y.data(), infinity.data()}, all, generator, {0, count}, TimingClass::secret,
                     {});
    EXPECT_EQ(x, found[found.size() - 2]);
    EXPECT_EQ(y, found.back());
  }
  EXPECT_EQ(found[0], found[2]);
  EXPECT_EQ(found[1], found[3]);
}

TEST_P(CudaSignatures, AreThoseOfTheHost) {
  const std::size_t kCount = kBriefTests || curve_.id == CurveId::brainpool512r1 ? 9 : 30;
  SchemeItems items;
  for (std::size_t i = 0; i < kCount; ++i) {
    items.secret.push_back(bytes_of(number_below(curve_.n)));
    items.message.emplace_back(i, static_cast<std::uint8_t>(i));
    items.nonce.push_back(bytes_of(number_below(curve_.n)));
  }
  // No secrets: 0 and n. No nonces: the same.
  items.secret[1] = items.nonce[2] = bytes_of(std::vector<Limb>(curve_.n.size()));
  items.secret[3] = items.nonce[4] = bytes_of(curve_.n);
  const auto host = on_host(GetParam()), gpu = on_gpu(GetParam());
  SchemeRun run(items, kCount);
  const auto make = [&](mm_ecc_op op, const ecc::PointEngine& engine) {
    return [&engine, op](const ecc::Inputs& inputs, const ecc::Outputs& outputs) {
      return ecc::make_scheme({op, MM_ECC_ECDSA}, engine, inputs, outputs);
    };
  };
  const auto outputs_agree = [&](mm_ecc_op op) {
    const std::size_t before = fake_cuda::counts().launches;
    const auto on_device = run.run(make(op, *gpu)).output;
    EXPECT_GT(fake_cuda::counts().launches, before);
    const auto statuses = run.status;
    EXPECT_EQ(on_device, run.run(make(op, *host)).output);
    EXPECT_EQ(statuses, run.status);
  };
  for (const int low_s : {1, -1}) {
    run.inputs.low_s = low_s;
    for (const auto nonces : {MM_ECC_NONCE_DETERMINISTIC, MM_ECC_NONCE_GIVEN}) {
      for (const auto format : {MM_ECC_RAW, MM_ECC_DER, MM_ECC_RECOVERABLE}) {
        run.inputs.nonces = nonces;
        run.inputs.signature_format = format;
        outputs_agree(MM_ECC_SIGN);
      }
    }
  }
  EXPECT_EQ(run.status[2], MM_ITEM_ECC_SECRET);
  EXPECT_EQ(run.status[3], MM_ITEM_ECC_SECRET);

  // With another hash, nonces are the host's.
  run.inputs.signature_format = MM_ECC_RAW;
  run.inputs.nonces = MM_ECC_NONCE_DETERMINISTIC;
  run.inputs.hash = MM_SHA512;
  outputs_agree(MM_ECC_SIGN);

  // Signatures of which the host and the device must find the same ones wrong.
  items.signature = run.output;
  items.secret[1] = items.secret[3] = items.secret[0];
  SchemeRun keys({items.secret, {}, {}, {}, {}, {}}, kCount);
  items.point = keys.run(make(MM_ECC_PUBLIC_KEY, *gpu)).output;
  const std::size_t size = curve_.scalar_bytes();
  for (const std::size_t i : {std::size_t{1}, std::size_t{3}}) items.signature[i] = items.signature[0];
  items.signature[5][size - 1] ^= 1;
  items.signature[6][2 * size - 1] ^= 1;
  std::fill_n(items.signature[7].begin(), size, std::uint8_t{0});
  std::swap(items.point[4], items.point[8]);
  items.point[0].back() ^= 1;
  SchemeRun verify(items, kCount);
  verify.inputs.hash = MM_SHA512;
  for (const int low_s : {1, -1}) {
    verify.inputs.low_s = low_s;
    const auto ok = verify.run(make(MM_ECC_VERIFY, *gpu)).ok;
    const auto statuses = verify.status;
    EXPECT_EQ(ok, verify.run(make(MM_ECC_VERIFY, *host)).ok);
    EXPECT_EQ(statuses, verify.status);
    EXPECT_EQ(statuses[0], MM_ITEM_ECC_POINT);
    EXPECT_EQ(ok[5], 0);
    EXPECT_EQ(ok[8], 0);
    if (low_s == -1) {
      EXPECT_EQ(ok[2], 1);
    }
  }
}

/// One curve is enough, as the code is the same for all.
class CudaSignaturesOfOneCurve : public CudaSignatures {};

/// Each launch of a signing and a verification fails once: the host computes the items.
TEST_P(CudaSignaturesOfOneCurve, SurviveFailuresOfTheGpu) {
  SchemeItems items;
  for (unsigned i = 0; i < 3; ++i) {
    items.secret.push_back(bytes_of(number_below(curve_.n)));
    items.message.emplace_back(i, std::uint8_t{9});
  }
  const auto make = [](mm_ecc_op op, const ecc::PointEngine& engine) {
    return [&engine, op](const ecc::Inputs& inputs, const ecc::Outputs& outputs) {
      return ecc::make_scheme({op, MM_ECC_ECDSA}, engine, inputs, outputs);
    };
  };
  const auto host = on_host(GetParam());
  SchemeRun expected(items, 3);
  items.signature = expected.run(make(MM_ECC_SIGN, *host)).output;
  items.point = SchemeRun(items, 3).run(make(MM_ECC_PUBLIC_KEY, *host)).output;
  for (const mm_ecc_op op : {MM_ECC_SIGN, MM_ECC_VERIFY}) {
    const auto engine = on_gpu(GetParam());
    std::size_t launch = 0;
    for (bool failed = true; failed; ++launch) {
      const std::size_t failing = fake_cuda::counts().launches + launch;
      fake_cuda::settings().failing_launch = failing;
      SchemeRun run(items, 3);
      run.run(make(op, *engine));
      failed = fake_cuda::counts().launches > failing;
      fake_cuda::settings().failing_launch = fake_cuda::kNever;
      EXPECT_EQ(run.status, std::vector<std::uint8_t>(3, MM_OK)) << launch;
      EXPECT_EQ(op == MM_ECC_SIGN ? run.output : items.signature, items.signature) << launch;
      EXPECT_EQ(op == MM_ECC_VERIFY ? run.ok : run.status,
                std::vector<std::uint8_t>(3, op == MM_ECC_VERIFY ? 1 : 0));
    }
    EXPECT_GT(launch, 4U);
  }
}

class CudaPlans : public manymod::testing::FakeGpuTest {};

/// A GPU that cannot be opened is left out of a plan, which is an error only where it is the last
/// device.
TEST_F(CudaPlans, DoWithoutAGpuThatFails) {
  const std::shared_ptr<const ecc::Curve> curve(&ecc::named_curve(CurveId::p256), [](const auto*) {});
  const auto variant_on = [&curve](const char* device) -> std::string {
    mm_ecc_plan_options options{};
    options.device = device;
    return ecc::Plan(options, {&curve, 1}).variant_name(0);
  };
  fake_cuda::settings().retain_result = 2;  // CUDA_ERROR_OUT_OF_MEMORY
  EXPECT_EQ(variant_on("auto"), variant_on("cpu"));
  try {
    ADD_FAILURE() << variant_on("cuda");
  } catch (const StatusError& error) {
    EXPECT_EQ(error.status(), MM_ERR_MEMORY) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Curves, CudaSignatures,
                         ::testing::Values(CurveId::p256, CurveId::p384, CurveId::p521, CurveId::secp256k1,
                                           CurveId::sm2),
                         title);

INSTANTIATE_TEST_SUITE_P(Curves, CudaSignaturesOfOneCurve, ::testing::Values(CurveId::p256), title);

INSTANTIATE_TEST_SUITE_P(AnyCurve, CudaSignatures,
                         ::testing::Values(CurveId::brainpool256r1, CurveId::brainpool512r1), title);

}  // namespace
}  // namespace manymod::test
