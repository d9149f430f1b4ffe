// SPDX-License-Identifier: Apache-2.0
#include "rsa/public_operation.hpp"

#include <algorithm>
#include <array>

#include "gpu/program/programs.hpp"
#include "modexp/windows.hpp"
#include "rsa/device_arrays.hpp"
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

/// One attempt to compute the rows on a GPU, in a workspace. Exponents of all keys are equal.
class PublicOnDevice {
 public:
  PublicOnDevice(const Rows& rows, const gpu::ProgramRunner& products, gpu::Workspace& workspace,
                 TimingClass timing)
      : rows_(rows),
        products_(products),
        workspace_(workspace),
        arrays_(rows, workspace),
        timing_(timing),
        one_key_(rows.runs.size() == 1) {
    lay_out();
  }

  void run(std::span<const Limb> numbers, std::span<Limb> powers) {
    arrays_.copy_in(numbers_, numbers);
    if (!one_key_) bring_keys();
    const SlidingSchedule schedule = best_sliding_schedule(first_key().key().e());
    const std::array operands{arrays_.view(numbers_), arrays_.view(scale_)};
    gpu::Workspace& program = workspace_.beside(0);
    products_.queue(gpu::scaled_power_program(schedule), timing_, arrays_.view(n_), operands,
                    arrays_.result(powers_), program);
    arrays_.copy_out(powers, powers_);
    workspace_.done().record(workspace_.stream());
    if (timing_ == TimingClass::secret) arrays_.wipe();
    workspace_.done().wait();
    if (timing_ == TimingClass::secret) program.wipe_upload();
  }

 private:
  const Rows& rows_;
  const gpu::ProgramRunner& products_;
  gpu::Workspace& workspace_;
  DeviceArrays arrays_;
  TimingClass timing_;
  bool one_key_;
  DeviceArrays::Array runs_, numbers_, powers_;
  DeviceArrays::KeyNumber n_, scale_;

  [[nodiscard]] const RingKey& first_key() const { return *rows_.runs.front().key; }
  [[nodiscard]] std::span<const Limb> scale(const RingKey& key) const {
    return key.scale_on_device(products_.radix_limbs());
  }

  void lay_out() {
    if (!one_key_) runs_ = arrays_.add_uploaded(rows_.count(), 1);
    n_ = arrays_.add_of_key(first_key().key().n(), one_key_);
    scale_ = arrays_.add_of_key(scale(first_key()), one_key_);
    arrays_.add_each(n_);
    arrays_.add_each(scale_);
    numbers_ = arrays_.add(rows_.count(), rows_.limbs);
    powers_ = arrays_.add(rows_.count(), rows_.limbs);
    arrays_.allocate();
  }

  void bring_keys() const {
    arrays_.put_runs(runs_);
    for (std::size_t run = 0; run < rows_.runs.size(); ++run) {
      const RingKey& key = *rows_.runs[run].key;
      arrays_.put(n_.once, run, key.key().n());
      arrays_.put(scale_.once, run, scale(key));
    }
    arrays_.upload();
    arrays_.gather(n_.once, runs_, n_.each);
    arrays_.gather(scale_.once, runs_, scale_.each);
  }
};

void raise_to_public_on(const PowerGpu& gpu, const Rows& rows, std::span<const Limb> numbers,
                        std::span<Limb> powers, const PublicSettings& settings) {
  const gpu::ProgramRunner& products = settings.devices->products(gpu, rows.limbs);
  settings.devices->workspaces(gpu).lend([&](gpu::Workspace& workspace) {
    PublicOnDevice(rows, products, workspace, settings.timing).run(numbers, powers);
  });
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
