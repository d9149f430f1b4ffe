// SPDX-License-Identifier: Apache-2.0
// manymod_peers SECONDS REPETITIONS < operands > report: runs every operation of every peer in rounds, each
// for about SECONDS at a time, on one thread. The rounds also measure the rates of vpmadd52 and of dependent
// additions, and each rate has the number of instructions per cycle that the core issued just before and
// after it. The report is JSON; peers.py generates the operands and checks the answers.
#include <time.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "arch/instruction_rates.hpp"
#include "operands.hpp"

namespace {

using peers::Case;
using Json = nlohmann::ordered_json;
using Cases = std::vector<Case> (*)(const peers::Operands&);

struct Peer {
  const char* name;
  std::string version;
  Cases cases;
};

std::vector<Peer> all_peers() {
  return {
#if PEER_MANYMOD
      {"manymod", peers::manymod_version(), peers::manymod_cases},
#endif
#if PEER_CRYPTO_MB
      {"crypto_mb", peers::crypto_mb_version(), peers::crypto_mb_cases},
#endif
#if PEER_OPENSSL
      {"OpenSSL", peers::openssl_version(), peers::openssl_cases},
#endif
#if PEER_GMP
      {"GMP", peers::gmp_version_text(), peers::gmp_cases},
#endif
  };
}

/// Processor time of this thread in seconds, which excludes the time of other processes.
double processor_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double seconds_of(const Case& entry, std::size_t runs) {
  const double start = processor_time();
  for (std::size_t i = 0; i < runs; ++i) entry.run();
  return processor_time() - start;
}

/// Rates per second, and the lower of the numbers of instructions that the core issued per cycle before and
/// after.
struct Samples {
  std::vector<double> rates;
  std::vector<double> issued;
};

/// A case with the number of runs that take about as long as requested, and the samples taken so far.
struct Measured {
  Case entry;
  std::size_t runs = 1;
  Samples samples;

  [[nodiscard]] double rate() const {
    return static_cast<double>(runs * entry.items) / seconds_of(entry, runs);
  }
};

Measured calibrate(Case entry, double seconds) {
  const double once = seconds_of(entry, 1);
  const auto runs = static_cast<std::size_t>(std::ceil(seconds / (once > 1e-7 ? once : 1e-7)));
  return {std::move(entry), runs, {}};
}

/// Repeats a sample that another process on the core's other hardware thread disturbed, which shows in the
/// rate of a loop that fills the issue width.
class QuietSampler {
 public:
  explicit QuietSampler(double seconds) : seconds_(seconds), last_(issued()) {}

  template <class Rate>
  void take(Samples& samples, Rate&& rate) {
    double found = 0;
    double found_issued = -1;
    for (int attempt = 0; attempt < kAttempts && found_issued < kQuiet * best_; ++attempt) {
      const double before = last_;
      const double measured = rate();
      last_ = issued();
      best_ = std::max({best_, before, last_});
      if (std::min(before, last_) <= found_issued) continue;
      found_issued = std::min(before, last_);
      found = measured;
    }
    samples.rates.push_back(found);
    samples.issued.push_back(found_issued);
  }

 private:
  static constexpr int kAttempts = 4;
  static constexpr double kQuiet = 0.9;

  double seconds_;
  double last_;
  double best_ = 0;

  /// Instructions a cycle; 0 where there is no such loop.
  [[nodiscard]] double issued() const {
    const double cycles = loop_rate("add_chain");
    return cycles > 0 ? loop_rate("issue_width") / cycles : 0;
  }
  [[nodiscard]] double loop_rate(std::string_view name) const {
    for (const auto& loop : manymod::instruction_loops()) {
      if (loop.name == name) return manymod::instruction_rate(loop, seconds_);
    }
    return 0;
  }
};

bool runs_here(const manymod::InstructionLoop& loop) {
#if MANYMOD_X86_64
  const auto ifma = static_cast<manymod::CpuFeatures>(manymod::CpuFeature::avx512ifma);
  return loop.needs == 0 || ((loop.needs & ifma) != 0 && __builtin_cpu_supports("avx512ifma"));
#else
  return loop.needs == 0;
#endif
}

Json report_samples(const Samples& samples) { return {{"rates", samples.rates}, {"issued", samples.issued}}; }

Json report_case(const Measured& measured) {
  const Case& entry = measured.entry;
  Json report{{"peer", entry.peer},
              {"operation", entry.operation},
              {"bits", entry.bits},
              {"items", entry.items},
              {"variant", entry.variant}};
  report.update(report_samples(measured.samples));
  Json answers = Json::array();
  for (const auto& answer : entry.answers()) answers.push_back(peers::to_hex(answer));
  report["answers"] = std::move(answers);
  return report;
}

/// A loop over one instruction, measured in each round like a peer.
struct Limit {
  manymod::InstructionLoop loop;
  Samples samples;
};

Json measure_width(const peers::Operands& operands, double seconds, int repetitions) {
  std::vector<Measured> all;
  for (const Peer& peer : all_peers()) {
    for (Case& entry : peer.cases(operands)) all.push_back(calibrate(std::move(entry), seconds));
  }
  std::vector<Limit> limits;
  for (const auto& loop : manymod::instruction_loops()) {
    if (runs_here(loop)) limits.push_back({loop, {}});
  }
  QuietSampler sampler(seconds / 8);
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    for (Limit& limit : limits) {
      sampler.take(limit.samples, [&] { return manymod::instruction_rate(limit.loop, seconds); });
    }
    for (Measured& measured : all) sampler.take(measured.samples, [&] { return measured.rate(); });
  }
  Json instructions = Json::object();
  for (const Limit& limit : limits)
    instructions[std::string(limit.loop.name)] = report_samples(limit.samples);
  Json results = Json::array();
  for (const Measured& measured : all) results.push_back(report_case(measured));
  return {
      {"bits", operands.bits}, {"instructions", std::move(instructions)}, {"results", std::move(results)}};
}

void measure(double seconds, int repetitions) {
  Json versions = Json::object();
  for (const Peer& peer : all_peers()) versions[peer.name] = peer.version;
  Json widths = Json::array();
  for (const auto& operands : peers::read_operands(std::cin)) {
    widths.push_back(measure_width(operands, seconds, repetitions));
  }
  const Json report{{"versions", std::move(versions)}, {"widths", std::move(widths)}};
  std::cout << report.dump(1) << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App command("Measure all peers with the operands of the standard input, and print a report.");
  double seconds = 0;
  int repetitions = 0;
  command.add_option("seconds", seconds, "Time of one sample")->required()->check(CLI::PositiveNumber);
  command.add_option("repetitions", repetitions, "Samples of each case")
      ->required()
      ->check(CLI::PositiveNumber);
  CLI11_PARSE(command, argc, argv);
  try {
    measure(seconds, repetitions);
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::cerr << "manymod_peers: " << error.what() << "\n";
    return EXIT_FAILURE;
  }
}
