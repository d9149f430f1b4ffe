// SPDX-License-Identifier: Apache-2.0
// Load for manymod-signd: clients that keep many requests outstanding, and what they get.
//
//   manymod-signd-load ADDRESS KEY OPERATION [clients [outstanding [seconds]]]
//
// ADDRESS is the daemon's socket, or tcp://host:port; then MANYMOD_SIGND_CA, MANYMOD_SIGND_CERTIFICATE and
// MANYMOD_SIGND_KEY name the files of Settings, and the certificate may read the metrics (observer_peers).
// KEY is the name of a key in the daemon's configuration, OPERATION sign_pss, sign_pkcs1, sign_ecdsa or
// sign_eddsa. With manymod-signd-empty as the daemon, which computes no RSA, sign_pkcs1 measures the daemon's
// and the clients' own cost.
//
// Written to standard output as one line of JSON: requests a second, the quantiles of the times from submit()
// to the answer, and the processor times of this program and of the daemon for each request.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "client/client.hpp"
#include "signd/scheme.hpp"

namespace {

using namespace manymod::signd;
using Clock = std::chrono::steady_clock;

struct Plan {
  Settings settings;
  std::string key;
  Scheme scheme{};
  std::size_t clients = 1, outstanding = 64;
  double seconds = 5;
};

Settings settings_of(const std::string& address) {
  const auto file = [](const char* variable) {
    const char* const value = std::getenv(variable);
    return std::string(value == nullptr ? "" : value);
  };
  Settings settings;
  settings.address = address;
  settings.ca = file("MANYMOD_SIGND_CA");
  settings.certificate = file("MANYMOD_SIGND_CERTIFICATE");
  settings.key = file("MANYMOD_SIGND_KEY");
  return settings;
}

KeyId key_named(const Plan& plan) {
  const Client client(plan.settings);
  for (const KeyInfo& key : client.keys()) {
    if (key.name == plan.key) return key.id;
  }
  throw std::runtime_error("the daemon has no key " + plan.key + " for this user");
}

/// One client and its requests: each answer submits the next.
class Source {
 public:
  Source(const Plan& plan, const KeyId& key, const std::atomic<bool>& stop)
      : client_(plan.settings), stop_(stop), input_(32, 0xA5) {
    request_.key = key;
    request_.scheme = plan.scheme;
    request_.input = input_;
    // The first connects: until then a client does not know how many it may have.
    static_cast<void>(client_.call(request_));
    active_ = plan.outstanding;
    for (std::size_t i = 0; i < plan.outstanding; ++i) next();
  }
  void wait() {
    while (active_ != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  [[nodiscard]] const std::vector<float>& times_us() const { return times_us_; }
  [[nodiscard]] std::uint64_t not_ok() const { return not_ok_; }

 private:
  void next() {
    const auto begin = Clock::now();
    client_.submit(request_, [this, begin](Answer&& answer) {
      const std::chrono::duration<float, std::micro> time = Clock::now() - begin;
      if (answer.status == Status::ok) {
        times_us_.push_back(time.count());
      } else {
        ++not_ok_;
      }
      // A refusal ends the chain: asking again at once would only count refusals.
      if (answer.status != Status::ok || stop_) {
        --active_;
      } else {
        next();
      }
    });
  }

  Client client_;
  const std::atomic<bool>& stop_;
  std::vector<std::uint8_t> input_;
  Request request_;
  std::atomic<std::size_t> active_{0};
  std::vector<float> times_us_;
  std::uint64_t not_ok_ = 0;
};

double processor_seconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

float quantile(const std::vector<float>& sorted, double q) {
  if (sorted.empty()) return 0;
  return sorted[std::min(sorted.size() - 1,
                         static_cast<std::size_t>(q * static_cast<double>(sorted.size())))];
}

double daemon_seconds(const Plan& plan) {
  const std::string text = Client(plan.settings).metrics();
  const std::string name = "\nmanymod_signd_processor_seconds_total ";
  const std::size_t at = text.find(name);
  if (at == std::string::npos) throw std::runtime_error("the daemon does not say its processor time");
  return std::strtod(text.c_str() + at + name.size(), nullptr);
}

void run(const Plan& plan) {
  std::atomic<bool> stop{false};
  const KeyId key = key_named(plan);
  const double daemon_before = daemon_seconds(plan);
  const double processor_before = processor_seconds();
  const auto begin = Clock::now();
  std::vector<std::unique_ptr<Source>> sources;
  for (std::size_t i = 0; i < plan.clients; ++i) sources.push_back(std::make_unique<Source>(plan, key, stop));
  std::this_thread::sleep_for(std::chrono::duration<double>(plan.seconds));
  stop = true;
  for (const auto& source : sources) source->wait();
  const double elapsed = std::chrono::duration<double>(Clock::now() - begin).count();
  const double processor = processor_seconds() - processor_before;
  const double daemon = daemon_seconds(plan) - daemon_before;
  std::vector<float> times;
  std::uint64_t not_ok = 0;
  for (const auto& source : sources) {
    times.insert(times.end(), source->times_us().begin(), source->times_us().end());
    not_ok += source->not_ok();
  }
  std::sort(times.begin(), times.end());
  const auto count = static_cast<double>(std::max<std::size_t>(1, times.size()));
  std::printf(
      "{\"clients\": %zu, \"outstanding\": %zu, \"seconds\": %.3f, \"answers\": %zu, \"not_ok\": %llu, "
      "\"per_second\": %.0f, \"p50_us\": %.0f, \"p95_us\": %.0f, \"p99_us\": %.0f, \"max_us\": %.0f, "
      "\"client_cpu_us\": %.3f, \"daemon_cpu_us\": %.3f}\n",
      plan.clients, plan.outstanding, elapsed, times.size(), static_cast<unsigned long long>(not_ok),
      count / elapsed, static_cast<double>(quantile(times, 0.5)), static_cast<double>(quantile(times, 0.95)),
      static_cast<double>(quantile(times, 0.99)), static_cast<double>(quantile(times, 1)),
      processor / count * 1e6, daemon / count * 1e6);
}

}  // namespace

int main(int count, char** arguments) {
  CLI::App command("Load for manymod-signd, and what its clients get, as a line of JSON.");
  std::string address, operation;
  Plan plan;
  command.add_option("address", address, "The daemon's socket, or tcp://host:port")->required();
  command.add_option("key", plan.key, "Name of a key in the daemon's configuration")->required();
  command.add_option("operation", operation, "What the clients ask for")
      ->required()
      ->check(CLI::IsMember(schemes()));
  command.add_option("clients", plan.clients, "Clients, each with a connection")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("outstanding", plan.outstanding, "Requests that each client keeps outstanding")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("seconds", plan.seconds, "How long")->check(CLI::PositiveNumber)->capture_default_str();
  CLI11_PARSE(command, count, arguments);
  try {
    plan.settings = settings_of(address);
    plan.scheme = schemes().at(operation);
    run(plan);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "manymod-signd-load: %s\n", error.what());
    return 1;
  }
}
