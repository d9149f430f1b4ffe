// SPDX-License-Identifier: Apache-2.0
// The settings of the provider's section in the configuration file.
#include <stdexcept>
#include <string>

#include "library.hpp"

namespace manymod::test {
namespace {

bool is_accepted(const std::string& settings) {
  try {
    const Library library(Order::default_first, settings);
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

TEST(ProviderConfiguration, NumbersAreDecimalDigitsWithinTheirRange) {
  for (const char* value : {"0", "1", "1024", "007"}) {
    EXPECT_TRUE(is_accepted("concurrent = " + std::string(value))) << value;
  }
  // The last but one is 1 modulo 2^64.
  for (const char* value : {"", "x", "1x", "1025", "+1", "-1", "0x1", "1.0", "18446744073709551617",
                            "-18446744073709551615", "4294967297"}) {
    EXPECT_FALSE(is_accepted("concurrent = " + std::string(value))) << value;
  }
}

TEST(ProviderConfiguration, OtherValuesAreNamedOnes) {
  EXPECT_TRUE(is_accepted("mode = process\ndecode_public = yes"));
  EXPECT_FALSE(is_accepted("mode = thread"));
  EXPECT_FALSE(is_accepted("decode_public = 1"));
  EXPECT_FALSE(is_accepted("socket = tcp://localhost:1"));
  EXPECT_FALSE(is_accepted("socket = tcp://localhost:1\nca = ca.pem\ncertificate = own.pem"));
  EXPECT_TRUE(is_accepted("socket = tcp://localhost:1\nca = ca.pem\ncertificate = own.pem\nkey = own.key"));
}

}  // namespace
}  // namespace manymod::test
