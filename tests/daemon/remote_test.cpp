// SPDX-License-Identifier: Apache-2.0
// Clients of other hosts, by TLS: who is let in, what they get, and those that do not keep to the rules.
#include <arpa/inet.h>
#include <openssl/rsa.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>

#include "client/link.hpp"
#include "daemon/certificates.hpp"
#include "daemon/fake_daemon.hpp"
#include "daemon/proxy.hpp"
#include "transport/tcp.hpp"

namespace manymod::signd::test {
namespace {

using namespace std::chrono_literals;

class SigndRemote : public testing::Test {
 protected:
  SigndRemote() : ca_(folder_, "ca") {
    ca_.issue("server", {"server", "IP:127.0.0.1,DNS:signd.example.org"});
    ca_.issue("web", {"web", "DNS:Web1.example.org,URI:spiffe://example.org/web"});
    configure_remote("peers = dns:web1.example.org");
  }

  /// The keys "rsa" with this access list, and "p256" for whoever has a certificate.
  void configure_remote(const std::string& access, const std::string& tcp = "", unsigned short port = 0) {
    configure(folder_, {});
    folder_.write("rsa.pem", private_pem(test_key("rsa")));
    folder_.write("p256.pem", private_pem(test_key("p256")));
    std::ofstream(folder_.at("signd.conf"), std::ios::app)
        << "[tcp]\nlisten = 127.0.0.1:" << port
        << "\ncertificate = server.pem\nkey = server.key\nca = ca.pem\nstall_ms = 100\n"
        << tcp << "\n"
        << "[key.rsa]\nfile = rsa.pem\nusers = *\n"
        << access << "\n"
        << "[key.p256]\nfile = p256.pem\npeers = *\n";
  }
  [[nodiscard]] Settings settings(const RunningDaemon& daemon, const std::string& file = "web") const {
    return remote_settings(folder_, daemon.address(), file);
  }
  /// What a client with this certificate gets of the key "rsa".
  [[nodiscard]] Status status_for(const RunningDaemon& daemon, const std::string& file = "web",
                                  std::chrono::milliseconds patience = 100ms) const {
    Settings own = settings(daemon, file);
    own.patience = patience;
    return Client(own).call(request_for("rsa", kPss, kDigest)).status;
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream in(folder_.at(name));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// Why a client with these settings cannot connect; "" if it can.
  static std::string refusal(const Settings& settings) {
    try {
      static_cast<void>(Client(settings).keys());
      return "";
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  Folder folder_;
  Authority ca_;
};

TEST_F(SigndRemote, SignsAndListsAndIsKnownByItsCertificate) {
  configure_remote("subjects = CN=other,O=Example; CN=web,O=Example");
  std::ofstream(folder_.at("signd.conf"), std::ios::app)
      << "[daemon]\nobserver_peers = dns:web1.example.org\n";
  const RunningDaemon daemon(folder_);
  Client client(settings(daemon));
  EXPECT_TRUE(verifies("rsa", RSA_PKCS1_PSS_PADDING, client.call(request_for("rsa", kPss, kDigest)).output));
  const Answer answer = client.call(request_for("p256", {Operation::sign_ecdsa, MM_SHA256}, kDigest));
  EXPECT_TRUE(verifies("p256", 0, answer.output));
  EXPECT_EQ(client.call(request_for("rsa", kPss, Bytes(1000))).status, Status::rejected);
  EXPECT_EQ(client.keys().size(), 2U);
  const std::string text = client.metrics();
  EXPECT_NE(text.find("key_requests_total{key=\"rsa\",peer=\"CN=web,O=Example\",operation=\"sign_pss\"} 2\n"),
            std::string::npos)
      << text;
}

TEST_F(SigndRemote, LetsInWhoHasACertificateOfItsIssuers) {
  const RunningDaemon daemon(folder_);
  Authority other(folder_, "other");
  other.issue("untrusted", {"web", "DNS:web1.example.org"});
  ca_.issue("late", {"web", "DNS:web1.example.org", -7200, -3600});
  ca_.issue("early", {"web", "DNS:web1.example.org", 3600, 7200});
  EXPECT_EQ(refusal(settings(daemon)), "");
  EXPECT_NE(refusal(settings(daemon, "untrusted")).find("unknown ca"), std::string::npos);
  EXPECT_NE(refusal(settings(daemon, "late")).find("expired"), std::string::npos);
  EXPECT_NE(refusal(settings(daemon, "early")), "");
  EXPECT_EQ(status_for(daemon, "untrusted"), Status::unavailable);
  // The client looks at the daemon's certificate as well.
  EXPECT_NE(refusal(remote_settings(folder_, daemon.address(), "web", "other")), "");
  std::string by_name = daemon.address();
  by_name.replace(by_name.find("127.0.0.1"), 9, "localhost");
  EXPECT_NE(refusal(remote_settings(folder_, by_name, "web")).find("mismatch"), std::string::npos);
  EXPECT_EQ(status_for(daemon), Status::ok);
}

TEST_F(SigndRemote, KeepsToAccessLists) {
  ca_.issue("mail", {"mail", "DNS:mail.example.org,email:Post@example.org"});
  ca_.issue("nameless", {"", "URI:spiffe://example.org/web,IP:192.0.2.7"});
  const RunningDaemon daemon(folder_);
  EXPECT_EQ(status_for(daemon, "web"), Status::ok);
  // `users = *` stands for processes of the daemon's machine.
  EXPECT_EQ(status_for(daemon, "mail"), Status::denied);
  EXPECT_EQ(status_for(daemon, "nameless"), Status::denied);
  EXPECT_EQ(Client(settings(daemon, "mail")).keys().size(), 1U);
  EXPECT_THROW(static_cast<void>(Client(settings(daemon, "mail")).metrics()), std::runtime_error);
  const auto allowed = [&](const std::string& names, const std::string& file) {
    X509* const read = [&] {
      const std::unique_ptr<BIO, decltype(&BIO_free)> in(BIO_new_file(folder_.at(file + ".pem").c_str(), "r"),
                                                         &BIO_free);
      return PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr);
    }();
    const Peer peer = peer_of_certificate("192.0.2.1", read);
    X509_free(read);
    AccessNames list;
    list.peers = {names};
    return AccessList(list).allows(peer);
  };
  EXPECT_TRUE(allowed("email:post@EXAMPLE.org", "mail"));
  EXPECT_TRUE(allowed("uri:spiffe://example.org/web", "nameless"));
  EXPECT_FALSE(allowed("uri:spiffe://example.org/WEB", "nameless"));
  EXPECT_TRUE(allowed("ip:192.0.2.7", "nameless"));
  EXPECT_FALSE(allowed("dns:example.org", "mail"));
  EXPECT_THROW(static_cast<void>(allowed("web1.example.org", "mail")), std::runtime_error);
}

TEST_F(SigndRemote, TakesRightsAwayByAReload) {
  RunningDaemon daemon(folder_);
  Settings own = settings(daemon);
  own.patience = 100ms;
  Client client(own);
  ASSERT_EQ(client.call(request_for("rsa", kPss, kDigest)).status, Status::ok);
  configure_remote("peers = dns:other.example.org");
  daemon.reload();
  EXPECT_TRUE(
      eventually([&] { return client.call(request_for("rsa", kPss, kDigest)).status == Status::denied; }));
  // A certificate that is revoked ends its connections, and makes no new ones.
  ca_.revoke("revoked", {"web"});
  ca_.issue("mail", {"mail", "DNS:mail.example.org"});
  configure_remote("peers = *", "revoked = revoked.crl");
  daemon.reload();
  EXPECT_TRUE(eventually(
      [&] { return client.call(request_for("rsa", kPss, kDigest)).status == Status::unavailable; }));
  EXPECT_NE(refusal(own).find("revoked"), std::string::npos) << refusal(own);
  EXPECT_EQ(status_for(daemon, "mail"), Status::ok);
}

TEST_F(SigndRemote, EndsWhoStalls) {
  const RunningDaemon daemon(folder_);
  const Endpoint endpoint = *tcp_endpoint(daemon.address());
  const auto limit = Clock::now() + 10s;
  const Descriptor silent = connect_tcp(endpoint, limit);
  EXPECT_TRUE(eventually([&] { return ends(silent.get()); }));
  // Half of a request, and one that is answered, but whose answer nobody takes.
  for (const bool whole : {false, true}) {
    FrameLink opened(settings(daemon), FrameLink::Purpose::requests, limit);
    Bytes requests;
    RequestHeader header;
    header.scheme = kPss;
    header.input_bytes = 32;
    append_request(requests, encode(header), kDigest);
    if (!whole) requests.resize(requests.size() - 1);
    // Enough of them that the sockets' buffers cannot have all answers, which say that there is no such key.
    ASSERT_EQ(opened.stream()->send(requests).step, Step::done);
    EXPECT_TRUE(eventually([&] {
      std::uint8_t byte = 0;
      if (!whole) return opened.stream()->receive({&byte, 1}).step == Step::ended;
      Step step = Step::done;
      for (int i = 0; i < 2000 && step == Step::done; ++i) step = opened.stream()->send(requests).step;
      return step == Step::ended;
    })) << whole;
  }
  EXPECT_EQ(status_for(daemon), Status::ok);
}

TEST_F(SigndRemote, TakesTheLimitOfHandshakesFromAReload) {
  configure_remote("", "stall_ms = 600000");
  RunningDaemon daemon(folder_);
  configure_remote("");
  daemon.reload();
  Client local(settings_of(folder_));
  ASSERT_TRUE(
      eventually([&] { return local.metrics().find("signd_reloads_total 1\n") != std::string::npos; }));
  const Descriptor silent = connect_tcp(*tcp_endpoint(daemon.address()), Clock::now() + 10s);
  EXPECT_TRUE(eventually([&] { return ends(silent.get()); }));
}

TEST_F(SigndRemote, EndsWhoDoesNotSpeakItsProtocol) {
  const RunningDaemon daemon(folder_);
  const auto limit = Clock::now() + 10s;
  const Descriptor plain = connect_tcp(*tcp_endpoint(daemon.address()), limit);
  const std::string text = "GET / HTTP/1.1\r\n\r\n";
  ASSERT_GT(send(plain.get(), text.data(), text.size(), MSG_NOSIGNAL), 0);
  EXPECT_TRUE(eventually([&] { return ends(plain.get()); }));
  const std::vector<Bytes> streams = {
      Bytes(64, 0xFF), encode_frame(FrameType::list, {}), encode_frame(FrameType::answer, Bytes(16)),
      encode_frame(FrameType::request, Bytes(63)), encode_frame(FrameType::request, Bytes(65, 1))};
  for (const Bytes& stream : streams) {
    FrameLink opened(settings(daemon), FrameLink::Purpose::requests, limit);
    EXPECT_EQ(opened.stream()->send(stream).step, Step::done);
    std::uint8_t byte = 0;
    EXPECT_TRUE(eventually([&] { return opened.stream()->receive({&byte, 1}).step == Step::ended; }));
  }
  EXPECT_EQ(status_for(daemon), Status::ok);
}

TEST_F(SigndRemote, ClientsEndWhoDoesNotSpeakTheirProtocol) {
  FakeDaemon other(folder_);
  other.ignore_protocol();
  EXPECT_NE(refusal(remote_settings(folder_, other.address(), "web")).find("ALPN"), std::string::npos);
}

TEST_F(SigndRemote, TrustsIssuersWithoutTheirRoots) {
  const std::string root = read("ca.pem");
  Authority middle(folder_, "middle", ca_);
  middle.issue("server", {"server", "IP:127.0.0.1"});
  middle.issue("web", {"web", "DNS:web1.example.org"});
  middle.issue("gone", {"gone", "DNS:web1.example.org"});
  middle.revoke("middle", {"gone"});
  folder_.write("ca.pem", read("middle.pem"));
  configure_remote("peers = *", "revoked = middle.crl");
  {
    const RunningDaemon daemon(folder_);
    EXPECT_EQ(refusal(settings(daemon)), "");
    EXPECT_NE(refusal(settings(daemon, "gone")).find("revoked"), std::string::npos);
  }
  // A list by the root is not asked for, nor in the way.
  ca_.revoke("ca", {});
  folder_.write("both.crl", read("middle.crl") + read("ca.crl"));
  configure_remote("peers = *", "revoked = both.crl");
  {
    const RunningDaemon daemon(folder_);
    EXPECT_EQ(refusal(settings(daemon)), "");
    EXPECT_NE(refusal(settings(daemon, "gone")).find("revoked"), std::string::npos);
  }
  // But one by the issuer of a client is, and those of another issuer are still refused.
  Authority other(folder_, "other");
  other.issue("untrusted", {"untrusted", "DNS:web1.example.org"});
  other.revoke("other", {});
  configure_remote("peers = *", "revoked = other.crl");
  {
    const RunningDaemon daemon(folder_);
    EXPECT_NE(refusal(settings(daemon)), "");
    EXPECT_NE(refusal(settings(daemon, "untrusted")), "");
  }
  configure_remote("peers = *", "revoked = middle.crl");
  // With the root beside it, the root says whether its issuer is good: here nothing.
  folder_.write("ca.pem", root + read("middle.pem"));
  {
    const RunningDaemon daemon(folder_);
    EXPECT_NE(refusal(settings(daemon)), "");
  }
  configure_remote("peers = *", "revoked = both.crl");
  const RunningDaemon daemon(folder_);
  EXPECT_EQ(refusal(settings(daemon)), "");
  EXPECT_NE(refusal(settings(daemon, "gone")).find("revoked"), std::string::npos);
}

TEST_F(SigndRemote, LimitsTheConnectionsOfACertificate) {
  configure_remote("peers = *");
  std::ofstream(folder_.at("signd.conf"), std::ios::app) << "[daemon]\nmax_connections_per_user = 2\n";
  ca_.issue("mail", {"mail", "DNS:mail.example.org"});
  const RunningDaemon daemon(folder_);
  const auto limit = Clock::now() + 10s;
  const auto one = open_link(settings(daemon), limit), two = open_link(settings(daemon), limit);
  EXPECT_NE(refusal(settings(daemon)).find("too many connections"), std::string::npos);
  EXPECT_EQ(status_for(daemon, "mail"), Status::ok);
}

TEST_F(SigndRemote, LimitsTheRateOfACertificate) {
  configure_remote("peers = *");
  std::ofstream(folder_.at("signd.conf"), std::ios::app) << "[daemon]\nrate = 0.001\nburst = 1\n";
  ca_.issue("mail", {"mail", "DNS:mail.example.org"});
  const RunningDaemon daemon(folder_);
  EXPECT_EQ(status_for(daemon, "web", 10s), Status::ok);
  EXPECT_EQ(status_for(daemon, "web", 10s), Status::busy);
  EXPECT_EQ(status_for(daemon, "mail", 10s), Status::ok);
}

/// Connect from an address of this machine, and say nothing.
Descriptor unauthenticated_client(const Endpoint& daemon, const std::string& from) {
  Descriptor made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  inet_pton(AF_INET, from.c_str(), &address.sin_addr);
  EXPECT_EQ(bind(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  inet_pton(AF_INET, daemon.host.c_str(), &address.sin_addr);
  address.sin_port = htons(static_cast<in_port_t>(std::stoi(daemon.port)));
  EXPECT_EQ(connect(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return made;
}

TEST_F(SigndRemote, UnauthenticatedClientsKeepNobodyOut) {
  configure_remote("peers = *", "stall_ms = 60000");
  std::ofstream(folder_.at("signd.conf"), std::ios::app) << "[daemon]\nmax_connections = 512\n";
  const RunningDaemon daemon(folder_);
  const Endpoint endpoint = *tcp_endpoint(daemon.address());
  constexpr std::size_t kUnauthenticated = 512 / 4;
  const auto left = [](const std::vector<Descriptor>& clients) {
    return std::ranges::count_if(clients, [](const Descriptor& socket) { return !ends(socket.get()); });
  };
  // One address has its own few places, and its last ones.
  std::vector<Descriptor> alike, different;
  while (alike.size() < kUnauthenticated + 10) alike.push_back(unauthenticated_client(endpoint, "127.0.0.2"));
  EXPECT_EQ(status_for(daemon, "web", 10s), Status::ok);
  EXPECT_TRUE(eventually([&] { return left(alike) == Accounts::kFewest; }));
  EXPECT_FALSE(ends(alike.back().get()));
  // Many addresses have all of the places, but the newcomer has that of the oldest.
  while (different.size() < kUnauthenticated) {
    different.push_back(unauthenticated_client(endpoint, "127.0.1." + std::to_string(1 + different.size())));
  }
  EXPECT_EQ(status_for(daemon, "web", 10s), Status::ok);
  EXPECT_TRUE(eventually([&] { return left(alike) == 0; }));
  EXPECT_TRUE(ends(different.front().get()));
  EXPECT_FALSE(ends(different.back().get()));
}

TEST_F(SigndRemote, ServesManyClients) {
  configure_remote("peers = *", "stall_ms = 60000");
  const RunningDaemon daemon(folder_);
  constexpr int kClients = 12, kRequests = 20;
  std::atomic<int> good = 0;
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.push_back(std::make_unique<Client>(settings(daemon)));
    for (int j = 0; j < kRequests; ++j) {
      clients.back()->submit(request_for("p256", {Operation::sign_ecdsa, MM_SHA256}, kDigest),
                             [&](Answer&& answer) { good += answer.status == Status::ok; });
    }
  }
  EXPECT_TRUE(eventually([&] { return good == kClients * kRequests; })) << good;
}

TEST_F(SigndRemote, ClientsFindTheNextDaemon) {
  const unsigned short port = free_port();
  configure_remote("peers = *", "", port);
  Settings own = remote_settings(folder_, "tcp://127.0.0.1:" + std::to_string(port), "web");
  own.patience = 10s;
  Client client(own);
  std::atomic<int> ok = 0;
  Program first(folder_);
  ASSERT_EQ(client.call(request_for("rsa", kPss, kDigest)).status, Status::ok);
  for (int i = 0; i < 50; ++i) {
    client.submit(request_for("rsa", kPss, kDigest),
                  [&](Answer&& answer) { ok += answer.status == Status::ok; });
  }
  first.end(SIGKILL);
  Program second(folder_);
  EXPECT_EQ(client.call(request_for("rsa", kPss, kDigest)).status, Status::ok);
  EXPECT_TRUE(eventually([&] { return ok == 50; })) << ok;
  EXPECT_EQ(second.end(SIGTERM), 0);
}

TEST_F(SigndRemote, GivesUpConnectionsThatAreHalfOpen) {
  const RunningDaemon daemon(folder_);
  Proxy proxy(*tcp_endpoint(daemon.address()));
  Settings own = remote_settings(folder_, proxy.address(), "web");
  own.silence = 300ms;
  Client client(own);
  ASSERT_EQ(client.call(request_for("rsa", kPss, kDigest)).status, Status::ok);
  proxy.freeze();
  // Nothing tells the client that its bytes are lost but the silence of the other side.
  Request request = request_for("rsa", kPss, kDigest);
  request.timeout = 50ms;
  EXPECT_EQ(client.call(request).status, Status::expired);
  EXPECT_EQ(client.call(request_for("rsa", kPss, kDigest)).status, Status::ok);
  EXPECT_EQ(proxy.connections(), 2);
}

TEST_F(SigndRemote, SaysWhatIsWrongWithAConfiguration) {
  const auto refused = [&](const std::string& tcp) {
    folder_.write("bad.conf", "[tcp]\n" + tcp);
    try {
      static_cast<void>(Generation(load_config(folder_.at("bad.conf"))));
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string listen = "listen = 127.0.0.1:0\n";
  const std::string files = listen + "certificate = server.pem\nca = ca.pem\n";
  EXPECT_NE(refused("listen = nowhere\nkey = a\n").find("is not host:port"), std::string::npos);
  EXPECT_NE(refused("listen = ::1:5\nkey = a\n").find("is not host:port"), std::string::npos);
  EXPECT_NE(refused(listen).find("key and key_credential"), std::string::npos);
  EXPECT_NE(refused(listen + "key = server.key\n").find("certificate and ca"), std::string::npos);
  EXPECT_NE(refused(files + "key = web.key\n").find("web.key"), std::string::npos);
  EXPECT_NE(refused(files + "key = server.key\nrevoked = web.key\n").find("web.key"), std::string::npos);
  EXPECT_EQ(refused(files + "key = server.key\n"), "");
  EXPECT_EQ(parse_endpoint("[::1]:7").host, "::1");
}

}  // namespace
}  // namespace manymod::signd::test
