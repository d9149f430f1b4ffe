// SPDX-License-Identifier: Apache-2.0
#include "ecc/lanes/bucket_sums.hpp"

#include <algorithm>
#include <bit>

#include "ecc/lanes/recoding.hpp"
#include "modexp/limb_bits.hpp"
#include "modexp/recoding.hpp"

namespace manymod::ecc::lanes {
namespace {

constexpr unsigned kMinWidth = 2, kMaxWidth = 14;
/// Vectors of points that are converted at a time.
constexpr std::size_t kPairVectors = 64;
/// Terms of a round of additions: more of them cost an inversion for many.
constexpr std::size_t kTogether = std::size_t{1} << 15;
/// More terms than these are not split by an endomorphism: what it saves is then less than what splitting
/// scalars and twice as many rows of points cost (measured on Zen 4: 1.2 times as fast with 64 to 1,024 terms
/// of secp256k1, 0.92 times with 2^14).
constexpr std::size_t kMostSplitTerms = 2048;
constexpr RowReference kInfinity = 0;

/// The width of least cost, in additions: a window takes one a term and two a bucket.
unsigned best_width(std::size_t terms, unsigned bits) {
  const auto cost = [&](unsigned width) {
    return recoding::signed_digit_count(bits, width) * (terms + (std::size_t{1} << width));
  };
  unsigned best = kMinWidth;
  for (unsigned width = kMinWidth + 1; width <= kMaxWidth; ++width) {
    if (cost(width) < cost(best)) best = width;
  }
  return best;
}

constexpr RowReference reference_to(std::size_t row) { return static_cast<RowReference>(2 * row); }

}  // namespace

BucketSums::BucketSums(const Curve& curve, const PointLaneCalls& calls, const PointBlock& constants,
                       std::size_t terms, unsigned bits)
    : curve_(curve),
      calls_(calls),
      parts_(calls.terms == 2 && terms <= kMostSplitTerms && bits > kSplitBits ? 2 : 1),
      bits_(parts_ == 2 ? kSplitBits : bits),
      width_(best_width(parts_ * terms, bits_)),
      windows_(recoding::signed_digit_count(bits_, width_)),
      buckets_(std::size_t{1} << (width_ - 1)),
      together_(std::clamp(kTogether / (parts_ * terms), std::size_t{1}, windows_)),
      block_(curve, calls, constants, kPairVectors, calls.sums.scratch_bytes) {
  const std::size_t vector_words = kPairVectors * calls.lanes;
  const std::size_t point_rows = (terms + vector_words - 1) / vector_words * vector_words;
  image_rows_ = 1 + point_rows;
  bucket_rows_ = 1 + parts_ * point_rows;
  fold_rows_ = bucket_rows_ + windows_ * buckets_;
  work_rows_ = fold_rows_ + windows_ * buckets_;
  // Whole vectors of sums are written.
  const std::size_t rows =
      work_rows_ + std::max(together_ * parts_ * terms, windows_ * buckets_) + calls.lanes;
  constexpr std::size_t kAlignment = 64 / sizeof(Limb);
  memory_ = std::make_unique_for_overwrite<Limb[]>(rows * calls.sums.row_words + kAlignment);
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.get()) / sizeof(Limb);
  rows_ = memory_.get() + (kAlignment - address % kAlignment) % kAlignment;
  std::fill_n(rows_, calls.sums.row_words, Limb{0});
  rows_[0] = kInfinityWord;
  sums_.resize(windows_ * buckets_);
}

bool BucketSums::compute(const PointResults& r, const NumberRows& k, const PointRows& points, ItemRange items,
                         const StopToken& stop) {
  write_points(points, items);
  if (parts_ == 2) split_scalars(k, items);
  for (std::size_t window = 0; window < windows_; window += together_) {
    if (!fill_buckets(k, items, window, std::min(together_, windows_ - window), stop)) return false;
  }
  if (!fold(stop)) return false;
  std::vector<RowReference> bits(windows_ * width_, kInfinity);
  for (std::size_t window = 0; window < windows_; ++window) {
    for (std::size_t bit = 0; bit + 1 < width_; ++bit) {
      bits[window * width_ + bit] = group_sum(window * (width_ - 1) + bit);
    }
  }
  block_.set_items(ItemRange{0, 1}, 0, 1);
  calls_.sums.sum_by_bits(block_.operands(), rows_, bits.data(), bits.size());
  block_.store(r);
  return true;
}

void BucketSums::write_points(const PointRows& points, ItemRange items) {
  const std::size_t most = kPairVectors * calls_.lanes;
  for (std::size_t done = 0; done < items.size(); done += most) {
    block_.set_items(items, done, std::min(most, items.size() - done));
    block_.load_points(points);
    const std::size_t words = calls_.sums.row_words;
    calls_.sums.write_rows(block_.operands(), rows_ + (1 + done) * words,
                           rows_ + (image_rows_ + done) * words);
  }
}

void BucketSums::split_scalars(const NumberRows& k, ItemRange items) {
  const std::size_t count = items.size();
  halves_.resize(2 * count * kHalfLimbs);
  negative_.resize(2 * count);
  const std::span<Limb> halves(halves_);
  for (std::size_t i = 0; i < count; ++i) {
    SignedScalar first{halves.subspan(i * kHalfLimbs, kHalfLimbs), 0};
    SignedScalar second{halves.subspan((count + i) * kHalfLimbs, kHalfLimbs), 0};
    split(first, second, std::span<const Limb, 4>(k[items.begin + i], 4));
    negative_[i] = first.negative & 1;
    negative_[count + i] = second.negative & 1;
  }
}

/// Term `index` of the parts_ items.size() terms.
BucketSums::Term BucketSums::term(const NumberRows& k, ItemRange items, std::size_t index) const {
  if (parts_ == 1) return {{k[items.begin + index], curve_.scalar_limbs()}, 0, 1 + index};
  const std::size_t count = items.size();
  return {std::span(halves_).subspan(index * kHalfLimbs, kHalfLimbs), negative_[index],
          index < count ? 1 + index : image_rows_ + index - count};
}

/// Writes the sums of left_ and right_ to the rows from first_row on, forgets both, and returns the row
/// after.
std::size_t BucketSums::add_pairs(std::size_t first_row) {
  const std::size_t count = left_.size();
  left_.resize((count + calls_.lanes - 1) / calls_.lanes * calls_.lanes, kInfinity);
  right_.resize(left_.size(), kInfinity);
  calls_.sums.add_rows(block_.operands(), rows_, left_.data(), right_.data(), count, first_row);
  left_.clear();
  right_.clear();
  return first_row + count;
}

/// Adds up each of groups_, with sums in the rows from first_row on: one point is left of each, or none.
bool BucketSums::reduce(std::size_t first_row, const StopToken& stop) {
  for (;;) {
    std::size_t to = 0;
    auto& references = groups_.references;
    for (std::size_t group = 0; group + 1 < groups_.begin.size(); ++group) {
      std::size_t from = groups_.begin[group];
      groups_.begin[group] = to;
      for (; from + 1 < groups_.begin[group + 1]; from += 2) {
        const std::size_t sum = first_row + left_.size();
        left_.push_back(references[from]);
        right_.push_back(references[from + 1]);
        references[to++] = reference_to(sum);
      }
      if (from < groups_.begin[group + 1]) references[to++] = references[from];
    }
    groups_.begin.back() = to;
    if (left_.empty()) return true;
    if (stop.requested_now()) return false;
    first_row = add_pairs(first_row);
  }
}

RowReference BucketSums::group_sum(std::size_t group) const {
  const std::size_t at = groups_.begin[group];
  return at < groups_.begin[group + 1] ? groups_.references[at] : kInfinity;
}

/// The sums of the buckets of windows [first, first + count).
bool BucketSums::fill_buckets(const NumberRows& k, ItemRange items, std::size_t first, std::size_t count,
                              const StopToken& stop) {
  const std::size_t terms = parts_ * items.size(), groups = count * buckets_;
  digits_.resize(count * terms);
  // begin[g + 1] counts the points of group g, and then moves from where it begins to where it ends.
  groups_.begin.assign(groups + 2, 0);
  for (std::size_t i = 0; i < terms; ++i) {
    const Term part = term(k, items, i);
    const recoding::LimbBits scalar(part.scalar);
    for (std::size_t window = 0; window < count; ++window) {
      const auto digit = recoding::signed_digit(scalar, width_, static_cast<unsigned>(first + window));
      digits_[window * terms + i] =
          2 * digit.magnitude + (digit.negative ^ static_cast<unsigned>(part.negative));
      if (digit.magnitude != 0) ++groups_.begin[window * buckets_ + digit.magnitude + 1];
    }
  }
  for (std::size_t group = 0; group < groups; ++group) groups_.begin[group + 2] += groups_.begin[group + 1];
  groups_.references.resize(groups_.begin[groups + 1]);
  for (std::size_t window = 0; window < count; ++window) {
    for (std::size_t i = 0; i < terms; ++i) {
      const RowReference digit = digits_[window * terms + i];
      if (digit < 2) continue;
      std::size_t& next = groups_.begin[window * buckets_ + digit / 2];
      groups_.references[next++] = reference_to(term(k, items, i).row) | (digit & 1);
    }
  }
  groups_.begin.pop_back();
  if (!reduce(work_rows_, stop)) return false;
  // Rows of sums are used again by the next windows.
  for (std::size_t group = 0; group < groups; ++group) {
    RowReference& sum = sums_[first * buckets_ + group];
    sum = group_sum(group);
    if (sum / 2 < bucket_rows_) continue;
    const std::size_t row = bucket_rows_ + first * buckets_ + group, words = calls_.sums.row_words;
    std::copy_n(rows_ + sum / 2 * words, words, rows_ + row * words);
    sum = reference_to(row) | (sum & 1);
  }
  return true;
}

/// Leaves the sum of bit i of window w in group w (width - 1) + i.
bool BucketSums::fold(const StopToken& stop) {
  const std::size_t bits = width_ - 1;
  std::vector<std::vector<RowReference>> upper(windows_ * bits);
  std::size_t row = fold_rows_;
  for (std::size_t bit = bits; bit-- > 0;) {
    const std::size_t half = std::size_t{1} << bit;
    for (std::size_t window = 0; window < windows_; ++window) {
      RowReference* const sum = &sums_[window * buckets_];
      upper[window * bits + bit].assign(sum + half, sum + 2 * half);
      for (std::size_t j = 0; j < half; ++j) {
        left_.push_back(sum[j]);
        right_.push_back(sum[j + half]);
        sum[j] = reference_to(row + left_.size() - 1);
      }
    }
    if (stop.requested_now()) return false;
    row = add_pairs(row);
  }
  groups_.references.clear();
  groups_.begin.assign(1, 0);
  for (std::size_t group = 0; group < upper.size(); ++group) {
    groups_.references.insert(groups_.references.end(), upper[group].begin(), upper[group].end());
    // The sum of all buckets counts once.
    if (group % bits == 0) groups_.references.push_back(sums_[group / bits * buckets_]);
    groups_.begin.push_back(groups_.references.size());
  }
  return reduce(work_rows_, stop);
}

}  // namespace manymod::ecc::lanes
