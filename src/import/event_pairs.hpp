// Begin and end events of a Chrome trace ("ph": "B" and "E") as the complete events ("X") that readers take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "import/byte_source.hpp"
#include "import/chrome_events.hpp"
#include "import/clean_times.hpp"

namespace roofline {

/// Pairs begins and ends of each thread by their times, in whatever order the file has them: an end that has a name
/// ends the innermost open event of that name, one without a name the innermost open event. Arguments of both are the
/// event's. An event without a partner is passed on with its phase.
class EventPairs {
 public:
  EventPairs(ByteSource& source, const std::function<void(ChromeEvent&)>& take) : source_(source), take_(take) {}

  /// Passes other events on at once.
  void add(ChromeEvent& event);
  /// At the end of the trace.
  void finish();

 private:
  /// A begin or an end.
  struct Half {
    std::int64_t time_ns = 0;
    std::uint32_t thread = 0;
    bool is_end = false;
    ChromeEvent event;
  };

  static void join(ChromeEvent& begin, ChromeEvent& end);
  void pair();

  ByteSource& source_;
  const std::function<void(ChromeEvent&)>& take_;
  std::map<std::tuple<std::int64_t, std::string, std::int64_t, std::string>, std::uint32_t> threads_;
  std::vector<Half> waiting_;
  std::size_t next_pairing_ = std::size_t{1} << 18;  ///< size of `waiting_`
};

/// Counts an event without a partner, or the begin of an asynchronous one; no others.
void count_left_out(const ChromeEvent& event, TimeDefects& defects);

}  // namespace roofline
