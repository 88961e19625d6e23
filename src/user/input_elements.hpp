// The inputs of a kernel as its formulas read them.
#pragma once

#include <map>
#include <span>
#include <string>

#include "op/tensor.hpp"
#include "user/formula.hpp"

namespace roofline {

/// The tensors by name; they must outlive the result.
inline std::map<std::string, ElementFormula::Tensor> elements_of(std::span<const HostTensor> inputs) {
  std::map<std::string, ElementFormula::Tensor> tensors;
  for (const HostTensor& input : inputs) {
    ElementFormula::Tensor& tensor = tensors[input.spec().name];
    tensor = {.elements = input.spec().elements,
              .at = [&input](std::int64_t index) { return input[index]; },
              .whole = {},
              .is_integer = is_integer(input.spec().dtype)};
    if (exceeds_double(input.spec().dtype)) tensor.whole = [&input](std::int64_t index) { return input.whole(index); };
  }
  return tensors;
}

}  // namespace roofline
