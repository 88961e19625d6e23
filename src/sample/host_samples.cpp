#include "sample/host_samples.hpp"

namespace roofline {
namespace {

struct StateNames {
  std::string_view id, text;
};
constexpr std::array<StateNames, kThreadStates.size()> kStateNames = {{{"running", "running"},
                                                                       {"runnable", "waits for a CPU"},
                                                                       {"gil", "waits for the GIL"},
                                                                       {"lock", "waits for a lock"},
                                                                       {"read", "waits for a pipe"},
                                                                       {"network", "waits for a socket"},
                                                                       {"request", "waits for requests"},
                                                                       {"poll", "polls"},
                                                                       {"disk", "waits for a disk"},
                                                                       {"sleep", "sleeps"},
                                                                       {"child", "waits for a process"},
                                                                       {"gpu", "waits for the GPU"},
                                                                       {"other", "waits"}}};

}  // namespace

std::string_view to_string(ThreadState state) { return kStateNames[static_cast<std::size_t>(state)].text; }
std::string_view id_of(ThreadState state) { return kStateNames[static_cast<std::size_t>(state)].id; }

std::optional<ThreadState> parse_thread_state(std::string_view id) {
  for (const ThreadState state : kThreadStates) {
    if (id_of(state) == id) return state;
  }
  return std::nullopt;
}

}  // namespace roofline
