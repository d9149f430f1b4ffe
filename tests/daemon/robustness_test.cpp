// SPDX-License-Identifier: Apache-2.0
// Reloads, overload, restarts, and clients that do not keep to the rules.
#include <openssl/rsa.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "client/link.hpp"
#include "daemon/support.hpp"
#include "server/metrics.hpp"

namespace manymod::signd::test {
namespace {

class SigndRobustness : public testing::Test {
 protected:
  SigndRobustness() { configure(folder_, {"rsa", "rsa2"}); }
  [[nodiscard]] std::unique_ptr<Link> link() const {
    return open_link(settings_of(folder_), Clock::now() + std::chrono::seconds(5));
  }
  /// Whether honest clients are served.
  [[nodiscard]] bool serves() const {
    Client client(settings_of(folder_));
    return client.call(request_for("rsa", kPss, kDigest)).status == Status::ok;
  }
  [[nodiscard]] std::string metric(const std::string& name) const {
    const std::string text = Client(settings_of(folder_)).metrics();
    const std::size_t at = text.find("\nmanymod_signd_" + name + " ");
    if (at == std::string::npos) return "";
    const std::size_t from = text.find(' ', at) + 1;
    return text.substr(from, text.find('\n', from) - from);
  }
  Folder folder_;
};

/// Whether the daemon ends a connection.
bool is_ended(int socket) {
  return eventually([&] {
    std::uint8_t byte = 0;
    const ssize_t size = recv(socket, &byte, 1, MSG_DONTWAIT);
    return size == 0 || (size < 0 && errno != EAGAIN);
  });
}

int connected(const Folder& folder) {
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  folder.at("socket").copy(address.sun_path, sizeof address.sun_path - 1);
  EXPECT_EQ(connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return socket;
}

RequestHeaderBytes header_of(std::uint64_t id, std::uint32_t input_bytes) {
  RequestHeader header;
  header.id = id;
  header.input_bytes = input_bytes;
  header.scheme = kPss;
  header.key = id_of(test_key("rsa"));
  return encode(header);
}

TEST_F(SigndRobustness, ReloadsWithoutLosingARequest) {
  RunningDaemon daemon(folder_);
  Client client(settings_of(folder_));
  std::atomic<bool> stop = false;
  std::atomic<int> answered = 0, bad = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      while (!stop) {
        ++(client.call(request_for("rsa", kPss, kDigest)).status == Status::ok ? answered : bad);
      }
    });
  }
  for (int reloads = 1; reloads <= 5; ++reloads) {
    const int before = answered;
    configure(folder_,
              reloads % 2 == 0 ? std::vector<std::string>{"rsa", "rsa2"} : std::vector<std::string>{"rsa"});
    daemon.reload();
    EXPECT_TRUE(
        eventually([&] { return metric("reloads_total") == std::to_string(reloads) && answered > before; }));
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(bad, 0);
  EXPECT_EQ(client.call(request_for("rsa2", kPss, kDigest)).status, Status::unknown_key);
}

TEST_F(SigndRobustness, KeepsItsKeysWhenAReloadFails) {
  RunningDaemon daemon(folder_);
  folder_.write("rsa.pem", "not a key");
  daemon.reload();
  Client client(settings_of(folder_));
  EXPECT_TRUE(eventually([&] { return metric("failed_reloads_total") == "1"; }));
  EXPECT_TRUE(serves());
}

TEST_F(SigndRobustness, KeysForPssAloneSignByPssAlone) {
  const Crypto<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new_from_name(nullptr, "RSA-PSS", nullptr));
  EVP_PKEY* made = nullptr;
  ASSERT_EQ(EVP_PKEY_keygen_init(context.get()), 1);
  ASSERT_EQ(EVP_PKEY_CTX_set_rsa_keygen_bits(context.get(), 1024), 1);
  ASSERT_EQ(EVP_PKEY_generate(context.get(), &made), 1);
  const Crypto<EVP_PKEY> key(made);
  folder_.write("pss.pem", private_pem(key.get()));
  configure(folder_, {}, key_section("pss", "operations = sign_pkcs1, sign_pss, decrypt_oaep, raw"));
  const RunningDaemon daemon(folder_);
  Client client(settings_of(folder_));
  const std::vector<KeyInfo> keys = client.keys();
  ASSERT_EQ(keys.size(), 1U);
  EXPECT_EQ(keys[0].operations, bit_of(Operation::sign_pss));
  Request request;
  request.key = keys[0].id;
  request.input = kDigest;
  request.scheme = kPss;
  EXPECT_EQ(client.call(request).status, Status::ok);
  request.scheme = {Operation::sign_pkcs1, MM_SHA256};
  EXPECT_EQ(client.call(request).status, Status::unsupported);
}

// Results of a key of 1025 bits have 129 bytes.
TEST_F(SigndRobustness, ServesKeysWhoseBitsAreNoMultipleOfEight) {
  const Crypto<EVP_PKEY> key(EVP_RSA_gen(1025));
  folder_.write("odd.pem", private_pem(key.get()));
  configure(folder_, {}, "max_message = 64\nmax_key_bits = 1025\n" + key_section("odd", "operations = raw"));
  RunningDaemon daemon(folder_);
  Client client(settings_of(folder_));
  Bytes one(129);
  one.back() = 1;
  Request request;
  request.key = id_of(key.get());
  request.scheme = {Operation::raw};
  request.input = one;
  const Answer answer = client.call(request);
  EXPECT_EQ(answer.status, Status::ok);
  EXPECT_EQ(answer.output, one);
  // Rings are as long as the daemon: a reload must not let longer keys in than their records have room for.
  configure(folder_, {"rsa"}, "max_message = 64\nmax_key_bits = 1033\n");
  daemon.reload();
  EXPECT_TRUE(eventually([&] { return metric("failed_reloads_total") == "1"; }));
}

TEST_F(SigndRobustness, HasRoomForResultsWhoseBitsAreNoMultipleOfEight) {
  Config config;
  config.max_message = 64;
  config.max_key_bits = 1927;
  const Limits limits = limits_of(config);
  EXPECT_EQ(limits.max_input, 241U);
  EXPECT_EQ(limits.max_output, 241U);
}

TEST_F(SigndRobustness, WritesMetricsWithinTheIntervalOfAReload) {
  configure(folder_, {"rsa"}, "interval_s = 86400");
  RunningDaemon daemon(folder_);
  const std::string file = folder_.at("metrics");
  configure(folder_, {"rsa"}, "interval_s = 1\nmetrics_file = " + file);
  daemon.reload();
  EXPECT_TRUE(eventually([&] { return std::filesystem::exists(file); }));
}

TEST_F(SigndRobustness, SaysWhatIsWrongWithAConfiguration) {
  const auto refused = [&](const std::string& text) {
    folder_.write("bad.conf", text);
    try {
      static_cast<void>(Generation(load_config(folder_.at("bad.conf"))));
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(refused("[daemon]\nsoket = x\n").find("[daemon] soket"), std::string::npos);
  EXPECT_NE(refused("[daemon]\nreaders = 0\n").find("from 1 to 64"), std::string::npos);
  EXPECT_NE(refused("[daemon]\nsocket_mode = 999\n").find("octal number from 0 to 777"), std::string::npos);
  EXPECT_NE(refused("[other]\nx = 1\n").find("[other]"), std::string::npos);
  EXPECT_NE(refused("[key.a]\nusers = 0\n").find("one of file, credential and module"), std::string::npos);
  EXPECT_NE(refused("[key.a]\nfile = none.pem\n").find("none.pem"), std::string::npos);
  EXPECT_NE(refused("[key.a]\nfile = rsa.pem\noperations = sing\n").find("no operation sing"),
            std::string::npos);
  EXPECT_NE(refused("[key.a]\nfile = rsa.pem\nusers = nobody-of-this-name\n").find("no user"),
            std::string::npos);
  EXPECT_NE(refused("[key.a]\nfile = rsa.pem\n[key.b]\nfile = rsa.pem\n").find("another section"),
            std::string::npos);
  // Names of keys go into logs and metrics as they are.
  EXPECT_EQ(refused("[key.*.example.org/a_b-c+@]\nfile = rsa.pem\n"), "");
  for (const std::string& name :
       std::vector<std::string>{"a b", "a\\nb", "a\\\"b", "", std::string(256, 'a')}) {
    EXPECT_NE(refused("[key." + name + "]\nfile = rsa.pem\n").find("printable"), std::string::npos) << name;
  }
  EXPECT_EQ(refused("[key." + std::string(255, 'a') + "]\nfile = rsa.pem\n"), "");
  // Clients refuse rings of more than 64 MiB.
  EXPECT_EQ(refused("[daemon]\nmax_outstanding = 65536\nmax_key_bits = 4096\n"), "");
  EXPECT_NE(
      refused("[daemon]\nmax_outstanding = 65536\nmax_key_bits = 8192\n").find("need a ring of 134217728"),
      std::string::npos);
}

// As root the daemon could replace devices, and wait for the other end of a pipe.
TEST_F(SigndRobustness, WritesMetricsToRegularFilesAlone) {
  const std::string file = folder_.at("metrics"), pipe = folder_.at("pipe");
  const auto content = [](const std::string& path) {
    std::ifstream stream(path);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  EXPECT_TRUE(replace_file(file, "one"));
  ASSERT_EQ(mkfifo((file + ".new").c_str(), 0600), 0);  // not opened
  EXPECT_TRUE(replace_file(file, "two"));
  EXPECT_EQ(content(file), "two");
  EXPECT_FALSE(std::filesystem::exists(file + ".new"));
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_FALSE(replace_file(pipe, "three"));
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  ASSERT_EQ(symlink(file.c_str(), folder_.at("link").c_str()), 0);
  EXPECT_FALSE(replace_file(folder_.at("link"), "four"));
  EXPECT_FALSE(replace_file(folder_.at(""), "five"));
  EXPECT_FALSE(replace_file(folder_.at("none/metrics"), "six"));
  EXPECT_EQ(content(file), "two");
}

TEST_F(SigndRobustness, RefusesWhatItsQueueCannotTake) {
  configure(folder_, {"rsa"}, "max_queue = 1\nmax_outstanding = 100\ndeadline_us = 1000");
  RunningDaemon daemon(folder_);
  Client client(settings_of(folder_));
  ASSERT_EQ(client.call(request_for("rsa", kPss, kDigest)).status, Status::ok);
  std::atomic<int> ok = 0, busy = 0, other = 0;
  const auto count = [&](Answer&& answer) {
    ++(answer.status == Status::ok ? ok : answer.status == Status::busy ? busy : other);
  };
  constexpr int kRequests = 2000;
  for (int i = 0; i < kRequests; ++i) client.submit(request_for("rsa", kPss, kDigest), count);
  EXPECT_TRUE(eventually([&] { return ok + busy + other == kRequests; }));
  EXPECT_EQ(other, 0);
  EXPECT_GT(ok, 0);
  EXPECT_GT(busy, 0);
  EXPECT_TRUE(serves());
}

TEST_F(SigndRobustness, LimitsTheRateOfAClient) {
  configure(folder_, {"rsa"}, "rate = 0.001\nburst = 3");
  RunningDaemon daemon(folder_);
  Client client(settings_of(folder_));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client.call(request_for("rsa", kPss, kDigest)).status, Status::ok);
  EXPECT_EQ(client.call(request_for("rsa", kPss, kDigest)).status, Status::busy);
  // Another connection does not help: not beside the first, and not after it.
  EXPECT_FALSE(serves());
  EXPECT_FALSE(serves());
}

TEST_F(SigndRobustness, CountsConnectionsUntilTheirLastAnswer) {
  configure(folder_, {"rsa"}, "max_connections_per_user = 2\nmax_outstanding = 2048");
  RunningDaemon daemon(folder_);
  const RequestHeaderBytes header = header_of(1, 32);
  bool refused = false;
  // A connection that is ended while its requests wait keeps its place: soon two of them have all places.
  for (int round = 0; round < 100 && !refused; ++round) {
    try {
      const auto leaving = link();
      for (int i = 0; i < 2048; ++i) ASSERT_TRUE(leaving->send(header, kDigest));
      show(*leaving);
      shutdown(leaving->socket(), SHUT_WR);
      ASSERT_TRUE(is_ended(leaving->socket()));
    } catch (const std::runtime_error&) {
      refused = true;
    }
  }
  EXPECT_TRUE(refused);
  EXPECT_TRUE(eventually([&] { return serves(); }));
}

TEST_F(SigndRobustness, WritesFewLinesOfManyErrors) {
  constexpr int kErrors = 300;
  RunningDaemon daemon(folder_);
  testing::internal::CaptureStderr();
  const auto begin = Clock::now();
  const Bytes nonsense(16, 0xFF);
  for (int i = 0; i < kErrors; ++i) {
    const int socket = connected(folder_);
    EXPECT_EQ(send(socket, nonsense.data(), nonsense.size(), MSG_NOSIGNAL), 16);
    EXPECT_TRUE(is_ended(socket));
    close(socket);
  }
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(Clock::now() - begin).count();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_LE(std::ranges::count(log, '\n'), 1 + seconds) << log;
  EXPECT_NE(log.find("is disconnected"), std::string::npos);
  EXPECT_EQ(metric("protocol_errors_total"), std::to_string(kErrors));
}

TEST_F(SigndRobustness, LimitsConnections) {
  configure(folder_, {"rsa"}, "max_connections_per_user = 2");
  RunningDaemon daemon(folder_);
  {
    const auto one = link(), two = link();
    EXPECT_THROW(static_cast<void>(link()), std::runtime_error);
  }
  EXPECT_TRUE(eventually([&] {
    try {
      static_cast<void>(link());
      return true;
    } catch (const std::runtime_error&) {
      return false;
    }
  }));
}

TEST_F(SigndRobustness, EndsConnectionsThatDoNotSpeakItsProtocol) {
  RunningDaemon daemon(folder_);
  Hello other;
  other.first_version = other.last_version = kVersion + 1;
  const std::vector<Bytes> streams = {
      Bytes(64, 0xFF), encode_frame(FrameType::list, {}), encode_frame(FrameType::hello, {}),
      encode_frame(FrameType::hello, encode(other)), Bytes(kFrameHeaderBytes + kMaxClientBody + 1, 0)};
  for (const Bytes& stream : streams) {
    const int socket = connected(folder_);
    EXPECT_EQ(send(socket, stream.data(), stream.size(), MSG_NOSIGNAL), static_cast<ssize_t>(stream.size()));
    EXPECT_TRUE(is_ended(socket));
    close(socket);
  }
  EXPECT_TRUE(serves());
}

TEST_F(SigndRobustness, EndsClientsWithImpossibleRings) {
  RunningDaemon daemon(folder_);
  {
    const auto hostile = link();
    ASSERT_TRUE(hostile->send(header_of(1, UINT32_MAX), {}));  // a length that is not its input's
    show(*hostile);
    EXPECT_TRUE(is_ended(hostile->socket()));
  }
  {
    const auto hostile = link();
    RequestHeaderBytes header = header_of(1, 0);
    header[63] = 1;
    ASSERT_TRUE(hostile->send(header, {}));
    show(*hostile);
    EXPECT_TRUE(is_ended(hostile->socket()));
  }
  EXPECT_EQ(metric("protocol_errors_total"), "2");
  EXPECT_TRUE(serves());
}

TEST_F(SigndRobustness, SurvivesClientsThatDoNotReadTheirAnswers) {
  configure(folder_, {"rsa"}, "max_outstanding = 4");
  RunningDaemon daemon(folder_);
  const auto hostile = link();
  for (std::uint64_t id = 0; id < 200; ++id) {
    if (hostile->send(header_of(id, 32), kDigest)) show(*hostile);
    if (id % 10 == 0) std::this_thread::yield();
  }
  EXPECT_TRUE(serves());
}

TEST_F(SigndRobustness, OutlivesClientsThatEndWithRequestsOutstanding) {
  RunningDaemon daemon(folder_);
  for (int i = 0; i < 5; ++i) {
    const auto leaving = link();
    for (std::uint64_t id = 0; id < 20; ++id) ASSERT_TRUE(leaving->send(header_of(id, 32), kDigest));
    show(*leaving);
  }
  EXPECT_TRUE(serves());
  EXPECT_TRUE(eventually([&] { return metric("connections") == "0"; }));
}

TEST_F(SigndRobustness, ClientsSurviveTheDeathOfTheirDaemon) {
  Program first(folder_);
  Settings settings = settings_of(folder_);
  settings.patience = std::chrono::seconds(10);
  Client client(settings);
  ASSERT_EQ(client.call(request_for("rsa", kPss, kDigest)).status, Status::ok);
  std::atomic<int> ok = 0;
  for (int i = 0; i < 50; ++i) {
    client.submit(request_for("rsa", kPss, kDigest),
                  [&](Answer&& answer) { ok += answer.status == Status::ok; });
  }
  first.end(SIGKILL);
  Program second(folder_);
  EXPECT_EQ(client.call(request_for("rsa2", kPss, kDigest)).status, Status::ok);
  EXPECT_TRUE(eventually([&] { return ok == 50; })) << ok;
  EXPECT_EQ(second.end(SIGTERM), 0);
}

TEST_F(SigndRobustness, RequestsExpireWhileTheDaemonHangs) {
  Program program(folder_);
  Client client(settings_of(folder_));
  ASSERT_EQ(client.call(request_for("rsa", kPss, kDigest)).status, Status::ok);
  program.hang();
  Request request = request_for("rsa", kPss, kDigest);
  request.timeout = std::chrono::milliseconds(20);
  EXPECT_EQ(client.call(request).status, Status::expired);
  std::atomic<int> expired = 0;
  client.submit(request, [&](Answer&& answer) { expired += answer.status == Status::expired; });
  EXPECT_TRUE(eventually([&] { return expired == 1; }));
  program.send(SIGCONT);
  EXPECT_EQ(client.call(request_for("rsa", kPss, kDigest)).status, Status::ok);
}

TEST_F(SigndRobustness, ReadsKeysFromCredentials) {
  folder_.write("credential.conf", "[key.a]\ncredential = rsa.pem\nusers = 0\n");
  EXPECT_THROW(static_cast<void>(Generation(load_config(folder_.at("credential.conf")))), std::runtime_error);
  setenv("CREDENTIALS_DIRECTORY", folder_.at("").c_str(), 1);
  const Generation generation(load_config(folder_.at("credential.conf")));
  unsetenv("CREDENTIALS_DIRECTORY");
  EXPECT_NE(generation.find(id_of(test_key("rsa"))), nullptr);
}

TEST_F(SigndRobustness, ProgramReloadsOnSighupAndIgnoresTheServersConfiguration) {
  folder_.write(
      "openssl.cnf",
      "openssl_conf = x\n[x]\nproviders = y\n[y]\nnone = z\n[z]\nmodule = /nonexistent\nactivate = 1\n");
  setenv("OPENSSL_CONF", folder_.at("openssl.cnf").c_str(), 1);
  configure(folder_, {"rsa"});
  Program program(folder_);
  unsetenv("OPENSSL_CONF");
  Client client(settings_of(folder_));
  const auto status_of_rsa2 = [&] { return client.call(request_for("rsa2", kPss, kDigest)).status; };
  EXPECT_TRUE(eventually([&] { return status_of_rsa2() == Status::unknown_key; }));
  configure(folder_, {"rsa", "rsa2"});
  program.send(SIGHUP);
  EXPECT_TRUE(eventually([&] { return status_of_rsa2() == Status::ok; }));
}

}  // namespace
}  // namespace manymod::signd::test
