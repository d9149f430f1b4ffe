// SPDX-License-Identifier: Apache-2.0
// The places of connections, what the connections of a client share, and the lines of the log that they
// cause.
#include "server/accounts.hpp"

#include <sys/socket.h>

#include <array>

#include "daemon/support.hpp"
#include "server/log.hpp"
#include "server/ring_connection.hpp"

namespace manymod::signd::test {
namespace {

using namespace std::chrono_literals;

Peer user(int number) {
  Peer peer;
  peer.principal = "user=" + std::to_string(number);
  return peer;
}

/// Whether a client with a new connection may ask once more.
bool may_ask(Accounts& accounts, const Peer& peer) {
  return accounts.admit(peer)->bucket.take(Clock::now(), 0.001, 1);
}

TEST(SigndAccounts, KeepTheBucketsOfThoseThatComeBack) {
  Accounts accounts(10, 10);
  EXPECT_TRUE(may_ask(accounts, user(0)));
  EXPECT_FALSE(may_ask(accounts, user(0)));
  EXPECT_TRUE(may_ask(accounts, user(1)));
  EXPECT_FALSE(may_ask(accounts, user(0)));
}

TEST(SigndAccounts, ForgetThoseThatAreTooMany) {
  Accounts accounts(10, 10);
  int others = 0;
  const auto come = [&](std::size_t many) {
    for (std::size_t i = 0; i < many; ++i) EXPECT_TRUE(may_ask(accounts, user(++others)));
  };
  EXPECT_TRUE(may_ask(accounts, user(0)));
  come(Accounts::kMostIdle / 2);
  EXPECT_FALSE(may_ask(accounts, user(0)));
  come(2 * Accounts::kMostIdle);
  EXPECT_TRUE(may_ask(accounts, user(0)));
}

TEST(SigndAccounts, BucketsFill) {
  TokenBucket bucket;
  const auto start = Clock::now();
  EXPECT_LE(bucket.full_at(), start);
  EXPECT_TRUE(bucket.take(start, 2, 2));
  EXPECT_EQ(bucket.full_at(), start + 500ms);
  EXPECT_TRUE(bucket.take(start, 2, 2));
  EXPECT_FALSE(bucket.take(start + 499ms, 2, 2));
  // A thread that looked at the clock before another one takes nothing from it.
  EXPECT_FALSE(bucket.take(start, 2, 2));
  EXPECT_TRUE(bucket.take(start + 501ms, 2, 2));
  EXPECT_FALSE(bucket.take(start + 502ms, 2, 2));
  TokenBucket slow;
  EXPECT_TRUE(slow.take(start, 1e-300, 1));
  EXPECT_EQ(slow.full_at(), start + std::chrono::years(1));
}

TEST(SigndAccounts, ConnectionsHavePlacesAsLongAsAnswersAreUnderWay) {
  Accounts accounts(10, 1);
  Counters counters;
  const Limits limits{16, 64, 256};
  const Welcome sizes = ring_sizes(limits);
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  const Descriptor other(ends[1]), memory = make_ring_file(sizes);
  std::shared_ptr<Connection> connection = std::make_shared<RingConnection>(
      Descriptor(ends[0]), user(0), accounts.admit(user(0)), limits, sizes, memory.get(), counters);
  std::shared_ptr<Connection> under_way = connection;
  connection.reset();
  EXPECT_EQ(accounts.admit(user(0)), nullptr);
  EXPECT_NE(accounts.admit(user(1)), nullptr);
  std::thread([&] { under_way.reset(); }).join();
  EXPECT_NE(accounts.admit(user(0)), nullptr);
}

TEST(SigndAccounts, UnauthenticatedClientsHaveFewPlacesOfTheirOwn) {
  using enum Accounts::Room;
  Accounts accounts(2048, 2048);  // 512 unauthenticated clients, 32 of an address
  std::vector<Place> places;
  const auto admit = [&](const Peer& peer) {
    places.push_back(accounts.admit(peer));
    return places.back() != nullptr;
  };
  const Peer one = peer_of_address("192.0.2.1");
  for (int i = 0; i < 32; ++i) EXPECT_TRUE(admit(one));
  EXPECT_EQ(accounts.room_for(one), full_for_it);
  EXPECT_FALSE(admit(one));
  for (int i = 32; i < 512; ++i) EXPECT_TRUE(admit(peer_of_address("198.51.100." + std::to_string(i % 251))));
  EXPECT_EQ(accounts.room_for(one), full_for_it);
  EXPECT_EQ(accounts.room_for(peer_of_address("203.0.113.1")), full);
  EXPECT_EQ(accounts.room_for(user(0)), there);
  EXPECT_TRUE(admit(user(0)));
  places.clear();
  EXPECT_EQ(accounts.room_for(one), there);
}

TEST(SigndAccounts, AddressesOfANetworkOfIpv6AreOne) {
  const auto principal = [](const char* address) { return peer_of_address(address).principal; };
  EXPECT_EQ(principal("192.0.2.7"), "address=192.0.2.7");
  EXPECT_EQ(principal("2001:db8:1:2:3:4:5:6"), "address=2001:db8:1:2::/64");
  EXPECT_EQ(principal("2001:db8:1:2::1"), "address=2001:db8:1:2::/64");
  EXPECT_EQ(principal("2001:db8:1:3::1"), "address=2001:db8:1:3::/64");
  EXPECT_EQ(principal("fe80::1%lo"), "address=fe80::/64");
  EXPECT_EQ(principal("::ffff:192.0.2.7"), "address=::ffff:192.0.2.7");
  EXPECT_EQ(principal("?"), "address=?");
  EXPECT_TRUE(peer_of_address("2001:db8::1").is_unauthenticated());
  EXPECT_EQ(peer_of_address("2001:db8::1").address, "2001:db8::1");
}

TEST(SigndLog, WritesOneLineASecond) {
  LimitedLog log;
  const auto start = Clock::now();
  EXPECT_EQ(log.due(start), 0U);
  EXPECT_EQ(log.due(start), std::nullopt);
  EXPECT_EQ(log.due(start + 999ms), std::nullopt);
  EXPECT_EQ(log.due(start + 1s), 2U);
  EXPECT_EQ(log.due(start + 1999ms), std::nullopt);
  EXPECT_EQ(log.due(start + 5s), 1U);
  EXPECT_EQ(log.due(start + 6s), 0U);
}

// What clients can cause as often as they like costs no text where no line is written.
TEST(SigndLog, ComposesTheLinesThatItWrites) {
  LimitedLog log;
  int composed = 0;
  const auto compose = [&] {
    ++composed;
    return std::string("a line of a test");
  };
  testing::internal::CaptureStderr();
  const auto begin = Clock::now();
  constexpr int kLines = 1000;
  for (int i = 0; i < kLines; ++i) log.line(Level::info, compose);
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(Clock::now() - begin).count();
  const std::string written = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(written, '\n'), composed);
  EXPECT_GE(composed, 1);
  EXPECT_LE(composed, 1 + seconds);
}

}  // namespace
}  // namespace manymod::signd::test
