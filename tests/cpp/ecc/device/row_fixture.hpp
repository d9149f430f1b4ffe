// SPDX-License-Identifier: Apache-2.0
// The fixture of tests of calls on rows of bytes that the GPU converts and checks, on the substitute for the
// CUDA driver: results, verdicts and statuses are those of the host, for good items and for every kind of bad
// one.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "ecc/cuda/variants.cuda.hpp"
#include "ecc/device/noting_device.hpp"
#include "ecc/scalar64/engine.hpp"
#include "ecc/schemes/choice.hpp"
#include "ecc/schemes/scheme_runs.hpp"
#include "gpu/cuda/device.hpp"
#include "repr/limbs.hpp"
#include "support/fake_cuda/fixture.hpp"

namespace manymod::test {

using ecc::CurveId;

/// Of the table for u G + v P: tables of the library's width take minutes on the host.
inline constexpr unsigned kNarrowWindow = 4;

inline std::unique_ptr<const ecc::PointEngine> on_host(const ecc::Curve& curve) {
  return ecc::scalar64::variant().make(curve, {});
}
inline std::unique_ptr<const ecc::PointEngine> on_gpu(const ecc::Curve& curve) {
  gpu::Device* const device = &cuda::Driver::current().device(0);
  return ecc::cuda::make_engine(curve, {&device, 1}, on_host(curve), kNarrowWindow);
}

inline std::string title(const ::testing::TestParamInfo<CurveId>& test) {
  std::string name = ecc::named_curve(test.param).name;
  std::erase_if(name, [](unsigned char c) { return std::isalnum(c) == 0; });
  return name;
}

class CudaRowsOfCurve : public manymod::testing::FakeGpuTest {
 protected:
  static constexpr std::size_t kCount = 10;

  const ecc::Curve& curve_;
  const std::unique_ptr<const ecc::PointEngine> host_ = on_host(curve_);
  std::unique_ptr<const NotingDevice> gpu_;
  std::mt19937_64 random_{11};
  mm_ecc_scheme scheme_ = MM_ECC_ECDSA;  ///< of signatures on Weierstrass curves

  explicit CudaRowsOfCurve(const ecc::Curve& curve) : curve_(curve) {}

  void SetUp() override {
    FakeGpuTest::SetUp();
    gpu_ = std::make_unique<const NotingDevice>(on_gpu(curve_));
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
    SchemeRun found = same(items, op, options, places, chosen);
    std::vector<std::uint8_t> done(chosen.empty() ? kCount : chosen.size(), 1);
    for (const std::size_t row : left) done[row] = 0;
    EXPECT_EQ(gpu_->done, done);
    return found;
  }
  /// The same without the items that the GPU has done.
  SchemeRun same(const SchemeItems& items, mm_ecc_op op, const Options& options,
                 Places places = Places::pointers, const std::vector<std::size_t>& chosen = {}) const {
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
    return found;
  }

 private:
  [[nodiscard]] mm_ecc_scheme scheme_for(mm_ecc_op op) const {
    const bool has_scheme = op == MM_ECC_SIGN || op == MM_ECC_VERIFY || op == MM_ECC_RECOVER;
    return has_scheme && curve_.form == MM_ECC_WEIERSTRASS ? scheme_ : MM_ECC_DEFAULT;
  }
};

/// The same for tests whose parameter is a named curve.
class CudaRows : public CudaRowsOfCurve, public ::testing::WithParamInterface<CurveId> {
 protected:
  CudaRows() : CudaRowsOfCurve(ecc::named_curve(GetParam())) {}
};

}  // namespace manymod::test
