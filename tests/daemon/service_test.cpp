// SPDX-License-Identifier: Apache-2.0
// What clients get from a daemon: results as libcrypto's, and refusals.
#include <fcntl.h>
#include <openssl/ec.h>
#include <openssl/rsa.h>
#include <sys/eventfd.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <string>

#include "cpp/support/address_sanitizer.hpp"
#include "daemon/support.hpp"

namespace manymod::signd::test {
namespace {

const std::vector<std::string> kAllKeys = {"rsa", "rsa2", "p256", "ed25519", "x25519"};

Bytes raw_public(EVP_PKEY* key) {
  unsigned char* bytes = nullptr;
  const std::size_t size = EVP_PKEY_get1_encoded_public_key(key, &bytes);
  Bytes copy(bytes, bytes + size);
  OPENSSL_free(bytes);
  return copy;
}

Bytes derived(EVP_PKEY* own, EVP_PKEY* peer) {
  const Crypto<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new(own, nullptr));
  std::size_t size = 66;
  Bytes secret(size);
  EXPECT_EQ(EVP_PKEY_derive_init(context.get()), 1);
  EXPECT_EQ(EVP_PKEY_derive_set_peer(context.get(), peer), 1);
  EXPECT_EQ(EVP_PKEY_derive(context.get(), secret.data(), &size), 1);
  secret.resize(size);
  return secret;
}

Bytes encrypted(EVP_PKEY* key, int padding, const Bytes& message) {
  const Crypto<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new(key, nullptr));
  std::size_t size = static_cast<std::size_t>(EVP_PKEY_get_size(key));
  Bytes ciphertext(size);
  EXPECT_EQ(EVP_PKEY_encrypt_init(context.get()), 1);
  EXPECT_EQ(EVP_PKEY_CTX_set_rsa_padding(context.get(), padding), 1);
  EXPECT_EQ(EVP_PKEY_encrypt(context.get(), ciphertext.data(), &size, message.data(), message.size()), 1);
  return ciphertext;
}

/// A daemon with all keys, and a client.
class SigndService : public testing::Test {
 protected:
  SigndService() { configure(folder_, kAllKeys); }
  Answer call(const std::string& key, const Scheme& scheme, const Bytes& input) {
    return client().call(request_for(key, scheme, input));
  }
  Client& client() {
    if (!daemon_) {
      daemon_ = std::make_unique<RunningDaemon>(folder_);
      client_ = std::make_unique<Client>(settings_of(folder_));
    }
    return *client_;
  }

  Folder folder_;
  std::unique_ptr<RunningDaemon> daemon_;
  std::unique_ptr<Client> client_;
};

/// docs/signd.md shows it.
std::map<std::string, Bytes> signed_by_every_key(const std::string& address, const Bytes& digest) {
  std::map<std::string, Bytes> signatures;
  Client client({.address = address});  // such as /run/manymod/signd.sock
  for (const KeyInfo& key : client.keys()) {
    if ((key.operations & bit_of(Operation::sign_pss)) == 0) continue;
    const Answer answer =
        client.call({.key = key.id, .scheme = {Operation::sign_pss, MM_SHA256}, .input = digest});
    if (answer.status == Status::ok) signatures[key.name] = answer.output;
  }
  return signatures;
}

TEST_F(SigndService, EveryKeyOfRsaSigns) {
  static_cast<void>(client());
  const std::map<std::string, Bytes> signatures = signed_by_every_key(settings_of(folder_).address, kDigest);
  EXPECT_EQ(signatures.size(), 2U);
  for (const auto& [key, signature] : signatures) {
    EXPECT_TRUE(verifies(key, RSA_PKCS1_PSS_PADDING, signature)) << key;
  }
}

TEST_F(SigndService, SignsAsLibcryptoVerifies) {
  for (const char* key : {"rsa", "rsa2"}) {
    EXPECT_TRUE(verifies(key, RSA_PKCS1_PSS_PADDING, call(key, kPss, kDigest).output));
    const Scheme longest{Operation::sign_pss, MM_SHA256, MM_SHA256, kSaltMax};
    EXPECT_TRUE(verifies(key, RSA_PKCS1_PSS_PADDING, call(key, longest, kDigest).output));
    EXPECT_TRUE(
        verifies(key, RSA_PKCS1_PADDING, call(key, {Operation::sign_pkcs1, MM_SHA256}, kDigest).output));
  }
  EXPECT_TRUE(verifies("p256", 0, call("p256", {Operation::sign_ecdsa, MM_SHA256}, kDigest).output));
  const Bytes signature = call("ed25519", {Operation::sign_eddsa}, kDigest).output;
  const Crypto<EVP_MD_CTX> context(EVP_MD_CTX_new());
  ASSERT_EQ(EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, test_key("ed25519")), 1);
  EXPECT_EQ(
      EVP_DigestVerify(context.get(), signature.data(), signature.size(), kDigest.data(), kDigest.size()), 1);
}

TEST_F(SigndService, DecryptsAndExchangesAsLibcrypto) {
  const Bytes message = {1, 2, 3, 4};
  const Bytes oaep = encrypted(test_key("rsa"), RSA_PKCS1_OAEP_PADDING, message);
  EXPECT_EQ(call("rsa", {Operation::decrypt_oaep, MM_SHA1}, oaep).output, message);
  const Bytes pkcs1 = encrypted(test_key("rsa"), RSA_PKCS1_PADDING, message);
  EXPECT_EQ(call("rsa", {Operation::decrypt_pkcs1}, pkcs1).output, message);
  const Crypto<EVP_PKEY> p256(EVP_EC_gen("P-256")), x25519(EVP_PKEY_Q_keygen(nullptr, nullptr, "X25519"));
  for (const auto& [key, peer] : {std::pair("p256", p256.get()), std::pair("x25519", x25519.get())}) {
    EXPECT_EQ(call(key, {Operation::exchange}, raw_public(peer)).output, derived(peer, test_key(key))) << key;
  }
}

TEST_F(SigndService, ListsItsKeysAndMetrics) {
  const std::vector<KeyInfo> keys = client().keys();
  ASSERT_EQ(keys.size(), kAllKeys.size());
  for (const KeyInfo& key : keys) {
    EXPECT_EQ(key.id, id_of(test_key(key.name)));
    EXPECT_EQ(key.subject_public_key_info, public_info(test_key(key.name)));
    EXPECT_EQ(key.operations & bit_of(Operation::raw), 0U);
  }
  EXPECT_EQ(call("rsa", kPss, kDigest).status, Status::ok);
  const std::string text = client().metrics();
  const std::string own = "manymod_signd_key_requests_total{key=\"rsa\",user=\"" + std::to_string(getuid()) +
                          "\",operation=\"sign_pss\"} 1\n";
  EXPECT_NE(text.find(own), std::string::npos) << text;
  EXPECT_NE(text.find("manymod_signd_keys 5\n"), std::string::npos);
}

TEST_F(SigndService, RefusesWhatDoesNotSuit) {
  EXPECT_EQ(call("rsa", kPss, Bytes(31)).status, Status::rejected);
  EXPECT_EQ(call("rsa", kPss, Bytes(1U << 20)).status, Status::rejected);
  EXPECT_EQ(call("rsa", {Operation::decrypt_oaep, MM_SHA256}, Bytes(128)).status, Status::rejected);
  EXPECT_EQ(call("p256", {Operation::exchange}, Bytes(65, 4)).status, Status::rejected);
  EXPECT_EQ(call("p256", kPss, kDigest).status, Status::unsupported);
  EXPECT_EQ(call("ed25519", {Operation::exchange}, Bytes(32)).status, Status::unsupported);
  EXPECT_EQ(call("rsa", {static_cast<Operation>(200), MM_SHA256}, kDigest).status, Status::unsupported);
  EXPECT_EQ(call("rsa", {Operation::sign_pss, MM_SHA3_256}, kDigest).status, Status::ok);
  EXPECT_EQ(call("rsa", {Operation::sign_pkcs1, MM_SHAKE128}, kDigest).status, Status::unsupported);
  EXPECT_EQ(call("rsa", {Operation::sign_pss, MM_SHA256, MM_SHA384}, kDigest).status, Status::unsupported);
  EXPECT_EQ(call("rsa", {Operation::sign_pss, MM_SHA256, MM_HASH_NONE, 7}, kDigest).status,
            Status::unsupported);
  EXPECT_EQ(call("rsa", {Operation::raw}, Bytes(128)).status, Status::denied);
  Request unknown = request_for("rsa", kPss, kDigest);
  unknown.key[0] ^= 1;
  EXPECT_EQ(client().call(unknown).status, Status::unknown_key);
  EXPECT_EQ(call("rsa", kPss, kDigest).status, Status::ok);
}

TEST_F(SigndService, KeepsToAccessLists) {
  configure(folder_, {"rsa"});
  folder_.write("rsa2.pem", private_pem(test_key("rsa2"), "word"));
  folder_.write("word", "word\n");
  std::ofstream(folder_.at("signd.conf"), std::ios::app)
      << key_section("rsa2", "users = " + std::to_string(getuid() + 1) + "\npassword_file = word")
      << "[key.everyone]\nfile = p256.pem\nusers = *\noperations = exchange\n";
  folder_.write("p256.pem", private_pem(test_key("p256")));
  EXPECT_EQ(call("rsa2", kPss, kDigest).status, Status::denied);
  EXPECT_EQ(call("p256", {Operation::sign_ecdsa, MM_SHA256}, kDigest).status, Status::denied);
  EXPECT_EQ(call("p256", {Operation::exchange}, raw_public(test_key("p256"))).status, Status::ok);
  EXPECT_EQ(client().keys().size(), 2U);
  EXPECT_NE(client().metrics().find("manymod_signd_answers_total{status=\"denied\"} 2\n"), std::string::npos);
}

TEST_F(SigndService, AnswersManyThreadsAndCompletions) {
  constexpr int kThreads = 4, kRequests = 40;
  client();
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const std::string key = t % 2 == 0 ? "rsa" : "p256";
      const Scheme scheme = t % 2 == 0 ? kPss : Scheme{Operation::sign_ecdsa, MM_SHA256};
      for (int i = 0; i < kRequests / 2; ++i)
        good += client_->call(request_for(key, scheme, kDigest)).status == Status::ok;
      for (int i = 0; i < kRequests / 2; ++i) {
        client_->submit(request_for(key, scheme, kDigest),
                        [&](Answer&& answer) { good += answer.status == Status::ok; });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(eventually([&] { return good == kThreads * kRequests; })) << good;
}

TEST_F(SigndService, WritesToDescriptorsAndCancels) {
  const int event = eventfd(0, EFD_CLOEXEC);
  Ticket ticket = client().submit(request_for("rsa", kPss, kDigest), event);
  eventfd_t count = 0;
  ASSERT_EQ(eventfd_read(event, &count), 0);
  EXPECT_EQ(count, 1U);
  Answer answer;
  ASSERT_TRUE(ticket.take(answer));
  EXPECT_TRUE(verifies("rsa", RSA_PKCS1_PSS_PADDING, answer.output));
  EXPECT_FALSE(ticket.take(answer));
  EXPECT_FALSE(ticket.cancel());
  // Whether a request could be cancelled and whether its completion was called are one question.
  for (int i = 0; i < 20; ++i) {
    std::atomic<bool> called = false;
    Ticket other = client().submit(request_for("rsa", kPss, kDigest), [&](Answer&&) { called = true; });
    const bool cancelled = other.cancel();
    EXPECT_NE(cancelled, called.load());
  }
  close(event);
}

// Without a daemon all requests are answered together when their client is destroyed: first those with a
// descriptor, then those with a completion in their order.
TEST_F(SigndService, CompletionsCancelRequestsThatAreAnsweredWithThem) {
  const Settings settings{.address = folder_.at("nothing"), .patience = std::chrono::seconds(60)};
  auto alone = std::make_unique<Client>(settings);
  const Request request = request_for("rsa", kPss, kDigest);
  const int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  Ticket first, second, third;
  bool first_cancelled = true, second_cancelled = false, second_called = false, third_cancelled = true;
  eventfd_t count = 0;
  Answer answer;
  first = alone->submit(request, [&](Answer&&) {
    first_cancelled = first.cancel();
    second_cancelled = second.cancel() && second.cancel();
    third_cancelled = third.cancel();
    EXPECT_EQ(eventfd_read(event, &count), 0);
    EXPECT_TRUE(third.take(answer));
    close(event);  // which nothing is written to any more
  });
  second = alone->submit(request, [&](Answer&&) { second_called = true; });
  third = alone->submit(request, event);
  alone.reset();
  EXPECT_FALSE(first_cancelled);
  EXPECT_TRUE(second_cancelled);
  EXPECT_FALSE(second_called);
  EXPECT_FALSE(third_cancelled);
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(answer.status, Status::cancelled);
}

// The allocator of the address sanitizer does not survive the fork of a process whose other threads allocate.
#if !defined(MM_ADDRESS_SANITIZER)
TEST_F(SigndService, ServesForkedChildren) {
  ASSERT_EQ(call("rsa", kPss, kDigest).status, Status::ok);
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);
      const bool good = client_->call(request_for("rsa", kPss, kDigest)).status == Status::ok;
      _exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  EXPECT_EQ(call("rsa", kPss, kDigest).status, Status::ok);
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

/// What a child that uses its parent's client makes of it: 0 if all is well.
int status_of_child(const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    _exit(body() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

constexpr int kMostDescriptors = 1024;

bool is_open(int number) { return fcntl(number, F_GETFD) >= 0; }

int open_descriptors() {
  int count = 0;
  for (int number = 0; number < kMostDescriptors; ++number) count += is_open(number) ? 1 : 0;
  return count;
}

TEST_F(SigndService, ChildrenCloseCopiesOfTheirParentsDescriptorsAlone) {
  const auto serves = [&] { return client_->call(request_for("rsa", kPss, kDigest)).status == Status::ok; };
  ASSERT_EQ(call("rsa", kPss, kDigest).status, Status::ok);
  // As many as were the parent's are the child's own.
  EXPECT_EQ(status_of_child([&] {
              const int before = open_descriptors();
              return serves() && open_descriptors() == before;
            }),
            0);
  // Servers close what they inherit; what they open then has the numbers of the parent's.
  for (const int files : {0, 4, 100}) {
    EXPECT_EQ(status_of_child([&] {
                for (int number = 3; number < kMostDescriptors; ++number) close(number);
                std::vector<int> own(static_cast<std::size_t>(files));
                for (int& file : own) file = open("/dev/null", O_RDONLY);
                return serves() && std::ranges::all_of(own, is_open) && serves();
              }),
              0)
        << files;
  }
  EXPECT_TRUE(serves());
}
#endif

TEST_F(SigndService, IsUnavailableWithoutADaemon) {
  Client alone({.address = folder_.at("nothing"), .patience = std::chrono::milliseconds(50)});
  EXPECT_EQ(alone.call(request_for("rsa", kPss, kDigest)).status, Status::unavailable);
  EXPECT_THROW(static_cast<void>(alone.keys()), std::exception);
}

TEST_F(SigndService, AnswersWhenItsClientIsDestroyed) {
  std::atomic<int> answers = 0;
  client();
  {
    Client ending(settings_of(folder_));
    for (int i = 0; i < 10; ++i)
      ending.submit(request_for("rsa", kPss, kDigest), [&](Answer&&) { ++answers; });
  }
  EXPECT_EQ(answers, 10);
}

}  // namespace
}  // namespace manymod::signd::test
