// SPDX-License-Identifier: Apache-2.0
#include "ecc/schemes/choice.hpp"

#include <algorithm>

#include "crypto/hash.hpp"
#include "ecc/schemes/eddsa.hpp"
#include "ecc/schemes/encodings.hpp"
#include "ecc/schemes/rows.hpp"
#include "ecc/schemes/schemes.hpp"
#include "ecc/schemes/xdh.hpp"

namespace manymod::ecc {
namespace {

bool has_eddsa(const Curve& curve) { return curve.id == CurveId::ed25519 || curve.id == CurveId::ed448; }

bool curve_has_scheme(mm_ecc_scheme scheme, const Curve& curve) {
  switch (scheme) {
    case MM_ECC_DEFAULT:
      return true;
    case MM_ECC_ECDSA:
      return curve.form == MM_ECC_WEIERSTRASS;
    case MM_ECC_EDDSA:
      return has_eddsa(curve);
    case MM_ECC_BIP340:
      return curve.id == CurveId::secp256k1;
    case MM_ECC_SM2DSA:
      return curve.id == CurveId::sm2;
  }
  return false;
}

/// Whether signatures of the scheme may have the context and the format that a call gives.
bool takes_options(Task task, const Curve& curve, const Inputs& inputs) {
  const bool is_sm2 = task.scheme == MM_ECC_SM2DSA;
  // SM2's digests already contain the signer's id.
  const bool has_context =
      task.scheme == MM_ECC_EDDSA || (is_sm2 && !inputs.prehashed) || task.op == MM_ECC_SM2_EXCHANGE;
  if (inputs.context && !has_context) return false;
  // EdDSA derives its nonces and has its own hash.
  const bool is_eddsa = task.scheme == MM_ECC_EDDSA;
  if (is_eddsa && (inputs.nonces == MM_ECC_NONCE_GIVEN || inputs.hash != MM_HASH_NONE)) return false;
  if (is_sm2 && inputs.hash != MM_HASH_NONE && inputs.hash != MM_SM3) return false;
  if (inputs.signature_format == MM_ECC_RAW) return true;
  if (task.scheme == MM_ECC_EDDSA || task.scheme == MM_ECC_BIP340) return false;
  // A recovery id tells x from x mod n only if there are at most two such x.
  return inputs.signature_format == MM_ECC_DER || (task.scheme == MM_ECC_ECDSA && curve.has_cofactor_one());
}

std::size_t own_signature_bytes(Task task, const Curve& curve, mm_ecc_signature_format format) {
  if (task.scheme == MM_ECC_EDDSA) return 2 * point_bytes(curve);
  const std::size_t raw = 2 * curve.scalar_bytes();
  if (task.scheme == MM_ECC_BIP340 || format == MM_ECC_RAW) return raw;
  return format == MM_ECC_DER ? longest_der(curve.order_bits) : raw + 1;
}

std::size_t public_key_bytes(Task task, const Curve& curve, mm_ecc_point_format format) {
  return point_bytes(curve, task.scheme == MM_ECC_BIP340 ? MM_ECC_X_ONLY : format);
}

}  // namespace

Task on_curve(Task task, const Curve& curve) {
  const bool has_schemes = is_signature(task.op) || task.op == MM_ECC_RECOVER || task.op == MM_ECC_PUBLIC_KEY;
  if (task.scheme != MM_ECC_DEFAULT || !has_schemes) return task;
  if (curve.form == MM_ECC_EDWARDS) return {task.op, MM_ECC_EDDSA};
  if (curve.form == MM_ECC_MONTGOMERY) return task;
  return {task.op, curve.id == CurveId::sm2 ? MM_ECC_SM2DSA : MM_ECC_ECDSA};
}

bool suits(Task task, const Curve& curve, const Inputs& inputs) {
  if (!curve_has_scheme(task.scheme, curve) || !takes_options(task, curve, inputs)) return false;
  switch (task.op) {
    case MM_ECC_PUBLIC_KEY:
      return true;
    case MM_ECC_SIGN:
    case MM_ECC_VERIFY:
    case MM_ECC_VERIFY_ALL:
      return task.scheme != MM_ECC_DEFAULT;
    case MM_ECC_RECOVER:
      return task.scheme == MM_ECC_ECDSA && curve.has_cofactor_one();
    case MM_ECC_EXCHANGE:
      return curve.form != MM_ECC_EDWARDS;
    case MM_ECC_SM2_EXCHANGE:
      return curve.id == CurveId::sm2;
    case MM_ECC_MULTIPLY:
    case MM_ECC_ADD:
    case MM_ECC_POINT:
    case MM_ECC_SUM:
      return curve.form != MM_ECC_MONTGOMERY;
  }
  return false;
}

mm_ecc_point_format point_format_of(const Inputs& inputs, Task task) {
  // BIP 340 has no other encoding of keys. A point that is found by its x alone may be written with its y.
  const bool own = task.scheme == MM_ECC_BIP340 && task.op == MM_ECC_PUBLIC_KEY;
  return own ? MM_ECC_X_ONLY : inputs.point_format;
}

mm_hash usual_hash(Task task, const Curve& curve) {
  if (task.scheme == MM_ECC_SM2DSA) return MM_SM3;
  if (curve.order_bits <= 256) return MM_SHA256;
  return curve.order_bits <= 384 ? MM_SHA384 : MM_SHA512;
}

std::size_t point_bytes(const Curve& curve, mm_ecc_point_format format) {
  const std::size_t coordinate = curve.coordinate_bytes();
  switch (curve.form) {
    case MM_ECC_EDWARDS:
      return curve.field_bits / 8 + 1;  // y, and a bit for the sign of x
    case MM_ECC_MONTGOMERY:
      return coordinate;
    case MM_ECC_WEIERSTRASS:
      break;
  }
  if (format == MM_ECC_X_ONLY) return coordinate;
  return 1 + (format == MM_ECC_COMPRESSED ? 1 : 2) * coordinate;
}

std::size_t point_bytes(const Curve& curve) { return point_bytes(curve, MM_ECC_UNCOMPRESSED); }

std::size_t secret_bytes(const Curve& curve) {
  if (has_eddsa(curve)) return point_bytes(curve);
  return curve.form == MM_ECC_MONTGOMERY ? curve.coordinate_bytes() : curve.scalar_bytes();
}

std::size_t signature_bytes(const Curve& curve) {
  const Task task = on_curve({MM_ECC_SIGN, MM_ECC_DEFAULT}, curve);
  return suits(task, curve, {}) ? own_signature_bytes(task, curve, MM_ECC_RAW) : 0;
}

std::size_t result_bytes(Task task, const Curve& curve, const Inputs& inputs) {
  switch (task.op) {
    case MM_ECC_SIGN:
      return own_signature_bytes(task, curve, inputs.signature_format);
    case MM_ECC_VERIFY:
    case MM_ECC_VERIFY_ALL:
      return 0;
    case MM_ECC_EXCHANGE: {
      const crypto::HashFacts* hash = crypto::find_hash(inputs.hash);
      return hash == nullptr ? curve.coordinate_bytes() : hash->size;
    }
    case MM_ECC_SM2_EXCHANGE:
      return inputs.key_bytes + (inputs.confirm ? 64 : 0);
    default:
      return public_key_bytes(task, curve, inputs.point_format);
  }
}

PointOperation main_operation(Task task, const Curve& curve) {
  if (curve.form == MM_ECC_MONTGOMERY && task.op != MM_ECC_PUBLIC_KEY) return PointOperation::ladder;
  switch (task.op) {
    case MM_ECC_PUBLIC_KEY:
    case MM_ECC_SIGN:
      return PointOperation::multiply_base;
    case MM_ECC_VERIFY:
    case MM_ECC_VERIFY_ALL:
    case MM_ECC_RECOVER:
      return PointOperation::multiply_two;
    case MM_ECC_ADD:
      return PointOperation::add;
    case MM_ECC_POINT:
      return PointOperation::lift;
    case MM_ECC_SUM:
      return PointOperation::sum;
    case MM_ECC_EXCHANGE:
    case MM_ECC_SM2_EXCHANGE:
    case MM_ECC_MULTIPLY:
      break;
  }
  return PointOperation::multiply;
}

namespace {

/// A scheme that reads and writes items on the host.
std::unique_ptr<Scheme> make_on_items(const SchemeArguments& arguments) {
  const auto& [task, engine, inputs, outputs] = arguments;
  if (engine.curve().form == MM_ECC_MONTGOMERY) return make_xdh(task.op, engine, inputs, outputs);
  switch (task.op) {
    case MM_ECC_PUBLIC_KEY:
      if (task.scheme == MM_ECC_EDDSA) return make_eddsa(task.op, engine, inputs, outputs);
      return make_multiplication(arguments);
    case MM_ECC_SIGN:
    case MM_ECC_VERIFY:
    case MM_ECC_VERIFY_ALL:
    case MM_ECC_RECOVER:
      if (task.scheme == MM_ECC_EDDSA) return make_eddsa(task.op, engine, inputs, outputs);
      if (task.scheme == MM_ECC_BIP340) return make_bip340(arguments);
      if (task.scheme == MM_ECC_SM2DSA) return make_sm2(arguments);
      return make_ecdsa(arguments);
    case MM_ECC_EXCHANGE:
      return make_ecdh(arguments);
    case MM_ECC_SM2_EXCHANGE:
      return make_sm2_exchange(arguments);
    case MM_ECC_MULTIPLY:
      return make_multiplication(arguments);
    case MM_ECC_ADD:
    case MM_ECC_POINT:
    case MM_ECC_SUM:
      break;
  }
  return make_points(arguments);
}

}  // namespace

std::unique_ptr<Scheme> make_scheme(Task task, const PointEngine& engine, const Inputs& inputs,
                                    const Outputs& outputs) {
  const SchemeArguments arguments{task, engine, inputs, outputs};
  return with_rows(arguments, make_on_items(arguments));
}

}  // namespace manymod::ecc
