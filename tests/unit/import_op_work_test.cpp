// The models of PyTorch's operators are those of our own ops, where both have the same shape.
#include <gtest/gtest.h>

#include "import/op_work.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

Work own(const char* op, DType dtype, Shape shape) {
  Workload workload;
  workload.op = op;
  workload.dtype = dtype;
  workload.shape = std::move(shape);
  return find_op(op)->work(workload, DeviceKind::cuda);
}

Work of(const char* name, const char* dims, const char* types, const char* concrete = "") {
  const auto work = work_of({.name = name, .dims = dims, .types = types, .concrete = concrete});
  EXPECT_TRUE(work) << name;
  return work ? work->work : Work{};
}

void expect_same(const Work& theirs, const Work& ours) {
  EXPECT_EQ(theirs.flops, ours.flops);
  EXPECT_EQ(theirs.uncounted, ours.uncounted);
  EXPECT_EQ(theirs.bytes.at(Level::hbm).read, ours.bytes.at(Level::hbm).read);
  EXPECT_EQ(theirs.bytes.at(Level::hbm).write, ours.bytes.at(Level::hbm).write);
}

TEST(OpWork, ProductsAreThoseOfGemm) {
  expect_same(of("aten::mm", "[[64,32],[32,16]]", R"(["c10::BFloat16","c10::BFloat16"])"),
              own("gemm", DType::bf16, {{"m", 64}, {"n", 16}, {"k", 32}}));
  expect_same(of("aten::_scaled_mm", "[[64,32],[32,16],[],[]]",
                 R"(["c10::Float8_e4m3fn","c10::Float8_e4m3fn","float","float"])"),
              own("gemm", DType::fp8, {{"m", 64}, {"n", 16}, {"k", 32}}));
  expect_same(of("aten::mm", "[[64,32],[32,16]]", R"(["double","double"])"),
              own("gemm", DType::fp64, {{"m", 64}, {"n", 16}, {"k", 32}}));
  const Work batched = of("aten::bmm", "[[3,64,32],[3,32,16]]", R"(["c10::Half","c10::Half"])");
  EXPECT_EQ(batched.total_flops(), 3 * own("gemm", DType::fp16, {{"m", 64}, {"n", 16}, {"k", 32}}).total_flops());
  const Work biased =
      of("aten::addmm", "[[16],[64,32],[32,16],[],[]]", R"(["float","float","float","Scalar","Scalar"])");
  EXPECT_EQ(biased.bytes.at(Level::hbm).read, 4.0 * (16 + 64 * 32 + 32 * 16));
}

TEST(OpWork, ConvolutionsAreThoseOfConv2d) {
  const char* types =
      R"(["c10::Half","c10::Half","ScalarList","ScalarList","ScalarList","Scalar","Scalar","Scalar","Scalar"])";
  expect_same(of("aten::cudnn_convolution", "[[2,8,14,14],[16,8,3,3],[],[],[],[],[],[],[]]", types,
                 R"(["","","[1, 1]","[1, 1]","[1, 1]","1","False","False","True"])"),
              own("conv2d", DType::fp16,
                  {{"batch", 2},
                   {"height", 14},
                   {"width", 14},
                   {"channels", 8},
                   {"filters", 16},
                   {"kernel", 3},
                   {"padding", 1}}));
  const Work strided = of("aten::cudnn_convolution", "[[2,8,14,14],[16,4,3,3],[],[],[],[],[],[],[]]", types,
                          R"(["","","[1, 1]","[2, 2]","[1, 1]","2","False","False","True"])");
  EXPECT_EQ(strided.total_flops(), 2.0 * 2 * 7 * 7 * 16 * 4 * 9) << "strides, and groups by their weights";
}

TEST(OpWork, AttentionIsOurs) {
  const char* types = R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","","Scalar","Scalar","Scalar"])";
  const char* dims = "[[2,4,128,64],[2,4,128,64],[2,4,128,64],[],[],[],[]]";
  for (const bool causal : {false, true}) {
    const std::string concrete = std::string(R"(["","","","","True","0.",")") + (causal ? "True" : "False") + "\"]";
    expect_same(of("aten::_scaled_dot_product_efficient_attention", dims, types, concrete.c_str()),
                own("attention", DType::bf16,
                    {{"batch", 2}, {"heads", 4}, {"seq", 128}, {"head_dim", 64}, {"causal", causal ? 1 : 0}}));
  }
  EXPECT_FALSE(
      work_of({.name = "aten::_scaled_dot_product_efficient_attention", .dims = dims, .types = types, .concrete = ""}))
      << "whether it is causal was not recorded";
}

TEST(OpWork, BackwardOfAttentionHasFiveProducts) {
  const char* types = R"(["c10::Half","c10::Half","c10::Half","c10::Half","c10::Half","float"])";
  const char* dims = "[[2,4,128,64],[2,4,128,64],[2,4,128,64],[2,4,128,64],[2,4,128,64],[2,4,128,1]]";
  const char* concrete = R"(["","","","","","","","","","","","1","1","0.","False",""])";
  EXPECT_EQ(of("aten::_cudnn_attention_backward", dims, types, concrete).total_flops(), 10.0 * 2 * 4 * 128 * 128 * 64);
}

TEST(OpWork, RowsAndElementsAreOurs) {
  expect_same(of("aten::_softmax", "[[64,128],[],[]]", R"(["c10::Half","Scalar","Scalar"])"),
              own("softmax", DType::fp16, {{"rows", 64}, {"cols", 128}}));
  expect_same(of("aten::native_layer_norm", "[[64,128],[],[128],[128],[]]",
                 R"(["float","ScalarList","float","float","Scalar"])"),
              own("layernorm", DType::fp32, {{"rows", 64}, {"cols", 128}}));
  expect_same(of("aten::_fused_rms_norm", "[[64,128],[],[128],[]]", R"(["float","ScalarList","float","Scalar"])"),
              own("rmsnorm", DType::fp32, {{"rows", 64}, {"cols", 128}}));
  expect_same(of("aten::add", "[[1000],[1000],[]]", R"(["float","float","Scalar"])"),
              own("add", DType::fp32, {{"n", 1000}}));
  expect_same(of("aten::relu", "[[1000]]", R"(["c10::BFloat16"])"), own("relu", DType::bf16, {{"n", 1000}}));
  expect_same(of("aten::copy_", "[[1000],[1000],[]]", R"(["float","float","Scalar"])"),
              own("copy", DType::fp32, {{"n", 1000}}));
}

TEST(OpWork, BroadcastsAndTypes) {
  const Work added = of("aten::add", "[[4,1,8],[3,1],[]]", R"(["c10::Half","float","Scalar"])");
  EXPECT_EQ(added.bytes.at(Level::hbm).write, 4.0 * 4 * 3 * 8) << "the wider type, the common shape";
  EXPECT_EQ(of("aten::eq", "[[100],[100]]", R"(["float","float"])").bytes.at(Level::hbm).write, 100);
  const Work looked_up = of("aten::embedding", "[[50000,64],[2,8]]", R"(["float","long int"])");
  EXPECT_EQ(looked_up.bytes.at(Level::hbm).read, 16 * 64 * 4.0 + 16 * 8);
}

TEST(OpWork, WhatIsNotKnownHasNoModel) {
  for (const char* dims : {"", "[]", "[[", "nonsense", "[[-1,2],[2,3]]", "[[1,2],[3,4]]", "[{},{}]", "[[1e400]]"}) {
    EXPECT_FALSE(work_of({.name = "aten::mm", .dims = dims, .types = R"(["float","float"])", .concrete = ""})) << dims;
  }
  EXPECT_FALSE(work_of({.name = "aten::nothing", .dims = "[[1]]", .types = R"(["float"])", .concrete = ""}));
  EXPECT_FALSE(work_of({.name = "mine::mm", .dims = "[[1,2],[2,3]]", .types = R"(["float","float"])", .concrete = ""}));
}

TEST(OpWork, CallsAreToldByTheirShapes) {
  EXPECT_EQ(text_of({.name = "aten::mm", .dims = "[[64,32],[32,16]]", .types = "[]", .concrete = ""}),
            "aten::mm(64x32, 32x16)");
  EXPECT_EQ(text_of({.name = "aten::cat", .dims = "[[[1,2],[1,2]],[]]", .types = "[]", .concrete = ""}),
            "aten::cat(2 tensors)");
}

}  // namespace
}  // namespace roofline
