// ONNX graphs as problems: encoded here, with the work of each node written out.
#include "import/onnx.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/error.hpp"

namespace roofline {
namespace {

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7U) bytes += static_cast<char>((value & 0x7fU) | 0x80U);
  return bytes + static_cast<char>(value);
}

std::string number_field(std::uint32_t number, std::int64_t value) {
  return varint(number << 3U) + varint(static_cast<std::uint64_t>(value));
}

std::string bytes_field(std::uint32_t number, const std::string& bytes) {
  return varint(number << 3U | 2U) + varint(bytes.size()) + bytes;
}

/// A weight: its shape alone, as of one in an external file.
std::string weight(const std::string& name, const std::vector<std::int64_t>& shape, std::int64_t type = 1) {
  std::string tensor;
  for (const std::int64_t size : shape) tensor += number_field(1, size);
  return bytes_field(5, tensor + number_field(2, type) + bytes_field(8, name));
}

std::string whole_numbers(const std::string& name, const std::vector<std::int64_t>& values) {
  std::string data;
  for (const std::int64_t value : values) data += varint(static_cast<std::uint64_t>(value));
  return bytes_field(5, number_field(1, static_cast<std::int64_t>(values.size())) + number_field(2, 7) +
                            bytes_field(7, data) + bytes_field(8, name));
}

/// -1 is a free extent.
std::string value(std::uint32_t field, const std::string& name, const std::vector<std::int64_t>& shape) {
  std::string extents;
  for (const std::int64_t size : shape) {
    extents += bytes_field(1, size < 0 ? bytes_field(2, "N") : number_field(1, size));
  }
  return bytes_field(
      field, bytes_field(1, name) + bytes_field(2, bytes_field(1, number_field(1, 1) + bytes_field(2, extents))));
}

std::string node(const std::string& op, const std::vector<std::string>& inputs, const std::string& output,
                 const std::map<std::string, std::vector<std::int64_t>>& attributes = {}) {
  std::string text;
  for (const std::string& input : inputs) text += bytes_field(1, input);
  text += bytes_field(2, output) + bytes_field(3, op + " " + output) + bytes_field(4, op);
  for (const auto& [name, values] : attributes) {
    std::string attribute = bytes_field(1, name);
    for (const std::int64_t number : values) attribute += number_field(8, number);
    text += bytes_field(5, attribute);
  }
  return bytes_field(1, text);
}

std::string onnx_model(const std::string& graph) {
  return number_field(1, 8) + bytes_field(2, "test") + bytes_field(7, graph);
}

BoundProblem problem_of(const std::string& graph, std::int64_t batch = 4) {
  return read_onnx(onnx_model(graph), "model.onnx", {.batch = batch});
}

/// A convolution, an activation, a pooling and a classifier.
std::string network() {
  return value(11, "x", {-1, 3, 32, 32}) + weight("w", {16, 3, 3, 3}) + weight("fc", {10, 16 * 16 * 16}) +
         whole_numbers("flat", {0, -1}) + node("Conv", {"x", "w"}, "a", {{"pads", {1, 1, 1, 1}}, {"strides", {1, 1}}}) +
         node("Relu", {"a"}, "b") + node("MaxPool", {"b"}, "c", {{"kernel_shape", {2, 2}}, {"strides", {2, 2}}}) +
         node("Reshape", {"c", "flat"}, "d") + node("Gemm", {"d", "fc"}, "y", {{"transB", {1}}}) +
         value(12, "y", {-1, 10});
}

TEST(Onnx, NodesHaveTheirWork) {
  const BoundProblem problem = problem_of(network());
  ASSERT_EQ(problem.phases.size(), 1U);
  const std::vector<ProblemPart>& parts = problem.phases[0].parts;
  ASSERT_EQ(parts.size(), 4U) << "a reshape computes nothing";
  EXPECT_DOUBLE_EQ(parts[0].work.total_flops(), 2.0 * 4 * 16 * 32 * 32 * 3 * 9);
  EXPECT_DOUBLE_EQ(parts[0].work.bytes.at(Level::hbm).read, 4.0 * (4 * 3 * 32 * 32 + 16 * 27));
  EXPECT_DOUBLE_EQ(parts[0].work.bytes.at(Level::hbm).write, 4.0 * 4 * 16 * 32 * 32);
  EXPECT_DOUBLE_EQ(parts[1].work.total_flops(), 4.0 * 16 * 32 * 32);
  EXPECT_DOUBLE_EQ(parts[2].work.bytes.at(Level::hbm).write, 4.0 * 4 * 16 * 16 * 16);
  EXPECT_DOUBLE_EQ(parts[3].work.total_flops(), 2.0 * 4 * 10 * 4096);
  const Traffic fused = problem.phases[0].fused->bytes.at(Level::hbm);
  EXPECT_DOUBLE_EQ(fused.read, 4.0 * (4 * 3 * 32 * 32 + 16 * 27 + 10 * 4096));
  EXPECT_DOUBLE_EQ(fused.write, 4.0 * 4 * 10);
  EXPECT_EQ(problem.notes.size(), 1U) << "a free dimension was given a size";
}

TEST(Onnx, GroupsAndStridesCount) {
  const BoundProblem problem =
      problem_of(value(11, "x", {1, 8, 16, 16}) + weight("w", {8, 1, 3, 3}) +
                 node("Conv", {"x", "w"}, "y", {{"pads", {1, 1, 1, 1}}, {"strides", {2, 2}}, {"group", {8}}}));
  EXPECT_DOUBLE_EQ(problem.phases[0].parts[0].work.total_flops(), 2.0 * 8 * 8 * 8 * 9);
  EXPECT_TRUE(problem.notes.empty());
}

TEST(Onnx, ProductsUseTheUnitOfTheirType) {
  const std::string shapes = weight("a", {64, 128}, 10) + weight("b", {128, 32}, 10);
  const BoundProblem problem = problem_of(shapes + node("MatMul", {"a", "b"}, "y"));
  EXPECT_DOUBLE_EQ(problem.phases[0].parts[0].work.flops.at(Pipe::tensor_fp16), 2.0 * 64 * 128 * 32);
  EXPECT_DOUBLE_EQ(problem.phases[0].parts[0].work.bytes.at(Level::hbm).total(), 2.0 * (64 * 128 + 128 * 32 + 64 * 32));
}

TEST(Onnx, RefusesWhatItCannotKnow) {
  const std::string unknown = value(11, "x", {1, 8}) + node("Einsum", {"x"}, "y") + node("Relu", {"y"}, "z");
  EXPECT_THROW(problem_of(unknown), UsageError);
  EXPECT_NO_THROW(problem_of(unknown + value(13, "y", {1, 4})));
  EXPECT_THROW(problem_of(""), UsageError);
  EXPECT_THROW(problem_of(value(11, "x", {1, 8})), UsageError);
  const std::string model = onnx_model(network());
  for (std::size_t length = 1; length < model.size(); length += 7) {
    try {
      read_onnx(std::string_view(model).substr(0, length), "model.onnx", {.device = DeviceKind::cpu});
    } catch (const UsageError&) {
      continue;
    }
    ADD_FAILURE() << "a truncated model was read: " << length;
  }
}

}  // namespace
}  // namespace roofline
