// SPDX-License-Identifier: Apache-2.0
// The engine of constants_technique.hpp, calls on it, and their expected results by slow arithmetic.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "gpu/buffer.hpp"
#include "gpu/cuda/device.hpp"
#include "gpu/engine/constants_technique.hpp"
#include "gpu/engine/engine.hpp"
#include "support/fake_cuda/fixture.hpp"

namespace manymod::testing::with_constants {

using naive::Limbs;

inline constexpr TimingClass kPublic = TimingClass::public_, kSecret = TimingClass::secret;

// A contiguous array of numbers, on the host or copied to a device.
struct Numbers {
  std::size_t width = 0;
  Limbs limbs;
  std::unique_ptr<gpu::DeviceBuffer> there;

  [[nodiscard]] std::size_t count() const { return width == 0 ? 0 : limbs.size() / width; }
  [[nodiscard]] Limbs number(std::size_t i) const {
    const auto first = limbs.begin() + static_cast<std::ptrdiff_t>((count() == 1 ? 0 : i) * width);
    return {first, first + static_cast<std::ptrdiff_t>(width)};
  }
  [[nodiscard]] const Limb* data() const { return there ? there->as<Limb>() : limbs.data(); }
  [[nodiscard]] BatchView view() const { return {data(), count(), width, width, nullptr, there != nullptr}; }

  // The host can write to the device memory of the fake driver.
  void send() {
    there = std::make_unique<gpu::DeviceBuffer>(cuda::device(0), limbs.size() * sizeof(Limb));
    std::copy(limbs.begin(), limbs.end(), there->as<Limb>());
  }
};

class ConstantsEngine : public FakeGpuTest {
 protected:
  void SetUp() override {
    FakeGpuTest::SetUp();
    start();
  }

  // After renew().
  void start() {
    add_kernels(seen_);
    engine_ = gpu::make_engine(technique_, 1, 0);
  }

  Numbers some(std::size_t count, std::size_t width) {
    Numbers numbers{width, {}, nullptr};
    for (std::size_t i = 0; i < count; ++i) append(numbers, generate_.number(width));
    return numbers;
  }

  // Every third is a multiple of the factor that is refused; the others are not, unless by chance.
  Numbers moduli(std::size_t count, std::size_t width) {
    Numbers numbers{width, {}, nullptr};
    for (std::size_t i = 0; i < count; ++i) append(numbers, modulus(width, i % 3 == 1));
    return numbers;
  }

  Limbs modulus(std::size_t width, bool refused) {
    for (;;) {
      Limbs n = generate_.odd_modulus(width);
      while (refused && !refuses(n)) n[0] += 2;
      if (refuses(n) == refused && n.back() != 0) return n;
    }
  }

  static void append(Numbers& numbers, const Limbs& number) {
    numbers.limbs.insert(numbers.limbs.end(), number.begin(), number.end());
  }

  static Limbs expected(Operation op, const Limbs& x, const Limbs& y, const Limbs& n) {
    if (op == Operation::sqrmod) return naive::multiply_mod(x, x, n);
    if (op == Operation::mulmod) return naive::multiply_mod(x, y, n);
    return naive::power_mod(naive::reduce(x, n), y, n);
  }

  // A call whose results go to `result`.
  struct Call {
    Job job;
    std::vector<std::size_t> items;
    std::vector<ItemStatus> statuses;
    std::size_t limbs = 0;
  };
  static Call call(Operation op, TimingClass timing, const Numbers& x, const Numbers& y, const Numbers& n,
                   const BatchResult& result) {
    Call engine_call;
    engine_call.limbs = n.width;
    engine_call.items.resize(result.count);
    std::iota(engine_call.items.begin(), engine_call.items.end(), std::size_t{0});
    engine_call.statuses.assign(result.count, ItemStatus::not_computed);
    engine_call.job.op = op;
    engine_call.job.timing = timing;
    engine_call.job.x = x.view();
    engine_call.job.y = y.view();
    engine_call.job.modulus = n.view();
    engine_call.job.result = result;
    engine_call.job.status = engine_call.statuses.data();
    return engine_call;
  }

  // Checks a call whose results are in a separate array on the host.
  void check(Operation op, TimingClass timing, const Numbers& x, const Numbers& y, const Numbers& n,
             std::size_t count, const PreparedModulus* shared = nullptr,
             const PreparedBase* base = nullptr) const {
    SCOPED_TRACE("operation " + std::to_string(static_cast<int>(op)) + ", " + std::to_string(n.width) +
                 " limbs, " + std::to_string(n.count()) + " moduli");
    Limbs results(count * n.width);
    Call engine_call = call(op, timing, x, y, n, {results.data(), count, n.width, n.width});
    engine_call.job.shared = shared;
    engine_call.job.fixed_base = base;
    engine_->run(engine_call.job, engine_call.items, engine_call.limbs);
    expect_right(op, x, y, n, results.data(), engine_call);
  }

  static void expect_right(Operation op, const Numbers& x, const Numbers& y, const Numbers& n,
                           const Limb* results, const Call& engine_call) {
    for (const std::size_t i : engine_call.items) {
      ASSERT_EQ(engine_call.statuses[i], ItemStatus::ok) << "item " << i;
      const Limbs result(results + i * n.width, results + (i + 1) * n.width);
      ASSERT_EQ(result, expected(op, x.number(i), y.number(i), n.number(i))) << "item " << i;
    }
  }

  Seen seen_;
  const gpu::Technique technique_ = technique();
  std::unique_ptr<Engine> engine_;
  naive::Generator generate_{77};

  void TearDown() override {
    engine_.reset();
    FakeGpuTest::TearDown();
  }
};

}  // namespace manymod::testing::with_constants
