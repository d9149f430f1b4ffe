// SPDX-License-Identifier: Apache-2.0
// Calls of the C interface whose items the substitute for the CUDA driver computes.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "ecc/device/jobs.hpp"
#include "ecc/ring.hpp"

/// The library's own namespace, before the wrapper brings another one of that name.
namespace internal = manymod::ecc;

#include "ecc/test_bytes.hpp"
#include "ecc/test_calls.hpp"
#include "manymod/ecc.h"
#include "support/fake_cuda/fixture.hpp"

namespace manymod::test {
namespace {

using manymod::testing::Bytes;
using manymod::testing::noise;

/// Whole calls, on a curve that needs no tables: one item has no shared secret.
class CudaRowCalls : public manymod::testing::FakeGpuTest {
 protected:
  static constexpr std::size_t kItems = 5, kSize = 32, kWithout = 3;

  using Plan = std::unique_ptr<mm_ecc_plan, void (*)(mm_ecc_plan*)>;

  struct Result {
    mm_status status;
    Bytes output, statuses;
    std::vector<std::size_t> sizes;
    bool operator==(const Result&) const = default;
  };

  const Bytes secrets_ = noise(kItems * kSize, 1);
  Bytes points_ = noise(kItems * kSize, 2);

  void SetUp() override {
    FakeGpuTest::SetUp();
    std::fill_n(points_.begin() + kWithout * kSize, kSize, std::uint8_t{0});
  }

  static mm_bytes_view view_of(const Bytes& rows) {
    return {kItems, rows.data(), kSize, 0, nullptr, nullptr};
  }
  /// Null where there is none.
  static Plan plan_on(const char* device) {
    const mm_ecc_curve* const curve = mm_ecc_curve_find("X25519");
    mm_ecc_plan_options options{};
    options.struct_size = sizeof options;
    options.device = device;
    mm_ecc_plan* plan = nullptr;
    static_cast<void>(mm_ecc_plan_create(&curve, 1, &options, &plan));
    return {plan, mm_ecc_plan_destroy};
  }
  [[nodiscard]] Result exchange(const Plan& plan) const {
    Result r{MM_OK, Bytes(kItems * kSize, 1), Bytes(kItems), std::vector<std::size_t>(kItems, 1)};
    mm_ecc_call call{};
    call.struct_size = sizeof call;
    call.op = MM_ECC_EXCHANGE;
    call.count = kItems;
    call.secret = view_of(secrets_);
    call.point = view_of(points_);
    call.output = {r.output.data(), kItems, kSize, r.sizes.data()};
    call.item_status = r.statuses.data();
    r.status = mm_ecc_run(plan.get(), &call);
    return r;
  }
  /// In a forked child: whether calls on the GPU fail with a reason, and others have their results.
  [[nodiscard]] bool fails_in_child(const Plan& gpu, const Plan& either, const Result& expected) const {
    return manymod::testing::true_in_child([&] {
      const std::size_t calls = fake_cuda::counts().calls;
      const bool refused = exchange(gpu).status == MM_ERR_DEVICE &&
                           std::string(mm_last_error()).find("forked") != std::string::npos;
      return refused && exchange(either) == expected && exchange(plan_on("auto")) == expected &&
             plan_on("cuda") == nullptr && fake_cuda::counts().calls == calls;
    });
  }
};

TEST_F(CudaRowCalls, AreThoseOfTheProcessor) {
  const Result on_gpu = exchange(plan_on("cuda"));
  EXPECT_GT(fake_cuda::counts().launches, 0U);
  EXPECT_EQ(on_gpu, exchange(plan_on("cpu")));
  EXPECT_EQ(on_gpu.status, MM_ERR_ITEMS);
  EXPECT_EQ(on_gpu.statuses[kWithout], MM_ITEM_ECC_SMALL_ORDER);
  EXPECT_EQ(on_gpu.sizes[kWithout], 0U);
}

TEST_F(CudaRowCalls, FailInForkedChildren) {
  const Plan gpu = plan_on("cuda"), either = plan_on("auto");
  const Result expected = exchange(gpu);
  EXPECT_TRUE(fails_in_child(gpu, either, expected));
  EXPECT_EQ(exchange(gpu), expected);
}

/// The child has the locks of a call that another thread computes.
TEST_F(CudaRowCalls, FailInChildrenThatAreForkedMeanwhile) {
  const Plan gpu = plan_on("cuda"), either = plan_on("auto");
  const Result expected = exchange(gpu);
  std::atomic<bool> computes = false, proceed = false;
  constexpr const char* kLadder = "ecc_x25519_ladder";
  fake_cuda::add_kernel(
      kLadder, [&, ladder = fake_cuda::kernel(kLadder)](const fake_cuda::Launch& launch, void** parameters) {
        computes = true;
        while (!proceed) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        ladder(launch, parameters);
      });
  std::thread other([&] { EXPECT_EQ(exchange(gpu), expected); });
  while (!computes) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(fails_in_child(gpu, either, expected));
  proceed = true;
  other.join();
}

using CudaRings = manymod::testing::FakeGpuTest;

/// Keys of a ring go to the GPU with their public keys.
TEST_F(CudaRings, SignAsTheirKeysDoOnTheProcessor) {
  using manymod::testing::EccCurve, manymod::testing::EccOperands, manymod::testing::EccOptions,
      manymod::testing::EccPlan;
  constexpr std::size_t kItems = 40, kKeys = 7, kLong = 300;
  for (const char* name : {"Ed25519", "SM2", "secp256k1"}) {
    const EccCurve curve(name);
    EccPlan cpu = manymod::testing::cpu_plan(curve), gpu(curve, {"cuda", "", 2});
    std::vector<Bytes> secrets, of_items, messages;
    std::vector<std::uint32_t> keys;
    for (std::size_t i = 0; i < kKeys; ++i) secrets.push_back(manymod::testing::small_secret(32, i + 1));
    for (std::uint32_t i = 0; i < kItems; ++i) {
      keys.push_back(i * i % kKeys);
      of_items.push_back(secrets[keys.back()]);
      messages.push_back(noise(i % 5 == 4 ? kLong : i, i));  // the host hashes long messages
    }
    const wrapper::ecc::Ring ring(cpu, secrets);
    EccOperands given, named;
    given.messages = named.messages = messages;
    given.secrets = of_items;
    named.ring = ring.get();
    named.keys = keys;
    for (const bool no_check : {false, true}) {
      for (const mm_ecc_scheme scheme : {MM_ECC_DEFAULT, MM_ECC_BIP340}) {
        if (scheme == MM_ECC_BIP340 && curve.info().name != std::string("secp256k1")) continue;
        EccOptions options;
        options.no_check = no_check;
        options.scheme = scheme;
        EccOperands one = named, first = given;
        one.keys = {};
        first.secrets = {secrets.data(), 1};
        const std::size_t launches = fake_cuda::counts().launches;
        const std::vector<Bytes> found = gpu.run(MM_ECC_SIGN, kItems, named, options);
        EXPECT_GT(fake_cuda::counts().launches, launches);
        EXPECT_EQ(found, cpu.run(MM_ECC_SIGN, kItems, given, options)) << name << scheme;
        EXPECT_EQ(gpu.run(MM_ECC_SIGN, kItems, one, options), cpu.run(MM_ECC_SIGN, kItems, first, options));
      }
    }
  }
}

/// A key whose public part is wrong, as after an error of memory, signs nothing on a GPU either.
TEST_F(CudaRings, KeysThatChangedInMemorySignNothing) {
  using manymod::testing::EccCurve, manymod::testing::EccOperands, manymod::testing::EccPlan;
  constexpr std::size_t kItems = 20;
  const EccCurve curve("Ed25519");
  EccPlan gpu(curve, {"cuda", "", 2});
  std::vector<Bytes> secrets, messages(kItems, Bytes(5));
  for (std::size_t i = 0; i < kItems; ++i) secrets.push_back(manymod::testing::small_secret(32, i + 1));
  std::vector<std::uint32_t> keys(kItems);
  std::iota(keys.begin(), keys.end(), 0U);
  const wrapper::ecc::Ring ring(gpu, secrets);
  const auto& prepared = ring.get()->ring.keys();
  const ByteSpan public_key = prepared.parts(3, *internal::find_curve("Ed25519")).public_key;
  const_cast<std::uint8_t&>(public_key[0]) ^= 1;
  EccOperands operands;
  operands.messages = messages;
  operands.ring = ring.get();
  operands.keys = keys;
  std::vector<mm_status> statuses;
  const std::vector<Bytes> signatures = gpu.run(MM_ECC_SIGN, kItems, operands, {}, &statuses);
  for (std::size_t i = 0; i < kItems; ++i) {
    EXPECT_EQ(statuses[i], i == 3 ? MM_ITEM_ECC_FAULT : MM_OK);
    EXPECT_EQ(signatures[i].empty(), i == 3);
  }
}

/// A thread that is always wrong would make the same wrong key twice, if it computed it twice.
TEST_F(CudaRings, KeysThatOneThreadComputesWrongSignNothing) {
  using manymod::testing::EccCurve, manymod::testing::EccPlan;
  constexpr const char* kBase = "ecc_ed25519_base";
  fake_cuda::add_kernel(
      kBase, [base = fake_cuda::kernel(kBase)](const fake_cuda::Launch& launch, void** parameters) {
        base(launch, parameters);
        static_cast<const internal::device::PointJob*>(parameters[0])->result[0] ^= 1;
      });
  EccPlan gpu(EccCurve("Ed25519"), {"cuda", "", 1});
  for (const std::size_t count : {std::size_t{1}, std::size_t{3}}) {
    std::vector<Bytes> secrets;
    for (std::size_t i = 0; i < count; ++i) secrets.push_back(manymod::testing::small_secret(32, i + 1));
    std::vector<mm_status> statuses;
    const wrapper::ecc::Ring ring(gpu, secrets, {}, &statuses);
    EXPECT_EQ(statuses[0], MM_ITEM_ECC_FAULT);
    EXPECT_EQ(std::ranges::count(statuses, MM_OK), static_cast<std::ptrdiff_t>(count - 1));
  }
}

using CudaSumCalls = manymod::testing::FakeGpuTest;

/// Sums are the GPU's, too, and one item that is no point leaves a call without a sum.
TEST_F(CudaSumCalls, AreThoseOfTheProcessor) {
  using manymod::testing::EccCurve, manymod::testing::EccOperands, manymod::testing::EccPlan;
  constexpr std::size_t kItems = 40;
  const EccCurve curve("brainpoolP256r1");
  EccPlan cpu = manymod::testing::cpu_plan(curve), gpu(curve, {"cuda", "", 2});
  std::vector<Bytes> scalars;
  for (std::size_t i = 0; i < kItems; ++i) scalars.push_back(noise(32, i));
  EccOperands operands;
  operands.secrets = scalars;
  std::vector<Bytes> points = cpu.run(MM_ECC_MULTIPLY, kItems, operands),
                     others(points.rbegin(), points.rend());
  others[1] = points[1];
  operands.points = points;
  const auto agree = [&](mm_ecc_op op) {
    std::vector<mm_status> expected, found;
    const std::size_t launches = fake_cuda::counts().launches;
    EXPECT_EQ(gpu.run(op, kItems, operands, {}, &found), cpu.run(op, kItems, operands, {}, &expected));
    EXPECT_EQ(found, expected);
    EXPECT_GT(fake_cuda::counts().launches, launches);
  };
  agree(MM_ECC_SUM);
  operands.seconds = others;
  operands.secrets = {};
  agree(MM_ECC_ADD);
  points[2].back() ^= 1;
  agree(MM_ECC_ADD);
  operands.seconds = {};
  operands.secrets = scalars;
  agree(MM_ECC_SUM);
}

}  // namespace
}  // namespace manymod::test
