// SPDX-License-Identifier: Apache-2.0
// Results in memory that is freed: there must be none, whatever becomes of the request.
#include <malloc.h>
#include <openssl/rsa.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <atomic>

#include "client/link.hpp"
#include "daemon/allocations.hpp"
#include "daemon/certificates.hpp"

namespace manymod::signd::test {
namespace {

using namespace std::chrono_literals;

// What the daemon decrypts, and clients get.
constexpr std::array<std::uint8_t, 24> kSecret = {0x73, 0xC1, 0x9E, 0x42, 0xD8, 0x05, 0xBF, 0x6A,
                                                  0x31, 0xE4, 0x8D, 0x97, 0x2C, 0xF0, 0x5B, 0xA6,
                                                  0x19, 0x7E, 0xCB, 0x04, 0xDA, 0x63, 0xB5, 0x88};
std::atomic<int> found{0};

void look_for_secret(const void* memory) {
  const auto* const bytes = static_cast<const std::uint8_t*>(memory);
  const auto* const end = bytes + malloc_usable_size(const_cast<void*>(memory));
  if (std::search(bytes, end, kSecret.begin(), kSecret.end()) != end) ++found;
}

/// While it lives, freed memory is looked at.
class Watch {
 public:
  Watch() {
    found = 0;
    look_at_freed = look_for_secret;
  }
  ~Watch() { look_at_freed = nullptr; }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
};

class SigndWiping : public testing::Test {
 protected:
  SigndWiping() : ca_(folder_, "ca"), ciphertext_(encrypted()) {
    ca_.issue("both", {"both", "IP:127.0.0.1"});
    configure(folder_, {"rsa"});
    std::ofstream(folder_.at("signd.conf"), std::ios::app)
        << "peers = *\n[tcp]\nlisten = 127.0.0.1:0\ncertificate = both.pem\nkey = both.key\nca = ca.pem\n";
  }
  void SetUp() override {
#ifdef MANYMOD_SANITIZED
    GTEST_SKIP() << "sanitizers have allocators of their own";
#endif
  }
  static Bytes encrypted() {
    const Crypto<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new(test_key("rsa"), nullptr));
    Bytes ciphertext(128);
    std::size_t size = ciphertext.size();
    EVP_PKEY_encrypt_init(context.get());
    EVP_PKEY_CTX_set_rsa_padding(context.get(), RSA_PKCS1_OAEP_PADDING);
    EXPECT_EQ(EVP_PKEY_encrypt(context.get(), ciphertext.data(), &size, kSecret.data(), kSecret.size()), 1);
    return ciphertext;
  }
  [[nodiscard]] Request request() const {
    return request_for("rsa", {Operation::decrypt_oaep, MM_SHA1}, ciphertext_);
  }
  [[nodiscard]] std::vector<Settings> all_settings(const RunningDaemon& daemon) const {
    return {settings_of(folder_), remote_settings(folder_, daemon.address(), "both")};
  }

  Folder folder_;
  Authority ca_;
  Bytes ciphertext_;
};

TEST_F(SigndWiping, IsSeenIfItIsMissing) {
  const Watch watch;
  {
    const std::vector<std::uint8_t> plain(kSecret.begin(), kSecret.end());
  }
  EXPECT_EQ(found, 1);
  {
    const Bytes wiped(kSecret.begin(), kSecret.end());
  }
  Bytes growing(kSecret.begin(), kSecret.end());
  growing.resize(10 * growing.capacity());
  EXPECT_EQ(found, 1);
}

TEST_F(SigndWiping, LeavesNothingOfAnswers) {
  const RunningDaemon daemon(folder_);
  for (const Settings& settings : all_settings(daemon)) {
    const Watch watch;
    {
      Client client(settings);
      const Answer answer = client.call(request());
      EXPECT_TRUE(std::ranges::equal(answer.output, kSecret));
      // Those that nobody takes, and those that come for requests that were withdrawn.
      const int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
      for (int i = 0; i < 20; ++i) {
        Ticket untaken = client.submit(request(), event);
        Ticket withdrawn = client.submit(request(), [](Answer&&) {});
        withdrawn.cancel();
        client.submit(request(), [](Answer&&) {});
      }
      EXPECT_EQ(client.call(request()).status, Status::ok);
      close(event);
    }
    EXPECT_EQ(found, 0) << settings.address;
  }
}

TEST_F(SigndWiping, LeavesNothingOfAnswersToWhoHasGone) {
  RunningDaemon daemon(folder_);
  const Watch watch;
  for (const Settings& settings : all_settings(daemon)) {
    const auto leaving = open_link(settings, Clock::now() + 10s);
    RequestHeader header;
    header.key = id_of(test_key("rsa"));
    header.scheme = request().scheme;
    header.input_bytes = static_cast<std::uint32_t>(ciphertext_.size());
    for (header.id = 0; header.id < 20; ++header.id) ASSERT_TRUE(leaving->send(encode(header), ciphertext_));
    show(*leaving);
    // A first answer is taken, so that the others are on their way.
    AnswerHeader answered;
    Bytes output;
    EXPECT_TRUE(eventually([&] { return leaving->receive(answered, output); }));
    EXPECT_TRUE(std::ranges::equal(output, kSecret));
  }
  daemon.stop();
  EXPECT_EQ(found, 0);
}

}  // namespace
}  // namespace manymod::signd::test
