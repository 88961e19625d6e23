#include "import/op_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "import/op_arguments.hpp"
#include "import/op_models.hpp"
#include "model/find.hpp"

namespace roofline {

Work moving(double read, double write) {
  Work work;
  work.bytes[Level::hbm] = {.read = read, .write = write};
  return work;
}

OpWork product(double flops, const Element& element, double read, double write) {
  OpWork work = {.work = moving(read, write), .by_longest_kernel = true};
  work.work.flops[matrix_pipe(element.dtype, DeviceKind::cuda)] = flops;
  return work;
}

namespace {

using Json = nlohmann::json;

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

/// Bytes of a result in the shape of `like`: of the tensor that a call with `out=` has behind its inputs.
double result_bytes(const Arguments& a, std::size_t inputs, const Tensor& like) {
  const Tensor* out = a.out(inputs);
  return like.count() * (out != nullptr ? out->element.size : like.element.size);
}

std::optional<OpWork> softmax(const Arguments& a) {
  const Tensor* x = a.tensor(0, 1);
  return x == nullptr ? std::nullopt : per_element(x, 4, 1, x->bytes(), result_bytes(a, 1, *x));
}

std::optional<OpWork> softmax_backward(const Arguments& a) {
  const Tensor* gradient = a.tensor(0, 1);
  const Tensor* output = a.tensor(1, 1);
  if (gradient == nullptr || output == nullptr) return std::nullopt;
  return per_element(gradient, 4, 0, gradient->bytes() + output->bytes(), result_bytes(a, 2, *gradient));
}

/// x, then among the first `inputs` arguments what scales and shifts it.
std::optional<OpWork> norm(const Arguments& a, std::size_t inputs, double flops) {
  const Tensor* x = a.tensor(0, 1);
  if (x == nullptr) return std::nullopt;
  double read = 0;
  for (const Tensor* tensor : a.first(inputs)) read += tensor->bytes();
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

/// A reduction over one dimension or all, including stores of a call with `out=`; maximum and minimum of two tensors
/// have the same names.
std::optional<OpWork> reduction(const Arguments& a) {
  const Tensor* x = a.tensor(0, 1);
  if (x == nullptr) return std::nullopt;
  if (a.tensor(1, 1) != nullptr && x->shape == a.tensor(1)->shape) {
    return elementwise_work("maximum", a);
  }
  double written = 0;
  for (const Tensor* tensor : a.first(SIZE_MAX)) written += tensor == x ? 0 : tensor->bytes();
  return per_element(x, 1, 0, x->bytes(), written);
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
      {"_softmax", softmax},
      {"_log_softmax", softmax},
      {"_softmax_backward_data", softmax_backward},
      {"_log_softmax_backward_data", softmax_backward},
      {"native_layer_norm", [](const Arguments& a) { return norm(a, 4, 10); }},
      {"native_group_norm", [](const Arguments& a) { return norm(a, 3, 10); }},
      {"native_batch_norm", [](const Arguments& a) { return norm(a, 5, 10); }},
      {"cudnn_batch_norm", [](const Arguments& a) { return norm(a, 5, 10); }},
      {"miopen_batch_norm", [](const Arguments& a) { return norm(a, 5, 10); }},
      {"_native_batch_norm_legit", [](const Arguments& a) { return norm(a, 5, 10); }},
      {"_native_batch_norm_legit_functional", [](const Arguments& a) { return norm(a, 5, 10); }},
      {"_native_batch_norm_legit_no_training", [](const Arguments& a) { return norm(a, 5, 10); }},
      {"_batch_norm_with_update", [](const Arguments& a) { return norm(a, 5, 10); }},
      {"rms_norm", [](const Arguments& a) { return norm(a, 3, 5); }},
      {"_fused_rms_norm", [](const Arguments& a) { return norm(a, 3, 5); }},
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
      {"_scaled_dot_product_flash_attention_for_cpu", {.query = 0, .causal = 4}},
      {"_scaled_dot_product_fused_attention_overrideable", {.query = 0, .causal = 5}},
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

/// The model of that name, else of the operator that is the same but for where it stores; null without one.
Model model_of(std::string_view name) {
  for (const std::string_view known : {name, base_of_operator(name)}) {
    if (const auto model = models().find(known); model != models().end()) return model->second;
  }
  return nullptr;
}

bool is_finite(const Work& work) {
  const auto finite = [](double value) { return std::isfinite(value) && value >= 0; };
  const auto bytes = work.bytes.find(Level::hbm);
  return std::all_of(work.flops.begin(), work.flops.end(), [&](const auto& flops) { return finite(flops.second); }) &&
         (bytes == work.bytes.end() || (finite(bytes->second.read) && finite(bytes->second.write)));
}

std::optional<OpWork> modelled(std::string_view name, const Arguments& arguments) {
  if (is_convolution(name)) return convolution_work(name, arguments);
  if (const Model model = model_of(name)) return model(arguments);
  if (const auto form = attentions().find(name); form != attentions().end()) return attention(arguments, form->second);
  return elementwise_work(name, arguments);
}

}  // namespace

bool has_model(std::string_view name) {
  if (!name.starts_with("aten::")) return false;
  name = plain(name);
  return is_convolution(name) || model_of(name) != nullptr || attentions().contains(name) ||
         is_elementwise_operator(name);
}

std::optional<OpWork> work_of(const OpCall& call) {
  if (!call.name.starts_with("aten::") || call.dims.empty()) return std::nullopt;
  std::optional<OpWork> work = modelled(plain(call.name), Arguments(call));
  if (!work || !is_finite(work->work)) return std::nullopt;
  work->work.launches = 0;
  for (auto& [gradient, part] : work->gradients) {
    if (!is_finite(part)) return std::nullopt;
    part.launches = 0;
  }
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
