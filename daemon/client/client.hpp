// SPDX-License-Identifier: Apache-2.0
// The client of manymod-signd: private-key operations by a daemon that holds the keys.
//
//     manymod::signd::Client client({.address = "/run/manymod/signd.sock"});
//     for (const auto& key : client.keys()) ...
//     auto answer = client.call({.key = id, .scheme = {Operation::sign_pss, MM_SHA256}, .input = digest});
//
// A client does nothing until it is used: no connection, no thread. It then connects and starts one thread,
// and a second one while it connects. All functions may be called from any thread.
//
// Fork. A forked child that uses a client of its parent gets a connection and a thread of its own. Of the
// parent's rings and descriptors it only closes its own copies, as far as they are still open. Requests that
// were under way at the fork belong to the parent alone.
//
// Restarts. When the daemon goes away, unanswered requests wait for a new daemon and are sent again, so that
// an operation may be computed twice. After Settings::patience without a daemon they are answered with
// Status::unavailable. So are new requests then, at once, until a daemon is there again; as long as requests
// come, the client tries to connect at most every 100 ms. A request is sent kMostSends times at most: if the
// last of these daemons goes away, too, the answer is Status::unavailable. Expired requests are not sent
// again.
//
// Other hosts. With an address tcp://host:port requests go by TLS, and both sides have certificates. A
// connection may break without either side being told: if nothing arrives for Settings::silence while
// requests wait, the client sends a probe, and if its answer does not arrive within the same time, it drops
// the connection. That a request times out does not mean that its connection is broken.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/bytes.hpp"
#include "protocol/request.hpp"

namespace manymod::signd {

/// A key of the daemon that this process may use.
struct KeyInfo {
  KeyId id{};
  std::uint32_t operations = 0;   ///< bit_of() those that suit the key and are allowed
  std::string name;               ///< as the daemon's configuration calls it
  Bytes subject_public_key_info;  ///< DER
};

struct Request {
  KeyId key{};
  Scheme scheme{};
  std::span<const std::uint8_t> input;        ///< copied before a function returns
  std::chrono::milliseconds timeout{10'000};  ///< from now to the answer, else Status::expired; above 0
};

struct Answer {
  Status status = Status::unavailable;
  Bytes output;  ///< empty unless Status::ok. It may be secret: it is zeroed when it is freed
};

class Session;

/// A request of submit(). Copies name the same request. It may outlive the client.
class Ticket {
 public:
  Ticket() = default;
  /// Withdraw the request. @return true: its completion will not be called, its descriptor not written to.
  /// false: that has happened, or it is the request's own completion that asks; if it is happening on another
  /// thread, the function waits until it has
  bool cancel();
  /// The answer to a request with a descriptor, once. @return false while there is none, and for requests
  /// with a completion
  bool take(Answer& answer);

 private:
  friend class Session;
  std::shared_ptr<Session> session_;
  std::shared_ptr<struct Outstanding> request_;
};

/// Called once with the answer, on the client's thread, or on the calling one before submit() returns; it
/// must not wait for other requests. Submitting is allowed.
using Completion = std::function<void(Answer&&)>;

/// How often a request is sent to daemons that go away before they answer.
inline constexpr unsigned kMostSends = 5;

/// How to reach the daemon.
struct Settings {
  std::string address = "/run/manymod/signd.sock";  ///< a path of a Unix socket, or tcp://host:port
  std::chrono::milliseconds patience{1'000};        ///< for a daemon that cannot be reached, see above
  /// PEM files, for tcp:// alone; they are read for each connection. `ca`: issuers of the daemon's
  /// certificate, which names the address's host. `certificate`, `key`: the client's own, not encrypted.
  std::string ca{}, certificate{}, key{};
  std::chrono::milliseconds silence{1'000};  ///< of a connection to another host, see above
};

class Client {
 public:
  /// Does no input or output. @throws std::bad_alloc
  explicit Client(Settings settings);
  /// Answers what is outstanding with Status::cancelled; an attempt to connect that is under way ends first,
  /// which may take as long as Settings::patience says.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// The keys that this process may use, over a connection of its own, which is waited for as long as
  /// Settings::patience says.
  /// @throws std::runtime_error if the daemon cannot be reached or refuses, std::bad_alloc
  [[nodiscard]] std::vector<KeyInfo> keys() const;
  /// The daemon's metrics in Prometheus's text format. @throws as keys()
  [[nodiscard]] std::string metrics() const;

  /// Ask, and wait for the answer. Only the calling thread waits. Failures are statuses; Status::busy comes
  /// at once. @throws std::bad_alloc, std::system_error if no thread can be started
  [[nodiscard]] Answer call(const Request& request);

  /// Ask, and have the completion called. @throws as call(): then there is no answer
  Ticket submit(const Request& request, Completion completion);
  /// Ask, and have 1 written to an eventfd of the caller's, who closes it after cancel() or take(). The
  /// answer is then the ticket's. @throws as call()
  Ticket submit(const Request& request, int event);

 private:
  struct Sessions;
  std::unique_ptr<Sessions> sessions_;
};

}  // namespace manymod::signd
