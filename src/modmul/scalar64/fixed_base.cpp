// SPDX-License-Identifier: Apache-2.0
// g^y mod n for one base g and many exponents y, by a comb of g.
#include <array>

#include "modexp/comb.hpp"
#include "modexp/windows.hpp"
#include "modmul/scalar64/operations.hpp"

namespace manymod::scalar64 {
namespace {

/// A table of up to 1 MiB stays in the second-level cache of current cores.
constexpr std::size_t kMaxCombLimbs = std::size_t{1} << 17;

/// A plan's base: its modulus n, the comb modulo n's odd part, and what exponents beyond the comb and even
/// moduli need.
class PreparedComb final : public PreparedBase {
 public:
  PreparedComb(const Kernels& kernels, std::span<const Limb> n) : value(n.size()), modulus(kernels) {
    std::copy(n.begin(), n.end(), value.data());
    modulus.assign(value.first(n.size()), Modulus::kMontgomery);
  }

  /// Builds the comb for exponents of up to `exponent_bits` bits. @return false if a stop was requested.
  /// Timing: constant-time in g if `timing` is secret.
  bool assign(const BatchView& base, std::size_t exponent_bits, TimingClass timing, const StopToken& stop) {
    if (!modulus.odd()) {
      const PowerOfTwoRing& ring = modulus.split().ring();
      base_mod_2k.require(ring.words());
      ring.reduce(base_mod_2k.first(ring.words()), base.magnitude(0), base.is_negative(0));
    }
    if (!modulus.has_odd_part()) return true;
    const Montgomery& mont = modulus.montgomery();
    const double scan = timing == TimingClass::secret ? kScanCost / static_cast<double>(mont.limbs()) : 0;
    shape = best_comb_shape(exponent_bits, mont.limbs(), kMaxCombLimbs, scan);
    element.require(mont.limbs());
    table.require(shape.entries() * mont.limbs());
    limbs::Buffer scratch(Montgomery::scratch_limbs(mont.limbs()) + mont.limbs());
    Limb* workspace = scratch.data() + Montgomery::scratch_limbs(mont.limbs());
    mont.to_montgomery(element.data(), base.magnitude(0), base.is_negative(0), scratch.data(), stop);
    if (stop.was_requested()) return false;
    const Montgomery* const lane[] = {&mont};
    return build_comb(MontgomeryLanes(lane, scratch.data()), shape, element.data(), table.data(), workspace,
                      stop);
  }

  limbs::Buffer value;  ///< n
  Modulus modulus;
  CombShape shape;
  limbs::Buffer table;
  limbs::Buffer element;      ///< g in Montgomery form, for exponents beyond the comb
  limbs::Buffer base_mod_2k;  ///< g mod 2^k, where n = 2^k m
};

class FixedBaseRun {
 public:
  explicit FixedBaseRun(const BucketRun& run)
      : job_(run.job),
        items_(run.items),
        prepared_(*static_cast<const PreparedComb*>(run.job.fixed_base)),
        n_(prepared_.modulus),
        scratch_(Montgomery::scratch_limbs(n_.limbs())) {
    inverter_.assign(n_);
  }

  /// Computes all items of the bucket.
  void run() {
    // An even modulus needs the power modulo 2^k too, which is computed item by item.
    const std::size_t lanes = n_.odd() ? lanes_for(n_.limbs()) : 1;
    element_.require(lanes * n_.limbs());
    workspace_.require(lanes * n_.limbs());
    for (std::size_t first = 0; first < items_.size(); first += lanes) {
      if (job_.stop.requested()) return;
      const auto group = items_.subspan(first, std::min(lanes, items_.size() - first));
      if (!(n_.odd() ? power_group(group) : power_even(group.front()))) return;
    }
  }

 private:
  const Job& job_;
  Items items_;
  const PreparedComb& prepared_;
  const Modulus& n_;
  Inverter inverter_;
  limbs::Buffer scratch_;
  limbs::Buffer element_;
  limbs::Buffer workspace_;

  /// Computes and stores the results of `group`, n odd. @return false if a stop was requested, as do all
  /// below.
  bool power_group(Items group) {
    if (!power_mod_odd(group)) return false;
    for (std::size_t lane = 0; lane < group.size(); ++lane) {
      finish(group[lane], element_.part(lane * n_.limbs(), n_.limbs()));
    }
    return true;
  }

  /// The same for one item, n = 2^k m even.
  bool power_even(std::size_t item) {
    const EvenSplit& split = n_.split();
    if (n_.has_odd_part()) {
      if (!power_mod_odd(Items::run(item, 1))) return false;
    } else {
      std::fill_n(element_.data(), 1, Limb{0});
    }
    const SlidingSchedule schedule = best_sliding_schedule(job_.y.magnitude(item), job_.stop);
    limbs::Buffer result_mod_2k(split.ring().words());
    limbs::Buffer value(n_.limbs());
    workspace_.require(sliding_window_workspace(split.ring(), schedule));
    if (!sliding_window_power(split.ring(), result_mod_2k.data(), prepared_.base_mod_2k.data(), schedule,
                              workspace_.data(), job_.stop)) {
      return false;
    }
    split.combine(value.first(n_.limbs()), element_.first(split.odd_part().size()),
                  result_mod_2k.first(split.ring().words()));
    finish(item, value.first(n_.limbs()));
    return true;
  }

  /// element_ = the powers modulo n's odd part, as plain residues, lane by lane.
  bool power_mod_odd(Items group) {
    const Montgomery& mont = n_.montgomery();
    std::array<const Montgomery*, kMaxLanes> same;
    std::array<std::span<const Limb>, kMaxLanes> exponents;
    bool fits = true;
    for (std::size_t lane = 0; lane < group.size(); ++lane) {
      same[lane] = &mont;
      exponents[lane] = job_.y.magnitude(group[lane]);
      fits = fits && exponent_fits(exponents[lane]);
    }
    const MontgomeryLanes lanes({same.data(), group.size()}, scratch_.data());
    if (fits) {
      workspace_.require(lanes.words());
      if (!comb_power(lanes, prepared_.shape, prepared_.table.data(), element_.data(),
                      std::span(exponents).first(group.size()), job_.timing, workspace_.data(), job_.stop)) {
        return false;
      }
    } else if (!power_beyond_comb(lanes, std::span(exponents).first(group.size()))) {
      return false;
    }
    for (std::size_t lane = 0; lane < group.size(); ++lane) {
      Limb* element = element_.data() + lane * mont.limbs();
      mont.from_montgomery(element, element, scratch_.data());
    }
    return true;
  }

  /// True if the comb covers the exponent. In constant time this follows from the exponent's width, which the
  /// caller has checked, and the value is not read.
  [[nodiscard]] bool exponent_fits(std::span<const Limb> exponent) const {
    const std::size_t bits = prepared_.shape.teeth * prepared_.shape.rows;
    return job_.timing == TimingClass::secret || limbs::bit_length_var(exponent) <= bits;
  }

  /// element_ = the powers in Montgomery form by sliding windows. Variable-time.
  bool power_beyond_comb(const MontgomeryLanes& lanes, std::span<const std::span<const Limb>> exponents) {
    for (std::size_t lane = 0; lane < exponents.size(); ++lane) {
      const MontgomeryLanes one = lanes.single(lane);
      const SlidingSchedule schedule = best_sliding_schedule(exponents[lane], job_.stop);
      workspace_.require(sliding_window_workspace(one, schedule));
      if (!sliding_window_power(one, element_.data() + lane * one.words(), prepared_.element.data(), schedule,
                                workspace_.data(), job_.stop)) {
        return false;
      }
    }
    return true;
  }

  /// Stores the result. A negative exponent gives the inverse of the power; an exponent of -0 gives 1.
  void finish(std::size_t item, std::span<Limb> value) {
    const Limb invertible = job_.y.is_negative(item) ? inverter_.invert(value, value, job_.timing) : 1;
    finish_item_if(job_, item, value, n_.value(), invertible);
  }
};

}  // namespace

std::unique_ptr<PreparedBase> prepare_comb(const Kernels& kernels, const BatchView& base,
                                           std::span<const Limb> modulus, std::size_t exponent_bits,
                                           TimingClass timing, const StopToken& stop) {
  auto comb = std::make_unique<PreparedComb>(kernels, modulus);
  if (!comb->assign(base, comb_bits(exponent_bits, timing), timing, stop)) return nullptr;
  return comb;
}

void run_fixed_base_power(const BucketRun& run) { FixedBaseRun(run).run(); }

}  // namespace manymod::scalar64
