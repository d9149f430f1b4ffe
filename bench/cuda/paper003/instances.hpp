// SPDX-License-Identifier: Apache-2.0
// Points and scalars of one curve for the program paper003, with what every operation makes of them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "ecc/giorgi/job.hpp"
#include "host_curve.hpp"

namespace manymod::bench::paper003 {

/// f(i) for each i < count, by all processors.
inline void for_each_index(std::size_t count, const std::function<void(std::size_t)>& f) {
  const std::size_t threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::jthread> pool;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    pool.emplace_back([=, &f] {
      for (std::size_t i = thread; i < count; i += threads) f(i);
    });
  }
}

/// kDistinct different items; item i of a batch is item i mod kDistinct of these.
class Instances {
 public:
  static constexpr std::size_t kDistinct = 1024;  ///< the paper's number of threads
  static constexpr unsigned kProducts = 1000, kSteps = 100;

  /// A random scalar for each item, and one for all; both of half the bits, as in the paper's table 5.
  explicit Instances(const NamedCurve& curve);

  [[nodiscard]] const HostCurve& curve() const { return curve_; }

  /// Points, or scalars as a first coordinate, in the order that ecc::giorgi::PointJob describes.
  [[nodiscard]] Words points(bool second, std::size_t stride) const;
  [[nodiscard]] Words scalars(bool shared, std::size_t stride) const;

  /// How many of the first `count` items of `result` are wrong.
  [[nodiscard]] std::size_t wrong(ecc::giorgi::Operation operation, bool shared_scalar, const Words& result,
                                  std::size_t count, std::size_t stride) const;

 private:
  using Affine = HostCurve::Affine;
  using Jacobian = HostCurve::Jacobian;

  HostCurve curve_;
  std::vector<Jacobian> p_, q_;
  std::vector<Words> scalars_;
  std::vector<Affine> sums_, doubles_, multiples_, shared_multiples_;
  std::vector<Words> products_;

  [[nodiscard]] bool is_right(ecc::giorgi::Operation operation, bool shared_scalar, const Jacobian& found,
                              std::size_t item) const;
};

}  // namespace manymod::bench::paper003
