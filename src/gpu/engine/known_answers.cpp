// SPDX-License-Identifier: Apache-2.0
#include "gpu/engine/known_answers.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "core/operation.hpp"
#include "gpu/device_error.hpp"

namespace manymod::gpu {
namespace {

constexpr std::size_t kItems = 70;  // more than a work-group, less than two

/// Numbers at the edges of their ranges.
class Numbers {
 public:
  std::vector<Limb> some(std::size_t width) {
    std::vector<Limb> all;
    for (std::size_t i = 0; i < kItems; ++i) {
      for (std::size_t j = 0; j < width; ++j) all.push_back(limb(i, j));
    }
    return all;
  }

  // Every third one is even; the upper limbs are nonzero.
  std::vector<Limb> moduli(std::size_t width) {
    std::vector<Limb> all = odd_moduli(width);
    for (std::size_t i = 0; i < kItems; i += 3) all[i * width] &= ~Limb{1};
    return all;
  }

  // The upper limbs are nonzero.
  std::vector<Limb> odd_moduli(std::size_t width) {
    std::vector<Limb> all = some(width);
    for (std::size_t i = 0; i < kItems; ++i) {
      Limb& top = all[(i + 1) * width - 1];
      if (i % 7 == 3) top = 1;
      if (i % 7 == 5 || top == 0) top = Limb{1} << (kLimbBits - 1);
      all[i * width] |= width == 1 ? 3 : 1;
    }
    return all;
  }

 private:
  std::mt19937_64 random_{1};

  Limb limb(std::size_t item, std::size_t position) {
    switch (item % 5) {
      case 0:
        return ~Limb{0};
      case 1:
        return position == 0 ? item % 3 : 0;
      case 2:
        return random_() % 2 == 0 ? 0 : ~Limb{0};
      default:
        return random_();
    }
  }
};

BatchView view_of(const std::vector<Limb>& numbers) {
  const std::size_t width = numbers.size() / kItems;
  return {numbers.data(), kItems, width, width, nullptr};
}

// One number for all items.
BatchView one_of(const std::vector<Limb>& numbers) {
  const std::size_t width = numbers.size() / kItems, at = 4 * width;  // of random limbs
  return {numbers.data() + at, 1, width, width, nullptr};
}

std::vector<Limb> results(Job job, std::size_t limbs, const RunItems& run) {
  std::vector<Limb> all(kItems * limbs);
  std::vector<ItemStatus> status(kItems, ItemStatus::not_computed);
  job.result = {all.data(), kItems, limbs, limbs, nullptr};
  job.status = status.data();
  run(job, Items::run(0, kItems), limbs);
  return all;
}

/// What is known of a kernel on a device. Its mutex is locked while it is tested: others wait for the
/// verdict, and meanwhile other kernels may be tested, also by the test of this one.
struct Verdict {
  std::mutex mutex;
  bool known = false;
  std::optional<DeviceError> failure;
};

/// The verdicts on all kernels and devices. Never freed, like the devices' other objects.
class Verdicts {
 public:
  static Verdict& of(const Device& device, const std::string& kernel) {
    static Verdicts* const all = new Verdicts;
    const std::lock_guard lock(all->mutex_);
    return all->verdicts_[{&device, kernel}];
  }

 private:
  std::mutex mutex_;  // of the map, not of what is in it
  std::map<std::pair<const Device*, std::string>, Verdict> verdicts_;
};

/// A call of the tested kernels and of the reference.
class Comparison {
 public:
  Comparison(const RunItems& tested, const Engine& reference, std::size_t limbs)
      : tested_(tested), reference_(reference), limbs_(limbs) {}

  [[nodiscard]] bool same(const Job& job) const { return same(job, job); }
  /// Whether the results are those of the reference for `expected`.
  [[nodiscard]] bool same(const Job& job, const Job& expected) const {
    const RunItems by_reference = [this](const Job& same, Items items, std::size_t limbs) {
      reference_.run(same, items, limbs);
    };
    return results(job, limbs_, tested_) == results(expected, limbs_, by_reference);
  }

 private:
  const RunItems& tested_;
  const Engine& reference_;
  std::size_t limbs_;
};

}  // namespace

std::string find_wrong_operation(const RunItems& tested, const PrepareBase& prepare_base,
                                 const Engine& reference, std::size_t modulus_limbs) {
  Numbers numbers;
  const Comparison comparison(tested, reference, modulus_limbs);
  const std::vector<Limb> n = numbers.odd_moduli(modulus_limbs), x = numbers.some(modulus_limbs),
                          wide = numbers.some(modulus_limbs + 1), exponents = numbers.some(1);
  const auto job_of = [&](Operation op, TimingClass timing, const std::vector<Limb>& y) {
    Job job;
    job.op = op;
    job.timing = timing;
    job.x = view_of(x);
    job.y = view_of(y);
    job.modulus = view_of(n);
    return job;
  };
  if (!comparison.same(job_of(Operation::mulmod, TimingClass::public_, wide))) return "mulmod";
  for (const TimingClass timing : {TimingClass::public_, TimingClass::secret}) {
    const std::string in_its_time = " in " + std::string(timing_description(timing));
    Job power = job_of(Operation::powmod, timing, exponents);
    if (!comparison.same(power)) return "powmod" + in_its_time;
    power.x = one_of(x);
    power.modulus = one_of(n);
    Job fixed = power;
    fixed.op = Operation::fixed_base_powmod;
    const auto base = prepare_base(fixed.x, fixed.modulus.magnitude(0), kLimbBits, timing);
    if (base == nullptr) continue;
    fixed.fixed_base = base.get();
    if (!comparison.same(fixed, power)) return "fixed_base_powmod" + in_its_time;
  }
  return {};
}

std::string find_wrong_row_operation(const RunItems& tested, const Engine& reference,
                                     std::size_t modulus_limbs, std::size_t operand_limbs) {
  Numbers numbers;
  const Comparison comparison(tested, reference, modulus_limbs);
  const std::vector<Limb> n = numbers.moduli(modulus_limbs), x = numbers.some(operand_limbs),
                          y = numbers.some(operand_limbs), z = numbers.some(operand_limbs);
  for (const Operation op : {Operation::addmod, Operation::submod, Operation::mulmod, Operation::fmamod}) {
    Job job;
    job.op = op;
    job.x = view_of(x);
    job.y = view_of(y);
    if (op == Operation::fmamod) job.z = view_of(z);
    job.modulus = view_of(n);
    if (!comparison.same(job)) return std::string(operation_name(op));
  }
  return {};
}

void check_answers(const TestedKernel& tested, Device& device,
                   const std::function<std::string()>& find_wrong) {
  Verdict& verdict = Verdicts::of(device, tested.kernel);
  const std::lock_guard lock(verdict.mutex);
  if (!verdict.known) {
    try {
      if (std::string wrong = find_wrong(); !wrong.empty()) {
        wrong = std::string("kernel ") + tested.kernel + " computes wrong results (" + wrong + ")";
        tested.backend.disqualify(device.index(), tested.technique, wrong);
        verdict.failure.emplace(tested.backend.name(), Fault::wrong_results, static_cast<int>(device.index()),
                                wrong);
      }
    } catch (const DeviceError& error) {
      // A compilation failure is permanent and slow to repeat, so it is remembered. Other failures may be
      // transient.
      if (error.fault() != Fault::no_device_code) throw;
      verdict.failure = error;
    }
    verdict.known = true;
  }
  if (verdict.failure) throw DeviceError(*verdict.failure);
}

}  // namespace manymod::gpu
