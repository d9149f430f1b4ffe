/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file manymod.h
 * @brief C ABI of manymod: modular arithmetic on many independent big integers at once.
 *
 * Canonical form. A batch of integers is a C-contiguous array uint64_t[count][width] of little-endian
 * limbs: item i is  sum_j limbs[i*stride + j] * 2^(64 j),  0 <= j < width.  An optional byte array
 * `negative` carries signs. Integers may be wider than the modulus; they are reduced.
 *
 * Semantics are those of Python's `%` and `pow`: a result r has the sign of its modulus n and |r| < |n|,
 * a negative exponent means the inverse, x^0 = 1 mod n, everything mod 1 is 0.
 *
 * Errors. A call returns MM_OK, MM_ERR_ITEMS (the call ran; some items carry a status, the others are
 * right) or another MM_ERR_* (nothing usable was written). mm_last_error() explains the last failure on
 * the calling thread. Nothing here prints, aborts or lets a C++ exception out.
 *
 * Struct sizes. Structs that begin with struct_size may grow at their end. A program built with an older or
 * newer header runs on: what an older struct lacks is 0, what a newer one has more is neither read nor
 * written.
 *
 * Threads. All functions may be called from several threads at once; one plan may run several calls at once.
 */
#ifndef MANYMOD_MANYMOD_H
#define MANYMOD_MANYMOD_H

#include <stddef.h>
#include <stdint.h>

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

#define MM_VERSION_MAJOR 0
#define MM_VERSION_MINOR 1
#define MM_VERSION_PATCH 0

/** Widest modulus, in bits. Bases and exponents may be wider. */
#define MM_MAX_MODULUS_BITS 16384

/** Outcome of a call (MM_OK, MM_ERR_*) or of one item (MM_OK, MM_ITEM_*). */
typedef enum mm_status {
  MM_OK = 0,
  /* of an item; its result is 0 */
  MM_ITEM_ZERO_MODULUS = 1,     /**< modulus is 0 */
  MM_ITEM_NOT_INVERTIBLE = 2,   /**< inverse needed, gcd(x, modulus) != 1 */
  MM_ITEM_EVEN_MODULUS = 3,     /**< timing class secret needs an odd modulus */
  MM_ITEM_MODULUS_TOO_WIDE = 4, /**< modulus above MM_MAX_MODULUS_BITS or above the plan's modulus_bits */
  MM_ITEM_NOT_COMPUTED = 5,     /**< the call was cancelled before this item */
  /* of an item of an RSA call (rsa.h) */
  MM_ITEM_RSA_KEY = 6,        /**< no such key in the ring, or a public key for a private operation */
  MM_ITEM_RSA_LENGTH = 7,     /**< message, digest, salt or ciphertext of a wrong length for key, padding */
  MM_ITEM_RSA_RANGE = 8,      /**< the number is not below the modulus */
  MM_ITEM_RSA_DECRYPTION = 9, /**< decryption failed */
  MM_ITEM_RSA_FAULT = 10,     /**< computed wrongly, twice: defective hardware, or p or q is no prime */
  /* of a call */
  MM_ERR_ITEMS = 64,           /**< at least one item has a status other than MM_OK */
  MM_ERR_NULL = 65,            /**< a required pointer is NULL */
  MM_ERR_ARGUMENT = 66,        /**< a size, count, enum value or struct_size is wrong */
  MM_ERR_OVERLAP = 67,         /**< the result overlaps an operand without being exactly the same array */
  MM_ERR_MEMORY = 68,          /**< out of memory */
  MM_ERR_CANCELLED = 69,       /**< the progress callback or mm_job_cancel asked to stop; unfinished items are
                                  MM_ITEM_NOT_COMPUTED */
  MM_ERR_UNKNOWN_VARIANT = 70, /**< no variant of that name; mm_last_error() lists what there is */
  MM_ERR_UNUSABLE_VARIANT =
      71, /**< the variant cannot run here, or not this operation, width or timing class */
  MM_ERR_UNKNOWN_DEVICE = 72, /**< no such device, or none of that kind was found */
  MM_ERR_INTERNAL = 73,       /**< a bug in manymod */
  MM_ERR_TUNING = 74,         /**< a tuning file is missing or malformed; mm_last_error() names the line */
  MM_ERR_DEVICE = 75,         /**< a CUDA device or its driver failed; mm_last_error() names the call */
  MM_ERR_UNSUPPORTED = 76,    /**< this build lacks what the function needs; mm_last_error() names it */
  MM_ERR_KEY = 77,            /**< no usable RSA key; mm_last_error() says why */
  MM_ERR_CRYPTO = 78          /**< libcrypto failed; mm_last_error() names the call */
} mm_status;

typedef enum mm_op {
  MM_OP_ADDMOD = 0,           /**< x + y mod n */
  MM_OP_SUBMOD = 1,           /**< x - y mod n */
  MM_OP_NEGMOD = 2,           /**< -x mod n */
  MM_OP_MULMOD = 3,           /**< x * y mod n */
  MM_OP_SQRMOD = 4,           /**< x^2 mod n */
  MM_OP_POWMOD = 5,           /**< x^y mod n, y of any sign */
  MM_OP_INVMOD = 6,           /**< x^-1 mod n */
  MM_OP_MULTI_POWMOD = 7,     /**< prod_{t < terms} x_t^(y_t) mod n */
  MM_OP_FIXED_BASE_POWMOD = 8 /**< g^y mod n with a precomputed comb of g (mm_fixed_base) */
} mm_op;
#define MM_OP_COUNT 9

/**
 * Timing class. In class secret, time and memory access depend on public sizes alone: the widths of the
 * arrays, the signs, and the bit length and parity of the modulus. Values do not matter otherwise.
 */
typedef enum mm_timing { MM_TIMING_PUBLIC = 0, MM_TIMING_SECRET = 1 } mm_timing;

typedef enum mm_modulus_kind {
  MM_MODULUS_EACH = 0,  /**< one modulus per item */
  MM_MODULUS_SHARED = 1 /**< one modulus for the batch, prepared once and kept in the plan */
} mm_modulus_kind;

/** Read-only batch. count is 1 (the same integer for every item) or the batch size; width >= 1; stride >=
 * width. */
typedef struct mm_view {
  const uint64_t* limbs;
  size_t count;
  size_t width;            /**< limbs per item */
  size_t stride;           /**< limbs from one item to the next; 0 means width */
  const uint8_t* negative; /**< NULL: no item is negative; else `count` bytes, nonzero for a negative item */
} mm_view;

/** Result batch. width >= width of the modulus view. `negative` may be NULL unless the modulus view has
 * signs. */
typedef struct mm_result {
  uint64_t* limbs;
  size_t count;
  size_t width;
  size_t stride;
  uint8_t* negative;
} mm_result;

/**
 * Called on the calling thread about ten times a second while a call runs. Return 0 to go on, anything else
 * to stop: the call returns MM_ERR_CANCELLED within a fraction of a second. Short calls may never call it.
 */
typedef int (*mm_progress_fn)(size_t items_done, size_t items_total, void* user);

/** Arrays of a call that may be in the memory of a CUDA device, see mm_call.on_device. What is said of an
 * array that the operation does not use does not count. */
typedef enum mm_on_device {
  MM_ON_DEVICE_X = 1,
  MM_ON_DEVICE_Y = 2,
  MM_ON_DEVICE_MODULUS = 4,
  MM_ON_DEVICE_RESULT = 8
} mm_on_device;

/** A call on a plan. Zero-initialise, then set struct_size = sizeof(mm_call). */
typedef struct mm_call {
  size_t struct_size;
  size_t count; /**< N, the batch size; 0 is allowed and does nothing */
  size_t terms; /**< MM_OP_MULTI_POWMOD: terms of each product (0 terms give 1); else 0 */
  mm_view x;    /**< first operand or base. MULTI_POWMOD: N*terms items, item-major, or `terms` shared by all
                   items */
  mm_view y;    /**< second operand or exponent. MULTI_POWMOD: as x */
  mm_view modulus;      /**< N items, or 1 */
  mm_result result;     /**< N items. May be the same array as x, y or modulus, else must not overlap them */
  uint8_t* item_status; /**< NULL, or N bytes that receive MM_OK or MM_ITEM_* */
  mm_progress_fn progress; /**< NULL, or see above */
  void* progress_user;
  unsigned on_device; /**< MM_ON_DEVICE_* of the arrays whose limbs are in the memory of a CUDA device, where
                         they are used in place; the other arrays are in the host's. They have no signs:
                         `negative` is NULL, and with MM_ON_DEVICE_RESULT no modulus may be negative. All
                         operations and moduli are served, whatever the plan's device */
  unsigned device_index; /**< of that device: 1 for "cuda:1" */
  void* stream; /**< CUstream (cudaStream_t) of that device whose earlier work makes the operands; NULL: the
                   legacy default stream. The results are there when the call returns */
} mm_call;

/** What a plan is made for. Zero-initialise, then set struct_size = sizeof(mm_plan_options). */
typedef struct mm_plan_options {
  size_t struct_size;
  mm_op op;
  mm_timing timing;
  mm_modulus_kind modulus_kind;
  size_t modulus_bits; /**< widest modulus, 1..MM_MAX_MODULUS_BITS; narrower moduli are welcome (bucketed
                          inside) */
  const char* device;  /**< NULL or "auto", "cpu", "cuda" (all GPUs that can), "cuda:K" (that one) */
  const char* variant; /**< NULL: environment MANYMOD_VARIANT if set, else the dispatcher's choice */
  unsigned threads;    /**< CPU threads for this plan, at most 1024; 0: mm_get_threads() */
} mm_plan_options;

typedef struct mm_plan mm_plan;

/** Make a plan: resolves its variants once. @return MM_OK and *plan, or an error and *plan = NULL. */
MM_API mm_status mm_plan_create(const mm_plan_options* options, mm_plan** plan);
/** Run one call. With MM_MODULUS_SHARED the precomputation of the last modulus is kept and reused. */
MM_API mm_status mm_plan_run(mm_plan* plan, const mm_call* call);
/** Name of the variant the plan uses for large batches, with moduli of its kind, e.g. "ifma52.avx512"; valid
 * as long as the plan. */
MM_API const char* mm_plan_variant(const mm_plan* plan);
/** The same for `items` items whose moduli have one number of limbs. Of more items than fill its vectors, the
 *  rest goes to the choice for as many as are left. Items that a variant does not accept (even moduli,
 *  negative exponents) go to one that does. A call of a plan for a modulus per item that has one modulus all
 * the same may use another variant (see mm_variant_info.shared_modulus_ops). */
MM_API const char* mm_plan_variant_for(const mm_plan* plan, size_t items);
/** Destroy a plan (NULL is allowed); precomputed data is zeroed. */
MM_API void mm_plan_destroy(mm_plan* plan);

/**
 * A call that runs on a thread of the library's own.
 *
 * Jobs begin in the order of their submission, up to 8 at a time, and share the CPU threads of all calls. In
 * callbacks of jobs (progress and done) nothing waits for a job. A forked child has none of its parent's
 * jobs. When the process exits, jobs that have not begun are cancelled, those that run are asked to stop,
 * and exit() waits for these, 2 seconds at most.
 */
typedef struct mm_job mm_job;

/** Called once, when a job is over, with its outcome: on the job's thread or, where it was cancelled before
 * it began, on the thread that cancelled it. A C++ exception out of it is dropped. */
typedef void (*mm_done_fn)(mm_status status, void* user);

/**
 * Queue a call and return at once. *call is copied; the arrays that it names, and the plan, must stay as they
 * are until the job has ended. Its progress callback is called on the job's thread.
 * @param done NULL, or told when the job is over; may destroy the job
 * @return MM_OK and *job, to be destroyed by mm_job_destroy; or, with *job = NULL and nothing to follow,
 * MM_ERR_NULL, MM_ERR_ARGUMENT for a wrong struct_size, MM_ERR_MEMORY where memory or threads are short, or
 * MM_ERR_CANCELLED while the process exits. What else is wrong with the call is the job's outcome.
 */
MM_API mm_status mm_plan_submit(mm_plan* plan, const mm_call* call, mm_done_fn done, void* user,
                                mm_job** job);
/** 1 if the job has ended (its `done` has returned), else 0. Of a job of the parent's, in a forked child: 1.
 * Of NULL: 1. */
MM_API int mm_job_ended(const mm_job* job);
/** Wait until the job has ended. @return its outcome, as mm_plan_run's, explained by mm_last_error();
 * MM_ERR_ARGUMENT for a job that has not ended, in a callback of a job, and for one that had not when this
 * process was forked off. */
MM_API mm_status mm_job_wait(mm_job* job);
/** Ask the job to stop, as a progress callback would, within a fraction of a second; short calls may run to
 * their end. A job that has not begun is over at once: its outcome is MM_ERR_CANCELLED, all its statuses are
 * MM_ITEM_NOT_COMPUTED, and nothing else was written. */
MM_API void mm_job_cancel(mm_job* job);
/** Wait until the job has ended, then destroy it (NULL is allowed). In a callback of a job, do not wait: the
 * job goes on without its handle. */
MM_API void mm_job_destroy(mm_job* job);

/** Powers of one base g modulo one n by a precomputed comb. */
typedef struct mm_fixed_base mm_fixed_base;

/** Options of mm_fixed_base_create. Zero-initialise, then set struct_size. */
typedef struct mm_fixed_base_options {
  size_t struct_size;
  mm_timing timing;     /**< of the exponents given later */
  size_t exponent_bits; /**< 1..2^20; exponents up to this length use the comb; wider ones still work
                           (public), but slower */
  const char* device;
  const char* variant;
  unsigned threads;        /**< CPU threads of mm_fixed_base_powmod, at most 1024; 0: mm_get_threads() */
  mm_progress_fn progress; /**< NULL, or called with (0, 1) about ten times a second during the creation */
  void* progress_user;
} mm_fixed_base_options;

/**
 * Precompute a comb for base (one item) and modulus (one item, odd or even in class public, odd in class
 * secret).
 * @return MM_OK; MM_ERR_ARGUMENT for a zero, too wide or (secret) even modulus; MM_ERR_CANCELLED if the
 *         progress callback asked to stop. In every case but MM_OK, *fixed_base = NULL.
 */
MM_API mm_status mm_fixed_base_create(const mm_fixed_base_options* options, const mm_view* base,
                                      const mm_view* modulus, mm_fixed_base** fixed_base);
/** result_i = g^(y_i) mod n for i < call->count; call->x and call->modulus are ignored. In class secret,
 *  y's width in bits must not exceed exponent_bits rounded up to whole limbs (else MM_ERR_ARGUMENT). */
MM_API mm_status mm_fixed_base_powmod(mm_fixed_base* fixed_base, const mm_call* call);
/** mm_fixed_base_powmod as a job, see mm_plan_submit. */
MM_API mm_status mm_fixed_base_submit(mm_fixed_base* fixed_base, const mm_call* call, mm_done_fn done,
                                      void* user, mm_job** job);
/** Name of the variant for large batches, or for `exponents` of them (not negative): the first call with a
 * number that has another variant makes a comb for it. Valid as long as *fixed_base. */
MM_API const char* mm_fixed_base_variant(const mm_fixed_base* fixed_base);
MM_API const char* mm_fixed_base_variant_for(const mm_fixed_base* fixed_base, size_t exponents);
MM_API void mm_fixed_base_destroy(mm_fixed_base* fixed_base);

/** CPU threads used by plans that do not say: default the CPUs this process may run on. */
MM_API unsigned mm_get_threads(void);
/** Set that number; 0 restores the default, above 1024 means 1024. @return the new number. */
MM_API unsigned mm_set_threads(unsigned threads);

typedef enum mm_backend { MM_BACKEND_CPU = 0, MM_BACKEND_CUDA = 1 } mm_backend;

/** One registered variant: technique + backend + shape. Strings live as long as the process. */
typedef struct mm_variant_info {
  size_t struct_size;    /**< set by the caller: sizeof(mm_variant_info); no more is written */
  const char* name;      /**< "scalar64.adx" */
  const char* technique; /**< "scalar64" */
  mm_backend backend;
  unsigned public_ops;           /**< bit (1 << mm_op) set: the operation is offered in timing class public */
  unsigned secret_ops;           /**< likewise for class secret */
  size_t min_bits, max_bits;     /**< modulus widths */
  unsigned instances;            /**< instances computed side by side by one thread or thread group */
  unsigned threads_per_instance; /**< 1 on CPUs; lanes of a group on GPUs */
  const char* needs;             /**< hardware it needs, "" for none: "bmi2 adx" */
  const char* summary;           /**< one line for people */
  int usable;                    /**< 1: can run here */
  const char* reason;            /**< why not, "" if usable */
  unsigned shared_modulus_ops;   /**< of its operations those that it computes only for several items with one
                                    modulus */
} mm_variant_info;

MM_API size_t mm_variant_count(void);
/** Fill *info. @return MM_OK, or MM_ERR_ARGUMENT for index >= mm_variant_count() or a wrong struct_size. */
MM_API mm_status mm_variant_get(size_t index, mm_variant_info* info);

/**
 * Use the rows of a tuning file (see docs/environment.md) in place of this build's own, for plans made from
 * now on; NULL for the build's own. Rows that name unknown variants are left out, see mm_tuning_info.notes.
 * @return MM_OK, or MM_ERR_TUNING for a file that is missing or malformed: all stays as it was.
 */
MM_API mm_status mm_tuning_load(const char* path);

/** The tuning table in use. Strings live as long as the process. */
typedef struct mm_tuning_info {
  size_t struct_size;    /**< set by the caller: sizeof(mm_tuning_info); no more is written */
  const char* source;    /**< path of its file, "" for this build's own rows alone */
  const char* processor; /**< where it was measured */
  const char* date;
  const char* notes; /**< what of the file was left out and why, a line each; "" for nothing */
  size_t rows;
} mm_tuning_info;

/** Fill *info. @return MM_OK, MM_ERR_ARGUMENT for a wrong struct_size, or MM_ERR_TUNING if MANYMOD_TUNING
 * names a bad file. */
MM_API mm_status mm_tuning_get_info(mm_tuning_info* info);

/** One row: of those that fit, in order, the first whose variant can run and which takes the number of items
 * is the choice. Strings live as long as the process. */
typedef struct mm_tuning_row {
  size_t struct_size; /**< set by the caller: sizeof(mm_tuning_row); no more is written */
  mm_op op;
  mm_timing timing;
  size_t min_bits, max_bits; /**< modulus widths */
  size_t min_items;          /**< least number of items, of a bucket or what is left of one */
  const char* variant;
  const char* evidence; /**< the measurement */
} mm_tuning_row;

/** Fill *row. @return MM_OK, MM_ERR_ARGUMENT for index >= mm_tuning_info.rows or a wrong struct_size, or
 *  MM_ERR_TUNING. Each call reads the table in use at that moment: if another thread may load one between
 *  mm_tuning_get_info and the last mm_tuning_get, rows may be of different tables, which a second
 *  mm_tuning_get_info shows (another `notes` pointer). What was returned stays valid. */
MM_API mm_status mm_tuning_get(size_t index, mm_tuning_row* row);

/** One device: the CPU (always first) or a GPU. Strings live as long as the process. */
typedef struct mm_device_info {
  size_t struct_size; /**< set by the caller: sizeof(mm_device_info); no more is written */
  const char* name;   /**< "cpu", "cuda:0" */
  const char* model;  /**< "Intel(R) Xeon(R) Processor" */
  mm_backend backend;
  const char* features;  /**< space-separated: "bmi2 adx avx2 avx512f avx512ifma"; ends with
                            "unknown-in-MANYMOD_HIDE_CPU:NAME" for each name there that is no feature; of a GPU
                            its compute capability: "sm_90" */
  unsigned units;        /**< CPUs this process may run on; multiprocessors of a GPU, 0 if unknown */
  uint64_t memory_bytes; /**< physical memory; 0 if unknown */
  const char* obstacle;  /**< why nothing can run on it, "" if it can be used */
} mm_device_info;

MM_API size_t mm_device_count(void);
/** Fill *info. @return MM_OK, or MM_ERR_ARGUMENT for index >= mm_device_count() or a wrong struct_size. */
MM_API mm_status mm_device_get(size_t index, mm_device_info* info);

/** What this build and this machine have of CUDA. Strings live as long as the process. */
typedef struct mm_cuda_info {
  size_t struct_size; /**< set by the caller: sizeof(mm_cuda_info); no more is written */
  int built;          /**< 1: the library has code for GPUs */
  const char* driver; /**< newest CUDA version that the NVIDIA driver serves: "13.0"; "" if none was found */
  const char* obstacle; /**< why there is no CUDA device, "" if there is one */
} mm_cuda_info;

/** Fill *info. @return MM_OK, or MM_ERR_ARGUMENT for a wrong struct_size. */
MM_API mm_status mm_cuda_get_info(mm_cuda_info* info);

/** Memory of CUDA device `device_index`, for programs that have no CUDA library of their own; 256-byte
 * aligned.
 * @return MM_OK, MM_ERR_MEMORY, MM_ERR_UNKNOWN_DEVICE or MM_ERR_DEVICE; in every case but MM_OK, and for 0
 * bytes, *address = NULL. */
MM_API mm_status mm_device_allocate(unsigned device_index, size_t bytes, void** address);
/** Zero and free it (NULL is allowed), once all work on the device is done. @return MM_ERR_ARGUMENT for an
 * address that mm_device_allocate did not return, else as there. */
MM_API mm_status mm_device_free(unsigned device_index, void* address);

typedef enum mm_copy_direction {
  MM_COPY_TO_DEVICE = 0, /**< from the host */
  MM_COPY_TO_HOST = 1,   /**< from the device */
  MM_COPY_ON_DEVICE = 2  /**< from the device to itself */
} mm_copy_direction;

/** Copy, on the legacy default stream; returns when it is done. Of the device's memory any part may be given,
 * whoever allocated it.
 * @return MM_ERR_ARGUMENT for an address that is not in the device's memory, else as mm_device_allocate. */
MM_API mm_status mm_device_copy(unsigned device_index, void* to, const void* from, size_t bytes,
                                mm_copy_direction direction);

/** Name of a status, e.g. "MM_ITEM_NOT_INVERTIBLE"; "MM_?" for an unknown value. */
MM_API const char* mm_status_name(mm_status status);
/** One sentence for people. */
MM_API const char* mm_status_message(mm_status status);
/** What went wrong in the last failed call on this thread ("" if none); valid until the thread's next call.
 */
MM_API const char* mm_last_error(void);
/** "0.1.0" */
MM_API const char* mm_version(void);

#ifdef __cplusplus
}
#endif
#endif
