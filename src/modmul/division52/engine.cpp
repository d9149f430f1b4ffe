// SPDX-License-Identifier: Apache-2.0
// The engine of technique division52 and its row in the registry.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "engine/cpu_requirements.hpp"
#include "modmul/division52/kernels.hpp"
#include "modmul/division52/variants.hpp"
#include "modmul/scalar64/variants.hpp"
#include "repr/limbs.hpp"

namespace manymod::division52 {

#if MANYMOD_X86_64
namespace {

/// A plan's shared modulus: in all lanes, and for the engine that computes what the kernels leave over.
class PreparedDivisor final : public PreparedModulus {
 public:
  PreparedDivisor(const Kernels& kernels, std::span<const Limb> modulus,
                  std::unique_ptr<PreparedModulus> for_rest)
      : block_(divisor_words(modulus.size())), for_rest_(std::move(for_rest)) {
    const Limb* same[kLanes];
    std::ranges::fill(same, modulus.data());
    limbs::Buffer scratch(scratch_words(modulus.size()));
    kernels.set_divisors(block_.data(), same, modulus.size(), scratch.data());
  }
  [[nodiscard]] const Limb* block() const { return block_.data(); }
  [[nodiscard]] const PreparedModulus* for_rest() const { return for_rest_.get(); }

 private:
  limbs::Buffer block_;
  std::unique_ptr<PreparedModulus> for_rest_;
};

constexpr std::size_t vectors_for(std::size_t limbs) { return limbs <= kPairedLimbs ? 2 : 1; }

/// The items of one bucket, eight or sixteen at a time.
class ProductRun {
 public:
  ProductRun(const Kernels& kernels, const Job& job, Items items, std::size_t limbs)
      : kernels_(kernels),
        job_(job),
        y_(job.op == Operation::sqrmod ? job.x : job.y),
        adds_(job.op == Operation::fmamod),
        items_(items),
        limbs_(limbs),
        vectors_(vectors_for(limbs)),
        shared_(static_cast<const PreparedDivisor*>(job.shared)),
        divisors_(shared_ == nullptr ? vectors_ * divisor_words(limbs) : 0),
        scratch_(vectors_ * scratch_words(limbs)),
        unused_(limbs),
        plain_(is_plain(job.x) && is_plain(y_) && (!adds_ || is_plain(job.z)) &&
               job.modulus.negative == nullptr),
        bare_result_(job.result.width == limbs && job.result.negative == nullptr) {
    for (std::size_t v = 0; v < vectors_; ++v) {
      operands_[v].x_limbs = std::min(job.x.width, limbs);
      operands_[v].y_limbs = std::min(y_.width, limbs);
      operands_[v].z_limbs = adds_ ? std::min(job.z.width, limbs) : 0;
      operands_[v].limbs = limbs;
      blocks_[v] = shared_ != nullptr ? shared_->block() : divisors_.data() + v * divisor_words(limbs);
    }
  }

  /// Computes what the kernels can; @return the other items.
  std::vector<std::size_t> run() {
    std::vector<std::size_t> rest;
    const std::size_t most = vectors_ * kLanes;
    for (std::size_t first = 0; first < items_.size(); first += most) {
      if (job_.stop.requested()) return {};
      const Items items = items_.subspan(first, std::min(most, items_.size() - first));
      const unsigned computed = compute(items) & loadable_;
      if (bare_result_ && items.is_run() && computed == (1U << items.size()) - 1) {
        std::fill_n(job_.status + items.front(), items.size(), ItemStatus::ok);
        continue;
      }
      for (std::size_t i = 0; i < items.size(); ++i) {
        if ((computed >> i & 1) != 0) {
          finish(items[i]);
        } else {
          rest.push_back(items[i]);
        }
      }
    }
    return rest;
  }

 private:
  const Kernels& kernels_;
  const Job& job_;
  const BatchView& y_;
  bool adds_;  ///< fmamod: z is added
  Items items_;
  std::size_t limbs_;
  std::size_t vectors_;
  const PreparedDivisor* shared_;
  Products operands_[2]{};
  const Limb* blocks_[2]{};
  unsigned loadable_ = 0;  ///< the lanes with an item that suits the kernels
  limbs::Buffer divisors_;
  limbs::Buffer scratch_;
  limbs::Buffer unused_;
  bool plain_;        ///< all items suit the kernels
  bool bare_result_;  ///< nothing is to be written beside the residues

  /// @return the lanes that were computed.
  unsigned compute(Items items) {
    loadable_ = 0;
    const std::size_t used = (items.size() + kLanes - 1) / kLanes;
    for (std::size_t v = 0; v < used; ++v) load(v, items);
    if (used == 2) return kernels_.multiply_pair(operands_, blocks_, scratch_.data());
    return kernels_.multiply(operands_[0], blocks_[0], scratch_.data());
  }

  /// Points vector v at its items. Lanes without one repeat the last item, and their results are not used.
  void load(std::size_t v, Items items) {
    Products& to = operands_[v];
    const Limb* moduli[kLanes];
    const std::size_t first = v * kLanes;
    if (plain_ && items.is_run() && first + kLanes <= items.size()) {
      point_at_run(to.x, job_.x, items[first]);
      point_at_run(to.y, y_, items[first]);
      if (adds_) point_at_run(to.z, job_.z, items[first]);
      point_at_run(moduli, job_.modulus, items[first]);
      Limb* r = job_.result.limbs + items[first] * job_.result.stride;
      for (Limb*& lane : to.r) lane = std::exchange(r, r + job_.result.stride);
      loadable_ |= ((1U << kLanes) - 1) << first;
    } else {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const std::size_t i = first + lane;
        const std::size_t item = items[std::min(i, items.size() - 1)];
        const bool suited = i < items.size() && (plain_ || suits(item));
        to.x[lane] = job_.x.magnitude(item).data();
        to.y[lane] = y_.magnitude(item).data();
        if (adds_) to.z[lane] = job_.z.magnitude(item).data();
        to.r[lane] = suited ? job_.result.magnitude(item).data() : unused_.data();
        moduli[lane] = job_.modulus.magnitude(item).data();
        loadable_ |= static_cast<unsigned>(suited) << i;
      }
    }
    if (shared_ == nullptr) {
      kernels_.set_divisors(divisors_.data() + v * divisor_words(limbs_), moduli, limbs_, scratch_.data());
    }
  }

  static void point_at_run(const Limb* (&lanes)[kLanes], const BatchView& view, std::size_t item) {
    const std::size_t step = view.broadcast() ? 0 : view.stride;
    const Limb* at = view.limbs + item * step;
    for (const Limb*& lane : lanes) lane = std::exchange(at, at + step);
  }

  /// Whether all integers of an operand are no longer than the modulus, in limbs, and not negative.
  [[nodiscard]] bool is_plain(const BatchView& view) const {
    return view.negative == nullptr && view.width <= limbs_;
  }
  /// Whether nothing is negative and the operands are no longer than the modulus, in limbs.
  [[nodiscard]] bool suits(std::size_t item) const {
    return fits(job_.x, item) && fits(y_, item) && (!adds_ || fits(job_.z, item)) &&
           !job_.modulus.is_negative(item);
  }
  [[nodiscard]] bool fits(const BatchView& view, std::size_t item) const {
    if (view.is_negative(item)) return false;
    if (view.width <= limbs_) return true;
    const auto above = view.magnitude(item).subspan(limbs_);
    return std::all_of(above.begin(), above.end(), [](Limb limb) { return limb == 0; });
  }

  /// What is to be written beside the residue.
  void finish(std::size_t item) const {
    if (job_.result.width > limbs_) {
      const std::span<Limb> above = job_.result.magnitude(item).subspan(limbs_);
      std::fill(above.begin(), above.end(), Limb{0});
    }
    if (job_.result.negative != nullptr) job_.result.negative[item] = 0;
    job_.status[item] = ItemStatus::ok;
  }
};

class DivisionEngine final : public Engine {
 public:
  explicit DivisionEngine(const Kernels& kernels) : kernels_(kernels) {}

  [[nodiscard]] std::unique_ptr<PreparedModulus> prepare(std::span<const Limb> modulus, Operation op,
                                                         TimingClass timing) const override {
    return std::make_unique<PreparedDivisor>(kernels_, modulus, rest_->prepare(modulus, op, timing));
  }

  [[nodiscard]] std::unique_ptr<PreparedBase> prepare_base(const BatchView&, std::span<const Limb>,
                                                           std::size_t, TimingClass,
                                                           const StopToken&) const override {
    return nullptr;  // no fixed bases are offered
  }

  [[nodiscard]] std::size_t chunk_granularity(const Job&, std::size_t modulus_limbs) const override {
    return kLanes * vectors_for(modulus_limbs);
  }

  [[nodiscard]] double item_cost_ns(const Job& job, std::size_t modulus_limbs) const override {
    if (std::max({job.x.width, job.y.width, job.z.width}) > modulus_limbs) {
      return rest_->item_cost_ns(job, modulus_limbs);
    }
    const auto limbs = static_cast<double>(modulus_limbs);
    return (job.shared == nullptr ? 12 : 6) + (job.shared == nullptr ? 4 : 3) * limbs +
           kernels_.limb_pair_ns * limbs * limbs;
  }

  void run(const Job& job, Items items, std::size_t modulus_limbs) const override {
    const std::vector<std::size_t> rest = ProductRun(kernels_, job, items, modulus_limbs).run();
    if (rest.empty()) return;
    Job other = job;
    if (job.shared != nullptr) other.shared = static_cast<const PreparedDivisor*>(job.shared)->for_rest();
    rest_->run(other, rest, modulus_limbs);
  }

 private:
  const Kernels& kernels_;
  std::unique_ptr<Engine> rest_ = scalar64::make_fastest_engine();
};

Variant make_variant(const std::string& shape, std::string summary, const Kernels& kernels,
                     CpuFeatures features) {
  Variant variant;
  variant.name = "division52." + shape;
  variant.technique = "division52";
  variant.public_operations = kProductOperations;
  variant.max_bits = kMaxLimbs * kLimbBits;
  variant.instances = kLanes;
  variant.requirements = cpu_requirements(features);
  variant.summary = std::move(summary);
  variant.make_engine = [&kernels](unsigned) -> std::unique_ptr<Engine> {
    return std::make_unique<DivisionEngine>(kernels);
  };
  return variant;
}

}  // namespace
#endif

void register_variants([[maybe_unused]] std::vector<Variant>& variants) {
#if MANYMOD_X86_64
  Variant wide =
      make_variant("avx512", "products by long division in 52-bit digits by AVX-512 IFMA, eight side by side",
                   avx512_kernels(),
                   CpuFeature::bmi2 | CpuFeature::avx512f | CpuFeature::avx512dq | CpuFeature::avx512bw |
                       CpuFeature::avx512vl | CpuFeature::avx512ifma);
  wide.priority = 30;
  variants.push_back(std::move(wide));
  const CpuFeatures for_doubles = CpuFeature::bmi2 | CpuFeature::avx2 | CpuFeature::fma;
  if ((cpu_info().features & for_doubles) == for_doubles && !avx2_rounds_toward_zero()) return;
  Variant narrow = make_variant(
      "avx2", "products by long division in 52-bit digits in doubles by AVX2, eight side by side",
      avx2_kernels(), for_doubles);
  narrow.priority = 25;
  variants.push_back(std::move(narrow));
#endif
}

}  // namespace manymod::division52
