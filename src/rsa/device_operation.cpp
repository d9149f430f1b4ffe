// SPDX-License-Identifier: Apache-2.0
#include "rsa/device_operation.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "engine/device_facts.hpp"
#include "exec/executor.hpp"
#include "gpu/buffer.hpp"
#include "gpu/engine/launch.hpp"
#include "gpu/engine/resident.hpp"
#include "modexp/windows.hpp"
#include "repr/wipe.hpp"
#include "rsa/device_arrays.hpp"
#include "rsa/grid_pairs.hpp"
#include "rsa/ring_devices.hpp"

namespace manymod::rsa {
namespace {

// Rough shares of the time.
constexpr double kBlindingEnd = 0.02;
constexpr double kPowersEnd = 0.9;
// Rough rate at which one thread compares and zeroes memory. Shorter work of that kind is not shared among
// threads: in a small batch, waiting for the last thread takes longer.
constexpr double kBytesPerNs = 10;
constexpr double kWorthThreadsNs = 2e5;
// From so many rows of one key on, the powers modulo p and those modulo q are two batches at the same time,
// each with constants of its prime that all items share. Fewer rows are one batch.
constexpr std::size_t kLeastOfHalf = 512;

// Whether a GPU can compute the rows of `key` together with those of the first key, see suits_device.
bool matches_first(const Rows& rows, const Key& key) {
  const Key& first = rows.runs.front().key->key();
  return key.primes() == 2 && key.p().size() == first.p().size() && key.q().size() == first.p().size() &&
         std::ranges::equal(key.e(), first.e());
}

struct Products {
  const gpu::ProgramRunner& modulo_n;
  const gpu::ProgramRunner& modulo_p;
};

using Array = DeviceArrays::Array;
using KeyNumber = DeviceArrays::KeyNumber;

/// Numbers of each key, uploaded once, and their copies for each row of the batch.
struct Gathered {
  Array once;
  Array each;
};

/// One attempt to compute the rows, in a workspace.
class DeviceOperation {
 public:
  DeviceOperation(Rows& rows, const PowerGpu& gpu, const Products& products, gpu::Workspace& workspace,
                  const GridPairs& pairs, const PrivateSettings& settings, const ProgressPart& progress)
      : rows_(rows),
        gpu_(gpu),
        products_(products),
        workspace_(workspace),
        arrays_(rows, workspace),
        pairs_(pairs),
        settings_(settings),
        progress_(progress),
        count_(rows.count()),
        limbs_(rows.limbs),
        half_limbs_(first_key().key().p().size()),
        one_key_(rows.runs.size() == 1 && count_ >= kLeastOfHalf) {
    lay_out();
  }

  /// See raise_to_private_on. @return false if stopped
  bool run(std::span<std::uint8_t> wrong) {
    upload();
    blind();
    const bool done = raise_halves();
    if (done) {
      damage_halves();
      combine();
      check();
      download();
    }
    workspace_.done().record(workspace_.stream());
    arrays_.wipe();
    workspace_.done().wait();
    wipe_uploads();
    if (done) compare(wrong);
    return done;
  }

 private:
  Rows& rows_;
  const PowerGpu& gpu_;
  const Products& products_;
  gpu::Workspace& workspace_;
  DeviceArrays arrays_;
  const GridPairs& pairs_;
  const PrivateSettings& settings_;
  const ProgressPart& progress_;
  std::size_t count_, limbs_, half_limbs_;
  bool one_key_;  ///< all rows have one key, and there are many of them

  Array numbers_;          ///< copied from the rows' own memory, as powers_ are copied to it
  Array columns_, lines_;  ///< of each row, the indices of its two pairs
  Array drawn_factors_, drawn_inverses_;
  std::array<Array, 2> factors_, inverses_;  ///< of each row, of its column's pair and of its line's pair
  Array runs_;                               ///< of each row, the index of its key's run
  KeyNumber n_, blinding_scale_, check_scale_, qinv_;
  Gathered p_, q_;    ///< `each`, if the rows have several keys, are contiguous
  Gathered dp_, dq_;  ///< empty if the rows have one key; `each` are contiguous
  Array blinded_;     ///< of each row; twice if the rows have several keys
  Array halves_;      ///< the powers modulo p of all rows, then those modulo q
  Array differences_, factors_of_q_, combined_, powers_, found_;
  std::byte* download_ = nullptr;

  [[nodiscard]] const RingKey& first_key() const { return *rows_.runs.front().key; }
  [[nodiscard]] const DeviceKey& constants(const RingKey& key) const {
    return key.on_device(products_.modulo_n.radix_limbs(), products_.modulo_p.radix_limbs());
  }

  [[nodiscard]] std::span<const Limb> scale(const RingKey& key) const {
    return key.scale_on_device(products_.modulo_n.radix_limbs());
  }

  void lay_out() {
    lay_out_upload();
    numbers_ = arrays_.add(count_, limbs_);
    if (settings_.blinding) {
      for (Array& array : factors_) array = arrays_.add(count_, limbs_);
      for (Array& array : inverses_) array = arrays_.add(count_, limbs_);
    }
    if (!one_key_) lay_out_keys();
    blinded_ = arrays_.add(one_key_ ? count_ : 2 * count_, limbs_);
    halves_ = arrays_.add(2 * count_, half_limbs_);
    differences_ = arrays_.add(count_, half_limbs_);
    factors_of_q_ = arrays_.add(count_, half_limbs_);
    combined_ = arrays_.add(count_, limbs_);
    powers_ = arrays_.add(count_, limbs_);
    found_ = arrays_.add(count_, limbs_);
    arrays_.allocate();
    download_ = workspace_.download(found_.bytes());
  }

  void lay_out_upload() {
    const std::size_t keys = rows_.runs.size();
    const DeviceKey& key = constants(first_key());
    if (settings_.blinding) {
      columns_ = arrays_.add_uploaded(count_, 1);
      lines_ = arrays_.add_uploaded(count_, 1);
      drawn_factors_ = arrays_.add_uploaded(pairs_.count(), limbs_);
      drawn_inverses_ = arrays_.add_uploaded(pairs_.count(), limbs_);
    }
    n_ = arrays_.add_of_key(first_key().key().n(), one_key_);
    blinding_scale_ = arrays_.add_of_key(key.blinding_scale(), one_key_);
    check_scale_ = arrays_.add_of_key(scale(first_key()), one_key_);
    qinv_ = arrays_.add_of_key(key.qinv(), one_key_);
    p_.once = arrays_.add_uploaded(keys, half_limbs_);
    q_.once = arrays_.add_uploaded(keys, half_limbs_);
    if (one_key_) return;
    runs_ = arrays_.add_uploaded(count_, 1);
    dp_.once = arrays_.add_uploaded(keys, half_limbs_);
    dq_.once = arrays_.add_uploaded(keys, half_limbs_);
  }

  void lay_out_keys() {
    for (KeyNumber* number : {&n_, &blinding_scale_, &check_scale_, &qinv_}) arrays_.add_each(*number);
    for (const auto& [first, second] : {std::pair(&p_, &q_), std::pair(&dp_, &dq_)}) {
      const Array both = arrays_.add(2 * count_, half_limbs_);
      first->each = second->each = {both.at, half_limbs_, count_};
      second->each.at += count_ * half_limbs_ * sizeof(Limb);
    }
  }

  // ---- steps -----------------------------------------------------------------------------------------

  /// Wait for what is in the stream.
  void wait() const {
    workspace_.done().record(workspace_.stream());
    workspace_.done().wait();
  }

  /// The programs that are in the stream at the same time.
  enum class Step : std::uint8_t { blind, combine, unblind, check };
  static constexpr std::size_t kSteps = 4;

  /// Enqueues a program of constant time.
  void queue(Step step, const gpu::ProgramRunner& products, const gpu::Program& program,
             const BatchView& modulus, std::span<const BatchView> operands, const BatchResult& result) const {
    products.queue(program, TimingClass::secret, modulus, operands, result,
                   workspace_.beside(static_cast<std::size_t>(step)));
  }

  /// Call visit(begin, end) for ranges that together contain each row once, on several threads where they
  /// take long. row_bytes: of memory that is read or written for a row.
  template <class Visit>
  void for_rows(std::size_t row_bytes, const Visit& visit) const {
    const double row_ns = static_cast<double>(row_bytes) / kBytesPerNs;
    if (row_ns * static_cast<double>(count_) < kWorthThreadsNs) return visit(std::size_t{0}, count_);
    execute_ranges(count_, row_ns, settings_.threads, ProgressPart(),
                   [&](std::size_t begin, std::size_t end, const StopToken&) { visit(begin, end); });
  }

  void upload() const {
    arrays_.copy_in(numbers_, rows_.numbers);
    put_keys();
    if (settings_.blinding) put_pairs();
    arrays_.upload();
    if (settings_.blinding) gather_pairs();
    if (!one_key_) gather_keys();
  }

  /// On input: the stream has come to its end.
  void wipe_uploads() const {
    workspace_.wipe_upload();
    for (std::size_t step = 0; step < kSteps; ++step) workspace_.beside(step).wipe_upload();
  }

  void put_pairs() const {
    std::memcpy(arrays_.uploaded(drawn_factors_), pairs_.factors().data(), drawn_factors_.bytes());
    std::memcpy(arrays_.uploaded(drawn_inverses_), pairs_.inverses().data(), drawn_inverses_.bytes());
    for (std::size_t run = 0; run < rows_.runs.size(); ++run) {
      const KeyRun& rows = rows_.runs[run];
      const Grid grid(rows.size());
      for (std::size_t k = 0; k < rows.size(); ++k) {
        *arrays_.uploaded(columns_, rows.begin + k) = pairs_.column(run, grid, k);
        *arrays_.uploaded(lines_, rows.begin + k) = pairs_.line(run, grid, k);
      }
    }
  }

  void put_keys() const {
    for (std::size_t run = 0; run < rows_.runs.size(); ++run) {
      const RingKey& ring_key = *rows_.runs[run].key;
      const Key& key = ring_key.key();
      arrays_.put(p_.once, run, key.p());
      arrays_.put(q_.once, run, key.q());
      if (one_key_) return;
      arrays_.put(n_.once, run, key.n());
      arrays_.put(blinding_scale_.once, run, constants(ring_key).blinding_scale());
      arrays_.put(check_scale_.once, run, scale(ring_key));
      arrays_.put(qinv_.once, run, constants(ring_key).qinv());
      arrays_.put(dp_.once, run, key.dp());
      arrays_.put(dq_.once, run, key.dq());
    }
    arrays_.put_runs(runs_);
  }

  void gather_pairs() const {
    arrays_.gather(drawn_factors_, columns_, factors_[0]);
    arrays_.gather(drawn_factors_, lines_, factors_[1]);
    arrays_.gather(drawn_inverses_, columns_, inverses_[0]);
    arrays_.gather(drawn_inverses_, lines_, inverses_[1]);
  }

  void gather_keys() const {
    for (const KeyNumber& number : {n_, blinding_scale_, check_scale_, qinv_}) {
      arrays_.gather(number.once, runs_, number.each);
    }
    for (const Gathered& numbers : {p_, q_, dp_, dq_}) arrays_.gather(numbers.once, runs_, numbers.each);
  }

  void multiply_modulo_n(Step step, const BatchView& x, const std::array<Array, 2>& factors,
                         const BatchResult& product) const {
    const std::array operands{x, arrays_.view(factors[0]), arrays_.view(factors[1]),
                              arrays_.view(blinding_scale_)};
    queue(step, products_.modulo_n, gpu::plain_product_program(4), arrays_.view(n_), operands, product);
  }

  void blind() const {
    if (settings_.blinding) {
      multiply_modulo_n(Step::blind, arrays_.view(numbers_), factors_, arrays_.result(blinded_, 0, count_));
    } else {
      workspace_.stream().copy_on_device(arrays_.on_device(blinded_), arrays_.on_device(numbers_),
                                         numbers_.bytes());
    }
    if (!one_key_) {
      workspace_.stream().copy_on_device(arrays_.on_device(blinded_, count_), arrays_.on_device(blinded_),
                                         numbers_.bytes());
    }
    wait();
  }

  [[nodiscard]] bool may_continue(double share) const {
    return !progress_.observed() || !progress_.wants_stop(share);
  }

  // @return false if stopped
  [[nodiscard]] bool raise_halves() const {
    if (!may_continue(kBlindingEnd)) return false;
    if (one_key_) {
      execute_ranges(uniform_part(2, kLongestChunkNs), {true, 2}, ProgressPart(),
                     [&](std::size_t begin, std::size_t end, const StopToken&) {
                       for (std::size_t half = begin; half < end; ++half) raise_half(half);
                     });
    } else {
      raise_all();
    }
    return may_continue(kPowersEnd);
  }

  /// The powers modulo p (0) or q (1) of the one key.
  void raise_half(std::size_t half) const {
    const RingKey& key = first_key();
    Job job;
    job.x = arrays_.view(blinded_);
    job.y = one(key.key().exponent(half));
    job.modulus = one(key.key().prime(half));
    job.shared = key.prime(half).on(gpu_);
    job.result = arrays_.result(halves_, half * count_, count_);
    raise(job);
  }

  void raise_all() const {
    DeviceFacts facts;
    facts.all_moduli = ModulusFact{static_cast<std::uint16_t>(half_limbs_), ModulusClass::compute, 1};
    Job job;
    job.facts = &facts;
    job.x = arrays_.view(blinded_, 0, 2 * count_);
    job.y = arrays_.view(dp_.each, 0, 2 * count_);
    job.modulus = arrays_.view(p_.each, 0, 2 * count_);
    job.result = arrays_.result(halves_, 0, 2 * count_);
    raise(job);
  }

  void raise(Job& job) const {
    job.op = Operation::powmod;
    job.timing = TimingClass::secret;
    std::vector<ItemStatus> statuses(job.result.count, ItemStatus::not_computed);
    job.status = statuses.data();
    gpu_.engine().run(job, Items::run(0, job.result.count), half_limbs_);
  }

  /// Let a test corrupt an array.
  void damage(FaultPoint point, const Array& array) const {
    if (settings_.fault_hook == nullptr) return;
    limbs::Buffer numbers(array.rows * array.limbs);
    workspace_.stream().copy_to_host(numbers.data(), arrays_.on_device(array), array.bytes());
    wait();
    (*settings_.fault_hook)(point, numbers.first(numbers.size()), array.limbs);
    workspace_.stream().copy_to_device(arrays_.on_device(array), numbers.data(), array.bytes());
    wait();
  }

  void damage_halves() const {
    const Array modulo_p{halves_.at, half_limbs_, count_};
    damage(FaultPoint::half_p, modulo_p);
    damage(FaultPoint::half_q, {halves_.at + modulo_p.bytes(), half_limbs_, count_});
  }

  /// Combine the halves by Garner's formula, then remove the blinding.
  void combine() {
    subtract();
    const std::array factors{arrays_.view(differences_), arrays_.view(qinv_)};
    const BatchView p = one_key_ ? one(first_key().key().p()) : arrays_.view(p_.each);
    queue(Step::combine, products_.modulo_p, gpu::plain_product_program(2), p, factors,
          arrays_.result(factors_of_q_));
    add_multiple_of_q();
    if (settings_.blinding) {
      multiply_modulo_n(Step::unblind, arrays_.view(combined_), inverses_, arrays_.result(powers_));
    }
  }

  /// p or q, one for all rows or one per row.
  [[nodiscard]] gpu::DeviceOperand prime(const Gathered& primes) const {
    return one_key_ ? arrays_.words(arrays_.on_device(primes.once), half_limbs_, 0)
                    : arrays_.words(primes.each);
  }

  void subtract() const {
    gpu::GarnerDifferenceJob job;
    job.a = arrays_.words(halves_);
    job.b = arrays_.words(halves_, count_);
    job.p = prime(p_);
    job.words = static_cast<std::uint32_t>(2 * half_limbs_);
    job.count = static_cast<std::uint32_t>(count_);
    job.result = reinterpret_cast<std::uint32_t*>(arrays_.on_device(differences_));
    gpu::launch_difference(workspace_.stream(), job);
  }

  void add_multiple_of_q() const {
    gpu::GarnerSumJob job;
    job.b = arrays_.words(halves_, count_);
    job.q = prime(q_);
    job.h = arrays_.words(factors_of_q_);
    job.words = static_cast<std::uint32_t>(2 * half_limbs_);
    job.count = static_cast<std::uint32_t>(count_);
    const Array& to = settings_.blinding ? combined_ : powers_;
    job.result = reinterpret_cast<std::uint32_t*>(arrays_.on_device(to));
    job.result_words = static_cast<std::uint32_t>(2 * limbs_);
    gpu::launch_sum(workspace_.stream(), job);
  }

  void check() const {
    workspace_.stream().set_bytes(arrays_.on_device(found_), kNoPower, found_.bytes());
    damage(FaultPoint::before_check, found_);
    const SlidingSchedule schedule = best_sliding_schedule(first_key().key().e());
    const std::array operands{arrays_.view(powers_), arrays_.view(check_scale_)};
    queue(Step::check, products_.modulo_n, gpu::scaled_power_program(schedule), arrays_.view(n_), operands,
          arrays_.result(found_));
    damage(FaultPoint::after_check, found_);
  }

  void download() const {
    arrays_.copy_out(rows_.powers, powers_);
    workspace_.stream().copy_to_host(download_, arrays_.on_device(found_), found_.bytes());
  }

  /// On input: the download is done.
  void compare(std::span<std::uint8_t> wrong) const {
    Limb* const found = reinterpret_cast<Limb*>(download_);
    for_rows(4 * limbs_ * sizeof(Limb), [&](std::size_t begin, std::size_t end) {
      mark_wrong(rows_, begin, end, found, wrong);
      wipe({found + begin * limbs_, (end - begin) * limbs_});
    });
  }
};

}  // namespace

bool suits_device(const Rows& rows) {
  return RingDevices::holds(rows.limbs) && std::ranges::all_of(rows.runs, [&](const KeyRun& run) {
           return matches_first(rows, run.key->key());
         });
}

bool raise_to_private_on(const PowerGpu& gpu, Rows& rows, std::span<std::uint8_t> wrong,
                         const PrivateSettings& settings, const ProgressPart& progress) {
  const std::size_t limbs = rows.limbs;
  const Products products{settings.devices->products(gpu, limbs),
                          settings.devices->products(gpu, rows.runs.front().key->key().p().size())};
  GridPairs pairs(rows);
  if (settings.blinding && !pairs.draw(rows, settings.threads, progress.part(0, kBlindingEnd))) return false;
  bool done = false;
  settings.devices->workspaces(gpu).lend([&](gpu::Workspace& workspace) {
    done = DeviceOperation(rows, gpu, products, workspace, pairs, settings, progress).run(wrong);
  });
  return done;
}

}  // namespace manymod::rsa
