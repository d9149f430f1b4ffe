// SPDX-License-Identifier: Apache-2.0
// A proxy whose connections can be made half-open: the other side's kernel takes bytes, and nothing comes.
#pragma once

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "transport/tcp.hpp"

namespace manymod::signd::test {

/// Whether a connection has ended. What has come is dropped.
bool ends(int socket);

class Proxy {
 public:
  explicit Proxy(Endpoint target);
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  [[nodiscard]] std::string address() const;
  /// From now on, the connections that there are pass nothing on. New ones do.
  void freeze() { frozen_ = connections_.load(); }
  [[nodiscard]] int connections() const { return connections_; }

 private:
  struct Pair {
    Descriptor from, to;
  };
  void run();

  const Endpoint target_;
  const Descriptor listener_;
  std::vector<Pair> pairs_;
  std::atomic<int> connections_{0}, frozen_{0};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace manymod::signd::test
