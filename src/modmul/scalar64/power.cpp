// SPDX-License-Identifier: Apache-2.0
// x^y mod n: in groups of lanes for odd n, one item at a time for even n.
#include <array>
#include <optional>
#include <vector>

#include "modexp/windows.hpp"
#include "modmul/scalar64/operations.hpp"

namespace manymod::scalar64 {
namespace {

/// Up to this exponent length, sliding windows item by item are faster than fixed windows on several lanes,
/// as sparse exponents need few products.
constexpr std::size_t kLockstepMinBits = 48;

class PowerRun {
 public:
  explicit PowerRun(const BucketRun& run)
      : run_(run), job_(run.job), scratch_(Montgomery::scratch_limbs(run.limbs)) {
    lanes_ = lanes_for(run.limbs);
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
      moduli_.emplace_back(run.kernels, job_, run.limbs, parts_needed(job_));
    }
    if (job_.may_follow_exponent()) {
      schedule_ = best_sliding_schedule(job_.y.magnitude(0), job_.stop);
    }
  }

  /// Computes all items of the bucket: first those with even moduli, then the others in groups.
  void run() {
    std::vector<std::size_t> odd;
    odd.reserve(run_.items.size());
    for (const std::size_t item : run_.items) {
      if ((job_.modulus.magnitude(item)[0] & 1) != 0) {
        odd.push_back(item);
      } else {
        if (job_.stop.requested()) return;
        power_even(item);
      }
    }
    for (std::size_t first = 0; first < odd.size(); first += lanes_) {
      if (job_.stop.requested()) return;
      power_group(std::span(odd).subspan(first, std::min(lanes_, odd.size() - first)));
    }
  }

 private:
  const BucketRun& run_;
  const Job& job_;
  std::size_t lanes_ = 1;
  std::vector<ModulusCursor> moduli_;        ///< one for each lane
  std::optional<SlidingSchedule> schedule_;  ///< of the exponent that all items share, if it is public
  Inverter inverter_;
  bool inverter_is_set_ = false;
  limbs::Buffer scratch_;
  limbs::Buffer element_;
  limbs::Buffer workspace_;

  /// r = the base of an item in Montgomery form, inverted if the exponent is negative. @return 0 if that
  /// inverse does not exist and is needed, else 1.
  Limb load_base(Limb* r, std::size_t item, const Modulus& n) {
    const Montgomery& mont = n.montgomery();
    mont.to_montgomery(r, job_.x.magnitude(item), job_.x.is_negative(item), scratch_.data(), job_.stop);
    if (!job_.y.is_negative(item)) return 1;
    const std::span<Limb> plain(r, n.limbs());
    mont.from_montgomery(r, r, scratch_.data());
    const Limb usable = invert_base(plain, item, n);
    mont.to_montgomery(r, limbs_copy(plain), false, scratch_.data());
    return usable;
  }

  /// x = x^-1 mod n. @return 1 if the inverse exists or the exponent is 0, which needs none, else 0.
  Limb invert_base(std::span<Limb> x, std::size_t item, const Modulus& n) {
    if (job_.shared == nullptr || !inverter_is_set_) inverter_.assign(n);
    inverter_is_set_ = true;
    return inverter_.invert(x, x, job_.timing) | limbs::is_zero(job_.y.magnitude(item));
  }

  /// A copy of x in workspace_.
  std::span<const Limb> limbs_copy(std::span<const Limb> x) {
    workspace_.require(x.size());
    std::copy(x.begin(), x.end(), workspace_.data());
    return workspace_.first(x.size());
  }

  /// Computes and stores the results of at most lanes_ items with odd moduli.
  void power_group(std::span<const std::size_t> group) {
    const std::size_t limbs = run_.limbs;
    std::array<const Modulus*, kMaxLanes> moduli;
    std::array<const Montgomery*, kMaxLanes> montgomery;
    std::array<std::span<const Limb>, kMaxLanes> exponents;
    std::array<Limb, kMaxLanes> invertible;
    element_.require(lanes_ * limbs);
    for (std::size_t lane = 0; lane < group.size(); ++lane) {
      const std::size_t item = group[lane];
      moduli[lane] = &moduli_[lane].at(item, true);
      montgomery[lane] = &moduli[lane]->montgomery();
      exponents[lane] = job_.y.magnitude(item);
      invertible[lane] = load_base(element_.data() + lane * limbs, item, *moduli[lane]);
    }
    const MontgomeryLanes lanes({montgomery.data(), group.size()}, scratch_.data());
    if (!raise(lanes, std::span(exponents).first(group.size()))) return;
    for (std::size_t lane = 0; lane < group.size(); ++lane) {
      const std::span<Limb> result = element_.part(lane * limbs, limbs);
      montgomery[lane]->from_montgomery(result.data(), result.data(), scratch_.data());
      finish_item_if(job_, group[lane], result, moduli[lane]->value(), invertible[lane]);
    }
  }

  /// element_ = element_^exponent, lane by lane. @return false if a stop was requested, as do the three
  /// below.
  bool raise(const MontgomeryLanes& lanes, std::span<const std::span<const Limb>> exponents) {
    if (job_.stop.was_requested()) return false;
    if (schedule_) return raise_sliding(lanes, *schedule_);
    if (job_.timing == TimingClass::secret) {
      const std::size_t bits = job_.y.width * kLimbBits;
      return raise_fixed(lanes, exponents, bits,
                         fixed_window_width(bits, kScanCost / static_cast<double>(run_.limbs)));
    }
    std::size_t bits = 0;
    for (const auto& exponent : exponents) bits = std::max(bits, limbs::bit_length_var(exponent));
    if (exponents.size() == 1) return raise_sliding(lanes, best_sliding_schedule(exponents[0], job_.stop));
    if (bits <= kLockstepMinBits) return raise_one_by_one(lanes, exponents);
    return raise_fixed(lanes, exponents, bits, fixed_window_width(bits, 0));
  }

  /// By fixed windows, all lanes in lockstep. On input: exponents of at most `bits` bits.
  bool raise_fixed(const MontgomeryLanes& lanes, std::span<const std::span<const Limb>> exponents,
                   std::size_t bits, std::size_t width) {
    workspace_.require(fixed_window_workspace(lanes, width));
    return fixed_window_power(lanes, element_.data(), element_.data(), exponents, bits, width, job_.timing,
                              workspace_.data(), job_.stop);
  }

  /// By sliding windows, with the same exponent in all lanes. Variable-time in the exponent.
  bool raise_sliding(const MontgomeryLanes& lanes, const SlidingSchedule& schedule) {
    workspace_.require(sliding_window_workspace(lanes, schedule));
    return sliding_window_power(lanes, element_.data(), element_.data(), schedule, workspace_.data(),
                                job_.stop);
  }

  /// By sliding windows, lane after lane. Variable-time in the exponents.
  bool raise_one_by_one(const MontgomeryLanes& lanes, std::span<const std::span<const Limb>> exponents) {
    for (std::size_t lane = 0; lane < exponents.size(); ++lane) {
      const MontgomeryLanes one = lanes.single(lane);
      const SlidingSchedule schedule = best_sliding_schedule(exponents[lane], job_.stop);
      workspace_.require(sliding_window_workspace(one, schedule));
      Limb* element = element_.data() + lane * run_.limbs;
      if (!sliding_window_power(one, element, element, schedule, workspace_.data(), job_.stop)) return false;
    }
    return true;
  }

  /// One item with n = 2^k m even: the power modulo m in Montgomery form and the power modulo 2^k, combined
  /// by the split.
  void power_even(std::size_t item) {
    const Modulus& n = moduli_[0].at(item, false);
    const EvenSplit& split = n.split();
    const SlidingSchedule own =
        schedule_ ? SlidingSchedule{} : best_sliding_schedule(job_.y.magnitude(item), job_.stop);
    const SlidingSchedule& schedule = schedule_ ? *schedule_ : own;

    limbs::Buffer base(run_.limbs);
    const std::span<Limb> x = base.first(run_.limbs);
    n.reduce_var(x, job_.x.magnitude(item), job_.x.is_negative(item), scratch_, job_.stop);
    if (job_.stop.was_requested()) return;
    Limb invertible = 1;
    if (job_.y.is_negative(item)) invertible = invert_base(x, item, n);

    const std::size_t odd_limbs = split.odd_part().size();
    limbs::Buffer parts(odd_limbs + split.ring().words());
    const std::span<Limb> result_mod_odd = parts.part(0, odd_limbs);
    const std::span<Limb> result_mod_2k = parts.part(odd_limbs, split.ring().words());
    if (n.has_odd_part()) {
      const Montgomery& mont = n.montgomery();
      const Montgomery* const lane[] = {&mont};
      const MontgomeryLanes lanes(lane, scratch_.data());
      mont.to_montgomery(result_mod_odd.data(), x, false, scratch_.data());
      workspace_.require(sliding_window_workspace(lanes, schedule));
      if (!sliding_window_power(lanes, result_mod_odd.data(), result_mod_odd.data(), schedule,
                                workspace_.data(), job_.stop))
        return;
      mont.from_montgomery(result_mod_odd.data(), result_mod_odd.data(), scratch_.data());
    }
    split.ring().reduce(result_mod_2k, x, false);
    workspace_.require(sliding_window_workspace(split.ring(), schedule));
    if (!sliding_window_power(split.ring(), result_mod_2k.data(), result_mod_2k.data(), schedule,
                              workspace_.data(), job_.stop)) {
      return;
    }
    split.combine(x, result_mod_odd, result_mod_2k);
    finish_item_if(job_, item, x, n.value(), invertible);
  }
};

}  // namespace

void run_power(const BucketRun& run) { PowerRun(run).run(); }

}  // namespace manymod::scalar64
