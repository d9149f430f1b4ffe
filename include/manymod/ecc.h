/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file ecc.h
 * @brief C ABI of manymod: elliptic curves on many items at once: signatures (ECDSA, EdDSA, BIP 340, SM2),
 * key agreement (ECDH, X25519, X448), and the bare arithmetic of points.
 *
 * A call computes one operation on N items, which may have one key or a key each, and curves of their own.
 * Numbers and points are byte strings in the encodings of each curve's standard, see mm_ecc_call.
 *
 * Errors, struct sizes, ownership and thread safety follow the conventions of manymod.h; several calls may
 * run on one plan at once.
 *
 * Timing. Private keys, nonces, shared secrets and scalars that are not said to be public are secret:
 * branches and memory accesses do not depend on them. Public are public keys, signatures, messages, statuses,
 * and the sizes of everything. docs/ecc.md states what is covered, zeroed and checked, and what is not.
 *
 * A library built without libcrypto returns MM_ERR_UNSUPPORTED from every function here that returns a
 * status.
 */
#ifndef MANYMOD_ECC_H
#define MANYMOD_ECC_H

#include "manymod/bytes.h"
#include "manymod/manymod.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @return 1 if this build supports curves, 0 if it was built without libcrypto */
MM_API int mm_ecc_supported(void);

/* ---- curves ----------------------------------------------------------------------------------------- */

/** A curve: a short Weierstrass curve y^2 = x^3 + a x + b, a twisted Edwards curve a x^2 + y^2 = 1 + b x^2
 * y^2, or a Montgomery curve v^2 = u^3 + a u^2 + u, over a prime field. Immutable. */
typedef struct mm_ecc_curve mm_ecc_curve;

typedef enum mm_ecc_form { MM_ECC_WEIERSTRASS = 0, MM_ECC_EDWARDS = 1, MM_ECC_MONTGOMERY = 2 } mm_ecc_form;

/** Range of the size of a field, in bits, of curves that mm_ecc_curve_create accepts. */
#define MM_ECC_MIN_BITS 3
#define MM_ECC_MAX_BITS 640

/**
 * A named curve: "P-256", "P-384", "P-521", "secp256k1", "SM2", "brainpoolP256r1", "brainpoolP384r1",
 * "brainpoolP512r1", "BN254", "BLS12-381" (the last two: their groups G1), "Ed25519", "X25519", "Ed448",
 * "X448", and the other names of the standards, such as "secp256r1" and "prime256v1".
 * @param name the name, or NULL
 * @return the curve, which lives as long as the library; NULL if there is none of this name
 */
MM_API const mm_ecc_curve* mm_ecc_curve_find(const char* name);
/**
 * The named curves, in the order in which mm_ecc_curve_find lists them.
 * @param index 0, 1, ..
 * @return the curve, which lives as long as the library; NULL for index >= their number
 */
MM_API const mm_ecc_curve* mm_ecc_curve_at(size_t index);

/** The numbers of a curve, unsigned and big-endian. Zero-initialise it, then set struct_size. */
typedef struct mm_ecc_curve_numbers {
  size_t struct_size;
  mm_ecc_form form;
  mm_bytes p;        /**< the prime of the field */
  mm_bytes a, b;     /**< the coefficients, see mm_ecc_curve; below p. b is empty for Montgomery curves */
  mm_bytes x, y;     /**< the generator; y is empty for Montgomery curves */
  mm_bytes n;        /**< the generator's order, an odd prime other than p */
  mm_bytes cofactor; /**< the number of points is n cofactor; empty: 1 */
} mm_ecc_curve_numbers;

/**
 * Create a curve of the caller's own. Weierstrass and Edwards curves only, Edwards curves complete (a a
 * square and b none). Checked: p and n are prime, the curve is not singular, the generator is on it and has
 * order n, n cofactor is within Hasse's bounds.
 * @param numbers what the curve consists of, which is copied; not NULL. Fields of MM_ECC_MIN_BITS to
 * MM_ECC_MAX_BITS bits
 * @param curve   receives the curve, which the caller destroys; NULL on failure
 * @return MM_OK; MM_ERR_KEY if a check fails, which mm_last_error() names; MM_ERR_NULL, MM_ERR_ARGUMENT,
 * MM_ERR_MEMORY, MM_ERR_CRYPTO
 */
MM_API mm_status mm_ecc_curve_create(const mm_ecc_curve_numbers* numbers, mm_ecc_curve** curve);
/**
 * Destroy a curve of mm_ecc_curve_create. Plans keep what they need of it.
 * @param curve the curve; NULL and named curves are ignored
 */
MM_API void mm_ecc_curve_destroy(mm_ecc_curve* curve);

/** Properties of a curve. */
typedef struct mm_ecc_curve_info {
  size_t struct_size; /**< set by the caller to sizeof(mm_ecc_curve_info); no more bytes are written */
  const char* name;   /**< "" for the caller's own; lives as long as the curve */
  mm_ecc_form form;
  size_t field_bits;       /**< of p */
  size_t order_bits;       /**< of n */
  size_t coordinate_bytes; /**< of a coordinate */
  size_t scalar_bytes;     /**< of a scalar and of r and s */
  size_t secret_bytes;     /**< of a private key */
  size_t public_bytes;     /**< of the longest encoding of a point, and of a public key */
  size_t signature_bytes;  /**< of a signature r || s, or of EdDSA; 0 for Montgomery curves */
} mm_ecc_curve_info;

/**
 * Describe a curve.
 * @param curve the curve
 * @param info  receives the description
 * @return MM_OK; MM_ERR_NULL; MM_ERR_ARGUMENT for an invalid struct_size
 */
MM_API mm_status mm_ecc_curve_get_info(const mm_ecc_curve* curve, mm_ecc_curve_info* info);

/* ---- keys ------------------------------------------------------------------------------------------- */

/** A private or public key read from an encoding. Private numbers are zeroed when it is destroyed. */
typedef struct mm_ecc_key mm_ecc_key;

/** Options of mm_ecc_key_decode. Zero-initialise them, then set struct_size. */
typedef struct mm_ecc_decode_options {
  size_t struct_size;
  mm_bytes password; /**< of an encrypted private key; data NULL: no password */
  int public_only; /**< nonzero: the first public key or certificate, else the private key if there is one */
} mm_ecc_decode_options;

/**
 * Read a key from PEM or DER, parsed by libcrypto: SEC 1 (EC PRIVATE KEY), PKCS#8 (also encrypted, and with
 * Ed25519, X25519, Ed448, X448), SubjectPublicKeyInfo or an X.509 certificate, whose signature and dates are
 * not checked. Named curves only.
 * @param encoded at most INT_MAX bytes
 * @param options NULL for the defaults
 * @param key     receives the key, which the caller destroys; NULL on failure
 * @return MM_OK; MM_ERR_KEY if no such key can be read: mm_last_error() then says what was found;
 * MM_ERR_NULL, MM_ERR_ARGUMENT, MM_ERR_MEMORY, MM_ERR_CRYPTO
 */
MM_API mm_status mm_ecc_key_decode(mm_bytes encoded, const mm_ecc_decode_options* options, mm_ecc_key** key);

/** What a key has. The bytes live as long as the key. */
typedef struct mm_ecc_key_info {
  size_t struct_size; /**< set by the caller to sizeof(mm_ecc_key_info); no more bytes are written */
  const mm_ecc_curve* curve;
  mm_bytes secret;       /**< as mm_ecc_call takes it; size 0 for a public key */
  mm_bytes public_bytes; /**< SEC 1 uncompressed, or the key of EdDSA, X25519 and X448 */
} mm_ecc_key_info;

/**
 * Describe a key.
 * @param key  the key
 * @param info receives the description
 * @return MM_OK; MM_ERR_NULL; MM_ERR_ARGUMENT for an invalid struct_size
 */
MM_API mm_status mm_ecc_key_get_info(const mm_ecc_key* key, mm_ecc_key_info* info);
/**
 * Destroy a key and zero its private numbers.
 * @param key the key, or NULL
 */
MM_API void mm_ecc_key_destroy(mm_ecc_key* key);

/* ---- plans ------------------------------------------------------------------------------------------ */

/** Curves placed on a device, with the data precomputed for each of them. */
typedef struct mm_ecc_plan mm_ecc_plan;

/** Options of mm_ecc_plan_create. Zero-initialise them, then set struct_size. */
typedef struct mm_ecc_plan_options {
  size_t struct_size;
  const char* device;  /**< as in mm_plan_options: NULL or "auto", "cpu", "cuda", "cuda:K" or of OpenCL */
  const char* variant; /**< NULL, or the name of a variant, as in mm_ecc_variant_at, that must be used */
  unsigned threads;    /**< CPU threads of one call, at most 1024; 0: mm_get_threads() */
} mm_ecc_plan_options;

/**
 * Create a plan for some curves.
 * @param curves  `count` curves, which may be destroyed before the plan; none may be NULL
 * @param count   number of curves, at least 1
 * @param options NULL for the defaults
 * @param plan    receives the plan, which the caller destroys; NULL on failure
 * @return MM_OK; MM_ERR_UNKNOWN_VARIANT; MM_ERR_UNUSABLE_VARIANT; MM_ERR_UNKNOWN_DEVICE; MM_ERR_DEVICE if
 * every device that `device` names fails; MM_ERR_NULL, MM_ERR_ARGUMENT, MM_ERR_MEMORY
 */
MM_API mm_status mm_ecc_plan_create(const mm_ecc_curve* const* curves, size_t count,
                                    const mm_ecc_plan_options* options, mm_ecc_plan** plan);
/**
 * Name of the variant that computes items of a curve.
 * @param plan  the plan, or NULL
 * @param curve index of the curve in the plan
 * @return a string that is valid as long as the plan; "" for NULL and for a curve that the plan does not
 * have
 */
MM_API const char* mm_ecc_plan_variant(const mm_ecc_plan* plan, size_t curve);
/**
 * Destroy a plan. None of its calls may be running.
 * @param plan the plan, or NULL
 */
MM_API void mm_ecc_plan_destroy(mm_ecc_plan* plan);

/**
 * Names of the variants of point arithmetic that this build has, fastest first, whether or not this machine
 * can run them.
 * @param index 0, 1, ..
 * @return a static string; NULL for index >= their number
 */
MM_API const char* mm_ecc_variant_at(size_t index);
/**
 * Whether this machine can run a variant, and the variant can compute a curve.
 * @param variant its name
 * @param curve   the curve
 * @return 1 or 0; 0 for unknown names and for NULL
 */
MM_API int mm_ecc_variant_usable(const char* variant, const mm_ecc_curve* curve);

/* ---- rings of keys ---------------------------------------------------------------------------------- */

/** Private keys, each with what its signatures need besides: its public key, and with EdDSA the digest of the
 * key. A call that gets its keys from a ring does not compute these for each item, which saves EdDSA, BIP 340
 * and SM2 up to half of the time of a signature; and it takes an index for each item in the place of a key.
 * Immutable, so that several calls may use a ring at once. */
typedef struct mm_ecc_ring mm_ecc_ring;

/** The keys of a ring. Zero-initialise it, then set struct_size. */
typedef struct mm_ecc_ring_keys {
  size_t struct_size;
  size_t count;          /**< of keys, at least 1 */
  const uint32_t* curve; /**< `count` indices of curves in the plan; NULL: curve 0 for every key */
  mm_bytes_view secret;  /**< private keys as in mm_ecc_call */
  uint8_t* item_status;  /**< NULL, or `count` bytes that receive MM_OK or MM_ITEM_* if a ring is made */
} mm_ecc_ring_keys;

/**
 * Copy private keys into a ring and compute what their signatures need besides: the public keys on Edwards
 * curves, on secp256k1 and on SM2, each twice. Timing: constant-time.
 *
 * Statuses of keys: MM_ITEM_ECC_CURVE (the plan has no such curve), MM_ITEM_ECC_SECRET (not a private key),
 * MM_ITEM_ECC_FAULT (the two computations differ: the hardware is defective). Calls give it to items that
 * name such a key.
 *
 * @param plan computes. It may be destroyed before the ring, which calls on any plan of the same curves in
 * the same order may use
 * @param keys the keys, which are copied
 * @param ring receives the ring, which the caller destroys, also if the function returns MM_ERR_ITEMS; NULL
 * on any other failure
 * @return MM_OK; MM_ERR_ITEMS if some keys are none; MM_ERR_NULL; MM_ERR_ARGUMENT; MM_ERR_MEMORY;
 * MM_ERR_DEVICE; MM_ERR_CRYPTO
 */
MM_API mm_status mm_ecc_ring_create(mm_ecc_plan* plan, const mm_ecc_ring_keys* keys, mm_ecc_ring** ring);
/**
 * Destroy a ring and zero its keys. None of the calls that use it may be running.
 * @param ring the ring, or NULL
 */
MM_API void mm_ecc_ring_destroy(mm_ecc_ring* ring);

/* ---- calls ------------------------------------------------------------------------------------------ */

/** Operations. "Weierstrass" and the other forms: the operation is for curves of this form. */
typedef enum mm_ecc_op {
  MM_ECC_PUBLIC_KEY = 0, /**< secret -> output: the public key */
  MM_ECC_SIGN = 1,       /**< secret, message -> output: a signature */
  MM_ECC_VERIFY = 2,     /**< point (the public key), message, signature -> ok */
  MM_ECC_VERIFY_ALL =
      3,              /**< the same with one answer for all items, ok[0]: EdDSA and BIP 340 by a random linear
                         combination, others item by item. A wrong batch passes with a probability below
                         2^-120. EdDSA: the policy must be MM_ECC_ZIP215, whose equation has the cofactor */
  MM_ECC_RECOVER = 4, /**< message, signature with its recovery id (ECDSA) -> output: the public key */
  MM_ECC_EXCHANGE = 5, /**< secret, point -> output: the shared secret: the x coordinate (ECDH, SEC 1), or u
                          (RFC 7748), of coordinate_bytes bytes, or its digest by `hash` */
  MM_ECC_MULTIPLY = 6, /**< secret (a scalar: any number of scalar_bytes bytes, also n or more; little-endian
                          on Edwards curves), point or none (the generator) -> output: a point, also for
                          points outside of the generator's group. Weierstrass, Edwards */
  MM_ECC_ADD = 7,      /**< point + second -> output: a point. Public. Weierstrass, Edwards */
  MM_ECC_POINT = 8, /**< point -> output: the same point in the call's point_format, once it was checked to be
                       on the curve: compression, decompression, validation. Public */
  MM_ECC_SUM = 9,   /**< the sum of secret_i point_i over all items, scalars and points as those of
                      MM_ECC_MULTIPLY -> output[0], a point. Public: the scalars too. All items have one
                      curve, and every item must be valid */
  MM_ECC_SM2_EXCHANGE = 10 /**< GB/T 32918.3, on the curve SM2: secret, nonce (the own ephemeral private key,
                              with MM_ECC_NONCE_GIVEN), point and second (the other side's public key and
                              ephemeral public key), context and peer_context (the ids) -> output: a key of
                              key_bytes bytes, and if `confirm` is nonzero two digests of 32 bytes behind it:
                              that which the responder sends and that which the initiator sends */
} mm_ecc_op;
#define MM_ECC_OP_COUNT 11

/** Signature schemes. */
typedef enum mm_ecc_scheme {
  MM_ECC_DEFAULT = 0, /**< ECDSA, EdDSA or SM2, by the curve */
  MM_ECC_ECDSA = 1,   /**< FIPS 186-5; Weierstrass */
  MM_ECC_EDDSA = 2,   /**< RFC 8032: Ed25519 and Ed448 by the curve; `context` and `prehashed` select the
                         variants ctx and ph */
  MM_ECC_BIP340 = 3,  /**< Schnorr signatures on secp256k1; public keys of 32 bytes (x alone) */
  MM_ECC_SM2DSA = 4   /**< GB/T 32918.2; on the curve SM2, with `context` as the signer's id */
} mm_ecc_scheme;

/** Where the nonces of signatures come from. EdDSA and BIP 340 have rules of their own: EdDSA's nonces are
 * always derived. With BIP 340 this is the standard's auxiliary randomness: zeros, fresh, or 32 bytes of
 * `nonce`. */
typedef enum mm_ecc_nonces {
  MM_ECC_NONCE_DETERMINISTIC = 0, /**< RFC 6979, with the call's hash */
  MM_ECC_NONCE_HEDGED = 1,        /**< RFC 6979, section 3.6, with fresh randomness besides: against faults */
  MM_ECC_NONCE_GIVEN = 2          /**< `nonce`: numbers 0 < k < n that the caller vows never to use twice */
} mm_ecc_nonces;

/** Which Ed25519 and Ed448 signatures are valid: docs/ecc.md has the table. S >= n is always rejected, and
 * the bytes as they were given are hashed. */
typedef enum mm_ecc_policy {
  MM_ECC_RFC8032 = 0, /**< canonical A and R, cofactorless equation, small orders allowed: as RFC 8032 and
                       * Ed25519 of OpenSSL */
  MM_ECC_STRICT = 1,  /**< the same, and A and R of small order rejected */
  MM_ECC_ZIP215 = 2   /**< ZIP 215: non-canonical encodings allowed, cofactored equation: the only policy for
                         which  one item and many give the same answer */
} mm_ecc_policy;

/** Encodings of ECDSA and SM2 signatures. */
typedef enum mm_ecc_signature_format {
  MM_ECC_RAW = 0,        /**< r || s, scalar_bytes each, big-endian (IEEE P1363) */
  MM_ECC_DER = 1,        /**< SEQUENCE of two INTEGERs, DER and nothing else */
  MM_ECC_RECOVERABLE = 2 /**< r || s || id, the recovery id 0 .. 3 in a byte; ECDSA */
} mm_ecc_signature_format;

/** Encodings of points that are written. Points that are read may have the first two; x alone is read with
 * BIP 340 only. */
typedef enum mm_ecc_point_format {
  MM_ECC_UNCOMPRESSED = 0, /**< SEC 1: 4 || x || y. Edwards, Montgomery: their only encoding */
  MM_ECC_COMPRESSED = 1,   /**< SEC 1: 2 or 3 || x */
  MM_ECC_X_ONLY = 2        /**< x, as BIP 340 */
} mm_ecc_point_format;

/**
 * A call on a plan. Zero-initialise it, then set struct_size = sizeof(mm_ecc_call). Members that the
 * operation does not use must be 0.
 *
 * Private keys are scalars 0 < d < n, big-endian of scalar_bytes bytes; for EdDSA, X25519 and X448 the
 * strings of RFC 8032 and RFC 7748. Points are as in SEC 1, the point at infinity a single zero byte; hybrid
 * encodings are read if their parity is right; for
 * Edwards and Montgomery curves as in RFC 8032 and RFC 7748; with BIP 340 x alone.
 *
 * What a call writes, the bytes and sizes of `output`, `ok` and `item_status`, overlaps neither its inputs
 * nor each other.
 */
typedef struct mm_ecc_call {
  size_t struct_size;
  mm_ecc_op op;
  mm_ecc_scheme scheme;
  size_t count; /**< N; of a call with 0 items only `op` and `scheme` are checked, and it does nothing,
                   but MM_ECC_VERIFY_ALL says yes */
  const uint32_t* curve; /**< N indices of curves in the plan; NULL: curve 0 for every item */
  mm_bytes_view secret;
  mm_bytes_view point;
  mm_bytes_view second;
  mm_bytes_view message; /**< messages, or digests if `prehashed` */
  mm_bytes_view signature;
  mm_bytes_view nonce;   /**< MM_ECC_NONCE_GIVEN */
  mm_bytes_view context; /**< EdDSA: at most 255 bytes; SM2: the signer's id, size 0: "1234567812345678" */
  mm_hash hash;  /**< of messages, of RFC 6979 and of MM_ECC_EXCHANGE. MM_HASH_NONE: for signatures the usual
                    one (SM2: SM3, else by order_bits: SHA-256 to 256, SHA-384 to 384, SHA-512), none for
                    MM_ECC_EXCHANGE. EdDSA and BIP 340 have their own */
  int prehashed; /**< nonzero: `message` has digests. EdDSA: Ed25519ph, Ed448ph. ECDSA: of any length, which
                    is not compared with that of `hash`; of those longer than n the leftmost bits */
  mm_ecc_nonces nonces;
  mm_ecc_policy policy;
  mm_ecc_signature_format signature_format;
  mm_ecc_point_format point_format;
  int low_s;    /**< ECDSA: whether only s <= n / 2 is signed and accepted: positive: yes; negative: no; 0: as
                 is the curve's custom, yes on secp256k1 and no on the others */
  int no_check; /**< signing: nonzero: signatures leave without having been checked. By default those with
                   deterministic nonces are, by the equation of verification for the public key d G, since a
                   fault would reveal the key */
  mm_bytes_view peer_context; /**< MM_ECC_SM2_EXCHANGE: the other side's id, as `context` */
  size_t key_bytes;           /**< MM_ECC_SM2_EXCHANGE: 1 .. 65536 */
  int responder;              /**< MM_ECC_SM2_EXCHANGE: nonzero: this side did not send the first message */
  int confirm;                /**< MM_ECC_SM2_EXCHANGE, see there */
  mm_bytes_result output;
  uint8_t* ok; /**< MM_ECC_VERIFY: N bytes, 1 for a valid signature, else 0; MM_ECC_VERIFY_ALL: one byte */
  uint8_t* item_status;    /**< NULL, or N bytes that receive MM_OK or MM_ITEM_* */
  mm_progress_fn progress; /**< NULL, or the progress callback */
  void* progress_user;     /**< passed to `progress` */
  const mm_ecc_ring* ring; /**< MM_ECC_SIGN, MM_ECC_EXCHANGE, MM_ECC_SM2_EXCHANGE: NULL, or the keys, in the
                              place of `secret` and `curve` */
  const uint32_t* key;     /**< N indices of keys in `ring`; NULL: key 0 for every item */
} mm_ecc_call;

/**
 * Compute one call and return when it is complete.
 *
 * Item statuses: MM_ITEM_ECC_CURVE (the plan has no such curve, the ring has no such key, or the operation
 * or scheme does not suit the curve);
 * MM_ITEM_ECC_SECRET (a private key or nonce is 0, n or more, or has a wrong length); MM_ITEM_ECC_POINT (a
 * point is not an encoding of a point of the curve, or is infinity where that is no key, or the result is
 * infinity, which MM_ECC_X_ONLY cannot encode: with MM_ECC_SUM every item then has this status);
 * MM_ITEM_ECC_SMALL_ORDER (the shared secret would be infinity or 0); MM_ITEM_ECC_SIGNATURE (not a
 * signature's encoding: wrong length, DER that is not canonical, r or s out of range); MM_ITEM_ECC_LENGTH (a
 * digest, a context or the auxiliary randomness of BIP 340 has a wrong length); MM_ITEM_ECC_NONCE (the nonce
 * gives r = 0 or s = 0, use another); MM_ITEM_ECC_FAULT (the signature failed its check, or the key
 * of the ring is not what it was: the hardware is defective); MM_ITEM_ECC_NO_KEY (MM_ECC_RECOVER: no key has
 * this signature); MM_ITEM_NOT_COMPUTED.
 *
 * For MM_ECC_VERIFY a signature that is invalid for any reason gives ok[i] = 0: a bad public key has the
 * status MM_ITEM_ECC_POINT, a bad encoding of the signature MM_ITEM_ECC_SIGNATURE. These two do not make the
 * call fail; any other status than them and MM_OK does, with MM_ERR_ITEMS.
 *
 * @param plan the plan
 * @param call the call, see mm_ecc_call
 * @return MM_OK; MM_ERR_ITEMS; MM_ERR_NULL; MM_ERR_ARGUMENT; MM_ERR_OVERLAP; MM_ERR_CANCELLED; MM_ERR_MEMORY;
 * MM_ERR_DEVICE; MM_ERR_CRYPTO
 */
MM_API mm_status mm_ecc_run(mm_ecc_plan* plan, const mm_ecc_call* call);

/**
 * The least stride of a call's output: the length of the longest result on the curves that it names.
 * @param plan  the plan
 * @param call  the call, of which only the options, `count`, `curve`, `ring` and `key` are read
 * @param bytes receives the length; 0 for verifications
 * @return MM_OK; MM_ERR_NULL; MM_ERR_ARGUMENT for options that mm_ecc_run would refuse
 */
MM_API mm_status mm_ecc_result_bytes(const mm_ecc_plan* plan, const mm_ecc_call* call, size_t* bytes);

/**
 * mm_ecc_run as an asynchronous call, as mm_rsa_submit.
 * @param plan the plan, which must remain until the job has ended
 * @param call the call, which is copied; its arrays must remain unchanged until the job has ended
 * @param done NULL, or the completion callback; it may destroy the job
 * @param user passed to `done`
 * @param job  receives the job, which the caller destroys; NULL on failure
 * @return as mm_plan_submit
 */
MM_API mm_status mm_ecc_submit(mm_ecc_plan* plan, const mm_ecc_call* call, mm_done_fn done, void* user,
                               mm_job** job);

#ifdef __cplusplus
}
#endif
#endif
