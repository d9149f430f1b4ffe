/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file manymod.h
 * @brief C ABI of manymod: modular arithmetic on large batches of independent big integers.
 *
 * Numbers. A batch of integers is a C-contiguous array uint64_t[count][width] of little-endian limbs: item i
 * is sum_j limbs[i * stride + j] * 2^(64 j) for 0 <= j < width. An optional byte array `negative` holds the
 * signs. Operands may be wider than the modulus; they are reduced.
 *
 * Semantics are those of Python's `%` and `pow`: a result r has the sign of its modulus n and |r| < |n|; a
 * negative exponent means the inverse; x^0 = 1 mod n; every result modulo 1 is 0.
 *
 * Errors. A function returns MM_OK, MM_ERR_ITEMS (the call completed; some items carry a status and the
 * results of the others are valid) or another MM_ERR_* (no result is usable unless the function states
 * otherwise). mm_last_error() describes the calling thread's last failure. No function prints, aborts or lets
 * a C++ exception escape.
 *
 * Struct sizes. A struct that begins with struct_size may gain members at its end in later versions. A
 * program compiled against an older or a newer header keeps working: members missing from an older struct are
 * taken as 0. Those of a newer one that is read must be 0, else the call fails (MM_ERR_ARGUMENT).
 *
 * Thread safety. All functions may be called from several threads at once, and several calls may run on one
 * plan at once. An object must not be destroyed while one of its calls runs.
 *
 * Ownership. The caller owns the arrays that it passes, and the objects returned by *_create and *_submit,
 * which it releases with the matching *_destroy.
 *
 * Timing. In timing class MM_TIMING_SECRET a call is constant-time: its time and its memory accesses depend
 * on public sizes only, see mm_timing. In MM_TIMING_PUBLIC it is variable-time.
 *
 * Device indices. A device index is the K of the GPU named "cuda:K", counted from 0 as the CUDA driver counts
 * them. It means the same in mm_plan_options.device, mm_call.device_index and the functions on device memory.
 * mm_device_get() takes a position in the list of all devices instead, in which the CPU comes first.
 */
#ifndef MANYMOD_MANYMOD_H
#define MANYMOD_MANYMOD_H

#include <stddef.h>
#include <stdint.h>

#include "manymod/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MM_VERSION_MAJOR 0
#define MM_VERSION_MINOR 1
#define MM_VERSION_PATCH 0

/** Largest width of a modulus in bits; on GPUs 8192. Bases may be wider, exponents up to 2^32 - 64 bits. */
#define MM_MAX_MODULUS_BITS 16384

/** Operations. x, y, z, n: the item's first, second and third operand and modulus. With terms: x_t, y_t for
 * 0 <= t < terms. */
typedef enum mm_op {
  MM_OP_ADDMOD = 0,            /**< x + y mod n */
  MM_OP_SUBMOD = 1,            /**< x - y mod n */
  MM_OP_NEGMOD = 2,            /**< -x mod n */
  MM_OP_MULMOD = 3,            /**< x * y mod n */
  MM_OP_SQRMOD = 4,            /**< x^2 mod n */
  MM_OP_POWMOD = 5,            /**< x^y mod n, y of any sign */
  MM_OP_INVMOD = 6,            /**< x^-1 mod n */
  MM_OP_MULTI_POWMOD = 7,      /**< prod_{t < terms} x_t^(y_t) mod n */
  MM_OP_FIXED_BASE_POWMOD = 8, /**< g^y mod n with a precomputed comb of g; see mm_fixed_base */
  MM_OP_FMAMOD = 9,            /**< x * y + z mod n */
  MM_OP_SUMMOD = 10,           /**< sum_{t < terms} x_t mod n */
  MM_OP_PRODMOD = 11,          /**< prod_{t < terms} x_t mod n */
  MM_OP_DOTMOD = 12            /**< sum_{t < terms} x_t * y_t mod n */
} mm_op;
#define MM_OP_COUNT 13

/**
 * Timing class. MM_TIMING_PUBLIC is variable-time. MM_TIMING_SECRET is constant-time and offered for every
 * operation but MM_OP_MULTI_POWMOD: time and memory accesses depend only on the number of items, the widths
 * of the arrays, the signs, the statuses, and for each modulus its bit length, its parity and whether it is
 * 0, 1 or -1. It needs odd moduli. A variant that is not constant-time is never used for it.
 * docs/security.md states what is covered.
 */
typedef enum mm_timing { MM_TIMING_PUBLIC = 0, MM_TIMING_SECRET = 1 } mm_timing;

/** How the items of a batch use moduli. */
typedef enum mm_modulus_kind {
  MM_MODULUS_EACH = 0,  /**< one modulus per item */
  MM_MODULUS_SHARED = 1 /**< one modulus for the whole batch; its precomputation is kept in the plan */
} mm_modulus_kind;

/** A batch that is read. */
typedef struct mm_view {
  const uint64_t* limbs;
  size_t count;            /**< the batch size, or 1 for one integer that every item uses */
  size_t width;            /**< limbs per item, >= 1 */
  size_t stride;           /**< limbs from one item to the next, >= width; 0 means width */
  const uint8_t* negative; /**< NULL: no item is negative; else `count` bytes, nonzero for a negative item */
} mm_view;

/** A batch that is written. Results are zero-extended to `width`. */
typedef struct mm_result {
  uint64_t* limbs;
  size_t count;      /**< the batch size */
  size_t width;      /**< limbs per item, >= the width of the modulus view */
  size_t stride;     /**< limbs from one item to the next, >= width; 0 means width */
  uint8_t* negative; /**< `count` bytes, 1 for a negative result, else 0. May be NULL if the modulus view has
                        no signs */
} mm_result;

/**
 * Progress callback, called on the thread that computes the call about every 100 ms, if at all.
 * @return 0 to continue, any other value to stop: the call then returns MM_ERR_CANCELLED within a fraction of
 *         a second
 */
typedef int (*mm_progress_fn)(size_t items_done, size_t items_total, void* user);

/** Flags for mm_call.on_device: the arrays whose limbs are in the memory of a CUDA device. The flag of an
 * array that the operation does not use is ignored. */
typedef enum mm_on_device {
  MM_ON_DEVICE_X = 1,
  MM_ON_DEVICE_Y = 2,
  MM_ON_DEVICE_MODULUS = 4,
  MM_ON_DEVICE_RESULT = 8,
  MM_ON_DEVICE_Z = 16
} mm_on_device;

/** A call on a plan. Zero-initialise it, then set struct_size = sizeof(mm_call). */
typedef struct mm_call {
  size_t struct_size;
  size_t count;     /**< N, the batch size; a call with 0 items does nothing */
  size_t terms;     /**< operations with terms (MM_OP_MULTI_POWMOD, _SUMMOD, _PRODMOD, _DOTMOD): terms of
                       each item; with 0 a product is 1 mod n and a sum 0. Else 0 */
  mm_view x;        /**< first operand or base. Operations with terms: N * terms items, the terms of an item
                       consecutive, or `terms` items that every item uses */
  mm_view y;        /**< second operand or exponent. Operations with terms: as x */
  mm_view modulus;  /**< N items, or 1; exactly 1 with MM_MODULUS_SHARED */
  mm_result result; /**< N items. It may be the same array as x, y, z or modulus (not with operations
                       with terms); it must not overlap them otherwise */
  uint8_t* item_status;    /**< NULL, or N bytes that receive MM_OK or MM_ITEM_* */
  mm_progress_fn progress; /**< NULL, or the progress callback */
  void* progress_user;     /**< passed to `progress` */
  unsigned on_device;      /**< MM_ON_DEVICE_* flags of the arrays in the memory of a CUDA device, which are
                              used in place; the other arrays are in host memory. Arrays on a device have no
                              signs: their `negative` is NULL, and with MM_ON_DEVICE_RESULT no modulus may be
                              negative. Every operation is supported, whatever the plan's device */
  unsigned device_index;   /**< device index of that device: 1 for "cuda:1" */
  void* stream;            /**< CUstream (cudaStream_t) of that device on which the operands are produced; the
                              call waits for the work already queued on it. NULL: the legacy default stream.
                              The results are complete when the call returns */
  mm_view z;               /**< MM_OP_FMAMOD: the addend; N items, or 1 */
} mm_call;

/** Options of a plan. Zero-initialise them, then set struct_size = sizeof(mm_plan_options). */
typedef struct mm_plan_options {
  size_t struct_size;
  mm_op op; /**< any operation except MM_OP_FIXED_BASE_POWMOD */
  mm_timing timing;
  mm_modulus_kind modulus_kind;
  size_t modulus_bits; /**< upper bound on the width of the moduli, 1..MM_MAX_MODULUS_BITS; items with
                          narrower moduli are grouped by length and computed at their own length */
  const char* device;  /**< "auto" or NULL: the CPU and every usable GPU, by measured speed; "cpu"; "cuda" or
                          "opencl": every usable GPU of it; "cuda:K", "opencl:K": that with device index K */
  const char* variant; /**< name of the variant to force; NULL: the environment variable MANYMOD_VARIANT if it
                          is set, else the dispatcher's choice */
  unsigned threads;    /**< CPU threads of one call, at most 1024; 0: mm_get_threads() */
} mm_plan_options;

/** An operation, timing class and modulus kind, with its variants and their precomputed data. */
typedef struct mm_plan mm_plan;

/**
 * Create a plan. Its variants are resolved here, once.
 * @param plan receives the plan, which the caller destroys; NULL on failure
 * @return MM_OK; MM_ERR_NULL, MM_ERR_ARGUMENT; MM_ERR_UNKNOWN_VARIANT, MM_ERR_UNUSABLE_VARIANT,
 *         MM_ERR_UNKNOWN_DEVICE; MM_ERR_TUNING if MANYMOD_TUNING names a bad file; MM_ERR_DEVICE,
 *         MM_ERR_MEMORY
 */
MM_API mm_status mm_plan_create(const mm_plan_options* options, mm_plan** plan);

/**
 * Compute one call and return when it is complete; its arrays must remain unchanged meanwhile. With
 * MM_MODULUS_SHARED the precomputed data of the last modulus is kept. Timing: by the plan's timing class.
 * Several threads may run calls on one plan.
 * @return MM_OK; MM_ERR_ITEMS; MM_ERR_NULL, MM_ERR_ARGUMENT, MM_ERR_OVERLAP (nothing was written);
 *         MM_ERR_CANCELLED (items with status MM_OK are valid); MM_ERR_UNKNOWN_DEVICE, _DEVICE, _MEMORY
 */
MM_API mm_status mm_plan_run(mm_plan* plan, const mm_call* call);

/** Name of the variant that the plan uses for large batches whose moduli are of the plan's kind, such as
 * "ifma52.avx512". Valid as long as the plan; "" for NULL. */
MM_API const char* mm_plan_variant(const mm_plan* plan);

/**
 * Name of the variant for a batch of `items` items whose moduli have the same number of limbs. Items left
 * over after the last full vector go to the variant chosen for that number of items, and items that a variant
 * does not accept (even moduli, negative exponents) go to one that does. A call with one modulus on a plan of
 * kind MM_MODULUS_EACH may use another variant (see mm_variant_info.shared_modulus_ops). Valid as long as the
 * plan. Returns "" for NULL.
 */
MM_API const char* mm_plan_variant_for(const mm_plan* plan, size_t items);

/** Destroy a plan and zero its precomputed data. NULL is allowed. No call of the plan may be running. */
MM_API void mm_plan_destroy(mm_plan* plan);

/**
 * An asynchronous call: it runs on a thread of the library.
 *
 * Jobs begin in the order of submission, at most 8 of them run at a time, and they share the CPU threads with
 * all other calls. A callback of a job (progress or done) cannot wait for jobs. A forked child inherits no
 * jobs. When the process exits, jobs that have not begun are cancelled, running jobs are asked to stop, and
 * exit() waits for those for at most 2 seconds.
 */
typedef struct mm_job mm_job;

/** Completion callback, called once with the job's outcome: on the job's thread, or on the cancelling thread
 * if the job was cancelled before it began. A C++ exception thrown by it is discarded. */
typedef void (*mm_done_fn)(mm_status status, void* user);

/**
 * Queue a call and return without waiting for it. *call is copied; the arrays that it points to and the plan
 * must remain unchanged until the job has ended. The progress callback is called on the job's thread.
 * @param done NULL, or the completion callback; it may destroy the job
 * @param job  receives the job, which the caller destroys; NULL on failure
 * @return MM_OK; MM_ERR_NULL; MM_ERR_ARGUMENT for an invalid struct_size; MM_ERR_MEMORY if memory or threads
 *         are short; MM_ERR_CANCELLED while the process exits. After a failure `done` is not called. Every
 *         other error of the call is the job's outcome.
 */
MM_API mm_status mm_plan_submit(mm_plan* plan, const mm_call* call, mm_done_fn done, void* user,
                                mm_job** job);

/** @return 1 if the job has ended and its `done` has returned, else 0; 1 for NULL and, in a forked child, for
 * a job of the parent */
MM_API int mm_job_ended(const mm_job* job);

/**
 * Wait until the job has ended.
 * @return the outcome that mm_plan_run would have returned, described by mm_last_error(); MM_ERR_NULL;
 *         MM_ERR_ARGUMENT if the job has not ended and the caller is a callback of a job, or if it had not
 *         ended when this process was forked
 */
MM_API mm_status mm_job_wait(mm_job* job);

/** Ask the job to stop, as a progress callback would: it stops within a fraction of a second, and a short
 * call may complete. A job that has not begun ends at once with MM_ERR_CANCELLED; every item status is
 * MM_ITEM_NOT_COMPUTED, and no results are written. NULL is allowed. */
MM_API void mm_job_cancel(mm_job* job);

/** Wait until the job has ended, then destroy it. NULL is allowed. In a callback of a job it does not wait:
 * the job continues without its handle. */
MM_API void mm_job_destroy(mm_job* job);

/** One base g and one modulus n with a precomputed comb, for powers g^y mod n. */
typedef struct mm_fixed_base mm_fixed_base;

/** Options of mm_fixed_base_create. Zero-initialise them, then set struct_size. */
typedef struct mm_fixed_base_options {
  size_t struct_size;
  mm_timing timing;        /**< of the calls on the object */
  size_t exponent_bits;    /**< 1..2^20: length of the exponents that the comb covers. Longer exponents are
                              slower in MM_TIMING_PUBLIC and rejected in MM_TIMING_SECRET */
  const char* device;      /**< as in mm_plan_options */
  const char* variant;     /**< as in mm_plan_options */
  unsigned threads;        /**< CPU threads of one mm_fixed_base_powmod, at most 1024; 0: mm_get_threads() */
  mm_progress_fn progress; /**< NULL, or called with (0, 1) about every 100 ms while the comb is computed */
  void* progress_user;     /**< passed to `progress` */
} mm_fixed_base_options;

/**
 * Precompute a comb.
 * @param base       one item, of any width and sign; copied
 * @param modulus    one item, nonzero; it must be odd in MM_TIMING_SECRET; copied
 * @param fixed_base receives the object, which the caller destroys; NULL on failure
 * @return MM_OK; MM_ERR_ARGUMENT also for a modulus that is zero, too wide, or even in MM_TIMING_SECRET;
 *         MM_ERR_CANCELLED if the progress callback requested a stop; else as mm_plan_create
 */
MM_API mm_status mm_fixed_base_create(const mm_fixed_base_options* options, const mm_view* base,
                                      const mm_view* modulus, mm_fixed_base** fixed_base);

/**
 * result_i = g^(y_i) mod n for 0 <= i < call->count; call->x and call->modulus are ignored. In
 * MM_TIMING_SECRET the width of y must not exceed exponent_bits rounded up to whole limbs. Several threads
 * may call this on one object.
 * @return as mm_plan_run
 */
MM_API mm_status mm_fixed_base_powmod(mm_fixed_base* fixed_base, const mm_call* call);

/** mm_fixed_base_powmod as an asynchronous call; see mm_plan_submit. */
MM_API mm_status mm_fixed_base_submit(mm_fixed_base* fixed_base, const mm_call* call, mm_done_fn done,
                                      void* user, mm_job** job);

/** Name of the variant for large batches. Valid as long as the object; "" for NULL. */
MM_API const char* mm_fixed_base_variant(const mm_fixed_base* fixed_base);

/** Name of the variant for `exponents` nonnegative exponents. The first call that uses another variant than
 * mm_fixed_base_variant's computes a comb for it, which the object keeps. Valid as long as the object; "" for
 * NULL. */
MM_API const char* mm_fixed_base_variant_for(const mm_fixed_base* fixed_base, size_t exponents);

/** Destroy the object and zero its combs. NULL is allowed. None of its calls may be running. */
MM_API void mm_fixed_base_destroy(mm_fixed_base* fixed_base);

/** @return the number of CPU threads of plans whose `threads` is 0; initially the number of CPUs that this
 * process may use */
MM_API unsigned mm_get_threads(void);

/** Set that number for the process. 0 restores the initial value; values above 1024 are taken as 1024.
 * @return the new number */
MM_API unsigned mm_set_threads(unsigned threads);

/** Where a variant runs. */
typedef enum mm_backend { MM_BACKEND_CPU = 0, MM_BACKEND_CUDA = 1, MM_BACKEND_OPENCL = 2 } mm_backend;

/** Bits of mm_variant_info.traits. */
typedef enum mm_variant_trait {
  MM_VARIANT_COMPARISON_ONLY = 1, /**< registered for comparison: selected by its name or a tuning row only */
  MM_VARIANT_WANTS_FAST_DOUBLES = 2 /**< not selected for a GPU whose FP64 is much slower than its FP32 */
} mm_variant_trait;

/** A registered variant: technique, backend and shape. Strings live as long as the process. */
typedef struct mm_variant_info {
  size_t struct_size;    /**< set by the caller to sizeof(mm_variant_info); no more bytes are written */
  const char* name;      /**< "scalar64.adx" */
  const char* technique; /**< "scalar64" */
  mm_backend backend;
  unsigned public_ops;           /**< bit 1 << op is set if the variant offers mm_op `op` variable-time */
  unsigned secret_ops;           /**< the same for constant-time operations */
  size_t min_bits, max_bits;     /**< range of modulus widths */
  unsigned instances;            /**< instances that one thread or thread group computes side by side */
  unsigned threads_per_instance; /**< 1 on CPUs; threads of a group on GPUs */
  const char* needs;             /**< required hardware features: "bmi2 adx"; "" for none */
  const char* summary;           /**< one line of text */
  int usable;                    /**< 1 if the variant can run on this machine */
  const char* reason;            /**< why it is not usable; "" if it is */
  unsigned shared_modulus_ops;   /**< those of its operations that it computes in variable time only for several
                                    items with one shared modulus */
  uint64_t traits;               /**< mm_variant_trait bits */
} mm_variant_info;

/** @return the number of registered variants, constant for a build */
MM_API size_t mm_variant_count(void);
/** Describe a variant. @return MM_OK; MM_ERR_NULL; MM_ERR_ARGUMENT for index >= mm_variant_count() or an
 * invalid struct_size */
MM_API mm_status mm_variant_get(size_t index, mm_variant_info* info);

/**
 * Use the rows of a tuning file (docs/environment.md) instead of the built-in ones for plans that are created
 * from now on, in the whole process. Rows that name unknown variants are skipped, see mm_tuning_info.notes.
 * @param path NULL restores the built-in rows
 * @return MM_OK; MM_ERR_TUNING for a missing or malformed file, in which case nothing changes
 */
MM_API mm_status mm_tuning_load(const char* path);

/** The tuning table in use. Strings live as long as the process. */
typedef struct mm_tuning_info {
  size_t struct_size;    /**< set by the caller to sizeof(mm_tuning_info); no more bytes are written */
  const char* source;    /**< path of the file; "" for the built-in rows alone */
  const char* processor; /**< the processor on which it was measured */
  const char* date;      /**< the date of the measurement */
  const char* notes;     /**< the parts of the file that were skipped and why, one line each; "" for none */
  size_t rows;           /**< number of rows */
} mm_tuning_info;

/** Describe the tuning table in use. @return MM_OK; MM_ERR_NULL; MM_ERR_ARGUMENT for an invalid struct_size;
 * MM_ERR_TUNING if MANYMOD_TUNING names a bad file */
MM_API mm_status mm_tuning_get_info(mm_tuning_info* info);

/** One row of a tuning table. Among the rows that match the operation, timing class and width, the first one
 * whose variant can run and whose min_items does not exceed the number of items is the dispatcher's choice.
 * Strings live as long as the process. */
typedef struct mm_tuning_row {
  size_t struct_size; /**< set by the caller to sizeof(mm_tuning_row); no more bytes are written */
  mm_op op;
  mm_timing timing;
  size_t min_bits, max_bits; /**< range of modulus widths */
  size_t min_items;          /**< least number of items, of moduli of one length, that the row applies to */
  const char* variant;       /**< name of the variant */
  const char* evidence;      /**< the measurement that the row rests on */
} mm_tuning_row;

/**
 * Describe a row of the tuning table in use. Each call reads the table in use at that moment: if another
 * thread loads a table between mm_tuning_get_info and the last mm_tuning_get, the rows may come from
 * different tables, which a second mm_tuning_get_info reveals by another `notes` pointer. Returned strings
 * stay valid.
 * @return MM_OK; MM_ERR_NULL; MM_ERR_ARGUMENT for index >= mm_tuning_info.rows or an invalid struct_size;
 *         MM_ERR_TUNING
 */
MM_API mm_status mm_tuning_get(size_t index, mm_tuning_row* row);

/** A device: the CPU or a GPU. Strings live as long as the process. */
typedef struct mm_device_info {
  size_t struct_size; /**< set by the caller to sizeof(mm_device_info); no more bytes are written */
  const char* name;   /**< name for mm_plan_options.device: "cpu"; "cuda:0" and "opencl:0" for the
                         devices with device index 0 of these backends */
  const char* model;  /**< "Intel(R) Xeon(R) Processor" */
  mm_backend backend;
  const char* features; /**< separated by spaces. Of a CPU, instruction-set features: "bmi2 adx avx2 avx512f
                           avx512ifma", and last "unknown-in-MANYMOD_HIDE_CPU:NAME" for each name in that
                           variable that is not a feature. Of a CUDA device, the compute capability: "sm_90".
                           Of an OpenCL device: "cpu", or "gpu" for all others */
  unsigned units; /**< CPUs that this process may use, or multiprocessors or compute units of the GPU; 0 if
                     unknown */
  uint64_t memory_bytes; /**< physical memory; 0 if unknown */
  const char* obstacle;  /**< why the device is not usable; "" if it is */
  unsigned device_index; /**< K of "cuda:K", as in mm_call, and of "opencl:K"; 0 for the CPU */
} mm_device_info;

/** @return the number of devices, constant for a process: 1 for the CPU, plus the GPUs found */
MM_API size_t mm_device_count(void);
/** Describe the device at a position in the list of devices: position 0 is the CPU, the GPUs follow by device
 * index. @return MM_OK; MM_ERR_NULL; MM_ERR_ARGUMENT for position >= mm_device_count() or an invalid
 * struct_size */
MM_API mm_status mm_device_get(size_t position, mm_device_info* info);

/** CUDA support of this build and this machine. Strings live as long as the process. */
typedef struct mm_cuda_info {
  size_t struct_size;   /**< set by the caller to sizeof(mm_cuda_info); no more bytes are written */
  int built;            /**< 1 if the library contains code for CUDA devices */
  const char* driver;   /**< newest CUDA version that the driver supports: "13.0"; "" without a driver */
  const char* obstacle; /**< why there is no CUDA device; "" if there is one */
} mm_cuda_info;

/** Describe the CUDA support. @return MM_OK; MM_ERR_NULL; MM_ERR_ARGUMENT for an invalid struct_size */
MM_API mm_status mm_cuda_get_info(mm_cuda_info* info);

/** OpenCL support of this machine. Strings live as long as the process. */
typedef struct mm_opencl_info {
  size_t struct_size;   /**< set by the caller to sizeof(mm_opencl_info); no more bytes are written */
  const char* version;  /**< newest OpenCL version of a device: "3.0"; "" without a device */
  const char* obstacle; /**< why there is no OpenCL device; "" if there is one */
} mm_opencl_info;

/** Describe the OpenCL support. This loads the OpenCL drivers, as mm_device_count, mm_device_get and
 * mm_variant_get do: children that are forked off afterwards cannot use OpenCL devices.
 * @return MM_OK; MM_ERR_NULL; MM_ERR_ARGUMENT for an invalid struct_size */
MM_API mm_status mm_opencl_get_info(mm_opencl_info* info);

/**
 * Allocate memory on the CUDA device with this device index, for programs without a CUDA library of their
 * own. The memory is aligned to 256 bytes and not initialised.
 * @param address receives the address, to be freed by mm_device_free; NULL on failure and for 0 bytes
 * @return MM_OK; MM_ERR_NULL; MM_ERR_UNKNOWN_DEVICE; MM_ERR_DEVICE; MM_ERR_MEMORY
 */
MM_API mm_status mm_device_allocate(unsigned device_index, size_t bytes, void** address);

/** Wait for all work on the device, then zero and free memory of mm_device_allocate. NULL is allowed.
 * @return MM_OK; MM_ERR_ARGUMENT for an address that mm_device_allocate did not return or that is freed
 *         already; else as mm_device_allocate */
MM_API mm_status mm_device_free(unsigned device_index, void* address);

/** Direction of mm_device_copy. */
typedef enum mm_copy_direction {
  MM_COPY_TO_DEVICE = 0, /**< from host memory to the device */
  MM_COPY_TO_HOST = 1,   /**< from the device to host memory */
  MM_COPY_ON_DEVICE = 2  /**< from the device to the same device */
} mm_copy_direction;

/**
 * Copy bytes on the legacy default stream and return when the copy is complete. Device addresses may point
 * anywhere into the device's memory, whichever library allocated it. The ranges must not overlap.
 * @return MM_OK; MM_ERR_ARGUMENT for an unknown direction or a device address that is not in the device's
 *         memory; else as mm_device_allocate
 */
MM_API mm_status mm_device_copy(unsigned device_index, void* to, const void* from, size_t bytes,
                                mm_copy_direction direction);

/** Version of the library, such as "0.1.0"; that of the headers is MM_VERSION_*. A static string. */
MM_API const char* mm_version(void);

#ifdef __cplusplus
}
#endif
#endif
