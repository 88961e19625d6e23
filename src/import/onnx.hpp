// ONNX graphs as problems: the work of each node by the shapes of its tensors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "problem/inference.hpp"

namespace roofline {

/// Reads a model. Free dimensions get the batch's size. Missing shapes are derived; throws UsageError with the node's
/// name if one can't be.
BoundProblem read_onnx(std::string_view bytes, const std::string& file, const Inference& inference);

}  // namespace roofline
