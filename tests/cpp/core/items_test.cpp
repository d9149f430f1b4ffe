// SPDX-License-Identifier: Apache-2.0
// Sets of item indices: runs and lists.
#include "core/items.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace manymod::testing {
namespace {

std::vector<std::size_t> listed(const Items& items) { return {items.begin(), items.end()}; }

// A run behaves like a list of the same indices.
TEST(ItemsOfABatch, RunsAndLists) {
  const std::vector<std::size_t> list{7, 8, 9, 10, 11};
  const Items kept(list), run = Items::run(7, 5);
  EXPECT_TRUE(run.is_run());
  EXPECT_TRUE(run.list().empty());
  EXPECT_FALSE(kept.is_run());
  EXPECT_EQ(kept.list().data(), list.data());
  EXPECT_EQ(kept.list().size(), list.size());
  for (std::size_t begin = 0; begin <= list.size(); ++begin) {
    for (std::size_t size = 0; begin + size <= list.size(); ++size) {
      const std::vector<std::size_t> part(list.begin() + static_cast<std::ptrdiff_t>(begin),
                                          list.begin() + static_cast<std::ptrdiff_t>(begin + size));
      for (const Items& items : {kept.subspan(begin, size), run.subspan(begin, size)}) {
        EXPECT_EQ(listed(items), part);
        ASSERT_EQ(items.size(), size);
        EXPECT_EQ(items.empty(), size == 0);
        for (std::size_t i = 0; i < size; ++i) EXPECT_EQ(items[i], part[i]);
        if (size == 0) continue;
        EXPECT_EQ(items.front(), part.front());
        EXPECT_EQ(items.back(), part.back());
      }
    }
  }
}

TEST(ItemsOfABatch, InAnyOrder) {
  const std::vector<std::size_t> list{3, 0, 2};
  EXPECT_EQ(listed(list), list);
  EXPECT_TRUE(std::ranges::equal(Items(list).subspan(1, 2), std::vector<std::size_t>{0, 2}));
}

TEST(ItemsOfABatch, None) {
  const std::vector<std::size_t> list;
  for (const Items& items : {Items(), Items(list), Items::run(3, 0)}) {
    EXPECT_TRUE(items.empty());
    EXPECT_EQ(items.begin(), items.end());
  }
}

}  // namespace
}  // namespace manymod::testing
