// SPDX-License-Identifier: Apache-2.0
// Signatures of many messages by RSASSA-PSS, through the C++ wrapper, and what becomes of a forged one.
#include <cstdio>
#include <exception>
#include <string_view>
#include <vector>

#include "manymod/rsa.hpp"

namespace {

using manymod::rsa::Bytes;

// For the example only: short, and known to everybody.
constexpr const char* kPrivateKey =
    "-----BEGIN PRIVATE KEY-----\n"
    "MIICdwIBADANBgkqhkiG9w0BAQEFAASCAmEwggJdAgEAAoGBAOLrAbLiRwmAkeHz\n"
    "nJueXeuNoOuypk262MHBL0jEWNL+G2NfYDo8VrSmj4oTKJ1vf0wt4mt64tWY5iWN\n"
    "EzfB1p5unTB0NySK7vsM4B9BoGuwpOaEyNfpuO0IWL6avak2OmOybLbmYAVlq+JT\n"
    "CB5FdGxhteeTXlqrRzwG4d69+n5dAgMBAAECgYBvVpeyycvJIchycTF6Oa4jkY5P\n"
    "l4x5vx/zkXI95fkfLYcKrxVr/YcdhEwRl2zqMnbnTew2iEkcPLVP33R6eyVuEpkV\n"
    "vhL8rI4WKY0pHPqGT5GyqBvtXiLEEkSJvfTj84ZfiTupwKn27KnYHL0aA7URefrQ\n"
    "mLDFnJIqiw3xUiS2EQJBAPMFLz+Lpo53wylI1Wfh6vHRgTxqyhRFC0l56NuOxP8S\n"
    "R/1KpSHI1zn7JZ6qiotYZJ2F/6lik7rfJLhDmwOu3TsCQQDvCafrc/b/+n4cDp8U\n"
    "+nC+IAc7EUvh/5larpcOdKXsfnqLW/B80JFgxPv1oztBfSW9ZuGc2DhT3At7pJEc\n"
    "GzlHAkBqPPf8xaYYXg65O5ffhAnbkQT4To7s8YoPovXDFdTU1T8XYcxyyoQcWsiF\n"
    "ZnSOmiPSIUQ03l1KskYxL4zSvV0FAkEAimVUy4XApEQrb6Mnh8XYMLvqc9B31sld\n"
    "yJr86mmvB1XTLYx1mE5JXXWvS3DOhgQnLZm7Vkv5kNP98gA947//UQJBAPHkD4YA\n"
    "pHKIgLSRsOgLffjvKcpyBLDBsH9xBWUSWzgVGWUeHLy4x8HeJ8FXo+sDZ9DrfLMw\n"
    "UH4c50MZTxyIyks=\n"
    "-----END PRIVATE KEY-----\n";

Bytes bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

}  // namespace

int main() try {
  if (mm_rsa_supported() == 0) return 0;
  const std::vector<Bytes> messages{bytes_of("one"), bytes_of("two"), bytes_of("three")};

  manymod::rsa::Ring ring(manymod::rsa::Key::decode(kPrivateKey));
  const mm_rsa_padding pss = manymod::rsa::pss(MM_SHA256);
  std::vector<Bytes> signatures = ring.sign(messages, pss);
  signatures[1][0] ^= 1;  // no longer a signature of the second message
  const std::vector<bool> valid = ring.verify(messages, signatures, pss);

  for (std::size_t i = 0; i < valid.size(); ++i) {
    std::printf("signature %zu of %zu bytes: %s\n", i, signatures[i].size(),
                valid[i] ? "valid" : "not valid");
  }
  return valid == std::vector<bool>{true, false, true} ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
