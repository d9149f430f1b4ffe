// SPDX-License-Identifier: Apache-2.0
// manymod-signd under more load than it can bear, and killed.
//
//   manymod-signd-overload PROGRAM CONFIGURATION ADDRESS KEY OPERATION [factor [seconds [clients]]]
//
// PROGRAM is manymod-signd, CONFIGURATION its configuration with the socket ADDRESS and the key KEY (its
// name); OPERATION sign_pss, sign_pkcs1, sign_ecdsa or sign_eddsa. Written is a line of JSON: the members of
// Result in overload.hpp.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "signd/overload.hpp"
#include "signd/scheme.hpp"

namespace {

using namespace manymod::signd;

void print(const overload::Result& result) {
  const auto count = [](const char* name, std::uint64_t value) {
    std::printf("\"%s\": %llu, ", name, static_cast<unsigned long long>(value));
  };
  std::printf("{\"capacity\": %.0f, \"offered\": %.0f, \"served\": %.0f, ", result.capacity, result.offered,
              result.served);
  count("requests", result.requests);
  count("ok", result.ok);
  count("busy", result.busy);
  count("expired", result.expired);
  count("other", result.other);
  count("unanswered", result.unanswered);
  count("answered_twice", result.answered_twice);
  std::printf("\"ok_p50_ms\": %.2f, \"ok_p99_ms\": %.2f, \"busy_p50_ms\": %.4f, \"busy_p99_ms\": %.4f, ",
              result.ok_p50_ms, result.ok_p99_ms, result.busy_p50_ms, result.busy_p99_ms);
  std::printf("\"busy_max_ms\": %.4f, ", result.busy_max_ms);
  count("early_bytes", result.early_bytes);
  count("last_bytes", result.last_bytes);
  count("most_bytes", result.most_bytes);
  count("lost", result.lost);
  std::printf("\"recovery_ms\": %.1f}\n", result.recovery_ms);
}

}  // namespace

int main(int count, char** arguments) {
  CLI::App command("More requests than manymod-signd can compute, then its death; a line of JSON.");
  overload::Plan plan;
  std::string operation;
  command.add_option("program", plan.program, "manymod-signd")->required()->check(CLI::ExistingFile);
  command.add_option("configuration", plan.configuration, "The daemon's configuration")
      ->required()
      ->check(CLI::ExistingFile);
  command.add_option("address", plan.settings.address, "The socket that it names")->required();
  command.add_option("key", plan.key, "Name of a key that it names")->required();
  command.add_option("operation", operation, "What the clients ask for")
      ->required()
      ->check(CLI::IsMember(schemes()));
  command.add_option("factor", plan.factor, "How many times the daemon's capacity they ask for")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("seconds", plan.seconds, "How long")->check(CLI::PositiveNumber)->capture_default_str();
  command.add_option("clients", plan.clients, "Clients, each with a connection")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  CLI11_PARSE(command, count, arguments);
  try {
    plan.scheme = schemes().at(operation);
    print(overload::run(plan));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "manymod-signd-overload: %s\n", error.what());
    return 1;
  }
}
