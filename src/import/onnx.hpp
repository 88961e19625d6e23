// ONNX graphs as problems: the work of each node by the shapes of its tensors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "problem/inference.hpp"

namespace roofline {

/// Reads a model. Free dimensions get the batch's size. Shapes that the file lacks are derived; throws UsageError that
/// names the node where that is not possible.
BoundProblem read_onnx(std::string_view bytes, const std::string& file, const Inference& inference);

}  // namespace roofline
