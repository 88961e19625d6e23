#include "import/torch_arguments.hpp"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace roofline {
namespace {

using Json = nlohmann::json;

/// Arguments by name; an empty object for one that was omitted.
class NamedArguments {
 public:
  explicit NamedArguments(const Json& inputs) {
    for (const Json& input : inputs) by_name_[input.at("name").get<std::string>()] = &input.at("arg");
  }
  const Json& operator[](const char* name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? none_ : *found->second;
  }

 private:
  std::map<std::string, const Json*> by_name_;
  Json none_ = Json::object();
};

using Add = std::function<void(const Json&, TorchArguments&)>;

/// "conv2d" and the like, with all arguments of "convolution".
std::optional<LaunchedCall> convolution(const NamedArguments& arguments, const Add& add, bool transposed) {
  LaunchedCall call = {.name = "aten::convolution", .arguments = {}};
  TorchArguments& out = call.arguments;
  for (const char* name : {"input", "weight", "bias"}) add(arguments[name], out);
  const Json window = out.dims[1];
  if (window.size() < 3) return std::nullopt;
  const std::size_t axes = window.size() - 2;
  const auto list = [&](const char* name, std::int64_t otherwise) {
    const std::string text = torch_word(arguments[name]);
    return text.empty() ? Json(std::vector<std::int64_t>(axes, otherwise)).dump() : text;
  };
  out.word(list("stride", 1));
  if (arguments["padding"].value("as_string", "") == "same") {
    Json half = Json::array();  // for odd windows; even ones have one more element of padding behind
    for (std::size_t axis = 0; axis < axes; ++axis) half.push_back(window[axis + 2].get<std::int64_t>() / 2);
    out.word(half.dump());
  } else {
    out.word(list("padding", 0));
  }
  out.word(list("dilation", 1));
  out.word(transposed ? "True" : "False");
  out.word(list("output_padding", 0));
  const std::string groups = torch_word(arguments["groups"]);
  out.word(groups.empty() ? "1" : groups);
  return call;
}

/// Operators whose arguments have another order, or a subset, in the operator that they launch.
struct Launched {
  const char* name;
  std::vector<const char*> arguments;
};
const std::map<std::string_view, Launched>& launched() {
  static const std::map<std::string_view, Launched> kLaunched = {
      {"linear", {"aten::addmm", {"bias", "input", "weight"}}},
      {"matmul", {"aten::mm", {"self", "other"}}},
      {"scaled_dot_product_attention",
       {"aten::_scaled_dot_product_flash_attention", {"query", "key", "value", "dropout_p"}}},
      {"softmax", {"aten::_softmax", {"self", "dim"}}},
      {"log_softmax", {"aten::_log_softmax", {"self", "dim"}}},
      {"layer_norm", {"aten::native_layer_norm", {"input", "normalized_shape", "weight", "bias"}}},
      {"batch_norm", {"aten::native_batch_norm", {"input", "weight", "bias", "running_mean", "running_var"}}},
      {"group_norm", {"aten::native_group_norm", {"input", "weight", "bias"}}},
  };
  return kLaunched;
}

}  // namespace

std::string torch_word(const Json& argument) {
  if (argument.empty()) return {};
  const std::string& kind = argument.begin().key();
  const Json& value = argument.begin().value();
  if (kind == "as_bool") return value.get<bool>() ? "True" : "False";
  if (kind == "as_bools") return {};
  if (kind == "as_int" || kind == "as_float" || kind == "as_ints" || kind == "as_floats") return value.dump();
  if (kind != "as_sym_ints") return {};
  Json numbers = Json::array();
  for (const Json& number : value) numbers.push_back(number.value("as_int", 1));
  return numbers.dump();
}

std::optional<LaunchedCall> launched_call(std::string_view op, const Json& inputs, const Add& add) {
  const NamedArguments arguments(inputs);
  if (op.starts_with("conv") && op.ends_with('d')) {
    return convolution(arguments, add, op.find("transpose") != std::string_view::npos);
  }
  const auto found = launched().find(op);
  if (found == launched().end()) return std::nullopt;
  LaunchedCall call = {.name = found->second.name, .arguments = {}};
  for (const char* name : found->second.arguments) add(arguments[name], call.arguments);
  if (op == "linear") {
    Json& weight = call.arguments.dims[2];  // stored as outputs × inputs
    if (weight.size() != 2) return std::nullopt;
    std::swap(weight[0], weight[1]);
  }
  if (op == "scaled_dot_product_attention") {
    const std::string causal = torch_word(arguments["is_causal"]);
    call.arguments.word(causal.empty() ? "False" : causal);
  }
  return call;
}

}  // namespace roofline
