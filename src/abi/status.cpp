// SPDX-License-Identifier: Apache-2.0
// Names and descriptions of statuses, and the last error of each thread.
#include <array>
#include <cstring>
#include <string>

#include "abi/enum_value.hpp"
#include "abi/last_error.hpp"
#include "manymod/manymod.h"

namespace manymod {
namespace {

struct StatusText {
  mm_status status;
  const char* name;
  const char* message;
};

constexpr std::array<StatusText, 42> kStatusTexts{{
    {MM_OK, "MM_OK", "success"},
    {MM_ITEM_ZERO_MODULUS, "MM_ITEM_ZERO_MODULUS", "the modulus is 0"},
    {MM_ITEM_NOT_INVERTIBLE, "MM_ITEM_NOT_INVERTIBLE", "the base is not invertible for this modulus"},
    {MM_ITEM_EVEN_MODULUS, "MM_ITEM_EVEN_MODULUS", "constant-time operations need an odd modulus"},
    {MM_ITEM_MODULUS_TOO_WIDE, "MM_ITEM_MODULUS_TOO_WIDE",
     "the modulus is wider than the plan or the library allows"},
    {MM_ITEM_NOT_COMPUTED, "MM_ITEM_NOT_COMPUTED", "the call was cancelled before this item"},
    {MM_ITEM_RSA_KEY, "MM_ITEM_RSA_KEY", "no such key in the ring, or a public key for a private operation"},
    {MM_ITEM_RSA_LENGTH, "MM_ITEM_RSA_LENGTH",
     "message, digest, salt or ciphertext of a wrong length for the key and padding"},
    {MM_ITEM_RSA_RANGE, "MM_ITEM_RSA_RANGE", "the number is not below the modulus"},
    {MM_ITEM_RSA_DECRYPTION, "MM_ITEM_RSA_DECRYPTION", "decryption failed"},
    {MM_ITEM_RSA_FAULT, "MM_ITEM_RSA_FAULT",
     "computed wrongly, twice: defective hardware, or a factor of the key is not prime"},
    {MM_ITEM_RSA_PADDING, "MM_ITEM_RSA_PADDING",
     "the key is for RSASSA-PSS alone, or for another hash or longer salts"},
    {MM_ITEM_RSA_SIGNATURE_LENGTH, "MM_ITEM_RSA_SIGNATURE_LENGTH",
     "the signature is not as long as the key's modulus"},
    {MM_ITEM_ECC_CURVE, "MM_ITEM_ECC_CURVE",
     "no such curve in the plan, no such key in the ring, or the curve lacks this operation"},
    {MM_ITEM_ECC_SECRET, "MM_ITEM_ECC_SECRET",
     "the private key, scalar or nonce is out of range or of a wrong length"},
    {MM_ITEM_ECC_POINT, "MM_ITEM_ECC_POINT", "not a point of the curve, or no point for this purpose"},
    {MM_ITEM_ECC_SMALL_ORDER, "MM_ITEM_ECC_SMALL_ORDER", "the shared secret would be infinity or 0"},
    {MM_ITEM_ECC_SIGNATURE, "MM_ITEM_ECC_SIGNATURE", "not the encoding of a signature"},
    {MM_ITEM_ECC_LENGTH, "MM_ITEM_ECC_LENGTH", "a digest, context or nonce of a wrong length"},
    {MM_ITEM_ECC_NONCE, "MM_ITEM_ECC_NONCE", "the given nonce gives no signature"},
    {MM_ITEM_ECC_FAULT, "MM_ITEM_ECC_FAULT", "computed wrongly: defective hardware"},
    {MM_ITEM_ECC_NO_KEY, "MM_ITEM_ECC_NO_KEY",
     "no public key has this signature, or s is high where it must be low"},
    {MM_ITEM_EXPIRED, "MM_ITEM_EXPIRED", "the request's time had passed before it began"},
    {MM_ITEM_EXPONENT_TOO_WIDE, "MM_ITEM_EXPONENT_TOO_WIDE",
     "the exponent is wider than a constant-time fixed base serves"},
    {MM_ERR_ITEMS, "MM_ERR_ITEMS", "some items have no result; see their statuses"},
    {MM_ERR_NULL, "MM_ERR_NULL", "a required pointer is NULL"},
    {MM_ERR_ARGUMENT, "MM_ERR_ARGUMENT", "a size, count, enum value or struct_size is wrong"},
    {MM_ERR_OVERLAP, "MM_ERR_OVERLAP", "the result overlaps an operand"},
    {MM_ERR_MEMORY, "MM_ERR_MEMORY", "out of memory"},
    {MM_ERR_CANCELLED, "MM_ERR_CANCELLED", "cancelled before all items were computed"},
    {MM_ERR_UNKNOWN_VARIANT, "MM_ERR_UNKNOWN_VARIANT", "there is no variant of that name"},
    {MM_ERR_UNUSABLE_VARIANT, "MM_ERR_UNUSABLE_VARIANT",
     "the variant cannot be used here or for this operation"},
    {MM_ERR_UNKNOWN_DEVICE, "MM_ERR_UNKNOWN_DEVICE", "there is no such device"},
    {MM_ERR_INTERNAL, "MM_ERR_INTERNAL", "internal error: a bug in manymod"},
    {MM_ERR_TUNING, "MM_ERR_TUNING", "a tuning file is missing or malformed"},
    {MM_ERR_DEVICE, "MM_ERR_DEVICE", "a GPU or its driver failed"},
    {MM_ERR_UNSUPPORTED, "MM_ERR_UNSUPPORTED", "this build lacks what the function needs"},
    {MM_ERR_KEY, "MM_ERR_KEY", "no usable key or curve"},
    {MM_ERR_CRYPTO, "MM_ERR_CRYPTO", "libcrypto failed"},
    {MM_ERR_FULL, "MM_ERR_FULL", "the service's queue is full"},
    {MM_ERR_CLOSED, "MM_ERR_CLOSED", "the service is closed"},
    {MM_ERR_TIMEOUT, "MM_ERR_TIMEOUT", "not there in time"},
}};

// Null for an unknown status.
const StatusText* find_status(const mm_status& status) {
  for (const StatusText& text : kStatusTexts) {
    if (enum_value(text.status) == enum_value(status)) return &text;
  }
  return nullptr;
}

std::string& last_error_text() {
  thread_local std::string text;
  return text;
}

}  // namespace

mm_status fail(mm_status status, std::string_view message) noexcept {
  std::string& text = last_error_text();
  try {
    text.assign(message);
  } catch (...) {
    text.clear();
  }
  return status;
}

mm_status fail_items(bool completed, std::size_t items, const FailedItems& failed) {
  if (completed && failed.count == 0) return MM_OK;
  const std::string counts =
      std::to_string(failed.count) + " of " + std::to_string(items) + " items have no result";
  if (!completed) return fail(MM_ERR_CANCELLED, "cancelled; " + counts);
  return fail(MM_ERR_ITEMS, counts + "; the first is item " + std::to_string(failed.first) + ": " +
                                mm_status_message(failed.first_status));
}

const char* last_error() noexcept { return last_error_text().c_str(); }

}  // namespace manymod

extern "C" {

const char* mm_status_name(mm_status status) {
  const manymod::StatusText* text = manymod::find_status(status);
  return text == nullptr ? "MM_?" : text->name;
}

// Not inlined, because the secret-independence tests suppress findings in this function by its name: statuses
// are public.
[[gnu::noinline]] const char* mm_status_message(mm_status status) {
  const manymod::StatusText* text = manymod::find_status(status);
  return text == nullptr ? "unknown status" : text->message;
}

const char* mm_last_error(void) { return manymod::last_error(); }

}  // extern "C"
