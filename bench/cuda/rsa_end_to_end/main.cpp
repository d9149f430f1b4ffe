// SPDX-License-Identifier: Apache-2.0
// rsa_end_to_end: RSA from messages to signatures, and back, in the host's memory, on a GPU and on the
// processor.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "../json.hpp"
#include "../median.hpp"
#include "../program_main.hpp"
#include "../report_file.hpp"
#include "keys.hpp"
#include "manymod/manymod.hpp"

namespace manymod::bench {
namespace {

constexpr const char* kDescription =
    "Time calls that sign and verify, with hashing, padding, blinding and check; libcrypto checks samples. "
    "The part weights times constant-time powers with exponents of few and of many ones.";

constexpr std::size_t kMessageBytes = 32;
constexpr std::size_t kKeys = 16;  // of a ring with many
constexpr std::size_t kBadEvery = 997;
constexpr std::size_t kChecked = 16;

struct Options : CommonOptions {
  std::vector<unsigned> bits{2048, 3072, 4096};
  std::vector<std::string> parts;  ///< empty: all
  std::vector<std::string> devices{"cuda", "cpu"};
  std::vector<std::size_t> batches{1024, 16384, 131072, 524288, 1048576};

  [[nodiscard]] bool wants_part(std::string_view part) const {
    return parts.empty() || std::ranges::find(parts, part) != parts.end();
  }
};

void add_options(CLI::App& command, Options& options) {
  add_list(command, "--bits", options.bits, "Widths")->check(CLI::PositiveNumber)->capture_default_str();
  add_list(command, "--part", options.parts, "Parts to measure (default: all)")
      ->check(CLI::IsMember({"sign", "verify", "weights"}));
  add_list(command, "--device", options.devices, "Where to compute")->capture_default_str();
  add_list(command, "--batches", options.batches, "Items of a call")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

double seconds_of(const auto& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Items in arrays, and one call on them.
struct Items {
  std::size_t count;
  std::size_t key_bytes;
  std::vector<std::uint8_t> messages, outputs, valid;
  std::vector<std::uint32_t> key_of;

  Items(std::size_t items, std::size_t modulus_bytes, std::size_t keys)
      : count(items),
        key_bytes(modulus_bytes),
        messages(items * kMessageBytes),
        outputs(items * modulus_bytes),
        valid(items) {
    std::uint64_t state = 1;
    for (std::uint8_t& byte : messages) {
      state = state * 6364136223846793005 + 1442695040888963407;
      byte = static_cast<std::uint8_t>(state >> 56);
    }
    if (keys < 2) return;
    for (std::size_t i = 0; i < items; ++i) key_of.push_back(static_cast<std::uint32_t>(i % keys));
  }

  [[nodiscard]] std::span<const std::uint8_t> message(std::size_t i) const {
    return {messages.data() + i * kMessageBytes, kMessageBytes};
  }
  [[nodiscard]] std::span<std::uint8_t> output(std::size_t i) {
    return {outputs.data() + i * key_bytes, key_bytes};
  }

  [[nodiscard]] mm_rsa_call call(mm_rsa_op op, const mm_rsa_padding& padding) {
    mm_rsa_call call{};
    call.struct_size = sizeof call;
    call.op = op;
    call.padding = padding;
    call.count = count;
    call.key = key_of.empty() ? nullptr : key_of.data();
    call.input = {count, messages.data(), kMessageBytes, kMessageBytes, nullptr, nullptr};
    if (op == MM_RSA_VERIFY) {
      call.signature = {count, outputs.data(), key_bytes, key_bytes, nullptr, nullptr};
      call.valid = valid.data();
    } else {
      call.output = {outputs.data(), count, key_bytes, nullptr};
    }
    return call;
  }
};

void require(mm_status status) {
  if (status != MM_OK) throw std::runtime_error(mm_last_error());
}

struct DestroyRing {
  void operator()(mm_rsa_ring* ring) const { mm_rsa_ring_destroy(ring); }
};
using Ring = std::unique_ptr<mm_rsa_ring, DestroyRing>;

struct Case {
  const char* operation;
  mm_rsa_scheme scheme;
  unsigned bits;
  std::size_t keys;
  bool blinding;
  std::string device;
};

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options) {}

  /// @return whether all was measured and right
  bool run() {
    for (const unsigned bits : options_.bits) {
      keys_ = make_keys(bits, kKeys);
      for (const std::string& device : options_.devices) {
        if (options_.wants_part("sign")) run_signing(bits, device);
        if (options_.wants_part("verify")) run_case({"verify", MM_RSA_PKCS1V15, bits, 1, true, device});
        if (options_.wants_part("verify")) run_case({"verify", MM_RSA_PKCS1V15, bits, kKeys, true, device});
      }
      if (options_.wants_part("weights")) run_weights(bits / 2);
      save_report(options_, *this);
    }
    complete_ = true;
    return wrong_ == 0 && failed_ == 0 && !rows_.empty();
  }

  [[nodiscard]] Json report() const {
    Json document;
    document["card"] = model_of("cuda:0");
    document["processor"] = model_of("cpu");
    document["processors"] = mm_get_threads();
    document["driver"] = driver_version();
    document["date"] = now();
    document["commit"] = commit();
    document["quick"] = options_.quick;
    document["complete"] = complete_;
    document["method"] =
        "wall-clock time of mm_rsa_run, medians after a call to warm up; messages of 32 bytes "
        "(verification: digests of SHA-256) and signatures in pageable memory; signing with SHA-256, "
        "padding, blinding unless it says otherwise, and check of every result; e = 65537; samples "
        "checked by libcrypto; weights: constant-time powmod by mm_plan_run, an odd modulus to each "
        "item, calls in turn";
    document["wrong"] = wrong_;
    document["failed"] = failed_;
    document["rows"] = rows_;
    return document;
  }

 private:
  const Options& options_;
  std::vector<TimedKey> keys_;
  std::vector<Json> rows_;
  unsigned wrong_ = 0, failed_ = 0;
  bool complete_ = false;

  static const char* model_of(std::string_view name) {
    mm_device_info info{};
    info.struct_size = sizeof info;
    for (std::size_t index = 0; index < mm_device_count(); ++index) {
      if (mm_device_get(index, &info) == MM_OK && name == info.name) return info.model;
    }
    return "";
  }

  void run_signing(unsigned bits, const std::string& device) {
    run_case({"sign", MM_RSA_PKCS1V15, bits, 1, true, device});
    run_case({"sign", MM_RSA_PSS, bits, 1, true, device});
    run_case({"sign", MM_RSA_PKCS1V15, bits, kKeys, true, device});
    run_case({"sign", MM_RSA_PKCS1V15, bits, 1, false, device});
  }

  void run_case(const Case& what) {
    try {
      const Ring ring = ring_for(what);
      double item_seconds = 0;
      for (const std::size_t batch : options_.batches) {
        if (item_seconds * static_cast<double>(batch) > (options_.quick ? 0.2 : 2.0)) break;
        item_seconds = measure(what, ring, batch) / static_cast<double>(batch);
      }
    } catch (const std::exception& error) {
      ++failed_;
      Json row = description(what);
      row["kind"] = "failed";
      row["message"] = error.what();
      rows_.push_back(std::move(row));
      std::printf("FAILED: %s %u bits on %s: %s\n", what.operation, what.bits, what.device.c_str(),
                  error.what());
    }
    std::fflush(stdout);
  }

  [[nodiscard]] Ring ring_for(const Case& what) const {
    std::vector<rsa::Key> keys;
    std::vector<const mm_rsa_key*> pointers;
    for (std::size_t i = 0; i < what.keys; ++i) keys.push_back(keys_[i].key());
    for (const rsa::Key& key : keys) pointers.push_back(key.get());
    mm_rsa_ring_options options{};
    options.struct_size = sizeof options;
    options.device = what.device.c_str();
    options.blinding = what.blinding ? MM_RSA_BLINDING_ON : MM_RSA_BLINDING_OFF;
    mm_rsa_ring* ring = nullptr;
    require(mm_rsa_ring_create(&options, pointers.data(), pointers.size(), &ring));
    return Ring(ring);
  }

  static Json description(const Case& what) {
    Json row;
    row["operation"] = what.operation;
    row["padding"] = what.scheme == MM_RSA_PSS ? "pss" : "pkcs1v15";
    row["bits"] = what.bits;
    row["keys"] = what.keys;
    row["blinding"] = what.blinding;
    row["device"] = what.device;
    return row;
  }

  // @return median of a call in seconds
  double measure(const Case& what, const Ring& ring, std::size_t batch) {
    Items items(batch, what.bits / 8, what.keys);
    const mm_rsa_padding signing = what.scheme == MM_RSA_PSS ? rsa::pss(MM_SHA256) : rsa::pkcs1v15(MM_SHA256);
    const bool verifying = std::string_view(what.operation) == "verify";
    mm_rsa_call sign = items.call(MM_RSA_SIGN, signing);
    mm_rsa_padding digests = signing;
    digests.prehashed = 1;
    if (verifying) sign.padding = digests;
    require(mm_rsa_run(ring.get(), &sign));
    mm_rsa_call timed = verifying ? items.call(MM_RSA_VERIFY, digests) : sign;
    if (verifying) {
      for (std::size_t i = 0; i < batch; i += kBadEvery) items.output(i)[what.bits / 16] ^= 1;
    }
    std::vector<double> seconds;
    double total = seconds_of([&] { require(mm_rsa_run(ring.get(), &timed)); });
    while (seconds.size() < 3 || (total < (options_.quick ? 0.02 : 0.5) && seconds.size() < 31)) {
      seconds.push_back(seconds_of([&] { require(mm_rsa_run(ring.get(), &timed)); }));
      total += seconds.back();
    }
    const double median = median_of(seconds);
    add_row(what, ring, items, median, seconds.size(),
            verifying ? bad_verdicts(items) : bad_signatures(what, items));
    return median;
  }

  void add_row(const Case& what, const Ring& ring, const Items& items, double median, std::size_t runs,
               std::size_t wrong) {
    const double rate = static_cast<double>(items.count) / median;
    const bool is_private = std::string_view(what.operation) == "sign";
    const std::string variant = mm_rsa_ring_variant(ring.get(), 0, is_private ? 1 : 0, 2 * items.count);
    Json row = description(what);
    row["kind"] = "batch";
    row["items"] = items.count;
    row["variant"] = variant;
    row["runs"] = runs;
    row["seconds"] = median;
    row["items_per_second"] = rate;
    row["wrong"] = wrong;
    rows_.push_back(std::move(row));
    wrong_ += wrong > 0 ? 1 : 0;
    std::printf("%-7s %-9s %5u bits %3zu keys %-9s %-5s %-16s %8zu items %10.3f ms %12.1f /s%s\n",
                what.operation, what.scheme == MM_RSA_PSS ? "pss" : "pkcs1v15", what.bits, what.keys,
                what.blinding ? "" : "unblinded", what.device.c_str(), variant.c_str(), items.count,
                median * 1e3, rate, wrong > 0 ? "  WRONG" : "");
  }

  [[nodiscard]] std::size_t bad_signatures(const Case& what, Items& items) const {
    std::size_t bad = 0;
    const std::size_t step = std::max<std::size_t>(1, items.count / kChecked);
    for (std::size_t i = 0; i < items.count; i += step) {
      const TimedKey& key = keys_[items.key_of.empty() ? 0 : items.key_of[i]];
      bad += key.verifies(what.scheme == MM_RSA_PSS, items.message(i), items.output(i)) ? 0 : 1;
    }
    return bad;
  }

  [[nodiscard]] static std::size_t bad_verdicts(const Items& items) {
    std::size_t bad = 0;
    for (std::size_t i = 0; i < items.count; ++i)
      bad += items.valid[i] == (i % kBadEvery == 0 ? 0 : 1) ? 0 : 1;
    return bad;
  }

  // ---- whether the time of powers depends on their exponents

  struct Weight {
    const char* name;
    std::uint64_t limb;  ///< of which the exponents are made
    std::vector<double> seconds;
  };

  void run_weights(unsigned bits) {
    const std::string& device = options_.devices.front();
    const std::size_t count = device == "cpu" ? 64 : 16384;
    const std::size_t limbs = bits / 64;
    Weight weights[] = {
        {"no ones", 0, {}}, {"half", 0x5555555555555555, {}}, {"ones", ~std::uint64_t{0}, {}}};
    std::vector<std::uint64_t> numbers(count * limbs), exponents(count * limbs), results(count * limbs);
    std::uint64_t state = 7;
    for (std::uint64_t& limb : numbers)
      limb = (state = state * 6364136223846793005 + 1442695040888963407) | 1;
    Placement where;
    where.device = device;
    Plan plan(Op::powmod, bits, ModulusKind::each, Timing::secret, where);
    const auto view = [&](const std::vector<std::uint64_t>& array) {
      return mm_view{array.data(), count, limbs, limbs, nullptr};
    };
    mm_call call{};
    call.struct_size = sizeof call;
    call.count = count;
    call.x = view(numbers);
    call.y = view(exponents);
    call.modulus = view(numbers);
    call.result = {results.data(), count, limbs, limbs, nullptr};
    require(plan.run(call));
    for (unsigned repetition = 0; repetition < (options_.quick ? 3U : 31U); ++repetition) {
      for (Weight& weight : weights) {
        std::ranges::fill(exponents, weight.limb);
        weight.seconds.push_back(seconds_of([&] { require(plan.run(call)); }));
      }
    }
    for (const Weight& weight : weights) {
      std::vector<double> sorted = weight.seconds;
      std::ranges::sort(sorted);
      Json row;
      row["kind"] = "weights";
      row["operation"] = "powmod";
      row["bits"] = bits;
      row["exponents"] = weight.name;
      row["items"] = count;
      row["device"] = device;
      row["runs"] = sorted.size();
      row["seconds"] = sorted[sorted.size() / 2];
      row["first_quartile"] = sorted[sorted.size() / 4];
      row["third_quartile"] = sorted[3 * sorted.size() / 4];
      rows_.push_back(std::move(row));
      std::printf("constant-time powmod, %u bits, exponents %-7s %10.4f ms\n", bits, weight.name,
                  sorted[sorted.size() / 2] * 1e3);
    }
  }
};

int run(const Options& options) {
  Bench bench(options);
  const bool right = bench.run();
  return save_report(options, bench) && right ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace manymod::bench

int main(int count, char** arguments) {
  using namespace manymod::bench;  // NOLINT(google-build-using-namespace)
  return program_main<Options>(kDescription, count, arguments, add_options, run);
}
