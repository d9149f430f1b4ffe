// SPDX-License-Identifier: Apache-2.0
#include "rsa/public_operation.hpp"

#include <algorithm>
#include <array>

#include "gpu/program/programs.hpp"
#include "modexp/windows.hpp"
#include "rsa/exponent_groups.hpp"
#include "rsa/ring_devices.hpp"

namespace manymod::rsa {
namespace {

const PreparedPower& modulo_n(const RingKey& key, TimingClass timing) {
  return timing == TimingClass::secret ? key.secret() : key.open();
}

bool same_exponent(const KeyRun& x, const KeyRun& y) {
  return std::ranges::equal(x.key->key().e(), y.key->key().e());
}

std::size_t rows_of(std::span<const KeyRun> runs) {
  std::size_t rows = 0;
  for (const KeyRun& run : runs) rows += run.size();
  return rows;
}

class PublicOperation {
 public:
  PublicOperation(const Rows& rows, std::span<const Limb> numbers, std::span<Limb> powers,
                  const PublicSettings& settings, const ProgressPart& progress)
      : rows_(rows), numbers_(numbers), powers_(powers), settings_(settings), progress_(progress) {}

  bool run() {
    std::vector<KeyRun> pooled;
    for (const KeyRun& run : rows_.runs) {
      if (!modulo_n(*run.key, settings_.timing)
               .engines.worth_sharing(run.size(), rows_.count(), 1, settings_.threads)) {
        pooled.push_back(run);
      } else if (!with_one_modulus(run)) {
        return false;
      }
    }
    for (const std::span<const KeyRun> group : group_by_exponent(pooled, exponent_less)) {
      if (!with_a_modulus_each(group)) return false;
    }
    return true;
  }

 private:
  const Rows& rows_;
  std::span<const Limb> numbers_;
  std::span<Limb> powers_;
  const PublicSettings& settings_;
  const ProgressPart& progress_;
  std::size_t done_ = 0;

  bool compute(const PowerEngines& engines, const PowerBatch& batch) {
    const auto all = static_cast<double>(rows_.count());
    const ProgressPart part =
        progress_.part(static_cast<double>(done_) / all, static_cast<double>(batch.rows.size()) / all);
    done_ += batch.rows.size();
    return compute_powers(engines, batch, settings_.threads, part);
  }

  bool with_one_modulus(const KeyRun& run) {
    const std::vector<std::size_t> items = all_rows(run.size());
    const PreparedPower& prepared = modulo_n(*run.key, settings_.timing);
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

  // The rows are copied to arrays of their own, so that the work does not depend on how many rows of other
  // exponents there are.
  bool with_a_modulus_each(std::span<const KeyRun> runs) {
    const std::size_t limbs = rows_.limbs;
    const std::size_t count = rows_of(runs);
    limbs::Buffer numbers(count * limbs);
    limbs::Buffer moduli(count * limbs);
    limbs::Buffer powers(count * limbs);
    std::size_t at = 0;
    for (const KeyRun& run : runs) {
      std::copy_n(numbers_.data() + run.begin * limbs, run.size() * limbs, numbers.data() + at * limbs);
      // If a fault prevents a power, its output keeps the caller's kNoPower bytes.
      std::copy_n(powers_.data() + run.begin * limbs, run.size() * limbs, powers.data() + at * limbs);
      for (std::size_t row = 0; row < run.size(); ++row, ++at) {
        limbs::copy_extend(moduli.part(at * limbs, limbs), run.key->key().n());
      }
    }
    const std::vector<std::size_t> items = all_rows(count);
    PowerBatch batch;
    batch.x = {numbers.data(), count, limbs, limbs, nullptr};
    batch.result = {powers.data(), count, limbs, limbs, nullptr};
    batch.y = one(runs.front().key->key().e());
    batch.modulus = {moduli.data(), count, limbs, limbs, nullptr};
    batch.public_exponent = true;
    batch.limbs = limbs;
    batch.rows = items;
    if (!compute(modulo_n(*runs.front().key, settings_.timing).engines, batch)) return false;
    at = 0;
    for (const KeyRun& run : runs) {
      std::copy_n(powers.data() + at * limbs, run.size() * limbs, powers_.data() + run.begin * limbs);
      at += run.size();
    }
    return true;
  }
};

/// A view of one number of each row's key: a single number if there is one key, else all of them in
/// `storage`.
template <class NumberOf>
BatchView of_keys(const Rows& rows, limbs::Buffer& storage, const NumberOf& number_of) {
  if (rows.runs.size() == 1) return one(number_of(*rows.runs.front().key));
  storage = limbs::Buffer(rows.count() * rows.limbs);
  for (const KeyRun& run : rows.runs) {
    const std::span<const Limb> number = number_of(*run.key);
    for (std::size_t row = run.begin; row < run.end; ++row) {
      limbs::copy_extend(storage.part(row * rows.limbs, rows.limbs), number);
    }
  }
  return rows.view(storage.first(storage.size()));
}

void raise_to_public_on(const PowerGpu& gpu, const Rows& rows, std::span<const Limb> numbers,
                        std::span<Limb> powers, const PublicSettings& settings) {
  const gpu::ProgramRunner& products = settings.devices->products(gpu, rows.limbs);
  limbs::Buffer all_moduli;
  limbs::Buffer all_scales;
  const BatchView moduli = of_keys(rows, all_moduli, [](const RingKey& key) { return key.key().n(); });
  const BatchView scales = of_keys(
      rows, all_scales, [&](const RingKey& key) { return key.scale_on_device(products.radix_limbs()); });
  const SlidingSchedule schedule = best_sliding_schedule(rows.runs.front().key->key().e());
  const std::array operands{rows.view(numbers), scales};
  products.run(gpu::scaled_power_program(schedule), settings.timing, moduli, operands,
               {powers.data(), rows.count(), rows.limbs, rows.limbs, nullptr});
}

}  // namespace

bool raise_to_public(const Rows& rows, std::span<const Limb> numbers, std::span<Limb> powers,
                     const PublicSettings& settings, const ProgressPart& progress) {
  const KeyRun& first = rows.runs.front();
  const auto has_exponent_of_first = [&](const KeyRun& run) { return same_exponent(run, first); };
  if (RingDevices::holds(rows.limbs) && std::ranges::all_of(rows.runs, has_exponent_of_first)) {
    bool completed = false;
    const auto attempt = [&](const PowerGpu& gpu) {
      completed = !progress.observed() || !progress.wants_stop(0);
      if (completed) raise_to_public_on(gpu, rows, numbers, powers, settings);
    };
    const PowerEngines& engines = modulo_n(*first.key, settings.timing).engines;
    if (engines.run_on_gpu(rows.count(), first.key->key().e().size(), attempt)) return completed;
  }
  return PublicOperation(rows, numbers, powers, settings, progress).run();
}

}  // namespace manymod::rsa
