// SPDX-License-Identifier: Apache-2.0
// Single operations by libcrypto's EVP interface, with the default provider and with manymod's: what a
// program that verifies, signs or exchanges once gains or loses by the provider.
//
//   manymod-provider-single MODULE [seconds]
//
// MODULE is manymod.so; seconds (0.5) are spent on each operation and side. Both sides take turns of 5 ms,
// and what counts is the thread's processor time: the lower quartile of the turns. Lines of JSON:
//
//   verify, exchange   with keys that are used again and again
//   first verify       each verification with another key, which was decoded before the time is taken
//   decode and verify  from the DER of a public key to the verdict
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/provider.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Bytes = std::vector<unsigned char>;
using Operation = std::function<void()>;
/// kItems operations by run(), each on something that prepare() has made for it.
struct FreshOperation {
  static constexpr int kItems = 16;
  Operation prepare, run, release;
};

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
template <class T>
using Evp = std::unique_ptr<T, Free>;

void need(bool good, const char* what) {
  if (!good) throw std::runtime_error(what);
}

/// A library context, with manymod's provider or without.
OSSL_LIB_CTX* library_of(const char* module) {
  OSSL_LIB_CTX* const library = OSSL_LIB_CTX_new();
  need(OSSL_PROVIDER_load(library, "default") != nullptr, "the default provider");
  if (module == nullptr) return library;
  const std::string path = module;
  const std::size_t slash = path.rfind('/');
  OSSL_PROVIDER_set_default_search_path(library, path.substr(0, slash).c_str());
  need(OSSL_PROVIDER_load(library, path.substr(slash + 1, path.rfind('.') - slash - 1).c_str()) != nullptr,
       "manymod's provider");
  need(EVP_set_default_properties(library, "?provider=manymod") == 1, "properties");
  return library;
}

/// The same key in another library context.
Evp<EVP_PKEY> key_in(OSSL_LIB_CTX* library, EVP_PKEY* key) {
  OSSL_PARAM* parts = nullptr;
  need(EVP_PKEY_todata(key, EVP_PKEY_KEYPAIR, &parts) == 1, "the parts of a key");
  const Evp<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new_from_name(library, EVP_PKEY_get0_type_name(key), nullptr));
  EVP_PKEY* made = nullptr;
  need(EVP_PKEY_fromdata_init(context.get()) == 1 &&
           EVP_PKEY_fromdata(context.get(), &made, EVP_PKEY_KEYPAIR, parts) == 1,
       "a key of its parts");
  OSSL_PARAM_free(parts);
  return Evp<EVP_PKEY>(made);
}

const Bytes& message() {
  static const Bytes bytes(130, 0x42);  // what TLS 1.3 has signed is about as long
  return bytes;
}

Bytes signature_of(OSSL_LIB_CTX* library, EVP_PKEY* key, const char* hash) {
  const Evp<EVP_MD_CTX> context(EVP_MD_CTX_new());
  std::size_t size = static_cast<std::size_t>(EVP_PKEY_get_size(key));
  Bytes signature(size);
  need(EVP_DigestSignInit_ex(context.get(), nullptr, hash, library, nullptr, key, nullptr) == 1 &&
           EVP_DigestSign(context.get(), signature.data(), &size, message().data(), message().size()) == 1,
       "a signature");
  signature.resize(size);
  return signature;
}

void verify(OSSL_LIB_CTX* library, EVP_PKEY* key, const char* hash, const Bytes& signature) {
  const Evp<EVP_MD_CTX> context(EVP_MD_CTX_new());
  need(EVP_DigestVerifyInit_ex(context.get(), nullptr, hash, library, nullptr, key, nullptr) == 1 &&
           EVP_DigestVerify(context.get(), signature.data(), signature.size(), message().data(),
                            message().size()) == 1,
       "a verification");
}

void exchange(OSSL_LIB_CTX* library, EVP_PKEY* own, EVP_PKEY* peer) {
  const Evp<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new_from_pkey(library, own, nullptr));
  Bytes secret(66);
  std::size_t size = secret.size();
  need(EVP_PKEY_derive_init(context.get()) == 1 && EVP_PKEY_derive_set_peer(context.get(), peer) == 1 &&
           EVP_PKEY_derive(context.get(), secret.data(), &size) == 1,
       "an exchange");
}

double processor_us() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) * 1e-3;
}

double turn_us(const Operation& operation) {
  const double begin = processor_us();
  double now = begin;
  int count = 0;
  for (; now - begin < 5'000; ++count) {
    operation();
    now = processor_us();
  }
  return (now - begin) / count;
}

/// The same for what needs something new each time, which `prepare` makes and `release` frees off the clock.
double turn_us(const FreshOperation& operation) {
  double elapsed = 0;
  int count = 0;
  while (elapsed < 5'000) {
    operation.prepare();
    const double begin = processor_us();
    operation.run();
    elapsed += processor_us() - begin;
    count += FreshOperation::kItems;
    operation.release();
  }
  return elapsed / count;
}

double quartile(std::vector<double>& times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 4];
}

template <class AnyOperation>
void compare(const std::string& name, double seconds, const AnyOperation& alone, const AnyOperation& with) {
  turn_us(alone);
  turn_us(with);
  std::vector<double> first, second;
  const double end = processor_us() + 2e6 * seconds;
  while (processor_us() < end) {
    first.push_back(turn_us(alone));
    second.push_back(turn_us(with));
  }
  const double default_us = quartile(first), manymod_us = quartile(second);
  std::printf("{\"operation\": \"%s\", \"default_us\": %.2f, \"manymod_us\": %.2f, \"gain\": %.3f}\n",
              name.c_str(), default_us, manymod_us, default_us / manymod_us);
  std::fflush(stdout);
}

struct Side {
  OSSL_LIB_CTX* library;
  Evp<EVP_PKEY> key, peer;
};

Evp<EVP_PKEY> generated(const std::string& kind) {
  if (kind.starts_with("RSA-")) return Evp<EVP_PKEY>(EVP_RSA_gen(static_cast<unsigned>(std::atoi(&kind[4]))));
  if (kind.starts_with("P-")) return Evp<EVP_PKEY>(EVP_EC_gen(kind.c_str()));
  return Evp<EVP_PKEY>(EVP_PKEY_Q_keygen(nullptr, nullptr, kind.c_str()));
}

Bytes der_of(EVP_PKEY* key) {
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(key, &der);
  need(size > 0, "the DER of a public key");
  Bytes bytes(der, der + size);
  OPENSSL_free(der);
  return bytes;
}

Evp<EVP_PKEY> decoded(OSSL_LIB_CTX* library, const Bytes& der) {
  const unsigned char* read = der.data();
  return Evp<EVP_PKEY>(d2i_PUBKEY_ex(nullptr, &read, static_cast<long>(der.size()), library, nullptr));
}

void compare_first_use(const std::string& kind, double seconds, const Side& one, const Side& two,
                       const char* hash, const Bytes& signature) {
  const Bytes der = der_of(one.key.get());
  std::vector<Evp<EVP_PKEY>> fresh(FreshOperation::kItems);
  const auto verify_first = [&](const Side& side) {
    return FreshOperation{[&] {
                            for (auto& key : fresh) key = decoded(side.library, der);
                          },
                          [&] {
                            for (auto& key : fresh) verify(side.library, key.get(), hash, signature);
                          },
                          [&] {
                            for (auto& key : fresh) key.reset();
                          }};
  };
  compare(kind + " first verify", seconds, verify_first(one), verify_first(two));
  const auto decode_and_verify = [&](const Side& side) -> Operation {
    return [&] { verify(side.library, decoded(side.library, der).get(), hash, signature); };
  };
  compare(kind + " decode and verify", seconds, decode_and_verify(one), decode_and_verify(two));
}

void measure(const std::string& kind, const char* module, double seconds) {
  static OSSL_LIB_CTX* const alone = library_of(nullptr);
  static OSSL_LIB_CTX* const with = library_of(module);
  const Evp<EVP_PKEY> key = generated(kind), peer = generated(kind);
  const Side one{alone, key_in(alone, key.get()), key_in(alone, peer.get())};
  const Side two{with, key_in(with, key.get()), key_in(with, peer.get())};
  if (kind != "X25519") {
    const char* const hash = kind == "ED25519" ? nullptr : "SHA256";
    const Bytes signature = signature_of(alone, one.key.get(), hash);
    const auto by = [&](const Side& side) -> Operation {
      return [&side, hash, &signature] { verify(side.library, side.key.get(), hash, signature); };
    };
    compare(kind + " verify", seconds, by(one), by(two));
    compare_first_use(kind, seconds, one, two, hash, signature);
  }
  if (kind.starts_with("P-") || kind == "X25519") {
    const auto by = [](const Side& side) -> Operation {
      return [&side] { exchange(side.library, side.key.get(), side.peer.get()); };
    };
    compare(kind + " exchange", seconds, by(one), by(two));
  }
}

}  // namespace

int main(int count, char** arguments) {
  CLI::App command("Time single operations of libcrypto with the default provider and with manymod's.");
  std::string module;
  double seconds = 0.5;
  command.add_option("module", module, "manymod.so")->required()->check(CLI::ExistingFile);
  command.add_option("seconds", seconds, "Time of each operation and side")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  CLI11_PARSE(command, count, arguments);
  try {
    for (const char* kind :
         {"RSA-2048", "RSA-3072", "RSA-4096", "P-256", "P-384", "P-521", "ED25519", "X25519"}) {
      measure(kind, module.c_str(), seconds);
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "manymod-provider-single: %s\n", error.what());
    return 1;
  }
}
