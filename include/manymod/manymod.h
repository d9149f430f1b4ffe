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

#include "manymod/hardware.h"
#include "manymod/status.h"
#include "manymod/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MM_VERSION_MAJOR 0
#define MM_VERSION_MINOR 1
#define MM_VERSION_PATCH 0

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
  mm_progress_fn progress; /**< NULL, or the progress callback. Element-wise operations and those with terms
                              that a GPU computes on arrays in its memory do not call it */
  void* progress_user;     /**< passed to `progress` */
  unsigned on_device;      /**< MM_ON_DEVICE_* flags of the arrays in the memory of a CUDA device, which are
                              used in place; the other arrays are in host memory. Arrays on a device have no
                              signs: their `negative` is NULL, and with MM_ON_DEVICE_RESULT no modulus may be
                              negative. Every operation is supported, whatever the plan's device, but not by an
                              OpenCL variant that the plan names */
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
 * @param options what the plan is for; not NULL, and not needed afterwards
 * @param plan    receives the plan, which the caller destroys; NULL on failure
 * @return MM_OK; MM_ERR_NULL, MM_ERR_ARGUMENT; MM_ERR_UNKNOWN_VARIANT, MM_ERR_UNUSABLE_VARIANT,
 * MM_ERR_UNKNOWN_DEVICE; MM_ERR_TUNING if MANYMOD_TUNING names a bad file; MM_ERR_DEVICE, MM_ERR_MEMORY
 */
MM_API mm_status mm_plan_create(const mm_plan_options* options, mm_plan** plan);

/**
 * Compute one call and return when it is complete; its arrays must remain unchanged meanwhile. With
 * MM_MODULUS_SHARED the precomputed data of the last modulus is kept. Timing: by the plan's timing class.
 * Several threads may run calls on one plan.
 * @param plan the plan
 * @param call operands and where results go, see mm_call
 * @return MM_OK; MM_ERR_ITEMS; MM_ERR_NULL, MM_ERR_ARGUMENT, MM_ERR_OVERLAP (nothing was written);
 * MM_ERR_CANCELLED (items with status MM_OK are valid); MM_ERR_UNUSABLE_VARIANT (an OpenCL variant, for
 * arrays on a CUDA device); MM_ERR_UNKNOWN_DEVICE, _DEVICE, _MEMORY
 */
MM_API mm_status mm_plan_run(mm_plan* plan, const mm_call* call);

/**
 * Name of the variant that the plan uses for large batches whose moduli are of the plan's kind, such as
 * "ifma52.avx512".
 * @param plan the plan, or NULL
 * @return a string that is valid as long as the plan; "" for NULL
 */
MM_API const char* mm_plan_variant(const mm_plan* plan);

/**
 * Name of the variant for a batch whose moduli have the same number of limbs. Items left over after the last
 * full vector go to the variant chosen for that number of items, and items that a variant does not accept
 * (even moduli, negative exponents) go to one that does. A call with one modulus on a plan of kind
 * MM_MODULUS_EACH may use another variant (see mm_variant_info.shared_modulus_ops).
 * @param plan  the plan, or NULL
 * @param items number of items
 * @return a string that is valid as long as the plan; "" for NULL
 */
MM_API const char* mm_plan_variant_for(const mm_plan* plan, size_t items);

/**
 * Destroy a plan and zero its precomputed data. No call of the plan may be running.
 * @param plan the plan, or NULL
 */
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
 * Queue a call and return without waiting for it. The arrays that *call points to and the plan must remain
 * unchanged until the job has ended. The progress callback is called on the job's thread.
 * @param plan the plan
 * @param call the call, which is copied
 * @param done NULL, or the completion callback; it may destroy the job
 * @param user passed to `done`
 * @param job  receives the job, which the caller destroys; NULL on failure
 * @return MM_OK; MM_ERR_NULL; MM_ERR_ARGUMENT for an invalid struct_size; MM_ERR_MEMORY if memory or threads
 * are short; MM_ERR_CANCELLED while the process exits. After a failure `done` is not called. Every other
 * error of the call is the job's outcome.
 */
MM_API mm_status mm_plan_submit(mm_plan* plan, const mm_call* call, mm_done_fn done, void* user,
                                mm_job** job);

/**
 * Whether a job has ended.
 * @param job the job, or NULL
 * @return 1 if the job has ended and its `done` has returned, else 0; 1 for NULL and, in a forked child, for
 * a job of the parent
 */
MM_API int mm_job_ended(const mm_job* job);

/**
 * Wait until the job has ended.
 * @param job the job
 * @return the outcome that mm_plan_run would have returned, described by mm_last_error(); MM_ERR_NULL;
 * MM_ERR_ARGUMENT if the job has not ended and the caller is a callback of a job, or if it had not ended
 * when this process was forked
 */
MM_API mm_status mm_job_wait(mm_job* job);

/**
 * Ask the job to stop, as a progress callback would: it stops within a fraction of a second, and a short
 * call, or one that calls no progress callback (mm_call), may complete. A job that has not begun ends at once
 * with MM_ERR_CANCELLED; every item status is MM_ITEM_NOT_COMPUTED, and no results are written.
 * @param job the job, or NULL
 */
MM_API void mm_job_cancel(mm_job* job);

/**
 * Wait until the job has ended, then destroy it. In a callback of a job it does not wait: the job continues
 * without its handle.
 * @param job the job, or NULL
 */
MM_API void mm_job_destroy(mm_job* job);

/** One base g and one modulus n with a precomputed comb, for powers g^y mod n. */
typedef struct mm_fixed_base mm_fixed_base;

/** Options of mm_fixed_base_create. Zero-initialise them, then set struct_size. */
typedef struct mm_fixed_base_options {
  size_t struct_size;
  mm_timing timing;     /**< of the calls on the object */
  size_t exponent_bits; /**< 1..2^20: length of the exponents that the comb covers. Longer exponents are
                           slower in MM_TIMING_PUBLIC, and in MM_TIMING_SECRET, if they do not fit
                           exponent_bits rounded up to whole limbs, get MM_ITEM_EXPONENT_TOO_WIDE */
  const char* device;   /**< as in mm_plan_options */
  const char* variant;  /**< as in mm_plan_options */
  unsigned threads;     /**< CPU threads of one mm_fixed_base_powmod, at most 1024; 0: mm_get_threads() */
  mm_progress_fn
      progress;        /**< NULL, or called with (0, 1) about every 100 ms while a CPU computes the comb */
  void* progress_user; /**< passed to `progress` */
} mm_fixed_base_options;

/**
 * Precompute a comb.
 * @param options    what the object is for; not NULL, and not needed afterwards
 * @param base       one item, of any width and sign; copied
 * @param modulus    one item, nonzero; it must be odd in MM_TIMING_SECRET; copied
 * @param fixed_base receives the object, which the caller destroys; NULL on failure
 * @return MM_OK; MM_ERR_ARGUMENT also for a modulus that is zero, too wide, or even in MM_TIMING_SECRET;
 * MM_ERR_CANCELLED if the progress callback requested a stop; else as mm_plan_create
 */
MM_API mm_status mm_fixed_base_create(const mm_fixed_base_options* options, const mm_view* base,
                                      const mm_view* modulus, mm_fixed_base** fixed_base);

/**
 * result_i = g^(y_i) mod n for 0 <= i < call->count. In MM_TIMING_SECRET on arrays in a device's memory the
 * width of y must not exceed exponent_bits rounded up to whole limbs. Several threads may call this on one
 * object.
 * @param fixed_base the object
 * @param call       exponents in `y`, and where results go; `x` and `modulus` are ignored
 * @return as mm_plan_run
 */
MM_API mm_status mm_fixed_base_powmod(mm_fixed_base* fixed_base, const mm_call* call);

/**
 * mm_fixed_base_powmod as an asynchronous call; see mm_plan_submit.
 * @param fixed_base the object, which must remain until the job has ended
 * @param call       as in mm_fixed_base_powmod; copied
 * @param done       NULL, or the completion callback; it may destroy the job
 * @param user       passed to `done`
 * @param job        receives the job, which the caller destroys; NULL on failure
 * @return as mm_plan_submit
 */
MM_API mm_status mm_fixed_base_submit(mm_fixed_base* fixed_base, const mm_call* call, mm_done_fn done,
                                      void* user, mm_job** job);

/**
 * Name of the variant for large batches.
 * @param fixed_base the object, or NULL
 * @return a string that is valid as long as the object; "" for NULL
 */
MM_API const char* mm_fixed_base_variant(const mm_fixed_base* fixed_base);

/**
 * Name of the variant for this number of exponents. The first call that uses another variant than
 * mm_fixed_base_variant's computes a comb for it, which the object keeps.
 * @param fixed_base the object, or NULL
 * @param exponents  number of nonnegative exponents
 * @return a string that is valid as long as the object; "" for NULL
 */
MM_API const char* mm_fixed_base_variant_for(const mm_fixed_base* fixed_base, size_t exponents);

/**
 * Destroy the object and zero its combs. None of its calls may be running.
 * @param fixed_base the object, or NULL
 */
MM_API void mm_fixed_base_destroy(mm_fixed_base* fixed_base);

/** @return the number of CPU threads of plans whose `threads` is 0; initially the number of CPUs that this
 * process may use */
MM_API unsigned mm_get_threads(void);

/**
 * Set the number of CPU threads of plans whose `threads` is 0, for the process.
 * @param threads 0 restores the initial value; values above 1024 are taken as 1024
 * @return the new number
 */
MM_API unsigned mm_set_threads(unsigned threads);

/** @return the version of the library, such as "0.1.0", a static string; that of the headers is MM_VERSION_*
 */
MM_API const char* mm_version(void);

#ifdef __cplusplus
}
#endif
#endif
