// The categories of events in torch.profiler traces, of all versions and kinds of devices.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace roofline::kineto {

/// What an event with a duration is.
enum class EventKind : std::uint8_t {
  kernel,
  copy,
  fill,
  call,        ///< of a runtime or a driver, by the host
  operation,   ///< of PyTorch
  annotation,  ///< record_function(), steps
  function,    ///< of Python, also a module's forward
  unused       ///< known, and of no use for a report
};

/// std::nullopt if the category is not known. Old traces begin their words with capitals.
std::optional<EventKind> kind_of_category(std::string_view category);

/// Events with a duration, by category; of a hostile file's many categories the first ones by name.
class CategoryCounts {
 public:
  void add(std::string_view category);
  /// "cpu_op (12), mtia_ccp_events (3)": of all of them, or of those that are not known; the most frequent first.
  std::string list() const { return list(false); }
  std::string list_unknown() const { return list(true); }
  /// True if there is a category of that device: "xpu_".
  bool has_prefix(std::string_view prefix) const;

 private:
  std::string list(bool only_unknown) const;

  std::map<std::string, std::int64_t, std::less<>> counts_;
};

}  // namespace roofline::kineto
