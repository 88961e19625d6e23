// The Model Context Protocol: messages in and out, calls one after another, lines of a stream.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "mcp/json_rpc.hpp"
#include "mcp/progress_lines.hpp"
#include "mcp/server.hpp"
#include "mcp/tools.hpp"
#include "text/line_reader.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;
using testing::ElementsAre;

/// A server and what it has sent.
class McpServerTest : public testing::Test {
 protected:
  void initialize(const std::string& version = "2025-06-18") {
    receive({{"id", 0}, {"method", "initialize"}, {"params", {{"protocolVersion", version}}}});
  }

  void receive(Json message) {
    message["jsonrpc"] = "2.0";
    server_.receive(message.dump());
  }

  void call(const Json& id, const std::string& tool, const Json& token = nullptr) {
    Json params = {{"name", tool}, {"arguments", {{"report", "a.json"}}}};
    if (!token.is_null()) params["_meta"] = {{"progressToken", token}};
    receive({{"id", id}, {"method", "tools/call"}, {"params", params}});
  }

  /// The last message.
  Json last() const { return sent_.empty() ? Json() : Json::parse(sent_.back()); }
  int last_error() const { return last().value("error", Json::object()).value("code", 0); }

  std::vector<std::string> sent_;
  McpServer server_{[this](const std::string& line) { sent_.push_back(line); }};
};

TEST_F(McpServerTest, VersionsAreNegotiated) {
  initialize("2024-11-05");
  EXPECT_EQ(last()["result"]["protocolVersion"], "2024-11-05");
  EXPECT_TRUE(last()["result"]["capabilities"]["tools"].is_object());
  EXPECT_EQ(last()["result"]["serverInfo"]["name"], "roofline");
}

TEST_F(McpServerTest, AnUnknownVersionGetsTheNewest) {
  initialize("1999-01-01");
  EXPECT_EQ(last()["result"]["protocolVersion"], std::string(kProtocolVersions[0]));
}

TEST_F(McpServerTest, AVersionInBetweenGetsTheOneBefore) {
  initialize("2025-03-26");
  EXPECT_EQ(last()["result"]["protocolVersion"], "2024-11-05");
}

TEST_F(McpServerTest, AFutureVersionGetsTheNewest) {
  initialize("2999-01-01");
  EXPECT_EQ(last()["result"]["protocolVersion"], std::string(kProtocolVersions[0]));
}

TEST_F(McpServerTest, InitializeComesFirstAndOnce) {
  receive({{"id", 1}, {"method", "ping"}});
  EXPECT_EQ(last()["result"], Json::object());
  receive({{"id", 2}, {"method", "tools/list"}});
  EXPECT_EQ(last_error(), -32600);
  receive({{"id", 3}, {"method", "initialize"}, {"params", {{"protocolVersion", 7}}}});
  EXPECT_EQ(last_error(), -32602);
  initialize();
  receive({{"id", 4}, {"method", "tools/list"}});
  EXPECT_EQ(last()["result"]["tools"].size(), tools().size());
  initialize();
  EXPECT_EQ(last_error(), -32600);
}

TEST_F(McpServerTest, ErrorsHaveTheCodesOfTheSpecification) {
  initialize();
  const auto code_of = [this](const std::string& line) {
    sent_.clear();
    server_.receive(line);
    return last_error();
  };
  EXPECT_EQ(code_of("{\"jsonrpc\":\"2.0\","), -32700);
  EXPECT_EQ(code_of("\xff\xfe"), -32700);
  EXPECT_EQ(code_of(std::string(5000, '[')), -32700);
  EXPECT_EQ(code_of(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":)" + std::string(99, '[') +
                    std::string(99, ']') + "}"),
            -32700);
  EXPECT_EQ(code_of("[]"), -32600);
  EXPECT_EQ(code_of("7"), -32600);
  EXPECT_EQ(code_of(R"({"id":1,"method":"ping"})"), -32600);
  EXPECT_EQ(code_of(R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})"), -32600);
  EXPECT_EQ(code_of(R"({"jsonrpc":"2.0","id":null,"method":"ping"})"), -32600);
  EXPECT_EQ(code_of(R"({"jsonrpc":"2.0","id":1,"method":5})"), -32600);
  EXPECT_EQ(code_of(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[1]})"), -32602);
  EXPECT_EQ(code_of(R"({"jsonrpc":"2.0","id":1,"method":"resources/list"})"), -32601);
  EXPECT_EQ(code_of(R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}})"), -32602);
  EXPECT_EQ(code_of(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}})"), -32602);
  EXPECT_EQ(code_of(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm"}})"), -32602);
  EXPECT_EQ(code_of(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"report","arguments":3}})"),
            -32602);
  server_.receive_too_long();
  EXPECT_EQ(last_error(), -32600);
  EXPECT_EQ(last()["id"], Json());
  EXPECT_EQ(code_of(R"({"jsonrpc":"2.0","id":"still","method":"ping"})"), 0);
  EXPECT_EQ(last()["id"], "still");
}

TEST_F(McpServerTest, NotificationsAndResponsesGetNoAnswer) {
  server_.receive(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  server_.receive(R"({"jsonrpc":"2.0","method":"no/such/thing"})");
  server_.receive(R"({"jsonrpc":"2.0","id":9,"result":{}})");
  server_.receive("  ");
  EXPECT_THAT(sent_, testing::IsEmpty());
}

TEST_F(McpServerTest, CallsRunOneAfterAnother) {
  initialize();
  call("a", "report");
  call("b", "compare");
  call("a", "report");  // that id is taken
  EXPECT_EQ(last_error(), -32600);
  const PendingCall* first = server_.start_next();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->tool, "report");
  EXPECT_EQ(first->arguments["report"], "a.json");
  EXPECT_EQ(server_.start_next(), nullptr);
  server_.finish({"short", false});
  EXPECT_EQ(last()["id"], "a");
  EXPECT_EQ(last()["result"], Json::parse(R"({"content": [{"type": "text", "text": "short"}], "isError": false})"));
  ASSERT_NE(server_.start_next(), nullptr);
  server_.finish({"no such file", true});
  EXPECT_EQ(last()["id"], "b");
  EXPECT_EQ(last()["result"]["isError"], true);
  EXPECT_EQ(server_.start_next(), nullptr);
}

TEST_F(McpServerTest, CallsThatWaitAreBounded) {
  initialize();
  for (int id = 1; id <= 40; ++id) call(id, "report");
  EXPECT_EQ(last_error(), -32603);
}

TEST_F(McpServerTest, ACancelledCallGetsNoAnswer) {
  initialize();
  for (int id = 1; id <= 3; ++id) call(id, "report");
  server_.start_next();
  sent_.clear();
  const auto cancel = [this](const Json& id) {
    receive({{"method", "notifications/cancelled"}, {"params", {{"requestId", id}}}});
  };
  cancel(2);    // which waits
  cancel("1");  // another one
  EXPECT_FALSE(server_.is_cancelled());
  cancel(1);
  EXPECT_TRUE(server_.is_cancelled());
  server_.finish({"too late", false});
  EXPECT_THAT(sent_, testing::IsEmpty());
  ASSERT_NE(server_.start_next(), nullptr);
  EXPECT_FALSE(server_.is_cancelled());
  server_.finish({"third", false});
  EXPECT_EQ(last()["id"], 3);
  EXPECT_EQ(server_.start_next(), nullptr);
}

TEST_F(McpServerTest, ProgressIsForThoseWhoAskAndIncreases) {
  initialize();
  call(1, "report");
  call(2, "report", "token");
  server_.start_next();
  sent_.clear();
  server_.report_progress({.seconds = 1});
  EXPECT_THAT(sent_, testing::IsEmpty());
  server_.finish({});
  server_.start_next();
  sent_.clear();
  server_.report_progress({.seconds = 1, .total_s = 9, .message = "hbm.read\x1b[31m\nnext"});
  server_.report_progress({.seconds = 1, .message = "again"});
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(last()["method"], "notifications/progress");
  EXPECT_EQ(last()["params"]["progressToken"], "token");
  EXPECT_EQ(last()["params"]["progress"], 1);
  EXPECT_EQ(last()["params"]["total"], 9);
  EXPECT_EQ(last()["params"]["message"].get<std::string>().find('\x1b'), std::string::npos);
}

TEST(McpTools, EachIsACommandWithASchema) {
  for (const Json& tool : tools_to_json()) {
    EXPECT_NE(find_tool(tool["name"]), nullptr);
    EXPECT_FALSE(tool["description"].get<std::string>().empty());
    const Json& schema = tool["inputSchema"];
    EXPECT_EQ(schema["type"], "object");
    EXPECT_EQ(schema["additionalProperties"], false);
    for (const Json& name : schema.value("required", Json::array())) {
      EXPECT_TRUE(schema["properties"].contains(name.get<std::string>())) << tool["name"] << name;
    }
    for (const auto& [name, property] : schema["properties"].items()) {
      EXPECT_TRUE(property.contains("type") && property.contains("description")) << tool["name"] << name;
    }
  }
}

/// A client may run tools with this hint without asking its user.
TEST(McpTools, OnlyThoseThatRunNothingAreReadOnly) {
  for (const Json& tool : tools_to_json()) {
    const std::string name = tool["name"];
    const bool reads = name == "report" || name == "compare" || name == "project";
    EXPECT_EQ(tool["annotations"]["readOnlyHint"], reads) << name;
  }
}

TEST(LineReader, LinesComeWholeAndBounded) {
  LineReader reader(5);
  const auto lines = [&reader] {
    std::vector<std::string> all;
    while (const auto line = reader.next()) all.push_back(line->too_long ? "(too long)" : line->text);
    return all;
  };
  reader.add("ab");
  EXPECT_THAT(lines(), ElementsAre());
  reader.add("c\r\n\nd");
  EXPECT_THAT(lines(), ElementsAre("abc", ""));
  reader.add("efgh");
  reader.add("more of it\nij\n12345\n123456\n");
  EXPECT_THAT(lines(), ElementsAre("(too long)", "ij", "12345", "(too long)"));
}

TEST(ProgressLines, SurviveTheirWay) {
  const std::string line = to_progress_line({"[1/3] a \"b\"\xff", 12.5});
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto report = parse_progress_line(line);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->left_s, 12.5);
  EXPECT_THAT(report->current, testing::StartsWith("[1/3] a \"b\""));
  EXPECT_EQ(parse_progress_line(to_progress_line({"x", {}}))->left_s, std::nullopt);
  EXPECT_FALSE(parse_progress_line("wrote report.json"));
  EXPECT_FALSE(parse_progress_line("{\"progress\":{}}"));
  EXPECT_FALSE(parse_progress_line("{\"progress\":"));
}

}  // namespace
}  // namespace roofline
