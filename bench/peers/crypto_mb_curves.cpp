// SPDX-License-Identifier: Apache-2.0
// Intel's crypto_mb on P-256, P-384 and P-521: public keys (k G), shared keys (k P), signatures and their
// verification, eight items a call. Prints a line of JSON for each: the best of some repetitions, in
// processor time of the thread, for comparison with manymod_bench --benchmark_filter=lanes in turn on the
// same machine.
#define BN_OPENSSL_DISABLE  // its functions on plain arrays
#include <crypto_mb/ec_nistp256.h>
#include <crypto_mb/ec_nistp384.h>
#include <crypto_mb/ec_nistp521.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <random>
#include <stdexcept>

namespace {

constexpr std::size_t kLanes = 8;
constexpr std::size_t kCalls = 32;
constexpr int kRepetitions = 25;

struct Functions {
  const char* curve;
  std::size_t words;
  int64u top_mask;  ///< of the top words of private keys, so that they are below the order
  decltype(&mbx_nistp256_ecpublic_key_mb8) public_key;
  decltype(&mbx_nistp256_ecdh_mb8) shared_key;
  decltype(&mbx_nistp256_ecdsa_sign_mb8) sign;
  decltype(&mbx_nistp256_ecdsa_verify_mb8) verify;
};

/// Numbers or bytes of eight items, and pointers to them.
template <class T, std::size_t kSize>
struct Lanes {
  std::array<std::array<T, kSize>, kLanes> value{};
  std::array<T*, kLanes> pointer{};
  std::array<const T*, kLanes> constant{};

  Lanes() {
    for (std::size_t i = 0; i < kLanes; ++i) constant[i] = pointer[i] = value[i].data();
  }
};

double seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <class Call>
void measure(const char* curve, const char* operation, const Call& call) {
  double best = 1e9;
  for (int i = 0; i < kRepetitions; ++i) {
    const double start = seconds();
    for (std::size_t j = 0; j < kCalls; ++j) {
      if (call() != MBX_STATUS_OK) throw std::runtime_error("crypto_mb reports an error");
    }
    best = std::min(best, seconds() - start);
  }
  std::printf("{\"peer\": \"crypto_mb\", \"curve\": \"%s\", \"operation\": \"%s\", \"per_second\": %.0f}\n",
              curve, operation, static_cast<double>(kLanes * kCalls) / best);
}

void run(const Functions& f) {
  Lanes<int64u, 9> key, nonce, x, y;
  Lanes<int8u, 72> r, s, message, shared;
  std::mt19937_64 random(1);
  for (std::size_t i = 0; i < kLanes; ++i) {
    for (std::size_t j = 0; j < f.words; ++j) key.value[i][j] = random(), nonce.value[i][j] = random();
    key.value[i][f.words - 1] &= f.top_mask, nonce.value[i][f.words - 1] &= f.top_mask;
    for (std::size_t j = 1; j < 64; ++j) message.value[i][j] = static_cast<int8u>(random());
  }
  measure(f.curve, "public key", [&] {
    return f.public_key(x.pointer.data(), y.pointer.data(), nullptr, key.constant.data(), nullptr);
  });
  measure(f.curve, "shared key", [&] {
    return f.shared_key(shared.pointer.data(), nonce.constant.data(), x.constant.data(), y.constant.data(),
                        nullptr, nullptr);
  });
  measure(f.curve, "sign", [&] {
    return f.sign(r.pointer.data(), s.pointer.data(), message.constant.data(), nonce.constant.data(),
                  key.constant.data(), nullptr);
  });
  measure(f.curve, "verify", [&] {
    return f.verify(r.constant.data(), s.constant.data(), message.constant.data(), x.constant.data(),
                    y.constant.data(), nullptr, nullptr);
  });
}

}  // namespace

int main() {
  constexpr int64u kHalf = ~int64u{0} >> 1;
  run({"P-256", 4, kHalf, mbx_nistp256_ecpublic_key_mb8, mbx_nistp256_ecdh_mb8, mbx_nistp256_ecdsa_sign_mb8,
       mbx_nistp256_ecdsa_verify_mb8});
  run({"P-384", 6, kHalf, mbx_nistp384_ecpublic_key_mb8, mbx_nistp384_ecdh_mb8, mbx_nistp384_ecdsa_sign_mb8,
       mbx_nistp384_ecdsa_verify_mb8});
  run({"P-521", 9, 0xff, mbx_nistp521_ecpublic_key_mb8, mbx_nistp521_ecdh_mb8, mbx_nistp521_ecdsa_sign_mb8,
       mbx_nistp521_ecdsa_verify_mb8});
  return 0;
}
