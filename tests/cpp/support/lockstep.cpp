// SPDX-License-Identifier: Apache-2.0
#include "support/lockstep.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "arch/cuda/words.cuda.hpp"
#include "support/address_sanitizer.hpp"
#include "support/fiber_switch.hpp"

#if defined(MM_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace manymod::test {
namespace {

// Stored in the carry flag at each synchronization. It is not a valid carry, so a carry chain that spans a
// synchronization gives a wrong sum.
constexpr std::uint32_t kInvalidCarry = 0x5bad5bad;

/// The stack of a fiber, with an inaccessible page at its end.
class Stack {
 public:
  Stack() : guard_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    void* const memory =
        mmap(nullptr, guard_ + kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    memory_ = static_cast<std::byte*>(memory);
    mprotect(memory_, guard_, PROT_NONE);
  }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  ~Stack() { munmap(memory_, guard_ + kSize); }

  [[nodiscard]] void* bottom() const { return memory_ + guard_; }
  static constexpr std::size_t kSize = std::size_t{1} << 18;

 private:
  std::size_t guard_;
  std::byte* memory_;
};

/// Thrown in waiting lanes after another lane has failed.
struct Abandoned {};

/// Describes where a lane was last synchronized, for messages.
std::string describe(unsigned lane, const SyncPoint& point) {
  if (point.ordinal == 0) return "lane " + std::to_string(lane) + " never synchronized";
  return "lane " + std::to_string(lane) + " was last at sync point " + std::to_string(point.ordinal) + ", " +
         point.operation + " of " + std::to_string(point.size) + " bytes at " + point.file + ":" +
         std::to_string(point.line);
}

/// True if the two are the same synchronization.
bool same(const SyncPoint& a, const SyncPoint& b) {
  const auto equal = [](const char* x, const char* y) { return x == y || std::strcmp(x, y) == 0; };
  return a.ordinal == b.ordinal && equal(a.operation, b.operation) && a.line == b.line && a.size == b.size &&
         equal(a.file, b.file);
}

}  // namespace

/// The contexts of the lanes and, after them, of the caller of Lockstep::run. AddressSanitizer must be
/// notified of each switch. What it allocates for the local variables of a fiber (its fake stack) takes
/// longer to set up than most bodies run, so that the next fiber of the lane goes on with it.
struct Lockstep::Fibers {
  struct Fiber {
    FiberContext context;
    void* fake_stack = nullptr;
    const void* bottom = nullptr;
    std::size_t size = 0;
    bool ended = true;
  };
  static constexpr unsigned kCaller = kMaxLanes;

  std::vector<std::unique_ptr<Stack>> stacks;
  std::array<Fiber, kMaxLanes + 1> fiber;
  unsigned lanes = 0;
  Lockstep* lockstep = nullptr;
  const std::function<void(Lockstep&, unsigned)>* body = nullptr;
  std::exception_ptr failure;
  bool keeps_fake_stacks = true;

  Fibers() = default;
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;
  ~Fibers() { discard_fake_stacks(); }

  static Fibers& of_this_thread() {
    static thread_local Fibers fibers;
    return fibers;
  }

  /// Prepares the fiber of a lane.
  void start(unsigned lane);
  /// Switches from one fiber to another; returns when the first is resumed.
  void switch_to(unsigned from, unsigned to);
  /// Notifies AddressSanitizer that fiber `in` runs. If not null, `bottom` and `size` receive the stack of
  /// the fiber that ran before.
  void notify_arrival(unsigned in, const void** bottom, std::size_t* size);
  /// The next lane that has not ended, in cyclic order; kCaller if all have.
  [[nodiscard]] unsigned next(unsigned lane) const;
  /// The body of a fiber. It does not return, and has no local variables that AddressSanitizer would
  /// allocate.
  void run_lane(unsigned lane);
  /// Calls the body of a lane, and keeps what it throws.
  [[gnu::noinline]] void call_body(unsigned lane);
  static void entry(unsigned lane);
  /// Runs all lanes from the first to the end of the last.
  void run_all();
  void discard_fake_stacks();
};

void Lockstep::Fibers::entry(unsigned lane) { of_this_thread().run_lane(lane); }

void Lockstep::Fibers::start(unsigned lane) {
  while (stacks.size() <= lane) stacks.push_back(std::make_unique<Stack>());
  Fiber& f = fiber[lane];
  f.context = FiberContext{};
  f.bottom = stacks[lane]->bottom();
  f.size = Stack::kSize;
  f.ended = false;
#if defined(MM_ADDRESS_SANITIZER)
  // A fiber that ended here has left its redzones.
  __asan_unpoison_memory_region(f.bottom, f.size);
#endif
  f.context.prepare(stacks[lane]->bottom(), Stack::kSize, &Fibers::entry, lane);
}

void Lockstep::Fibers::switch_to(unsigned from, unsigned to) {
#if defined(MM_ADDRESS_SANITIZER)
  const bool discard = from != kCaller && fiber[from].ended && !keeps_fake_stacks;
  void** const keep = discard ? nullptr : &fiber[from].fake_stack;
  __sanitizer_start_switch_fiber(keep, fiber[to].bottom, fiber[to].size);
#endif
  FiberContext::switch_between(fiber[from].context, fiber[to].context);
  notify_arrival(from, nullptr, nullptr);
}

void Lockstep::Fibers::notify_arrival([[maybe_unused]] unsigned in, [[maybe_unused]] const void** bottom,
                                      [[maybe_unused]] std::size_t* size) {
#if defined(MM_ADDRESS_SANITIZER)
  __sanitizer_finish_switch_fiber(fiber[in].fake_stack, bottom, size);
#endif
}

unsigned Lockstep::Fibers::next(unsigned lane) const {
  for (unsigned step = 1; step <= lanes; ++step) {
    const unsigned other = (lane + step) % lanes;
    if (!fiber[other].ended) return other;
  }
  return kCaller;
}

void Lockstep::Fibers::run_lane(unsigned lane) {
  // Lane 0 is entered from the caller, whose stack becomes known here.
  Fiber& caller = fiber[kCaller];
  if (lane == 0) {
    notify_arrival(lane, &caller.bottom, &caller.size);
  } else {
    notify_arrival(lane, nullptr, nullptr);
  }
  call_body(lane);
  fiber[lane].ended = true;
  switch_to(lane, next(lane));
}

void Lockstep::Fibers::call_body(unsigned lane) {
  try {
    if (!failure) (*body)(*lockstep, lane);
  } catch (const Abandoned&) {  // NOLINT(bugprone-empty-catch): the failure is another lane's, and kept
  } catch (...) {
    if (!failure) failure = std::current_exception();
  }
}

void Lockstep::Fibers::run_all() {
  for (unsigned lane = 0; lane < lanes; ++lane) start(lane);
  switch_to(kCaller, 0);
}

/// Each is discarded when a fiber that has it ends. After a failure fibers call no body.
void Lockstep::Fibers::discard_fake_stacks() {
#if defined(MM_ADDRESS_SANITIZER)
  if (stacks.empty()) return;
  lanes = static_cast<unsigned>(stacks.size());
  failure = std::make_exception_ptr(Abandoned());
  keeps_fake_stacks = false;
  run_all();
#endif
}

void Lockstep::run(unsigned lanes, const std::function<void(Lockstep&, unsigned)>& body) {
  Fibers& fibers = Fibers::of_this_thread();
  if (fibers.body != nullptr) throw LockstepError("a lane started a group of its own");
  Lockstep lockstep(fibers, lanes);
  fibers.lanes = lanes;
  fibers.lockstep = &lockstep;
  fibers.body = &body;
  fibers.failure = nullptr;
  fibers.run_all();
  fibers.body = nullptr;
  if (fibers.failure) std::rethrow_exception(std::exchange(fibers.failure, nullptr));
}

void Lockstep::synchronize(unsigned lane, SyncPoint point, const Value& value) {
  point.ordinal = ++sync_counts_[lane];
  deposits_[point.ordinal % 2][lane] = {point, value};
  fibers_.switch_to(lane, fibers_.next(lane));
  if (fibers_.failure) throw Abandoned();
  // Each lane compares with its neighbour, so all lanes are compared.
  const unsigned neighbour = (lane + 1) % lanes_;
  if (!same(point, deposit(neighbour, point.ordinal).point)) {
    throw LockstepError("lanes have diverged: " + describe(lane, point) + "; " +
                        describe(neighbour, deposit(neighbour, sync_counts_[neighbour]).point));
  }
  cuda::carry_flag = kInvalidCarry;
}

const Lockstep::Value& Lockstep::value(unsigned reader, unsigned lane) const {
  return deposit(lane, sync_counts_[reader]).value;
}

}  // namespace manymod::test
