// Which places and launch signatures are of one kind for counting.
#include <gtest/gtest.h>

#include <string>

#include "inject/launches.hpp"
#include "inject/spool_writer.hpp"

namespace roofline::inject {
namespace {

class AnyBlockTest : public testing::Test {
 protected:
  spool::Id place(const std::string& module, const std::string& range = "", std::uint32_t line = 7) {
    spool::Place place = {};
    if (!range.empty()) place.range = spool_.range(0, range, 0);
    place.line = spool_.line("model.py", "forward", line);
    place.module = spool_.text(module);
    return spool_.place(place);
  }
  bool alike(spool::Id a, spool::Id b) { return spool_.place_of_any_block(a) == spool_.place_of_any_block(b); }

  SpoolWriter spool_;
};

TEST_F(AnyBlockTest, LayersDifferInNumbersOnly) {
  const spool::Id first = place("blocks.0.fc1");
  EXPECT_TRUE(alike(first, place("blocks.11.fc1")));
  EXPECT_TRUE(alike(place("encoder.encoder_layer_3.mlp"), place("encoder.encoder_layer_10.mlp")));
  EXPECT_FALSE(alike(place("Linear_0"), place("Linear_1"))) << "the first and second layer of a class";
  EXPECT_FALSE(alike(first, place("blocks.0.fc2"))) << "fc1 and fc2 are names, not numbers";
  EXPECT_FALSE(alike(first, place("blocks.0.fc1", "", 8)));
  EXPECT_FALSE(alike(first, 0));
}

TEST_F(AnyBlockTest, SoDoStepsOfALoop) {
  const spool::Id first = place("head", "step 1");
  EXPECT_TRUE(alike(first, place("head", "step 2")));
  EXPECT_FALSE(alike(first, place("head", "evaluation 2")));
  EXPECT_FALSE(alike(first, place("head")));
}

TEST_F(AnyBlockTest, KindsOfLayersAreAlikeIfTheirGeometryIsTheSame) {
  Kinds kinds(spool_);
  const auto kind = [&](const std::string& module, std::uint32_t blocks) {
    Geometry geometry;
    geometry.grid = {blocks, 1, 1};
    return kinds.of_changed_node("gemm", geometry, place(module)).alike;
  };
  const spool::Id first = kind("blocks.0.fc1", 128);
  EXPECT_EQ(kind("blocks.1.fc1", 128), first);
  EXPECT_NE(kind("blocks.1.fc1", 64), first);
  EXPECT_NE(kind("blocks.1.fc2", 128), first);
}

}  // namespace
}  // namespace roofline::inject
