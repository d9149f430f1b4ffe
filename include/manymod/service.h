/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file service.h
 * @brief C ABI of manymod: a queue that gathers single requests of many threads into batches.
 *
 * Vector units and GPUs compute many items at the price of few; servers ask for one at a time. A service
 * accepts requests from any thread, keeps those of one operation together, and computes them by the calls of
 * rsa.h and ecc.h. It holds a request back only while that lets the service keep up with the requests that
 * arrive, and never longer than its deadline: an idle service computes a request at once.
 *
 * Answers. Every request that was accepted is answered exactly once: with its result, with a status, or, if
 * it is cancelled or its time passes before it begins, with a status that says so.
 *
 * Callbacks run on threads of the service and hold up other answers while they do. They may submit requests,
 * which then do not wait for room, and must not wait for other requests or destroy the service.
 *
 * Fork. A service belongs to the process that created it. In a forked child its functions fail with
 * MM_ERR_ARGUMENT, and mm_service_destroy does nothing.
 *
 * Requests with private keys are constant-time as the calls that compute them are. How many requests arrive,
 * their operations, keys and lengths are public.
 */
#ifndef MANYMOD_SERVICE_H
#define MANYMOD_SERVICE_H

#include "manymod/ecc.h"
#include "manymod/rsa.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A queue of requests and the threads that compute them. */
typedef struct mm_service mm_service;

/** Options of mm_service_create. Zero-initialise them, then set struct_size. */
typedef struct mm_service_options {
  size_t struct_size;
  uint64_t deadline_ns; /**< longest time that a request is held back for others to join it; 0: 1,000,000 */
  size_t max_batch;     /**< most requests of one batch; 0: 65,536 */
  size_t max_queue; /**< requests that wait when the queue counts as full; 0: 131,072. Requests are counted,
                       and arrays of requests are accepted whole */
  unsigned max_concurrent; /**< most batches that are computed at the same time, each by a thread of its own
                              and those that it starts, at most 1024; 0: mm_get_threads(), and of an operation
                              that GPUs compute 4 for each GPU if it is of RSA, 6 if of curves */
} mm_service_options;

/**
 * Create a service without operations. Threads are started as requests need them.
 * @param options NULL for the defaults
 * @param service receives the service, which the caller destroys; NULL on failure
 * @return MM_OK; MM_ERR_NULL, MM_ERR_ARGUMENT, MM_ERR_MEMORY
 */
MM_API mm_status mm_service_create(const mm_service_options* options, mm_service** service);

/**
 * Accept no more requests, and return when all that were accepted are answered.
 * @param service the service
 * @param drain   nonzero: compute the requests that wait; 0: answer them with MM_ITEM_NOT_COMPUTED. What is
 * being computed is finished either way
 * @return MM_OK; MM_ERR_NULL; MM_ERR_ARGUMENT in a forked child and in a callback of the service: there it
 * closes the service and does not wait
 */
MM_API mm_status mm_service_close(mm_service* service, int drain);

/**
 * Accept no more requests, as mm_service_close, and return without waiting for those that were accepted.
 * Where they are not drained they are answered before it returns.
 * @param service the service
 * @param drain   as for mm_service_close
 * @return MM_OK; MM_ERR_NULL; MM_ERR_ARGUMENT in a forked child
 */
MM_API mm_status mm_service_stop(mm_service* service, int drain);

/**
 * Close the service without draining it, and destroy it. Not in a callback of the service. Its tickets
 * remain usable.
 * @param service the service, or NULL
 */
MM_API void mm_service_destroy(mm_service* service);

/* ---- operations ------------------------------------------------------------------------------------- */

/**
 * Add an RSA operation with the keys of a ring. A request's input, its signature and its output are those of
 * an item of mm_rsa_run.
 * @param service   the service
 * @param ring      must remain until the service is destroyed
 * @param op        the operation
 * @param padding   as in mm_rsa_call; the label is copied
 * @param operation receives the number that requests name the operation by: 0, 1, ..
 * @return MM_OK; MM_ERR_NULL; MM_ERR_ARGUMENT; MM_ERR_MEMORY; MM_ERR_CLOSED
 */
MM_API mm_status mm_service_add_rsa(mm_service* service, mm_rsa_ring* ring, mm_rsa_op op,
                                    const mm_rsa_padding* padding, size_t* operation);

/**
 * Add an operation on curves: MM_ECC_SIGN, MM_ECC_VERIFY or MM_ECC_EXCHANGE.
 * @param service   the service
 * @param plan      must remain until the service is destroyed
 * @param pattern   a call with the operation's options and keys: `count` keys, given by `secret`, or for
 * MM_ECC_VERIFY by `point`, and `curve`. They are copied, and secrets are zeroed with the service, which has
 * a ring of them. A secret of no bytes stands for a key that is not private: its requests are answered with
 * MM_ITEM_ECC_SECRET. The pattern's other views, its output, `nonces` of MM_ECC_NONCE_GIVEN and its callback
 * must be 0; `context` may be one string for all keys. A request's input is the message, or for
 * MM_ECC_EXCHANGE the other side's point
 * @param operation as for mm_service_add_rsa
 * @return as mm_service_add_rsa
 */
MM_API mm_status mm_service_add_ecc(mm_service* service, mm_ecc_plan* plan, const mm_ecc_call* pattern,
                                    size_t* operation);

/* ---- answers ---------------------------------------------------------------------------------------- */

/** The answer to a request. The bytes and the text that it points to live as long as the callback that it is
 * given to, or as the ticket that it was read from. */
typedef struct mm_answer {
  mm_status status; /**< MM_OK; MM_ITEM_* of the item's operation; MM_ITEM_NOT_COMPUTED if it was cancelled;
                       MM_ITEM_EXPIRED; or MM_ERR_* of the call that should have computed it */
  int valid;        /**< verification: 1 for a valid signature, else 0 */
  mm_bytes output;  /**< the result; size 0 where there is none */
  const char* message; /**< for MM_ERR_*: what mm_last_error() said, else "" */
} mm_answer;

/** Called once with the answer to a request, on any thread, before mm_service_submit returns or later. A C++
 * exception thrown by it is discarded. */
typedef void (*mm_answer_fn)(const mm_answer* answer, void* user);

/** What a caller holds of a request, or of an array of requests, to wait for it and to cancel it. */
typedef struct mm_ticket mm_ticket;

/**
 * Wait until all requests of a ticket are answered and their callbacks have returned.
 * @param ticket     the ticket
 * @param timeout_ns how long to wait at most; UINT64_MAX: for ever
 * @return MM_OK; MM_ERR_TIMEOUT; MM_ERR_NULL; MM_ERR_ARGUMENT in a callback of the service, where it might
 * wait for itself, and in a forked child
 */
MM_API mm_status mm_ticket_wait(mm_ticket* ticket, uint64_t timeout_ns);
/**
 * Answer with MM_ITEM_NOT_COMPUTED what has not begun.
 * @param ticket the ticket, or NULL
 * @return how many requests that were
 */
MM_API size_t mm_ticket_cancel(mm_ticket* ticket);
/**
 * Read the answer to a single request. For an array, `status` and `message` are those of the first of its
 * calls that failed; if none did, MM_ERR_ITEMS if a request failed (a signature that is not valid is no
 * failure), else MM_OK.
 * @param ticket the ticket
 * @param answer receives the answer, whose bytes and text live as long as the ticket
 * @return MM_OK; MM_ERR_NULL; MM_ERR_ARGUMENT while requests are not answered
 */
MM_API mm_status mm_ticket_answer(const mm_ticket* ticket, mm_answer* answer);
/**
 * Destroy a ticket, whether or not its requests are answered.
 * @param ticket the ticket, or NULL
 */
MM_API void mm_ticket_destroy(mm_ticket* ticket);

/* ---- requests --------------------------------------------------------------------------------------- */

/** A request. Zero-initialise it, then set struct_size. */
typedef struct mm_service_request {
  size_t struct_size;
  size_t operation;    /**< a number from mm_service_add_* */
  uint32_t key;        /**< index of the key in the ring or pattern */
  mm_bytes input;      /**< copied before the function returns */
  mm_bytes signature;  /**< of verifications, likewise */
  uint64_t timeout_ns; /**< the request is answered with MM_ITEM_EXPIRED if it has not begun so long after it
                          was accepted, at most some milliseconds later; 0: it may wait for ever */
  uint64_t room_ns;    /**< how long to wait for room in a full queue; 0: not at all */
  int here;            /**< nonzero: an idle service computes the request on the calling thread, before
                          mm_service_submit returns; not in callbacks */
} mm_service_request;

/**
 * Submit a request.
 * @param service the service
 * @param request what to compute; its bytes are copied
 * @param done    NULL, or called with the answer
 * @param user    passed to `done`
 * @param ticket  NULL if `done` is not; else receives a ticket, which the caller destroys, before `done` is
 * called; NULL on failure
 * @return MM_OK; MM_ERR_FULL; MM_ERR_CLOSED; MM_ERR_NULL; MM_ERR_ARGUMENT; MM_ERR_MEMORY. Unless it is MM_OK
 * there is no answer
 */
MM_API mm_status mm_service_submit(mm_service* service, const mm_service_request* request, mm_answer_fn done,
                                   void* user, mm_ticket** ticket);

/**
 * Submit a request and wait for its answer; an idle service computes it on the calling thread. Not in a
 * callback of the service.
 * @param service the service
 * @param request what to compute
 * @param output  receives the result, at most `room` bytes; may be NULL for a verification
 * @param room    size of `output`; a larger result is an error
 * @param answer  NULL, or receives the answer, whose output.data is `output` and whose message is ""
 * @return the answer's status; or as mm_service_submit, with mm_last_error(): then *answer is 0 but for its
 * status. MM_ERR_ARGUMENT also if `room` is smaller than the result, and in a callback
 */
MM_API mm_status mm_service_call(mm_service* service, const mm_service_request* request, uint8_t* output,
                                 size_t room, mm_answer* answer);

/** Requests in arrays. Zero-initialise it, then set struct_size. The arrays must remain unchanged until all
 * requests are answered. What is written, `output`, its sizes, `valid` and `item_status`, overlaps neither
 * `input` and `signature` nor each other. */
typedef struct mm_service_requests {
  size_t struct_size;
  size_t operation;
  size_t count;            /**< N */
  const uint32_t* key;     /**< N indices; NULL: key 0 for every request */
  mm_bytes_view input;     /**< N items, or one for all */
  mm_bytes_view signature; /**< of verifications, likewise */
  mm_bytes_result output;  /**< of all others: N rows. An item without a result is zeroed */
  uint8_t* valid;          /**< verification: N bytes, 1 for a valid signature, else 0 */
  uint8_t* item_status;    /**< NULL, or N bytes that receive MM_OK or MM_ITEM_*; MM_ITEM_NOT_COMPUTED for
                              those whose call failed */
  uint64_t timeout_ns;     /**< as in mm_service_request */
  uint64_t room_ns;
} mm_service_requests;

/**
 * Submit N requests at once, at a small part of the cost of N submissions. They are computed together with
 * other requests, in the order of their arrival.
 * @param service  the service
 * @param requests the requests, N > 0; the structure is copied, its arrays are not
 * @param done     NULL, or called when all are answered, with the status of mm_ticket_answer
 * @param user     passed to `done`
 * @param ticket   as in mm_service_submit
 * @return as mm_service_submit; MM_ERR_ARGUMENT also for rows that are shorter than the operation's longest
 * result; MM_ERR_OVERLAP
 */
MM_API mm_status mm_service_submit_many(mm_service* service, const mm_service_requests* requests,
                                        mm_done_fn done, void* user, mm_ticket** ticket);

/* ---- statistics ------------------------------------------------------------------------------------- */

/** Quantiles of times in ns, to within an eighth of their value. */
typedef struct mm_service_times {
  uint64_t p50, p95, p99, max;
} mm_service_times;

/** What a service has done since its creation. Every request that was accepted is computed, failed,
 * cancelled, expired, waiting or running. */
typedef struct mm_service_statistics {
  size_t struct_size;         /**< set by the caller; no more bytes are written */
  uint64_t accepted;          /**< requests */
  uint64_t computed;          /**< answered with MM_OK or as signatures that are not valid */
  uint64_t failed;            /**< answered with another status of their computation */
  uint64_t cancelled;         /**< before they began, by their callers or by the closing of the service */
  uint64_t expired;           /**< MM_ITEM_EXPIRED */
  uint64_t refused;           /**< not accepted: the queue was full, or the service closed */
  uint64_t waiting;           /**< now */
  uint64_t running;           /**< now, in batches */
  uint64_t batches;           /**< calls made */
  uint64_t batch_sizes[32];   /**< [i]: batches of 2^i to 2^(i+1) - 1 requests */
  mm_service_times queued;    /**< of requests: from acceptance to the begin of their batch */
  mm_service_times computing; /**< of batches: their calls */
  mm_service_times answered;  /**< of requests: from acceptance to the end of their batch's call */
} mm_service_statistics;

/**
 * Describe what a service has done.
 * @param service    the service
 * @param statistics receives the description
 * @return MM_OK; MM_ERR_NULL; MM_ERR_ARGUMENT for an invalid struct_size and in a forked child
 */
MM_API mm_status mm_service_get_statistics(const mm_service* service, mm_service_statistics* statistics);

#ifdef __cplusplus
}
#endif
#endif
