// SPDX-License-Identifier: Apache-2.0
// Argument checks of an RSA call, performed before anything is computed or written.
#include <algorithm>
#include <functional>
#include <string>

#include "abi/enum_value.hpp"
#include "abi/written_ranges.hpp"
#include "core/status_error.hpp"
#include "rsa/call.hpp"
#include "rsa/hashes.hpp"
#include "rsa/ring.hpp"

namespace manymod::rsa {
namespace {

[[noreturn]] void reject(const std::string& reason) { throw StatusError(MM_ERR_ARGUMENT, reason); }

mm_rsa_op checked_op(const mm_rsa_op& op) {
  const long long value = enum_value(op);
  if (value >= MM_RSA_PUBLIC && value <= MM_RSA_DECRYPT) return op;
  reject("op is " + std::to_string(value) + ", which is not an mm_rsa_op");
}

bool has_scheme(mm_rsa_op op, long long scheme) {
  switch (op) {
    case MM_RSA_PUBLIC:
    case MM_RSA_PRIVATE:
      return scheme == MM_RSA_RAW;
    case MM_RSA_SIGN:
    case MM_RSA_VERIFY:
      return scheme == MM_RSA_PKCS1V15 || scheme == MM_RSA_PSS;
    case MM_RSA_ENCRYPT:
    case MM_RSA_DECRYPT:
      return scheme == MM_RSA_PKCS1V15 || scheme == MM_RSA_OAEP;
  }
  return false;
}

mm_rsa_scheme checked_scheme(const mm_rsa_padding& padding, mm_rsa_op op) {
  const long long scheme = enum_value(padding.scheme);
  if (has_scheme(op, scheme)) return padding.scheme;
  reject("padding.scheme is " + std::to_string(scheme) + ", which this operation does not have");
}

bool is_signature(mm_rsa_op op) { return op == MM_RSA_SIGN || op == MM_RSA_VERIFY; }

const crypto::HashFacts* checked_hash(const mm_rsa_padding& padding, mm_rsa_op op, mm_rsa_scheme scheme) {
  if (!is_signature(op) && scheme != MM_RSA_OAEP) return nullptr;
  const crypto::HashFacts* hash = find_rsa_hash(padding.hash);
  if (hash != nullptr && hash->extendable && scheme != MM_RSA_PSS) reject("SHAKE is only for PSS (RFC 8702)");
  if (hash != nullptr) return hash;
  reject("padding.hash is " + std::to_string(enum_value(padding.hash)) + ", which is not a hash");
}

const crypto::HashFacts* checked_mgf(const mm_rsa_padding& padding, mm_rsa_scheme scheme,
                                     const crypto::HashFacts* hash) {
  if (scheme != MM_RSA_PSS && scheme != MM_RSA_OAEP) return nullptr;
  if (enum_value(padding.mgf_hash) == MM_HASH_NONE) return hash;
  const crypto::HashFacts* mgf = find_rsa_hash(padding.mgf_hash);
  if (mgf != nullptr && mgf != hash && (mgf->extendable || hash->extendable)) {
    reject("the mask of SHAKE is its own output, and that of other hashes is MGF1 (RFC 8702)");
  }
  if (mgf != nullptr) return mgf;
  reject("padding.mgf_hash is " + std::to_string(enum_value(padding.mgf_hash)) + ", which is not a hash");
}

void check_salt(const mm_rsa_padding& padding, mm_rsa_op op) {
  if (enum_value(padding.scheme) != MM_RSA_PSS) return;
  const int salt = padding.salt_length;
  if (op == MM_RSA_SIGN && salt == MM_RSA_SALT_AUTO) reject("MM_RSA_SALT_AUTO is only for verification");
  if (salt < MM_RSA_SALT_MAX) reject("padding.salt_length is " + std::to_string(salt));
}

ByteSpan checked_label(const mm_bytes& label) {
  if (label.data == nullptr && label.size != 0) throw StatusError(MM_ERR_NULL, "padding.label.data is NULL");
  return {label.data, label.size};
}

// Largest k of the keys that the call's items name; 0 if the ring has none of them.
std::size_t longest_modulus(const Ring& ring, std::span<const std::uint32_t> keys) {
  if (keys.empty()) return ring.key(0).key().bytes();
  std::size_t longest = 0;
  for (const std::uint32_t key : keys) {
    if (key < ring.size()) longest = std::max(longest, ring.key(key).key().bytes());
  }
  return longest;
}

// Check the output arrays. @return CheckedCall::row_bytes.
std::size_t check_output(const Ring& ring, const CheckedCall& checked, WrittenRanges& written) {
  const mm_rsa_call& call = checked.call;
  const mm_bytes_result& output = call.output;
  if (output.data == nullptr) throw StatusError(MM_ERR_NULL, "output.data is NULL");
  if (output.sizes == nullptr && checked.op == MM_RSA_DECRYPT) {
    throw StatusError(MM_ERR_NULL, "output.sizes is NULL");
  }
  if (output.count != call.count) {
    reject("output.count is " + std::to_string(output.count) + ", expected " + std::to_string(call.count));
  }
  const std::size_t longest = longest_modulus(ring, checked.keys);
  if (output.stride < longest) {
    reject("output.stride is " + std::to_string(output.stride) + ", less than the " +
           std::to_string(longest) + " bytes of a modulus");
  }
  const std::size_t row_bytes = longest != 0 ? longest : std::min(output.stride, ring.max_modulus_bytes());
  written.add("output", output.data, extent_of(call.count, output.stride, row_bytes));
  written.add("output.sizes", output.sizes,
              extent_of(call.count, sizeof *output.sizes, sizeof *output.sizes));
  return row_bytes;
}

}  // namespace

CheckedCall::CheckedCall(const Ring& ring, const mm_rsa_call& given)
    : call(given),
      op(checked_op(given.op)),
      scheme(checked_scheme(given.padding, op)),
      hash(checked_hash(given.padding, op, scheme)),
      mgf(checked_mgf(given.padding, scheme, hash)),
      input(given.input, given.count, "input"),
      keys(copied_indices(given.key, given.count)) {
  check_salt(given.padding, op);
  if (scheme == MM_RSA_OAEP) {
    crypto::Hasher(hash->hash).digest(label_digest, {checked_label(given.padding.label)});
  }
  WrittenRanges written;
  written.keep(input);
  if (op == MM_RSA_VERIFY) {
    signature.emplace(given.signature, given.count, "signature");
    written.keep(signature);
    if (given.valid == nullptr) throw StatusError(MM_ERR_NULL, "valid is NULL");
    written.add("valid", given.valid, given.count);
  } else {
    row_bytes = check_output(ring, *this, written);
  }
  written.add("item_status", given.item_status, given.count);
  written.add("item_recomputed", given.item_recomputed, given.count);
}

}  // namespace manymod::rsa
