// SPDX-License-Identifier: Apache-2.0
// manymod-signd under more load than it can bear, and killed.
//
//   manymod-signd-overload PROGRAM CONFIGURATION ADDRESS KEY OPERATION [factor [seconds [clients]]]
//
// PROGRAM is manymod-signd, CONFIGURATION its configuration with the socket ADDRESS and the key KEY (its
// name); OPERATION sign_pss, sign_pkcs1, sign_ecdsa or sign_eddsa. Written is a line of JSON: the members of
// Result in overload.hpp.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string_view>

#include "signd/overload.hpp"

namespace {

using namespace manymod::signd;

Scheme scheme_of(std::string_view name) {
  if (name == "sign_pss") return {Operation::sign_pss, MM_SHA256};
  if (name == "sign_pkcs1") return {Operation::sign_pkcs1, MM_SHA256};
  if (name == "sign_ecdsa") return {Operation::sign_ecdsa, MM_SHA256};
  if (name == "sign_eddsa") return {Operation::sign_eddsa};
  throw std::runtime_error("there is no operation " + std::string(name));
}

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
  if (count < 6 || count > 9) {
    std::fprintf(stderr,
                 "usage: manymod-signd-overload PROGRAM CONFIGURATION ADDRESS KEY OPERATION "
                 "[factor [seconds [clients]]]\n");
    return 2;
  }
  try {
    overload::Plan plan;
    plan.program = arguments[1];
    plan.configuration = arguments[2];
    plan.settings.address = arguments[3];
    plan.key = arguments[4];
    plan.scheme = scheme_of(arguments[5]);
    if (count > 6) plan.factor = std::strtod(arguments[6], nullptr);
    if (count > 7) plan.seconds = std::strtod(arguments[7], nullptr);
    if (count > 8) plan.clients = std::strtoul(arguments[8], nullptr, 10);
    print(overload::run(plan));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "manymod-signd-overload: %s\n", error.what());
    return 1;
  }
}
