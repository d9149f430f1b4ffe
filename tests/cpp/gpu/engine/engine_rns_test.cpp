// SPDX-License-Identifier: Apache-2.0
// Whole calls by the kernels of residue number systems, on the fake driver. Some of the moduli are refused by
// those kernels; the results must be correct nevertheless.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "api/resident_helpers.hpp"
#include "gpu/engine/engine_helpers.hpp"
#include "gpu/program/program.hpp"
#include "modmul/rns/constants.hpp"
#include "support/brief.hpp"

namespace manymod::testing {
namespace {

const Placement kOnRns{"cuda:0", "rns.cuda.t2", 0};
const Placement kOnCompact{"cuda:0", "rns.compact.cuda.t2", 0};
constexpr Timing kClasses[] = {Timing::public_, Timing::secret};

class RnsEngine : public FakeGpuTest {
 protected:
  CudaNumbers numbers_{52};

  // Odd and a multiple of a prime of base B, which are the same for all widths up to the number.
  void make_refused(Batch& moduli, std::size_t item, unsigned channel) {
    const std::size_t width = moduli.width();
    const naive::Limbs factor{rns::channel_of_b(channel)};
    naive::Limbs rest(moduli[item].begin(), moduli[item].end());
    rest.back() >>= 33;
    rest[0] |= 1;
    const naive::Limbs product =
        naive::limbs(naive::multiply(naive::digits(rest), naive::digits(factor)), width);
    std::copy(product.begin(), product.end(), moduli[item].begin());
  }

  // `count` moduli, of which two are refused if there are several.
  Batch moduli(std::size_t count, std::size_t width) {
    Batch batch = numbers_.odd_moduli(count, width);
    if (count > 1) make_refused(batch, count / 3, 0);
    if (count > 2) make_refused(batch, count - 1, 17);
    return batch;
  }

  // Counts the items that went to the fallback kernel for those that rns refuses.
  class Fallback {
   public:
    explicit Fallback(const char* kernel) {
      fake_cuda::add_kernel(kernel, [this, body = fake_cuda::kernel(kernel)](const fake_cuda::Launch& launch,
                                                                             void** parameters) {
        items_ += static_cast<const gpu::ProgramJob*>(parameters[0])->count;
        body(launch, parameters);
      });
    }
    [[nodiscard]] std::uint32_t items() const { return items_; }

   private:
    std::uint32_t items_ = 0;
  };
};

TEST_F(RnsEngine, PowersInBothTimingClasses) {
  for (const Timing timing : kClasses) {
    for (const std::size_t width : {1u, 8u, 9u, 24u, 32u}) {
      if (kBriefTests && width != 8 && width != 24) continue;
      const std::size_t count = width <= 8 ? 18 : 3;
      const Batch x = numbers_.with_signs(numbers_.some(count, width + 1)), y = numbers_.some(count, 1);
      const Batch n = moduli(count, width), one_n = numbers_.odd_moduli(1, width);
      check_plan(Op::powmod, {x, width <= 8 ? y : single(11), n}, timing, kOnRns);
      check_plan(Op::powmod, {x, single(65537), one_n}, timing, kOnRns);
    }
  }
}

TEST_F(RnsEngine, WideModuli) {
  for (const std::size_t width : {41u, 64u, 96u, 128u}) {
    if (kBriefTests && width != 41 && width != 96) continue;
    const Batch x = numbers_.some(3, width), y = single(2), n = moduli(3, width);
    if (width <= 64) check_plan(Op::powmod, {x, y, n}, Timing::public_, kOnRns);
    check_plan(Op::sqrmod, {x, {}, n}, Timing::public_, kOnRns);
    check_plan(Op::sqrmod, {x, {}, numbers_.odd_moduli(1, width)}, Timing::public_, kOnRns);
  }
}

// Their matrices are streamed; with 64 limbs, the widest elements in registers, all operations are in one
// loop.
TEST_F(RnsEngine, WideModuliInConstantTime) {
  for (const std::size_t width : {41u, 64u}) {
    if (kBriefTests && width != 41) continue;
    const Batch x = numbers_.some(3, width), n = moduli(3, width), y = numbers_.some(3, 1);
    check_plan(Op::powmod, {x, y, width < 64 ? n : numbers_.odd_moduli(1, width)}, Timing::secret, kOnRns);
  }
}

TEST_F(RnsEngine, ExponentsThatAllItemsShare) {
  const Batch x = numbers_.some(18, 8), n = moduli(18, 8), one_n = numbers_.odd_moduli(1, 8);
  for (const std::uint64_t exponent : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
    for (const Timing timing : kClasses) {
      check_plan(Op::powmod, {x, single(exponent), n}, timing, kOnRns);
      check_plan(Op::powmod, {x, single(exponent), one_n}, timing, kOnRns);
    }
  }
  check_plan(Op::powmod, {numbers_.some(1, 8), numbers_.some(18, 1), n}, Timing::public_, kOnRns);
}

TEST_F(RnsEngine, Products) {
  for (const std::size_t width : {2u, 8u, 16u}) {
    const std::size_t count = 35;
    const Batch n = numbers_.with_signs(moduli(count, width)), one_n = numbers_.odd_moduli(1, width);
    const Batch x = numbers_.with_signs(numbers_.some(count, width)), y = numbers_.some(count, 2 * width + 1);
    for (const Batch& modulus : {n, one_n}) {
      check_plan(Op::mulmod, {x, y, modulus}, Timing::public_, kOnRns);
      check_plan(Op::mulmod, {x, numbers_.some(1, width), modulus}, Timing::public_, kOnRns);
      check_plan(Op::sqrmod, {x, {}, modulus}, Timing::public_, kOnRns);
    }
  }
}

TEST_F(RnsEngine, ProductsOfPowers) {
  const std::size_t count = 7;
  for (const std::size_t terms : {1u, 3u}) {
    const Batch n = moduli(count, 4), one_n = numbers_.odd_moduli(1, 4);
    const Batch x = numbers_.with_signs(numbers_.some(count * terms, 5)), y = numbers_.some(count * terms, 1);
    for (const Batch& modulus : {n, one_n}) {
      check_plan(Op::multi_powmod, {x, y, modulus, count, terms}, Timing::public_, kOnRns);
      check_plan(Op::multi_powmod, {x, numbers_.some(terms, 1), modulus, count, terms}, Timing::public_,
                 kOnRns);
    }
  }
}

TEST_F(RnsEngine, FixedBases) {
  const Batch g = numbers_.with_signs(numbers_.some(1, 6)), y = numbers_.some(5, 1);
  for (const bool refused : {false, true}) {
    Batch n = numbers_.odd_moduli(1, 5);
    if (refused) make_refused(n, 0, 7);
    for (const Timing timing : kClasses) {
      if (kBriefTests && refused != (timing == Timing::public_)) continue;
      FixedBase powers(g, n, 64, timing, kOnRns);
      expect_right(powers.powmod(y), Op::powmod, {g, y, n}, "fixed base");
    }
    if (kBriefTests && refused) continue;
    // Longer than the comb.
    FixedBase powers(g, n, 40, Timing::public_, kOnRns);
    expect_right(powers.powmod(y), Op::powmod, {g, y, n}, "fixed base of 40 bits");
  }
}

TEST_F(RnsEngine, RefusedItemsAreComputedByTheGeneralTechnique) {
  const Fallback fallback("row32_1x16");
  const Batch x = numbers_.some(40, 8), n = moduli(40, 8);
  check_plan(Op::sqrmod, {x, {}, n}, Timing::public_, kOnRns);
  EXPECT_EQ(fallback.items(), 2u);
  Batch one = numbers_.odd_moduli(1, 8);
  check_plan(Op::sqrmod, {x, {}, one}, Timing::public_, kOnRns);
  EXPECT_EQ(fallback.items(), 2u);
  make_refused(one, 0, 3);
  check_plan(Op::sqrmod, {x, {}, one}, Timing::public_, kOnRns);
  EXPECT_EQ(fallback.items(), 42u);
}

TEST_F(RnsEngine, SeveralUnitsOfSeveralWarpgroups) {
  fake_cuda::settings().multiprocessors = 2;
  const std::size_t count = 600;
  const Batch n = moduli(count, 1), x = numbers_.some(count, 1);
  check_plan(Op::powmod, {x, single(5), n}, Timing::public_, kOnRns);
  check_plan(Op::sqrmod, {x, {}, numbers_.odd_moduli(1, 1)}, Timing::public_, kOnRns);
}

// Also on devices that run no other kernels of rns.
TEST_F(RnsEngine, CompactKernels) {
  for (const int capability : {80, 120}) {
    fake_cuda::settings().capability = capability;
    for (const std::size_t width : {1u, 8u, 9u, 24u}) {
      if (kBriefTests && width != 8) continue;
      const std::size_t count = width <= 8 ? 35 : 3;
      const Batch x = numbers_.with_signs(numbers_.some(count, width + 1)), y = numbers_.some(count, 1);
      const Batch n = moduli(count, width), one_n = numbers_.odd_moduli(1, width);
      for (const Timing timing : kClasses) {
        check_plan(Op::powmod, {x, width <= 8 ? y : single(11), n}, timing, kOnCompact);
        check_plan(Op::powmod, {x, single(65537), one_n}, timing, kOnCompact);
      }
      check_plan(Op::mulmod, {x, y, n}, Timing::public_, kOnCompact);
    }
    const Batch g = numbers_.some(1, 8), y = numbers_.some(5, 1), n = numbers_.odd_moduli(1, 8);
    FixedBase powers(g, n, 64, Timing::secret, kOnCompact);
    expect_right(powers.powmod(y), Op::powmod, {g, y, n}, "fixed base");
  }
}

TEST_F(RnsEngine, CompactKernelsEndAt1536Bits) {
  EXPECT_NO_THROW(Plan(Op::powmod, 1536, ModulusKind::each, Timing::public_, kOnCompact));
  EXPECT_THROW(Plan(Op::powmod, 1537, ModulusKind::each, Timing::public_, kOnCompact), Error);
}

TEST_F(RnsEngine, ArraysOnTheDevice) {
  for (const mm_op op : {MM_OP_MULMOD, MM_OP_POWMOD}) {
    CallOperands operands{.op = op, .count = 19};
    operands.x = numbers_.some(19, 4);
    operands.y = numbers_.some(19, 1);
    operands.modulus = moduli(19, 4);
    const auto check = [&](const Places& places) { expect_same_as_host(operands, places, "rns"); };
    check({.device = "cuda:0", .variant = "rns.cuda.t2"});
    check({.gap = 2, .device = "cuda:0", .variant = "rns.cuda.t2"});
    check({.result_width = 6, .device = "cuda:0", .variant = "rns.cuda.t2"});
    check({.on_device = MM_ON_DEVICE_RESULT, .device = "cuda:0", .variant = "rns.cuda.t2"});
    // Even moduli go elsewhere: the others are not in one run.
    for (std::size_t i = 0; i < 19; i += 5) operands.modulus[i][0] &= ~std::uint64_t{1};
    check({.device = "auto", .variant = "rns.cuda.t2"});
  }
}

TEST_F(RnsEngine, ResultsInThePlaceOfAnOperandOnTheDevice) {
  for (const bool in_place_of_modulus : {false, true}) {
    for (const std::size_t gap : {0u, 1u}) {
      CallOperands operands{.op = MM_OP_POWMOD, .count = 37};
      operands.x = numbers_.some(37, 3);
      operands.y = numbers_.some(37, 1);
      operands.modulus = moduli(37, 3);
      const CallResults expected = host_results(operands);
      const PlanPointer plan = make_plan(operands.options("cuda:0", "rns.cuda.t2"));
      DeviceBatch x(operands.x, gap), y(operands.y, gap), modulus(operands.modulus, gap);
      DeviceBatch& taken = in_place_of_modulus ? modulus : x;
      mm_call call = make_call(x.view(), y.view(), modulus.view(), taken.result());
      call.on_device = kAllOnDevice;
      CallResults actual = run_call(operands, plan.get(), call, 3);
      actual.results = taken.read();
      expect_same(actual, expected, in_place_of_modulus ? "in the modulus's place" : "in the base's place");
    }
  }
}

TEST_F(RnsEngine, SecretsAreWiped) {
  const Batch x = single(0x123456789abcdef1u, 2), y = single(0xfedcba9876543211u);
  for (const bool shared : {false, true}) {
    const Batch n = shared ? numbers_.odd_moduli(1, 2) : moduli(5, 2);
    const auto held = [](const Batch& batch) {
      return fake_cuda::holds(batch.limbs().data(), batch.limbs().size() * sizeof(std::uint64_t));
    };
    const Batch bases = shared ? numbers_.some(5, 2) : x;
    const Operands operands{bases, y, n};
    Plan plan = plan_for(Op::powmod, operands, Timing::secret, kOnRns);
    const Batch results = plan.run(operands);
    expect_right(results, Op::powmod, operands, "secrets");
    EXPECT_FALSE(held(bases) || held(y) || held(n) || held(results));
  }
}

// Each call of the driver fails once, and the device is lost once at each of them.
TEST_F(RnsEngine, AnyCallMayFail) {
  const Batch n = moduli(3, 1), x = numbers_.some(3, 1), y = single(3);
  const Operands operands{x, y, n};
  const auto status_of = [&](const char* device) {
    try {
      Plan plan = plan_for(Op::powmod, operands, Timing::public_, {device, "rns.cuda.t2", 0});
      expect_right(plan.run(operands), Op::powmod, operands, "a call");
      return MM_OK;
    } catch (const Error& error) {
      return error.status();
    }
  };
  EXPECT_EQ(status_of("cuda:0"), MM_OK);
  const std::size_t calls = fake_cuda::counts().calls;
  for (std::size_t fake_cuda::Settings::* how :
       {&fake_cuda::Settings::failing_call, &fake_cuda::Settings::lost_at_call}) {
    std::size_t failed = 0;
    for (std::size_t at = 0; at < calls; ++at) {
      SCOPED_TRACE("call " + std::to_string(at));
      renew();
      fake_cuda::settings().*how = at;
      const mm_status status = status_of("cuda:0");
      EXPECT_TRUE(status == MM_OK || status == MM_ERR_DEVICE) << status;
      failed += status == MM_OK ? 0 : 1;
      expect_nothing_left();
      renew();
      fake_cuda::settings().*how = at;
      EXPECT_EQ(status_of("auto"), MM_OK);
      expect_nothing_left();
    }
    EXPECT_GT(failed, calls / 3);
  }
}

/// Checks whether rns is selected in both timing classes and on both devices if no variant is forced.
void expect_choice(bool rns, std::size_t bits, std::size_t items) {
  for (const Timing timing : kClasses) {
    for (const char* device : {"auto", "cuda"}) {
      Plan plan(Op::powmod, bits, ModulusKind::each, timing, {device, "", 0});
      EXPECT_EQ(plan.variant_for(items) == "rns.cuda.t2", rns) << bits << ' ' << items << ' ' << device;
    }
  }
}

TEST_F(RnsEngine, IsChosenForLargeBatchesOfWideNumbers) {
  expect_choice(true, 1024, 100000);
  expect_choice(true, 2048, 100000);
  expect_choice(false, 512, 100000);
  expect_choice(true, 8192, 100000);
  expect_choice(false, 3072, 256);
  expect_choice(false, 2048, 256);
}

TEST_F(RnsEngine, IsNotChosenWhereItCannotRun) {
  fake_cuda::settings().capability = 89;
  expect_choice(false, 1024, 100000);
  expect_choice(false, 2048, 100000);
}

TEST_F(RnsEngine, NeedsAGpuThatHasTheInstructions) {
  fake_cuda::settings().capability = 89;
  try {
    const Plan plan(Op::powmod, 512, ModulusKind::each, Timing::public_, kOnRns);
    FAIL() << "a plan";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), MM_ERR_UNUSABLE_VARIANT);
    EXPECT_NE(std::string(error.what()).find("compute capability 9.0"), std::string::npos) << error.what();
  }
}

// Code for 8.0 that the driver compiles for this GPU: the kernels of rns are not in it.
TEST_F(RnsEngine, NeedsKernelsOfTheBuild) {
  static constexpr cuda::CodeArchitecture kCode[] = {{80, 0, true}};
  cuda::DriverSources sources = fake_sources();
  sources.architectures = kCode;
  cuda::Driver::use(sources);
  expect_choice(false, 1024, 100000);
  expect_choice(false, 2048, 100000);
  try {
    const Plan plan(Op::powmod, 512, ModulusKind::each, Timing::public_, kOnRns);
    FAIL() << "a plan";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), MM_ERR_UNUSABLE_VARIANT);
    EXPECT_NE(std::string(error.what()).find("this build has those of 8.0"), std::string::npos)
        << error.what();
  }
  check_plan(Op::powmod, {numbers_.some(3, 16), single(65537), moduli(3, 16)}, Timing::public_,
             {"cuda", "", 0});
}

}  // namespace
}  // namespace manymod::testing
