// SPDX-License-Identifier: Apache-2.0
// Keys, configurations and daemons for tests, and libcrypto as their oracle.
#pragma once

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "client/client.hpp"
#include "client/link.hpp"
#include "server/daemon.hpp"

namespace manymod::signd::test {

struct FreeCrypto {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
template <class T>
using Crypto = std::unique_ptr<T, FreeCrypto>;

/// A folder that is removed with its content.
class Folder {
 public:
  Folder();
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string at(const std::string& name) const { return path_ + "/" + name; }
  void write(const std::string& name, const std::string& text) const { std::ofstream(at(name)) << text; }

 private:
  std::string path_;
};

/// "rsa", "rsa2", "p256", "ed25519", "x25519": made once for all tests.
EVP_PKEY* test_key(const std::string& name);
std::string private_pem(EVP_PKEY* key, const char* password = nullptr);
KeyId id_of(EVP_PKEY* key);
Bytes public_info(EVP_PKEY* key);

/// A section [key.NAME] for a file NAME.pem, for this user unless `more` says otherwise.
std::string key_section(const std::string& name, const std::string& more = "");
/// A folder with a configuration "signd.conf" of these keys, and the socket "socket".
void configure(const Folder& folder, const std::vector<std::string>& keys,
               const std::string& daemon_settings = "");

/// A daemon in this process.
class RunningDaemon {
 public:
  explicit RunningDaemon(const Folder& folder)
      : daemon_(std::make_unique<Daemon>(folder.at("signd.conf"))), thread_([this] { daemon_->run(); }) {}
  ~RunningDaemon() { stop(); }
  void stop() {
    if (!daemon_) return;
    daemon_->stop();
    thread_.join();
    daemon_.reset();
  }
  void reload() { daemon_->reload(); }
  /// tcp://127.0.0.1 and the daemon's port.
  [[nodiscard]] std::string address() const { return "tcp://127.0.0.1:" + std::to_string(daemon_->port()); }

 private:
  std::unique_ptr<Daemon> daemon_;
  std::thread thread_;
};

/// The program itself.
class Program {
 public:
  explicit Program(const Folder& folder) {
    const std::string configuration = folder.at("signd.conf");
    child_ = fork();
    if (child_ != 0) return;
    execl(MANYMOD_SIGND, MANYMOD_SIGND, configuration.c_str(), nullptr);
    _exit(127);
  }
  ~Program() { end(SIGKILL); }
  void send(int signal) const { kill(child_, signal); }
  [[nodiscard]] pid_t process() const { return child_; }
  /// Stop all of its threads, and return when they have stopped.
  void hang() const {
    kill(child_, SIGSTOP);
    int status = 0;
    waitpid(child_, &status, WUNTRACED);
    ASSERT_TRUE(WIFSTOPPED(status));
  }
  int end(int signal) {
    if (child_ == 0) return -1;
    int status = -1;
    kill(child_, signal);
    waitpid(child_, &status, 0);
    child_ = 0;
    return status;
  }

 private:
  pid_t child_ = 0;
};

inline Settings settings_of(const Folder& folder) { return {.address = folder.at("socket")}; }

/// A request for a test key.
Request request_for(const std::string& key, const Scheme& scheme, const Bytes& input);
inline const Scheme kPss{Operation::sign_pss, MM_SHA256};
inline const Bytes kDigest(32, 0x5A);

/// Whether libcrypto finds a PSS or PKCS#1 v1.5 signature of kDigest by SHA-256, or one of ECDSA, valid.
bool verifies(const std::string& key, int rsa_padding, const Bytes& signature);

/// Let the daemon see what was written to a link.
inline void show(Link& link) {
  if (link.publish() == Link::Published::asleep) link.wake_daemon();
}

/// Wait until it holds. @return false if it does not within 10 s
template <class Condition>
bool eventually(Condition condition) {
  for (int i = 0; i < 10'000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

}  // namespace manymod::signd::test
