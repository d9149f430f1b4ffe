// SPDX-License-Identifier: Apache-2.0
// Timeouts of requests, and what they do not do to others: those that share the connection, and those that
// follow on the next one.
#include <sys/eventfd.h>

#include <atomic>

#include "daemon/certificates.hpp"
#include "daemon/fake_daemon.hpp"
#include "transport/tcp.hpp"

namespace manymod::signd::test {
namespace {

using namespace std::chrono_literals;

class SigndDeadlines : public testing::Test {
 protected:
  SigndDeadlines() : ca_(folder_, "ca") {
    ca_.issue("server", {"server", "IP:127.0.0.1"});
    ca_.issue("web", {"web", "DNS:web.example.org"});
  }
  [[nodiscard]] Settings settings(const std::string& address, std::chrono::milliseconds silence) const {
    Settings made = remote_settings(folder_, address, "web");
    made.patience = 60s;
    made.silence = silence;
    return made;
  }
  /// Have it connected: what it asks for is then sent at once.
  static void connect(Client& client, FakeDaemon& daemon) {
    daemon.answers = true;
    EXPECT_EQ(client.call(request(60s)).status, Status::ok);
    daemon.answers = false;
  }
  static Request request(std::chrono::milliseconds timeout) {
    Request made = request_for("rsa", kPss, kDigest);
    made.timeout = timeout;
    return made;
  }

  Folder folder_;
  Authority ca_;
};

TEST_F(SigndDeadlines, LeaveTheConnectionToItsNeighbours) {
  FakeDaemon daemon(folder_);
  Client client(settings(daemon.address(), 60s));
  connect(client, daemon);
  std::atomic<int> ok = 0, expired = 0;
  const auto count = [&](Answer&& answer) {
    ok += answer.status == Status::ok;
    expired += answer.status == Status::expired;
  };
  client.submit(request(60s), count);
  client.submit(request(1ms), count);
  EXPECT_EQ(client.call(request(1ms)).status, Status::expired);
  EXPECT_TRUE(eventually([&] { return expired == 1 && daemon.requests().size() == 4; }));
  // Whoever was silent meanwhile may still answer, also what nobody waits for any more.
  daemon.answers = true;
  EXPECT_TRUE(eventually([&] { return ok == 1; }));
  EXPECT_EQ(client.call(request(60s)).status, Status::ok);
  EXPECT_EQ(daemon.connections(), 1);
  EXPECT_EQ(daemon.requests().size(), 5U);
}

TEST_F(SigndDeadlines, AreNotThoseOfTheConnection) {
  FakeDaemon daemon(folder_);
  Client client(settings(daemon.address(), 300ms));  // answers to probes may be late by several ticks
  std::atomic<bool> answered = false;
  client.submit(request(60s), [&](Answer&&) { answered = true; });
  // As long as the daemon shows that it lives, a request may take what it takes.
  EXPECT_TRUE(eventually([&] { return daemon.probes() >= 3; }));
  EXPECT_EQ(daemon.connections(), 1);
  EXPECT_FALSE(answered);
  daemon.shows_life = false;
  EXPECT_TRUE(eventually([&] { return daemon.connections() > 1; }));
  daemon.shows_life = daemon.answers = true;
  EXPECT_TRUE(eventually([&] { return answered.load(); }));
}

TEST_F(SigndDeadlines, AllowAProbeBesidesAllRequests) {
  for (const std::uint32_t places : {1U, 2U}) {
    FakeDaemon daemon(folder_, places);
    Client client(settings(daemon.address(), 300ms));
    std::atomic<int> ok = 0, busy = 0;
    connect(client, daemon);
    for (int i = 0; i < 2; ++i) {
      client.submit(request(60s), [&](Answer&& answer) {
        ok += answer.status == Status::ok;
        busy += answer.status == Status::busy;
      });
    }
    EXPECT_EQ(busy, 1);
    EXPECT_TRUE(places == 1 || eventually([&] { return daemon.probes() != 0; }));
    daemon.answers = true;
    EXPECT_TRUE(eventually([&] { return ok == 1; }));
    EXPECT_EQ(daemon.connections(), 1);
  }
}

TEST_F(SigndDeadlines, EndARequestForGood) {
  FakeDaemon daemon(folder_);
  Client client(settings(daemon.address(), 60s));
  connect(client, daemon);
  std::atomic<int> ok = 0, expired = 0;
  const auto count = [&](Answer&& answer) {
    ok += answer.status == Status::ok;
    expired += answer.status == Status::expired;
  };
  for (const auto timeout : {60'000ms, 120ms, 120ms}) client.submit(request(timeout), count);
  const int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  Ticket ticket = client.submit(request(120ms), event);
  Answer answer;
  EXPECT_TRUE(eventually([&] { return expired == 2 && ticket.take(answer); }));
  EXPECT_EQ(answer.status, Status::expired);
  ASSERT_TRUE(eventually([&] { return daemon.requests().size() == 5; }));
  // What is sent over the next connection is what still has time, and how much of it.
  daemon.end_connections();
  ASSERT_TRUE(eventually([&] { return daemon.requests().size() > 5; }));
  daemon.answers = true;
  EXPECT_TRUE(eventually([&] { return ok == 1; }));
  EXPECT_EQ(client.call(request(60s)).status, Status::ok);
  const std::vector<RequestHeader> requests = daemon.requests();
  ASSERT_EQ(requests.size(), 7U);
  EXPECT_EQ(requests[5].id, requests[1].id);
  EXPECT_LT(requests[5].timeout_ms, requests[1].timeout_ms);
  close(event);
}

TEST_F(SigndDeadlines, HoldWhileTheClientConnects) {
  // Connections are made by the kernel, and nobody speaks over them.
  Descriptor listener = listen_tcp({"127.0.0.1", "0"}, 16);
  Settings patient = settings("tcp://127.0.0.1:" + std::to_string(local_port(listener.get())), 60s);
  patient.patience = std::chrono::minutes(10);
  Client client(patient);
  std::atomic<int> expired = 0;
  for (int i = 0; i < 2; ++i) {
    client.submit(request(1ms), [&](Answer&& answer) { expired += answer.status == Status::expired; });
  }
  EXPECT_TRUE(eventually([&] { return expired == 2; }));
  listener.reset();  // else the client would wait for the handshake until its patience ends
}

}  // namespace
}  // namespace manymod::signd::test
