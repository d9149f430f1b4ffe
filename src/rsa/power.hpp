// SPDX-License-Identifier: Apache-2.0
// Powers by the library's engines. Variants are selected once for each length of moduli, and moduli are
// prepared once.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
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

  [[nodiscard]] Backend backend() const { return engines[choice].placement.gpu_backend(place); }
  [[nodiscard]] unsigned index() const { return engines[choice].placement.gpu_index(place); }
  [[nodiscard]] const Engine& engine() const { return engines[choice].placement.engine(place); }
};

/// The engines for powers of one timing class with moduli of one number of limbs.
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

  /// The GPUs that compute batches of some size.
  [[nodiscard]] unsigned gpus() const;
  /// Whether GPUs compute a batch of that many powers.
  [[nodiscard]] bool on_gpus(std::size_t powers) const { return choice_for(powers).gpus() > 0; }
  /// The first of the GPUs that compute a batch of that many powers; none if the CPU computes them.
  [[nodiscard]] std::optional<PowerGpu> gpu_for(std::size_t powers) const;
  /// The number of powers that such a GPU computes at a time; 0 if the CPU computes them.
  [[nodiscard]] std::size_t gpu_wave(std::size_t powers) const;

  /// Run attempt(gpu) on one of the GPUs that compute that many powers with exponents of `exponent_limbs`
  /// limbs, and on another one if that fails.
  /// @return false if the CPU computes them, or if all GPUs fail
  template <class Attempt>
  bool run_on_gpu(std::size_t powers, std::size_t exponent_limbs, const Attempt& attempt) const {
    const std::size_t choice = engines_.for_items(powers);
    const double cost_ns = power_ns(choice, exponent_limbs) * static_cast<double>(powers);
    return engines_[choice].placement.run_on_gpu(
        cost_ns, [&](std::size_t place) { attempt(PowerGpu{engines_, choice, place}); });
  }

  /// Whether to compute `rows` rows with one modulus as a separate batch with the prepared modulus, rather
  /// than together with the rows of other moduli (`all_rows` in all), for which the modulus of each item is
  /// prepared again. `row_powers`: powers per row, each with its own modulus. A separate batch is faster if
  /// there are no other rows, or if it fills the vectors of all threads; on GPUs only if there are no other
  /// rows.
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

/// Powers with odd moduli that have the same number of limbs.
struct PowerBatch {
  BatchView x, y, modulus;
  BatchResult result;
  bool public_exponent = false;
  std::size_t limbs = 0;                   ///< of each modulus; its top limb is not 0
  std::span<const std::size_t> rows;       ///< indices of the items to compute, at least one
  const PreparedModuli* shared = nullptr;  ///< if the view has one modulus for all items
};

/// Compute the powers on up to `threads` threads.
/// @return false if the progress callback requested a stop
/// @throws StatusError if all places fail
bool compute_powers(const PowerEngines& engines, const PowerBatch& batch, unsigned threads,
                    const ProgressPart& progress);

/// Powers with secret exponents, each with its own modulus, which are collected one by one and computed
/// together.
class PooledPowers {
 public:
  /// x has `x_limbs` limbs; target has as many as the modulus, whose top limb is not 0 and whose length is
  /// that of `engines`; exponent < modulus. All of them must outlive compute().
  struct Power {
    const PowerEngines* engines;
    const Limb* x;
    std::span<const Limb> exponent;
    std::span<const Limb> modulus;
    Limb* target;
  };

  explicit PooledPowers(std::size_t x_limbs) : x_limbs_(x_limbs) {}

  void add(const Power& power) { powers_.push_back(power); }
  /// @return false if the progress callback requested a stop
  bool compute(unsigned threads, const ProgressPart& progress);

 private:
  std::size_t x_limbs_;
  std::vector<Power> powers_;

  bool compute_some(std::span<const Power> powers, unsigned threads, const ProgressPart& progress) const;
};

/// 0, 1, .. count - 1.
std::vector<std::size_t> all_rows(std::size_t count);

}  // namespace manymod::rsa
