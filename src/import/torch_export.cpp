#include "import/torch_export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "import/torch_arguments.hpp"
#include "import/zip_archive.hpp"
#include "model/error.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

using Json = nlohmann::json;

/// ScalarType of the schema in the words of PyTorch's profiler, and bytes of an element.
std::pair<const char*, double> type_of(int scalar_type) {
  switch (scalar_type) {
    case 1:
      return {"unsigned char", 1};
    case 2:
      return {"signed char", 1};
    case 3:
      return {"short int", 2};
    case 4:
      return {"int", 4};
    case 5:
      return {"long int", 8};
    case 6:
      return {"c10::Half", 2};
    case 8:
      return {"double", 8};
    case 9:
      return {"c10::complex<c10::Half>", 4};
    case 10:
      return {"c10::complex<float>", 8};
    case 11:
      return {"c10::complex<double>", 16};
    case 12:
      return {"bool", 1};
    case 13:
      return {"c10::BFloat16", 2};
    case 28:
      return {"unsigned short", 2};
    case 29:
      return {"c10::Float8_e4m3fn", 1};
    case 30:
      return {"c10::Float8_e5m2", 1};
    case 31:
      return {"c10::Float8_e4m3fnuz", 1};
    case 32:
      return {"c10::Float8_e5m2fnuz", 1};
    default:
      return {"float", 4};
  }
}

/// Operators whose result is their first argument in another shape. Some copy where the layout demands it: in a lower
/// bound they don't.
bool is_view(std::string_view op) {
  static const std::set<std::string_view> kViews = {"alias",
                                                    "as_strided",
                                                    "chunk",
                                                    "contiguous",
                                                    "detach",
                                                    "detach_",
                                                    "diagonal",
                                                    "expand",
                                                    "expand_as",
                                                    "flatten",
                                                    "lift_fresh_copy",
                                                    "movedim",
                                                    "narrow",
                                                    "numpy_T",
                                                    "permute",
                                                    "real",
                                                    "imag",
                                                    "reshape",
                                                    "reshape_as",
                                                    "select",
                                                    "slice",
                                                    "split",
                                                    "split_with_sizes",
                                                    "squeeze",
                                                    "squeeze_",
                                                    "swapaxes",
                                                    "swapdims",
                                                    "t",
                                                    "to",
                                                    "transpose",
                                                    "unbind",
                                                    "unflatten",
                                                    "unfold",
                                                    "unsafe_chunk",
                                                    "unsafe_split",
                                                    "unsqueeze",
                                                    "unsqueeze_",
                                                    "view",
                                                    "view_as",
                                                    "_unsafe_view",
                                                    "dropout",
                                                    "feature_dropout",
                                                    "view_as_real",
                                                    "view_as_complex",
                                                    "matrix_H",
                                                    "mT",
                                                    "T"};
  return kViews.contains(op);
}

/// Operators of "higher order" that run one graph as it is: in another mode of gradients or precision, or to be
/// computed again in the backward pass.
bool runs_its_graph(std::string_view op) {
  static const std::set<std::string_view> kWraps = {
      "wrap_with_set_grad_enabled", "wrap_with_autocast",         "wrap",         "invoke_subgraph",
      "tag_activation_checkpoint",  "wrap_activation_checkpoint", "hints_wrapper"};
  return kWraps.contains(op);
}

/// The graph among a node's arguments; null unless there is exactly one.
const Json* only_graph(const Json& node) {
  const Json* found = nullptr;
  for (const Json& input : node.at("inputs")) {
    const auto graph = input.at("arg").find("as_graph");
    if (graph == input.at("arg").end()) continue;
    if (found != nullptr) return nullptr;
    found = &graph->at("graph");
  }
  return found;
}

struct Meta {
  Json dims = Json::array();
  std::string type;
  double element = 0, bytes = 0;
};

class ExportedGraph {
 public:
  ExportedGraph(const Json& program, std::string file, double batch) : batch_(batch) {
    graph_.file = std::move(file);
    const Json& module = program.at("graph_module");
    const Json& graph = module.at("graph");
    add_tensors(graph);
    for (const Json& input : graph.at("inputs")) {
      if (const auto tensor = tensor_name(input)) storage(*tensor, true);
    }
    for (const Json& node : graph.at("nodes")) add(node);
    for (const Json& output : graph.at("outputs")) {
      for (const std::string& name : tensor_names(output)) graph_.outputs.push_back(use(name));
    }
  }

  TorchGraph take() { return std::move(graph_); }
  bool has_symbols() const { return symbols_; }

 private:
  double extent(const Json& size) {
    if (const auto number = size.find("as_int"); number != size.end()) return number->get<double>();
    const auto expression = size.find("as_expr");
    if (expression != size.end() && expression->contains("hint") && expression->at("hint").is_object()) {
      return expression->at("hint").value("as_int", batch_);
    }
    symbols_ = true;
    return batch_;
  }

  Meta meta_of(const Json& from) {
    Meta meta;
    std::tie(meta.type, meta.element) = type_of(from.at("dtype").get<int>());
    meta.bytes = meta.element;
    for (const Json& size : from.at("sizes")) {
      const double count = extent(size);
      if (!(count >= 0)) throw UsageError(graph_.file + ": a tensor has a negative extent");
      meta.dims.push_back(static_cast<std::int64_t>(count));
      meta.bytes *= count;
    }
    // Elements that a stride of 0 repeats are there once.
    const auto strides = from.find("strides");
    for (std::size_t i = 0; strides != from.end() && i < strides->size() && i < meta.dims.size(); ++i) {
      const double count = meta.dims[i].get<double>();
      if ((*strides)[i].value("as_int", 1) == 0 && count > 0) meta.bytes /= count;
    }
    return meta;
  }

  void add_tensors(const Json& graph) {
    for (const auto& [name, meta] : graph.at("tensor_values").items()) metas_[scope_ + name] = meta_of(meta);
  }

  /// With the scope of its graph, as graphs within a graph use the same names.
  std::optional<std::string> tensor_name(const Json& argument) const {
    const auto tensor = argument.find("as_tensor");
    if (tensor == argument.end() || !tensor->is_object()) return std::nullopt;
    return scope_ + tensor->at("name").get<std::string>();
  }

  std::vector<std::string> tensor_names(const Json& argument) const {
    std::vector<std::string> names;
    if (const auto name = tensor_name(argument)) names.push_back(*name);
    for (const char* list : {"as_tensors", "as_optional_tensors"}) {
      const auto tensors = argument.find(list);
      if (tensors == argument.end()) continue;
      for (const Json& tensor : *tensors) {
        if (tensor.contains("name")) names.push_back(scope_ + tensor.at("name").get<std::string>());
        if (const auto name = tensor_name(tensor)) names.push_back(*name);
      }
    }
    if (const auto one = argument.find("as_optional_tensor"); one != argument.end()) {
      if (const auto name = tensor_name(*one)) names.push_back(*name);
    }
    return names;
  }

  std::size_t storage(const std::string& name, bool persistent) {
    const auto [found, is_new] = storages_.try_emplace(name, graph_.storages.size());
    if (is_new) graph_.storages.push_back({persistent, metas_[name].bytes});
    return found->second;
  }

  TorchUse use(const std::string& name) { return {storage(name, false), metas_[name].bytes}; }

  void add(const Json& node) {
    const auto target = node.at("target").get<std::string>();
    // "torch.ops.aten.add.Tensor"; what Python does with numbers ("_operator.getitem") moves no data.
    constexpr std::string_view kOps = "torch.ops.";
    if (!target.starts_with(kOps)) return;
    const std::string_view qualified = std::string_view(target).substr(kOps.size());
    const std::size_t dot = qualified.find('.');
    const std::string_view library = qualified.substr(0, dot);
    std::string_view op = dot == std::string_view::npos ? std::string_view() : qualified.substr(dot + 1);
    op = op.substr(0, op.find('.'));
    std::vector<std::string> inputs, outputs;
    for (const Json& input : node.at("inputs")) {
      for (std::string& name : tensor_names(input.at("arg"))) inputs.push_back(std::move(name));
    }
    for (const Json& output : node.at("outputs")) {
      for (std::string& name : tensor_names(output)) outputs.push_back(std::move(name));
    }
    if (is_view(op) && !inputs.empty()) {
      if (op == "to" && !outputs.empty() && metas_[inputs[0]].type != metas_[outputs[0]].type) {
        return add_call("_to_copy", library, node, inputs, outputs);
      }
      const std::size_t source = storage(inputs[0], false);
      for (const std::string& name : outputs) storages_.try_emplace(name, source);
      return;
    }
    if (outputs.empty()) return;
    if (library == "higher_order" && runs_its_graph(op) && add_graph(node, inputs, outputs)) return;
    const bool in_place = op.size() > 1 && op.ends_with('_') && !op.ends_with("__") && !inputs.empty();
    if (in_place) storages_.try_emplace(outputs[0], storage(inputs[0], false));
    add_call(op, library, node, inputs, outputs);
  }

  /// The operators of a node's graph, whose inputs and outputs are those of the node. False where they do not match.
  bool add_graph(const Json& node, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
    constexpr std::size_t kDeepest = 16;
    const Json* const graph = only_graph(node);
    if (graph == nullptr || depth_ == kDeepest) return false;
    const std::string outer = std::exchange(scope_, fmt::format("{}{}/", scope_, graphs_++));
    std::vector<std::string> parameters, results;
    for (const Json& input : graph->at("inputs")) {
      for (std::string& name : tensor_names(input)) parameters.push_back(std::move(name));
    }
    for (const Json& output : graph->at("outputs")) {
      for (std::string& name : tensor_names(output)) results.push_back(std::move(name));
    }
    const bool matches = parameters.size() == inputs.size() && results.size() == outputs.size();
    if (matches) {
      add_tensors(*graph);
      for (std::size_t i = 0; i < inputs.size(); ++i) storages_.try_emplace(parameters[i], storage(inputs[i], false));
      ++depth_;
      for (const Json& inner : graph->at("nodes")) add(inner);
      --depth_;
      for (std::size_t i = 0; i < outputs.size(); ++i) storages_.try_emplace(outputs[i], storage(results[i], false));
    }
    scope_ = outer;
    return matches;
  }

  void add_call(std::string_view op, std::string_view library, const Json& node, const std::vector<std::string>& inputs,
                const std::vector<std::string>& outputs) {
    TorchCall call;
    call.name = fmt::format("{}::{}", library, op);
    const auto add = [this](const Json& argument, TorchArguments& to) { add_argument(argument, to); };
    TorchArguments arguments;
    if (auto launched = library == "aten" ? launched_call(op, node.at("inputs"), add) : std::nullopt) {
      call.name = launched->name;
      arguments = std::move(launched->arguments);
    } else {
      for (const Json& input : node.at("inputs")) add(input.at("arg"), arguments);
    }
    call.dims = arguments.dims.dump();
    call.types = arguments.types.dump();
    call.concrete = arguments.words.dump();
    for (const std::string& name : inputs) call.reads.push_back(use(name));
    for (const std::string& name : outputs) call.writes.push_back(use(name));
    // What PyTorch does by default: convolutions of fp32 round their inputs to TF32 and fused attention computes from
    // several products of TF32; matrix products are of fp32.
    call.tf32 = op.find("conv") != std::string_view::npos || op.find("attention") != std::string_view::npos;
    graph_.calls.push_back(std::move(call));
  }

  void add_argument(const Json& argument, TorchArguments& to) const {
    const auto name = tensor_name(argument);
    const auto meta = name ? metas_.find(*name) : metas_.end();
    if (meta != metas_.end()) return to.add(meta->second.dims, meta->second.type, "");
    to.word(torch_word(argument));
  }

  double batch_;
  bool symbols_ = false;
  std::string scope_;
  std::size_t depth_ = 0, graphs_ = 0;
  TorchGraph graph_;
  std::map<std::string, Meta> metas_;
  std::map<std::string, std::size_t> storages_;
};

/// Python writes numbers that JSON lacks; none of them tells a shape.
std::string without_infinities(std::string text) {
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (quoted && text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      quoted = !quoted;
    } else if (!quoted) {
      for (const std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
        if (std::string_view(text).substr(at, word.size()) != word) continue;
        text.replace(at, word.size(), "0" + std::string(word.size() - 1, ' '));
        break;
      }
    }
  }
  return text;
}

/// "model/models/model.json" since PyTorch 2.8, "serialized_exported_program.json" before.
const ZipEntry* graph_entry(const std::vector<ZipEntry>& entries) {
  for (const ZipEntry& entry : entries) {
    const std::string_view name = entry.name;
    const bool in_models =
        name.ends_with(".json") && (name.starts_with("models/") || name.find("/models/") != std::string_view::npos);
    if (in_models || name.ends_with("serialized_exported_program.json")) return &entry;
  }
  return nullptr;
}

}  // namespace

TorchGraph read_torch_export(const std::filesystem::path& path, double batch, bool& symbols) {
  ZipArchive archive(path);
  const ZipEntry* entry = graph_entry(archive.entries());
  if (entry == nullptr) {
    throw UsageError(path.string() + ": no program of torch.export in the archive",
                     "torch.export.save(torch.export.export(model, inputs), file)");
  }
  constexpr std::uint64_t kMostJson = std::uint64_t{1} << 30U;
  const Json program = Json::parse(without_infinities(archive.read(*entry, kMostJson)), nullptr, false);
  try {
    ExportedGraph graph(program, path.string(), batch);
    symbols = graph.has_symbols();
    return graph.take();
  } catch (const Json::exception& error) {
    throw UsageError(fmt::format("{}: not a program of torch.export as PyTorch 2.1 to 2.11 save it: {}", path.string(),
                                 clean_line(error.what())));
  }
}

}  // namespace roofline
