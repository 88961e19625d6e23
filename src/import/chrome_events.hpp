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
  double time_us = 0, duration_us = 0;
  std::optional<std::int64_t> time_ns = {}, duration_ns = {};  ///< the same as written: a double has steps of 256 ns
  std::int64_t process = 0, thread = 0;  ///< 0 where they are names
  std::string process_name, thread_name;
  std::int64_t id = 0;
  bool has_time = false;
  std::vector<Argument> arguments;
  std::size_t argument_count = 0;  ///< of `arguments`, those of this event: the others keep their memory for the next
  std::uint64_t offset = 0;        ///< in the file, of its end

  const Argument* find(std::string_view wanted) const;
  std::string_view text(std::string_view wanted) const;
  double number(std::string_view wanted, double otherwise) const;
  std::int64_t integer(std::string_view wanted, std::int64_t otherwise) const;
  bool has(std::string_view wanted) const { return find(wanted) != nullptr; }
  /// "[132,1,1]" as three extents; 1 for missing ones.
  std::array<std::uint32_t, 3> extents(std::string_view wanted) const;
  /// Whether its start and duration are times.
  bool sane() const;
  /// Nanoseconds, where it is sane().
  std::uint64_t start_ns() const;
  std::uint64_t end_ns() const;
  void clear();
};

/// The events that were left out because their times are none.
class InvalidEvents {
 public:
  void add(const ChromeEvent& event);
  /// Adds their number and the first of them; nothing without any.
  void note(std::vector<std::string>& notes) const;
  std::int64_t count() const { return count_; }

 private:
  std::int64_t count_ = 0;
  std::string first_;  ///< its name, place and times
};

/// Metadata beside the events.
struct ChromeTrace {
  std::vector<DeviceFacts> devices;
  std::int64_t rank = -1;
};

/// Calls `take` with each event. Only arguments that `wanted` accepts are kept.
ChromeTrace read_chrome_trace(ByteSource& source, const std::function<bool(std::string_view)>& wanted,
                              const std::function<void(ChromeEvent&)>& take);

}  // namespace roofline
