/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file status.h
 * @brief C ABI of manymod: outcomes of calls and of their items, which all other headers share.
 */
#ifndef MANYMOD_STATUS_H
#define MANYMOD_STATUS_H

#if defined(_WIN32) && defined(MANYMOD_SHARED)
#if defined(MANYMOD_BUILDING)
#define MM_API __declspec(dllexport)
#else
#define MM_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define MM_API __attribute__((visibility("default")))
#else
#define MM_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Outcome of a call (MM_OK, MM_ERR_*) or of one item (MM_OK, MM_ITEM_*). */
typedef enum mm_status {
  MM_OK = 0,
  /* Statuses of an item; the item's result is 0. */
  MM_ITEM_ZERO_MODULUS = 1,     /**< the modulus is 0 */
  MM_ITEM_NOT_INVERTIBLE = 2,   /**< an inverse is needed and gcd(x, modulus) != 1 */
  MM_ITEM_EVEN_MODULUS = 3,     /**< the modulus is even; constant-time calls need odd moduli */
  MM_ITEM_MODULUS_TOO_WIDE = 4, /**< wider than MM_MAX_MODULUS_BITS or the plan's modulus_bits */
  MM_ITEM_NOT_COMPUTED = 5,     /**< the call was cancelled before this item was computed */
  /* Statuses of an item of an RSA call (rsa.h). */
  MM_ITEM_RSA_KEY = 6,        /**< the ring has no such key, or a private operation names a public key */
  MM_ITEM_RSA_LENGTH = 7,     /**< the message, digest, salt or ciphertext does not fit key and padding */
  MM_ITEM_RSA_RANGE = 8,      /**< the number is not below the modulus */
  MM_ITEM_RSA_DECRYPTION = 9, /**< decryption failed */
  MM_ITEM_RSA_FAULT = 10,   /**< two computations failed their check: a hardware fault, or a prime is none */
  MM_ITEM_RSA_PADDING = 11, /**< the key is restricted to RSASSA-PSS, or to another hash or a longer salt */
  MM_ITEM_RSA_SIGNATURE_LENGTH = 12, /**< not valid: the signature is not as long as the modulus */
  /* Statuses of an item of a call on curves (ecc.h). */
  MM_ITEM_ECC_CURVE = 13,       /**< the plan has no such curve, or the operation does not suit it */
  MM_ITEM_ECC_SECRET = 14,      /**< a private key, scalar or nonce is out of range or has a wrong length */
  MM_ITEM_ECC_POINT = 15,       /**< not an encoding of a point of the curve, or no point for this purpose */
  MM_ITEM_ECC_SMALL_ORDER = 16, /**< the shared secret would be infinity or 0 */
  MM_ITEM_ECC_SIGNATURE = 17,   /**< not valid: not the encoding of a signature, or out of range */
  MM_ITEM_ECC_LENGTH = 18,      /**< a digest, context or nonce has a wrong length */
  MM_ITEM_ECC_NONCE = 19,       /**< the given nonce leads to r = 0 or s = 0 */
  MM_ITEM_ECC_FAULT = 20,       /**< the signature failed its check: a hardware fault */
  MM_ITEM_ECC_NO_KEY = 21,      /**< no public key has this signature, or s is high where it must be low */
  /* Statuses of a request to a service (service.h). */
  MM_ITEM_EXPIRED = 22, /**< its time had passed before it began */
  /* Statuses of an item of mm_fixed_base_powmod. */
  MM_ITEM_EXPONENT_TOO_WIDE = 23, /**< a secret exponent is wider than the comb serves */
  /* Statuses of a call. */
  MM_ERR_ITEMS = 64,     /**< an item has a status other than MM_OK, _SIGNATURE_LENGTH and _ECC_SIGNATURE */
  MM_ERR_NULL = 65,      /**< a required pointer is NULL */
  MM_ERR_ARGUMENT = 66,  /**< a size, count, enum value or struct_size is invalid */
  MM_ERR_OVERLAP = 67,   /**< the result overlaps an operand without being exactly the same array */
  MM_ERR_MEMORY = 68,    /**< out of memory */
  MM_ERR_CANCELLED = 69, /**< a stop was requested; unfinished items have MM_ITEM_NOT_COMPUTED */
  MM_ERR_UNKNOWN_VARIANT = 70,  /**< no variant has that name; mm_last_error() lists the names */
  MM_ERR_UNUSABLE_VARIANT = 71, /**< it cannot run here, or lacks this operation, width or timing class */
  MM_ERR_UNKNOWN_DEVICE = 72,   /**< there is no such device, or no device of that kind was found */
  MM_ERR_INTERNAL = 73,         /**< a bug in manymod */
  MM_ERR_TUNING = 74,           /**< a tuning file is missing or malformed; mm_last_error() names the line */
  MM_ERR_DEVICE = 75,           /**< a GPU or its driver failed; mm_last_error() names the driver call */
  MM_ERR_UNSUPPORTED = 76,      /**< this build lacks a component, which mm_last_error() names */
  MM_ERR_KEY = 77,              /**< the key or curve is not usable; mm_last_error() gives the reason */
  MM_ERR_CRYPTO = 78,           /**< libcrypto failed; mm_last_error() names the function */
  MM_ERR_FULL = 79,             /**< the service's queue is full */
  MM_ERR_CLOSED = 80,           /**< the service accepts nothing any more */
  MM_ERR_TIMEOUT = 81           /**< it was not there in time */
} mm_status;

/**
 * Name of a status: "MM_ITEM_NOT_INVERTIBLE".
 * @param status any value
 * @return a static string; "MM_?" for a value that is no status
 */
MM_API const char* mm_status_name(mm_status status);
/**
 * One sentence that describes a status.
 * @param status any value
 * @return a static string, never NULL
 */
MM_API const char* mm_status_message(mm_status status);
/** @return a description of the calling thread's last failed call, valid until the thread's next call of the
 * library; "" if none failed */
MM_API const char* mm_last_error(void);

#ifdef __cplusplus
}
#endif
#endif
