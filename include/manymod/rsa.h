/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rsa.h
 * @brief C ABI of manymod: RSA in bulk (RFC 8017). Signatures, encryption and the bare operations on many
 * messages and many keys at once.
 *
 * Numbers and messages are bytes; numbers are unsigned and big-endian, as in RFC 8017 (I2OSP, OS2IP). k is
 * the length of an item's modulus in bytes.
 *
 * Conventions are those of manymod.h: MM_OK, MM_ERR_ITEMS (the call ran; some items carry a status, the
 * others are right) or another MM_ERR_* (nothing usable was written), explained by mm_last_error(); structs
 * that begin with struct_size may grow at their end; nothing prints, aborts or lets a C++ exception out; all
 * functions may be called from several threads at once, and one ring may run several calls at once.
 *
 * Timing. Private keys, what is decrypted, what is encrypted and what is random are secret: no branch and no
 * address depends on them. Public are: sizes (of keys, messages, ciphertexts, salts), key indices, public
 * keys, signatures and their messages, statuses, and the length of a decrypted message once it is returned.
 * See docs/rsa.md for what is covered, zeroed and checked, and for what is not.
 *
 * A library built without libcrypto returns MM_ERR_UNSUPPORTED from every function here that returns a
 * status.
 */
#ifndef MANYMOD_RSA_H
#define MANYMOD_RSA_H

#include "manymod/manymod.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Sizes of a key's modulus, in bits. */
#define MM_RSA_MIN_BITS 1024
#define MM_RSA_MAX_BITS 8192

/** 1 if this build computes RSA, 0 if it was built without libcrypto. */
MM_API int mm_rsa_supported(void);

/** Bytes that someone else owns. data may be NULL where size is 0. */
typedef struct mm_bytes {
  const uint8_t* data;
  size_t size;
} mm_bytes;

/* ---- keys ------------------------------------------------------------------------------------------- */

/** A public or private key: its numbers, checked. Private numbers are zeroed when it is destroyed. */
typedef struct mm_rsa_key mm_rsa_key;

/** Checks that take time, asked for one by one; what is cheap is always checked. */
typedef enum mm_rsa_check {
  MM_RSA_CHECK_PRIMES = 1 /**< p and q are prime (Miller-Rabin, BN_check_prime). Of unchecked ones that
                             are not, results are wrong as a rule: MM_ITEM_RSA_FAULT */
} mm_rsa_check;

/**
 * The numbers of a key, leading zero bytes allowed. Zero-initialise, then set struct_size.
 * Public key: n and e. Private key: n, e, d; p and q together or not at all (then they are recovered);
 * dp, dq, qinv each if known (else computed). A number that is not given has size 0.
 */
typedef struct mm_rsa_numbers {
  size_t struct_size;
  mm_bytes n;      /**< modulus, odd, MM_RSA_MIN_BITS to MM_RSA_MAX_BITS */
  mm_bytes e;      /**< public exponent, odd, 3 <= e < n */
  mm_bytes d;      /**< private exponent, d < n, e d = 1 mod p - 1 and mod q - 1 */
  mm_bytes p, q;   /**< primes, p q = n, p != q */
  mm_bytes dp;     /**< d mod p - 1 */
  mm_bytes dq;     /**< d mod q - 1 */
  mm_bytes qinv;   /**< q^-1 mod p */
  unsigned checks; /**< MM_RSA_CHECK_* */
} mm_rsa_numbers;

/**
 * Make a key from its numbers. Copied; the caller's copy is the caller's to zero.
 * @return MM_OK and *key; or, with *key = NULL, MM_ERR_KEY if the numbers are no key (mm_last_error() says
 * which relation does not hold, never a value), MM_ERR_NULL, MM_ERR_ARGUMENT, MM_ERR_MEMORY.
 * Timing: sizes are public; the checks are libcrypto's, of which the recovery of p and q and the primality
 * test may show the primes' lengths and the number of attempts.
 */
MM_API mm_status mm_rsa_key_create(const mm_rsa_numbers* numbers, mm_rsa_key** key);

/** Options of mm_rsa_key_decode. Zero-initialise, then set struct_size. */
typedef struct mm_rsa_decode_options {
  size_t struct_size;
  mm_bytes passphrase; /**< of an encrypted private key; data NULL: none is given */
  unsigned checks;     /**< MM_RSA_CHECK_* */
} mm_rsa_decode_options;

/**
 * Make a key from PEM or DER: PKCS#1, PKCS#8 (encrypted too) or SubjectPublicKeyInfo, read by libcrypto.
 * @param options NULL for none
 * @return as mm_rsa_key_create; MM_ERR_KEY also for what cannot be read, for a key that is not RSA, for a
 * passphrase that is missing or wrong and for more than INT_MAX bytes. Of PEM that is encrypted, OpenSSH's
 * own or truncated mm_last_error() says so.
 */
MM_API mm_status mm_rsa_key_decode(mm_bytes encoded, const mm_rsa_decode_options* options, mm_rsa_key** key);

/** What is public about a key. */
typedef struct mm_rsa_key_info {
  size_t struct_size; /**< set by the caller: sizeof(mm_rsa_key_info); no more is written */
  size_t modulus_bits;
  size_t modulus_bytes;  /**< k: bytes of a signature or ciphertext */
  size_t exponent_bytes; /**< bytes of e */
  int is_private;
} mm_rsa_key_info;

/** Fill *info. @return MM_OK, MM_ERR_NULL or MM_ERR_ARGUMENT for a wrong struct_size. */
MM_API mm_status mm_rsa_key_get_info(const mm_rsa_key* key, mm_rsa_key_info* info);
/** Write n as modulus_bytes bytes and e as exponent_bytes bytes. There is no way to read private numbers. */
MM_API mm_status mm_rsa_key_get_public(const mm_rsa_key* key, uint8_t* n, uint8_t* e);
/** Destroy a key (NULL is allowed). Rings made from it stay usable; private numbers are zeroed when the last
 * of them goes. */
MM_API void mm_rsa_key_destroy(mm_rsa_key* key);

/* ---- rings ------------------------------------------------------------------------------------------ */

/** Keys on a device, with what is precomputed for each: what calls run on. One key is a ring of one. */
typedef struct mm_rsa_ring mm_rsa_ring;

typedef enum mm_rsa_blinding {
  MM_RSA_BLINDING_ON = 0, /**< private operations work on m r^e, r random and other for each item */
  MM_RSA_BLINDING_OFF = 1
} mm_rsa_blinding;

/** Options of mm_rsa_ring_create. Zero-initialise, then set struct_size. */
typedef struct mm_rsa_ring_options {
  size_t struct_size;
  const char* device;  /**< as mm_plan_options */
  const char* variant; /**< as mm_plan_options: forced for every power */
  unsigned threads;    /**< CPU threads of its calls, at most 1024; 0: mm_get_threads() */
  mm_rsa_blinding blinding;
} mm_rsa_ring_options;

/**
 * Make a ring of keys[0 .. count), public, private or both. What is precomputed for a key is made by the
 * first call that needs it, and zeroed with the ring.
 * @param options NULL for the defaults
 * @return MM_OK and *ring; or, with *ring = NULL, an error as of mm_plan_create
 */
MM_API mm_status mm_rsa_ring_create(const mm_rsa_ring_options* options, const mm_rsa_key* const* keys,
                                    size_t count, mm_rsa_ring** ring);

typedef struct mm_rsa_ring_info {
  size_t struct_size; /**< set by the caller: sizeof(mm_rsa_ring_info); no more is written */
  size_t keys;
  size_t max_modulus_bytes; /**< largest k */
  uint64_t private_items; /**< private operations computed since its creation; not those of items that have a
                             status before theirs begins */
  uint64_t recomputed;    /**< those whose CRT result was wrong and that were computed again without CRT */
} mm_rsa_ring_info;

/** Fill *info. @return MM_OK, MM_ERR_NULL or MM_ERR_ARGUMENT for a wrong struct_size. */
MM_API mm_status mm_rsa_ring_get_info(const mm_rsa_ring* ring, mm_rsa_ring_info* info);
/** Variant of the powers of the private (nonzero `private_operation`) or public operation with key `key` for
 * `items` items of that key; "" for a key that is not there. Where the powers modulo p and q are computed
 * together, it is the choice for twice as many. Valid as long as the ring. */
MM_API const char* mm_rsa_ring_variant(const mm_rsa_ring* ring, size_t key, int private_operation,
                                       size_t items);
/** Destroy a ring (NULL is allowed), once none of its calls runs; what it precomputed is zeroed. */
MM_API void mm_rsa_ring_destroy(mm_rsa_ring* ring);

/* ---- calls ------------------------------------------------------------------------------------------ */

typedef enum mm_rsa_op {
  MM_RSA_PUBLIC = 0,  /**< bare m^e mod n (RSAEP, RSAVP1): input m < n, at most k bytes; output k bytes. The
                         input counts as secret */
  MM_RSA_PRIVATE = 1, /**< bare c^d mod n (RSADP, RSASP1): input c < n, at most k bytes; output k bytes */
  MM_RSA_SIGN = 2,    /**< input: messages (or digests, see prehashed); output: signatures of k bytes */
  MM_RSA_VERIFY = 3,  /**< input: messages or digests; signature: of any length; output: `valid` alone */
  MM_RSA_ENCRYPT = 4, /**< input: messages; output: ciphertexts of k bytes */
  MM_RSA_DECRYPT = 5  /**< input: ciphertexts of k bytes; output: messages, their lengths in output.sizes */
} mm_rsa_op;

typedef enum mm_rsa_scheme {
  MM_RSA_RAW = 0,      /**< MM_RSA_PUBLIC and MM_RSA_PRIVATE */
  MM_RSA_PKCS1V15 = 1, /**< RSASSA-PKCS1-v1_5 and RSAES-PKCS1-v1_5. Decryption rejects implicitly: a bad
                          padding gives a message that depends on the key and the ciphertext alone, of a
                          length that does too, and no error (draft-irtf-cfrg-rsa-guidance; OpenSSL 3.2's) */
  MM_RSA_PSS = 2,      /**< RSASSA-PSS, signatures */
  MM_RSA_OAEP = 3      /**< RSAES-OAEP, encryption */
} mm_rsa_scheme;

typedef enum mm_rsa_hash {
  MM_RSA_HASH_NONE = 0,
  MM_RSA_SHA1 = 1, /**< for OAEP and for what was signed long ago */
  MM_RSA_SHA224 = 2,
  MM_RSA_SHA256 = 3,
  MM_RSA_SHA384 = 4,
  MM_RSA_SHA512 = 5,
  MM_RSA_SHA512_224 = 6,
  MM_RSA_SHA512_256 = 7,
  MM_RSA_SHA3_224 = 8,
  MM_RSA_SHA3_256 = 9,
  MM_RSA_SHA3_384 = 10,
  MM_RSA_SHA3_512 = 11
} mm_rsa_hash;
#define MM_RSA_HASH_COUNT 12

/** Bytes of a digest; 0 for MM_RSA_HASH_NONE and unknown values. */
MM_API size_t mm_rsa_hash_size(mm_rsa_hash hash);

/** Salt lengths of PSS other than a number of bytes. */
#define MM_RSA_SALT_DIGEST (-1) /**< as long as the digest */
#define MM_RSA_SALT_AUTO (-2)   /**< verification: whatever length the signature has; not for signing */
#define MM_RSA_SALT_MAX (-3)    /**< the longest that the key and the hash allow; for verification too */

/** Padding of a call. */
typedef struct mm_rsa_padding {
  mm_rsa_scheme scheme;
  mm_rsa_hash hash;     /**< of messages; of OAEP's label. PKCS#1 v1.5 encryption has none */
  mm_rsa_hash mgf_hash; /**< of MGF1 (PSS, OAEP); MM_RSA_HASH_NONE: the same as `hash` */
  int salt_length;      /**< PSS: bytes, or MM_RSA_SALT_* */
  int prehashed;        /**< signatures: nonzero if the inputs are digests by `hash` */
  mm_bytes label;       /**< OAEP's label, one for all items */
} mm_rsa_padding;

/**
 * Read-only items of bytes, in one of three forms: `items` not NULL: count pointers and sizes; else `offsets`
 * not NULL: item i is data[offsets[i] .. offsets[i + 1]) (Arrow's large_binary; count + 1 offsets, never
 * descending, the first >= 0); else item i is the `size` bytes at data + i stride.
 */
typedef struct mm_bytes_view {
  size_t count; /**< N, or 1: the same bytes for every item */
  const uint8_t* data;
  size_t size;
  size_t stride; /**< 0 means size */
  const int64_t* offsets;
  const mm_bytes* items;
} mm_bytes_view;

/** Written items: item i at data + i stride. Bytes of an item past its size are zeroed up to k (for
 * MM_RSA_DECRYPT too), and those of an item that has a status up to the largest k of the call's keys; where
 * no item has a key that is there, to that of the ring's keys, but not past the stride. */
typedef struct mm_bytes_result {
  uint8_t* data;
  size_t count;  /**< N */
  size_t stride; /**< >= k of every key of the call, for every operation */
  size_t* sizes; /**< N sizes; an item that has a status has size 0. May be NULL but for MM_RSA_DECRYPT */
} mm_bytes_result;

/** A call on a ring. Zero-initialise, then set struct_size = sizeof(mm_rsa_call). */
typedef struct mm_rsa_call {
  size_t struct_size;
  mm_rsa_op op;
  mm_rsa_padding padding;
  size_t count;             /**< N; 0 is allowed and does nothing */
  const uint32_t* key;      /**< NULL: the ring's key 0 for every item; else N indices of keys */
  mm_bytes_view input;      /**< see mm_rsa_op */
  mm_bytes_view signature;  /**< MM_RSA_VERIFY */
  mm_bytes_result output;   /**< all but MM_RSA_VERIFY; overlaps no input */
  uint8_t* valid;           /**< MM_RSA_VERIFY: N bytes, 1 for a good signature, else 0 */
  uint8_t* item_status;     /**< NULL, or N bytes that receive MM_OK or MM_ITEM_* */
  uint8_t* item_recomputed; /**< NULL, or N bytes: 1 where the CRT result was wrong and the item was computed
                               again without CRT (its result is right), else 0 */
  mm_progress_fn progress;  /**< NULL, or as in mm_call */
  void* progress_user;
} mm_rsa_call;

/**
 * Run one call.
 *
 * Statuses of items: MM_ITEM_RSA_KEY (no such key in the ring, or a private operation with a public key),
 * MM_ITEM_RSA_LENGTH (message or salt too long for the key and padding, digest or ciphertext of the wrong
 * length, key too short for the padding), MM_ITEM_RSA_RANGE (number not below the modulus),
 * MM_ITEM_RSA_DECRYPTION (bad OAEP padding, whatever is bad about it), MM_ITEM_RSA_FAULT (computed wrongly,
 * twice: defective hardware, or p or q is not prime, see MM_RSA_CHECK_PRIMES), MM_ITEM_NOT_COMPUTED.
 * MM_RSA_VERIFY: a signature that is no signature, for whatever reason, is valid[i] = 0 with status MM_OK;
 * only a missing key and a digest of the wrong length have a status.
 *
 * Every result s of a private operation is checked against s^e = m before it is written to the output; see
 * docs/rsa.md for what that finds.
 *
 * A call that fails once it has begun (MM_ERR_MEMORY, MM_ERR_DEVICE, MM_ERR_CRYPTO) leaves nothing of what it
 * has computed: every item is MM_ITEM_NOT_COMPUTED. One that is cancelled leaves the items that are finished.
 *
 * @return MM_OK; MM_ERR_ITEMS; MM_ERR_NULL, MM_ERR_ARGUMENT (a struct_size, enum, count, offset, salt length
 * or stride is wrong, or the scheme is not for the operation), MM_ERR_OVERLAP; MM_ERR_CANCELLED;
 * MM_ERR_MEMORY; MM_ERR_DEVICE; MM_ERR_CRYPTO (libcrypto failed: no randomness, no such hash)
 */
MM_API mm_status mm_rsa_run(mm_rsa_ring* ring, const mm_rsa_call* call);

#ifdef __cplusplus
}
#endif
#endif
