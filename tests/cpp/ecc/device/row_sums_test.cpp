// SPDX-License-Identifier: Apache-2.0
// Sums of two points and of multiples of many on rows of bytes, on the substitute for the CUDA driver.
#include "ecc/device/row_fixture.hpp"

namespace manymod::test {
namespace {

class CudaSums : public CudaRows {
 protected:
  [[nodiscard]] bool is_edwards() const { return curve_.form == MM_ECC_EDWARDS; }
  /// A scalar in the byte order of the curve.
  [[nodiscard]] Bytes in_order(Bytes big_endian) const {
    if (is_edwards()) std::ranges::reverse(big_endian);
    return big_endian;
  }
  [[nodiscard]] Bytes small(std::uint8_t value) const {
    Bytes r(curve_.scalar_bytes());
    r.back() = value;
    return in_order(r);
  }
  [[nodiscard]] Bytes times(std::uint8_t k, mm_ecc_point_format format = MM_ECC_UNCOMPRESSED) const {
    return points_of({small(k)}, format).front();
  }
  [[nodiscard]] std::vector<Bytes> points_of(const std::vector<Bytes>& k, mm_ecc_point_format format) const {
    SchemeRun run({k, {}, {}, {}, {}, {}}, k.size());
    return run
        .run([&](ecc::Inputs inputs, const auto& outputs) {
          options_ = inputs;
          options_.point_format = format;
          return ecc::make_scheme({MM_ECC_MULTIPLY, MM_ECC_DEFAULT}, *host_, options_, outputs);
        })
        .output;
  }
  [[nodiscard]] Bytes opposite(Bytes point) const {
    if (is_edwards()) {
      point.back() ^= 0x80;
    } else {
      std::vector<Limb> y(curve_.limbs());
      const std::span<std::uint8_t> bytes = std::span(point).last(curve_.coordinate_bytes());
      limbs_from_bytes(y, bytes);
      limbs::negate_mod(y, y, curve_.p);
      bytes_from_limbs(bytes, y);
    }
    return point;
  }

  /// The GPU is to have done `done` items of a sum, and to find what the host does.
  void sums_agree(const SchemeItems& items, std::size_t count, std::size_t done, Places places) const {
    SchemeRun expected(items, count, places), found(items, count, places);
    const auto run = [](SchemeRun& one, const ecc::PointEngine& engine) {
      one.run([&](const auto& inputs, const auto& outputs) {
        return ecc::make_scheme({MM_ECC_SUM, MM_ECC_DEFAULT}, engine, inputs, outputs);
      });
    };
    run(expected, *host_);
    gpu_->done.clear();
    run(found, *gpu_);
    EXPECT_EQ(found.output, expected.output);
    EXPECT_EQ(found.status, expected.status);
    EXPECT_EQ(found.finished, expected.finished);
    EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(gpu_->done, 1)), done);
  }

  void check_additions() const;
  void check_terms();
  void check_skewed_terms() const;

 private:
  mutable ecc::Inputs options_;
};

TEST_P(CudaSums, AgreeWithTheHost) {
  check_additions();
  check_terms();
  if (GetParam() == CurveId::p256) check_skewed_terms();
}

/// P + P, P - P, infinity, what is no point, and encodings that differ.
void CudaSums::check_additions() const {
  SchemeItems items;
  for (std::uint8_t i = 0; i < kCount; ++i) {
    items.point.push_back(times(static_cast<std::uint8_t>(i + 1)));
    items.second.push_back(times(static_cast<std::uint8_t>(3 * i + 5)));
  }
  items.second[1] = items.point[1];
  items.second[2] = opposite(items.point[2]);
  const bool has_infinity = !is_edwards();
  using List = std::vector<std::size_t>;
  for (const auto format : {MM_ECC_UNCOMPRESSED, MM_ECC_COMPRESSED}) {
    agree(items, MM_ECC_ADD, has_infinity ? List{2} : List{},
          [&](ecc::Inputs& inputs) { inputs.point_format = format; });
  }
  items.second[3][5] ^= 1;
  items.point[4] = times(0);
  items.second[5].pop_back();
  if (!has_infinity) {
    // Half of all y are those of points.
    same(items, MM_ECC_ADD, {});
    return;
  }
  agree(items, MM_ECC_ADD, {2, 3, 4, 5}, {}, Places::pointers, {});
  if (curve_.p[0] % 4 != 3) return;
  items.point[6] = times(9, MM_ECC_COMPRESSED);
  items.second[7] = times(9, MM_ECC_COMPRESSED);
  items.point[8] = items.second[8] = times(7, MM_ECC_COMPRESSED);
  same(items, MM_ECC_ADD, {});
  EXPECT_EQ(gpu_->computed, std::size_t{4 * kCount - 4 + kCount - 4 + kCount - 4});
}

/// Scalars of any size, points that are equal and opposite, and items that are not what they should be.
void CudaSums::check_terms() {
  constexpr std::size_t kTerms = 24;
  SchemeItems items;
  for (std::uint8_t i = 0; i < kTerms; ++i) {
    items.secret.push_back(i < kTerms / 2 ? in_order(scalar()) : small(i));
    items.point.push_back(times(static_cast<std::uint8_t>(i % 7 + 1)));
  }
  items.secret[0] = in_order(bytes_of(curve_.n));
  std::ranges::fill(items.secret[1], std::uint8_t{0xff});
  items.secret[2] = small(0);
  items.secret[3] = items.secret[4];
  items.point[3] = opposite(items.point[4]);
  items.secret[6] = items.secret[5];
  items.point[6] = items.point[5];
  sums_agree(items, kTerms, kTerms, Places::rows);
  sums_agree(items, kTerms, kTerms, Places::pointers);
  // One that the host adds, and one that spoils the sum.
  items.point[7] = times(0);
  sums_agree(items, kTerms, is_edwards() ? kTerms : kTerms - 1, Places::pointers);
  items.point[8].pop_back();
  sums_agree(items, kTerms, is_edwards() ? kTerms - 1 : kTerms - 2, Places::pointers);
  // Nothing but opposite points.
  for (std::uint8_t i = 0; i < kTerms; ++i) {
    items.secret[i] = small(5);
    items.point[i] = i % 2 == 0 ? times(3) : opposite(items.point[0]);
  }
  sums_agree(items, kTerms, kTerms, Places::rows);
}

/// All terms of several chunks in one bucket, which is added up in stages.
void CudaSums::check_skewed_terms() const {
  constexpr std::size_t kTerms = 4500;
  const std::vector<Bytes> scalars(kTerms, small(1)), points(kTerms, times(1));
  sums_agree({scalars, points, {}, {}, {}, {}}, kTerms, kTerms, Places::rows);
}

// Of wider fields the kernels are tested by themselves (sums_cuda_test.cpp).
INSTANTIATE_TEST_SUITE_P(Curves, CudaSums,
                         ::testing::Values(CurveId::p256, CurveId::secp256k1, CurveId::ed25519), title);
INSTANTIATE_TEST_SUITE_P(AnyCurve, CudaSums, ::testing::Values(CurveId::brainpool256r1, CurveId::bn254),
                         title);

using CudaNumberSums = CudaSums;

/// Enough of them for the GPU, with infinity on either side.
TEST_P(CudaNumberSums, AgreeWithTheHost) {
  constexpr std::size_t kSums = 300;
  const std::size_t limbs = curve_.limbs();
  struct Affine {
    std::vector<Limb> x, y;
    std::vector<std::uint8_t> infinity;
    explicit Affine(std::size_t limbs) : x(kSums * limbs), y(x), infinity(kSums) {}
    [[nodiscard]] ecc::PointResults results() { return {x.data(), y.data(), infinity.data()}; }
    [[nodiscard]] ecc::PointRows rows(std::size_t limbs) const {
      return {{x.data(), limbs}, {y.data(), limbs}, infinity.data()};
    }
    bool operator==(const Affine&) const = default;
  };
  Affine p(limbs), q(limbs), expected(limbs), found(limbs);
  std::vector<Limb> k(kSums * limbs);
  for (const auto& [points, step] : {std::pair{&p, 7U}, std::pair{&q, 5U}}) {
    for (std::size_t i = 0; i < kSums; ++i) k[i * limbs] = i * step % 31;
    host_->multiply_base(points->results(), {k.data(), limbs}, {0, kSums}, TimingClass::public_, {});
  }
  for (std::size_t i = 0; i < kSums; i += 3) {
    std::copy_n(p.x.data() + i * limbs, limbs, q.x.data() + i * limbs);
    std::copy_n(p.y.data() + i * limbs, limbs, q.y.data() + i * limbs);
    q.infinity[i] = p.infinity[i];
    if (i % 2 == 0)
      limbs::negate_mod({q.y.data() + i * limbs, limbs}, {q.y.data() + i * limbs, limbs}, curve_.p);
  }
  const auto engine = on_gpu(curve_);
  host_->add(expected.results(), p.rows(limbs), q.rows(limbs), {0, kSums});
  engine->add(found.results(), p.rows(limbs), q.rows(limbs), {0, kSums});
  EXPECT_GT(fake_cuda::counts().launches, 0U);
  EXPECT_TRUE(found == expected);
}

INSTANTIATE_TEST_SUITE_P(Curves, CudaNumberSums, ::testing::Values(CurveId::p256, CurveId::brainpool256r1),
                         title);

using CudaSumFailures = CudaSums;

/// Each launch of a sum fails once: the host adds the terms.
TEST_P(CudaSumFailures, LeaveItemsToTheHost) {
  SchemeItems items;
  for (std::uint8_t i = 0; i < kCount; ++i) {
    items.secret.push_back(scalar());
    items.point.push_back(times(static_cast<std::uint8_t>(i + 1)));
  }
  sums_agree(items, kCount, kCount, Places::rows);
  bool failed = true;
  for (std::size_t launch = 0; failed; ++launch) {
    const std::size_t failing = fake_cuda::counts().launches + launch;
    fake_cuda::settings().failing_launch = failing;
    // The launch after the last one does not fail.
    SchemeRun run(items, kCount, Places::rows);
    run.run([&](const auto& inputs, const auto& outputs) {
      return ecc::make_scheme({MM_ECC_SUM, MM_ECC_DEFAULT}, *gpu_, inputs, outputs);
    });
    failed = fake_cuda::counts().launches > failing;
    fake_cuda::settings().failing_launch = fake_cuda::kNever;
    EXPECT_EQ(run.status, std::vector<std::uint8_t>(kCount, MM_OK));
    SchemeRun expected(items, kCount, Places::rows);
    expected.run([&](const auto& inputs, const auto& outputs) {
      return ecc::make_scheme({MM_ECC_SUM, MM_ECC_DEFAULT}, *host_, inputs, outputs);
    });
    EXPECT_EQ(run.output, expected.output) << launch;
  }
}

INSTANTIATE_TEST_SUITE_P(Curves, CudaSumFailures, ::testing::Values(CurveId::p256), title);

}  // namespace
}  // namespace manymod::test
