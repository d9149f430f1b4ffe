// SPDX-License-Identifier: Apache-2.0
#include "exec/substitution.hpp"

#include <utility>

#include "core/status_error.hpp"
#include "exec/engine_set.hpp"
#include "exec/preparation.hpp"
#include "exec/unfinished.hpp"

namespace manymod {
namespace {

// The substitute's part is made when it is first needed.
class BothPrepared final : public PreparedModulus {
 public:
  BothPrepared(const Engine& engine, const Engine& substitute, std::span<const Limb> modulus, Operation op,
               TimingClass timing)
      : substitute_engine_(substitute),
        preparation_(modulus, op, timing),
        engine_(engine.prepare(modulus, op, timing)) {}

  [[nodiscard]] const PreparedModulus* engine() const { return engine_.get(); }
  [[nodiscard]] const PreparedModulus* substitute() const {
    return substitute_.get([this] { return preparation_.by(substitute_engine_); });
  }

 private:
  const Engine& substitute_engine_;
  ModulusPreparation preparation_;
  std::unique_ptr<const PreparedModulus> engine_;
  PublishedOnce<PreparedModulus> substitute_;
};

// A comb for each engine: the substitute's where the first one's could not be made, or when it is first
// needed.
class BothBases final : public PreparedBase {
 public:
  BothBases(const Engine& substitute, BasePreparation preparation)
      : substitute_engine_(substitute), preparation_(std::move(preparation)) {}

  void set_engine(std::unique_ptr<const PreparedBase> engine) { engine_ = std::move(engine); }
  /// Null if it could not be made.
  [[nodiscard]] const PreparedBase* engine() const { return engine_.get(); }
  /// Null if `stop` was requested.
  [[nodiscard]] const PreparedBase* substitute(const StopToken& stop) const {
    return substitute_.get([&] { return preparation_.by(substitute_engine_, stop); });
  }

 private:
  const Engine& substitute_engine_;
  BasePreparation preparation_;
  std::unique_ptr<const PreparedBase> engine_;
  PublishedOnce<PreparedBase> substitute_;
};

class SubstitutedEngine final : public Engine {
 public:
  SubstitutedEngine(std::unique_ptr<const Engine> engine, std::unique_ptr<const Engine> substitute)
      : engine_(std::move(engine)), substitute_(std::move(substitute)) {}

  [[nodiscard]] bool accepts(const Job& job, std::size_t item) const override {
    return engine_->accepts(job, item);
  }
  [[nodiscard]] std::unique_ptr<PreparedModulus> prepare(std::span<const Limb> modulus, Operation op,
                                                         TimingClass timing) const override {
    return std::make_unique<BothPrepared>(*engine_, *substitute_, modulus, op, timing);
  }
  [[nodiscard]] std::unique_ptr<PreparedBase> prepare_base(const BatchView& base,
                                                           std::span<const Limb> modulus,
                                                           std::size_t exponent_bits, TimingClass timing,
                                                           const StopToken& stop) const override {
    auto bases =
        std::make_unique<BothBases>(*substitute_, BasePreparation(base, modulus, exponent_bits, timing));
    try {
      bases->set_engine(engine_->prepare_base(base, modulus, exponent_bits, timing, stop));
    } catch (const StatusError&) {
      if (bases->substitute(stop) == nullptr) return nullptr;
      return bases;
    }
    if (bases->engine() == nullptr) return nullptr;
    return bases;
  }
  [[nodiscard]] std::size_t chunk_granularity(const Job& job, std::size_t modulus_limbs) const override {
    return engine_->chunk_granularity(job, modulus_limbs);
  }
  [[nodiscard]] double item_cost_ns(const Job& job, std::size_t modulus_limbs) const override {
    return engine_->item_cost_ns(job, modulus_limbs);
  }

  void run(const Job& job, Items items, std::size_t modulus_limbs) const override {
    if (!run_engine(job, items, modulus_limbs)) run_substitute(job, unfinished(job, items), modulus_limbs);
  }

 private:
  // @return false if the engine failed
  bool run_engine(const Job& job, Items items, std::size_t modulus_limbs) const {
    Job own = job;
    if (job.shared != nullptr) own.shared = static_cast<const BothPrepared*>(job.shared)->engine();
    if (job.fixed_base != nullptr) {
      own.fixed_base = static_cast<const BothBases*>(job.fixed_base)->engine();
      if (own.fixed_base == nullptr) return false;
    }
    try {
      engine_->run(own, items, modulus_limbs);
      return true;
    } catch (const StatusError&) {
      return false;
    }
  }

  void run_substitute(const Job& job, Items items, std::size_t modulus_limbs) const {
    Job own = job;
    if (job.shared != nullptr) own.shared = static_cast<const BothPrepared*>(job.shared)->substitute();
    if (job.fixed_base != nullptr) {
      own.fixed_base = static_cast<const BothBases*>(job.fixed_base)->substitute(job.stop);
      if (own.fixed_base == nullptr) return;
    }
    substitute_->run(own, items, modulus_limbs);
  }

  std::unique_ptr<const Engine> engine_;
  std::unique_ptr<const Engine> substitute_;
};

}  // namespace

std::unique_ptr<Engine> with_substitute(std::unique_ptr<const Engine> engine,
                                        std::unique_ptr<const Engine> substitute) {
  return std::make_unique<SubstitutedEngine>(std::move(engine), std::move(substitute));
}

}  // namespace manymod
