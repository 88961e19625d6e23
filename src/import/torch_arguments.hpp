// The arguments of operators in a torch.export program, in the form that PyTorch's profiler records them.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace roofline {

/// Shape, type and text of each argument: [] and "" for scalars, "" as the text of tensors.
struct TorchArguments {
  nlohmann::json dims = nlohmann::json::array(), types = nlohmann::json::array(), words = nlohmann::json::array();

  void add(const nlohmann::json& shape, const std::string& type, const std::string& word) {
    dims.push_back(shape);
    types.push_back(type);
    words.push_back(word);
  }
  void word(const std::string& text) { add(nlohmann::json::array(), "", text); }
};

/// A scalar argument as text: {"as_ints": [1, 1]} is "[1,1]".
std::string torch_word(const nlohmann::json& argument);

struct LaunchedCall {
  std::string name;  ///< "aten::addmm"
  TorchArguments arguments;
};

/// The operator that `op` launches, with all of its arguments: exported programs call "linear" or "conv2d" and omit
/// arguments that have their defaults, and work models exist for "addmm" and "convolution". std::nullopt if both are
/// the same. `add` appends an argument with the shape of its tensor.
std::optional<LaunchedCall> launched_call(
    std::string_view op, const nlohmann::json& inputs,
    const std::function<void(const nlohmann::json& argument, TorchArguments& to)>& add);

}  // namespace roofline
