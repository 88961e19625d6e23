#include "report/titles.hpp"

#include <array>

#include "model/spelling.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::array<std::string_view, 6> kBoundTitles = {
    "memory-bound", "compute-bound", "latency-bound", "communication-bound", "balanced", "without a known roof"};

}  // namespace

std::string title_of(Level level) { return level == Level::shared ? "shared memory" : upper_case(to_string(level)); }

std::string_view title_of(BoundLabel label) { return spell(kBoundTitles, label); }

std::string title_of_pipe(std::string_view name) {
  constexpr std::string_view kTensor = "tensor.";
  return name.starts_with(kTensor) ? upper_case(name.substr(kTensor.size())) + " tensor" : upper_case(name);
}

}  // namespace roofline
