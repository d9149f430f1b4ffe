// SPDX-License-Identifier: Apache-2.0
// Sums of many multiples by buckets (Pippenger 1976) in the lanes of vectors, for public scalars: each lane
// has buckets of its own, and adds its points to them in order. For inclusion in instruction-set files only.
//
// Every lane adds to another bucket, so that a bucket is a row of words in memory, and the rows of all lanes
// are transposed to vectors and back. That costs less than gathers and scatters of single words.
#pragma once

#include <cstddef>

#include "ecc/formulas/edwards.hpp"
#include "ecc/lanes/edwards_lane_calls.hpp"
#include "ecc/lanes/lane_rows.hpp"

namespace manymod::ecc::lanes {

/// `Kernels`: EdwardsKernels of the instruction set.
template <class Kernels>
class EdwardsSums {
  using F = typename Kernels::F;
  using Element = typename Kernels::Element;
  using Vector = typename Kernels::Vector;
  using Mask = typename Kernels::Mask;
  using Extended = typename Kernels::Extended;
  using Prepared = typename Kernels::Prepared;
  using Cached = typename Kernels::Cached;
  using WithT = edwards::WithT;
  static constexpr std::size_t kLanes = Kernels::kLanes;
  static constexpr std::size_t kDigits = Kernels::kDigits;
  /// A bucket: the digits of four coordinates.
  using Rows = LaneRows<typename Kernels::InstructionSet, 4 * kDigits>;
  static constexpr std::size_t kRowWords = Rows::kRowWords;
  static constexpr unsigned kMinWidth = 3, kMaxWidth = 9;

 public:
  static std::size_t bytes(std::size_t vectors) {
    const std::size_t rows = (buckets(best_width(vectors)) + 1) * kLanes;
    const std::size_t needed = vectors * sizeof(Prepared) + rows * kRowWords * sizeof(Limb);
    return needed > Kernels::Batch::bytes(1) ? needed : Kernels::Batch::bytes(1);
  }

  static void sum(const EdwardsBlock& b) {
    auto* const points = static_cast<Prepared*>(b.scratch);
    EdwardsSums sums(b, points, reinterpret_cast<Limb*>(points + b.vectors));
    sums.load_points();
    sums.run();
  }

 private:
  EdwardsSums(const EdwardsBlock& block, Prepared* points, Limb* rows)
      : b_(block), points_(points), rows_(rows), width_(best_width(block.vectors)), d_(Kernels::cached_d()) {}

  const EdwardsBlock& b_;
  Prepared* points_;
  Limb* rows_;  ///< row `magnitude kLanes + lane`; magnitude 0 collects what is in no bucket
  unsigned width_;
  Element d_;

  static std::size_t buckets(unsigned width) { return std::size_t{1} << (width - 1); }
  /// In products: an addition of a point takes 7 and the transposition, a bucket two additions of 9.
  static unsigned best_width(std::size_t vectors) {
    const auto cost = [vectors](unsigned width) {
      return (Kernels::kOrderBits / width + 1) * (10 * vectors + 20 * buckets(width));
    };
    unsigned best = kMinWidth;
    for (unsigned width = kMinWidth + 1; width <= kMaxWidth; ++width) {
      if (cost(width) < cost(best)) best = width;
    }
    return best;
  }

  void load_points() const {
    const Element d = Kernels::coefficients().d;
    Element x, y;
    for (std::size_t v = 0; v < b_.vectors; ++v) {
      Kernels::from_limbs(x, b_.px, v);
      Kernels::from_limbs(y, b_.py, v);
      prepare(points_[v], x, y, d);
    }
  }
  [[gnu::noinline]] static void prepare(Prepared& r, const Element& x, const Element& y, const Element& d) {
    edwards::prepare(Kernels::kField, r, x, y, d);
  }

  void run() const {
    Extended total, window_sum;
    edwards::set_neutral(Kernels::kField, total);
    for (unsigned window = b_.bits / width_ + 1; window-- > 0;) {
      for (unsigned i = 0; i < width_; ++i) Kernels::template twice<WithT::yes>(total);
      if (!fill_buckets(window)) continue;
      add_up(window_sum);
      add_point(total, window_sum);
    }
    // Points and buckets are of no use any more.
    const typename Kernels::Batch batch(b_.scratch, 1);
    batch.sum[0] = total;
    EdwardsBlock one = b_;
    one.vectors = 1;
    Kernels::store_affine(one, batch);
  }

  void add_point(Extended& r, const Extended& p) const {
    Cached cached;
    Kernels::cache(cached, p, d_);
    Kernels::template add_cached<WithT::yes>(r, cached);
  }

  /// Whether any digit of the window is not 0.
  bool fill_buckets(unsigned window) const {
    Extended neutral;
    edwards::set_neutral(Kernels::kField, neutral);
    for (std::size_t bucket = 0; bucket <= buckets(width_); ++bucket) {
      store_bucket(Vector{} + bucket, neutral);
    }
    bool any = false;
    for (std::size_t v = 0; v < b_.vectors; ++v) {
      const auto [magnitude, negative] =
          Kernels::signed_digits(Kernels::bits_from(b_.scalar, v, window * width_, width_ + 1), width_);
      if (is_zero(magnitude)) continue;
      any = true;
      add_to_buckets(points_[v], magnitude, negative);
    }
    return any;
  }
  static bool is_zero(Vector magnitude) {
    Limb any = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) any |= magnitude[lane];
    return any == 0;
  }
  [[gnu::noinline, gnu::flatten]] void add_to_buckets(const Prepared& point, Vector magnitude,
                                                      Mask negative) const {
    Extended bucket;
    load_bucket(bucket, magnitude);
    Prepared entry = point;
    edwards::negate_where(Kernels::kField, entry, negative);
    edwards::add(Kernels::kField, bucket, bucket, entry);
    store_bucket(magnitude, bucket);
  }
  /// r = the sum of d times the bucket of d, as a sum of the sums from each bucket up.
  void add_up(Extended& r) const {
    Extended running, bucket;
    edwards::set_neutral(Kernels::kField, running);
    edwards::set_neutral(Kernels::kField, r);
    for (std::size_t d = buckets(width_); d > 0; --d) {
      load_bucket(bucket, Vector{} + d);
      add_point(running, bucket);
      add_point(r, running);
    }
  }

  Limb* row(Vector magnitude, std::size_t lane) const {
    return rows_ + (magnitude[lane] * kLanes + lane) * kRowWords;
  }
  [[gnu::noinline]] void load_bucket(Extended& r, Vector magnitude) const {
    Element* const coordinate[4] = {&r.x, &r.y, &r.z, &r.t};
    Rows::load([&](std::size_t lane) { return row(magnitude, lane); },
               [&](std::size_t word, Vector value) {
                 coordinate[word / kDigits]->number.digit[word % kDigits] = value;
               });
    for (Element* c : coordinate) c->set_magnitude(1);
  }
  [[gnu::noinline]] void store_bucket(Vector magnitude, const Extended& p) const {
    const Element* const coordinate[4] = {&p.x, &p.y, &p.z, &p.t};
    Rows::store([&](std::size_t lane) { return row(magnitude, lane); },
                [&](std::size_t word) { return coordinate[word / kDigits]->number.digit[word % kDigits]; });
  }
};

}  // namespace manymod::ecc::lanes
