// Values of quantities as text.
#include <algorithm>

#include "report/diagnosis/cause_lines.hpp"
#include "report/diagnosis/quantities.hpp"
#include "report/gpu_units.hpp"
#include "report/titles.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

/// "FP32 pipe", "BF16 tensor cores", "special function pipe".
std::string pipe_name(double value) {
  const auto pipe = static_cast<Pipe>(value);
  if (pipe == Pipe::sfu) return "special function pipe";
  return title_of_pipe(to_string(pipe)) + " pipe";
}

std::string level_name(double value) { return title_of(static_cast<Level>(value)); }

}  // namespace

std::string occupancy_text(double share) { return share > 1 ? "full" : percent(share); }

std::string quantity_text(std::string_view name, double value) {
  if (name == "occupancy") return occupancy_text(value);
  const QuantitySpec* spec = find_quantity(name);
  switch (spec == nullptr ? QuantityUnit::number : spec->unit) {
    case QuantityUnit::fraction:
      return percent(value);
    case QuantityUnit::factor:
      return factor(value);
    case QuantityUnit::hertz:
      return si(value, "Hz");
    case QuantityUnit::bytes:
      return binary_bytes(value);
    case QuantityUnit::few_bytes: {
      const std::string text = number(value, 3);
      return text + (text == "1" ? " byte" : " bytes");
    }
    case QuantityUnit::bandwidth:
      return rate(value, CeilingKind::bandwidth);
    case QuantityUnit::seconds:
      return duration(value);
    case QuantityUnit::pipe:
      return pipe_name(value);
    case QuantityUnit::level:
      return level_name(value);
    case QuantityUnit::gpu_unit: {
      constexpr auto kLast = static_cast<double>(GpuVendor::intel);
      const GpuUnitName unit = gpu_unit_name(static_cast<GpuVendor>(std::clamp(value, 0.0, kLast)));
      return std::string(name == "gpu.unit" ? unit.one : unit.many);
    }
    case QuantityUnit::fusing_tool: {
      constexpr auto kLast = static_cast<double>(kFusingTools.size() - 1);
      return std::string(kFusingTools[static_cast<std::size_t>(std::clamp(value, 0.0, kLast))]);
    }
    default:
      return number(value, 3);
  }
}

std::string quantity_range_text(std::string_view name, double low, double high) {
  const std::string from = quantity_text(name, low), to = quantity_text(name, high);
  if (from == to) return to;
  // "1.36 GHz", "1.75 GHz": the unit once where both have the same.
  const std::size_t unit = from.rfind(' '), other = to.rfind(' ');
  const bool once = unit != std::string::npos && other != std::string::npos && from.substr(unit) == to.substr(other);
  return (once ? from.substr(0, unit) : from) + "\u2013" + to;
}

}  // namespace roofline
