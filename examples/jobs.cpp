// SPDX-License-Identifier: Apache-2.0
// Asynchronous calls through the C++ wrapper: powers and RSA signatures are computed side by side while this
// thread continues, and one of them is cancelled.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "manymod/manymod.hpp"
#include "manymod/rsa.hpp"

namespace {

using Limbs = std::vector<std::uint64_t>;
using manymod::rsa::Bytes;

void expect(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "wrong answer: %s\n", what);
  std::exit(1);
}

constexpr const char* kPublicKey =
    "-----BEGIN PUBLIC KEY-----\n"
    "MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDGY0Vwhzc+BHZkvFmIj3Tyv3Vl\n"
    "5I+Gvg7xpWeuYy2oh9kQsh4/1pc20jY6Eh3zZGwXxPjza82utx36nS3uaeGWS2Cz\n"
    "wB5Ssl14o1VGimz0VH/tQXqfycRZP94dvPWidzN069/ms/XjP2eJqKWNSbSLQI6+\n"
    "de0WBBPyRKaavHg1yQIDAQAB\n"
    "-----END PUBLIC KEY-----\n";

// Of "message", by PKCS#1 v1.5 with SHA-256.
constexpr const char* kSignature =
    "af8f75d53d54ddc6d2cfa6781cc6a3ff45b80efdaeb47a2dcfbb5724d06b5897"
    "50c1e4cb73cb679fceb09300df944d8db45071d82ebcd5ceaeb1af3a251992c2"
    "3b0bac4594d8a6e34361b77cee229d2d43e53582f1d25e57fc104f61f298ff87"
    "78da9888f92dd948bfe2efdf2a6385ad30202f35a6e1292bd13d993adfe653a1";

Bytes from_hexadecimal(const std::string& digits) {
  Bytes bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

void show_jobs_of_powers() {
  const Limbs modulus{0xffffffffffffffed, ~0ULL, ~0ULL, ~0ULL >> 1};  // 2^255 - 19
  const Limbs base{2, 0, 0, 0, 3, 0, 0, 0};
  const Limbs exponents[] = {{1}, {10}, {100}};
  manymod::Plan plan(manymod::Op::powmod, 255, manymod::ModulusKind::shared);
  std::vector<manymod::Job> jobs;
  for (const Limbs& exponent : exponents) {
    jobs.push_back(
        plan.submit({manymod::View(base, 4), manymod::View(exponent, 1), manymod::View(modulus, 4)}));
  }
  // This thread is free here. The plan and the operands must stay as they are until the jobs have ended.
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const manymod::Batch powers = jobs[i].wait();
    std::printf("2^%llu and 3^%llu end in %016llx and %016llx\n",
                static_cast<unsigned long long>(exponents[i][0]),
                static_cast<unsigned long long>(exponents[i][0]),
                static_cast<unsigned long long>(powers[0][0]), static_cast<unsigned long long>(powers[1][0]));
    if (i == 1) expect(powers[0][0] == 1024 && powers[1][0] == 59049, "powmod");
  }
}

void show_a_cancelled_job() {
  const Limbs modulus(256, ~0ULL);
  const Limbs base{3};
  const Limbs exponent(4096, ~0ULL);  // seconds of work
  manymod::Plan plan(manymod::Op::powmod, 16384, manymod::ModulusKind::shared);
  manymod::Job job =
      plan.submit({manymod::View(base, 1), manymod::View(exponent, 4096), manymod::View(modulus, 256)});
  job.cancel();
  try {
    (void)job.wait();
    expect(false, "a cancelled job");
  } catch (const manymod::Error& error) {
    expect(error.status() == MM_ERR_CANCELLED, "the status of a cancelled job");
    std::printf("%s\n", error.what());
  }
}

void show_jobs_of_rsa() {
  manymod::rsa::Ring ring{manymod::rsa::Key::decode(kPublicKey)};
  const std::vector<Bytes> messages{{'m', 'e', 's', 's', 'a', 'g', 'e'}, {'f', 'o', 'r', 'g', 'e', 'd'}};
  const std::vector<Bytes> signatures(2, from_hexadecimal(kSignature));
  manymod::rsa::VerifyJob verifying =
      ring.submit_verify(messages, signatures, manymod::rsa::pkcs1v15(MM_SHA256));
  manymod::rsa::Job encrypting = ring.submit_encrypt(messages, manymod::rsa::oaep(MM_SHA256));
  const std::vector<Bytes> ciphertexts = encrypting.wait();
  std::printf("%zu ciphertexts of %zu bytes\n", ciphertexts.size(), ciphertexts[0].size());
  expect(ciphertexts.size() == 2 && ciphertexts[0].size() == 128, "encrypt");
  expect(verifying.wait() == std::vector<bool>{true, false}, "verify");
}

}  // namespace

int main() try {
  show_jobs_of_powers();
  show_a_cancelled_job();
  if (mm_rsa_supported() != 0) show_jobs_of_rsa();
  return 0;
} catch (const manymod::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
