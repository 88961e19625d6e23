#include "import/op_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "import/op_arguments.hpp"
#include "model/find.hpp"

namespace roofline {
namespace {

using Json = nlohmann::json;

constexpr DeviceKind kGpu = DeviceKind::cuda;

Work moving(double read, double write) {
  Work work;
  work.bytes[Level::hbm] = {.read = read, .write = write};
  return work;
}

OpWork product(double flops, const Element& element, double read, double write) {
  OpWork work = {.work = moving(read, write), .by_longest_kernel = true};
  work.work.flops[matrix_pipe(element.dtype, kGpu)] = flops;
  return work;
}

/// a: (batch,) m × k; b: (batch,) k × n; with what is read besides.
std::optional<OpWork> matrix_product(const Tensor* a, const Tensor* b, double more_read = 0) {
  if (a == nullptr || b == nullptr || a->rank() < 2 || b->rank() < 1) return std::nullopt;
  const bool vector = b->rank() == 1;
  const double k = a->at(-1), n = vector ? 1 : b->at(-1);
  if ((vector ? b->at(0) : b->at(-2)) != k) return std::nullopt;
  const double rows = a->count() / std::max(1.0, k);
  // Products of 8 bits are stored wider, as our own op stores them: fp8 as bf16, int8 as int32.
  const double stored = a->element.dtype == DType::fp8 ? 2 : a->element.dtype == DType::int8 ? 4 : a->element.size;
  return product(2 * rows * n * k, a->element, a->bytes() + b->bytes() + more_read, rows * n * stored);
}

std::optional<OpWork> mm(const Arguments& arguments) {
  return matrix_product(arguments.tensor(0, 2), arguments.tensor(1));
}

std::optional<OpWork> addmm(const Arguments& arguments) {
  const Tensor* addend = arguments.tensor(0);
  return matrix_product(arguments.tensor(1, 2), arguments.tensor(2), addend == nullptr ? 0 : addend->bytes());
}

/// input: batch × channels × extents; weight: filters × channels of a group × extents.
std::optional<OpWork> convolution_of(const Tensor* input, const Tensor* weight, const std::vector<double>& stride,
                                     const std::vector<double>& padding, const std::vector<double>& dilation) {
  if (input == nullptr || weight == nullptr || input->rank() != weight->rank()) return std::nullopt;
  const auto at = [](const std::vector<double>& list, std::size_t i) {
    return list.size() == 1 ? list[0] : i < list.size() ? list[i] : std::nan("");
  };
  double positions = input->at(0);
  for (std::size_t i = 2; i < input->rank(); ++i) {
    const double window = at(dilation, i - 2) * (weight->shape[i] - 1) + 1;
    positions *= std::floor((input->shape[i] + 2 * at(padding, i - 2) - window) / at(stride, i - 2)) + 1;
  }
  if (!(positions >= 0) || !std::isfinite(positions)) return std::nullopt;
  const double outputs = positions * weight->at(0);
  return product(2 * positions * weight->count(), input->element, input->bytes() + weight->bytes(),
                 outputs * input->element.size);
}

std::optional<OpWork> cudnn_convolution(const Arguments& a) {
  return convolution_of(a.tensor(0, 3), a.tensor(1, 3), a.numbers(3), a.numbers(2), a.numbers(4));
}

std::optional<OpWork> convolution(const Arguments& a) {
  if (a.word(6) == "True") return std::nullopt;  // transposed
  return convolution_of(a.tensor(0, 3), a.tensor(1, 3), a.numbers(3), a.numbers(4), a.numbers(5));
}

/// Each of the two gradients is a convolution of the same size.
std::optional<OpWork> convolution_backward(const Arguments& a) {
  if (a.word(7) == "True") return std::nullopt;
  auto work = convolution_of(a.tensor(1, 3), a.tensor(2, 3), a.numbers(4), a.numbers(5), a.numbers(6));
  if (!work) return std::nullopt;
  work->by_longest_kernel = false;
  work->by_gradient = true;
  return work;
}

/// Where an attention's arguments stand: its first tensor, the flag, and whether tokens come before heads.
struct AttentionForm {
  std::size_t query = 0;
  std::size_t causal = 0;
  bool tokens_first = false;
  bool backward = false;
};

std::optional<OpWork> attention(const Arguments& a, const AttentionForm& form) {
  const Tensor* q = a.tensor(form.query, 4);
  const Tensor* k = a.tensor(form.query + 1, 4);
  const Tensor* v = a.tensor(form.query + 2, 4);
  const std::string causal = a.word(form.causal);
  if (q == nullptr || k == nullptr || v == nullptr || causal.empty()) return std::nullopt;
  const int heads_at = form.tokens_first ? -2 : -3, tokens_at = form.tokens_first ? -3 : -2;
  const double tokens = q->at(tokens_at), keys = k->at(tokens_at), heads = q->at(0) * q->at(heads_at);
  const bool masked = causal != "False" && causal != "0";
  // The first query sees the first key, the last as many as there are.
  const double each =
      masked ? std::min(tokens, keys) * (std::min(tokens, keys) + 1) / 2 + std::max(0.0, tokens - keys) * keys
             : tokens * keys;
  const double scores = heads * each;
  const double outputs = heads * tokens * v->at(-1) * q->element.size;
  const double inputs = q->bytes() + k->bytes() + v->bytes();
  // Backward computes the scores again, and a product for the gradient of each of: weights, queries, keys, values.
  OpWork work = form.backward
                    ? product(scores * (6 * q->at(-1) + 4 * v->at(-1)), q->element, inputs + 2 * outputs, inputs)
                    : product(scores * 2 * (q->at(-1) + v->at(-1)), q->element, inputs, outputs);
  work.work.uncounted[vector_pipe(q->element.dtype)] = 4 * scores;
  work.work.uncounted[Pipe::sfu] = scores;
  return work;
}

std::optional<OpWork> per_element(const Tensor* x, double flops, double exponentials, double read, double write) {
  if (x == nullptr) return std::nullopt;
  OpWork work = {.work = moving(read, write)};
  if (flops > 0) work.work.flops[vector_pipe(x->element.dtype)] = flops * x->count();
  if (exponentials > 0) work.work.flops[Pipe::sfu] = exponentials * x->count();
  return work;
}

std::optional<OpWork> softmax(const Arguments& a) {
  const Tensor* x = a.tensor(0, 1);
  return x == nullptr ? std::nullopt : per_element(x, 4, 1, x->bytes(), x->bytes());
}

std::optional<OpWork> softmax_backward(const Arguments& a) {
  const Tensor* gradient = a.tensor(0, 1);
  const Tensor* output = a.tensor(1, 1);
  if (gradient == nullptr || output == nullptr) return std::nullopt;
  return per_element(gradient, 4, 0, gradient->bytes() + output->bytes(), gradient->bytes());
}

/// x, then in any order what scales and shifts it.
std::optional<OpWork> norm(const Arguments& a, double flops) {
  const Tensor* x = a.tensor(0, 1);
  if (x == nullptr) return std::nullopt;
  double read = 0;
  for (const Tensor* tensor : a.all()) read += tensor->bytes();
  return per_element(x, flops, 0, read, x->bytes());
}

std::optional<OpWork> copy(const Arguments& a) {
  const Tensor* to = a.tensor(0);
  const Tensor* from = a.tensor(1);
  if (to == nullptr || from == nullptr) return std::nullopt;
  return OpWork{.work = moving(from->bytes(), to->bytes())};
}

std::optional<OpWork> fill(const Arguments& a) {
  const Tensor* to = a.tensor(0);
  return to == nullptr ? std::nullopt : std::optional(OpWork{.work = moving(0, to->bytes())});
}

std::optional<OpWork> reduction(const Arguments& a) {
  const Tensor* x = a.tensor(0, 1);
  return x == nullptr ? std::nullopt : per_element(x, 1, 0, x->bytes(), 0);
}

/// Rows of a table: those that are read are as many bytes as are written, and the table at most.
std::optional<OpWork> lookup(const Tensor* table, const Tensor* indices, double written) {
  if (table == nullptr || indices == nullptr) return std::nullopt;
  return OpWork{.work = moving(std::min(table->bytes(), written) + indices->bytes(), written)};
}

std::optional<OpWork> embedding(const Arguments& a) {
  const Tensor* table = a.tensor(0, 2);
  const Tensor* indices = a.tensor(1);
  if (table == nullptr || indices == nullptr) return std::nullopt;
  return lookup(table, indices, indices->count() * table->at(-1) * table->element.size);
}

std::optional<OpWork> index_select(const Arguments& a) {
  const Tensor* table = a.tensor(0, 2);
  const Tensor* indices = a.tensor(2);
  if (table == nullptr || indices == nullptr || a.word(1) != "0") return std::nullopt;
  return lookup(table, indices, indices->count() * table->bytes() / std::max(1.0, table->at(0)));
}

/// As embedding calls it, with an index that was expanded to the shape of its result: one number a row of it.
std::optional<OpWork> gather(const Arguments& a) {
  const Tensor* table = a.tensor(0, 2);
  const Tensor* indices = a.tensor(2, 2);
  const Tensor* result = a.tensor(4, 2);
  if (table == nullptr || indices == nullptr || result == nullptr) return std::nullopt;
  Tensor rows = *indices;
  rows.shape.pop_back();
  return lookup(table, &rows, result->bytes());
}

/// Each input once, broadcast where one is smaller, and an output of their common shape.
std::optional<OpWork> elementwise(const Arguments& a, double flops, double output_size, bool in_place) {
  double read = 0, count = 0;
  std::vector<double> shape;
  const Tensor* widest = nullptr;
  for (const Tensor* tensor : a.all()) {
    read += tensor->bytes();
    if (tensor->rank() > shape.size()) shape.insert(shape.begin(), tensor->rank() - shape.size(), 1);
    for (std::size_t i = 0; i < tensor->rank(); ++i) {
      double& extent = shape[shape.size() - 1 - i];
      const double own = tensor->shape[tensor->rank() - 1 - i];
      if (extent != own && extent != 1 && own != 1) return std::nullopt;  // no broadcast: something else
      extent = extent == 1 ? own : extent;
    }
    const auto weight = [](const Tensor& t) { return (t.element.floating ? 100 : 0) + t.element.size; };
    const bool wider = widest == nullptr || (tensor->rank() > 0) > (widest->rank() > 0) ||
                       ((tensor->rank() > 0) == (widest->rank() > 0) && weight(*tensor) > weight(*widest));
    if (wider) widest = tensor;
  }
  if (widest == nullptr) return std::nullopt;
  count = 1;
  for (const double extent : shape) count *= extent;
  const Tensor* first = a.tensor(0);
  const Element stored = in_place && first != nullptr ? first->element : widest->element;
  OpWork work = {.work = moving(read, count * (output_size > 0 ? output_size : stored.size))};
  if (flops > 0) work.work.flops[vector_pipe(widest->element.dtype)] = flops * count;
  return work;
}

/// FLOPs an element where there is no doubt about them; transcendental functions are left out, as what they are made of
/// is the compiler's choice. Nothing for what is no elementwise operator.
std::optional<double> elementwise_flops(std::string_view name) {
  static constexpr std::string_view kNone[] = {"gelu",          "silu",          "sigmoid",
                                               "tanh",          "exp",           "log",
                                               "sqrt",          "rsqrt",         "pow",
                                               "reciprocal",    "sin",           "cos",
                                               "erf",           "where",         "elu",
                                               "mish",          "softplus",      "masked_fill",
                                               "gelu_backward", "silu_backward", "sigmoid_backward",
                                               "tanh_backward", "hardswish",     "log_sigmoid_forward"};
  static constexpr std::string_view kOne[] = {
      "add",     "sub",       "mul",       "div",  "neg",    "abs",       "relu",       "maximum",
      "minimum", "clamp_min", "clamp_max", "rsub", "square", "threshold", "leaky_relu", "threshold_backward"};
  static constexpr std::string_view kTwo[] = {"clamp", "hardtanh"};
  static constexpr std::string_view kThree[] = {"addcmul", "addcdiv", "lerp"};
  if (contains(kOne, name)) return 1;
  if (contains(kNone, name)) return 0;
  if (contains(kTwo, name)) return 2;
  return contains(kThree, name) ? std::optional(3.0) : std::nullopt;
}

bool is_comparison(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "eq", "ne", "lt", "le", "gt", "ge", "isnan", "logical_and", "logical_or", "logical_not", "isinf", "isfinite"};
  return contains(kNames, name);
}

using Model = std::optional<OpWork> (*)(const Arguments&);

const std::map<std::string_view, Model>& models() {
  static const std::map<std::string_view, Model> kModels = {
      {"mm", mm},
      {"bmm", mm},
      {"mv", mm},
      {"_scaled_mm", mm},
      {"_int_mm", mm},
      {"addmm", addmm},
      {"baddbmm", addmm},
      {"addmv", addmm},
      {"_addmm_activation", addmm},
      {"cudnn_convolution", cudnn_convolution},
      {"miopen_convolution", cudnn_convolution},
      {"_convolution", convolution},
      {"convolution", convolution},
      {"convolution_overrideable", convolution},
      {"convolution_backward", convolution_backward},
      {"_softmax", softmax},
      {"_log_softmax", softmax},
      {"_softmax_backward_data", softmax_backward},
      {"_log_softmax_backward_data", softmax_backward},
      {"native_layer_norm", [](const Arguments& a) { return norm(a, 10); }},
      {"native_group_norm", [](const Arguments& a) { return norm(a, 10); }},
      {"native_batch_norm", [](const Arguments& a) { return norm(a, 10); }},
      {"cudnn_batch_norm", [](const Arguments& a) { return norm(a, 10); }},
      {"_batch_norm_with_update", [](const Arguments& a) { return norm(a, 10); }},
      {"rms_norm", [](const Arguments& a) { return norm(a, 5); }},
      {"_fused_rms_norm", [](const Arguments& a) { return norm(a, 5); }},
      {"copy_", copy},
      {"fill_", fill},
      {"zero_", fill},
      {"sum", reduction},
      {"mean", reduction},
      {"amax", reduction},
      {"amin", reduction},
      {"max", reduction},
      {"min", reduction},
      {"embedding", embedding},
      {"index_select", index_select},
      {"gather", gather},
  };
  return kModels;
}

const std::map<std::string_view, AttentionForm>& attentions() {
  static const std::map<std::string_view, AttentionForm> kForms = {
      {"_scaled_dot_product_flash_attention", {.query = 0, .causal = 4}},
      {"_scaled_dot_product_efficient_attention", {.query = 0, .causal = 6}},
      {"_scaled_dot_product_cudnn_attention", {.query = 0, .causal = 6}},
      {"_flash_attention_forward", {.query = 0, .causal = 8, .tokens_first = true}},
      {"_efficient_attention_forward", {.query = 0, .causal = 9, .tokens_first = true}},
      {"_cudnn_attention_forward", {.query = 0, .causal = 10}},
      {"_scaled_dot_product_flash_attention_backward", {.query = 1, .causal = 11, .backward = true}},
      {"_scaled_dot_product_cudnn_attention_backward", {.query = 1, .causal = 14, .backward = true}},
      {"_flash_attention_backward", {.query = 1, .causal = 11, .tokens_first = true, .backward = true}},
      {"_efficient_attention_backward", {.query = 1, .causal = 14, .tokens_first = true, .backward = true}},
      {"_cudnn_attention_backward", {.query = 1, .causal = 14, .backward = true}},
  };
  return kForms;
}

std::string_view plain(std::string_view name) {
  constexpr std::string_view kNamespace = "aten::";
  if (name.starts_with(kNamespace)) name.remove_prefix(kNamespace.size());
  return name;
}

}  // namespace

std::optional<OpWork> work_of(const OpCall& call) {
  if (!call.name.starts_with("aten::") || call.dims.empty()) return std::nullopt;
  const std::string_view name = plain(call.name);
  const Arguments arguments(call);
  std::optional<OpWork> work;
  if (const auto model = models().find(name); model != models().end()) {
    work = model->second(arguments);
  } else if (const auto form = attentions().find(name); form != attentions().end()) {
    work = attention(arguments, form->second);
  } else {
    const bool in_place = name.ends_with('_');
    const std::string_view base = name.substr(0, name.size() - (in_place ? 1 : 0));
    if (const auto flops = elementwise_flops(base)) work = elementwise(arguments, *flops, 0, in_place);
    if (is_comparison(base)) work = elementwise(arguments, 0, 1, in_place);
  }
  if (!work) return std::nullopt;
  work->work.launches = 0;
  const auto finite = [](double value) { return std::isfinite(value) && value >= 0; };
  for (const auto& [pipe, amount] : work->work.flops) {
    if (!finite(amount)) return std::nullopt;
  }
  const Traffic& bytes = work->work.bytes[Level::hbm];
  if (!finite(bytes.read) || !finite(bytes.write)) return std::nullopt;
  return work;
}

bool wants_concrete(std::string_view name) {
  name = plain(name);
  return name.find("conv") != std::string_view::npos || name.find("attention") != std::string_view::npos ||
         name == "index_select";
}

std::string text_of(const OpCall& call) {
  const Json dims = call.dims.empty() ? Json() : Json::parse(call.dims, nullptr, false);
  if (!dims.is_array()) return std::string(call.name);
  const auto shape = [](const Json& extents) {
    std::vector<std::string> parts;
    for (const Json& extent : extents) {
      if (!extent.is_number_integer()) return std::string();
      parts.push_back(fmt::format("{}", extent.get<std::int64_t>()));
    }
    return fmt::format("{}", fmt::join(parts, "x"));
  };
  std::vector<std::string> shapes;
  for (const Json& argument : dims) {
    if (!argument.is_array() || argument.empty()) continue;
    if (argument[0].is_array()) {
      shapes.push_back(fmt::format("{} tensors", argument.size()));
    } else if (std::string text = shape(argument); !text.empty()) {
      shapes.push_back(std::move(text));
    }
  }
  constexpr std::size_t kMost = 4;
  if (shapes.size() > kMost) {
    shapes.resize(kMost);
    shapes.emplace_back("…");
  }
  const auto form = attentions().find(plain(call.name));
  if (form != attentions().end()) {
    const std::string causal = Arguments(call).word(form->second.causal);
    if (causal == "True" || causal == "1") shapes.emplace_back("causal");
  }
  return shapes.empty() ? std::string(call.name) : fmt::format("{}({})", call.name, fmt::join(shapes, ", "));
}

}  // namespace roofline
