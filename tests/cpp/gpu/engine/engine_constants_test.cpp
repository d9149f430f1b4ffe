// SPDX-License-Identifier: Apache-2.0
// The CUDA engine of a technique whose kernels read constants and may refuse moduli: the arguments of the
// kernels, and the computation of refused items by the general engine.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "gpu/engine/constants_engine.hpp"
#include "modmul/rns/variants.cuda.hpp"
#include "modmul/rns_float/variants.cuda.hpp"
#include "modmul/row32/variants.cuda.hpp"

namespace manymod::testing::with_constants {
namespace {

constexpr Operation kOperations[] = {Operation::powmod, Operation::mulmod, Operation::sqrmod};

TEST_F(ConstantsEngine, RefusedItemsAreComputedByTheGeneralEngine) {
  for (const std::size_t width : {1u, 2u, 3u}) {
    for (const Operation op : kOperations) {
      const std::size_t count = 40;
      const int launches = seen_.launches;
      check(op, kPublic, some(count, width), some(count, 1), moduli(count, width), count);
      EXPECT_GT(seen_.launches, launches);
    }
    check(Operation::powmod, kSecret, some(20, width), some(20, 1), moduli(20, width), 20);
  }
  EXPECT_GT(seen_.refused, 100);
  EXPECT_EQ(seen_.shared_launches, 0);
}

// Results that overwrite operands which refused items still need, and results in separate arrays.
TEST_F(ConstantsEngine, RefusedItemsWithEachPlaceOfResults) {
  enum class Target { x, modulus, apart, wide };
  const std::size_t count = 30, width = 2;
  for (const bool on_device : {false, true}) {
    for (const Target target : {Target::x, Target::modulus, Target::apart, Target::wide}) {
      for (const bool all : {true, false}) {
        SCOPED_TRACE(std::to_string(static_cast<int>(target)) + (on_device ? " on the device" : "") +
                     (all ? "" : ", some items"));
        const Numbers x = some(count, width), y = some(count, 1), n = moduli(count, width);
        Numbers own_x{width, x.limbs, nullptr}, own_n{width, n.limbs, nullptr};
        Numbers beside = some(count, target == Target::wide ? width + 1 : width);
        if (on_device) {
          for (Numbers* numbers : {&own_x, &own_n, &beside}) numbers->send();
        }
        const Numbers& place = target == Target::x ? own_x : target == Target::modulus ? own_n : beside;
        const std::size_t stride = place.width;
        const Limbs before(place.data(), place.data() + count * stride);
        Call engine_call = call(Operation::powmod, kPublic, own_x, y, own_n,
                                {const_cast<Limb*>(place.data()), count, stride, stride, nullptr, on_device});
        if (!all) std::erase_if(engine_call.items, [](std::size_t i) { return i % 4 == 3; });
        const int refused = seen_.refused;
        engine_->run(engine_call.job, engine_call.items, engine_call.limbs);
        EXPECT_GT(seen_.refused, refused);
        for (std::size_t i = 0; i < count; ++i) {
          const bool computed = all || i % 4 != 3;
          ASSERT_EQ(engine_call.statuses[i], computed ? ItemStatus::ok : ItemStatus::not_computed);
          Limbs right = expected(Operation::powmod, x.number(i), y.number(i), n.number(i));
          right.resize(stride);
          if (!computed) right.assign(before.data() + i * stride, before.data() + (i + 1) * stride);
          ASSERT_EQ(Limbs(place.data() + i * stride, place.data() + (i + 1) * stride), right) << i;
        }
      }
    }
  }
}

// A constant-time call with its exponents on the device as well; no copy of its numbers remains.
TEST_F(ConstantsEngine, SecretsOfRefusedItems) {
  const std::size_t count = 12, width = 2;
  Numbers x = some(count, width), y{1, Limbs(count, 0xfedcba9876543211u), nullptr}, n = moduli(count, width);
  const Limbs exponents = y.limbs;
  for (Numbers* numbers : {&x, &y, &n}) numbers->send();
  Limbs results(count * width);
  Call engine_call = call(Operation::powmod, kSecret, x, y, n, {results.data(), count, width, width});
  engine_->run(engine_call.job, engine_call.items, engine_call.limbs);
  expect_right(Operation::powmod, x, y, n, results.data(), engine_call);
  y.there.reset();
  EXPECT_FALSE(fake_cuda::holds(exponents.data(), sizeof(Limb)));
  EXPECT_FALSE(fake_cuda::holds(results.data(), results.size() * sizeof(Limb)));
}

TEST_F(ConstantsEngine, SharedModuliHaveKernelsOfTheirOwn) {
  for (const std::size_t width : {1u, 3u}) {
    for (const bool refused : {false, true}) {
      const Numbers n{width, modulus(width, refused), nullptr};
      const auto prepared = engine_->prepare(n.limbs, Operation::powmod, kPublic);
      const int launches = seen_.shared_launches;
      for (const Operation op : kOperations) {
        check(op, kPublic, some(9, width), some(9, 1), n, 9, prepared.get());
      }
      check(Operation::powmod, kSecret, some(9, width), some(9, 1), n, 9, prepared.get());
      EXPECT_EQ(seen_.shared_launches - launches, refused ? 0 : 4);
    }
  }
  EXPECT_EQ(seen_.launches, 0);
  EXPECT_EQ(seen_.refused, 0);
}

TEST_F(ConstantsEngine, FixedBases) {
  for (const TimingClass timing : {kPublic, kSecret}) {
    for (const bool refused : {false, true}) {
      const Numbers n{2, modulus(2, refused), nullptr}, g = some(1, 3), y = some(9, 1);
      const int before = seen_.shared_launches;
      const auto base = engine_->prepare_base(g.view(), n.limbs, 64, timing, StopToken());
      const int launches = seen_.shared_launches;
      EXPECT_EQ(launches - before, refused ? 0 : 1);
      check(Operation::fixed_base_powmod, timing, g, y, n, 9, nullptr, base.get());
      if (timing == kPublic) {  // longer than the comb
        check(Operation::fixed_base_powmod, timing, g, some(9, 2), n, 9, nullptr, base.get());
      }
      const int expected = timing == kPublic ? 2 : 1;
      EXPECT_EQ(seen_.shared_launches - launches, refused ? 0 : expected);
    }
  }
}

// The same kernels compute shared moduli, and refuse them as well.
TEST_F(ConstantsEngine, WithoutKernelsForSharedModuli) {
  const gpu::Technique technique = technique_for_each();
  engine_ = gpu::make_engine(technique, 1, 0);
  for (const bool refused : {false, true}) {
    const Numbers n{2, modulus(2, refused), nullptr}, x = some(9, 2), y = some(9, 1), g = some(1, 3);
    const auto prepared = engine_->prepare(n.limbs, Operation::powmod, kPublic);
    for (const Operation op : kOperations) check(op, kPublic, x, y, n, 9, prepared.get());
    for (const TimingClass timing : {kPublic, kSecret}) {
      const auto base = engine_->prepare_base(g.view(), n.limbs, 64, timing, StopToken());
      const int launches = seen_.launches;
      check(Operation::fixed_base_powmod, timing, g, y, n, 9, nullptr, base.get());
      EXPECT_EQ(seen_.launches - launches, refused ? 0 : 1);
    }
    EXPECT_EQ(seen_.refused > 0, refused);
  }
  EXPECT_GT(seen_.launches, 0);
  engine_.reset();
}

TEST_F(ConstantsEngine, ConstantsAreUploadedOnce) {
  const Numbers x = some(5, 3), n = moduli(5, 3), one{3, modulus(3, false), nullptr};
  const auto prepared = engine_->prepare(one.limbs, Operation::sqrmod, kPublic);
  const auto bytes = [&](const Numbers& moduli, const PreparedModulus* shared) {
    const std::size_t before = fake_cuda::counts().to_device_bytes;
    check(Operation::sqrmod, kPublic, x, {}, moduli, 5, shared);
    return fake_cuda::counts().to_device_bytes - before;
  };
  const std::size_t size = of_shape(technique_.shapes[1]).size();
  for (const bool shared : {false, true}) {
    const Numbers& moduli = shared ? one : n;
    const PreparedModulus* const own = shared ? prepared.get() : nullptr;
    const std::size_t first = bytes(moduli, own), second = bytes(moduli, own);
    EXPECT_GT(first, second + size);
    EXPECT_EQ(bytes(moduli, own), second);
  }
}

// The tests' end finds that no memory was freed before it was zeroed.
TEST_F(ConstantsEngine, ConstantsOfModuliEndWithThem) {
  const Numbers n{2, modulus(2, false), nullptr};
  auto prepared = engine_->prepare(n.limbs, Operation::sqrmod, kSecret);
  check(Operation::powmod, kSecret, some(4, 2), some(4, 1), n, 4, prepared.get());
  EXPECT_TRUE(fake_cuda::holds(n.limbs.data(), n.limbs.size() * sizeof(Limb)));
  prepared.reset();
  EXPECT_FALSE(fake_cuda::holds(n.limbs.data(), n.limbs.size() * sizeof(Limb)));
}

TEST_F(ConstantsEngine, SeveralChunksOfSeveralRounds) {
  fake_cuda::settings().memory_bytes = std::size_t{1} << 20;
  const std::size_t count = 1000;
  check(Operation::mulmod, kPublic, some(count, 3), some(count, 3), moduli(count, 3), count);
  EXPECT_GT(seen_.launches, 1);
}

// All threads need the constants, and one of them computes them.
TEST_F(ConstantsEngine, SeveralThreadsAtOnce) {
  const Numbers x = some(9, 2), y = some(9, 1), n = moduli(9, 2), one{2, modulus(2, false), nullptr};
  const auto prepared = engine_->prepare(one.limbs, Operation::powmod, kPublic);
  const int built = modulus_constants_built;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      check(Operation::powmod, kPublic, x, y, n, 9);
      check(Operation::powmod, kSecret, x, y, one, 9, prepared.get());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(modulus_constants_built - built, 1);
}

// Of the library's own techniques.
TEST(ConstantsTechniques, KernelsForSharedAndForRefusedModuli) {
  for (const std::span<const gpu::Technique> forms : {rns::cuda_techniques(), rns_float::cuda_techniques()}) {
    for (const gpu::Technique& technique : forms) {
      const std::span<const gpu::Shape> shared = technique.constants->shared_shapes;
      ASSERT_TRUE(shared.empty() || shared.size() == technique.shapes.size());
      for (std::size_t i = 0; i < technique.shapes.size(); ++i) {
        const unsigned words = technique.shapes[i].words;
        if (!shared.empty()) {
          EXPECT_EQ(shared[i].words, words);
        }
        EXPECT_EQ(technique.shapes[i].block % technique.shapes[i].step, 0u);
        const auto holds = [words](const gpu::Shape& shape) { return shape.words >= words; };
        const std::span<const gpu::Shape> others = row32::cuda_techniques().front().shapes;
        EXPECT_TRUE(std::any_of(others.begin(), others.end(), holds)) << words;
      }
    }
  }
}

}  // namespace
}  // namespace manymod::testing::with_constants
