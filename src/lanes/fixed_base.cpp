// SPDX-License-Identifier: Apache-2.0
// g^y mod n for one base g and many exponents y, by a comb of g, for odd n and y >= 0.
#include <array>

#include "lanes/group.hpp"
#include "lanes/operations.hpp"
#include "modexp/comb.hpp"
#include "modexp/windows.hpp"

namespace manymod::lanes {
namespace {

/// A table of up to 1 MiB stays in the second-level cache of current cores.
constexpr std::size_t kMaxCombLimbs = std::size_t{1} << 17;

/// A plan's base: its modulus and the comb, whose residues all lanes share.
class PreparedComb final : public PreparedBase {
 public:
  PreparedComb(const Kernels& kernels, std::span<const Limb> modulus)
      : moduli(kernels, modulus), base(moduli.moduli().words()) {}

  /// Builds the comb for exponents of up to `exponent_bits` bits. @return false if a stop was requested.
  /// Timing: constant-time in g if `timing` is secret.
  bool assign(const BatchView& g, std::size_t exponent_bits, TimingClass timing, const StopToken& stop) {
    const Moduli& n = moduli.moduli();
    const std::size_t digits = n.digits();
    const double scan = timing == TimingClass::secret ? kScanCost / static_cast<double>(digits) : 0;
    shape = best_comb_shape(exponent_bits, digits, kMaxCombLimbs, scan);
    limbs::Buffer scratch(n.scratch_words());
    std::array<std::span<const Limb>, kMaxLanes> operands;
    std::array<bool, kMaxLanes> negative;
    operands.fill(g.magnitude(0));
    negative.fill(g.is_negative(0));
    const std::size_t lanes = n.kernels().lanes;
    n.to_montgomery(base.data(), std::span(operands).first(lanes), std::span(negative).first(lanes),
                    scratch.data(), stop);
    if (stop.was_requested()) return false;
    // All lanes compute the same table. One copy is kept.
    limbs::Buffer wide(shape.entries() * n.words());
    limbs::Buffer workspace(n.words());
    const Moduli* const vector[] = {&n};
    if (!build_comb(Multiplier(vector, scratch.data()), shape, base.data(), wide.data(), workspace.data(),
                    stop)) {
      return false;
    }
    table.require(shape.entries() * digits);
    for (std::size_t i = 0; i < shape.entries() * digits; ++i) table.data()[i] = wide.data()[i * lanes];
    return true;
  }

  PreparedLanes moduli;
  limbs::Buffer base;  ///< g in Montgomery form in every lane, for exponents beyond the comb
  CombShape shape;
  limbs::Buffer table;
};

class FixedBaseRun {
 public:
  explicit FixedBaseRun(const BucketRun& run)
      : run_(run),
        job_(run.job),
        prepared_(*static_cast<const PreparedComb*>(run.job.fixed_base)),
        group_(run.kernels, run.job, run.limbs, &prepared_.moduli.moduli()) {}

  /// Computes all items, one group of lanes after another.
  void run() {
    for (std::size_t first = 0; first < run_.items.size(); first += group_.lanes()) {
      if (job_.stop.requested()) return;
      group_.assign(run_.items.subspan(first, std::min(group_.lanes(), run_.items.size() - first)));
      const Multiplier m = group_.multiplier();
      element_.require(m.words());
      if (!raise(m)) return;
      group_.from_montgomery(element_.data(), element_.data());
      group_.store(element_.data());
    }
  }

 private:
  const BucketRun& run_;
  const Job& job_;
  const PreparedComb& prepared_;
  Group group_;
  limbs::Buffer element_;
  limbs::Buffer workspace_;

  /// element_ = the powers in Montgomery form. @return false if a stop was requested.
  bool raise(const Multiplier& m) {
    std::array<std::span<const Limb>, kMaxLanes> storage;
    const std::span exponents = std::span(storage).first(m.lanes());
    std::size_t bits = 0;
    for (std::size_t lane = 0; lane < m.lanes(); ++lane) {
      exponents[lane] = job_.y.magnitude(group_.item(lane));
      // In constant time the exponent's width, which the caller has checked, implies that the comb covers it,
      // and the value is not read.
      if (job_.timing == TimingClass::public_) bits = std::max(bits, limbs::bit_length_var(exponents[lane]));
    }
    if (bits > prepared_.shape.teeth * prepared_.shape.rows) return raise_beyond_comb(m, exponents, bits);
    workspace_.require(m.words());
    return comb_power(m, prepared_.shape, prepared_.table.data(), element_.data(), exponents, job_.timing,
                      workspace_.data(), job_.stop);
  }

  /// The same by fixed windows, for exponents that the comb does not cover.
  bool raise_beyond_comb(const Multiplier& m, std::span<const std::span<const Limb>> exponents,
                         std::size_t bits) {
    const std::size_t vector_words = prepared_.moduli.moduli().words();
    for (std::size_t at = 0; at < m.words(); at += vector_words) {
      std::copy_n(prepared_.base.data(), vector_words, element_.data() + at);
    }
    const std::size_t width = fixed_window_width(bits, 0);
    workspace_.require(fixed_window_workspace(m, width));
    return fixed_window_power(m, element_.data(), element_.data(), exponents, bits, width, job_.timing,
                              workspace_.data(), job_.stop);
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

}  // namespace manymod::lanes
