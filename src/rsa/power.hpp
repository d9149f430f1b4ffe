// SPDX-License-Identifier: Apache-2.0
// Powers by the library's engines: what is chosen once for a length of moduli, prepared once for a modulus.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dispatch/selection.hpp"
#include "dispatch/selection_options.hpp"
#include "exec/engine_set.hpp"
#include "exec/prepared.hpp"
#include "exec/progress.hpp"
#include "manymod/rsa.h"

namespace manymod::rsa {

/// A GPU on which a choice of an engine set computes powers.
struct PowerGpu {
  const EngineSet& engines;
  std::size_t choice;
  std::size_t place;

  [[nodiscard]] unsigned index() const { return engines[choice].placement.gpu_index(place); }
  [[nodiscard]] const Engine& engine() const { return engines[choice].placement.engine(place); }
};

/// The engines for powers in one timing class with moduli of one number of limbs.
class PowerEngines {
 public:
  /// @throws StatusError for options that no variant can serve
  PowerEngines(const mm_rsa_ring_options& options, TimingClass timing, std::size_t limbs);

  [[nodiscard]] const EngineSet& set() const { return engines_; }
  [[nodiscard]] std::size_t limbs() const { return limbs_; }
  [[nodiscard]] TimingClass timing() const { return timing_; }
  [[nodiscard]] const std::string& variant_name(std::size_t items) const {
    return selection_.for_items(items).name;
  }

  /// Whether GPUs compute so many powers.
  [[nodiscard]] bool on_gpus(std::size_t powers) const { return choice_for(powers).gpus() > 0; }
  /// Powers that such a GPU works on at a time; 0 where the CPU computes them.
  [[nodiscard]] std::size_t gpu_wave(std::size_t powers) const;

  /// Run attempt(gpu) on one of the GPUs that compute so many powers with exponents of `exponent_limbs`
  /// limbs, and on another one where that fails.
  /// @return false where the CPU computes them, or where each GPU fails
  template <class Attempt>
  bool run_on_gpu(std::size_t powers, std::size_t exponent_limbs, const Attempt& attempt) const {
    const std::size_t choice = engines_.for_items(powers);
    const double cost_ns = power_ns(choice, exponent_limbs) * static_cast<double>(powers);
    return engines_[choice].placement.run_on_gpu(
        cost_ns, [&](std::size_t place) { attempt(PowerGpu{engines_, choice, place}); });
  }

  /// Whether so many rows with one modulus are computed as one batch with its prepared modulus, rather than
  /// together with rows of other moduli, each prepared anew; `row_powers`: a row's powers, with a modulus
  /// each. They are where there are no others, and where they fill what all threads compute at a time, by the
  /// engine that would compute all of them together. Of GPUs, where they are `all_rows`.
  [[nodiscard]] bool worth_sharing(std::size_t rows, std::size_t all_rows, std::size_t row_powers,
                                   unsigned threads) const;

 private:
  TimingClass timing_;
  std::size_t limbs_;
  Selection selection_;
  EngineSet engines_;

  [[nodiscard]] const EngineChoice& choice_for(std::size_t powers) const {
    return engines_[engines_.for_items(powers)];
  }
  [[nodiscard]] double power_ns(std::size_t choice, std::size_t exponent_limbs) const;
};

/// Rows of powers with odd moduli of one number of limbs.
struct PowerBatch {
  BatchView x, y, modulus;
  BatchResult result;
  bool public_exponent = false;
  std::size_t limbs = 0;                   ///< of each modulus, top limb not 0
  std::span<const std::size_t> rows;       ///< those of the views to compute, at least one
  const PreparedModuli* shared = nullptr;  ///< of the modulus, where the view has one
};

/// Compute them on up to `threads` threads.
/// @return false if the progress callback asked to stop
/// @throws StatusError as an engine's failure
bool compute_powers(const PowerEngines& engines, const PowerBatch& batch, unsigned threads,
                    const ProgressPart& progress);

/// Powers with secret exponents and a modulus each, gathered one by one.
class PooledPowers {
 public:
  /// x: `x_limbs` limbs, target: as many as the modulus has (its top limb not 0, `engines` being for that
  /// number). Exponents are below their moduli. All must stay until the powers are computed.
  struct Power {
    const PowerEngines* engines;
    const Limb* x;
    std::span<const Limb> exponent;
    std::span<const Limb> modulus;
    Limb* target;
  };

  explicit PooledPowers(std::size_t x_limbs) : x_limbs_(x_limbs) {}

  void add(const Power& power) { powers_.push_back(power); }
  /// @return false if the progress callback asked to stop
  bool compute(unsigned threads, const ProgressPart& progress);

 private:
  std::size_t x_limbs_;
  std::vector<Power> powers_;

  bool compute_some(std::span<const Power> powers, unsigned threads, const ProgressPart& progress) const;
};

/// 0, 1, .. count - 1.
std::vector<std::size_t> all_rows(std::size_t count);

}  // namespace manymod::rsa
