// SPDX-License-Identifier: Apache-2.0
// Runs under valgrind: operations on curves with their secrets marked as undefined memory: private keys,
// nonces, scalars, and what the caller exchanges. valgrind reports each branch and each address that depends
// on them.
//
// Public, and named in declassified.supp: whether numbers are in range, whether a nonce is of use, whether a
// signature passed its check, whether a multiple is infinity, and signatures once they are made.
#include <valgrind/memcheck.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "ecc/curve.hpp"
#include "ecc/plan.hpp"
#include "ecc/ring.hpp"
#include "ecc/schemes/choice.hpp"
#include "manymod/ecc.h"

namespace {

using namespace manymod;
using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kCount = 3;

/// Ends the program with a message if the condition does not hold.
void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "failed: %s: %s\n", what, mm_last_error());
  std::exit(1);
}

void poison(Bytes& bytes) { VALGRIND_MAKE_MEM_UNDEFINED(bytes.data(), bytes.size()); }
/// Marks memory as defined, as a caller may look at results.
void declassify(const Bytes& bytes) { VALGRIND_MAKE_MEM_DEFINED(bytes.data(), bytes.size()); }

mm_bytes_view view_of(const Bytes& bytes) {
  return {kCount, bytes.data(), bytes.size() / kCount, 0, nullptr, nullptr};
}

/// A call on three items, whose secrets may be poisoned.
struct Call {
  mm_ecc_call call{};
  Bytes secrets, nonces, points, messages = Bytes(kCount * 20, 7);

  Call(mm_ecc_op op, const ecc::Curve& curve) {
    call.struct_size = sizeof call;
    call.op = op;
    call.count = kCount;
    const std::size_t size = op == MM_ECC_MULTIPLY ? curve.scalar_bytes() : ecc::secret_bytes(curve);
    secrets = numbers(size, 3);
    nonces = numbers(curve.scalar_bytes(), 5);
  }

  /// Numbers below the order of any curve of that size.
  static Bytes numbers(std::size_t size, unsigned step) {
    Bytes bytes(kCount * size);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<std::uint8_t>(i % size == 0 ? 0 : 1 + i * step);
    }
    return bytes;
  }
};

Bytes run(const ecc::Plan& plan, Call& x, bool poisoned) {
  constexpr std::size_t kStride = 160;
  Bytes output(kCount * kStride);
  Bytes statuses(kCount);
  Bytes secrets = x.secrets;
  Bytes nonces = x.nonces;
  if (poisoned) {
    poison(secrets);
    poison(nonces);
  }
  if (x.call.ring == nullptr) x.call.secret = view_of(secrets);
  if (x.call.nonces == MM_ECC_NONCE_GIVEN) x.call.nonce = view_of(nonces);
  if (x.call.op == MM_ECC_SIGN) x.call.message = view_of(x.messages);
  if (!x.points.empty()) x.call.point = view_of(x.points);
  x.call.output = {output.data(), kCount, kStride, nullptr};
  x.call.item_status = statuses.data();
  require(plan.run(x.call) == MM_OK, "the call runs");
  declassify(output);
  return output;
}

/// The call with the keys of a ring that is made of poisoned keys.
Bytes run_ring(const ecc::Plan& plan, Call x) {
  Bytes secrets = x.secrets;
  poison(secrets);
  mm_ecc_ring_keys keys{};
  keys.count = kCount;
  keys.secret = view_of(secrets);
  const mm_ecc_ring ring(plan, keys);
  require(ring.ring.report(nullptr) == MM_OK, "the ring is made");
  const std::uint32_t key[kCount] = {0, 1, 2};
  x.call.ring = &ring;
  x.call.key = key;
  return run(plan, x, true);
}

void check(const ecc::Plan& plan, const Call& x, const char* what) {
  Call plain = x, poisoned = x;
  const Bytes expected = run(plan, plain, false);
  require(run(plan, poisoned, true) == expected, what);
  if (x.call.op != MM_ECC_SIGN && x.call.op != MM_ECC_EXCHANGE) return;
  require(run_ring(plan, x) == expected, what);
}

void check_eddsa(const ecc::Plan& plan, const ecc::Curve& curve) {
  check(plan, Call(MM_ECC_SIGN, curve), "a signature of EdDSA");
}

void check_signing(const ecc::Plan& plan, const ecc::Curve& curve) {
  for (const auto nonces : {MM_ECC_NONCE_DETERMINISTIC, MM_ECC_NONCE_GIVEN}) {
    for (const auto format : {MM_ECC_RAW, MM_ECC_DER}) {
      Call x(MM_ECC_SIGN, curve);
      x.call.nonces = nonces;
      x.call.signature_format = format;
      check(plan, x, "a signature of ECDSA or SM2");
    }
  }
  if (curve.id != ecc::CurveId::secp256k1) return;
  Call x(MM_ECC_SIGN, curve);
  x.call.scheme = MM_ECC_BIP340;
  check(plan, x, "a signature of BIP 340");
}

/// The public keys of three other secrets, as points to multiply.
Bytes other_keys(const ecc::Plan& plan, const ecc::Curve& curve) {
  Call x(MM_ECC_PUBLIC_KEY, curve);
  x.secrets = Call::numbers(ecc::secret_bytes(curve), 11);
  const Bytes keys = run(plan, x, false);
  const std::size_t size = ecc::point_bytes(curve);
  Bytes packed;
  for (std::size_t i = 0; i < kCount; ++i) {
    packed.insert(packed.end(), keys.begin() + static_cast<std::ptrdiff_t>(i * 160),
                  keys.begin() + static_cast<std::ptrdiff_t>(i * 160 + size));
  }
  return packed;
}

void check_curve(const ecc::Curve& curve) {
  mm_ecc_plan_options options{};
  options.device = "cpu";
  options.variant = "scalar64";
  options.threads = 1;
  const std::shared_ptr<const ecc::Curve> curves[] = {{&curve, [](const auto*) {}}};
  const ecc::Plan plan(options, curves);
  check(plan, Call(MM_ECC_PUBLIC_KEY, curve), "a public key");
  if (curve.form == MM_ECC_WEIERSTRASS) check_signing(plan, curve);
  if (curve.form == MM_ECC_EDWARDS) check_eddsa(plan, curve);
  const bool exchanges = curve.form != MM_ECC_EDWARDS;
  Call product(exchanges ? MM_ECC_EXCHANGE : MM_ECC_MULTIPLY, curve);
  product.points = other_keys(plan, curve);
  check(plan, product, "a product");
  std::printf("%s: the poisoned calls agree with the plain ones\n", curve.name.c_str());
}

}  // namespace

int main() {
  require(RUNNING_ON_VALGRIND != 0, "this program must run under valgrind");
  for (const char* name : {"P-256", "secp256k1", "SM2", "P-521", "Ed25519", "X25519", "Ed448", "X448"}) {
    check_curve(*ecc::find_curve(name));
  }
  return 0;
}
