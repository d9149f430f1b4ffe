/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rsa.h
 * @brief C ABI of manymod: RSA (RFC 8017) on many messages and many keys at once: signatures, encryption and
 * the bare operations.
 *
 * Numbers and messages are byte strings; numbers are unsigned and big-endian, as in RFC 8017 (I2OSP, OS2IP).
 * k is the length of an item's modulus in bytes.
 *
 * Errors, struct sizes, ownership and thread safety follow the conventions of manymod.h; several calls may
 * run on one ring at once.
 *
 * Timing. Private keys, decrypted and encrypted messages and random values are secret: branches and memory
 * accesses do not depend on them. Public are the sizes of keys, messages, ciphertexts and salts, key indices,
 * public keys, signatures and the messages that they sign, statuses, and the length of a decrypted message
 * once it is returned. docs/rsa.md states what is covered, zeroed and checked, and what is not.
 *
 * A library built without libcrypto returns MM_ERR_UNSUPPORTED from every function here that returns a
 * status.
 */
#ifndef MANYMOD_RSA_H
#define MANYMOD_RSA_H

#include "manymod/bytes.h"
#include "manymod/manymod.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Range of a key's modulus size, in bits. */
#define MM_RSA_MIN_BITS 1024
#define MM_RSA_MAX_BITS 16384
/** Most primes of a modulus. */
#define MM_RSA_MAX_PRIMES 10

/** Longest public exponent that a key may have unless its creator allows more, in bits. The exponent decides
 * how long a public operation takes: with one as long as n a verification takes 60 times (2048 bits) to 490
 * times (8192 bits) as long as with 65537, which whoever chooses the key could use to keep a verifier busy.
 */
#define MM_RSA_EXPONENT_BITS 64

/** @return 1 if this build supports RSA, 0 if it was built without libcrypto */
MM_API int mm_rsa_supported(void);

/* ---- keys ------------------------------------------------------------------------------------------- */

/** A public or private key whose numbers were checked. Immutable; private numbers are zeroed when it is
 * destroyed. */
typedef struct mm_rsa_key mm_rsa_key;

/** Flags for optional checks that take time. The cheap checks are always made. */
typedef enum mm_rsa_check {
  MM_RSA_CHECK_PRIMES = 1 /**< p and q are prime (Miller-Rabin, BN_check_prime). A key whose p or q is
                             composite and that was not checked gives MM_ITEM_RSA_FAULT as a rule */
} mm_rsa_check;

/** A prime of a modulus besides p and q (RFC 8017, section 3.2, OtherPrimeInfo). */
typedef struct mm_rsa_prime {
  mm_bytes prime;
  mm_bytes exponent;    /**< d mod prime - 1; size 0: computed */
  mm_bytes coefficient; /**< inverse of the product of all primes before it, mod prime; size 0: computed */
} mm_rsa_prime;

/** What a key for RSASSA-PSS alone (id-RSASSA-PSS, RFC 4055) may be used for. Signatures with anything else,
 * and every other operation, get MM_ITEM_RSA_PADDING. All 0 for keys without restrictions; the other members
 * may differ from 0 only if `only` is 1. */
typedef struct mm_rsa_pss_limits {
  int only;         /**< 1: the key is for RSASSA-PSS alone */
  mm_hash hash;     /**< the only hash of messages; MM_HASH_NONE: any */
  mm_hash mgf_hash; /**< the only hash of MGF1; MM_HASH_NONE: any */
  int least_salt;   /**< least length of salts in bytes */
} mm_rsa_pss_limits;

/**
 * The numbers of a key; leading zero bytes are allowed. Zero-initialise it, then set struct_size.
 * A public key has n and e. A private key has n, e and d; its primes are given together or omitted, in which
 * case they are recovered; each of dp, dq and qinv may be given with them, else it is computed. A number that
 * is omitted has size 0.
 */
typedef struct mm_rsa_numbers {
  size_t struct_size;
  mm_bytes n;               /**< modulus, odd, MM_RSA_MIN_BITS to MM_RSA_MAX_BITS bits */
  mm_bytes e;               /**< public exponent, odd, 3 <= e < n, of at most max_exponent_bits bits */
  mm_bytes d;               /**< private exponent, 0 < d < n, e d = 1 mod each prime less 1 */
  mm_bytes p, q;            /**< primes; the product of all primes is n, and no two are the same */
  mm_bytes dp;              /**< d mod p - 1 */
  mm_bytes dq;              /**< d mod q - 1 */
  mm_bytes qinv;            /**< q^-1 mod p */
  unsigned checks;          /**< MM_RSA_CHECK_* flags */
  size_t max_exponent_bits; /**< longest e to accept, in bits; 0: MM_RSA_EXPONENT_BITS. FIPS 186-5 allows 256;
                               MM_RSA_MAX_BITS accepts every e < n */
  const mm_rsa_prime* other_primes; /**< primes besides p and q, in the order of their coefficients */
  size_t other_prime_count;         /**< at most MM_RSA_MAX_PRIMES - 2 */
  mm_rsa_pss_limits pss;
} mm_rsa_numbers;

/**
 * Create a key from its numbers, which are copied; the caller zeroes its own copy.
 *
 * Timing: the sizes are public. The checks use libcrypto; recovering p and q and testing primality may
 * reveal the lengths of the primes and the number of attempts.
 * @param numbers what the key consists of, and which checks to make; not NULL
 * @param key     receives the key, which the caller destroys; NULL on failure
 * @return MM_OK; MM_ERR_KEY if the numbers are not a key (mm_last_error() states which relation does not
 * hold, never a value); MM_ERR_NULL, MM_ERR_ARGUMENT, MM_ERR_MEMORY, MM_ERR_CRYPTO
 */
MM_API mm_status mm_rsa_key_create(const mm_rsa_numbers* numbers, mm_rsa_key** key);

/** Which key of an encoding is wanted. */
typedef enum mm_rsa_key_kind {
  MM_RSA_KEY_ANY = 0,     /**< the private key if there is one, else as MM_RSA_KEY_PUBLIC */
  MM_RSA_KEY_PRIVATE = 1, /**< the first private key */
  MM_RSA_KEY_PUBLIC = 2   /**< the first public key or certificate */
} mm_rsa_key_kind;

/** Why no key of an encoding could be read. */
typedef enum mm_rsa_unread_reason {
  MM_RSA_UNREAD_NONE = 0,      /**< a key was read: if the call fails with MM_ERR_KEY, the key was refused */
  MM_RSA_UNREAD_OTHER = 1,     /**< for a reason that mm_last_error() alone tells */
  MM_RSA_UNREAD_OPENSSH = 2,   /**< what should be the key has OpenSSH's format */
  MM_RSA_UNREAD_ENCRYPTION = 3 /**< it has an encryption that libcrypto does not provide */
} mm_rsa_unread_reason;

/** What could not be read of an encoding. */
typedef struct mm_rsa_unread {
  mm_rsa_unread_reason reason;
  mm_bytes part; /**< the block of PEM that the reason is about, or the whole encoding; size 0: none */
} mm_rsa_unread;

/** Options of mm_rsa_key_decode. Zero-initialise them, then set struct_size. */
typedef struct mm_rsa_decode_options {
  size_t struct_size;
  mm_bytes password;        /**< of an encrypted private key; data NULL: no password */
  unsigned checks;          /**< MM_RSA_CHECK_* flags */
  size_t max_exponent_bits; /**< as in mm_rsa_numbers */
  size_t kind;              /**< an mm_rsa_key_kind */
  mm_rsa_unread* unread;    /**< NULL, or receives why no key could be read */
} mm_rsa_decode_options;

/**
 * Create a key from PEM or DER, parsed by libcrypto: PKCS#1, PKCS#8 (also encrypted), SubjectPublicKeyInfo or
 * an X.509 certificate, whose signature and dates are not checked. Keys for RSASSA-PSS (id-RSASSA-PSS) keep
 * their mm_rsa_pss_limits. PEM may hold several blocks in any order, text around them, and may lack its line
 * breaks or have spaces or "\\n" in their place.
 * @param encoded at most INT_MAX bytes
 * @param options NULL for the defaults
 * @param key     receives the key, which the caller destroys; NULL on failure
 * @return as mm_rsa_key_create; MM_ERR_KEY also if no such key can be read: mm_last_error() then says what
 * was found, such as a key that is not RSA, a certificate request, a missing or wrong password, an encryption
 * that libcrypto does not provide, truncated PEM or a file's path
 */
MM_API mm_status mm_rsa_key_decode(mm_bytes encoded, const mm_rsa_decode_options* options, mm_rsa_key** key);

/** Public properties of a key. */
typedef struct mm_rsa_key_info {
  size_t struct_size; /**< set by the caller to sizeof(mm_rsa_key_info); no more bytes are written */
  size_t modulus_bits;
  size_t modulus_bytes;  /**< k, the length of a signature or ciphertext */
  size_t exponent_bytes; /**< length of e */
  int is_private;        /**< 1 for a private key */
  size_t primes;         /**< primes of a private key's modulus; 0 for a public key */
  mm_rsa_pss_limits pss; /**< what a key for RSASSA-PSS alone may be used for */
} mm_rsa_key_info;

/**
 * Describe a key.
 * @param key  the key
 * @param info receives the description
 * @return MM_OK; MM_ERR_NULL; MM_ERR_ARGUMENT for an invalid struct_size
 */
MM_API mm_status mm_rsa_key_get_info(const mm_rsa_key* key, mm_rsa_key_info* info);
/**
 * Write the public numbers of a key, big-endian. Private numbers cannot be read.
 * @param key the key
 * @param n   receives modulus_bytes bytes
 * @param e   receives exponent_bytes bytes
 * @return MM_OK; MM_ERR_NULL
 */
MM_API mm_status mm_rsa_key_get_public(const mm_rsa_key* key, uint8_t* n, uint8_t* e);
/**
 * Destroy a key. Rings created from it remain usable; the private numbers are zeroed when the last of them
 * is destroyed.
 * @param key the key, or NULL
 */
MM_API void mm_rsa_key_destroy(mm_rsa_key* key);

/* ---- rings ------------------------------------------------------------------------------------------ */

/** A key ring: keys placed on a device, with the data precomputed for each of them. Calls run on a ring; a
 * single key is a ring of one. */
typedef struct mm_rsa_ring mm_rsa_ring;

/** Base blinding of private operations. */
typedef enum mm_rsa_blinding {
  MM_RSA_BLINDING_ON = 0, /**< the power is computed of m r^e with a random r that differs for every item */
  MM_RSA_BLINDING_OFF = 1
} mm_rsa_blinding;

/** Options of mm_rsa_ring_create. Zero-initialise them, then set struct_size. */
typedef struct mm_rsa_ring_options {
  size_t struct_size;
  const char* device;  /**< as in mm_plan_options */
  const char* variant; /**< as in mm_plan_options; forced for every power */
  unsigned threads;    /**< CPU threads of one call, at most 1024; 0: mm_get_threads() */
  mm_rsa_blinding blinding;
} mm_rsa_ring_options;

/**
 * Create a ring of keys, public, private or both. The first call that needs the precomputed data of a key
 * computes it; it is zeroed with the ring.
 * @param options NULL for the defaults
 * @param keys    `count` keys, which may be destroyed before the ring; none may be NULL
 * @param count   number of keys, at least 1
 * @param ring    receives the ring, which the caller destroys; NULL on failure
 * @return as mm_plan_create
 */
MM_API mm_status mm_rsa_ring_create(const mm_rsa_ring_options* options, const mm_rsa_key* const* keys,
                                    size_t count, mm_rsa_ring** ring);

/** Properties and counters of a ring. */
typedef struct mm_rsa_ring_info {
  size_t struct_size;       /**< set by the caller to sizeof(mm_rsa_ring_info); no more bytes are written */
  size_t keys;              /**< number of keys */
  size_t max_modulus_bytes; /**< largest k */
  uint64_t private_items; /**< private operations computed since the ring was created, without the items whose
                             status was known before */
  uint64_t recomputed;    /**< those whose CRT result failed its check and that were recomputed without CRT */
} mm_rsa_ring_info;

/**
 * Describe a ring.
 * @param ring the ring
 * @param info receives the description
 * @return MM_OK; MM_ERR_NULL; MM_ERR_ARGUMENT for an invalid struct_size
 */
MM_API mm_status mm_rsa_ring_get_info(const mm_rsa_ring* ring, mm_rsa_ring_info* info);
/**
 * Name of the variant that computes the powers of a call with one key. If the powers modulo p and q are
 * computed in one batch, it is the choice for twice as many items.
 * @param ring              the ring, or NULL
 * @param key               index of the key
 * @param private_operation nonzero: for its private operation; 0: for its public one
 * @param items             number of items
 * @return a string that is valid as long as the ring; "" for NULL and for a key that the ring does not have
 */
MM_API const char* mm_rsa_ring_variant(const mm_rsa_ring* ring, size_t key, int private_operation,
                                       size_t items);
/**
 * Destroy a ring and zero its precomputed data. None of its calls may be running.
 * @param ring the ring, or NULL
 */
MM_API void mm_rsa_ring_destroy(mm_rsa_ring* ring);

/* ---- calls ------------------------------------------------------------------------------------------ */

/** Operations. */
typedef enum mm_rsa_op {
  MM_RSA_PUBLIC = 0,  /**< bare m^e mod n (RSAEP, RSAVP1). Input: m < n, at most k bytes, treated as secret;
                         output: k bytes */
  MM_RSA_PRIVATE = 1, /**< bare c^d mod n (RSADP, RSASP1). Input: c < n, at most k bytes; output: k bytes */
  MM_RSA_SIGN = 2,    /**< input: messages, or digests if `prehashed`; output: signatures of k bytes */
  MM_RSA_VERIFY = 3,  /**< input: messages or digests; signature: of any length; output: `valid` only */
  MM_RSA_ENCRYPT = 4, /**< input: messages; output: ciphertexts of k bytes */
  MM_RSA_DECRYPT =
      5 /**< input: ciphertexts of k bytes; output: messages, with their lengths in output.sizes */
} mm_rsa_op;

/** Schemes of RFC 8017. */
typedef enum mm_rsa_scheme {
  MM_RSA_RAW = 0, /**< no padding, for MM_RSA_PUBLIC and MM_RSA_PRIVATE */
  MM_RSA_PKCS1V15 =
      1,          /**< RSASSA-PKCS1-v1_5 and RSAES-PKCS1-v1_5. Decryption rejects implicitly: invalid padding
                     is not an error but yields a message whose bytes and length depend only on the key and
                     the ciphertext (draft-irtf-cfrg-rsa-guidance; the same as OpenSSL 3.2's) */
  MM_RSA_PSS = 2, /**< RSASSA-PSS, for signatures */
  MM_RSA_OAEP = 3 /**< RSAES-OAEP, for encryption */
} mm_rsa_scheme;

/** Salt lengths of PSS that are not a number of bytes. */
#define MM_RSA_SALT_DIGEST (-1) /**< the length of the digest */
#define MM_RSA_SALT_AUTO (-2)   /**< verification only: whatever length the signature has */
#define MM_RSA_SALT_MAX (-3)    /**< the largest length that the key and the hash allow */

/** Padding of a call. */
typedef struct mm_rsa_padding {
  mm_rsa_scheme scheme;
  mm_hash hash;     /**< of the message in signatures, of the label in OAEP; unused in PKCS#1 v1.5
                           encryption */
  mm_hash mgf_hash; /**< of MGF1 (PSS, OAEP); MM_HASH_NONE: the same as `hash` */
  int salt_length;  /**< PSS: a number of bytes, or MM_RSA_SALT_* */
  int prehashed;    /**< signatures: nonzero if the inputs are digests by `hash` */
  mm_bytes label;   /**< OAEP: the label of all items */
} mm_rsa_padding;

/** A call on a ring. Zero-initialise it, then set struct_size = sizeof(mm_rsa_call). What a call writes, the
 * bytes and sizes of `output`, `valid`, `item_status` and `item_recomputed`, overlaps neither `input` and
 * `signature` nor each other. */
typedef struct mm_rsa_call {
  size_t struct_size;
  mm_rsa_op op;
  mm_rsa_padding padding;
  size_t count;            /**< N; a call with 0 items does nothing */
  const uint32_t* key;     /**< N indices of keys in the ring; NULL: key 0 for every item */
  mm_bytes_view input;     /**< see mm_rsa_op */
  mm_bytes_view signature; /**< MM_RSA_VERIFY: the signatures */
  mm_bytes_result output;  /**< all operations but MM_RSA_VERIFY. Its stride is at least k of every key of the
                              call; `sizes` may be NULL except for MM_RSA_DECRYPT. The bytes after an item's
                              size are zeroed up to k, those of an item without a result up to the largest k
                              of the call's keys, or of the ring's if none of the call's keys exists */
  uint8_t* valid;          /**< MM_RSA_VERIFY: N bytes, 1 for a valid signature, else 0 */
  uint8_t* item_status;    /**< NULL, or N bytes that receive MM_OK or MM_ITEM_* */
  uint8_t* item_recomputed; /**< NULL, or N bytes: 1 if the CRT result failed its check and the item was
                               recomputed without CRT (its result is valid), else 0 */
  mm_progress_fn progress;  /**< NULL, or the progress callback */
  void* progress_user;      /**< passed to `progress` */
  size_t
      left_pad_signatures; /**< MM_RSA_VERIFY: nonzero: a signature shorter than k is the number that it would
                           be with zero bytes before it, as writers leave it that drop leading zeros */
} mm_rsa_call;

/**
 * Compute one call and return when it is complete. Several threads may run calls on one ring.
 *
 * Item statuses: MM_ITEM_RSA_KEY (the ring has no such key, or a private operation names a public key);
 * MM_ITEM_RSA_LENGTH (the message or salt is too long for the key and padding, the digest or ciphertext has
 * the wrong length, or the key is too short for the padding); MM_ITEM_RSA_RANGE (the number is not below the
 * modulus); MM_ITEM_RSA_DECRYPTION (invalid OAEP padding, whatever is wrong with it); MM_ITEM_RSA_FAULT (two
 * computations failed their check: the hardware is defective, or a prime is not prime, see
 * MM_RSA_CHECK_PRIMES); MM_ITEM_RSA_PADDING (the key's mm_rsa_pss_limits exclude the call's operation,
 * padding, hash or salt length); MM_ITEM_NOT_COMPUTED. For MM_RSA_VERIFY a signature that is invalid for any
 * reason gives valid[i] = 0. Its status is MM_OK, or MM_ITEM_RSA_SIGNATURE_LENGTH if it does not have k
 * bytes; a call without other statuses still returns MM_OK. A missing key, a digest of the wrong length and a
 * padding that the key excludes have the statuses above.
 *
 * Every result s of a private operation is checked against s^e = m before it is written to the output;
 * docs/rsa.md states which faults that detects.
 *
 * A call that fails after it has begun (MM_ERR_MEMORY, MM_ERR_DEVICE, MM_ERR_CRYPTO) discards its results:
 * every item is MM_ITEM_NOT_COMPUTED. A cancelled call keeps the items that were finished.
 *
 * @param ring the ring
 * @param call the call, see mm_rsa_call
 * @return MM_OK; MM_ERR_ITEMS; MM_ERR_NULL; MM_ERR_ARGUMENT (an invalid struct_size, enum value, count,
 * offset, salt length or stride, or a scheme that the operation does not have); MM_ERR_OVERLAP;
 * MM_ERR_CANCELLED; MM_ERR_MEMORY; MM_ERR_DEVICE; MM_ERR_CRYPTO (libcrypto failed: no randomness, or an
 * unavailable hash)
 */
MM_API mm_status mm_rsa_run(mm_rsa_ring* ring, const mm_rsa_call* call);

/**
 * mm_rsa_run as an asynchronous call, a job of manymod.h like those of mm_plan_submit: the arrays that *call
 * points to, the label and the keys' indices among them, and the ring must remain unchanged until the job
 * has ended.
 * @param ring the ring
 * @param call the call, which is copied
 * @param done NULL, or the completion callback; it may destroy the job
 * @param user passed to `done`
 * @param job  receives the job, which the caller destroys; NULL on failure
 * @return as mm_plan_submit
 */
MM_API mm_status mm_rsa_submit(mm_rsa_ring* ring, const mm_rsa_call* call, mm_done_fn done, void* user,
                               mm_job** job);

#ifdef __cplusplus
}
#endif
#endif
