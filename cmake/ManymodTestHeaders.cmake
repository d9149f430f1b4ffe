# SPDX-License-Identifier: Apache-2.0
# manymod_test_headers: GoogleTest, and the headers that each target which links this has precompiled. A precompiled header
# serves one set of options, so that tests compiled with other ones are a target of their own.
include_guard()
include(ManymodThirdParty)
manymod_need_googletest()
add_library(manymod_test_headers INTERFACE)
target_link_libraries(manymod_test_headers INTERFACE GTest::gtest_main)
target_precompile_headers(manymod_test_headers INTERFACE
  <gtest/gtest.h> <algorithm> <array> <atomic> <chrono> <cstddef> <cstdint> <cstdlib> <cstring> <functional> <memory>
  <mutex> <optional> <random> <span> <sstream> <stdexcept> <string> <string_view> <thread> <utility> <vector>)
