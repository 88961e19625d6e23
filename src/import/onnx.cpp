#include "import/onnx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <vector>

#include "import/protobuf.hpp"
#include "model/error.hpp"
#include "model/work.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

/// Numbers of the fields, from onnx.proto.
namespace onnx_field {
enum Model : std::uint32_t { graph = 7 };
enum Graph : std::uint32_t { node = 1, initializer = 5, input = 11, output = 12, value_info = 13 };
enum Node : std::uint32_t { node_input = 1, node_output = 2, node_name = 3, op_type = 4, attribute = 5 };
enum Attribute : std::uint32_t { attribute_name = 1, attribute_int = 3, attribute_ints = 8 };
enum Value : std::uint32_t { value_name = 1, value_type = 2 };
enum Tensor : std::uint32_t { dims = 1, data_type = 2, int64_data = 7, tensor_name = 8, raw_data = 9 };
}  // namespace onnx_field

using Extents = std::vector<double>;

struct OnnxTensor {
  std::optional<Extents> shape;
  std::int64_t type = 1;             ///< of TensorProto: 1 is fp32
  std::vector<std::int64_t> values;  ///< of small integer constants: shapes and axes
  bool constant = false;

  double count() const { return shape ? std::accumulate(shape->begin(), shape->end(), 1.0, std::multiplies<>()) : 0; }
};

struct OnnxNode {
  std::string name, op;
  std::vector<std::string> inputs, outputs;
  std::map<std::string, std::vector<std::int64_t>, std::less<>> attributes;
};

DType dtype_of(std::int64_t type) {
  switch (type) {
    case 10:
      return DType::fp16;
    case 11:
      return DType::fp64;
    case 16:
      return DType::bf16;
    case 17:
    case 18:
    case 19:
    case 20:
      return DType::fp8;
    case 2:
    case 3:
      return DType::int8;
    case 6:
      return DType::int32;
    case 7:
      return DType::int64;
    default:
      return DType::fp32;
  }
}

class OnnxGraph {
 public:
  OnnxGraph(std::string_view bytes, const std::string& file, const Inference& inference)
      : file_(file),
        batch_(static_cast<double>(inference.batch)),
        device_(inference.device),
        tf32_(inference.tf32),
        memory_(main_memory(inference.device)) {
    std::string_view graph;
    for_fields(bytes, [&](const ProtobufField& field) {
      if (field.number == onnx_field::graph && field.has_bytes) graph = field.bytes;
    });
    if (graph.empty()) throw UsageError(file_ + ": no graph in the ONNX model", "export the model again");
    read_graph(graph);
  }

  BoundProblem problem() {
    BoundProblem problem;
    ProblemPhase phase;
    phase.name = "inference";
    phase.fused = Work{};
    for (const OnnxNode& node : nodes_) {
      derive_shapes(node);
      std::optional<Work> work = work_of_node(node);
      if (!work) continue;
      for (const auto& [pipe, flops] : work->flops) phase.fused->flops[pipe] += flops;
      phase.parts.push_back({node.name.empty() ? node.op : node.name, 1, std::move(*work)});
    }
    if (phase.parts.empty())
      throw UsageError(file_ + ": the graph has no node that computes", "export the model again");
    Traffic& all = phase.fused->bytes[memory_];
    double parameters = 0;
    for (const auto& [name, tensor] : tensors_) {
      if (!tensor.constant || tensor.count() < kSmall) continue;
      all.read += bytes(tensor);
      parameters += tensor.count();
    }
    for (const std::string& name : inputs_) {
      if (!tensors_[name].constant) all.read += bytes(tensors_[name]);
    }
    for (const std::string& name : outputs_) all.write += bytes(tensors_[name]);
    problem.name = fmt::format("ONNX graph of {} nodes, {:.3g} M parameters", phase.parts.size(), parameters / 1e6);
    problem.phases.push_back(std::move(phase));
    if (free_dimensions_) problem.notes.push_back(fmt::format("free dimensions are {:.0f} (--batch)", batch_));
    return problem;
  }

 private:
  static constexpr double kSmall = 16;  // elements: shapes and scalars are no parameters

  template <class Use>
  void for_fields(std::string_view message, const Use& use) const {
    ProtobufReader reader(message);
    while (const auto field = reader.next()) use(*field);
    if (reader.broken()) throw UsageError(fmt::format("{}: broken ONNX message", file_), "export the model again");
  }

  static std::vector<std::int64_t> packed(std::string_view bytes) {
    std::vector<std::int64_t> numbers;
    std::uint64_t value = 0;
    unsigned shift = 0;
    for (const char c : bytes) {
      const auto byte = static_cast<unsigned char>(c);
      value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
      shift = std::min(shift + 7, 63U);
      if (byte >= 0x80) continue;
      numbers.push_back(static_cast<std::int64_t>(value));
      value = 0;
      shift = 0;
    }
    return numbers;
  }

  static void append(const ProtobufField& field, std::vector<std::int64_t>& numbers) {
    if (!field.has_bytes) return numbers.push_back(static_cast<std::int64_t>(field.value));
    const std::vector<std::int64_t> more = packed(field.bytes);
    numbers.insert(numbers.end(), more.begin(), more.end());
  }

  double extent(std::int64_t size) const {
    constexpr std::int64_t kMost = std::int64_t{1} << 40U;
    if (size < 0 || size > kMost) throw UsageError(fmt::format("{}: a tensor has an extent of {}", file_, size), "");
    return static_cast<double>(size);
  }

  void read_initializer(std::string_view message) {
    OnnxTensor tensor;
    tensor.constant = true;
    tensor.shape = Extents{};
    std::string name;
    std::string_view raw;
    for_fields(message, [&](const ProtobufField& field) {
      if (field.number == onnx_field::dims) {
        std::vector<std::int64_t> sizes;
        append(field, sizes);
        for (const std::int64_t size : sizes) tensor.shape->push_back(extent(size));
      } else if (field.number == onnx_field::data_type) {
        tensor.type = static_cast<std::int64_t>(field.value);
      } else if (field.number == onnx_field::tensor_name) {
        name = field.bytes;
      } else if (field.number == onnx_field::int64_data) {
        append(field, tensor.values);
      } else if (field.number == onnx_field::raw_data) {
        raw = field.bytes;
      }
    });
    constexpr std::int64_t kInt64 = 7;
    if (tensor.type == kInt64 && tensor.count() <= kSmall && tensor.values.empty()) {
      for (std::size_t at = 0; at + 8 <= raw.size(); at += 8) {
        std::int64_t value = 0;
        std::memcpy(&value, raw.data() + at, sizeof value);
        tensor.values.push_back(value);
      }
    }
    tensors_[name] = std::move(tensor);
  }

  void read_value(std::string_view message, std::vector<std::string>* names) {
    std::string name;
    OnnxTensor tensor;
    const auto read_dimension = [&](std::string_view dimension) {
      std::optional<std::int64_t> size;
      for_fields(dimension, [&](const ProtobufField& field) {
        if (field.number == 1 && !field.has_bytes) size = static_cast<std::int64_t>(field.value);
      });
      const bool free = !size || *size <= 0;
      free_dimensions_ |= free;
      tensor.shape->push_back(free ? batch_ : extent(*size));
    };
    const auto read_tensor_type = [&](std::string_view type) {
      for_fields(type, [&](const ProtobufField& field) {
        if (field.number == 1 && !field.has_bytes) tensor.type = static_cast<std::int64_t>(field.value);
        if (field.number != 2 || !field.has_bytes) return;
        tensor.shape = Extents{};
        for_fields(field.bytes, [&](const ProtobufField& dimension) {
          if (dimension.number == 1 && dimension.has_bytes) read_dimension(dimension.bytes);
        });
      });
    };
    for_fields(message, [&](const ProtobufField& field) {
      if (field.number == onnx_field::value_name) name = field.bytes;
      if (field.number != onnx_field::value_type || !field.has_bytes) return;
      for_fields(field.bytes, [&](const ProtobufField& type) {
        if (type.number == 1 && type.has_bytes) read_tensor_type(type.bytes);
      });
    });
    if (names != nullptr) names->push_back(name);
    if (!tensors_[name].constant && tensor.shape) tensors_[name] = std::move(tensor);
  }

  void read_node(std::string_view message) {
    OnnxNode node;
    for_fields(message, [&](const ProtobufField& field) {
      if (field.number == onnx_field::node_input) node.inputs.emplace_back(field.bytes);
      if (field.number == onnx_field::node_output) node.outputs.emplace_back(field.bytes);
      if (field.number == onnx_field::node_name) node.name = clean_line(std::string(field.bytes));
      if (field.number == onnx_field::op_type) node.op = clean_line(std::string(field.bytes));
      if (field.number != onnx_field::attribute) return;
      std::string name;
      std::vector<std::int64_t> numbers;
      for_fields(field.bytes, [&](const ProtobufField& part) {
        if (part.number == onnx_field::attribute_name) name = part.bytes;
        if (part.number == onnx_field::attribute_int || part.number == onnx_field::attribute_ints)
          append(part, numbers);
      });
      node.attributes[name] = std::move(numbers);
    });
    nodes_.push_back(std::move(node));
  }

  void read_graph(std::string_view graph) {
    for_fields(graph, [&](const ProtobufField& field) {
      if (!field.has_bytes) return;
      if (field.number == onnx_field::initializer) read_initializer(field.bytes);
    });
    for_fields(graph, [&](const ProtobufField& field) {
      if (!field.has_bytes) return;
      if (field.number == onnx_field::node) read_node(field.bytes);
      if (field.number == onnx_field::input) read_value(field.bytes, &inputs_);
      if (field.number == onnx_field::output) read_value(field.bytes, &outputs_);
      if (field.number == onnx_field::value_info) read_value(field.bytes, nullptr);
    });
  }

  // Shapes that the file lacks.

  const OnnxTensor* input(const OnnxNode& node, std::size_t index) const {
    if (index >= node.inputs.size() || node.inputs[index].empty()) return nullptr;
    const auto found = tensors_.find(node.inputs[index]);
    return found == tensors_.end() || !found->second.shape ? nullptr : &found->second;
  }

  static std::int64_t attribute(const OnnxNode& node, std::string_view name, std::size_t index,
                                std::int64_t otherwise) {
    const auto found = node.attributes.find(name);
    return found == node.attributes.end() || index >= found->second.size() ? otherwise : found->second[index];
  }

  static std::optional<Extents> broadcast(const Extents& a, const Extents& b) {
    Extents out(std::max(a.size(), b.size()));
    for (std::size_t i = 0; i < out.size(); ++i) {
      const double left = i < a.size() ? a[a.size() - 1 - i] : 1, right = i < b.size() ? b[b.size() - 1 - i] : 1;
      if (left != right && left != 1 && right != 1) return std::nullopt;
      out[out.size() - 1 - i] = std::max(left, right);
    }
    return out;
  }

  static bool is_any(std::string_view op, std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), op) != names.end();
  }

  /// Windows of convolutions and pooling.
  static std::optional<Extents> slid(const OnnxNode& node, const Extents& x, double channels, const Extents& window) {
    Extents out = {x[0], channels};
    for (std::size_t axis = 0; axis < window.size(); ++axis) {
      const auto stride = static_cast<double>(attribute(node, "strides", axis, 1));
      const auto dilation = static_cast<double>(attribute(node, "dilations", axis, 1));
      const auto pads =
          static_cast<double>(attribute(node, "pads", axis, 0) + attribute(node, "pads", axis + window.size(), 0));
      const double size = (x[axis + 2] + pads - dilation * (window[axis] - 1) - 1) / stride + 1;
      if (!(stride > 0) || !(size >= 1)) return std::nullopt;
      out.push_back(std::floor(size));
    }
    return out;
  }

  std::optional<Extents> shape_of(const OnnxNode& node) const {
    const OnnxTensor* x = input(node, 0);
    if (x == nullptr) return std::nullopt;
    const Extents& shape = *x->shape;
    const OnnxTensor* w = input(node, 1);
    if (node.op == "Conv" && w != nullptr && w->shape->size() == shape.size() && shape.size() > 2) {
      return slid(node, shape, (*w->shape)[0], Extents(w->shape->begin() + 2, w->shape->end()));
    }
    if (is_any(node.op, {"MaxPool", "AveragePool"}) && shape.size() > 2) {
      Extents window;
      for (std::size_t i = 0; i + 2 < shape.size(); ++i)
        window.push_back(static_cast<double>(attribute(node, "kernel_shape", i, 1)));
      return slid(node, shape, shape[1], window);
    }
    if (is_any(node.op, {"GlobalAveragePool", "GlobalMaxPool"}) && shape.size() > 2) {
      Extents out(shape.size(), 1);
      std::copy_n(shape.begin(), 2, out.begin());
      return out;
    }
    if (node.op == "Gemm" && w != nullptr && shape.size() == 2 && w->shape->size() == 2) {
      const bool a = attribute(node, "transA", 0, 0) != 0, b = attribute(node, "transB", 0, 0) != 0;
      return Extents{shape[a ? 1 : 0], (*w->shape)[b ? 0 : 1]};
    }
    if (node.op == "MatMul" && w != nullptr && shape.size() > 1 && w->shape->size() > 1) {
      auto batch = broadcast(Extents(shape.begin(), shape.end() - 2), Extents(w->shape->begin(), w->shape->end() - 2));
      if (!batch) return std::nullopt;
      batch->push_back(shape[shape.size() - 2]);
      batch->push_back(w->shape->back());
      return batch;
    }
    if (node.op == "Flatten") {
      const auto axis = static_cast<std::size_t>(
          std::clamp<std::int64_t>(attribute(node, "axis", 0, 1), 0, static_cast<std::int64_t>(shape.size())));
      const auto first = shape.begin() + static_cast<std::ptrdiff_t>(axis);
      return Extents{std::accumulate(shape.begin(), first, 1.0, std::multiplies<>()),
                     std::accumulate(first, shape.end(), 1.0, std::multiplies<>())};
    }
    if (node.op == "Reshape" && w != nullptr && !w->values.empty()) return reshaped(*x, w->values);
    if (node.op == "Transpose") {
      Extents out;
      for (std::size_t i = 0; i < shape.size(); ++i) {
        const std::int64_t from = attribute(node, "perm", i, static_cast<std::int64_t>(shape.size() - 1 - i));
        if (from < 0 || from >= static_cast<std::int64_t>(shape.size())) return std::nullopt;
        out.push_back(shape[static_cast<std::size_t>(from)]);
      }
      return out;
    }
    if (is_any(node.op,
               {"Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Where", "Equal", "Greater", "Less", "PRelu"})) {
      Extents out = shape;
      for (std::size_t i = 1; i < node.inputs.size(); ++i) {
        const OnnxTensor* other = input(node, i);
        const auto both = other == nullptr ? std::nullopt : broadcast(out, *other->shape);
        if (!both) return std::nullopt;
        out = *both;
      }
      return out;
    }
    if (is_any(node.op, {"Relu",
                         "LeakyRelu",
                         "Sigmoid",
                         "Tanh",
                         "Gelu",
                         "Erf",
                         "Exp",
                         "Log",
                         "Sqrt",
                         "Neg",
                         "Abs",
                         "Clip",
                         "Cast",
                         "Softmax",
                         "LogSoftmax",
                         "BatchNormalization",
                         "LayerNormalization",
                         "InstanceNormalization",
                         "Identity",
                         "Dropout",
                         "HardSwish",
                         "HardSigmoid",
                         "Elu",
                         "Softplus",
                         "Reciprocal",
                         "Floor",
                         "Not"})) {
      return shape;
    }
    return std::nullopt;
  }

  static std::optional<Extents> reshaped(const OnnxTensor& x, const std::vector<std::int64_t>& wanted) {
    Extents out;
    double known = 1;
    std::optional<std::size_t> open;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i] == -1) open = i;
      const double size = wanted[i] > 0                           ? static_cast<double>(wanted[i])
                          : wanted[i] == 0 && i < x.shape->size() ? (*x.shape)[i]
                                                                  : 1;
      if (wanted[i] != -1) known *= size;
      out.push_back(size);
    }
    if (open) out[*open] = x.count() / known;
    return out;
  }

  void derive_shapes(const OnnxNode& node) {
    if (node.outputs.empty()) return;
    OnnxTensor& output = tensors_[node.outputs.front()];
    if (!output.shape) {
      output.shape = shape_of(node);
      const OnnxTensor* x = input(node, 0);
      if (x != nullptr) output.type = x->type;
    }
    if (output.shape) return;
    throw UsageError(
        fmt::format("{}: the shape of {} (node {}, {}) is not known", file_, clean_line(node.outputs.front()),
                    node.name.empty() ? "without a name" : node.name, node.op),
        "add shapes: onnx.shape_inference.infer_shapes(model)");
  }

  // Work.

  double bytes(const OnnxTensor& tensor) const {
    return tensor.shape ? tensor.count() * static_cast<double>(element_size(dtype_of(tensor.type))) : 0;
  }

  /// Multiply-adds of a product: of each output element one per element of the sum.
  std::optional<double> products(const OnnxNode& node, const OnnxTensor& output) const {
    const OnnxTensor* x = input(node, 0);
    const OnnxTensor* w = input(node, 1);
    if (x == nullptr || w == nullptr || x->shape->empty()) return std::nullopt;
    if (node.op == "MatMul") return output.count() * x->shape->back();
    if (node.op == "Gemm" && x->shape->size() == 2) {
      return output.count() * (*x->shape)[attribute(node, "transA", 0, 0) != 0 ? 0 : 1];
    }
    const bool windows = w->shape->size() > 2 && (*w->shape)[0] > 0;
    if (node.op == "Conv" && windows) return output.count() * w->count() / (*w->shape)[0];
    if (node.op == "ConvTranspose" && windows) return x->count() * w->count() / (*w->shape)[0];
    return std::nullopt;
  }

  /// Nothing of nodes that only rename or describe a tensor.
  std::optional<Work> work_of_node(const OnnxNode& node) {
    if (is_any(node.op, {"Reshape", "Flatten", "Identity", "Squeeze", "Unsqueeze", "Shape", "Constant", "Dropout"})) {
      return std::nullopt;
    }
    Work work;
    Traffic& traffic = work.bytes[memory_];
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (const OnnxTensor* tensor = input(node, i)) traffic.read += bytes(*tensor);
    }
    for (const std::string& name : node.outputs) traffic.write += bytes(tensors_[name]);
    const OnnxTensor& output = tensors_[node.outputs.empty() ? std::string() : node.outputs.front()];
    if (const auto sums = products(node, output)) {
      work.flops[product_pipe(dtype_of(output.type), tf32_, device_)] = 2 * *sums;
    } else if (!is_any(node.op, {"Transpose", "Concat", "Split", "Slice", "Gather", "Cast", "Pad", "Expand"})) {
      work.flops[vector_pipe(dtype_of(output.type))] = output.count();
    }
    return work;
  }

  const std::string& file_;
  double batch_;
  DeviceKind device_;
  bool tf32_;
  Level memory_;
  std::map<std::string, OnnxTensor> tensors_;
  std::vector<OnnxNode> nodes_;
  std::vector<std::string> inputs_, outputs_;
  bool free_dimensions_ = false;
};

}  // namespace

BoundProblem read_onnx(std::string_view bytes, const std::string& file, const Inference& inference) {
  return OnnxGraph(bytes, file, inference).problem();
}

}  // namespace roofline
