// Checks the bytes reported by a GPU's sampled counters with a copy of known size. Bytes are shown only after it
// passed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "device/gpu_sensors.hpp"

namespace roofline {

/// Bytes in either direction of main memory.
struct MovedBytes {
  double read = 0;
  double write = 0;
};

/// The two ways from samples to bytes: the counters' own sums, and their share of what the memory could move at most.
enum class CountedBy : std::uint8_t { sums, share_of_peak };
std::string_view to_string(CountedBy source);

/// Bytes moved during some activity; std::nullopt if this chip's samples lack the necessary counters.
std::optional<MovedBytes> moved_bytes(const GpuActivity& activity, CountedBy source);

struct ByteCheck {
  std::string activity_source;  ///< GpuActivity::source
  std::string driver;
  std::string checked_at;  ///< UTC
  MovedBytes known;
  std::optional<MovedBytes> counted, share_of_peak;

  /// The way that came within kTolerance of what is known, in both directions; the first of two.
  std::optional<CountedBy> trusted() const;
  static constexpr double kTolerance = 0.03;
};

/// "roofline.monitor-check/1".
std::string byte_check_to_json(const ByteCheck& check);
/// std::nullopt if the text is not such a document.
std::optional<ByteCheck> byte_check_from_json(const std::string& text);

}  // namespace roofline
