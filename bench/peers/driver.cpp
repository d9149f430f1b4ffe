// SPDX-License-Identifier: Apache-2.0
// manymod_peers SECONDS REPETITIONS < operands > report: every operation of every peer in turn, over and
// over, each for about SECONDS a time, on one thread; beside them the rates of vpmadd52 and of dependent
// additions. The report is JSON; peers.py makes the operands and checks the answers.
#include <time.h>

#include <cmath>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
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

/// A case with the number of runs that take about as long as asked for, and the rates measured so far.
struct Measured {
  Case entry;
  std::size_t runs = 1;
  std::vector<double> rates;
};

Measured calibrate(Case entry, double seconds) {
  const double once = seconds_of(entry, 1);
  const auto runs = static_cast<std::size_t>(std::ceil(seconds / (once > 1e-7 ? once : 1e-7)));
  return {std::move(entry), runs, {}};
}

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

std::string report_case(const Measured& measured) {
  std::string text = R"({"peer": ")" + measured.entry.peer + R"(", "operation": ")" +
                     measured.entry.operation + R"(", "bits": )" + std::to_string(measured.entry.bits) +
                     R"(, "items": )" + std::to_string(measured.entry.items) + R"(, "variant": ")" +
                     measured.entry.variant + R"(", "rates": )";
  append_numbers(text, measured.rates);
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
  std::vector<double> rates;
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
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    for (Limit& limit : limits) limit.rates.push_back(manymod::instruction_rate(limit.loop, seconds));
    for (Measured& measured : all) {
      const double elapsed = seconds_of(measured.entry, measured.runs);
      measured.rates.push_back(static_cast<double>(measured.runs * measured.entry.items) / elapsed);
    }
  }
  std::string text = R"({"bits": )" + std::to_string(operands.bits) + R"(, "instructions": {)";
  for (const Limit& limit : limits) {
    text += (&limit == limits.data() ? "\"" : ", \"") + std::string(limit.loop.name) + "\": ";
    append_numbers(text, limit.rates);
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
