// SPDX-License-Identifier: Apache-2.0
#include "oracle.hpp"

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/obj_mac.h>

#include <memory>
#include <random>
#include <stdexcept>

#include "ecc/variants.hpp"

namespace manymod::bench {
namespace {

struct Free {
  void operator()(BIGNUM* number) const { BN_free(number); }
  void operator()(BN_CTX* context) const { BN_CTX_free(context); }
  void operator()(EC_GROUP* group) const { EC_GROUP_free(group); }
  void operator()(EC_POINT* point) const { EC_POINT_free(point); }
};
using Number = std::unique_ptr<BIGNUM, Free>;

int curve_nid(ecc::CurveId id) {
  switch (id) {
    case ecc::CurveId::p256:
      return NID_X9_62_prime256v1;
    case ecc::CurveId::p384:
      return NID_secp384r1;
    case ecc::CurveId::p521:
      return NID_secp521r1;
    case ecc::CurveId::secp256k1:
      return NID_secp256k1;
    case ecc::CurveId::sm2:
      return NID_sm2;
    case ecc::CurveId::brainpool256r1:
      return NID_brainpoolP256r1;
    case ecc::CurveId::brainpool384r1:
      return NID_brainpoolP384r1;
    case ecc::CurveId::brainpool512r1:
      return NID_brainpoolP512r1;
    default:
      throw std::runtime_error("no such curve in libcrypto");
  }
}

void require(bool done) {
  if (!done) throw std::runtime_error("libcrypto failed");
}

class Oracle {
 public:
  Oracle(const ecc::Curve& curve, std::string hash)
      : curve_(curve),
        hash_(std::move(hash)),
        context_(BN_CTX_new()),
        group_(EC_GROUP_new_by_curve_name(curve_nid(curve.id))),
        point_(EC_POINT_new(group_.get())),
        other_(EC_POINT_new(group_.get())),
        n_(BN_new()) {
    require(EC_GROUP_get_order(group_.get(), n_.get(), context_.get()) == 1);
  }

  void append(EccItems& items) {
    const Number d = scalar(), k = scalar(), z(BN_new()), x(BN_new()), y(BN_new());
    require(BN_rand(z.get(), digest_bits(), BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1);
    put(items.secret, d.get());
    put(items.digest, z.get());
    put(items.nonce, k.get());
    multiply(point_.get(), d.get(), nullptr);
    put_point(items.public_x, items.public_y, point_.get(), x.get(), y.get());
    multiply(other_.get(), k.get(), point_.get());
    put_point(items.shared_x, items.shared_y, other_.get(), x.get(), y.get());
    multiply(other_.get(), k.get(), nullptr);
    put_point(items.nonce_x, items.nonce_y, other_.get(), x.get(), y.get());
    // r = x mod n, s = (z + r d) / k
    BN_CTX* const c = context_.get();
    require(BN_nnmod(x.get(), x.get(), n_.get(), c) == 1);
    put(items.r, x.get());
    require(BN_mod_mul(x.get(), x.get(), d.get(), n_.get(), c) == 1 &&
            BN_mod_add(x.get(), x.get(), z.get(), n_.get(), c) == 1 &&
            BN_mod_inverse(y.get(), k.get(), n_.get(), c) != nullptr &&
            BN_mod_mul(x.get(), x.get(), y.get(), n_.get(), c) == 1);
    put(items.s, x.get());
    if (!hash_.empty()) put(items.deterministic, nonce(d.get(), z.get()).get());
    ++items.count;
  }

 private:
  const ecc::Curve& curve_;
  std::string hash_;
  std::unique_ptr<BN_CTX, Free> context_;
  std::unique_ptr<EC_GROUP, Free> group_;
  std::unique_ptr<EC_POINT, Free> point_, other_;
  Number n_;

  [[nodiscard]] int digest_bits() const {
    return curve_.order_bits > 512 ? 512 : static_cast<int>(curve_.order_bits);
  }
  [[nodiscard]] Number scalar() const {
    Number r(BN_new());
    do require(BN_rand_range(r.get(), n_.get()) == 1);
    while (BN_is_zero(r.get()) != 0);
    return r;
  }
  void multiply(EC_POINT* r, const BIGNUM* k, const EC_POINT* p) {
    const BIGNUM* const of_generator = p == nullptr ? k : nullptr;
    require(EC_POINT_mul(group_.get(), r, of_generator, p, p == nullptr ? nullptr : k, context_.get()) == 1);
  }
  void put(std::vector<Limb>& rows, const BIGNUM* number) const {
    rows.resize(rows.size() + curve_.limbs());
    auto* const bytes = reinterpret_cast<unsigned char*>(rows.data() + rows.size() - curve_.limbs());
    require(BN_bn2lebinpad(number, bytes, static_cast<int>(8 * curve_.limbs())) >= 0);
  }
  void put_point(std::vector<Limb>& rows_x, std::vector<Limb>& rows_y, const EC_POINT* p, BIGNUM* x,
                 BIGNUM* y) {
    require(EC_POINT_get_affine_coordinates(group_.get(), p, x, y, context_.get()) == 1);
    put(rows_x, x);
    put(rows_y, y);
  }

  [[nodiscard]] std::string code(const std::string& key, const std::string& message) const {
    unsigned char out[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    const auto* const bytes = reinterpret_cast<const unsigned char*>(message.data());
    require(HMAC(EVP_get_digestbyname(hash_.c_str()), key.data(), static_cast<int>(key.size()), bytes,
                 message.size(), out, &size) != nullptr);
    return {reinterpret_cast<const char*>(out), size};
  }
  /// RFC 6979, section 3.2.
  [[nodiscard]] Number nonce(const BIGNUM* d, const BIGNUM* z) const {
    const std::size_t size = curve_.scalar_bytes();
    const auto digest = static_cast<std::size_t>(EVP_MD_get_size(EVP_get_digestbyname(hash_.c_str())));
    Number r(BN_new());
    require(BN_nnmod(r.get(), z, n_.get(), context_.get()) == 1);
    std::string seed(2 * size, 0), key(digest, 0), value(digest, 1);
    auto* const bytes = reinterpret_cast<unsigned char*>(seed.data());
    require(BN_bn2binpad(d, bytes, static_cast<int>(size)) >= 0 &&
            BN_bn2binpad(r.get(), bytes + size, static_cast<int>(size)) >= 0);
    for (const char separator : {'\0', '\1'}) {
      key = code(key, value + separator + seed);
      value = code(key, value);
    }
    while (true) {
      std::string candidate;
      while (candidate.size() < size) candidate += value = code(key, value);
      require(BN_bin2bn(reinterpret_cast<const unsigned char*>(candidate.data()), static_cast<int>(size),
                        r.get()) != nullptr);
      require(BN_rshift(r.get(), r.get(), static_cast<int>(8 * size - curve_.order_bits)) == 1);
      if (BN_is_zero(r.get()) == 0 && BN_cmp(r.get(), n_.get()) < 0) return r;
      key = code(key, value + '\0');
      value = code(key, value);
    }
  }
};

}  // namespace

EccItems ecc_items(const ecc::Curve& curve, std::size_t count, const std::string& hash) {
  Oracle oracle(curve, hash);
  EccItems items;
  while (items.count < count) oracle.append(items);
  return items;
}

EccItems ecc_items_25519(const ecc::Curve& curve, std::size_t count) {
  const auto engine = ecc::find_variant("scalar64")->make(curve, {});
  const std::size_t limbs = curve.limbs();
  const ecc::ItemRange all{0, count};
  const StopToken stop;
  EccItems items;
  items.count = count;
  std::mt19937_64 random(25519);
  for (std::vector<Limb>* const scalars : {&items.secret, &items.nonce}) {
    scalars->resize(count * limbs);
    for (Limb& limb : *scalars) limb = random();
    // Below 2^252, which is below n.
    for (std::size_t i = limbs - 1; i < scalars->size(); i += limbs) (*scalars)[i] >>= 12;
  }
  items.digest = items.r = items.s = items.secret;
  for (auto* const rows : {&items.public_x, &items.public_y, &items.nonce_x, &items.nonce_y, &items.shared_x,
                           &items.shared_y, &items.two_x, &items.two_y}) {
    rows->resize(count * limbs);
  }
  const ecc::NumberRows secret{items.secret.data(), limbs}, nonce{items.nonce.data(), limbs};
  if (curve.form == MM_ECC_MONTGOMERY) {
    engine->ladder(items.public_x.data(), secret, {curve.x.data(), 0}, 255, all, stop);
    engine->ladder(items.shared_x.data(), nonce, {items.public_x.data(), limbs}, 255, all, stop);
    return items;
  }
  const ecc::PointRows keys{{items.public_x.data(), limbs}, {items.public_y.data(), limbs}, nullptr};
  engine->multiply_base({items.public_x.data(), items.public_y.data(), nullptr}, secret, all,
                        TimingClass::secret, stop);
  engine->multiply_base({items.nonce_x.data(), items.nonce_y.data(), nullptr}, nonce, all,
                        TimingClass::secret, stop);
  engine->multiply({items.shared_x.data(), items.shared_y.data(), nullptr}, nonce, keys, all,
                   TimingClass::secret, stop);
  engine->multiply_two({items.two_x.data(), items.two_y.data(), nullptr}, secret, nonce, keys, all, stop);
  return items;
}

}  // namespace manymod::bench
