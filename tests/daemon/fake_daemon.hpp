// SPDX-License-Identifier: Apache-2.0
// A daemon for clients of other hosts that computes nothing, and answers when it is told to.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "daemon/support.hpp"
#include "protocol/record.hpp"
#include "transport/tls.hpp"

namespace manymod::signd::test {

class FakeDaemon {
 public:
  /// With the certificate server.pem and the issuer ca.pem of a folder.
  explicit FakeDaemon(const Folder& folder, std::uint32_t max_outstanding = 256);
  ~FakeDaemon();
  FakeDaemon(const FakeDaemon&) = delete;
  FakeDaemon& operator=(const FakeDaemon&) = delete;

  [[nodiscard]] std::string address() const;
  /// Whether it shows that it lives when a client asks for that.
  std::atomic<bool> shows_life{true};
  /// Whether requests are answered, also those that came before: with Status::ok, and nothing else.
  std::atomic<bool> answers{false};
  /// End the connections that there are.
  void end_connections() { ending_ = true; }

  /// What has come over all connections: requests in their order, and questions for a sign of life.
  [[nodiscard]] std::vector<RequestHeader> requests() const;
  [[nodiscard]] int probes() const { return probes_; }
  [[nodiscard]] int connections() const { return connections_; }
  /// A client that does not offer the protocol is not told so in the handshake: as servers of others do.
  void ignore_protocol() { SSL_CTX_set_alpn_select_cb(context_.get(), nullptr, nullptr); }

 private:
  struct Connection {
    std::unique_ptr<TlsStream> stream;
    FrameReader reader{kMaxDaemonBody};
    std::vector<std::uint64_t> waiting{};
    bool ended = false;
  };
  void run();
  void serve(Connection& connection);
  void take(Connection& connection, const Frame& frame);
  static void send_all(Connection& connection, ByteSpan bytes);

  const TlsContext context_;
  const std::uint32_t max_outstanding_;
  const Descriptor listener_;
  std::vector<std::unique_ptr<Connection>> open_;
  mutable std::mutex mutex_;
  std::vector<RequestHeader> requests_;
  std::atomic<int> probes_{0}, connections_{0};
  std::atomic<bool> ending_{false}, stopping_{false};
  std::thread thread_;
};

}  // namespace manymod::signd::test
