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

/// An array of numbers at an offset of a buffer.
struct Array {
  std::size_t at = 0;
  std::size_t limbs = 0;
  std::size_t rows = 0;

  [[nodiscard]] std::size_t bytes() const { return rows * limbs * sizeof(Limb); }
};

/// Numbers of each key, uploaded once, and their copies for each row of the batch.
struct Gathered {
  Array once;
  Array each;
};

/// A number of the rows' keys: in the host's memory if all rows have one key, else an array with one per row.
struct KeyNumber {
  std::span<const Limb> shared;
  Gathered rows;
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
    try {
      return run_steps(wrong);
    } catch (...) {
      // Somebody else computes the rows next: the device must not read or write them any more.
      workspace_.stream().drain();
      throw;
    }
  }

 private:
  Rows& rows_;
  const PowerGpu& gpu_;
  const Products& products_;
  gpu::Workspace& workspace_;
  const GridPairs& pairs_;
  const PrivateSettings& settings_;
  const ProgressPart& progress_;
  std::size_t count_, limbs_, half_limbs_;
  bool one_key_;  ///< all rows have one key, and there are many of them

  // Arrays that the upload buffer has, too, come first in the device's memory. Numbers and powers are copied
  // from and to the rows' own memory.
  gpu::BufferLayout upload_layout_, device_layout_;
  Array numbers_;
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

  static Array add(gpu::BufferLayout& layout, std::size_t rows, std::size_t limbs) {
    Array array{0, limbs, rows};
    array.at = layout.add(array.bytes());
    return array;
  }

  KeyNumber add_of_key(std::span<const Limb> first) {
    if (one_key_) return {first, {}};
    return {{}, {add(upload_layout_, rows_.runs.size(), first.size()), {}}};
  }

  void lay_out() {
    lay_out_upload();
    device_layout_ = upload_layout_;
    numbers_ = add(device_layout_, count_, limbs_);
    if (settings_.blinding) {
      for (Array& array : factors_) array = add(device_layout_, count_, limbs_);
      for (Array& array : inverses_) array = add(device_layout_, count_, limbs_);
    }
    if (!one_key_) lay_out_keys();
    blinded_ = add(device_layout_, one_key_ ? count_ : 2 * count_, limbs_);
    halves_ = add(device_layout_, 2 * count_, half_limbs_);
    differences_ = add(device_layout_, count_, half_limbs_);
    factors_of_q_ = add(device_layout_, count_, half_limbs_);
    combined_ = add(device_layout_, count_, limbs_);
    powers_ = add(device_layout_, count_, limbs_);
    found_ = add(device_layout_, count_, limbs_);
    upload_ = workspace_.upload(upload_layout_.bytes());
    device_ = workspace_.on_device(device_layout_.bytes());
    download_ = workspace_.download(found_.bytes());
  }

  void lay_out_upload() {
    const std::size_t keys = rows_.runs.size();
    const DeviceKey& key = constants(first_key());
    if (settings_.blinding) {
      columns_ = add(upload_layout_, count_, 1);
      lines_ = add(upload_layout_, count_, 1);
      drawn_factors_ = add(upload_layout_, pairs_.count(), limbs_);
      drawn_inverses_ = add(upload_layout_, pairs_.count(), limbs_);
    }
    n_ = add_of_key(first_key().key().n());
    blinding_scale_ = add_of_key(key.blinding_scale());
    check_scale_ = add_of_key(scale(first_key()));
    qinv_ = add_of_key(key.qinv());
    p_.once = add(upload_layout_, keys, half_limbs_);
    q_.once = add(upload_layout_, keys, half_limbs_);
    if (one_key_) return;
    runs_ = add(upload_layout_, count_, 1);
    dp_.once = add(upload_layout_, keys, half_limbs_);
    dq_.once = add(upload_layout_, keys, half_limbs_);
  }

  void lay_out_keys() {
    for (KeyNumber* number : {&n_, &blinding_scale_, &check_scale_, &qinv_}) {
      number->rows.each = add(device_layout_, count_, number->rows.once.limbs);
    }
    for (const auto& [first, second] : {std::pair(&p_, &q_), std::pair(&dp_, &dq_)}) {
      const Array both = add(device_layout_, 2 * count_, half_limbs_);
      first->each = second->each = {both.at, half_limbs_, count_};
      second->each.at += count_ * half_limbs_ * sizeof(Limb);
    }
  }

  // ---- arrays ----------------------------------------------------------------------------------------

  [[nodiscard]] Limb* on_device(const Array& array, std::size_t row = 0) const {
    return reinterpret_cast<Limb*>(device_ + array.at) + row * array.limbs;
  }
  [[nodiscard]] BatchView view(const Array& array, std::size_t first = 0, std::size_t rows = 0) const {
    if (rows == 0) rows = count_;
    return {on_device(array, first), rows, array.limbs, array.limbs, nullptr, true};
  }
  [[nodiscard]] BatchView view(const KeyNumber& number) const {
    return number.shared.empty() ? view(number.rows.each) : one(number.shared);
  }
  [[nodiscard]] BatchResult result(const Array& array, std::size_t first = 0, std::size_t rows = 0) const {
    if (rows == 0) rows = count_;
    return {on_device(array, first), rows, array.limbs, array.limbs, nullptr, true};
  }
  [[nodiscard]] static gpu::DeviceOperand words(const Limb* limbs, std::size_t width, std::size_t stride) {
    return {reinterpret_cast<const std::uint32_t*>(limbs), static_cast<std::uint32_t>(2 * width),
            static_cast<std::uint32_t>(2 * stride)};
  }
  [[nodiscard]] gpu::DeviceOperand words(const Array& array, std::size_t first = 0) const {
    return words(on_device(array, first), array.limbs, array.limbs);
  }

  // ---- steps -----------------------------------------------------------------------------------------

  bool run_steps(std::span<std::uint8_t> wrong) {
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
    workspace_.stream().set_bytes(device_, 0, device_layout_.bytes());
    workspace_.done().wait();
    wipe_uploads();
    if (done) compare(wrong);
    return done;
  }

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

  [[nodiscard]] Limb* uploaded(const Array& array, std::size_t row) const {
    return reinterpret_cast<Limb*>(upload_ + array.at) + row * array.limbs;
  }
  void put(const Array& array, std::size_t row, std::span<const Limb> number) const {
    limbs::copy_extend({uploaded(array, row), array.limbs}, number);
  }

  void upload() const {
    workspace_.stream().copy_to_device(on_device(numbers_), rows_.numbers.data(), numbers_.bytes());
    put_keys();
    if (settings_.blinding) put_pairs();
    workspace_.stream().copy_to_device(device_, upload_, upload_layout_.bytes());
    if (settings_.blinding) gather_pairs();
    if (!one_key_) gather_keys();
  }

  /// On input: the stream has come to its end.
  void wipe_uploads() const {
    workspace_.wipe_upload();
    for (std::size_t step = 0; step < kSteps; ++step) workspace_.beside(step).wipe_upload();
  }

  void put_pairs() const {
    std::memcpy(upload_ + drawn_factors_.at, pairs_.factors().data(), drawn_factors_.bytes());
    std::memcpy(upload_ + drawn_inverses_.at, pairs_.inverses().data(), drawn_inverses_.bytes());
    for (std::size_t run = 0; run < rows_.runs.size(); ++run) {
      const KeyRun& rows = rows_.runs[run];
      const Grid grid(rows.size());
      for (std::size_t k = 0; k < rows.size(); ++k) {
        *uploaded(columns_, rows.begin + k) = pairs_.column(run, grid, k);
        *uploaded(lines_, rows.begin + k) = pairs_.line(run, grid, k);
      }
    }
  }

  void put_keys() const {
    for (std::size_t run = 0; run < rows_.runs.size(); ++run) {
      const RingKey& ring_key = *rows_.runs[run].key;
      const Key& key = ring_key.key();
      put(p_.once, run, key.p());
      put(q_.once, run, key.q());
      if (one_key_) return;
      put(n_.rows.once, run, key.n());
      put(blinding_scale_.rows.once, run, constants(ring_key).blinding_scale());
      put(check_scale_.rows.once, run, scale(ring_key));
      put(qinv_.rows.once, run, constants(ring_key).qinv());
      put(dp_.once, run, key.dp());
      put(dq_.once, run, key.dq());
      std::fill(uploaded(runs_, rows_.runs[run].begin), uploaded(runs_, rows_.runs[run].end), Limb{run});
    }
  }

  /// Row i of `to` = row list[i] of `from`.
  void gather(const Array& from, const Array& list, const Array& to) const {
    gpu::RowsJob copy;
    copy.from = {on_device(from), from.limbs, on_device(list)};
    copy.to = {on_device(to), to.limbs, nullptr};
    copy.from_width = copy.to_width = static_cast<std::uint32_t>(to.limbs);
    gpu::launch_copy_rows(workspace_.stream(), copy, count_);
  }

  void gather_pairs() const {
    gather(drawn_factors_, columns_, factors_[0]);
    gather(drawn_factors_, lines_, factors_[1]);
    gather(drawn_inverses_, columns_, inverses_[0]);
    gather(drawn_inverses_, lines_, inverses_[1]);
  }

  void gather_keys() const {
    for (const Gathered& numbers :
         {n_.rows, blinding_scale_.rows, check_scale_.rows, qinv_.rows, p_, q_, dp_, dq_}) {
      gather(numbers.once, runs_, numbers.each);
    }
  }

  void multiply_modulo_n(Step step, const BatchView& x, const std::array<Array, 2>& factors,
                         const BatchResult& product) const {
    const std::array operands{x, view(factors[0]), view(factors[1]), view(blinding_scale_)};
    queue(step, products_.modulo_n, gpu::plain_product_program(4), view(n_), operands, product);
  }

  void blind() const {
    if (settings_.blinding) {
      multiply_modulo_n(Step::blind, view(numbers_), factors_, result(blinded_));
    } else {
      workspace_.stream().copy_on_device(on_device(blinded_), on_device(numbers_), numbers_.bytes());
    }
    if (!one_key_) {
      workspace_.stream().copy_on_device(on_device(blinded_, count_), on_device(blinded_), numbers_.bytes());
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
    job.x = view(blinded_);
    job.y = one(key.key().exponent(half));
    job.modulus = one(key.key().prime(half));
    job.shared = key.prime(half).on(gpu_);
    job.result = result(halves_, half * count_);
    raise(job);
  }

  void raise_all() const {
    DeviceFacts facts;
    facts.all_moduli = ModulusFact{static_cast<std::uint16_t>(half_limbs_), ModulusClass::compute, 1};
    Job job;
    job.facts = &facts;
    job.x = view(blinded_, 0, 2 * count_);
    job.y = view(dp_.each, 0, 2 * count_);
    job.modulus = view(p_.each, 0, 2 * count_);
    job.result = result(halves_, 0, 2 * count_);
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
    workspace_.stream().copy_to_host(numbers.data(), on_device(array), array.bytes());
    wait();
    (*settings_.fault_hook)(point, numbers.first(numbers.size()), array.limbs);
    workspace_.stream().copy_to_device(on_device(array), numbers.data(), array.bytes());
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
    const std::array factors{view(differences_), view(qinv_)};
    const BatchView p = one_key_ ? one(first_key().key().p()) : view(p_.each);
    queue(Step::combine, products_.modulo_p, gpu::plain_product_program(2), p, factors,
          result(factors_of_q_));
    add_multiple_of_q();
    if (settings_.blinding) {
      multiply_modulo_n(Step::unblind, view(combined_), inverses_, result(powers_));
    }
  }

  /// p or q, one for all rows or one per row.
  [[nodiscard]] gpu::DeviceOperand prime(const Gathered& primes) const {
    return one_key_ ? words(on_device(primes.once), half_limbs_, 0) : words(primes.each);
  }

  void subtract() const {
    gpu::GarnerDifferenceJob job;
    job.a = words(halves_);
    job.b = words(halves_, count_);
    job.p = prime(p_);
    job.words = static_cast<std::uint32_t>(2 * half_limbs_);
    job.count = static_cast<std::uint32_t>(count_);
    job.result = reinterpret_cast<std::uint32_t*>(on_device(differences_));
    gpu::launch_difference(workspace_.stream(), job);
  }

  void add_multiple_of_q() const {
    gpu::GarnerSumJob job;
    job.b = words(halves_, count_);
    job.q = prime(q_);
    job.h = words(factors_of_q_);
    job.words = static_cast<std::uint32_t>(2 * half_limbs_);
    job.count = static_cast<std::uint32_t>(count_);
    const Array& to = settings_.blinding ? combined_ : powers_;
    job.result = reinterpret_cast<std::uint32_t*>(on_device(to));
    job.result_words = static_cast<std::uint32_t>(2 * limbs_);
    gpu::launch_sum(workspace_.stream(), job);
  }

  void check() const {
    workspace_.stream().set_bytes(on_device(found_), kNoPower, found_.bytes());
    damage(FaultPoint::before_check, found_);
    const SlidingSchedule schedule = best_sliding_schedule(first_key().key().e());
    const std::array operands{view(powers_), view(check_scale_)};
    queue(Step::check, products_.modulo_n, gpu::scaled_power_program(schedule), view(n_), operands,
          result(found_));
    damage(FaultPoint::after_check, found_);
  }

  void download() const {
    workspace_.stream().copy_to_host(rows_.powers.data(), on_device(powers_), powers_.bytes());
    workspace_.stream().copy_to_host(download_, on_device(found_), found_.bytes());
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
