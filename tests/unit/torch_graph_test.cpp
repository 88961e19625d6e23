// PyTorch graphs as problems: traces of problem files and programs of torch.export, with their work written out.
#include "import/torch_graph.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "import/torch_export.hpp"
#include "import/zip_archive.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

/// relu(x · w) with x of 64 × 128 and w of 128 × 32, in fp32; the product is called `times` times.
std::string trace(int times = 1, bool tf32 = false) {
  return fmt::format(
      R"({{"file": "p.py", "storages": [["parameter", 16384], ["input", 32768], ["intermediate", 8192],
      ["intermediate", 8192], ["parameter", 4096]],
      "calls": [{{"name": "aten::mm", "dims": [[64, 128], [128, 32]], "types": ["float", "float"], "concrete": ["", ""],
                 "reads": [[1, 32768], [0, 16384]], "writes": [[2, 8192]], "tf32": {}, "times": {}}},
                {{"name": "aten::relu", "dims": [[64, 32]], "types": ["float"], "concrete": [""],
                 "reads": [[2, 8192]], "writes": [[3, 8192]], "tf32": false, "times": 1}}],
      "outputs": [[3, 8192]]}})",
      tf32 ? "true" : "false", times);
}

const ProblemPhase& only_phase(const BoundProblem& problem) {
  EXPECT_EQ(problem.phases.size(), 1U);
  return problem.phases.front();
}

double flops_on(const Work& work, Pipe pipe) {
  const auto found = work.flops.find(pipe);
  return found == work.flops.end() ? 0 : found->second;
}

TEST(TorchGraph, OneKernelReadsWhatIsUsedOnceAndWritesTheOutput) {
  const BoundProblem problem = problem_of(parse_torch_trace(trace()), {});
  const ProblemPhase& phase = only_phase(problem);
  ASSERT_TRUE(phase.fused.has_value());
  const Traffic& fused = phase.fused->bytes.at(Level::hbm);
  EXPECT_EQ(fused.read, 16384 + 32768);  // without the parameter that nothing uses, and what lies between the operators
  EXPECT_EQ(fused.write, 8192);
  constexpr double kProduct = 2.0 * 64 * 128 * 32;
  EXPECT_GE(phase.fused->total_flops(), kProduct);
  ASSERT_EQ(phase.parts.size(), 2U);
  EXPECT_EQ(flops_on(phase.parts[0].work, Pipe::fp32), kProduct);
  EXPECT_EQ(phase.parts[1].work.bytes.at(Level::hbm).read, 8192);
  EXPECT_TRUE(problem.notes.empty());
}

TEST(TorchGraph, CallsOneAfterTheOtherReadAParameterOnceAtBest) {
  const BoundProblem problem = problem_of(parse_torch_trace(trace(10)), {});
  const ProblemPhase& phase = only_phase(problem);
  EXPECT_EQ(phase.fused->bytes.at(Level::hbm).read, 16384 + 32768);
  EXPECT_EQ(phase.parts[0].times, 10);
  EXPECT_GE(phase.fused->total_flops(), 10 * 2.0 * 64 * 128 * 32);
}

TEST(TorchGraph, ProductsUseTf32WhereItIsAllowed) {
  constexpr double kProduct = 2.0 * 64 * 128 * 32;
  const auto on_tensor_cores = [&](const BoundProblem& problem) {
    return flops_on(only_phase(problem).parts[0].work, Pipe::tensor_tf32);
  };
  EXPECT_EQ(on_tensor_cores(problem_of(parse_torch_trace(trace(1, false)), {})), 0);
  EXPECT_EQ(on_tensor_cores(problem_of(parse_torch_trace(trace(1, true)), {})), kProduct);
  Inference allowed;
  allowed.tf32 = true;
  EXPECT_EQ(on_tensor_cores(problem_of(parse_torch_trace(trace(1, false)), allowed)), kProduct);
}

TEST(TorchGraph, OnACpuTheBytesAreThoseOfItsMemory) {
  Inference on_cpu;
  on_cpu.device = DeviceKind::cpu;
  const BoundProblem problem = problem_of(parse_torch_trace(trace(1, true)), on_cpu);
  const Work& fused = *only_phase(problem).fused;
  EXPECT_EQ(fused.bytes.at(Level::dram).total(), 16384 + 32768 + 8192);
  EXPECT_FALSE(fused.bytes.contains(Level::hbm));
  EXPECT_EQ(flops_on(fused, Pipe::tensor_tf32), 0);
}

TEST(TorchGraph, OperatorsWithoutAModelHaveTheirBytesAndANote) {
  std::string text = trace();
  text.replace(text.find("aten::relu"), 10, "aten::sort");
  const BoundProblem problem = problem_of(parse_torch_trace(text), {});
  EXPECT_EQ(only_phase(problem).parts[1].work.total_flops(), 0);
  EXPECT_EQ(only_phase(problem).parts[1].work.bytes.at(Level::hbm).write, 8192);
  ASSERT_EQ(problem.notes.size(), 1U);
  EXPECT_THAT(problem.notes[0], testing::HasSubstr("sort"));
  text.replace(text.find("aten::sort"), 10, "aten::roll");  // moves elements: there is nothing to count
  EXPECT_TRUE(problem_of(parse_torch_trace(text), {}).notes.empty());
}

TEST(TorchGraph, ATraceThatIsNoneIsRefused) {
  EXPECT_THROW(parse_torch_trace("[]"), UsageError);
  EXPECT_THROW(parse_torch_trace(R"({"file": "p.py"})"), UsageError);
  EXPECT_THROW(parse_torch_trace(R"({"file": "p.py", "error": "ValueError: no Model"})"), UsageError);
  const std::string whole = trace();
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    EXPECT_THROW(parse_torch_trace(whole.substr(0, size)), UsageError);
  }
  std::string beyond = trace();
  beyond.replace(beyond.find("[1, 32768]"), 10, "[9, 32768]");
  EXPECT_THROW(parse_torch_trace(beyond), UsageError);
  EXPECT_THROW(problem_of(TorchGraph{}, {}), UsageError);
}

std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8U * static_cast<unsigned>(i)) & 0xffU);
  return text;
}

std::string deflated(const std::string& text) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

/// An archive of one file behind `gap` bytes, as a zip with padding has it.
std::string zip_of(const std::string& name, const std::string& text, bool deflate = false, std::size_t gap = 0) {
  const std::string packed = deflate ? deflated(text) : text;
  const std::string common = little_endian(deflate ? 8 : 0, 2) + little_endian(0, 8) + little_endian(packed.size(), 4) +
                             little_endian(text.size(), 4) + little_endian(name.size(), 2);
  std::string zip(gap, 'x');
  zip += little_endian(0x04034b50, 4) + little_endian(20, 2) + little_endian(0, 2) + common + little_endian(0, 2) +
         name + packed;
  const std::size_t directory = zip.size();
  zip += little_endian(0x02014b50, 4) + little_endian(20, 2) + little_endian(20, 2) + little_endian(0, 2) + common +
         little_endian(0, 2) + little_endian(0, 2) + little_endian(0, 2) + little_endian(0, 2) + little_endian(0, 4) +
         little_endian(gap, 4) + name;
  const std::size_t size = zip.size() - directory;
  return zip + little_endian(0x06054b50, 4) + little_endian(0, 4) + little_endian(1, 2) + little_endian(1, 2) +
         little_endian(size, 4) + little_endian(directory, 4) + little_endian(0, 2);
}

class TorchExport : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "roofline-pt2-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path file(const std::string& bytes) {
    const std::filesystem::path path = folder_ / "model.pt2";
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  std::filesystem::path folder_;
};

std::string meta(const std::string& name, const std::string& sizes, int dtype = 7) {
  return fmt::format(R"("{}": {{"dtype": {}, "sizes": [{}], "strides": []}})", name, dtype, sizes);
}

/// softmax(linear(x, w, b)) of x, `rows` × 128, and w, 32 × 128; through a view.
std::string program(const std::string& rows) {
  return fmt::format(
      R"({{"graph_module": {{"graph": {{
    "inputs": [{{"as_tensor": {{"name": "w"}}}}, {{"as_tensor": {{"name": "b"}}}}, {{"as_tensor": {{"name": "x"}}}}],
    "outputs": [{{"as_tensor": {{"name": "s"}}}}],
    "nodes": [
      {{"target": "torch.ops.aten.view.default", "inputs": [{{"name": "self", "arg": {{"as_tensor": {{"name": "x"}}}}}}],
        "outputs": [{{"as_tensor": {{"name": "v"}}}}], "metadata": {{}}}},
      {{"target": "torch.ops.aten.linear.default", "inputs": [
          {{"name": "input", "arg": {{"as_tensor": {{"name": "v"}}}}}}, {{"name": "weight", "arg": {{"as_tensor": {{"name": "w"}}}}}},
          {{"name": "bias", "arg": {{"as_tensor": {{"name": "b"}}}}}}],
        "outputs": [{{"as_tensor": {{"name": "y"}}}}], "metadata": {{}}}},
      {{"target": "torch.ops.aten.softmax.int", "inputs": [
          {{"name": "self", "arg": {{"as_tensor": {{"name": "y"}}}}}}, {{"name": "dim", "arg": {{"as_int": -1}}}}],
        "outputs": [{{"as_tensor": {{"name": "s"}}}}], "metadata": {{}}}},
      {{"target": "_operator.mul", "inputs": [], "outputs": [{{"as_int": 3}}], "metadata": {{}}}}],
    "tensor_values": {{{}, {}, {}, {}, {}, {}}}}}}}}})",
      meta("x", rows + R"(, {"as_int": 128})"), meta("v", rows + R"(, {"as_int": 128})"),
      meta("w", R"({"as_int": 32}, {"as_int": 128})"), meta("b", R"({"as_int": 32})"),
      meta("y", rows + R"(, {"as_int": 32})"), meta("s", rows + R"(, {"as_int": 32})"));
}

TEST_F(TorchExport, AProgramHasTheWorkOfItsOperators) {
  for (const bool deflate : {false, true}) {
    for (const char* name : {"serialized_exported_program.json", "model/models/model.json"}) {
      bool symbols = true;
      const TorchGraph graph =
          read_torch_export(file(zip_of(name, program(R"({"as_int": 64})"), deflate, 11)), 1, symbols);
      EXPECT_FALSE(symbols);
      const BoundProblem problem = problem_of(graph, {});
      const ProblemPhase& phase = only_phase(problem);
      ASSERT_EQ(phase.parts.size(), 2U);
      EXPECT_EQ(flops_on(phase.parts[0].work, Pipe::fp32), 2.0 * 64 * 128 * 32);
      EXPECT_EQ(phase.fused->bytes.at(Level::hbm).read, 4.0 * (64 * 128 + 32 * 128 + 32));
      EXPECT_EQ(phase.fused->bytes.at(Level::hbm).write, 4.0 * 64 * 32);
      EXPECT_TRUE(problem.notes.empty());
    }
  }
}

TEST_F(TorchExport, ExtentsThatAreSymbolsAreTheirHintOrTheBatch) {
  const auto product = [&](const std::string& rows, bool& symbols) {
    const BoundProblem problem =
        problem_of(read_torch_export(file(zip_of("serialized_exported_program.json", program(rows))), 16, symbols), {});
    return flops_on(only_phase(problem).parts[0].work, Pipe::fp32);
  };
  bool symbols = false;
  EXPECT_EQ(product(R"({"as_expr": {"expr_str": "s0", "hint": {"as_int": 8}}})", symbols), 2.0 * 8 * 128 * 32);
  EXPECT_FALSE(symbols);
  EXPECT_EQ(product(R"({"as_expr": {"expr_str": "s0", "hint": null}})", symbols), 2.0 * 16 * 128 * 32);
  EXPECT_TRUE(symbols);
}

TEST_F(TorchExport, ArgumentsThatWereLeftOutHaveTheirDefaults) {
  // A depthwise convolution of 2 × 8 × 16 × 16 by windows of 3 × 3, and one that keeps the size; a number that JSON
  // lacks.
  const auto product = [&](const std::string& more) {
    const std::string text = fmt::format(
        R"({{"graph_module": {{"graph": {{"inputs": [{{"as_tensor": {{"name": "x"}}}}, {{"as_tensor": {{"name": "w"}}}}],
      "outputs": [{{"as_tensor": {{"name": "y"}}}}], "nodes": [{{"target": "torch.ops.aten.conv2d.default", "metadata": {{}},
        "inputs": [{{"name": "input", "arg": {{"as_tensor": {{"name": "x"}}}}}},
                   {{"name": "weight", "arg": {{"as_tensor": {{"name": "w"}}}}}}{}], "outputs": [{{"as_tensor": {{"name": "y"}}}}]}}],
      "tensor_values": {{{}, {}, {}}}}}}}, "range": -Infinity, "text": "NaN \" Infinity"}})",
        more, meta("x", R"({"as_int": 2}, {"as_int": 8}, {"as_int": 16}, {"as_int": 16})"),
        meta("w", R"({"as_int": 8}, {"as_int": 1}, {"as_int": 3}, {"as_int": 3})"),
        meta("y", R"({"as_int": 2}, {"as_int": 8}, {"as_int": 14}, {"as_int": 14})"));
    bool symbols = false;
    const TorchGraph graph = read_torch_export(file(zip_of("serialized_exported_program.json", text)), 1, symbols);
    return flops_on(only_phase(problem_of(graph, {})).parts[0].work, Pipe::tensor_tf32);
  };
  const std::string groups = R"(, {"name": "groups", "arg": {"as_int": 8}})";
  EXPECT_EQ(product(groups), 2.0 * 2 * 8 * 14 * 14 * 9);
  const double same = product(R"(, {"name": "padding", "arg": {"as_string": "same"}})" + groups);
  EXPECT_GT(same, 2.0 * 2 * 8 * 14 * 14 * 9);
  EXPECT_LE(same, 2.0 * 2 * 8 * 16 * 16 * 9);
}

/// y = relu(mm(x, w)) within `op`, whose graph has the same names as the program; z = neg(y).
std::string wrapped(const std::string& op, const std::string& graph_inputs) {
  const std::string tensors =
      fmt::format(R"("tensor_values": {{{}, {}, {}, {}}})", meta("x", R"({"as_int": 64}, {"as_int": 128})"),
                  meta("w", R"({"as_int": 128}, {"as_int": 32})"), meta("y", R"({"as_int": 64}, {"as_int": 32})"),
                  meta("z", R"({"as_int": 64}, {"as_int": 32})"));
  const auto tensor = [](const char* name) { return fmt::format(R"({{"as_tensor": {{"name": "{}"}}}})", name); };
  const auto node = [&](const std::string& target, const std::string& inputs, const char* output) {
    return fmt::format(R"({{"target": "torch.ops.{}", "metadata": {{}}, "inputs": [{}], "outputs": [{}]}})", target,
                       inputs, tensor(output));
  };
  const auto argument = [&](const std::string& value) { return fmt::format(R"({{"name": "", "arg": {}}})", value); };
  const std::string x = argument(tensor("x")), w = argument(tensor("w"));
  const std::string inner = fmt::format(R"({{"inputs": [{}], "outputs": [{}], "nodes": [{}, {}], {}}})", graph_inputs,
                                        tensor("y"), node("aten.mm.default", x + ", " + w, "z"),
                                        node("aten.relu.default", argument(tensor("z")), "y"), tensors);
  const std::string arguments =
      fmt::format(R"({}, {}, {}, {})", argument(R"({"as_bool": false})"),
                  argument(fmt::format(R"({{"as_graph": {{"name": "submod_1", "graph": {}}}}})", inner)), x, w);
  return fmt::format(
      R"({{"graph_module": {{"graph": {{"inputs": [{}, {}], "outputs": [{}], "nodes": [{}, {}], {}}}}}}})", tensor("x"),
      tensor("w"), tensor("z"), node("higher_order." + op, arguments, "y"),
      node("aten.neg.default", argument(tensor("y")), "z"), tensors);
}

TEST_F(TorchExport, AGraphWithinAnOperatorIsPartOfTheProgram) {
  bool symbols = false;
  const auto bound = [&](const std::string& op, const std::string& inputs) {
    return problem_of(
        read_torch_export(file(zip_of("serialized_exported_program.json", wrapped(op, inputs))), 1, symbols), {});
  };
  const std::string both = R"({"as_tensor": {"name": "x"}}, {"as_tensor": {"name": "w"}})";
  const BoundProblem problem = bound("wrap_with_set_grad_enabled", both);
  const ProblemPhase& phase = only_phase(problem);
  EXPECT_EQ(phase.parts.size(), 3U);
  EXPECT_EQ(phase.fused->flops.at(Pipe::fp32), 2.0 * 64 * 128 * 32 + 2 * 64 * 32);
  EXPECT_EQ(phase.fused->bytes.at(Level::hbm).read, 4.0 * (64 * 128 + 128 * 32));
  EXPECT_EQ(phase.fused->bytes.at(Level::hbm).write, 4.0 * 64 * 32);
  EXPECT_TRUE(problem.notes.empty());
  // Other operators may run their graph many times, and not all arguments may be known: the operator has its bytes.
  for (const BoundProblem& opaque :
       {bound("while_loop", both), bound("wrap_with_autocast", R"({"as_tensor": {"name": "x"}})")}) {
    EXPECT_EQ(only_phase(opaque).parts.size(), 2U);
    EXPECT_EQ(opaque.notes.size(), 1U);
  }
}

TEST_F(TorchExport, DamagedArchivesAreRefused) {
  const std::string whole = zip_of("serialized_exported_program.json", program(R"({"as_int": 64})"), true);
  bool symbols = false;
  for (std::size_t size = 0; size < whole.size(); size += 37) {
    EXPECT_THROW(read_torch_export(file(whole.substr(0, size)), 1, symbols), UsageError);
  }
  EXPECT_THROW(read_torch_export(file(zip_of("weights.bin", "none")), 1, symbols), UsageError);
  EXPECT_THROW(read_torch_export(file(zip_of("serialized_exported_program.json", "{}")), 1, symbols), UsageError);
  for (std::size_t at = 0; at < whole.size(); at += 3) {  // whatever a byte says, nothing breaks
    std::string damaged = whole;
    damaged[at] = static_cast<char>(~damaged[at]);
    try {
      problem_of(read_torch_export(file(damaged), 1, symbols), {});
    } catch (const UsageError&) {
    }
  }
}

TEST_F(TorchExport, AnEntryIsNoLargerThanAsked) {
  ZipArchive archive(file(zip_of("big", std::string(100'000, 'a'), true)));
  ASSERT_EQ(archive.entries().size(), 1U);
  EXPECT_EQ(archive.read(archive.entries()[0], 100'000).size(), 100'000U);
  EXPECT_THROW(archive.read(archive.entries()[0], 99'999), UsageError);
}

}  // namespace
}  // namespace roofline
