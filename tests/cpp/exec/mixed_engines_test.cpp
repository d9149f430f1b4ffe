// SPDX-License-Identifier: Apache-2.0
// Batches computed by several engines have the results of a single engine. The engines are real; some are
// restricted to odd moduli and exponents >= 0, with granularities of eight and four items.
#include <gtest/gtest.h>

#include <random>

#include "dispatch/selection.hpp"
#include "exec/batch.hpp"

namespace manymod::testing {
namespace {

std::unique_ptr<Engine> portable_engine() {
  for (const Variant& variant : registry()) {
    if (variant.name == "scalar64.generic") return variant.make_engine(0);
  }
  ADD_FAILURE() << "scalar64.generic is missing";
  return nullptr;
}

class RestrictedEngine : public Engine {
 public:
  explicit RestrictedEngine(std::size_t lanes) : lanes_(lanes) {}

  [[nodiscard]] bool accepts(const Job& job, std::size_t item) const override {
    const bool odd = (job.modulus.magnitude(item)[0] & 1) != 0;
    if (job.op != Operation::powmod && job.op != Operation::fixed_base_powmod) {
      return odd && job.modulus.broadcast();
    }
    return odd && !job.y.is_negative(item);
  }
  [[nodiscard]] std::unique_ptr<PreparedModulus> prepare(std::span<const Limb> modulus, Operation op,
                                                         TimingClass timing) const override {
    EXPECT_EQ(modulus[0] & 1, 1u);
    return engine_->prepare(modulus, op, timing);
  }
  [[nodiscard]] std::unique_ptr<PreparedBase> prepare_base(const BatchView& base,
                                                           std::span<const Limb> modulus,
                                                           std::size_t exponent_bits, TimingClass timing,
                                                           const StopToken& stop) const override {
    EXPECT_EQ(modulus[0] & 1, 1u);
    return engine_->prepare_base(base, modulus, exponent_bits, timing, stop);
  }
  [[nodiscard]] std::size_t chunk_granularity(const Job&, std::size_t) const override { return lanes_; }
  [[nodiscard]] double item_cost_ns(const Job& job, std::size_t modulus_limbs) const override {
    return engine_->item_cost_ns(job, modulus_limbs) / static_cast<double>(lanes_);
  }
  void run(const Job& job, Items items, std::size_t modulus_limbs) const override {
    for (const std::size_t item : items) EXPECT_TRUE(accepts(job, item));
    engine_->run(job, items, modulus_limbs);
  }

 private:
  std::size_t lanes_;
  std::unique_ptr<Engine> engine_ = portable_engine();
};

EngineSet mixed_engines() {
  std::vector<EngineChoice> choices;
  choices.push_back({std::make_unique<RestrictedEngine>(8), 8, 5, false});
  choices.push_back({std::make_unique<RestrictedEngine>(4), 4, 2, false});
  choices.push_back({portable_engine(), 1, 1, true});
  return EngineSet(std::move(choices));
}

EngineSet one_engine() {
  std::vector<EngineChoice> choices;
  choices.push_back({portable_engine(), 1, 1, true});
  return EngineSet(std::move(choices));
}

class MixedEngines : public ::testing::Test {
 protected:
  static constexpr std::size_t kWidth = 4;

  // Moduli of 1 to kWidth limbs, every parity and sign.
  void fill(std::size_t count, Operation op, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    count_ = count;
    for (auto* column : {&x_, &y_, &n_}) {
      column->assign(count * kWidth, 0);
      for (Limb& limb : *column) limb = random();
    }
    for (auto* signs : {&x_signs_, &y_signs_, &n_signs_}) {
      signs->assign(count, 0);
      for (std::uint8_t& sign : *signs) sign = static_cast<std::uint8_t>(random() % 4 == 0);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t limbs = 1 + random() % kWidth;
      for (std::size_t j = limbs; j < kWidth; ++j) n_[i * kWidth + j] = 0;
      if (random() % 8 != 0) n_[i * kWidth] |= 1;
      for (std::size_t j = 1 + random() % kWidth; j < kWidth; ++j) y_[i * kWidth + j] = 0;
    }
    job_ = Job();
    job_.op = op;
    job_.x = {x_.data(), count, kWidth, kWidth, x_signs_.data()};
    job_.y = {y_.data(), count, kWidth, kWidth, y_signs_.data()};
    job_.modulus = {n_.data(), count, kWidth, kWidth, n_signs_.data()};
  }

  struct Answer {
    std::vector<Limb> limbs;
    std::vector<std::uint8_t> signs;
    std::vector<ItemStatus> statuses;
    bool operator==(const Answer&) const = default;
  };

  Answer each(const EngineSet& engines, unsigned threads) { return run({engines}, threads, nullptr); }

  Answer shared(const EngineSet& engines, unsigned threads) {
    const PreparedModuli moduli(engines, job_.modulus.magnitude(0), job_.op, job_.timing);
    const std::size_t limbs = kWidth;
    return run({engines, &moduli}, threads, &limbs);
  }

  Answer fixed_base(const EngineSet& engines, unsigned threads) {
    const BatchView base{x_.data(), 1, kWidth, kWidth, x_signs_.data()};
    const PreparedBases bases(engines, base, job_.modulus.magnitude(0), kWidth * kLimbBits, job_.timing);
    const std::size_t limbs = kWidth;
    return run({engines, nullptr, &bases}, threads, &limbs);
  }

  void share_modulus(Limb low) {
    n_[0] = low;
    n_[kWidth - 1] |= 1;
    job_.modulus.count = 1;
  }

 private:
  Answer run(const Workers& workers, unsigned threads, const std::size_t* shared_limbs) {
    Answer answer{std::vector<Limb>(count_ * kWidth, 0), std::vector<std::uint8_t>(count_, 0),
                  std::vector<ItemStatus>(count_, ItemStatus::not_computed)};
    job_.result = {answer.limbs.data(), count_, kWidth, kWidth, answer.signs.data()};
    job_.status = answer.statuses.data();
    const BucketedBatch batch = shared_limbs != nullptr
                                    ? bucket_shared(job_, ModulusClass::compute, *shared_limbs)
                                    : bucket_each(job_, kWidth * kLimbBits);
    EXPECT_TRUE(compute_batch(workers, job_, batch, threads, {}));
    for (std::size_t i = 0; i < count_; ++i) {
      if (answer.statuses[i] == ItemStatus::ok) continue;
      EXPECT_EQ(answer.statuses[i], ItemStatus::not_invertible);
      std::fill_n(answer.limbs.begin() + static_cast<std::ptrdiff_t>(i * kWidth), kWidth, Limb{0});
      answer.signs[i] = 0;
    }
    return answer;
  }

  std::size_t count_ = 0;
  std::vector<Limb> x_, y_, n_;
  std::vector<std::uint8_t> x_signs_, y_signs_, n_signs_;
  Job job_;
};

TEST_F(MixedEngines, ModuliOfEveryKind) {
  const EngineSet one = one_engine();
  const EngineSet mixed = mixed_engines();
  for (const Operation op : {Operation::powmod, Operation::mulmod, Operation::sqrmod}) {
    for (const std::size_t count : {1u, 2u, 7u, 8u, 9u, 31u, 100u, 1000u}) {
      fill(count, op, 1000 + count);
      const Answer expected = each(one, 1);
      for (const unsigned threads : {1u, 2u, 3u}) EXPECT_EQ(each(mixed, threads), expected) << count;
    }
  }
}

TEST_F(MixedEngines, SharedModuli) {
  const EngineSet one = one_engine();
  const EngineSet mixed = mixed_engines();
  for (const Limb low : {15u, 16u}) {
    for (const std::size_t count : {1u, 3u, 8u, 13u, 300u}) {
      fill(count, Operation::powmod, count);
      share_modulus(low);
      EXPECT_EQ(shared(mixed, 2), shared(one, 1)) << low << ' ' << count;
    }
  }
}

TEST_F(MixedEngines, FixedBases) {
  const EngineSet one = one_engine();
  const EngineSet mixed = mixed_engines();
  for (const Limb low : {15u, 16u}) {
    for (const std::size_t count : {1u, 3u, 8u, 13u, 300u}) {
      fill(count, Operation::fixed_base_powmod, count);
      share_modulus(low);
      EXPECT_EQ(fixed_base(mixed, 2), fixed_base(one, 1)) << low << ' ' << count;
    }
  }
}

}  // namespace
}  // namespace manymod::testing
