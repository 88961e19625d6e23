// What waits of lines and threads are for, where their stacks tell more than the kernel's state: the end of threads,
// and the other threads of an OpenMP region. Pure.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "report/host_profile.hpp"

namespace roofline {

class WaitWords {
 public:
  explicit WaitWords(const HostProfile& host);

  /// "waits for its threads to end"; the state's own words if nothing else is known.
  std::string_view of_line(const HostLineSum& line) const;
  std::string_view of_thread(int index, const HostTimes& times) const;  ///< `index`: into the profile's threads

 private:
  /// Seconds by state.
  struct Waits {
    HostTimes joins, barriers;
  };
  using Place = std::pair<std::pair<std::string, std::string>, int>;  ///< file, function, line

  static Place place_of(const HostFrame& frame) { return {{frame.file, frame.function}, frame.line}; }
  static std::string_view words(const Waits* waits, const HostTimes& times);

  std::map<Place, Waits> lines_;
  std::map<int, Waits> threads_;
};

}  // namespace roofline
