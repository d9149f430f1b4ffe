// SPDX-License-Identifier: Apache-2.0
#include "rsa/public_operation.hpp"

#include <algorithm>

namespace manymod::rsa {
namespace {

const PreparedPower& modulo_n(const RingKey& key, TimingClass timing) {
  return timing == TimingClass::secret ? key.secret() : key.open();
}

bool same_exponent(const KeyRun& x, const KeyRun& y) {
  return std::ranges::equal(x.key->key().e(), y.key->key().e());
}

BatchView one(std::span<const Limb> number) {
  return {number.data(), 1, number.size(), number.size(), nullptr};
}

class PublicOperation {
 public:
  PublicOperation(const Rows& rows, const limbs::Buffer& numbers, limbs::Buffer& powers, TimingClass timing,
                  unsigned threads, const ProgressPart& progress)
      : rows_(rows),
        numbers_(numbers),
        powers_(powers),
        timing_(timing),
        threads_(threads),
        progress_(progress) {}

  bool run() {
    std::vector<KeyRun> pooled;
    for (const KeyRun& run : rows_.runs) {
      if (!modulo_n(*run.key, timing_).engines.worth_sharing(run.size(), rows_.count(), threads_)) {
        pooled.push_back(run);
      } else if (!with_one_modulus(run)) {
        return false;
      }
    }
    while (!pooled.empty()) {
      const KeyRun first = pooled.front();
      const auto others = std::partition(pooled.begin(), pooled.end(),
                                         [&](const KeyRun& run) { return same_exponent(run, first); });
      if (!with_a_modulus_each(std::span(pooled.begin(), others))) return false;
      pooled.erase(pooled.begin(), others);
    }
    return true;
  }

 private:
  const Rows& rows_;
  const limbs::Buffer& numbers_;
  limbs::Buffer& powers_;
  TimingClass timing_;
  unsigned threads_;
  const ProgressPart& progress_;
  std::size_t done_ = 0;

  bool compute(const PowerEngines& engines, const PowerBatch& batch) {
    const auto all = static_cast<double>(rows_.count());
    const ProgressPart part =
        progress_.part(static_cast<double>(done_) / all, static_cast<double>(batch.rows.size()) / all);
    done_ += batch.rows.size();
    return compute_powers(engines, batch, threads_, part);
  }

  bool with_one_modulus(const KeyRun& run) {
    const std::vector<std::size_t> items = all_rows(run.size());
    const PreparedPower& prepared = modulo_n(*run.key, timing_);
    const std::size_t limbs = rows_.limbs;
    PowerBatch batch;
    batch.x = {numbers_.data() + run.begin * limbs, run.size(), limbs, limbs, nullptr};
    batch.result = {powers_.data() + run.begin * limbs, run.size(), limbs, limbs, nullptr};
    batch.y = one(run.key->key().e());
    batch.modulus = one(run.key->key().n());
    batch.public_exponent = true;
    batch.limbs = limbs;
    batch.rows = items;
    batch.shared = &prepared.moduli;
    return compute(prepared.engines, batch);
  }

  bool with_a_modulus_each(std::span<const KeyRun> runs) {
    const std::size_t limbs = rows_.limbs;
    limbs::Buffer moduli(rows_.count() * limbs);
    std::vector<std::size_t> items;
    for (const KeyRun& run : runs) {
      for (std::size_t row = run.begin; row < run.end; ++row) {
        limbs::copy_extend(moduli.part(row * limbs, limbs), run.key->key().n());
        items.push_back(row);
      }
    }
    PowerBatch batch;
    batch.x = rows_.view(numbers_);
    batch.result = {powers_.data(), rows_.count(), limbs, limbs, nullptr};
    batch.y = one(runs.front().key->key().e());
    batch.modulus = rows_.view(moduli);
    batch.public_exponent = true;
    batch.limbs = limbs;
    batch.rows = items;
    return compute(modulo_n(*runs.front().key, timing_).engines, batch);
  }
};

}  // namespace

bool raise_to_public(const Rows& rows, const limbs::Buffer& numbers, limbs::Buffer& powers,
                     TimingClass timing, unsigned threads, const ProgressPart& progress) {
  return PublicOperation(rows, numbers, powers, timing, threads, progress).run();
}

}  // namespace manymod::rsa
