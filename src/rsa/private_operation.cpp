// SPDX-License-Identifier: Apache-2.0
#include "rsa/private_operation.hpp"

#include <algorithm>
#include <cstring>

#include "core/all_zero.hpp"
#include "exec/executor.hpp"
#include "rsa/device_operation.hpp"
#include "rsa/lane_arithmetic.hpp"
#include "rsa/public_operation.hpp"
#include "rsa/ring_devices.hpp"

namespace manymod::rsa {
namespace {

// Rough shares of a private operation's time.
constexpr double kBlindingShare = 0.02;
constexpr double kHalfPowersShare = 0.88;
constexpr double kCombiningShare = 0.02;
constexpr double kCheckShare = 0.08;

// Rough cost of a product modulo a number of `limbs` limbs.
double product_ns(std::size_t limbs) {
  return 20 + 1.5 * static_cast<double>(limbs) * static_cast<double>(limbs);
}

enum class Method : std::uint8_t { crt, whole };

/// Rows of one key that are blinded together: in the lanes of a vector, or one by one if `lanes` is null.
struct RowGroup {
  const RingKey* key;
  const lanes::Moduli* lanes;
  std::size_t begin;
  std::size_t end;
};
constexpr std::size_t kMostOfGroup = 8;

class PrivateOperation {
 public:
  PrivateOperation(Rows& rows, Method method, const PrivateSettings& settings)
      : rows_(rows),
        method_(method),
        settings_(settings),
        limbs_(rows.limbs),
        prime_limbs_(method == Method::crt ? longest_prime(rows) : 0),
        blinded_(rows.count() * limbs_),
        residues_(method == Method::crt ? most_primes(rows) * rows.count() * prime_limbs_ : 0) {
    divide_into_groups();
    if (settings.blinding) inverses_ = limbs::Buffer(rows.count() * inverse_limbs_);
  }

  /// wrong[row] = 1 where the result fails the check, else 0. @return false if stopped
  bool run(std::span<std::uint8_t> wrong, const ProgressPart& progress) {
    return blind(progress.part(0, kBlindingShare)) &&
           raise(progress.part(kBlindingShare, kHalfPowersShare)) &&
           finish(progress.part(kBlindingShare + kHalfPowersShare, kCombiningShare)) &&
           check(wrong, progress.part(1 - kCheckShare, kCheckShare));
  }

 private:
  Rows& rows_;
  Method method_;
  const PrivateSettings& settings_;
  std::size_t limbs_;
  std::size_t prime_limbs_;        ///< limbs of the longest p
  limbs::Buffer blinded_;          ///< number times r^e mod n
  std::vector<RowGroup> groups_;   ///< in order; together all rows
  std::size_t inverse_limbs_ = 0;  ///< limbs of a row of `inverses_`
  limbs::Buffer inverses_;         ///< r^-1 R mod n; for a group in lanes, one element of all lanes
  limbs::Buffer residues_;         ///< the powers modulo p of all rows, then those modulo q, and so on

  static std::size_t longest_prime(const Rows& rows) {
    std::size_t longest = 0;
    for (const KeyRun& run : rows.runs) longest = std::max(longest, run.key->key().p().size());
    return longest;
  }
  static std::size_t most_primes(const Rows& rows) {
    std::size_t most = 0;
    for (const KeyRun& run : rows.runs) most = std::max(most, run.key->key().primes());
    return most;
  }

  [[nodiscard]] Limb* row_of(limbs::Buffer& buffer, std::size_t row) const {
    return buffer.data() + row * limbs_;
  }
  /// The power of a row modulo a prime of its key.
  [[nodiscard]] Limb* residue(std::size_t row, std::size_t prime) {
    return residues_.data() + prime * residue_stride() + row * prime_limbs_;
  }
  /// From a row's power modulo a prime to that modulo the next one, in limbs.
  [[nodiscard]] std::size_t residue_stride() const { return rows_.count() * prime_limbs_; }

  void divide_into_groups() {
    inverse_limbs_ = limbs_;
    for (const KeyRun& run : rows_.runs) {
      const lanes::Moduli* lanes = settings_.blinding ? run.key->secret_lanes(run.size()) : nullptr;
      if (lanes != nullptr) inverse_limbs_ = std::max(inverse_limbs_, lanes->digits());
      for (std::size_t begin = run.begin; begin < run.end;) {
        if (lanes != nullptr && run.end - begin < lanes->kernels().lanes) lanes = nullptr;
        const std::size_t most = lanes != nullptr ? lanes->kernels().lanes : kMostOfGroup;
        const std::size_t end = std::min(run.end, begin + most);
        groups_.push_back({run.key, lanes, begin, end});
        begin = end;
      }
    }
  }

  /// Call visit(groups) for all groups; adjacent groups of the same key and kind are visited together.
  template <class Visit>
  bool for_groups(double row_ns, const ProgressPart& progress, const Visit& visit) {
    const double rows = static_cast<double>(rows_.count()) / static_cast<double>(groups_.size());
    return execute_ranges(groups_.size(), rows * row_ns, settings_.threads, progress,
                          [&](std::size_t begin, std::size_t end, const StopToken& stop) {
                            while (begin < end && !stop.requested()) {
                              std::size_t next = begin + 1;
                              while (next < end && same_key_and_lanes(groups_[next], groups_[begin])) ++next;
                              visit(std::span(groups_).subspan(begin, next - begin));
                              begin = next;
                            }
                          });
  }

  // Whether two groups can be visited together.
  static bool same_key_and_lanes(const RowGroup& x, const RowGroup& y) {
    return x.key == y.key && x.lanes == y.lanes;
  }

  [[nodiscard]] Limb* inverse(std::size_t row) { return inverses_.data() + row * inverse_limbs_; }

  bool blind(const ProgressPart& progress) {
    if (!settings_.blinding) {
      std::copy_n(rows_.numbers.data(), rows_.count() * limbs_, blinded_.data());
      return true;
    }
    return for_groups(4 * product_ns(limbs_), progress, [&](std::span<const RowGroup> groups) {
      if (groups.front().lanes != nullptr) {
        blind_lanes(groups);
      } else {
        blind_rows(groups);
      }
    });
  }

  void blind_rows(std::span<const RowGroup> groups) {
    const RingKey& key = *groups.front().key;
    const PrivateArithmetic& arithmetic = key.arithmetic();
    limbs::Buffer scratch(arithmetic.scratch_limbs());
    Blinder blinder(key.blinding(), arithmetic);
    for (std::size_t row = groups.front().begin; row < groups.back().end; ++row) {
      const BlindingPair& pair = blinder.next(scratch.data());
      arithmetic.multiply(row_of(blinded_, row), rows_.number(row).data(), pair.factor.data(),
                          scratch.data());
      std::copy_n(pair.inverse.data(), limbs_, inverse(row));
    }
  }

  void blind_lanes(std::span<const RowGroup> groups) {
    const RingKey& key = *groups.front().key;
    const LaneArithmetic arithmetic(*groups.front().lanes, key.arithmetic());
    limbs::Buffer scratch(arithmetic.scratch_limbs());
    Blinder blinder(key.lane_blinding(), arithmetic);
    for (const RowGroup& group : groups) {
      const BlindingPair& pair = blinder.next(scratch.data());
      arithmetic.multiply(row_of(blinded_, group.begin), rows_.number(group.begin).data(), pair.factor.data(),
                          scratch.data());
      std::copy_n(pair.inverse.data(), arithmetic.words(), inverse(group.begin));
    }
  }

  bool raise(const ProgressPart& progress) {
    if (method_ == Method::whole) {
      if (!raise_whole(progress)) return false;
      damage(FaultPoint::without_crt, rows_.powers, limbs_);
      return true;
    }
    if (!raise_residues(progress)) return false;
    for (std::size_t at = 0; at < residues_.size(); at += residue_stride()) {
      const FaultPoint point = at == 0                  ? FaultPoint::half_p
                               : at == residue_stride() ? FaultPoint::half_q
                                                        : FaultPoint::other_prime;
      damage(point, residues_.part(at, residue_stride()), prime_limbs_);
    }
    return true;
  }

  void damage(FaultPoint point, std::span<Limb> residues, std::size_t limbs) const {
    if (settings_.fault_hook != nullptr) (*settings_.fault_hook)(point, residues, limbs);
  }

  bool raise_whole(const ProgressPart& progress) {
    PooledPowers pool(limbs_);
    for (const KeyRun& run : rows_.runs) {
      const Key& key = run.key->key();
      for (std::size_t row = run.begin; row < run.end; ++row) {
        pool.add(
            {&run.key->secret().engines, row_of(blinded_, row), key.d(), key.n(), rows_.power(row).data()});
      }
    }
    return pool.compute(settings_.threads, progress);
  }

  /// Keys with many rows are computed one by one with their prepared primes, the rows of all others together.
  bool raise_residues(const ProgressPart& progress) {
    PooledPowers pool(limbs_);
    const auto all = static_cast<double>(rows_.count());
    double done = 0;
    for (const KeyRun& run : rows_.runs) {
      const RingKey& key = *run.key;
      const std::size_t primes = key.key().primes();
      if (!key.p().engines.worth_sharing(run.size(), rows_.count(), primes, settings_.threads)) {
        add_residues(run, pool);
        continue;
      }
      const ProgressPart part = progress.part(done / all, static_cast<double>(run.size()) / all);
      const double share = 1 / static_cast<double>(primes);
      for (std::size_t prime = 0; prime < primes; ++prime) {
        if (!raise_residue(run, prime, part.part(share * static_cast<double>(prime), share))) return false;
      }
      done += static_cast<double>(run.size());
    }
    return pool.compute(settings_.threads, progress.part(done / all, 1 - done / all));
  }

  void add_residues(const KeyRun& run, PooledPowers& pool) {
    const Key& key = run.key->key();
    for (std::size_t row = run.begin; row < run.end; ++row) {
      const Limb* x = row_of(blinded_, row);
      for (std::size_t prime = 0; prime < key.primes(); ++prime) {
        pool.add(
            {&run.key->prime(prime).engines, x, key.exponent(prime), key.prime(prime), residue(row, prime)});
      }
    }
  }

  /// The powers modulo one prime for the rows of one key.
  bool raise_residue(const KeyRun& run, std::size_t which, const ProgressPart& progress) {
    const PreparedPower& prepared = run.key->prime(which);
    const std::span<const Limb> prime = run.key->key().prime(which);
    const std::span<const Limb> exponent = run.key->key().exponent(which);
    const std::vector<std::size_t> items = all_rows(run.size());
    PowerBatch batch;
    batch.x = {row_of(blinded_, run.begin), run.size(), limbs_, limbs_, nullptr};
    batch.y = {exponent.data(), 1, prime.size(), exponent.size(), nullptr};
    batch.modulus = {prime.data(), 1, prime.size(), prime.size(), nullptr};
    batch.result = {residue(run.begin, which), run.size(), prime_limbs_, prime_limbs_, nullptr};
    batch.limbs = prime.size();
    batch.rows = items;
    batch.shared = &prepared.moduli;
    return compute_powers(prepared.engines, batch, settings_.threads, progress);
  }

  /// Combine the residues and remove the blinding.
  bool finish(const ProgressPart& progress) {
    return for_groups(2 * product_ns(limbs_), progress, [&](std::span<const RowGroup> groups) {
      const PrivateArithmetic& arithmetic = groups.front().key->arithmetic();
      const bool in_lanes = groups.front().lanes != nullptr;
      limbs::Buffer scratch(arithmetic.scratch_limbs());
      for (std::size_t row = groups.front().begin; row < groups.back().end; ++row) {
        Limb* power = rows_.power(row).data();
        if (method_ == Method::crt)
          arithmetic.combine(power, residue(row, 0), residue_stride(), scratch.data());
        if (settings_.blinding && !in_lanes) {
          arithmetic.multiply_reduced(power, power, inverse(row), scratch.data());
        }
      }
      if (in_lanes) unblind_lanes(groups);
    });
  }

  void unblind_lanes(std::span<const RowGroup> groups) {
    const LaneArithmetic arithmetic(*groups.front().lanes, groups.front().key->arithmetic());
    limbs::Buffer scratch(arithmetic.scratch_limbs());
    limbs::Buffer factor(arithmetic.words());
    for (const RowGroup& group : groups) {
      std::copy_n(inverse(group.begin), arithmetic.words(), factor.data());
      Limb* power = rows_.power(group.begin).data();
      arithmetic.multiply(power, power, factor.data(), scratch.data());
    }
  }

  /// Check that the result's power by the public exponent is the number again.
  bool check(std::span<std::uint8_t> wrong, const ProgressPart& progress) {
    blinded_ = limbs::Buffer();  // Not reused: without blinding they are the numbers themselves.
    limbs::Buffer found(rows_.count() * limbs_);
    const std::span<Limb> powers = found.first(found.size());
    std::memset(powers.data(), kNoPower, powers.size_bytes());
    damage(FaultPoint::before_check, powers, limbs_);
    if (!raise_to_public(rows_, rows_.powers, powers,
                         {TimingClass::secret, settings_.threads, settings_.devices}, progress)) {
      return false;
    }
    damage(FaultPoint::after_check, powers, limbs_);
    mark_wrong(rows_, 0, rows_.count(), found.data(), wrong);
    return true;
  }
};

// The rows that `wrong` marks, without powers, in `memory`.
Rows rows_of(const Rows& rows, std::span<const std::uint8_t> wrong, limbs::Buffer& memory) {
  Rows some;
  some.limbs = rows.limbs;
  for (const KeyRun& run : rows.runs) {
    for (std::size_t row = run.begin; row < run.end; ++row) {
      if (wrong[row] == 0) continue;
      some.runs.push_back({run.key, some.count(), some.count() + 1});
      some.items.push_back(row);
    }
  }
  const std::size_t size = some.count() * some.limbs;
  memory = limbs::Buffer(2 * size);
  some.numbers = memory.first(size);
  some.powers = memory.part(size, size);
  for (std::size_t i = 0; i < some.count(); ++i) {
    std::ranges::copy(rows.number(some.items[i]), some.number(i).begin());
  }
  return some;
}

// Not inlined into the function below, whose findings are suppressed.
[[gnu::noinline]] bool recompute(Rows& rows, std::span<const std::uint8_t> wrong,
                                 std::span<RowOutcome> outcomes, const PrivateSettings& settings) {
  limbs::Buffer memory;
  Rows some = rows_of(rows, wrong, memory);
  std::vector<std::uint8_t> still_wrong(some.count());
  if (!PrivateOperation(some, Method::whole, settings).run(still_wrong, {})) return false;
  for (std::size_t i = 0; i < some.count(); ++i) {
    const std::span<Limb> power = rows.power(some.items[i]);
    const bool right = still_wrong[i] == 0;
    outcomes[some.items[i]] = right ? RowOutcome::recomputed : RowOutcome::faulty;
    if (right) {
      std::ranges::copy(some.power(i), power.begin());
    } else {
      std::ranges::fill(power, Limb{0});
    }
  }
  return true;
}

// Recompute the rows that are wrong, if there are any, which is public. Not inlined, because the
// secret-independence tests suppress findings in this function by its name.
[[gnu::noinline]] bool unless_all_right(Rows& rows, std::span<const std::uint8_t> wrong,
                                        std::span<RowOutcome> outcomes, const PrivateSettings& settings) {
  if (all_zero(wrong)) return true;
  return recompute(rows, wrong, outcomes, settings);
}

// On a GPU from end to end if GPUs compute the powers; on the CPU otherwise, and if the GPUs fail.
bool raise_by_crt(Rows& rows, std::span<std::uint8_t> wrong, const PrivateSettings& settings,
                  const ProgressPart& progress) {
  if (suits_device(rows)) {
    const RingKey& first = *rows.runs.front().key;
    bool completed = false;
    const auto attempt = [&](const PowerGpu& gpu) {
      completed = raise_to_private_on(gpu, rows, wrong, settings, progress);
    };
    if (first.p().engines.run_on_gpu(2 * rows.count(), first.key().p().size(), attempt)) return completed;
  }
  return PrivateOperation(rows, Method::crt, settings).run(wrong, progress);
}

}  // namespace

const std::string& private_variant(const RingKey& key, std::size_t items, unsigned threads) {
  const PowerEngines& engines = key.p().engines;
  items = std::clamp(items, std::size_t{1}, SIZE_MAX / MM_RSA_MAX_PRIMES);
  const std::size_t primes = key.key().primes();
  const std::size_t powers = primes * items;
  const bool same_engines = &engines == &key.q().engines;
  const bool pooled = !engines.worth_sharing(items, items, primes, threads);
  const bool together = same_engines && (pooled || engines.on_gpus(powers));
  return engines.variant_name(together ? powers : items);
}

void mark_wrong(const Rows& rows, std::size_t begin, std::size_t end, const Limb* found,
                std::span<std::uint8_t> wrong) {
  for_runs(rows.runs, begin, end, [&](const KeyRun& run, std::size_t from, std::size_t to) {
    const std::span<const Limb> n = run.key->key().n();
    for (std::size_t row = from; row < to; ++row) {
      const std::span<const Limb> number = rows.number(row);
      const Limb* back = found + row * rows.limbs;
      Limb difference = limbs::less(rows.power(row), n) ^ 1;
      for (std::size_t i = 0; i < rows.limbs; ++i) difference |= number[i] ^ back[i];
      wrong[row] = static_cast<std::uint8_t>(word::is_zero_bit(difference) ^ 1);
    }
  });
}

bool raise_to_private(Rows& rows, std::span<RowOutcome> outcomes, const PrivateSettings& settings,
                      const ProgressPart& progress) {
  std::ranges::fill(outcomes, RowOutcome::ok);
  std::vector<std::uint8_t> wrong(rows.count());
  if (!raise_by_crt(rows, wrong, settings, progress)) return false;
  return unless_all_right(rows, wrong, outcomes, settings);
}

}  // namespace manymod::rsa
