// SPDX-License-Identifier: Apache-2.0
// More requests than the daemon can compute, in a short form of bench/signd/overload.sh: nothing here asks
// how long anything takes.
#include "signd/overload.hpp"

#include "daemon/support.hpp"

namespace manymod::signd::test {
namespace {

TEST(SigndOverload, AnswersOnceInBoundedMemory) {
  const Folder folder;
  configure(folder, {"rsa"}, "max_queue = 64\nmax_outstanding = 128");
  overload::Plan plan;
  plan.program = MANYMOD_SIGND;
  plan.configuration = folder.at("signd.conf");
  plan.settings = settings_of(folder);
  plan.key = "rsa";
  plan.scheme = kPss;
  plan.clients = 3;
  plan.calm_seconds = 0.2;
  plan.calm = 16;
  plan.seconds = 1;
  const overload::Result result = overload::run(plan);
  EXPECT_GT(result.requests, 0U);
  EXPECT_GT(result.ok, 0U);
  EXPECT_GT(result.busy, 0U);
  EXPECT_EQ(result.requests, result.ok + result.busy);
  EXPECT_EQ(result.unanswered + result.answered_twice + result.lost, 0U);
#ifndef MANYMOD_SANITIZED  // a sanitizer keeps what is freed
  // What was asked for would be hundreds of megabytes if it were kept.
  EXPECT_LT(result.most_bytes, result.early_bytes + (std::uint64_t{8} << 20));
#endif
}

}  // namespace
}  // namespace manymod::signd::test
