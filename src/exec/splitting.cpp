// SPDX-License-Identifier: Apache-2.0
#include "exec/splitting.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

#include "core/all_zero.hpp"

namespace manymod {
namespace {

// Estimates are off by tens of percent, so they override a measured choice only for a clear gain.
constexpr double kClearGain = 0.8;

bool none_negative(const BatchView& view) {
  return view.negative == nullptr || all_zero(std::span<const std::uint8_t>(view.negative, view.count));
}

Bucket part_of(const Bucket& bucket, std::size_t begin, std::size_t count, std::size_t engine) {
  Bucket part = bucket;
  part.items = bucket.items.subspan(begin, count);
  if (!bucket.exponent_bits.empty()) part.exponent_bits = bucket.exponent_bits.subspan(begin, count);
  part.engine = engine;
  return part;
}

class Splitter {
 public:
  Splitter(const EngineSet& engines, const Job& job, unsigned threads,
           std::optional<std::size_t> fixed_base_engine)
      : engines_(engines),
        job_(job),
        threads_(threads),
        fixed_base_engine_(fixed_base_engine),
        same_signs_(!has_exponent(job.op) || job.y.broadcast() || none_negative(job.y)) {}

  void add(const Bucket& bucket) {
    const std::size_t accepted = count_accepted_prefix(bucket);
    if (accepted == bucket.items.size()) return split_by_count(bucket);
    if (accepted == 0 && same_for_all(bucket)) {
      split_.buckets.push_back(
          part_of(bucket, 0, bucket.items.size(), accepting_engine(bucket, bucket.items[0])));
      return;
    }
    split_by_acceptance(bucket);
  }

  SplitBatch finish() { return std::move(split_); }

 private:
  // Whether all items have the parity and signs of the first one.
  [[nodiscard]] bool same_for_all(const Bucket& bucket) const {
    return same_signs_ && (bucket.all_odd || job_.modulus.broadcast());
  }

  // Whether each engine that may become the choice for some number of items accepts the item.
  [[nodiscard]] bool accepted(std::size_t item) const {
    if (fixed_base_engine_) return engines_.accepts(*fixed_base_engine_, job_, item);
    for (std::size_t index = 0; index < engines_.size(); ++index) {
      const EngineChoice& choice = engines_[index];
      if (choice.min_items == kFallbackOnly || choice.accepts_every_item) continue;
      if (!choice.placement.accepts(job_, item)) return false;
    }
    return true;
  }

  // The engine for an item that some engines do not accept. The bucket's size approximates the number of such
  // items.
  [[nodiscard]] std::size_t accepting_engine(const Bucket& bucket, std::size_t item) const {
    return engines_.accepting(job_, item, bucket.items.size());
  }

  [[nodiscard]] std::size_t count_accepted_prefix(const Bucket& bucket) const {
    const std::size_t count = bucket.items.size();
    if (engines_.accepts_every_item()) return count;
    if (same_for_all(bucket)) return accepted(bucket.items[0]) ? count : 0;
    std::size_t prefix = 0;
    while (prefix < count && accepted(bucket.items[prefix])) ++prefix;
    return prefix;
  }

  // Partition the items, in their order: those that all engines accept, and for each engine those of the
  // others that it is the first to accept.
  void split_by_acceptance(const Bucket& bucket) {
    constexpr std::size_t kByCount = SIZE_MAX;
    const std::size_t count = bucket.items.size();
    std::vector<std::size_t> accepting_engines(count);
    std::transform(
        bucket.items.begin(), bucket.items.end(), accepting_engines.begin(),
        [&](std::size_t item) { return accepted(item) ? kByCount : accepting_engine(bucket, item); });
    const Bucket sorted = with_own_storage(bucket);
    std::size_t* items = split_.item_storage.back().get();
    std::uint32_t* bits = bucket.exponent_bits.empty() ? nullptr : split_.exponent_storage.back().get();
    std::size_t end = 0;
    const auto gather = [&](std::size_t wanted) {
      const std::size_t begin = end;
      for (std::size_t i = 0; i < count; ++i) {
        if (accepting_engines[i] != wanted) continue;
        items[end] = bucket.items[i];
        if (bits != nullptr) bits[end] = bucket.exponent_bits[i];
        ++end;
      }
      return part_of(sorted, begin, end - begin, wanted);
    };
    Bucket many = gather(kByCount);
    if (!many.items.empty()) split_by_count(many);
    for (std::size_t engine = 0; engine < engines_.size(); ++engine) {
      Bucket part = gather(engine);
      if (!part.items.empty()) split_.buckets.push_back(part);
    }
  }

  Bucket with_own_storage(const Bucket& bucket) {
    Bucket own = bucket;
    const std::size_t count = bucket.items.size();
    split_.item_storage.push_back(std::make_unique<std::size_t[]>(count));
    own.items = std::span<const std::size_t>(split_.item_storage.back().get(), count);
    if (!bucket.exponent_bits.empty()) {
      split_.exponent_storage.push_back(std::make_unique<std::uint32_t[]>(count));
      own.exponent_bits = {split_.exponent_storage.back().get(), count};
    }
    return own;
  }

  void split_by_count(const Bucket& bucket) {
    const std::size_t count = bucket.items.size();
    if (fixed_base_engine_) {
      split_.buckets.push_back(part_of(bucket, 0, count, *fixed_base_engine_));
      return;
    }
    const std::size_t measured = engines_.for_items(count);
    const std::size_t engine = best_on_threads(bucket, measured);
    if (engine != measured) {
      split_.buckets.push_back(part_of(bucket, 0, count, engine));
      return;
    }
    const std::size_t first_part = split_.buckets.size();
    for (std::size_t begin = 0; begin < count;) {
      const std::size_t rest = count - begin;
      const std::size_t choice = engines_.for_items(rest);
      const std::size_t lanes = engines_[choice].lanes;
      const std::size_t taken = rest >= lanes ? rest / lanes * lanes : rest;
      if (split_.buckets.size() > first_part && split_.buckets.back().engine == choice) {
        const std::size_t before = split_.buckets.back().items.size();
        split_.buckets.back() = part_of(bucket, begin - before, before + taken, choice);
      } else {
        split_.buckets.push_back(part_of(bucket, begin, taken, choice));
      }
      begin += taken;
    }
  }

  [[nodiscard]] std::size_t best_on_threads(const Bucket& bucket, std::size_t measured) const {
    if (threads_ <= 1 || engines_.size() == 1 || engines_[measured].gpus() > 0) return measured;
    if (bucket.items.size() / engines_[measured].lanes >= threads_) return measured;
    std::size_t best = measured;
    double best_ns = time_on_threads(bucket, measured) * kClearGain;
    for (std::size_t engine = 0; engine < engines_.size(); ++engine) {
      if (engine == measured || engines_[engine].gpus() > 0 || engines_[engine].min_items == kFallbackOnly)
        continue;
      const double ns = time_on_threads(bucket, engine);
      if (ns >= best_ns) continue;
      best = engine;
      best_ns = ns;
    }
    return best;
  }

  [[nodiscard]] double time_on_threads(const Bucket& bucket, std::size_t engine) const {
    Job sized = job_;
    sized.y.width = bucket.exponent_limbs;
    const std::size_t lanes = engines_[engine].lanes;
    const std::size_t vectors = (bucket.items.size() + lanes - 1) / lanes;
    const std::size_t turns = (vectors + threads_ - 1) / threads_;
    return static_cast<double>(turns * lanes) * engines_[engine].placement.item_cost_ns(sized, bucket.limbs);
  }

  const EngineSet& engines_;
  const Job& job_;
  unsigned threads_;
  std::optional<std::size_t> fixed_base_engine_;
  // Whether all exponents have the same sign, the only one that decides whether an engine accepts an item.
  bool same_signs_;
  SplitBatch split_;
};

}  // namespace

SplitBatch split_by_engine(const EngineSet& engines, const Job& job, std::span<const Bucket> buckets,
                           unsigned threads, std::optional<std::size_t> fixed_base_engine) {
  Splitter splitter(engines, job, threads, fixed_base_engine);
  for (const Bucket& bucket : buckets) splitter.add(bucket);
  return splitter.finish();
}

}  // namespace manymod
