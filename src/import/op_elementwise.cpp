// Elementwise operators, with broadcasts, in place, and with `out=`.
#include <map>
#include <tuple>
#include <vector>

#include "import/op_models.hpp"

namespace roofline {
namespace {

/// How an elementwise operator stores its result.
struct ElementwiseForm {
  std::size_t inputs = 1;  ///< arguments that can be tensors that it reads; one behind them is `out`
  double flops = 0;        ///< of an element
  bool boolean = false;    ///< the result is one byte, unless it is stored in place or in `out`
};

/// The shape that tensors are broadcast to; std::nullopt if they can't be.
std::optional<std::vector<double>> common_shape(const std::vector<const Tensor*>& tensors) {
  std::vector<double> shape;
  for (const Tensor* tensor : tensors) {
    if (tensor->rank() > shape.size()) shape.insert(shape.begin(), tensor->rank() - shape.size(), 1);
    for (std::size_t i = 0; i < tensor->rank(); ++i) {
      double& extent = shape[shape.size() - 1 - i];
      const double own = tensor->shape[tensor->rank() - 1 - i];
      if (extent != own && extent != 1 && own != 1) return std::nullopt;
      extent = extent == 1 ? own : extent;
    }
  }
  return shape;
}

/// By PyTorch's promotion: tensors with dimensions before those without, floating point before integers, then size.
bool is_wider(const Tensor& a, const Tensor& b) {
  const auto rank = [](const Tensor& t) { return std::tuple(t.rank() > 0, t.element.floating, t.element.size); };
  return rank(a) > rank(b);
}

/// Each input once, broadcast where one is smaller, and an output of their common shape.
std::optional<OpWork> elementwise(const Arguments& a, const ElementwiseForm& form, bool in_place) {
  const std::vector<const Tensor*> inputs = a.first(form.inputs);
  const auto shape = common_shape(inputs);
  if (inputs.empty() || !shape) return std::nullopt;
  double read = 0, count = 1;
  const Tensor* widest = inputs.front();
  for (const Tensor* tensor : inputs) {
    read += tensor->bytes();
    if (is_wider(*tensor, *widest)) widest = tensor;
  }
  for (const double extent : *shape) count *= extent;
  const Tensor* stored = in_place ? a.tensor(0) : a.out(form.inputs);
  const double size = stored != nullptr ? stored->element.size : form.boolean ? 1 : widest->element.size;
  OpWork work = {.work = moving(read, count * size)};
  work.work.bytes[Level::hbm].in_place = in_place;
  if (form.flops > 0) work.work.flops[vector_pipe(widest->element.dtype)] = form.flops * count;
  return work;
}

/// FLOPs an element if there is no doubt about them; transcendental functions are left out, as what they are made of is
/// the compiler's choice.
const std::map<std::string_view, ElementwiseForm>& elementwise_forms() {
  struct Names {
    ElementwiseForm form;
    std::vector<std::string_view> names;
  };
  static const std::map<std::string_view, ElementwiseForm> kForms = [] {
    const Names all[] = {
        {{.inputs = 1},
         {"gelu", "silu", "sigmoid", "tanh", "exp", "log", "sqrt", "rsqrt", "reciprocal", "sin", "cos", "erf", "elu",
          "mish", "softplus", "hardswish", "log_sigmoid_forward"}},
        {{.inputs = 2}, {"pow", "gelu_backward", "silu_backward", "sigmoid_backward", "tanh_backward"}},
        {{.inputs = 3}, {"where", "masked_fill"}},
        {{.inputs = 1, .flops = 1}, {"neg", "abs", "relu", "square", "threshold", "leaky_relu"}},
        {{.inputs = 2, .flops = 1},
         {"add", "sub", "mul", "div", "maximum", "minimum", "clamp_min", "clamp_max", "rsub", "threshold_backward"}},
        {{.inputs = 1, .flops = 2}, {"hardtanh"}},
        {{.inputs = 3, .flops = 2}, {"clamp"}},
        {{.inputs = 3, .flops = 3}, {"addcmul", "addcdiv", "lerp"}},
        {{.inputs = 1, .boolean = true}, {"isnan", "isinf", "isfinite", "logical_not"}},
        {{.inputs = 2, .boolean = true}, {"eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or"}},
    };
    std::map<std::string_view, ElementwiseForm> forms;
    for (const Names& each : all) {
      for (const std::string_view name : each.names) forms[name] = each.form;
    }
    return forms;
  }();
  return kForms;
}

}  // namespace

std::string_view base_of_operator(std::string_view name) {
  return name.ends_with('_') ? name.substr(0, name.size() - 1) : name;
}

bool is_elementwise_operator(std::string_view name) { return elementwise_forms().contains(base_of_operator(name)); }

std::optional<OpWork> elementwise_work(std::string_view name, const Arguments& arguments) {
  const auto form = elementwise_forms().find(base_of_operator(name));
  return form == elementwise_forms().end() ? std::nullopt : elementwise(arguments, form->second, name.ends_with('_'));
}

}  // namespace roofline
