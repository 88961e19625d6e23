#include "inject/call_sites.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>

#include "inject/clock.hpp"
#include "inject/mix.hpp"
#include "sample/own_files.hpp"

namespace roofline::inject {
namespace {

constexpr std::size_t kMostFrames = 48;
/// Bytes of the stack above the callback.
constexpr std::uint64_t kMostStack = std::uint64_t{512} << 10U;

std::uint64_t word_at(std::uint64_t address) {
  std::uint64_t word = 0;
  std::memcpy(&word, reinterpret_cast<const void*>(address), sizeof word);
  return word;
}

/// CPU time of the calling thread, in ns: unaffected by other load.
std::uint64_t cpu_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * kSecond + static_cast<std::uint64_t>(time.tv_nsec);
}

/// Where the stack of the calling thread begins and ends; 0 for both where the system does not tell.
std::array<std::uint64_t, 2> stack_of_thread() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {0, 0};
  void* low = nullptr;
  std::size_t size = 0;
  const bool known = pthread_attr_getstack(&attributes, &low, &size) == 0;
  pthread_attr_destroy(&attributes);
  const auto begin = reinterpret_cast<std::uint64_t>(low);
  return known ? std::array{begin, begin + size} : std::array<std::uint64_t, 2>{0, 0};
}

}  // namespace

/// What a thread found lately. Where the return addresses of two calls first differ, their place is the same, because
/// the frames up to there are the same: so places and values together identify a call.
struct CallSites::Recent {
  static constexpr std::size_t kWays = 4;
  /// Where return addresses are above a stack pointer.
  struct Layout {
    std::uintptr_t program_counter = 0, stack_pointer = 0;
    std::uint32_t count = 0;
    std::array<std::uint16_t, kMostFrames> offsets = {};  ///< in words

    bool operator==(const Layout&) const = default;
    bool of(const Caller& caller) const {
      return program_counter == caller.program_counter && stack_pointer == caller.stack_pointer;
    }
    std::uint64_t hash() const {
      std::uint64_t hash = mix(program_counter, stack_pointer);
      for (std::uint32_t i = 0; i < count; ++i) {
        hash = mix(hash, word_at(stack_pointer + offsets[i] * sizeof(std::uint64_t)));
      }
      return hash | 1;  // 0 is an empty place
    }
  };
  struct Known {
    std::uint64_t hash = 0;
    spool::Id code = 0;
    std::uint32_t reserved = 0;
  };
  using Layouts = std::array<Layout, kWays>;
  using Calls = std::array<Known, kWays>;

  Layouts& layouts_of(const Caller& caller) {
    return layouts[(mix(caller.program_counter, caller.stack_pointer) >> 8U) % layouts.size()];
  }
  Calls& calls_of(std::uint64_t hash) { return calls[(hash >> 8U) % calls.size()]; }

  const Known* find(const Caller& caller) {
    for (const Layout& layout : layouts_of(caller)) {
      if (!layout.of(caller)) continue;
      const std::uint64_t hash = layout.hash();
      for (const Known& known : calls_of(hash)) {
        if (known.hash == hash) return &known;
      }
    }
    return nullptr;
  }

  void keep(const Layout& layout, const Caller& caller, spool::Id code) {
    Layouts& alike = layouts_of(caller);
    if (std::find(alike.begin(), alike.end(), layout) == alike.end()) alike[next_layout++ % kWays] = layout;
    const std::uint64_t hash = layout.hash();
    calls_of(hash)[next_call++ % kWays] = {hash, code, 0};
  }

  const CallSites* owner = nullptr;
  std::array<std::uint64_t, 2> stack = {};
  std::size_t next_layout = 0, next_call = 0;
  std::array<Layouts, 32> layouts = {};
  std::array<Calls, 256> calls = {};
};

spool::Id CallSites::of(const Caller& caller, const char* kernel) {
  static thread_local Recent recent;
  if (recent.owner != this) {
    recent = {};
    recent.owner = this;
    recent.stack = stack_of_thread();
  }
  // On a stack of the program's own making (a fiber's, a signal handler's) nothing is known to be mapped.
  if (caller.stack_pointer < recent.stack[0] || caller.stack_pointer >= recent.stack[1]) return 0;
  if (const Recent::Known* const known = recent.find(caller)) return known->code;
  const std::lock_guard lock(mutex_);
  if (!may_unwind()) return 0;
  const Found found =
      unwind(caller, kernel, std::min<std::uint64_t>(recent.stack[1], caller.stack_pointer + kMostStack));
  Recent::Layout layout;
  layout.program_counter = caller.program_counter;
  layout.stack_pointer = caller.stack_pointer;
  for (const std::uint64_t slot : found.slots) {
    layout.offsets[layout.count++] = static_cast<std::uint16_t>((slot - caller.stack_pointer) / sizeof(std::uint64_t));
  }
  recent.keep(layout, caller, found.code);
  return found.code;
}

/// A program whose stack is another one at each call is not slowed down by more than a hundredth.
bool CallSites::may_unwind() {
  constexpr std::uint64_t kAtOnce = kSecond / 5, kShare = 100;
  const std::uint64_t time = now();
  if (began_ == 0) began_ = time;
  return spent_ < kAtOnce + (time - began_) / kShare;
}

/// Goes out from the callback to the program.
class CallSites::Walk {
 public:
  Walk(CallSites& sites, const Caller& caller, const char* kernel, std::uint64_t stack_end)
      : sites_(sites),
        kernel_(kernel != nullptr ? wrapper_identity(kernel) : 0),
        stack_(caller.stack_pointer,
               {reinterpret_cast<const char*>(caller.stack_pointer), stack_end - caller.stack_pointer}) {
    registers_.program_counter = caller.program_counter;
    registers_.stack_pointer = caller.stack_pointer;
    registers_.frame_pointer = caller.frame_pointer;
  }

  Found run() {
    for (std::size_t frame = 0; frame < kMostFrames; ++frame) {
      LoadedModule* const module = sites_.modules_.find(registers_.program_counter - 1);
      if (module == nullptr || module->is_interpreter()) break;
      // A return address is the instruction after the call, which may be another function's or line's.
      const std::uint64_t address = module->linked(registers_.program_counter - 1);
      if (found_.code = call_in(*module, address); found_.code != 0) return std::move(found_);
      if (!step_to_caller(registers_, unwind_row(*module, address), stack_, false)) break;
      if (registers_.return_slot % sizeof(std::uint64_t) != 0) break;
      found_.slots.push_back(registers_.return_slot);
    }
    found_.code = with_lines_;
    return std::move(found_);
  }

 private:
  /// The call's record, if the function is the program's own.
  spool::Id call_in(LoadedModule& module, std::uint64_t address) {
    const bool own = module.is_program();
    // NCCL of some packages has a table of lines; a program's author can do nothing there.
    if (!own && (with_lines_ != 0 || is_vendor_library(module.path()) || !module.has_lines())) return 0;
    const LoadedFunction* const function = module.function_at(address);
    if (function == nullptr || function->role == FunctionRole::runtime) return 0;
    const bool stub = function->role == FunctionRole::stub;
    const bool wrapper = function->wrapper == stub_ || function->wrapper == kernel_;
    stub_ = stub ? function->wrapper : 0;
    if (stub || wrapper) return 0;
    if (module.file == 0) module.file = sites_.spool_.code_file(module.path(), module.build_id());
    const spool::Id code = sites_.spool_.code(module.file, address);
    if (!own) with_lines_ = code;
    return own ? code : 0;
  }

  CallSites& sites_;
  std::uint64_t kernel_;  ///< wrapper_identity(); 0: none
  Registers registers_;
  StackBytes stack_;
  Found found_;
  spool::Id with_lines_ = 0;
  std::uint64_t stub_ = 0;  ///< of the stub that the frame before is in
};

CallSites::Found CallSites::unwind(const Caller& caller, const char* kernel, std::uint64_t stack_end) {
  const std::uint64_t start = cpu_time();
  modules_.refresh();
  Found found = Walk(*this, caller, kernel, stack_end).run();
  ++unwound_;
  spent_ += cpu_time() - start;
  return found;
}

}  // namespace roofline::inject
