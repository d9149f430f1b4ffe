// SPDX-License-Identifier: Apache-2.0
#include "calls.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <stdexcept>
#include <string_view>

#include "manymod/ecc.h"

namespace manymod::bench {
namespace {

constexpr std::size_t kRepetitions = 5;
constexpr std::size_t kDigestBytes = 32;
/// Items whose results are compared with the processor's.
constexpr std::size_t kCompared = 2000;
/// Keys of the ring that signs.
constexpr std::size_t kRingKeys = 4096;

void check(mm_status status) {
  if (status != MM_OK) throw std::runtime_error(mm_last_error());
}

struct FreePlan {
  void operator()(mm_ecc_plan* plan) const { mm_ecc_plan_destroy(plan); }
};
using Plan = std::unique_ptr<mm_ecc_plan, FreePlan>;

Plan make_plan(const mm_ecc_curve* curve, const char* device) {
  mm_ecc_plan_options options{};
  options.struct_size = sizeof options;
  options.device = device;
  mm_ecc_plan* plan = nullptr;
  check(mm_ecc_plan_create(&curve, 1, &options, &plan));
  return Plan(plan);
}

struct FreeRing {
  void operator()(mm_ecc_ring* ring) const { mm_ecc_ring_destroy(ring); }
};

using Bytes = std::vector<std::uint8_t>;

mm_bytes_view rows_of(const Bytes& bytes, std::size_t size) {
  mm_bytes_view view{};
  view.count = bytes.size() / size;
  view.data = bytes.data();
  view.size = size;
  return view;
}

struct Operation {
  mm_ecc_op op;
  bool check = true;            ///< of signatures that are made
  bool has_one_scalar = false;  ///< of sums: all terms are in the same buckets
  bool has_ring = false;        ///< signing: each item has a key of the ring
};
constexpr std::array<Operation, 3> kSums{{{MM_ECC_ADD}, {MM_ECC_SUM}, {MM_ECC_SUM, true, true}}};

/// The operands and results of calls on one curve, of as many items as the longest one has.
class Calls {
 public:
  Calls(const std::string& name, const KernelRates& kernels, std::size_t most) : kernels_(kernels) {
    curve_ = mm_ecc_curve_find(name.c_str());
    if (curve_ == nullptr) throw std::runtime_error("no curve " + name);
    info_.struct_size = sizeof info_;
    check(mm_ecc_curve_get_info(curve_, &info_));
    cpu_ = make_plan(curve_, "cpu");
    gpu_ = make_plan(curve_, "cuda");
    std::mt19937_64 random(11);
    secrets_.resize(most * info_.secret_bytes);
    digests_.resize(most * kDigestBytes);
    for (Bytes* const bytes : {&secrets_, &digests_}) {
      for (std::uint8_t& byte : *bytes) byte = static_cast<std::uint8_t>(random());
    }
    // Below n: the highest bits of secrets are 0.
    for (std::size_t i = 0; i < secrets_.size(); i += info_.secret_bytes) secrets_[i] = 0;
    check_results({MM_ECC_PUBLIC_KEY}, keys_, info_.public_bytes, most);
    if (info_.signature_bytes != 0) {
      check_results({MM_ECC_SIGN}, signatures_, info_.signature_bytes, most);
      make_ring(most);
      compare({MM_ECC_SIGN, true, false, true}, std::min(most, 10 * kCompared));
    }
    if (info_.form == MM_ECC_MONTGOMERY) return;
    others_ = keys_;
    std::rotate(others_.begin(), others_.begin() + static_cast<std::ptrdiff_t>(info_.public_bytes),
                others_.end());
    for (const Operation& op : kSums) compare(op, most);
  }

  void measure(std::size_t count, bool on_gpu_only, std::vector<Json>& rows) {
    std::vector<Operation> operations;
    operations.reserve(8);
    operations.push_back({MM_ECC_PUBLIC_KEY});
    if (info_.signature_bytes != 0) {
      for (const bool check : {true, false}) {
        operations.push_back({MM_ECC_SIGN, check});
        operations.push_back({MM_ECC_SIGN, check, false, true});
      }
      operations.push_back({MM_ECC_VERIFY});
    }
    if (info_.form != MM_ECC_EDWARDS) operations.push_back({MM_ECC_EXCHANGE});
    if (info_.form != MM_ECC_MONTGOMERY) operations.insert(operations.end(), kSums.begin(), kSums.end());
    for (const Operation op : operations) {
      for (const bool on_gpu : {false, true}) {
        if (on_gpu_only && !on_gpu) continue;
        mm_ecc_plan* const plan = (on_gpu ? gpu_ : cpu_).get();
        std::array<double, kRepetitions> seconds{};
        for (double& one : seconds) {
          const auto start = std::chrono::steady_clock::now();
          run(plan, op, count);
          one = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        }
        std::ranges::sort(seconds);
        const double rate = static_cast<double>(count) / seconds[kRepetitions / 2];
        Json row;
        row["curve"] = info_.name;
        row["operation"] = names(op);
        row["device"] = on_gpu ? "cuda" : "cpu";
        row["items"] = count;
        row["per_second"] = rate;
        const double share = on_gpu ? rate * kernel_seconds(op) : 0;
        if (share > 0) row["share_of_kernels"] = share;
        rows.push_back(std::move(row));
        std::printf("%-10s %-24s %-4s %9zu items %9.3f M/s", info_.name, names(op), on_gpu ? "cuda" : "cpu",
                    count, rate / 1e6);
        std::printf(share > 0 ? ", %3.0f %% of the kernels\n" : "\n", 100 * share);
        std::fflush(stdout);
      }
    }
  }

  [[nodiscard]] bool right() const { return right_; }

 private:
  const KernelRates& kernels_;
  const mm_ecc_curve* curve_ = nullptr;
  mm_ecc_curve_info info_{};
  Plan cpu_, gpu_;
  Bytes secrets_, digests_, keys_, others_, signatures_, results_;
  std::vector<std::uint8_t> ok_;
  std::unique_ptr<mm_ecc_ring, FreeRing> ring_;
  std::vector<std::uint32_t> ring_key_;  ///< of each item
  bool right_ = true;

  /// A ring of the first keys, and keys of it for `most` items.
  void make_ring(std::size_t most) {
    mm_ecc_ring_keys keys{};
    keys.struct_size = sizeof keys;
    keys.count = std::min(most, kRingKeys);
    keys.secret = rows_of(secrets_, info_.secret_bytes);
    keys.secret.count = keys.count;
    mm_ecc_ring* ring = nullptr;
    check(mm_ecc_ring_create(cpu_.get(), &keys, &ring));
    ring_.reset(ring);
    for (std::size_t i = 0; i < most; ++i) {
      ring_key_.push_back(static_cast<std::uint32_t>(i * 31 % keys.count));
    }
  }

  static const char* names(Operation operation) {
    switch (operation.op) {
      case MM_ECC_PUBLIC_KEY:
        return "call_public_key";
      case MM_ECC_SIGN:
        if (operation.has_ring) return operation.check ? "call_sign_ring" : "call_sign_ring_unchecked";
        return operation.check ? "call_sign" : "call_sign_unchecked";
      case MM_ECC_VERIFY:
        return "call_verify";
      case MM_ECC_ADD:
        return "call_add";
      case MM_ECC_SUM:
        return operation.has_one_scalar ? "call_sum_one_scalar" : "call_sum";
      default:
        return "call_exchange";
    }
  }

  /// Whether signatures are those of SM2, of messages; those of ECDSA are of digests.
  [[nodiscard]] bool is_sm2() const { return info_.name == std::string_view("SM2"); }

  /// What an item takes in a kernel; 0 where it was not measured.
  [[nodiscard]] double seconds(const char* kernel) const {
    const auto found = kernels_.find(kernel);
    return found == kernels_.end() ? 0 : 1 / found->second;
  }
  /// The same of the multiplications and of ECDSA's other kernels in a call. EdDSA and SM2 multiply the
  /// generator for the public key, unless a ring has it, and for the signature; the check of one by EdDSA
  /// does so as often as making it.
  [[nodiscard]] double kernel_seconds(Operation operation) const {
    const bool is_edwards = info_.form == MM_ECC_EDWARDS;
    const double base = seconds("base");
    switch (operation.op) {
      case MM_ECC_PUBLIC_KEY:
        return info_.form == MM_ECC_MONTGOMERY ? seconds("ladder") : base;
      case MM_ECC_SIGN:
        if (is_edwards) return (operation.check ? 2 : 1) * (operation.has_ring ? 1 : 2) * base;
        if (is_sm2()) return ((operation.check ? 1 : 0) + (operation.has_ring ? 1 : 2)) * base;
        return seconds("sign_rfc6979") + (operation.check ? base : 0);
      case MM_ECC_VERIFY:
        return seconds(is_edwards ? "two" : "verify");
      case MM_ECC_ADD:
      case MM_ECC_SUM:
        return 0;
      default:
        return seconds(info_.form == MM_ECC_MONTGOMERY ? "ladder" : "multiply");
    }
  }

  /// Results to results_, verdicts to ok_.
  void run(mm_ecc_plan* plan, Operation operation, std::size_t count) {
    const mm_ecc_op op = operation.op;
    const auto some = [count](const Bytes& bytes, std::size_t size) {
      mm_bytes_view view = rows_of(bytes, size);
      view.count = count;
      return view;
    };
    mm_ecc_call call{};
    call.struct_size = sizeof call;
    call.op = op;
    call.no_check = operation.check ? 0 : 1;
    call.count = count;
    const bool is_signature = op == MM_ECC_SIGN || op == MM_ECC_VERIFY;
    if (is_signature) {
      call.message = some(digests_, kDigestBytes);
      call.prehashed = info_.form == MM_ECC_WEIERSTRASS && !is_sm2() ? 1 : 0;
      if (call.prehashed != 0) call.scheme = MM_ECC_ECDSA;
    }
    if (operation.has_ring) {
      call.ring = ring_.get();
      call.key = ring_key_.data();
    } else if (op != MM_ECC_VERIFY && op != MM_ECC_ADD) {
      call.secret = some(secrets_, info_.secret_bytes);
    }
    if (operation.has_one_scalar) call.secret.count = 1;
    if (op == MM_ECC_ADD) call.second = some(others_, info_.public_bytes);
    if (op != MM_ECC_SIGN && op != MM_ECC_PUBLIC_KEY) call.point = some(keys_, info_.public_bytes);
    if (op == MM_ECC_VERIFY) {
      call.signature = some(signatures_, info_.signature_bytes);
      ok_.assign(count, 0);
      call.ok = ok_.data();
    } else {
      const std::size_t size = op == MM_ECC_SIGN       ? info_.signature_bytes
                               : op == MM_ECC_EXCHANGE ? info_.coordinate_bytes
                                                       : info_.public_bytes;
      const std::size_t rows = op == MM_ECC_SUM ? 1 : count;
      results_.resize(rows * size);
      call.output = {results_.data(), rows, size, nullptr};
    }
    check(mm_ecc_run(plan, &call));
    if (op == MM_ECC_VERIFY)
      right_ = right_ && std::ranges::count(ok_, 1) == static_cast<std::ptrdiff_t>(count);
  }

  /// Whether the GPU's results are the processor's.
  void compare(Operation op, std::size_t count) {
    run(cpu_.get(), op, count);
    const Bytes expected = results_;
    run(gpu_.get(), op, count);
    right_ = right_ && results_ == expected;
  }
  /// The results of all items by the GPU, of which those of the first ones are compared with the processor's.
  void check_results(Operation op, Bytes& to, std::size_t size, std::size_t most) {
    const std::size_t few = std::min(most, kCompared);
    run(cpu_.get(), op, few);
    const Bytes expected = results_;
    run(gpu_.get(), op, most);
    to = results_;
    right_ = right_ && std::equal(expected.begin(),
                                  expected.begin() + static_cast<std::ptrdiff_t>(few * size), to.begin());
  }
};

}  // namespace

std::vector<Json> measure_calls(const std::string& curve, const KernelRates& kernels,
                                const std::vector<std::size_t>& batches, bool on_gpu_only, bool& right) {
  std::vector<Json> rows;
  Calls calls(curve, kernels, *std::ranges::max_element(batches));
  for (const std::size_t count : batches) calls.measure(count, on_gpu_only, rows);
  right = right && calls.right();
  return rows;
}

}  // namespace manymod::bench
