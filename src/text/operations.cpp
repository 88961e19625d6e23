#include "text/operations.hpp"

#include "text/format.hpp"

namespace roofline {

std::string compute_rate(double value, DType dtype) {
  return dtype == DType::int8 || dtype == DType::int32 ? si(value, "OP/s") : rate(value, CeilingKind::compute);
}

bool counts_integers(std::string_view name) {
  const std::size_t last = name.rfind("int");
  return last != std::string_view::npos && (last == 0 || name[last - 1] == '.');
}

}  // namespace roofline
