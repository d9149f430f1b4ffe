// SPDX-License-Identifier: Apache-2.0
// Products of bytes on tensor cores beside instructions of one kind, or of two kinds by turns: which of a
// multiprocessor's pipes work at the same time. For sm_90a.
#include <cstddef>
#include <cstdint>

#include "arch/cuda/byte_products.cuda.hpp"
#include "job.hpp"

namespace manymod::bench {
namespace {

using cuda::Warpgroup;
static_assert(kOverlapThreads == Warpgroup::kThreads);

extern __shared__ uint4 shared_memory[];

/// What instructions take beside the result of an earlier one.
struct Operands {
  std::uint64_t a, b;
};

/// Where a value begins: at some bytes of the matrix.
using Seed = const volatile std::uint64_t*;
__device__ __forceinline__ Seed seed_at(unsigned i) {
  return reinterpret_cast<Seed>(shared_memory) + threadIdx.x + i;
}

__device__ __forceinline__ std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }

// Kinds of instructions. step() is kCount of them, and takes what it left before.

#define MM_OVERLAP_WORD_KIND(Name, statement)                                 \
  struct Name {                                                               \
    static constexpr unsigned kCount = 1;                                     \
    std::uint32_t x;                                                          \
    __device__ __forceinline__ explicit Name(Seed seed) : x(low(*seed)) {}    \
    __device__ __forceinline__ void step(const Operands& with) {              \
      asm volatile(statement : "+r"(x) : "r"(low(with.a)), "r"(low(with.b))); \
    }                                                                         \
    __device__ __forceinline__ std::uint64_t digest() const { return x; }     \
  };
MM_OVERLAP_WORD_KIND(Imad, "mad.lo.u32 %0, %0, %1, %2;")
MM_OVERLAP_WORD_KIND(ImadHi, "mul.hi.u32 %0, %0, %1;")
MM_OVERLAP_WORD_KIND(Iadd3, "{.reg .u32 s; add.u32 s, %0, %1; add.u32 %0, s, %2;}")
MM_OVERLAP_WORD_KIND(Lop3, "lop3.b32 %0, %0, %1, %2, 0xe4;")
MM_OVERLAP_WORD_KIND(Shf, "shf.l.wrap.b32 %0, %1, %0, %2;")
MM_OVERLAP_WORD_KIND(Ffma,
                     "{.reg .f32 x, a, b; mov.b32 x, %0; mov.b32 a, %1; mov.b32 b, %2;"
                     "fma.rn.f32 x, x, a, b; mov.b32 %0, x;}")
#undef MM_OVERLAP_WORD_KIND

/// The product of both words of the result before: with a sum, or without its high word, the compiler would
/// make other instructions of it.
struct ImadWide {
  static constexpr unsigned kCount = 1;
  std::uint64_t x;
  __device__ __forceinline__ explicit ImadWide(Seed seed) : x(*seed) {}
  __device__ __forceinline__ void step(const Operands&) {
    asm volatile("{.reg .u32 low, high; mov.b64 {low, high}, %0; mul.wide.u32 %0, low, high;}" : "+l"(x));
  }
  __device__ __forceinline__ std::uint64_t digest() const { return x; }
};

struct Dfma {
  static constexpr unsigned kCount = 1;
  double x;
  __device__ __forceinline__ explicit Dfma(Seed seed) : x(__longlong_as_double(*seed)) {}
  __device__ __forceinline__ void step(const Operands& with) {
    asm volatile("fma.rn.f64 %0, %0, %1, %2;"
                 : "+d"(x)
                 : "d"(__longlong_as_double(with.a)), "d"(__longlong_as_double(with.b)));
  }
  __device__ __forceinline__ std::uint64_t digest() const { return __double_as_longlong(x); }
};

/// Each thread's 16 bytes begin with their own address, which is what the next load takes. A warp's loads are
/// of four rows of all banks.
struct Lds128 {
  static constexpr unsigned kCount = 1;
  std::uint32_t x;
  __device__ __forceinline__ explicit Lds128(Seed)
      : x(static_cast<std::uint32_t>(
            __cvta_generic_to_shared(shared_memory + kOverlapMatrixBytes / sizeof(uint4) + threadIdx.x))) {}
  __device__ __forceinline__ void step(const Operands&) {
    asm volatile("{.reg .u32 y, z, w; ld.volatile.shared.v4.u32 {%0, y, z, w}, [%0];}" : "+r"(x));
  }
  __device__ __forceinline__ std::uint64_t digest() const { return x; }
};

/// The lane that each lane of a warp reads: its own, one for all, its place in one quad for all, its place in
/// any quad, or any.
enum class Lanes { own, one, quad, quads, any };

/// Lanes but `own` come from memory, so that no compiler knows them. `any` is another for each lane and
/// value.
template <Lanes kLanes>
struct Shuffle {
  static constexpr unsigned kCount = 1;
  std::uint32_t x, lane;
  __device__ __forceinline__ explicit Shuffle(Seed seed) : x(low(*seed)) {
    const std::uint32_t any = (x * 0x9e3779b9) >> 13, own = threadIdx.x % 32;
    const std::uint32_t one = __shfl_sync(0xffffffffu, any, 0);
    const std::uint32_t of_quad = __shfl_sync(0xffffffffu, any, own / 4);
    lane = kLanes == Lanes::own     ? own
           : kLanes == Lanes::one   ? one
           : kLanes == Lanes::quad  ? one * 4 + own % 4
           : kLanes == Lanes::quads ? of_quad * 4 + own % 4
                                    : any;
    lane %= 32;
  }
  __device__ __forceinline__ void step(const Operands&) {
    asm volatile("shfl.sync.idx.b32 %0, %0, %1, 31, 0xffffffff;" : "+r"(x) : "r"(lane));
  }
  __device__ __forceinline__ std::uint64_t digest() const { return x; }
};

/// Kinds by turns.
template <class Kind, class... Others>
struct Turns {
  static constexpr unsigned kCount = Kind::kCount + Turns<Others...>::kCount;
  Kind first;
  Turns<Others...> others;
  __device__ __forceinline__ explicit Turns(Seed seed) : first(seed), others(seed + kOverlapThreads) {}
  __device__ __forceinline__ void step(const Operands& with) {
    first.step(with);
    others.step(with);
  }
  __device__ __forceinline__ std::uint64_t digest() const { return first.digest() + others.digest(); }
};
template <class Kind>
struct Turns<Kind> : Kind {
  using Kind::Kind;
};

/// Bodies of instructions, with as many values as hide the latency of one.
template <class Kind>
class Bodies {
  static constexpr unsigned kValues = 8;
  static_assert(kOverlapBody % (kValues * Kind::kCount) == 0);

 public:
  __device__ __forceinline__ Bodies()
      : with_{*seed_at(8), *seed_at(9)},
        value_{Kind(seed_at(0)), Kind(seed_at(1)), Kind(seed_at(2)), Kind(seed_at(3)),
               Kind(seed_at(4)), Kind(seed_at(5)), Kind(seed_at(6)), Kind(seed_at(7))} {}
  __device__ __forceinline__ void run() {
#pragma unroll
    for (unsigned i = 0; i < kOverlapBody / Kind::kCount; ++i) value_[i % kValues].step(with_);
  }
  __device__ __forceinline__ std::uint64_t digest() const {
    std::uint64_t sum = 0;
#pragma unroll
    for (unsigned i = 0; i < kValues; ++i) sum += value_[i].digest();
    return sum;
  }

 private:
  Operands with_;
  Kind value_[kValues];
};

/// Products of bytes, one of which is always under way.
class Products {
 public:
  __device__ __forceinline__ Products()
      : matrix_(reinterpret_cast<const std::byte*>(shared_memory), kOverlapFours) {
#pragma unroll
    for (unsigned i = 0; i < 2 * kOverlapSteps; ++i) {
      rows_.words[0][i] = low(*seed_at(2 * i));
      rows_.words[1][i] = low(*seed_at(2 * i + 1));
    }
  }
  __device__ __forceinline__ void begin() { team_.start(sums_[1], rows_, matrix_, 0); }
  /// Two, and `beside` after the start of each.
  template <class Beside>
  __device__ __forceinline__ void run(const Beside& beside) {
#pragma unroll
    for (unsigned i = 0; i < 2; ++i) {
      team_.start(sums_[i], rows_, matrix_, 0);
      team_.template wait<1>(0);
      team_.order_after_wait(sums_[1 - i]);
      beside();
    }
  }
  __device__ __forceinline__ std::uint64_t end() {
    team_.template wait<0>(0);
    std::uint64_t sum = 0;
#pragma unroll
    for (auto& sums : sums_) {
      team_.order_after_wait(sums);
#pragma unroll
      for (const std::int32_t word : sums.sum) sum += static_cast<std::uint32_t>(word);
    }
    return sum;
  }

 private:
  Warpgroup team_;
  Warpgroup::Matrix matrix_;
  cuda::ByteRows<kOverlapSteps> rows_;
  cuda::ByteSums<kOverlapFours> sums_[2];
};

/// A warpgroup's time.
class Watch {
 public:
  __device__ __forceinline__ Watch(const OverlapJob& job, unsigned group)
      : barrier_(1 + group), start_(clock64()), length_(job.clocks) {}
  /// To be asked after each round, by all threads: the answer is the same to the whole warpgroup.
  __device__ __forceinline__ bool more() {
    ++rounds_;
    int any;
    asm volatile(
        "{.reg .pred more, any;\n"
        "setp.ne.s32 more, %1, 0;\n"
        "bar.red.or.pred any, %2, %3, more;\n"
        "selp.s32 %0, 1, 0, any;}"
        : "=r"(any)
        : "r"(static_cast<int>(elapsed() < length_)), "r"(barrier_), "n"(Warpgroup::kThreads)
        : "memory");
    return __any_sync(~0u, any) != 0;
  }
  __device__ __forceinline__ OverlapResult result(std::uint64_t digest) const {
    return {rounds_, elapsed(), digest};
  }

 private:
  unsigned barrier_;
  std::uint64_t start_, length_, rounds_ = 0;

  __device__ __forceinline__ std::uint64_t elapsed() const {
    return static_cast<std::uint64_t>(clock64()) - start_;
  }
};

template <class Kind>
__device__ __forceinline__ OverlapResult products_and(const OverlapJob& job, unsigned group) {
  Bodies<Kind> bodies;
  Products products;
  Watch watch(job, group);
  products.begin();
  do {
#pragma unroll 1
    for (unsigned i = 0; i < kOverlapRound; i += 2) {
      products.run([&] {
#pragma unroll 1
        for (unsigned body = 0; body < job.inside; ++body) bodies.run();
      });
    }
  } while (watch.more());
  const OverlapResult timed = watch.result(bodies.digest());
  return {timed.rounds, timed.clocks, timed.digest + products.end()};
}

template <class Kind>
__device__ __forceinline__ OverlapResult bodies_alone(const OverlapJob& job, unsigned group) {
  Bodies<Kind> bodies;
  Watch watch(job, group);
  do {
#pragma unroll 1
    for (unsigned i = 0; i < kOverlapRound; ++i) bodies.run();
  } while (watch.more());
  return watch.result(bodies.digest());
}

__device__ __forceinline__ void fill_shared_memory() {
  auto* const words = reinterpret_cast<std::uint32_t*>(shared_memory);
  for (unsigned i = threadIdx.x; i < kOverlapMatrixBytes / 4; i += blockDim.x)
    words[i] = 0x85ebca6b * (i + 1);
  const auto own = Lds128(nullptr).x;
  shared_memory[kOverlapMatrixBytes / sizeof(uint4) + threadIdx.x] = {own, own, own, own};
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
}

template <class Kind>
__device__ __forceinline__ void run(const OverlapJob& job) {
  fill_shared_memory();
  // A maximum over the warp, so that the compiler knows that warps do not diverge.
  const unsigned group = __reduce_max_sync(~0u, threadIdx.x / Warpgroup::kThreads);
  const OverlapResult result =
      group < job.product_groups ? products_and<Kind>(job, group) : bodies_alone<Kind>(job, group);
  const std::uint64_t digest = result.digest;
  OverlapResult& place = job.results[blockIdx.x * kOverlapGroups + group];
  atomicAdd(reinterpret_cast<unsigned long long*>(&place.digest), digest);
  if (threadIdx.x % Warpgroup::kThreads == 0) {
    place.rounds = result.rounds;
    place.clocks = result.clocks;
  }
}

}  // namespace

#define KIND(name, ...)                                                            \
  extern "C" __global__ void __launch_bounds__(kOverlapGroups* kOverlapThreads, 1) \
      pipe_overlap_##name(const __grid_constant__ OverlapJob job) {                \
    run<Turns<__VA_ARGS__>>(job);                                                  \
  }
MM_OVERLAP_KINDS(KIND)
#undef KIND

}  // namespace manymod::bench
