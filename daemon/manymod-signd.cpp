// SPDX-License-Identifier: Apache-2.0
// manymod-signd: a daemon that holds private keys and computes with them for the processes of this machine.
//
//   manymod-signd CONFIGURATION
//   manymod-signd --check CONFIGURATION   read the configuration and the keys, and exit
//   manymod-signd --version
//   manymod-signd --help
//
// SIGHUP reloads the configuration, SIGTERM and SIGINT end the daemon.
#include <openssl/crypto.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <thread>

#include "manymod/manymod.h"
#include "server/access.hpp"
#include "server/daemon.hpp"
#include "server/hardening.hpp"
#include "server/log.hpp"
#include "server/sandbox.hpp"

namespace {

using manymod::signd::Daemon;
using manymod::signd::Level;
using manymod::signd::log_line;

constexpr const char* kUsage = "usage: manymod-signd [--check] CONFIGURATION | --version | --help\n";

// Signals are blocked in all threads, and taken by one that waits for them.
sigset_t handled_signals() {
  sigset_t handled;
  sigemptyset(&handled);
  for (const int number : {SIGHUP, SIGTERM, SIGINT}) sigaddset(&handled, number);
  return handled;
}

void take_signals(Daemon& daemon, const sigset_t& handled) {
  for (;;) {
    int number = 0;
    if (sigwait(&handled, &number) != 0) continue;
    if (number != SIGHUP) return daemon.stop();
    daemon.reload();
  }
}

void close_sandbox_of(const manymod::signd::Config& config) {
  using manymod::signd::Sandbox;
  manymod::signd::load_name_services();
  switch (manymod::signd::close_sandbox({config.device != "cpu", config.has_tokens()})) {
    case Sandbox::closed:
      return;
    case Sandbox::unsupported:
      return log_line(Level::warning, "system calls are not filtered: the kernel has no filters (seccomp)");
    case Sandbox::missing:
      return log_line(Level::notice, "system calls are not filtered: built without libseccomp");
  }
}

int serve(const std::string& path) {
  const sigset_t handled = handled_signals();
  pthread_sigmask(SIG_BLOCK, &handled, nullptr);
  const manymod::signd::Config config = manymod::signd::load_config(path);
  if (config.lock_memory && !manymod::signd::lock_all_memory()) {
    log_line(
        Level::warning,
        "memory is not locked: raise RLIMIT_MEMLOCK to unlimited, encrypt the swap, or set lock_memory = no");
  }
  Daemon daemon(path);
  if (config.sandbox) close_sandbox_of(config);
  std::thread signals([&] { take_signals(daemon, handled); });
  daemon.run();
  signals.join();
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  manymod::signd::forbid_dumps();
  manymod::signd::raise_file_limit();
  std::signal(SIGPIPE, SIG_IGN);
  // The configuration of OpenSSL that servers have may load a provider that waits for this daemon.
  OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
  const std::string_view first = count > 1 ? arguments[1] : "";
  if (count == 2 && first == "--version") {
    std::printf("manymod-signd %s\n", mm_version());
    return 0;
  }
  if (count == 2 && (first == "--help" || first == "-h")) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  const bool check = count == 3 && first == "--check";
  if ((count != 2 && !check) || std::string_view(arguments[count - 1]).starts_with('-')) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  const char* const configuration = arguments[count - 1];
  try {
    if (!check) return serve(configuration);
    const manymod::signd::Generation generation(manymod::signd::load_config(configuration));
    std::printf("%zu keys\n", generation.keys().size());
    return 0;
  } catch (const std::exception& error) {
    log_line(Level::error, error.what());
    return 1;
  }
}
