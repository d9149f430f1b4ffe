// SPDX-License-Identifier: Apache-2.0
// The configuration file: an INI in the format of OpenSSL's, read by libcrypto (docs/signd.md has all
// settings).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "server/access.hpp"
#include "server/connection.hpp"
#include "transport/tls.hpp"

namespace manymod::signd {

/// A private key of a token, by PKCS#11.
struct TokenConfig {
  std::string module;         ///< path of the token's library; "" for keys in files
  std::string token, object;  ///< labels
  std::string pin_file;       ///< "" for keys that need no PIN
};

/// A section [key.NAME].
struct KeyConfig {
  std::string name;
  TokenConfig token;          ///< or
  std::string file;           ///< PEM or DER, or
  std::string credential;     ///< a file of systemd's credentials folder
  std::string password_file;  ///< "" for a key that is not encrypted
  AccessNames access;
  std::uint32_t operations = 0;  ///< bit_of() those allowed
};

/// The section [tcp]: clients of other hosts.
struct TcpConfig {
  std::string listen;          ///< host:port; "": no TCP. It is as long as the process
  TlsFiles files;              ///< certificate, key; issuers of clients' certificates
  std::string key_credential;  ///< instead of the key's file: one of systemd's credentials folder
  std::chrono::milliseconds stall{10'000};  ///< longest pause of a client within a handshake or a frame
};

/// The sections [daemon] and [tcp], and the keys.
struct Config {
  [[nodiscard]] bool has_tokens() const {
    return std::ranges::any_of(keys, [](const KeyConfig& key) { return !key.token.module.empty(); });
  }
  /// Of the modulus of the longest RSA key.
  [[nodiscard]] std::uint32_t max_key_bytes() const { return (max_key_bits + 7) / 8; }

  // These are as long as the process.
  std::string socket = "/run/manymod/signd.sock";
  unsigned socket_mode = 0666;
  unsigned readers = 2;  ///< threads that take requests from rings
  std::size_t max_connections = 4096, max_connections_per_user = 1024;
  std::uint32_t max_outstanding = 256;
  std::uint32_t max_key_bits = 4096;
  std::uint32_t max_message = 1024;  ///< bytes that EdDSA signs
  bool lock_memory = true;
  bool sandbox = true;  ///< a filter of system calls
  // These are read again by a reload.
  std::string device;    ///< as mm_rsa_ring_options
  unsigned threads = 0;  ///< of one call on the CPU
  unsigned concurrent = 0;
  std::size_t max_queue = 16'384, max_batch = 0;
  std::chrono::microseconds deadline{0};
  double rate = 0, burst = 0;  ///< requests a second of one client; 0: without a limit
  AccessNames observers;       ///< besides root and the daemon's own user, who may read metrics
  std::string metrics_file;
  std::chrono::seconds interval{60};  ///< between lines of the audit log, and writes of metrics_file
  bool audit_requests = false;
  TcpConfig tcp;
  std::vector<KeyConfig> keys;
};

/// @throws std::runtime_error that names the section and the setting
Config load_config(const std::string& path);

/// What it says of connections.
Limits limits_of(const Config& config);

/// The file of a credential of systemd's. @throws std::runtime_error without their folder
std::string credential_path(const std::string& name);

/// "sign_pss", ..: the names of operations in the configuration and in logs.
const char* operation_name(std::size_t operation);

}  // namespace manymod::signd
