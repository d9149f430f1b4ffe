// SPDX-License-Identifier: Apache-2.0
// manymod_peers SECONDS REPETITIONS < operands > report: every operation of every peer in turn, over and
// over, each for about SECONDS a time, on one thread; beside them the rates of vpmadd52 and of dependent
// additions, and with every rate how many instructions a cycle the core issued just before and after. The
// report is JSON; peers.py makes the operands and checks the answers.
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "arch/instruction_rates.hpp"
#include "operands.hpp"

namespace {

using peers::Case;
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

/// Processor time of this thread in seconds: what other processes take meanwhile does not count.
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

/// Rates a second, and the lower of what the core issued a cycle before and after.
struct Samples {
  std::vector<double> rates;
  std::vector<double> issued;
};

/// A case with the number of runs that take about as long as asked for, and what was measured so far.
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

/// Takes samples again while another process on the core's other hardware thread takes its share: a loop that
/// fills the issue width shows it.
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

void append_numbers(std::string& text, const std::vector<double>& numbers) {
  text += "[";
  for (std::size_t i = 0; i < numbers.size(); ++i) text += (i ? ", " : "") + std::to_string(numbers[i]);
  text += "]";
}

void append_samples(std::string& text, const Samples& samples) {
  text += R"("rates": )";
  append_numbers(text, samples.rates);
  text += R"(, "issued": )";
  append_numbers(text, samples.issued);
}

std::string report_case(const Measured& measured) {
  std::string text = R"({"peer": ")" + measured.entry.peer + R"(", "operation": ")" +
                     measured.entry.operation + R"(", "bits": )" + std::to_string(measured.entry.bits) +
                     R"(, "items": )" + std::to_string(measured.entry.items) + R"(, "variant": ")" +
                     measured.entry.variant + R"(", )";
  append_samples(text, measured.samples);
  text += R"(, "answers": [)";
  const auto answers = measured.entry.answers();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    text += std::string(i ? ", " : "") + "\"" + peers::to_hex(answers[i]) + "\"";
  }
  return text + "]}";
}

/// A loop over one instruction joins the round like a peer.
struct Limit {
  manymod::InstructionLoop loop;
  Samples samples;
};

std::string measure_width(const peers::Operands& operands, double seconds, int repetitions) {
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
  std::string text = R"({"bits": )" + std::to_string(operands.bits) + R"(, "instructions": {)";
  for (const Limit& limit : limits) {
    text += (&limit == limits.data() ? "\"" : ", \"") + std::string(limit.loop.name) + "\": {";
    append_samples(text, limit.samples);
    text += "}";
  }
  text += "}, \"results\": [";
  for (const Measured& measured : all) {
    text += (&measured == all.data() ? "\n  " : ",\n  ") + report_case(measured);
  }
  return text + "]}";
}

int measure(double seconds, int repetitions) {
  const auto widths = peers::read_operands(std::cin);
  std::string text = "{\"versions\": {";
  bool first = true;
  for (const Peer& peer : all_peers()) {
    text += std::string(first ? "\"" : ", \"") + peer.name + "\": \"" + peer.version + "\"";
    first = false;
  }
  text += "},\n\"widths\": [";
  for (const auto& operands : widths) {
    text += (&operands == widths.data() ? "\n" : ",\n") + measure_width(operands, seconds, repetitions);
  }
  std::cout << text << "]}\n";
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 3) throw std::invalid_argument("usage: manymod_peers SECONDS REPETITIONS < operands");
    return measure(std::stod(argv[1]), std::stoi(argv[2]));
  } catch (const std::exception& error) {
    std::cerr << "manymod_peers: " << error.what() << "\n";
    return EXIT_FAILURE;
  }
}
