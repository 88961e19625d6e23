// NVTX: ranges of the program, by taking the places of its functions. A range's node in the tree is its parent's child
// of that name; a thread's open ranges are a stack, across domains.
#define NVTX_NO_IMPL  // nothing of NVTX's own: this library is what it calls
#include <nvtx3/nvToolsExt.h>

#include <cwchar>
#include <mutex>
#include <string>
#include <unordered_map>

#include "inject/clock.hpp"
#include "inject/session.hpp"
#include "inject/thread_state.hpp"

namespace roofline::inject {
namespace {

/// What a program holds as handles; never freed, for it may use them until its end.
struct Domain {
  std::string name;
};
struct RegisteredString {
  std::string text;
};

struct Started {
  std::string name;
  const Domain* domain;
  std::uint64_t start;
  std::uint32_t thread;
};
struct StartedRanges {
  std::mutex mutex;
  std::uint64_t last = 0;
  std::unordered_map<std::uint64_t, Started> open;
};
StartedRanges& started_ranges() {
  static auto* const ranges = new StartedRanges;
  return *ranges;
}
constexpr std::size_t kMostStarted = 1 << 16;

/// As UTF-8. NVTX's wide characters are code points.
std::string narrow(const wchar_t* text) {
  std::string result;
  for (; text != nullptr && *text != 0; ++text) {
    const std::uint32_t point = static_cast<char32_t>(*text);
    const auto put = [&](std::uint32_t value) { result += static_cast<char>(value); };
    if (point < 0x80) {
      put(point);
    } else if (point < 0x800) {
      put(0xc0 | point >> 6);
      put(0x80 | (point & 0x3f));
    } else if (point < 0x10000) {
      put(0xe0 | point >> 12);
      put(0x80 | (point >> 6 & 0x3f));
      put(0x80 | (point & 0x3f));
    } else {
      put(0xf0 | (point >> 18 & 7));
      put(0x80 | (point >> 12 & 0x3f));
      put(0x80 | (point >> 6 & 0x3f));
      put(0x80 | (point & 0x3f));
    }
  }
  return result;
}

std::string message_of(const nvtxEventAttributes_t* event) {
  if (event == nullptr) return {};
  switch (event->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      return event->message.ascii != nullptr ? event->message.ascii : "";
    case NVTX_MESSAGE_TYPE_UNICODE:
      return narrow(event->message.unicode);
    case NVTX_MESSAGE_TYPE_REGISTERED:
      return event->message.registered != nullptr
                 ? reinterpret_cast<const RegisteredString*>(event->message.registered)->text
                 : "";
    default:
      return {};
  }
}

/// Runs `work` in the session and the thread's state, unless the thread is in our own code. What fails returns
/// `failed`.
template <typename Result, typename Work>
Result in_session(Result failed, const Work& work) {
  Session* const current = live_session();
  if (current == nullptr) return failed;
  try {
    ThreadState& thread = thread_state(*current);
    if (thread.working) return failed;  // from a signal handler that interrupted us: our locks may be held
    const Working working(thread);
    return work(*current, thread);
  } catch (...) {  // the program, which calls, expects no exceptions
    return failed;
  }
}

std::string_view name_or_unnamed(const std::string& name) {
  return name.empty() ? std::string_view("unnamed range") : std::string_view(name);
}

spool::Id domain_id(Session& session, const Domain* domain) {
  return domain != nullptr ? session.spool.text(domain->name) : 0;
}

int push(const Domain* domain, const std::string& name) {
  return in_session(-1, [&](Session& session, ThreadState& thread) {
    const std::uint32_t depth = thread.open_ranges++;
    if (depth < thread.ranges.size()) {
      const spool::Id parent = depth > 0 ? thread.ranges[depth - 1].range : 0;
      const spool::Id domain_name = domain_id(session, domain);
      thread.ranges[depth] = {session.spool.range(parent, name_or_unnamed(name), domain_name), domain_name, now()};
    }
    return static_cast<int>(depth);
  });
}

void write_time(Session& session, std::uint64_t start, spool::Id range, std::uint32_t thread) {
  const Phase phase = session.phase.load(std::memory_order_relaxed);
  if (phase != Phase::recording && phase != Phase::draining) return;
  session.spool.write(spool::Type::range_time, spool::RangeTime{start, now(), range, thread});
}

int pop(const Domain* domain) {
  return in_session(-1, [&](Session& session, ThreadState& thread) {
    if (thread.open_ranges == 0) return -1;
    if (thread.open_ranges > thread.ranges.size()) return static_cast<int>(--thread.open_ranges);
    const spool::Id domain_name = domain_id(session, domain);
    // Domains may end their ranges out of turn.
    std::uint32_t at = thread.open_ranges;
    while (at > 0 && thread.ranges[at - 1].domain != domain_name) --at;
    if (at == 0) return -1;
    const ThreadState::OpenRange ended = thread.ranges[at - 1];
    for (; at < thread.open_ranges; ++at) thread.ranges[at - 1] = thread.ranges[at];
    --thread.open_ranges;
    write_time(session, ended.start, ended.range, thread.id);
    return static_cast<int>(thread.open_ranges);
  });
}

nvtxRangeId_t start(const Domain* domain, const std::string& name) {
  return in_session(nvtxRangeId_t{0}, [&](Session&, ThreadState& thread) {
    StartedRanges& ranges = started_ranges();
    const std::lock_guard lock(ranges.mutex);
    if (ranges.open.size() < kMostStarted) ranges.open[++ranges.last] = {name, domain, now(), thread.id};
    return nvtxRangeId_t{ranges.last};
  });
}

void end(nvtxRangeId_t id) {
  in_session(0, [&](Session& session, ThreadState&) {
    Started ended;
    {
      StartedRanges& ranges = started_ranges();
      const std::lock_guard lock(ranges.mutex);
      const auto found = ranges.open.find(id);
      if (found == ranges.open.end()) return 0;
      ended = found->second;
      ranges.open.erase(found);
    }
    const spool::Id range = session.spool.range(0, name_or_unnamed(ended.name), domain_id(session, ended.domain));
    write_time(session, ended.start, range, ended.thread);
    return 0;
  });
}

void name_thread(std::uint32_t id, const std::string& name) {
  in_session(0, [&](Session& session, ThreadState& thread) {
    if (id == thread.id) thread.announced = true;
    session.spool.write(spool::Type::thread, spool::Thread{id, session.spool.text(name)});
    return 0;
  });
}

const Domain* domain_of(nvtxDomainHandle_t handle) { return reinterpret_cast<const Domain*>(handle); }
std::string text_of(const char* text) { return text != nullptr ? text : ""; }

int NVTX_API push_ex(const nvtxEventAttributes_t* event) { return push(nullptr, message_of(event)); }
int NVTX_API push_a(const char* text) { return push(nullptr, text_of(text)); }
int NVTX_API push_w(const wchar_t* text) { return push(nullptr, narrow(text)); }
int NVTX_API pop_default() { return pop(nullptr); }
nvtxRangeId_t NVTX_API start_ex(const nvtxEventAttributes_t* event) { return start(nullptr, message_of(event)); }
nvtxRangeId_t NVTX_API start_a(const char* text) { return start(nullptr, text_of(text)); }
nvtxRangeId_t NVTX_API start_w(const wchar_t* text) { return start(nullptr, narrow(text)); }
void NVTX_API end_default(nvtxRangeId_t id) { end(id); }
void NVTX_API name_thread_a(std::uint32_t id, const char* text) { name_thread(id, text_of(text)); }
void NVTX_API name_thread_w(std::uint32_t id, const wchar_t* text) { name_thread(id, narrow(text)); }

int NVTX_API domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return push(domain_of(domain), message_of(event));
}
int NVTX_API domain_pop(nvtxDomainHandle_t domain) { return pop(domain_of(domain)); }
nvtxRangeId_t NVTX_API domain_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return start(domain_of(domain), message_of(event));
}
void NVTX_API domain_end(nvtxDomainHandle_t, nvtxRangeId_t id) { end(id); }

template <typename Handle, typename Held>
Handle handle_of(const std::string& text) {
  return in_session(Handle{}, [&](Session&, ThreadState&) { return reinterpret_cast<Handle>(new Held{text}); });
}
nvtxStringHandle_t NVTX_API register_a(nvtxDomainHandle_t, const char* text) {
  return handle_of<nvtxStringHandle_t, RegisteredString>(text_of(text));
}
nvtxStringHandle_t NVTX_API register_w(nvtxDomainHandle_t, const wchar_t* text) {
  return handle_of<nvtxStringHandle_t, RegisteredString>(narrow(text));
}
nvtxDomainHandle_t NVTX_API create_a(const char* text) { return handle_of<nvtxDomainHandle_t, Domain>(text_of(text)); }
nvtxDomainHandle_t NVTX_API create_w(const wchar_t* text) {
  return handle_of<nvtxDomainHandle_t, Domain>(narrow(text));
}

/// Puts functions of ours into one of the program's tables, as far as it reaches.
class Table {
 public:
  Table(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module) {
    if (callbacks.GetModuleFunctionTable(module, &table_, &size_) == 0) size_ = 0;
  }
  template <typename Function>
  void set(unsigned index, Function* function) {
    if (index < size_ && table_[index] != nullptr) *table_[index] = reinterpret_cast<NvtxFunctionPointer>(function);
  }

 private:
  NvtxFunctionTable table_ = nullptr;
  unsigned size_ = 0;
};

bool fill_tables(NvtxGetExportTableFunc_t export_table) {
  const auto* const callbacks = static_cast<const NvtxExportTableCallbacks*>(export_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->struct_size < sizeof(*callbacks)) return false;
  Table core(*callbacks, NVTX_CB_MODULE_CORE);
  core.set(NVTX_CBID_CORE_RangePushEx, push_ex);
  core.set(NVTX_CBID_CORE_RangePushA, push_a);
  core.set(NVTX_CBID_CORE_RangePushW, push_w);
  core.set(NVTX_CBID_CORE_RangePop, pop_default);
  core.set(NVTX_CBID_CORE_RangeStartEx, start_ex);
  core.set(NVTX_CBID_CORE_RangeStartA, start_a);
  core.set(NVTX_CBID_CORE_RangeStartW, start_w);
  core.set(NVTX_CBID_CORE_RangeEnd, end_default);
  core.set(NVTX_CBID_CORE_NameOsThreadA, name_thread_a);
  core.set(NVTX_CBID_CORE_NameOsThreadW, name_thread_w);
  Table domains(*callbacks, NVTX_CB_MODULE_CORE2);
  domains.set(NVTX_CBID_CORE2_DomainRangePushEx, domain_push);
  domains.set(NVTX_CBID_CORE2_DomainRangePop, domain_pop);
  domains.set(NVTX_CBID_CORE2_DomainRangeStartEx, domain_start);
  domains.set(NVTX_CBID_CORE2_DomainRangeEnd, domain_end);
  domains.set(NVTX_CBID_CORE2_DomainRegisterStringA, register_a);
  domains.set(NVTX_CBID_CORE2_DomainRegisterStringW, register_w);
  domains.set(NVTX_CBID_CORE2_DomainCreateA, create_a);
  domains.set(NVTX_CBID_CORE2_DomainCreateW, create_w);
  return true;
}

}  // namespace
}  // namespace roofline::inject

/// NVTX calls this for each library of the program that uses it. 0: it works as if no tool were there.
// NOLINTNEXTLINE(readability-identifier-naming): NVTX's name for it
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t export_table) {
  try {
    return roofline::inject::session_or_new() != nullptr && roofline::inject::fill_tables(export_table) ? 1 : 0;
  } catch (...) {
    return 0;
  }
}
