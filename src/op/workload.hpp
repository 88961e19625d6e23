// A workload: one op at one shape, in one type, by one implementation. A suite is a list of workloads.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/names.hpp"

namespace roofline {

/// Named extents in the op's own order: {{"m", 4096}, {"n", 4096}, {"k", 4096}}.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::pair<std::string, std::int64_t>> extents) : extents_(extents) {}

  /// The extent of that name. Throws Error if there is none: a shape is complete once validated.
  std::int64_t operator[](std::string_view name) const;
  bool contains(std::string_view name) const;
  void set(std::string_view name, std::int64_t value);
  const std::vector<std::pair<std::string, std::int64_t>>& extents() const { return extents_; }
  bool operator==(const Shape&) const = default;

 private:
  std::vector<std::pair<std::string, std::int64_t>> extents_;
};

/// cold: every launch finds its inputs in main memory, not in the last-level cache. hot: one set, reused.
enum class CacheMode : std::uint8_t { cold, hot };

struct Workload {
  std::string op;
  std::string implementation;
  DType dtype = DType::fp32;
  Shape shape;
  CacheMode cache = CacheMode::cold;
  std::uint64_t seed = 1;  ///< seed of the random inputs, which are uniform in [-1, 1]
  std::string label;       ///< name in the suite; "gemm fp16 4096x4096x4096" by default
};

std::string_view to_string(CacheMode mode);

}  // namespace roofline
