// SPDX-License-Identifier: Apache-2.0
// What takes requests, when memory runs out.
#include "server/reader.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>

#include "daemon/allocations.hpp"
#include "daemon/support.hpp"

namespace manymod::signd::test {
namespace {

Peer this_user() {
  Peer peer;
  peer.principal = "user=" + std::to_string(getuid());
  peer.user = getuid();
  return peer;
}

/// A client whose requests all need groups of their own, because their timeouts differ. Memory runs out when
/// the last one is handled.
class StarvingConnection final : public Connection {
 public:
  StarvingConnection(int requests, Place place, Counters& counters)
      : Connection(this_user(), std::move(place), {100, 1024, 1024}, counters), requests_(requests) {
    std::array<int, 2> ends{-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    own_end_ = Descriptor(ends[0]);
    client_end_ = Descriptor(ends[1]);
  }
  [[nodiscard]] int socket() const override { return own_end_.get(); }
  [[nodiscard]] std::uint32_t events() const override { return EPOLLIN; }
  [[nodiscard]] bool fall_asleep() override { return true; }
  void wake_up() override {}

  [[nodiscard]] int signatures() const { return signatures_; }
  [[nodiscard]] bool is_disconnected() const {
    std::uint8_t byte = 0;
    return recv(client_end_.get(), &byte, 1, MSG_DONTWAIT) == 0;
  }

 private:
  bool take(RequestHeader& header, Bytes& input) override {
    if (taken_ == requests_) return false;
    ++taken_;
    header.id = static_cast<std::uint64_t>(taken_);
    header.key = key_;
    header.scheme = kPss;
    header.timeout_ms = static_cast<std::uint32_t>(60'000 + taken_);
    input = kDigest;
    if (taken_ == requests_) fail_next_allocation();
    return true;
  }
  void append_answer(std::uint64_t, Status status, ByteSpan) override { signatures_ += status == Status::ok; }
  bool publish_answers() override { return false; }

  const KeyId key_ = id_of(test_key("rsa"));
  const int requests_;
  int taken_ = 0;
  std::atomic<int> signatures_{0};
  Descriptor own_end_, client_end_;
};

TEST(SigndReader, DisconnectsAClientWhoseGroupsNeedMoreMemoryThanThereIs) {
#ifdef MANYMOD_SANITIZED
  GTEST_SKIP() << "sanitizers have allocators of their own";
#endif
  constexpr int kOpenGroups = 16;  // as in reader.cpp: one request more has the oldest group submitted
  const Folder folder;
  configure(folder, {"rsa"});
  Accounts accounts(10, 10);
  Shared shared;
  const auto generation = std::make_shared<const Generation>(load_config(folder.at("signd.conf")));
  ASSERT_TRUE(generation->operation(kPss));  // which allocates the first time
  shared.generation.replace(generation);
  {
    Reader reader(shared);
    const auto starving =
        std::make_shared<StarvingConnection>(kOpenGroups + 1, accounts.admit(this_user()), shared.counters);
    reader.add(starving);
    EXPECT_TRUE(eventually([&] { return starving->is_disconnected(); }));
    EXPECT_TRUE(eventually([&] { return starving->signatures() == kOpenGroups - 1; }));
  }
  // A service must not end in one of its own callbacks, which the last group is destroyed in.
  EXPECT_TRUE(eventually([&] { return generation.use_count() == 2; }));
}

TEST(SigndReader, OffersASchemeForWhichMemoryHadRunOut) {
#ifdef MANYMOD_SANITIZED
  GTEST_SKIP() << "sanitizers have allocators of their own";
#endif
  const Folder folder;
  configure(folder, {"rsa"});
  const Generation generation(load_config(folder.at("signd.conf")));
  fail_next_allocation();
  EXPECT_FALSE(generation.operation(kPss));
  EXPECT_TRUE(generation.operation(kPss));
}

}  // namespace
}  // namespace manymod::signd::test
