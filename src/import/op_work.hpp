// The work of PyTorch's operators, from the argument shapes in a trace, by the conventions of our own ops
// (docs/method.md); tests compare the two. Bytes are compulsory ones, a lower bound.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/work.hpp"

namespace roofline {

/// A call as a trace has it; arrays as the JSON that they are.
struct OpCall {
  std::string_view name;      ///< "aten::addmm"
  std::string_view dims;      ///< "[[1024],[32768,4096],[4096,1024],[],[]]"
  std::string_view types;     ///< "["c10::BFloat16",…]"
  std::string_view concrete;  ///< "["","","[1, 1]",…]"; empty: not recorded
};

/// What a backward kernel of a convolution computes.
enum class Gradient : std::uint8_t { input, weight };

struct OpWork {
  Work work;
  /// The longest of its kernels does all work: products, whose other kernels prepare or add up.
  bool by_longest_kernel = false;
  /// For an operator that computes both gradients of a convolution: the work of each, told apart by its kernels' names.
  std::map<Gradient, Work> gradients = {};
};

/// std::nullopt if the operator has no model, or its shapes were not recorded.
std::optional<OpWork> work_of(const OpCall& call);

/// True if operators of that name have a model, which may need arguments that were not recorded.
bool has_model(std::string_view name);

/// The gradient that a library's kernel computes, by its name ("dgrad", "wgrad"); std::nullopt if the name does not
/// say.
std::optional<Gradient> gradient_of(std::string_view kernel);

/// "aten::addmm(1024, 32768x4096, 4096x1024)"; only the name without shapes.
std::string text_of(const OpCall& call);

/// True if the work depends on `concrete`.
bool wants_concrete(std::string_view name);

}  // namespace roofline
