// SPDX-License-Identifier: Apache-2.0
// An engine that fails is replaced for the items at hand, with moduli and combs of its substitute's own.
#include "exec/substitution.hpp"

#include <gtest/gtest.h>

#include <array>

#include "core/status_error.hpp"
#include "exec/recording_engine.hpp"

namespace manymod {
namespace {

struct Log {
  int prepared = 0, bases = 0, runs = 0;
  bool fails_to_prepare_bases = false, fails_to_run = false;
};

struct OwnModulus final : PreparedModulus {
  explicit OwnModulus(const Log* whose) : owner(whose) {}
  const Log* owner;
};
struct OwnBase final : PreparedBase {
  explicit OwnBase(const Log* whose) : owner(whose) {}
  const Log* owner;
};

class Recorder final : public Engine {
 public:
  explicit Recorder(Log& log) : log_(log) {}
  [[nodiscard]] std::unique_ptr<PreparedModulus> prepare(std::span<const Limb> modulus, Operation,
                                                         TimingClass) const override {
    EXPECT_EQ(modulus[0], 35u);
    ++log_.prepared;
    return std::make_unique<OwnModulus>(&log_);
  }
  [[nodiscard]] std::unique_ptr<PreparedBase> prepare_base(const BatchView& base, std::span<const Limb>,
                                                           std::size_t bits, TimingClass,
                                                           const StopToken&) const override {
    if (log_.fails_to_prepare_bases) throw StatusError(MM_ERR_DEVICE, "no memory for the comb");
    EXPECT_EQ(base.magnitude(0)[0], 3u);
    EXPECT_TRUE(base.is_negative(0));
    EXPECT_EQ(bits, 77u);
    ++log_.bases;
    return std::make_unique<OwnBase>(&log_);
  }
  [[nodiscard]] std::size_t chunk_granularity(const Job&, std::size_t) const override { return 1; }
  [[nodiscard]] double item_cost_ns(const Job&, std::size_t) const override { return 1; }
  void run(const Job& job, Items items, std::size_t) const override {
    if (log_.fails_to_run) throw StatusError(MM_ERR_DEVICE, "lost");
    if (job.shared != nullptr) {
      EXPECT_EQ(static_cast<const OwnModulus*>(job.shared)->owner, &log_);
    }
    if (job.fixed_base != nullptr) {
      EXPECT_EQ(static_cast<const OwnBase*>(job.fixed_base)->owner, &log_);
    }
    for (const std::size_t item : items) job.status[item] = ItemStatus::ok;
    ++log_.runs;
  }

 private:
  Log& log_;
};

class Substitution : public ::testing::Test {
 protected:
  void SetUp() override {
    engine_ = with_substitute(std::make_unique<Recorder>(first_), std::make_unique<Recorder>(second_));
    modulus_ = engine_->prepare(kModulus, Operation::powmod, TimingClass::public_);
  }

  void run(const PreparedBase* base = nullptr) {
    Job job;
    statuses_.fill(ItemStatus::not_computed);
    job.status = statuses_.data();
    job.shared = modulus_.get();
    job.fixed_base = base;
    engine_->run(job, kItems, 1);
    EXPECT_EQ(statuses_[1], ItemStatus::ok);
  }

  std::unique_ptr<PreparedBase> make_base() {
    const std::array<Limb, 1> limbs{3};
    const std::uint8_t negative = 1;
    return engine_->prepare_base({limbs.data(), 1, 1, 1, &negative}, kModulus, 77, TimingClass::public_, {});
  }

  static constexpr std::array<Limb, 1> kModulus{35};
  static constexpr std::array<std::size_t, 2> kItems{0, 1};
  Log first_, second_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<PreparedModulus> modulus_;
  std::array<ItemStatus, 2> statuses_{};
};

TEST_F(Substitution, IsNotCalledWhileTheEngineWorks) {
  const auto base = make_base();
  run();
  run(base.get());
  EXPECT_EQ(first_.runs, 2);
  EXPECT_EQ(second_.prepared + second_.bases + second_.runs, 0);
}

TEST_F(Substitution, TakesTheItemsOfACallThatFails) {
  const auto base = make_base();
  first_.fails_to_run = true;
  run();
  run(base.get());
  run(base.get());
  EXPECT_EQ(first_.runs, 0);
  EXPECT_EQ(second_.runs, 3);
  EXPECT_EQ(second_.prepared, 1);
  EXPECT_EQ(second_.bases, 1);
  first_.fails_to_run = false;
  run();
  EXPECT_EQ(first_.runs, 1);
}

TEST_F(Substitution, TakesABaseWhoseCombCannotBeMade) {
  first_.fails_to_prepare_bases = true;
  const auto base = make_base();
  ASSERT_NE(base, nullptr);
  run(base.get());
  EXPECT_EQ(first_.runs, 0);
  EXPECT_EQ(second_.runs, 1);
}

// Results may stand where operands were: what is computed once must not be computed again.
TEST(SubstitutionHalfWay, OnlyWhatIsLeftIsComputed) {
  auto failing = std::make_unique<testing::RecordingEngine>();
  failing->on_item = [](std::size_t item, const StopToken&) {
    if (item == 2) throw StatusError(MM_ERR_DEVICE, "lost");
  };
  auto substitute = std::make_unique<testing::RecordingEngine>();
  const testing::RecordingEngine& recorder = *substitute;
  const auto engine = with_substitute(std::move(failing), std::move(substitute));
  std::array<ItemStatus, 4> statuses{};
  statuses.fill(ItemStatus::not_computed);
  Job job;
  job.status = statuses.data();
  const std::array<std::size_t, 4> items{0, 1, 2, 3};
  engine->run(job, items, 1);
  ASSERT_EQ(recorder.calls().size(), 1u);
  EXPECT_EQ(recorder.calls()[0].items, (std::vector<std::size_t>{2, 3}));
}

}  // namespace
}  // namespace manymod
