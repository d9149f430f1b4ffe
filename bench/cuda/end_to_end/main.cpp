// SPDX-License-Identifier: Apache-2.0
// end_to_end: calls of plans from and to arrays, on a GPU and on the processor.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "../json.hpp"
#include "../program_main.hpp"
#include "../report_file.hpp"
#include "case.hpp"

namespace manymod::bench {
namespace {

constexpr const char* kDescription =
    "Time calls of plans on arrays in pageable memory and in the GPU's memory (part resident), and the same "
    "calls on the processor; 16 answers of each row are compared with the processor's.";

constexpr unsigned kPowerWidths[] = {256, 512, 1024, 1536, 2048, 3072, 4096};
constexpr unsigned kProductWidths[] = {256, 384, 512, 768, 1024};
constexpr unsigned kBatchWidths[] = {256, 1024, 2048, 4096};
constexpr std::size_t kBatches[] = {1, 8, 32, 128, 512, 1024, 4096};
constexpr std::size_t kArrayLimbs = std::size_t{1} << 26;
constexpr std::size_t kQuickArrayLimbs = std::size_t{1} << 22;
constexpr double kLongRuns = 1.5;  // seconds

struct Settings : CommonOptions {
  std::vector<std::string> parts;  ///< empty: all
  std::vector<unsigned> bits;      ///< empty: all
  std::string device = "cuda";
  std::size_t wave = 0;  ///< items that the device computes at a time; needed by part waves

  [[nodiscard]] bool wants_part(std::string_view part) const {
    if (parts.empty()) return part != "waves";
    return std::ranges::find(parts, part) != parts.end();
  }
  [[nodiscard]] bool wants_bits(unsigned width) const {
    return bits.empty() || std::ranges::find(bits, width) != bits.end();
  }
};

void add_options(CLI::App& command, Settings& settings) {
  add_list(command, "--part", settings.parts, "Parts to measure (default: all)")
      ->check(CLI::IsMember({"powers", "products", "batches", "resident", "waves"}));
  add_list(command, "--bits", settings.bits, "Widths (default: all)")->check(CLI::PositiveNumber);
  command.add_option(
      "--wave", settings.wave,
      "Part waves: items that the device computes at a time, for batches of 1/2 to 4 times as many");
  command.add_option("--device", settings.device, "Where to compute")->capture_default_str();
}

struct Timed {
  double median = 0;
  double best = 0;
  std::size_t runs = 0;
};

Timed summary_of(std::vector<double> seconds) {
  std::ranges::sort(seconds);
  return {seconds[seconds.size() / 2], seconds.front(), seconds.size()};
}

class Bench {
 public:
  explicit Bench(const Settings& settings)
      : settings_(settings), quick_(settings.quick), operands_(quick_ ? kQuickArrayLimbs : kArrayLimbs) {}

  /// @return whether all was measured and right
  bool run() {
    for (const unsigned bits : kPowerWidths) {
      const bool products = std::ranges::find(kProductWidths, bits) != std::end(kProductWidths);
      run_width(bits, true, products);
    }
    for (const unsigned bits : kProductWidths) {
      if (std::ranges::find(kPowerWidths, bits) == std::end(kPowerWidths)) run_width(bits, false, true);
    }
    complete_ = true;
    return wrong_ == 0 && failed_ == 0 && !rows_.empty();
  }

  [[nodiscard]] Json report() const {
    Json document;
    describe_machine(document);
    document["device"] = settings_.device;
    document["quick"] = quick_;
    document["complete"] = complete_;
    document["method"] =
        "wall-clock time of mm_plan_run, medians after a call to warm up; operands and results in "
        "pageable memory or, where arrays is \"device\", in the GPU's; one odd modulus with its top bit "
        "set to each item, exponents as long as the moduli; results into memory that was written "
        "before, or newly allocated where results is \"fresh\"; samples compared with the CPU's";
    document["resident_obstacle"] = resident_obstacle_;
    document["wrong"] = wrong_;
    document["failed"] = failed_;
    document["rows"] = rows_;
    return document;
  }

 private:
  const Settings& settings_;
  bool quick_;
  Operands operands_;
  std::vector<Json> rows_;
  std::string resident_obstacle_;
  unsigned wrong_ = 0;
  unsigned failed_ = 0;
  bool complete_ = false;

  void run_width(unsigned bits, bool powers, bool products) {
    if (!settings_.wants_bits(bits)) return;
    operands_.shape(bits);
    if (powers && settings_.wants_part("powers")) run_powers(bits);
    if (products && settings_.wants_part("products")) run_products(bits);
    const bool batches = std::ranges::find(kBatchWidths, bits) != std::end(kBatchWidths);
    if (batches && settings_.wants_part("batches")) run_batches(bits);
    if (settings_.wants_part("resident")) run_resident(bits, powers, products);
    if (powers && settings_.wants_part("waves")) run_waves(bits);
    save_report(settings_, *this);
  }

  [[nodiscard]] Case power(unsigned bits, mm_timing timing, Exponents exponents) const {
    Case what;
    what.timing = timing;
    what.bits = bits;
    what.exponents = exponents;
    what.device = settings_.device;
    return what;
  }

  void run_powers(unsigned bits) {
    for (const Exponents exponents : {Exponents::each, Exponents::shared, Exponents::f4}) {
      beside_cpu(power(bits, MM_TIMING_PUBLIC, exponents));
    }
    beside_cpu(power(bits, MM_TIMING_SECRET, Exponents::each));
    if (bits != 256 && bits != 1024) return;
    Case fresh = power(bits, MM_TIMING_PUBLIC, Exponents::each);
    fresh.results = Results::fresh;
    large(fresh);
  }

  void run_products(unsigned bits) {
    for (const mm_op op : {MM_OP_MULMOD, MM_OP_SQRMOD}) {
      Case what = power(bits, MM_TIMING_PUBLIC, Exponents::none);
      what.op = op;
      beside_cpu(what);
      what.results = Results::fresh;
      if (op == MM_OP_MULMOD) large(what);
    }
  }

  // @return whether the operands are there
  bool put_on_device() {
    if (!resident_obstacle_.empty()) return false;
    try {
      operands_.put_on_device();
    } catch (const std::runtime_error& error) {
      resident_obstacle_ = std::string("no arrays on the device: ") + error.what();
      std::printf("%s\n", resident_obstacle_.c_str());
    }
    return resident_obstacle_.empty();
  }

  // Arrays on the device, so that the kernels' time is all.
  void run_waves(unsigned bits) {
    if (settings_.wave == 0) throw std::invalid_argument("part waves needs --wave");
    if (!put_on_device()) return;
    for (const mm_timing timing : {MM_TIMING_PUBLIC, MM_TIMING_SECRET}) {
      Case what = power(bits, timing, Exponents::each);
      what.on_device = true;
      for (std::size_t eighths = 4; eighths <= 32; ++eighths) {
        const std::size_t items = settings_.wave * eighths / 8;
        if (items == 0 || items > operands_.items() || !batch(what, items, "waves")) break;
      }
    }
  }

  void run_resident(unsigned bits, bool powers, bool products) {
    if (!put_on_device()) return;
    const auto there = [&](Case what) {
      what.on_device = true;
      large(what);
    };
    if (powers) {
      there(power(bits, MM_TIMING_PUBLIC, Exponents::each));
      there(power(bits, MM_TIMING_PUBLIC, Exponents::f4));
      there(power(bits, MM_TIMING_SECRET, Exponents::each));
    }
    if (!products) return;
    for (const mm_op op : {MM_OP_MULMOD, MM_OP_SQRMOD}) {
      Case what = power(bits, MM_TIMING_PUBLIC, Exponents::none);
      what.op = op;
      there(what);
    }
  }

  void beside_cpu(Case what) {
    large(what);
    if (settings_.device == "cpu") return;
    what.device = "cpu";
    large(what);
  }

  // A batch of a fraction of a second.
  void large(const Case& what) {
    measured(what, [&](CaseRun& run) {
      const std::size_t items = items_for(what, run);
      std::vector<double> seconds;
      double total = 0;
      while (seconds.empty() || (!quick_ && seconds.size() < (total > kLongRuns ? 3 : 5))) {
        seconds.push_back(run.call(items));
        total += seconds.back();
      }
      add_row(what, run, items, summary_of(seconds));
    });
  }

  // As many as take long enough, or fill the arrays; those calls warm up. Few wide numbers are a whole number
  // of times what a GPU works on at once.
  std::size_t items_for(const Case& what, CaseRun& run) const {
    const bool on_cpu = what.device == "cpu";
    const double target = (quick_ ? 0.02 : 0.3) * (what.bits > 2048 ? 2 : 1) * (on_cpu ? 0.5 : 1);
    const std::size_t most = operands_.items();
    std::size_t items = std::min<std::size_t>(most, on_cpu ? 64 : 256);
    run.call(items);  // the first makes what later ones find made
    for (;;) {
      const double seconds = run.call(items);
      if (seconds >= 0.7 * target || items == most) return items;
      const double growth = std::clamp(target / seconds, 1.3, 8.0);
      items = std::min(most, rounded(static_cast<std::size_t>(growth * static_cast<double>(items)), on_cpu));
    }
  }

  [[nodiscard]] static std::size_t rounded(std::size_t items, bool on_cpu) {
    constexpr std::size_t kPerMultiprocessor = 192;
    const std::size_t wave = kPerMultiprocessor * multiprocessors();
    return on_cpu || items < wave ? items : (items + wave - 1) / wave * wave;
  }

  void run_batches(unsigned bits) {
    std::vector<std::string> devices{settings_.device};
    if (settings_.device != "cpu") devices.emplace_back("cpu");
    for (const mm_timing timing : {MM_TIMING_SECRET, MM_TIMING_PUBLIC}) {
      for (const std::string& device : devices) {
        Case what = power(bits, timing, Exponents::each);
        what.device = device;
        for (const std::size_t items : kBatches) {
          if (!batch(what, items)) break;
        }
      }
    }
  }

  // @return false if more items would take longer than is worth measuring
  bool batch(const Case& what, std::size_t items, const char* kind = "batch") {
    double median = 0;
    measured(what, [&](CaseRun& run) {
      const double enough = quick_ ? 0.02 : 0.2;
      std::vector<double> seconds;
      double total = run.call(items);
      while (seconds.size() < 3 || (total < enough && seconds.size() < 31)) {
        seconds.push_back(run.call(items));
        total += seconds.back();
      }
      const Timed timed = summary_of(seconds);
      median = timed.median;
      add_row(what, run, items, timed, kind);
    });
    return median < (quick_ ? 0.05 : 0.5);
  }

  template <class Measure>
  void measured(const Case& what, const Measure& measure) {
    try {
      CaseRun run(what, operands_);
      measure(run);
    } catch (const std::exception& error) {
      ++failed_;
      Json row = description(what);
      row["kind"] = "failed";
      row["message"] = error.what();
      rows_.push_back(std::move(row));
      std::printf("FAILED: %s %u bits on %s: %s\n", what.operation(), what.bits, what.device.c_str(),
                  error.what());
    }
    std::fflush(stdout);
  }

  static Json description(const Case& what) {
    Json row;
    row["operation"] = what.operation();
    row["timing_class"] = what.timing_class();
    row["bits"] = what.bits;
    row["exponents"] = what.exponents_name();
    row["arrays"] = what.on_device ? "device" : "host";
    row["results"] = what.results == Results::fresh ? "fresh" : "kept";
    row["device"] = what.device;
    return row;
  }

  void add_row(const Case& what, CaseRun& run, std::size_t items, const Timed& timed,
               const char* kind = "large") {
    const CaseRun::Verdict verdict = run.check(items);
    const double rate = static_cast<double>(items) / timed.median;
    Json row = description(what);
    row["kind"] = kind;
    row["variant"] = run.variant(items);
    row["items"] = items;
    row["runs"] = timed.runs;
    row["seconds"] = timed.median;
    row["best_seconds"] = timed.best;
    row["items_per_second"] = rate;
    row["bytes_per_second"] = rate * static_cast<double>(what.bytes_per_item());
    row["checked"] = verdict.checked;
    row["wrong"] = verdict.wrong.empty() ? 0 : 1;
    if (!verdict.wrong.empty()) {
      ++wrong_;
      row["wrong_what"] = verdict.wrong;
    }
    rows_.push_back(std::move(row));
    std::printf(
        "%-7s %-6s %5u bits, exponents %-6s %-6s %-5s %-7s %-18s %9zu items %10.3f ms %13.1f /s %6.2f "
        "GB/s%s\n",
        what.operation(), what.timing_class(), what.bits, what.exponents_name(),
        what.on_device ? "device" : "host", what.results == Results::fresh ? "fresh" : "kept",
        what.device.c_str(), run.variant(items).c_str(), items, timed.median * 1e3, rate,
        rate * static_cast<double>(what.bytes_per_item()) / 1e9, verdict.wrong.empty() ? "" : "  WRONG");
  }

  static void describe_machine(Json& document) {
    const mm_device_info processor = device_info("cpu");
    document["processor"] = processor.model;
    document["processors"] = processor.units;
    document["card"] = device_info("cuda:0").model;
    document["multiprocessors"] = multiprocessors();
    mm_cuda_info cuda{};
    cuda.struct_size = sizeof cuda;
    if (mm_cuda_get_info(&cuda) == MM_OK) document["cuda"] = cuda.driver;
    document["driver"] = driver_version();
    document["date"] = now();
    document["commit"] = commit();
  }

  static std::size_t multiprocessors() { return std::max(1u, device_info("cuda:0").units); }

  static mm_device_info device_info(std::string_view name) {
    mm_device_info info{};
    info.struct_size = sizeof info;
    for (std::size_t index = 0; index < mm_device_count(); ++index) {
      if (mm_device_get(index, &info) == MM_OK && name == info.name) return info;
    }
    info = {};
    info.model = "";
    return info;
  }
};

int run(const Settings& settings) {
  Bench bench(settings);
  const bool right = bench.run();
  const bool written = save_report(settings, bench);
  return right && written ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace manymod::bench

int main(int count, char** arguments) {
  using namespace manymod::bench;  // NOLINT(google-build-using-namespace)
  return program_main<Settings>(kDescription, count, arguments, add_options, run);
}
