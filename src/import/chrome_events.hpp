// The events of a chrome trace, one after another, whatever wrote it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/byte_source.hpp"
#include "import/imported.hpp"

namespace roofline {

/// One event; its texts live until the next one.
struct ChromeEvent {
  struct Argument {
    std::string name;
    std::string text;  ///< of a string, or the JSON of an array
    double number = 0;
    std::int64_t integer = 0;
    bool is_number = false;
  };

  std::string phase, category, name;
  double time_us = 0, duration_us = 0;                         ///< NaN: missing, or no number
  std::optional<std::int64_t> time_ns = {}, duration_ns = {};  ///< the same as written: a double has steps of 256 ns
  std::int64_t process = 0, thread = 0;                        ///< 0 where they are names
  std::string process_name, thread_name;
  std::int64_t id = 0;
  std::vector<Argument> arguments;
  std::size_t argument_count = 0;  ///< of `arguments`, those of this event: the others keep their memory for the next
  std::uint64_t offset = 0;        ///< in the file, of its end

  const Argument* find(std::string_view wanted) const;
  std::string_view text(std::string_view wanted) const;
  double number(std::string_view wanted, double otherwise) const;
  std::int64_t integer(std::string_view wanted, std::int64_t otherwise) const;
  bool has(std::string_view wanted) const { return find(wanted) != nullptr; }
  /// "[132,1,1]" as three extents, 1 for missing ones; 0 without the argument.
  std::array<std::uint32_t, 3> extents(std::string_view wanted) const;
  /// Its start and end in ns; std::nullopt if they are no times (clean_times.hpp).
  std::optional<Span> times() const;
  /// True for a begin or an end without its partner.
  bool is_unpaired() const { return phase == "B" || phase == "E"; }
  /// True for the begin of an asynchronous event, which belongs to no thread: no reader takes these.
  bool is_asynchronous() const { return phase == "b" || phase == "S"; }
  void clear();
};

/// Metadata beside the events.
struct ChromeTrace {
  std::vector<DeviceFacts> devices;
  std::int64_t rank = -1;
  bool stayed_open = false;  ///< the array of events has no end: its program may have been stopped
  bool is_hip = false;       ///< it has versions of HIP or ROCm's tracer
  std::int64_t base_ns = 0;  ///< "baseTimeNanoseconds", which times are relative to; 0: they are not
};

/// What to do about JSON that is no trace of a known tool.
inline constexpr const char* kKnownTraces =
    "JSON of torch.profiler (export_chrome_trace), JAX, Triton Proton, rocprofv3, nvbench, Google Benchmark and "
    "trtexec is imported";

/// What the report of a trace whose array has no end says.
inline constexpr const char* kStayedOpen =
    "the array of events has no end (]): the program that wrote it may have been stopped before it had written all";

/// Calls `take` with each event, pairs of begins and ends as complete events (event_pairs.hpp). Only arguments that
/// `wanted` accepts are kept.
ChromeTrace read_chrome_trace(ByteSource& source, const std::function<bool(std::string_view)>& wanted,
                              const std::function<void(ChromeEvent&)>& take);

}  // namespace roofline
