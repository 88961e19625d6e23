// What the models of PyTorch's operators share.
#pragma once

#include <optional>
#include <string_view>

#include "import/op_arguments.hpp"
#include "import/op_work.hpp"

namespace roofline {

/// Work that only moves bytes of main memory.
Work moving(double read, double write);

/// A matrix product on the full-rate pipe of its elements; of several kernels the longest does it.
OpWork product(double flops, const Element& element, double read, double write);

/// Without the underscore of operators that store in place: "add" of "add_".
std::string_view base_of_operator(std::string_view name);

/// True if an operator of that name, without its namespace, computes each element on its own.
bool is_elementwise_operator(std::string_view name);

/// Its work; std::nullopt if the shapes can't be broadcast.
std::optional<OpWork> elementwise_work(std::string_view name, const Arguments& arguments);

/// True if an operator of that name, without its namespace, is a convolution or computes the gradients of one.
bool is_convolution(std::string_view name);

/// Work of a convolution; std::nullopt if shapes or arguments are missing or contradictory.
std::optional<OpWork> convolution_work(std::string_view name, const Arguments& arguments);

}  // namespace roofline
