// SPDX-License-Identifier: Apache-2.0
#include "rsa/device_operation.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "cuda/memory.hpp"
#include "dispatch/device_facts.hpp"
#include "modexp/windows.hpp"
#include "modmul/device/launch.hpp"
#include "repr/wipe.hpp"
#include "rsa/parallel.hpp"
#include "rsa/ring_devices.hpp"

namespace manymod::rsa {
namespace {

// Shares of the time, roughly.
constexpr double kBlindingShare = 0.1;
constexpr double kPowersEnd = 0.9;
// Drawing a row's blinding pair: two squarings modulo n of so many limbs, roughly.
double blinding_ns(std::size_t limbs) { return 3 * static_cast<double>(limbs * limbs); }

bool like_first(const Rows& rows, const Key& key) {
  const Key& first = rows.runs.front().key->key();
  return key.p().size() == first.p().size() && key.q().size() == first.p().size() &&
         std::ranges::equal(key.e(), first.e());
}

struct Products {
  const device::ProgramRunner& modulo_n;
  const device::ProgramRunner& modulo_p;
};

/// Rows of numbers somewhere in a buffer.
struct Array {
  std::size_t at = 0;
  std::size_t limbs = 0;
  std::size_t rows = 0;

  [[nodiscard]] std::size_t bytes() const { return rows * limbs * sizeof(Limb); }
};

/// A number of keys: where the rows are of one key, the key's own on the host; or of each row.
struct KeyArray {
  std::span<const Limb> shared;
  Array each;
};

/// Blinding pairs of all rows: the factor of each, then the inverse of each.
bool draw_pairs(const Rows& rows, limbs::Buffer& pairs, unsigned threads, const ProgressPart& progress) {
  const std::size_t limbs = rows.limbs;
  Limb* const factors = pairs.data();
  Limb* const inverses = factors + rows.count() * limbs;
  return for_rows(threads, rows.count(), blinding_ns(limbs), progress,
                  [&](std::size_t begin, std::size_t end, const StopToken& stop) {
                    for_runs(rows.runs, begin, end, [&](const KeyRun& run, std::size_t from, std::size_t to) {
                      const PrivateArithmetic& arithmetic = run.key->arithmetic();
                      limbs::Buffer scratch(arithmetic.scratch_limbs());
                      Blinder blinder(run.key->blinding(), arithmetic);
                      for (std::size_t row = from; row < to && !stop.requested(); ++row) {
                        const BlindingPair& pair = blinder.next(scratch.data());
                        std::copy_n(pair.factor.data(), limbs, factors + row * limbs);
                        std::copy_n(pair.inverse.data(), limbs, inverses + row * limbs);
                      }
                    });
                  });
}

/// One attempt, in a workspace.
class DeviceOperation {
 public:
  DeviceOperation(Rows& rows, const GpuPower& gpu, const Products& products, device::Workspace& workspace,
                  const limbs::Buffer& pairs, const PrivateSettings& settings, const ProgressPart& progress)
      : rows_(rows),
        gpu_(gpu),
        products_(products),
        workspace_(workspace),
        pairs_(pairs),
        settings_(settings),
        progress_(progress),
        count_(rows.count()),
        limbs_(rows.limbs),
        half_limbs_(first_key().key().p().size()),
        one_key_(rows.runs.size() == 1 && 2 * count_ >= gpu.engine->chunk_granularity(Job(), half_limbs_)) {
    lay_out();
  }

  /// Leaves what the public exponent makes of the results in `found`. @return false if stopped
  bool run(limbs::Buffer& found) {
    upload();
    blind();
    const bool done = raise_halves();
    if (done) {
      damage();
      combine();
      check();
      download(found);
    }
    cuda::set_bytes(workspace_.stream(), device_, 0, device_layout_.bytes());
    finish_copies();
    return done;
  }

 private:
  Rows& rows_;
  const GpuPower& gpu_;
  const Products& products_;
  device::Workspace& workspace_;
  const limbs::Buffer& pairs_;  ///< of each row the factor, then of each row the inverse
  const PrivateSettings& settings_;
  const ProgressPart& progress_;
  std::size_t count_, limbs_, half_limbs_;
  bool one_key_;  ///< and its two powers of each row fill the GPU

  // What is uploaded has the same place in the upload and at the beginning of the device's memory.
  device::Layout upload_layout_, device_layout_;
  Array numbers_, factors_, inverses_;
  KeyArray n_, blinding_scale_, check_scale_, qinv_;
  Array primes_;     ///< p and q of the key; or of each row p, then of each q
  Array exponents_;  ///< nothing; or of each row dp, then of each dq
  Array blinded_;    ///< of each row; and again, where each has its own key
  Array halves_;     ///< powers modulo p of all rows, then modulo q
  Array differences_, factors_of_q_, combined_, powers_, found_;
  std::byte* upload_ = nullptr;
  std::byte* device_ = nullptr;
  std::byte* download_ = nullptr;

  [[nodiscard]] const RingKey& first_key() const { return *rows_.runs.front().key; }
  [[nodiscard]] const DeviceKey& constants(const RingKey& key) const {
    return key.on_device(products_.modulo_n.radix_limbs(), products_.modulo_p.radix_limbs());
  }

  [[nodiscard]] std::span<const Limb> scale(const RingKey& key) const {
    return key.scale_on_device(products_.modulo_n.radix_limbs());
  }

  static Array add(device::Layout& layout, std::size_t rows, std::size_t limbs) {
    Array array{0, limbs, rows};
    array.at = layout.add(array.bytes());
    return array;
  }

  KeyArray add_of_key(std::span<const Limb> first) {
    if (one_key_) return {first, {}};
    return {{}, add(upload_layout_, count_, first.size())};
  }

  void lay_out() {
    const DeviceKey& key = constants(first_key());
    numbers_ = add(upload_layout_, count_, limbs_);
    if (settings_.blinding) {
      factors_ = add(upload_layout_, count_, limbs_);
      inverses_ = add(upload_layout_, count_, limbs_);
    }
    n_ = add_of_key(first_key().key().n());
    blinding_scale_ = add_of_key(key.blinding_scale());
    check_scale_ = add_of_key(scale(first_key()));
    qinv_ = add_of_key(key.qinv());
    primes_ = add(upload_layout_, one_key_ ? 2 : 2 * count_, half_limbs_);
    if (!one_key_) exponents_ = add(upload_layout_, 2 * count_, half_limbs_);
    device_layout_ = upload_layout_;
    blinded_ = add(device_layout_, one_key_ ? count_ : 2 * count_, limbs_);
    halves_ = add(device_layout_, 2 * count_, half_limbs_);
    differences_ = add(device_layout_, count_, half_limbs_);
    factors_of_q_ = add(device_layout_, count_, half_limbs_);
    combined_ = add(device_layout_, count_, limbs_);
    // Next to each other, as they come back.
    powers_ = add(device_layout_, count_, limbs_);
    found_ = add(device_layout_, count_, limbs_);
    upload_ = workspace_.upload(upload_layout_.bytes());
    device_ = workspace_.on_device(device_layout_.bytes());
    download_ = workspace_.download(returned_bytes());
  }

  [[nodiscard]] std::size_t returned_bytes() const { return found_.at + found_.bytes() - powers_.at; }

  // ---- arrays ----------------------------------------------------------------------------------------

  [[nodiscard]] Limb* on_device(const Array& array, std::size_t row = 0) const {
    return reinterpret_cast<Limb*>(device_ + array.at) + row * array.limbs;
  }
  [[nodiscard]] BatchView view(const Array& array, std::size_t first = 0, std::size_t rows = 0) const {
    if (rows == 0) rows = count_;
    return {on_device(array, first), rows, array.limbs, array.limbs, nullptr, true};
  }
  [[nodiscard]] BatchView view(const KeyArray& array) const {
    return array.shared.empty() ? view(array.each) : one(array.shared);
  }
  [[nodiscard]] BatchResult result(const Array& array, std::size_t first = 0, std::size_t rows = 0) const {
    if (rows == 0) rows = count_;
    return {on_device(array, first), rows, array.limbs, array.limbs, nullptr, true};
  }
  [[nodiscard]] static device::DeviceOperand words(const Limb* limbs, std::size_t width, std::size_t stride) {
    return {reinterpret_cast<const std::uint32_t*>(limbs), static_cast<std::uint32_t>(2 * width),
            static_cast<std::uint32_t>(2 * stride)};
  }
  [[nodiscard]] device::DeviceOperand words(const Array& array, std::size_t first = 0) const {
    return words(on_device(array, first), array.limbs, array.limbs);
  }

  // ---- steps -----------------------------------------------------------------------------------------

  void finish_copies() const {
    workspace_.done().record(workspace_.stream());
    workspace_.done().wait();
  }

  void put(const Array& array, std::size_t row, std::span<const Limb> number) const {
    const std::span<Limb> to(reinterpret_cast<Limb*>(upload_ + array.at) + row * array.limbs, array.limbs);
    limbs::copy_extend(to, number);
  }

  void upload() const {
    std::memcpy(upload_ + numbers_.at, rows_.numbers.data(), numbers_.bytes());
    if (settings_.blinding) {
      std::memcpy(upload_ + factors_.at, pairs_.data(), factors_.bytes());
      std::memcpy(upload_ + inverses_.at, pairs_.data() + count_ * limbs_, inverses_.bytes());
    }
    if (one_key_) {
      put(primes_, 0, first_key().key().p());
      put(primes_, 1, first_key().key().q());
    } else {
      put_keys();
    }
    cuda::copy_to_device(workspace_.stream(), device_, upload_, upload_layout_.bytes());
    finish_copies();
    wipe_bytes(upload_, upload_layout_.bytes());
  }

  void put_keys() const {
    for (const KeyRun& run : rows_.runs) {
      const Key& key = run.key->key();
      const DeviceKey& of_device = constants(*run.key);
      const std::span<const Limb> check_scale = scale(*run.key);
      for (std::size_t row = run.begin; row < run.end; ++row) {
        put(n_.each, row, key.n());
        put(blinding_scale_.each, row, of_device.blinding_scale());
        put(check_scale_.each, row, check_scale);
        put(qinv_.each, row, of_device.qinv());
        put(primes_, row, key.p());
        put(primes_, count_ + row, key.q());
        put(exponents_, row, key.dp());
        put(exponents_, count_ + row, key.dq());
      }
    }
  }

  void multiply_modulo_n(const BatchView& x, const Array& factor, const BatchResult& product) const {
    const std::array operands{x, view(factor), view(blinding_scale_)};
    products_.modulo_n.run(device::plain_product_program(3), TimingClass::secret, view(n_), operands,
                           product);
  }

  void blind() const {
    if (settings_.blinding) {
      multiply_modulo_n(view(numbers_), factors_, result(blinded_));
    } else {
      cuda::copy_on_device(workspace_.stream(), on_device(blinded_), on_device(numbers_), numbers_.bytes());
    }
    if (!one_key_) {
      cuda::copy_on_device(workspace_.stream(), on_device(blinded_, count_), on_device(blinded_),
                           numbers_.bytes());
    }
    finish_copies();
  }

  [[nodiscard]] bool goes_on(double share) const {
    return progress_.caller.callback == nullptr || !progress_.wants_stop(share);
  }

  // @return false if stopped
  [[nodiscard]] bool raise_halves() const {
    if (!goes_on(kBlindingShare)) return false;
    Job job;
    job.op = Operation::powmod;
    job.timing = TimingClass::secret;
    DeviceFacts facts;
    if (!one_key_) {
      facts.all_moduli = ModulusFact{static_cast<std::uint16_t>(half_limbs_), ModulusClass::compute, 1};
      job.facts = &facts;
      job.x = view(blinded_, 0, 2 * count_);
      job.y = view(exponents_, 0, 2 * count_);
      job.modulus = view(primes_, 0, 2 * count_);
      job.result = result(halves_, 0, 2 * count_);
      raise(job);
      return goes_on(kPowersEnd);
    }
    const RingKey& key = first_key();
    job.x = view(blinded_);
    job.y = one(key.key().dp());
    job.modulus = one(key.key().p());
    job.shared = key.p().on(gpu_);
    job.result = result(halves_);
    raise(job);
    if (!goes_on((kBlindingShare + kPowersEnd) / 2)) return false;
    job.y = one(key.key().dq());
    job.modulus = one(key.key().q());
    job.shared = key.q().on(gpu_);
    job.result = result(halves_, count_);
    raise(job);
    return goes_on(kPowersEnd);
  }

  void raise(Job& job) const {
    std::vector<ItemStatus> statuses(job.result.count, ItemStatus::not_computed);
    job.status = statuses.data();
    gpu_.engine->run(job, Items::run(0, job.result.count), half_limbs_);
  }

  /// For tests.
  void damage() const {
    if (settings_.fault_hook == nullptr) return;
    limbs::Buffer halves(2 * count_ * half_limbs_);
    const std::size_t half = count_ * half_limbs_;
    cuda::copy_to_host(workspace_.stream(), halves.data(), on_device(halves_), halves_.bytes());
    finish_copies();
    (*settings_.fault_hook)(FaultPoint::half_p, halves.part(0, half), half_limbs_);
    (*settings_.fault_hook)(FaultPoint::half_q, halves.part(half, half), half_limbs_);
    cuda::copy_to_device(workspace_.stream(), on_device(halves_), halves.data(), halves_.bytes());
    finish_copies();
  }

  /// Garner's formula, then the blinding taken off.
  void combine() {
    subtract();
    const std::array factors{view(differences_), view(qinv_)};
    const BatchView p = one_key_ ? one(first_key().key().p()) : view(primes_);
    products_.modulo_p.run(device::plain_product_program(2), TimingClass::secret, p, factors,
                           result(factors_of_q_));
    add_multiple_of_q();
    if (settings_.blinding) multiply_modulo_n(view(combined_), inverses_, result(powers_));
  }

  /// p (0) or q (1) of each row.
  [[nodiscard]] device::DeviceOperand prime(std::size_t which) const {
    return one_key_ ? words(on_device(primes_, which), half_limbs_, 0) : words(primes_, which * count_);
  }

  void subtract() const {
    device::GarnerDifferenceJob job;
    job.a = words(halves_);
    job.b = words(halves_, count_);
    job.p = prime(0);
    job.words = static_cast<std::uint32_t>(2 * half_limbs_);
    job.count = static_cast<std::uint32_t>(count_);
    job.result = reinterpret_cast<std::uint32_t*>(on_device(differences_));
    device::launch_difference(workspace_.stream(), job);
    finish_copies();
  }

  void add_multiple_of_q() const {
    device::GarnerSumJob job;
    job.b = words(halves_, count_);
    job.q = prime(1);
    job.h = words(factors_of_q_);
    job.words = static_cast<std::uint32_t>(2 * half_limbs_);
    job.count = static_cast<std::uint32_t>(count_);
    const Array& to = settings_.blinding ? combined_ : powers_;
    job.result = reinterpret_cast<std::uint32_t*>(on_device(to));
    job.result_words = static_cast<std::uint32_t>(2 * limbs_);
    device::launch_sum(workspace_.stream(), job);
    finish_copies();
  }

  void check() const {
    const SlidingSchedule schedule = best_sliding_schedule(first_key().key().e());
    const std::array operands{view(powers_), view(check_scale_)};
    products_.modulo_n.run(device::scaled_power_program(schedule), TimingClass::secret, view(n_), operands,
                           result(found_));
  }

  void download(limbs::Buffer& found) {
    cuda::copy_to_host(workspace_.stream(), download_, on_device(powers_), returned_bytes());
    finish_copies();
    std::memcpy(rows_.powers.data(), download_, powers_.bytes());
    std::memcpy(found.data(), download_ + (found_.at - powers_.at), found_.bytes());
    wipe_bytes(download_, returned_bytes());
  }
};

}  // namespace

bool suits_device(const Rows& rows) {
  return std::ranges::all_of(rows.runs, [&](const KeyRun& run) { return like_first(rows, run.key->key()); });
}

bool raise_to_private_on(const GpuPower& gpu, Rows& rows, std::span<std::uint8_t> wrong,
                         const PrivateSettings& settings, const ProgressPart& progress) {
  const std::size_t limbs = rows.limbs;
  const Products products{settings.devices->products(gpu.device, limbs),
                          settings.devices->products(gpu.device, rows.runs.front().key->key().p().size())};
  limbs::Buffer pairs(settings.blinding ? 2 * rows.count() * limbs : 0);
  if (settings.blinding && !draw_pairs(rows, pairs, settings.threads, progress.part(0, kBlindingShare))) {
    return false;
  }
  limbs::Buffer found(rows.count() * limbs);
  bool done = false;
  settings.devices->workspaces(gpu.device).lend([&](device::Workspace& workspace) {
    done = DeviceOperation(rows, gpu, products, workspace, pairs, settings, progress).run(found);
  });
  if (done) mark_wrong(rows, found, wrong);
  return done;
}

}  // namespace manymod::rsa
