// The events of a torch.profiler trace as compact records, which kineto.cpp joins.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "import/byte_source.hpp"
#include "import/chrome_events.hpp"
#include "import/imported.hpp"
#include "import/kineto_categories.hpp"

namespace roofline::kineto {

inline constexpr std::int64_t kNone = -1;

/// Texts by number.
class Words {
 public:
  Words() = default;
  Words(Words&&) = default;  // the list points into the map, whose nodes stay

  std::uint32_t id(std::string_view text) {
    const auto [found, is_new] = ids_.try_emplace(std::string(text), static_cast<std::uint32_t>(list_.size()));
    if (is_new) list_.push_back(&found->first);
    return found->second;
  }
  const std::string& operator[](std::uint32_t id) const { return *list_[id]; }

 private:
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::vector<const std::string*> list_;
};

/// Operator calls with equal arguments.
struct Signature {
  std::uint32_t name = 0, dims = 0, types = 0, concrete = 0;
  double flops = 0, bytes = 0;  ///< that Inductor states of its own kernels
  auto key() const { return std::tie(name, dims, types, concrete, flops, bytes); }
  bool operator<(const Signature& other) const { return key() < other.key(); }
};

enum class SpanKind : std::uint8_t { operation, annotation, module, function };

/// Something on a thread of the host.
struct Span {
  std::uint64_t start = 0, end = 0;
  std::uint32_t thread = 0;
  std::uint32_t what = 0;  ///< signature of an operation, else a word
  SpanKind kind = SpanKind::operation;
};

struct Call {
  std::uint32_t process = 0;
  std::int64_t correlation = kNone;  ///< within the process
  std::uint64_t start = 0, end = 0;
  std::uint32_t thread = 0, name = 0;
  auto operator<=>(const Call&) const = default;  ///< by process and correlation
};

/// An operator call; its External id is unique within its process.
struct Operation {
  std::uint32_t process = 0;
  std::int64_t external = kNone;
  std::uint32_t span = 0;
  auto operator<=>(const Operation&) const = default;
};

enum class GpuKind : std::uint8_t { kernel, copy, fill };

struct GpuEvent {
  std::uint64_t start = 0, end = 0;
  std::int64_t correlation = kNone, external = kNone;
  std::uint64_t bytes = 0, graph_node = 0;
  std::uint32_t name = 0, collective = 0;  ///< words
  std::uint32_t process = 0;               ///< as the trace has it
  bool process_is_device = false;          ///< that is the device's number and no process of the host
  std::uint32_t device = 0, context = 0, graph = 0;
  std::uint32_t stream = 0;                            ///< kUnknownStream: not in the trace
  bool stream_is_thread = false;                       ///< the track that the trace shows it on
  std::array<std::uint32_t, 3> grid = {}, block = {};  ///< zero: not in the trace
  std::uint32_t registers = 0, shared = 0;
  GpuKind kind = GpuKind::kernel;
};

/// From a forward operator to its backward: process and number.
using Flow = std::pair<std::uint32_t, std::int64_t>;

/// A thread and a moment.
struct Moment {
  std::uint32_t thread = 0;
  std::uint64_t time = 0;
  auto operator<=>(const Moment&) const = default;
};

struct Events {
  Words words;                        ///< the first one is empty
  std::vector<Signature> signatures;  ///< the first one is empty
  std::vector<Span> spans;
  std::vector<Call> calls;  ///< by process and correlation
  std::vector<GpuEvent> gpu;
  std::vector<Operation> operations;            ///< sorted
  std::vector<std::uint32_t> thread_ids;        ///< of the system, made unique, by the number in the records
  std::vector<std::uint32_t> thread_processes;  ///< by the same number
  std::map<Flow, Moment> forward;
  std::vector<std::pair<Moment, Flow>> backward;
  std::unordered_map<std::uint32_t, double> collectives;  ///< by word: bytes that each GPU sends over its links
  std::vector<DeviceFacts> devices;
  std::int64_t shared_devices = 0;  ///< that are numbers of several processes' GPUs, which are apart here
  std::int64_t rank = -1, last_process = 0, base_ns = 0;
  bool is_hip = false;            ///< the header has versions of HIP
  bool stayed_open = false;       ///< the array of events has no end
  TimeDefects time_defects = {};  ///< of host events
  CategoryCounts categories;

  /// Null if there is none.
  const Call* call_of(std::uint32_t process, std::int64_t correlation) const;
  const Span* operation_of(std::uint32_t process, std::int64_t external) const;
};

Events read_events(ByteSource& source);

inline std::uint32_t small(std::int64_t value) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(value, 0, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace roofline::kineto
