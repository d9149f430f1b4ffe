// SPDX-License-Identifier: Apache-2.0
#include "rsa/public_operation.hpp"

#include <algorithm>
#include <array>

#include "gpu/device_error.hpp"
#include "gpu/program/programs.hpp"
#include "modexp/windows.hpp"
#include "rsa/ring_devices.hpp"

namespace manymod::rsa {
namespace {

const PreparedPower& modulo_n(const RingKey& key, TimingClass timing) {
  return timing == TimingClass::secret ? key.secret() : key.open();
}

bool same_exponent(const KeyRun& x, const KeyRun& y) {
  return std::ranges::equal(x.key->key().e(), y.key->key().e());
}

class PublicOperation {
 public:
  PublicOperation(const Rows& rows, const limbs::Buffer& numbers, limbs::Buffer& powers,
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
    return compute(modulo_n(*runs.front().key, settings_.timing).engines, batch);
  }
};

/// A number of each row's key: one, or in `storage` all.
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
  return rows.view(storage);
}

void raise_to_public_on(const GpuPower& gpu, const Rows& rows, const limbs::Buffer& numbers,
                        limbs::Buffer& powers, const PublicSettings& settings) {
  const gpu::ProgramRunner& products = settings.devices->products(gpu.device, rows.limbs);
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

bool raise_to_public(const Rows& rows, const limbs::Buffer& numbers, limbs::Buffer& powers,
                     const PublicSettings& settings, const ProgressPart& progress) {
  const KeyRun& first = rows.runs.front();
  if (std::ranges::all_of(rows.runs, [&](const KeyRun& run) { return same_exponent(run, first); })) {
    const PowersPlace place(modulo_n(*first.key, settings.timing).engines, rows.count(),
                            first.key->key().e().size());
    try {
      if (place.gpu() != nullptr) {
        if (progress.caller.callback != nullptr && progress.wants_stop(0)) return false;
        raise_to_public_on(*place.gpu(), rows, numbers, powers, settings);
        return true;
      }
    } catch (const gpu::DeviceError&) {  // NOLINT(bugprone-empty-catch): the ring's engines go on
    }
  }
  return PublicOperation(rows, numbers, powers, settings, progress).run();
}

}  // namespace manymod::rsa
