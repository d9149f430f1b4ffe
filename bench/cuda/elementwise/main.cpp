// SPDX-License-Identifier: Apache-2.0
// elementwise: sums, differences and products of arrays, and sums and products of terms, by calls of plans,
// beside a copy of the same bytes and the limit of the integer multiplier. Rows of the report:
// bench/cuda/README.md.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "../device_facts.hpp"
#include "../end_to_end/operands.hpp"
#include "../json.hpp"
#include "../program_main.hpp"
#include "../report_file.hpp"
#include "../timer.hpp"
#include "gpu/buffer.hpp"
#include "gpu/cuda/device.hpp"
#include "gpu/cuda/stream.hpp"
#include "manymod/manymod.h"

namespace manymod::bench {
namespace {

constexpr const char* kDescription =
    "Time element-wise operations on arrays in the memory of CUDA device 0 and of the host, in large calls "
    "and in calls of 1,000 items. Results are compared with the processor's.";
constexpr std::size_t kHostShare = 4;  // arrays in host memory are shorter by this factor
constexpr std::size_t kSmallItems = 1000;
constexpr std::size_t kChecked = std::size_t{1} << 16;  // items of a large call
constexpr std::size_t kTermsOfRow = 64;

struct Name {
  const char* text;
  mm_op op;
  unsigned operands;
};
constexpr Name kOperations[] = {
    {"addmod", MM_OP_ADDMOD, 2},  {"submod", MM_OP_SUBMOD, 2},
    {"negmod", MM_OP_NEGMOD, 1},  {"mulmod", MM_OP_MULMOD, 2},
    {"sqrmod", MM_OP_SQRMOD, 1},  {"fmamod", MM_OP_FMAMOD, 2},  // z lies where moduli lie
    {"summod", MM_OP_SUMMOD, 1},  {"dotmod", MM_OP_DOTMOD, 2},
    {"prodmod", MM_OP_PRODMOD, 1}};

struct Options : CommonOptions {
  std::vector<unsigned> bits = {128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096};
  std::vector<std::string> operations, moduli = {"shared", "even", "each"}, places = {"resident", "host"};
  std::string variant;
  std::size_t limbs = std::size_t{1} << 26;
};

void add_options(CLI::App& command, Options& options) {
  for (const Name& name : kOperations) options.operations.emplace_back(name.text);
  add_list(command, "--bits", options.bits, "Widths (default: all)")->check(CLI::PositiveNumber);
  add_list(command, "--op", options.operations, "Operations (default: all)")
      ->check(CLI::IsMember(options.operations));
  add_list(command, "--moduli", options.moduli, "shared and odd, shared and even, or one for each item")
      ->check(CLI::IsMember(options.moduli));
  add_list(command, "--place", options.places, "Where the arrays are")->check(CLI::IsMember(options.places));
  command.add_option("--variant", options.variant, "Variant to force");
  command.add_option("--limbs", options.limbs, "64-bit words of each array")
      ->check(CLI::Range(std::size_t{1} << 18, std::size_t{1} << 30))
      ->capture_default_str();
}

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void require(mm_status status) {
  if (status != MM_OK) throw std::runtime_error(mm_last_error());
}

class Plan {
 public:
  Plan(mm_op op, unsigned bits, bool shared, const char* device, const char* variant) {
    mm_plan_options options{};
    options.struct_size = sizeof options;
    options.op = op;
    options.modulus_bits = bits;
    options.modulus_kind = shared ? MM_MODULUS_SHARED : MM_MODULUS_EACH;
    options.device = device;
    options.variant = variant;
    require(mm_plan_create(&options, &plan_));
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() { mm_plan_destroy(plan_); }

  void run(const mm_call& call) const { require(mm_plan_run(plan_, &call)); }
  [[nodiscard]] const char* variant(std::size_t items) const { return mm_plan_variant_for(plan_, items); }

 private:
  mm_plan* plan_ = nullptr;
};

struct Case {
  Name name;
  unsigned bits;
  std::string modulus;
  bool resident;
  bool single = false;  ///< all terms are those of one item

  [[nodiscard]] bool shared() const { return modulus != "each"; }
  [[nodiscard]] bool has_terms() const {
    return name.op == MM_OP_SUMMOD || name.op == MM_OP_DOTMOD || name.op == MM_OP_PRODMOD;
  }
  /// Terms of each item of a call on so many integers in x; 1 where items have none.
  [[nodiscard]] std::size_t terms(std::size_t integers) const {
    return !has_terms() ? 1 : single ? integers : kTermsOfRow;
  }
  [[nodiscard]] bool is_product() const {
    return name.op == MM_OP_MULMOD || name.op == MM_OP_SQRMOD || name.op == MM_OP_FMAMOD ||
           name.op == MM_OP_PRODMOD || name.op == MM_OP_DOTMOD;
  }
  [[nodiscard]] std::size_t width() const { return bits / 64; }
  /// Bytes of an item, or of a term, that are read and written.
  [[nodiscard]] double bytes() const {
    if (has_terms()) return static_cast<double>(8 * width() * name.operands);
    const unsigned others = shared() && name.op != MM_OP_FMAMOD ? 1 : 2;  // the result, and moduli or z
    return static_cast<double>(8 * width() * (name.operands + others));
  }
  /// Wide products of 32-bit words of a schoolbook product and one reduction, which terms of dot products do
  /// not have.
  [[nodiscard]] double wide_products() const {
    const double words = static_cast<double>(2 * width());
    if (name.op == MM_OP_DOTMOD) return words * words;
    return is_product() ? 2 * words * words + words : 0;
  }
};

class Bench {
 public:
  explicit Bench(const Options& options)
      : options_(options),
        device_(cuda::device(0)),
        stream_(device_),
        timer_(stream_),
        limbs_(options.quick ? options.limbs / 4 : options.limbs),
        operands_(limbs_) {}

  bool run() {
    copy_bytes_per_second_ = measure_copy();
    std::printf("copy on the device: %.0f GB/s read and written\n", copy_bytes_per_second_ / 1e9);
    for (const unsigned bits : options_.bits) {
      operands_.shape(bits);
      operands_.reduce();
      operands_.put_on_device();
      for (const Name& name : kOperations) run_operation(name, bits);
      save_report(options_, *this);
    }
    complete_ = true;
    return wrong_ == 0;
  }

  [[nodiscard]] Json report() const {
    Json document = report_of(device_, options_.quick);
    document["complete"] = complete_;
    document["copy_bytes_per_second"] = copy_bytes_per_second_;
    document["method"] =
        "wall-clock time of mm_plan_run, medians after a call to warm up; operands of random limbs, moduli "
        "with "
        "their top bit set; copy_percent: bytes read and written per second, of those that a copy on the "
        "device "
        "reads and writes; multiplier_percent: 2 W^2 + W wide products of words for an item, of 32 for each "
        "clock of "
        "each multiprocessor, for a term of a dot product W^2; items of summod, dotmod and prodmod are "
        "terms, of "
        "which an item has `terms`; small_call_us: a call of 1,000 items; results compared with the "
        "processor's";
    document["wrong"] = wrong_;
    document["rows"] = rows_;
    return document;
  }

 private:
  const Options& options_;
  cuda::Device& device_;
  cuda::Stream stream_;
  Timer timer_;
  std::size_t limbs_;
  Operands operands_;
  double copy_bytes_per_second_ = 0;
  double mhz_ = 0;
  unsigned wrong_ = 0;
  bool complete_ = false;
  std::vector<Json> rows_;

  double measure_copy() {
    const std::size_t bytes = limbs_ * sizeof(std::uint64_t);
    const gpu::DeviceBuffer from(device_, bytes), to(device_, bytes);
    const Timing timing =
        timer_.measure([&] { stream_.copy_on_device(to.data(), from.data(), bytes); }, {0.2, 5, 50});
    mhz_ = timing.mhz;
    return 2 * static_cast<double>(bytes) / timing.median;
  }

  [[nodiscard]] static bool wants(const std::vector<std::string>& list, const std::string& name) {
    return std::ranges::find(list, name) != list.end();
  }

  void run_operation(const Name& name, unsigned bits) {
    if (!wants(options_.operations, name.text)) return;
    for (const std::string& modulus : options_.moduli) {
      for (const bool resident : {true, false}) {
        if (!wants(options_.places, resident ? "resident" : "host")) continue;
        if (modulus == "even" && !resident) continue;
        Case what{name, bits, modulus, resident};
        measure(what);
        what.single = true;
        if (what.has_terms() && modulus == "shared" && resident) measure(what);
      }
    }
  }

  /// A call, and the modulus that its items share: the first one, or that less 1.
  struct Call {
    mm_call call{};
    std::vector<std::uint64_t> modulus;
  };

  [[nodiscard]] Call call_of(const Case& what, std::size_t items, std::uint64_t* results) const {
    Call made;
    const std::size_t width = what.width();
    made.modulus.assign(operands_.moduli(false), operands_.moduli(false) + width);
    if (what.modulus == "even") made.modulus[0] -= 1;
    const std::uint64_t* const moduli = operands_.moduli(what.resident);
    mm_call& call = made.call;
    call.struct_size = sizeof call;
    call.terms = what.has_terms() ? what.terms(items) : 0;
    call.count = items / what.terms(items);
    call.x = {operands_.bases(what.resident), items, width, 0, nullptr};
    call.y = {operands_.exponents(what.resident), items, width, 0, nullptr};
    if (what.name.op == MM_OP_FMAMOD) call.z = {moduli, items, width, 0, nullptr};
    call.modulus = {what.shared() ? nullptr : moduli, what.shared() ? 1 : call.count, width, 0, nullptr};
    call.result = {results, call.count, width, 0, nullptr};
    if (what.resident) {
      call.on_device = MM_ON_DEVICE_X | MM_ON_DEVICE_Y | MM_ON_DEVICE_RESULT;
      if (!what.shared()) call.on_device |= MM_ON_DEVICE_MODULUS;
      if (call.z.limbs != nullptr) call.on_device |= MM_ON_DEVICE_Z;
    }
    return made;
  }

  static void run(const Plan& plan, Call& call) {
    if (call.call.modulus.limbs == nullptr) call.call.modulus.limbs = call.modulus.data();
    plan.run(call.call);
  }

  void measure(const Case& what) {
    const std::size_t width = what.width();
    const char* const variant = options_.variant.empty() ? nullptr : options_.variant.c_str();
    const Plan plan(what.name.op, what.bits, what.shared(), "cuda:0", variant);
    const std::size_t most = limbs_ / (what.resident ? 1 : kHostShare) / width;
    const std::size_t items = most / what.terms(most) * what.terms(most);
    const std::size_t few = what.single ? kSmallItems : kSmallItems / what.terms(most) * what.terms(most);
    Call large = call_of(what, items, operands_.results(what.resident));
    Call small = call_of(what, few, operands_.results(what.resident));
    const double seconds = median_seconds(plan, large, 0.15, 30);
    const bool right = check(what, items);
    const double small_seconds = median_seconds(plan, small, 0.05, 1000);
    const bool small_right = check(what, few);
    record(what, plan, items, seconds, small_seconds, right && small_right);
  }

  static double median_seconds(const Plan& plan, Call& call, double budget, std::size_t most) {
    std::vector<double> times;
    double total = 0;
    run(plan, call);
    while (times.size() < 5 || (total < budget && times.size() < most)) {
      const Clock::time_point start = Clock::now();
      run(plan, call);
      times.push_back(seconds_since(start));
      total += times.back();
    }
    return median_of(times);
  }

  /// The first, the middle and the last items of a call, against the processor's.
  bool check(const Case& what, std::size_t items) {
    const std::size_t width = what.width(), terms = what.terms(items);
    const std::size_t part = std::max(terms, std::min(items, kChecked / 4) / terms * terms);
    bool right = true;
    for (const std::size_t first : {std::size_t{0}, (items - part) / 2 / terms * terms, items - part}) {
      std::vector<std::uint64_t> expected(part / terms * width), found(part / terms * width);
      Case on_host = what;
      on_host.resident = false;
      Call call = call_of(on_host, part, expected.data());
      call.call.x.limbs += first * width;
      call.call.y.limbs += first * width;
      if (call.call.z.limbs != nullptr) call.call.z.limbs += first * width;
      if (call.call.modulus.limbs != nullptr) call.call.modulus.limbs += first / terms * width;
      run(Plan(what.name.op, what.bits, what.shared(), "cpu", nullptr), call);
      read_results(what, first / terms, found);
      right = right && found == expected;
    }
    return right;
  }

  void read_results(const Case& what, std::size_t first, std::vector<std::uint64_t>& found) const {
    const std::uint64_t* const results = operands_.results(what.resident) + first * what.width();
    if (what.resident) {
      require(mm_device_copy(0, found.data(), results, found.size() * sizeof found[0], MM_COPY_TO_HOST));
    } else {
      std::copy_n(results, found.size(), found.begin());
    }
  }

  void record(const Case& what, const Plan& plan, std::size_t items, double seconds, double small_seconds,
              bool right) {
    const double rate = static_cast<double>(items) / seconds;
    const double copy = 100 * rate * what.bytes() / copy_bytes_per_second_;
    const double clocks = mhz_ * 1e6 * device_.properties().multiprocessors;
    const double multiplier = 100 * rate * what.wide_products() / (32 * clocks);
    Json row;
    row["operation"] = what.name.text;
    row["bits"] = what.bits;
    row["modulus"] = what.modulus;
    row["arrays"] = what.resident ? "resident" : "host";
    row["variant"] = plan.variant(items);
    row["items"] = items;
    if (what.has_terms()) row["terms"] = what.terms(items);
    row["items_per_second"] = rate;
    row["copy_percent"] = copy;
    if (what.is_product()) row["multiplier_percent"] = multiplier;
    row["small_call_us"] = small_seconds * 1e6;
    row["right"] = right;
    rows_.push_back(std::move(row));
    if (!right) ++wrong_;
    std::printf("%-7s %5u %-7s %-9s %8zu %9.1f M/s %6.1f %% of copy %6.1f %% of multiplier %8.1f us%s\n",
                what.name.text, what.bits, what.modulus.c_str(), what.resident ? "resident" : "host",
                what.terms(items), rate / 1e6, copy, what.is_product() ? multiplier : 0.0,
                small_seconds * 1e6, right ? "" : "  WRONG");
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
