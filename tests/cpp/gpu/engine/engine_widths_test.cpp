// SPDX-License-Identifier: Apache-2.0
// Operands far wider than their moduli.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "exec/prepared.hpp"
#include "exec/recording_engine.hpp"
#include "gpu/engine/chunk_run.hpp"
#include "gpu/engine/engine.hpp"
#include "gpu/engine/technique.hpp"
#include "modmul/row32/variants.cuda.hpp"

namespace manymod::testing {
namespace {

class DeviceWidths : public ::testing::Test {
 protected:
  std::unique_ptr<Engine> engine_ = gpu::make_engine(row32::cuda_techniques().front(), 1, 0);
  std::vector<Limb> modulus_{7};

  // The operands have no limbs, since acceptance depends on sizes only.
  [[nodiscard]] bool accepts(Operation op, TimingClass timing, std::size_t x, std::size_t y,
                             std::size_t terms = 0) const {
    Job job;
    job.op = op;
    job.timing = timing;
    job.terms = terms;
    job.x.width = x;
    job.y.width = y;
    job.modulus = {modulus_.data(), 1, 1, 1, nullptr};
    return engine_->accepts(job, 0);
  }
};

// 2^26 limbs are an exponent of 2^32 bits, which 32 bits would count as 0.
TEST_F(DeviceWidths, OperandsThatKernelsCannotCountGoElsewhere) {
  for (const TimingClass timing : {TimingClass::public_, TimingClass::secret}) {
    constexpr std::size_t kMost = gpu::kMaxOperandLimbs;
    EXPECT_TRUE(accepts(Operation::powmod, timing, kMost, kMost));
    EXPECT_FALSE(accepts(Operation::powmod, timing, kMost + 1, 1));
    EXPECT_FALSE(accepts(Operation::powmod, timing, 1, kMost + 1));
    EXPECT_FALSE(accepts(Operation::powmod, timing, 1, std::size_t{1} << 32));
    EXPECT_FALSE(accepts(Operation::fixed_base_powmod, timing, 0, kMost + 1));
    EXPECT_FALSE(accepts(Operation::sqrmod, timing, SIZE_MAX / 8, 0));
    EXPECT_TRUE(accepts(Operation::multi_powmod, timing, kMost / 32, kMost / 32, 32));
    EXPECT_FALSE(accepts(Operation::multi_powmod, timing, kMost / 32 + 1, 1, 32));
    EXPECT_FALSE(accepts(Operation::multi_powmod, timing, 1, kMost / 32 + 1, 32));
  }
}

// If the first engine does not accept a base, another engine computes its comb.
TEST_F(DeviceWidths, WideFixedBases) {
  auto narrow = std::make_unique<RecordingEngine>();
  narrow->accepts_item = [](const Job& job, std::size_t) { return job.x.width <= 3; };
  std::vector<EngineChoice> choices;
  choices.push_back({std::move(narrow), 1, 1, false});
  choices.push_back({std::make_unique<RecordingEngine>(), 1, kFallbackOnly, true});
  const EngineSet engines(std::move(choices));
  const std::vector<Limb> base(4, 5);
  for (const std::size_t width : {3u, 4u}) {
    const PreparedBases bases(engines, {base.data(), 1, width, width, nullptr}, modulus_, 64,
                              TimingClass::public_);
    EXPECT_EQ(bases.main_choice(), width - 3);
    EXPECT_EQ(bases.choice_for(1000), width - 3);
  }
}

}  // namespace
}  // namespace manymod::testing
