// Calls of tools as command lines, and which paths they may name.
#include "mcp/arguments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "model/error.hpp"
#include "tests/support/mentions.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using testing::ElementsAre;

class McpArguments : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(work_ / "run");
    fs::create_directories(outside_);
    std::ofstream(outside_ / "secret.json") << "{}";
    std::ofstream(work_ / "a.json") << "{}";
    std::ofstream(work_ / "run" / "report.json") << "{}";
  }
  void TearDown() override { fs::remove_all(base_); }

  std::vector<std::string> command(const std::string& tool, const Json& arguments) const {
    return command_of(*find_tool(tool), arguments, AllowedPaths(work_, {})).arguments;
  }
  std::string refusal(const std::string& tool, const Json& arguments) const {
    try {
      command(tool, arguments);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  }
  std::string refusal_of_path(const std::string& path) const { return refusal("report", {{"report", path}}); }

  fs::path base_ = fs::canonical(testing::TempDir()) / ("mcp-" + std::to_string(::getpid()));
  fs::path work_ = base_ / "work", outside_ = base_ / "outside";
};

TEST_F(McpArguments, BecomeOptions) {
  const std::string output = "--output=" + (work_ / "out").string();
  EXPECT_THAT(command("profile", {{"program", {"python3", "-u", "train.py"}},
                                  {"device", "cuda:1"},
                                  {"counters", false},
                                  {"emulate", false},
                                  {"warmup_s", 1.5},
                                  {"output", "out"}}),
              ElementsAre("profile", "--json", "--device=cuda:1", "--no-counters", "--warmup=1.5s", output,
                          "--format=json,html,svg", "--", "python3", "-u", "train.py"));
  EXPECT_THAT(command("compare", {{"before", {"a.json"}}, {"after", {"run", "a.json"}}, {"max_slowdown_percent", 5}}),
              ElementsAre("compare", "--json", "--max-slowdown=5%", (work_ / "a.json").string(), "--",
                          (work_ / "run/report.json").string(), (work_ / "a.json").string()));
  EXPECT_THAT(command("project", {{"report", "run"}, {"onto", {"H200", "a.json"}}, {"at_roofs", true}}),
              ElementsAre("project", "--json", "--onto=H200," + (work_ / "a.json").string(), "--at-roofs",
                          (work_ / "run/report.json").string()));
  EXPECT_THAT(command("bound", {{"problem", "ops"}, {"batch", 8}, {"phase", "decode"}}),
              ElementsAre("bound", "--json", "--batch=8", "--phase=decode", "ops"));
}

TEST_F(McpArguments, EveryOptionIsOneOfTheCommand) {
  const CommandTree tree = command_tree();
  for (const Tool& tool : tools()) {
    const CommandEntry* const entry = find_command(tree, tool.name);
    ASSERT_NE(entry, nullptr) << tool.name;
    for (const ToolParameter& parameter : tool.parameters) {
      if (!parameter.option.starts_with("--") || parameter.option == "--") continue;
      const OptionEntry* const option = find_option(*entry, parameter.option);
      ASSERT_NE(option, nullptr) << tool.name << " " << parameter.option;
      EXPECT_EQ(option->value.empty() || option->value_optional, parameter.kind == ParameterKind::flag)
          << parameter.option;
      for (const std::string& choice : parameter.choices) {
        EXPECT_THAT(option->choices, testing::Contains(choice)) << parameter.option;
      }
    }
  }
}

TEST_F(McpArguments, ReportsGetFoldersOfTheirOwn) {
  const auto folder_of = [this](const Json& program) {
    return command_of(*find_tool("profile"), {{"program", program}}, AllowedPaths(work_, {})).view.report;
  };
  EXPECT_EQ(folder_of({"python3", "src/train.v2.py"}), "reports/train-v2-1/report.json");
  EXPECT_EQ(folder_of({"./solver", "x.py"}), "reports/solver-1/report.json");
  fs::create_directories(work_ / "reports/solver-1");
  EXPECT_EQ(folder_of({"./solver"}), "reports/solver-2/report.json");
}

TEST_F(McpArguments, AViewIsNotTheCommands) {
  const ToolCommand command =
      command_of(*find_tool("report"), {{"report", "run"}, {"row", "#3"}, {"section", "rows"}, {"offset", 7}},
                 AllowedPaths(work_, {}));
  EXPECT_THAT(command.arguments, ElementsAre("report", "--json", (work_ / "run/report.json").string()));
  EXPECT_EQ(command.view.row, "#3");
  EXPECT_EQ(command.view.section, "rows");
  EXPECT_EQ(command.view.offset, 7U);
  EXPECT_EQ(command.view.report, "run/report.json");
}

TEST_F(McpArguments, MistakesNameTheArgument) {
  EXPECT_THAT(refusal("profile", Json::object()), mentions("program"));
  EXPECT_THAT(refusal("profile", {{"program", "python3 train.py"}}), mentions("program"));
  EXPECT_THAT(refusal("profile", {{"program", Json::array()}}), mentions("program"));
  EXPECT_THAT(refusal("profile", {{"program", {"a", 1}}}), mentions("program"));
  EXPECT_THAT(refusal("profile", {{"program", {std::string("a\0b", 3)}}}), mentions("program"));
  EXPECT_THAT(refusal("profile", {{"program", {"a"}}, {"warmup_s", -1}}), mentions("warmup_s"));
  EXPECT_THAT(refusal("profile", {{"program", {"a"}}, {"warmup_s", "1s"}}), mentions("warmup_s"));
  EXPECT_THAT(refusal("profile", {{"program", {"a"}}, {"emulate", "yes"}}), mentions("emulate"));
  EXPECT_THAT(refusal("profile", {{"program", {"a"}}, {"wramup_s", 1}}), mentions("wramup_s"));
  EXPECT_THAT(refusal("bound", {{"problem", "ops"}, {"batch", 1.5}}), mentions("batch"));
  EXPECT_THAT(refusal("bound", {{"problem", "ops"}, {"phase", "none"}}), mentions("phase", "prefill"));
  EXPECT_THAT(refusal("bound", {{"problem", "--help"}}), mentions("problem"));
  EXPECT_THAT(refusal("project", {{"report", "a.json"}, {"onto", {"H200,/etc"}}}), testing::Ne("accepted"));
  EXPECT_THAT(refusal("report", {{"report", "a.json"}, {"section", "all"}}), mentions("section", "savings"));
}

TEST_F(McpArguments, PathsStayInTheWorkingFolder) {
  EXPECT_EQ(refusal_of_path("a.json"), "accepted");
  EXPECT_EQ(refusal_of_path("run/../a.json"), "accepted");
  EXPECT_EQ(refusal_of_path("not-there.json"), "accepted");
  EXPECT_EQ(refusal_of_path((work_ / "a.json").string()), "accepted");
  EXPECT_THAT(refusal_of_path("../outside/secret.json"), mentions("secret.json"));
  EXPECT_THAT(refusal_of_path((outside_ / "secret.json").string()), mentions("secret.json"));
  EXPECT_THAT(refusal_of_path(work_.string() + "-2/a.json"), testing::Ne("accepted"));
  EXPECT_THAT(refusal_of_path(""), testing::Ne("accepted"));
  EXPECT_THAT(refusal_of_path(std::string("a.json\0x", 8)), testing::Ne("accepted"));
  EXPECT_THAT(refusal("bound", {{"problem", "../outside/secret.json"}}), mentions("secret.json"));
  EXPECT_THAT(refusal("profile", {{"program", {"a"}}, {"output", "../outside/run"}}), mentions("outside/run"));
}

TEST_F(McpArguments, LinksAreFollowedBeforeTheyAreJudged) {
  fs::create_symlink(outside_, work_ / "link");
  fs::create_symlink(outside_ / "new.json", work_ / "dangling");
  fs::create_symlink(outside_ / "secret.json", work_ / "H100");
  fs::create_symlink("loop", work_ / "loop");
  fs::create_symlink(work_ / "a.json", work_ / "inside");
  EXPECT_EQ(refusal_of_path("inside"), "accepted");
  EXPECT_THAT(refusal_of_path("link/secret.json"), mentions("link"));
  EXPECT_THAT(refusal_of_path("dangling"), mentions("dangling"));
  EXPECT_THAT(refusal_of_path("dangling/below"), mentions("dangling"));
  EXPECT_THAT(refusal_of_path("loop"), mentions("loop"));
  EXPECT_THAT(refusal("bound", {{"problem", "ops"}, {"machine", "H100"}}), mentions("H100"));
  EXPECT_THAT(refusal("profile", {{"program", {"a"}}, {"output", "link/run"}}), mentions("link"));
  fs::create_symlink(outside_, work_ / "reports");
  EXPECT_THAT(refusal("profile", {{"program", {"a"}}}), mentions("reports"));
}

TEST_F(McpArguments, AllowedPathsAreOpened) {
  const AllowedPaths paths(work_, {outside_.string()});
  EXPECT_EQ(paths.resolve("../outside/secret.json"), outside_ / "secret.json");
  EXPECT_THROW(paths.resolve("/etc/passwd"), UsageError);
  EXPECT_THROW(AllowedPaths(work_, {"not-there"}), UsageError);
}

}  // namespace
}  // namespace roofline
