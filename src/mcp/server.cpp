#include "mcp/server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "mcp/tools.hpp"
#include "text/nearest_name.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostWaiting = 32;

constexpr const char* kInstructions =
    "roofline explains why programs and kernels are slow, relative to measured limits of this machine. To make a "
    "program faster: profile it, take the largest potential saving, ask report for its row (row=#N), change the "
    "code, profile again, and compare both reports. Calibrate once per machine for exact roofs. Answers are "
    "summaries: every row, saving and roof is in the report that they name.";

/// The name in quotes for messages: it may be long, or hold anything.
std::string name_in_quotes(const std::string& name) { return "'" + shorten(clean_line(name), 60) + "'"; }

}  // namespace

void McpServer::receive(const std::string& line) {
  if (trimmed(line).empty()) return;
  const RpcMessage message = parse_rpc(line);
  switch (message.kind) {
    case RpcKind::invalid:
      send_(rpc_error(message.id, message.error, message.problem));
      break;
    case RpcKind::request:
      answer_request(message);
      break;
    case RpcKind::notification:
      if (message.method != "notifications/cancelled") break;
      if (const auto id = message.params.find("requestId"); id != message.params.end()) cancel(*id);
      break;
    case RpcKind::response:
      break;  // this server sends no requests
  }
}

void McpServer::receive_too_long() { send_(rpc_error(nullptr, RpcError::invalid_request, "the message is too long")); }

void McpServer::answer_request(const RpcMessage& request) {
  const auto refuse = [&](RpcError code, const std::string& why) { send_(rpc_error(request.id, code, why)); };
  if (request.method == "ping") {
    send_(rpc_result(request.id, Json::object()));
  } else if (request.method == "initialize") {
    initialize(request);
  } else if (request.method != "tools/list" && request.method != "tools/call") {
    refuse(RpcError::method_not_found, "no such method: " + name_in_quotes(request.method));
  } else if (!initialized_) {
    refuse(RpcError::invalid_request, "initialize must be the first request");
  } else if (request.method == "tools/call") {
    call_tool(request);
  } else if (request.params.contains("cursor")) {
    refuse(RpcError::invalid_params, "cursor: there is only one page");
  } else {
    send_(rpc_result(request.id, {{"tools", tools_to_json()}}));
  }
}

void McpServer::initialize(const RpcMessage& request) {
  const auto version = request.params.find("protocolVersion");
  if (version == request.params.end() || !version->is_string()) {
    send_(rpc_error(request.id, RpcError::invalid_params, "protocolVersion: expected a string"));
    return;
  }
  if (std::exchange(initialized_, true)) {
    send_(rpc_error(request.id, RpcError::invalid_request, "initialize was called before"));
    return;
  }
  // Versions are dates. A client that is older than the newest version knows an earlier one, but no later one.
  const auto& asked = version->get_ref<const std::string&>();
  const auto known = std::ranges::find_if(kProtocolVersions, [&](std::string_view one) { return one <= asked; });
  const std::string_view spoken = known != std::end(kProtocolVersions) ? *known : kProtocolVersions[0];
  send_(rpc_result(request.id,
                   {{"protocolVersion", spoken},
                    {"capabilities", {{"tools", Json::object()}}},
                    {"serverInfo", {{"name", "roofline"}, {"title", "roofline"}, {"version", ROOFLINE_VERSION}}},
                    {"instructions", kInstructions}}));
}

void McpServer::call_tool(const RpcMessage& request) {
  const auto refuse = [&](RpcError code, const std::string& why) { send_(rpc_error(request.id, code, why)); };
  const auto name = request.params.find("name");
  if (name == request.params.end() || !name->is_string()) {
    return refuse(RpcError::invalid_params, "name: expected a string");
  }
  PendingCall call{request.id, name->get<std::string>(), Json::object()};
  if (find_tool(call.tool) == nullptr) {
    std::vector<std::string> names;
    for (const Tool& tool : tools()) names.push_back(tool.name);
    const std::string near = nearest_name(call.tool, names);
    return refuse(RpcError::invalid_params, fmt::format("no such tool: {}{}", name_in_quotes(call.tool),
                                                        near.empty() ? "" : fmt::format("; did you mean {}?", near)));
  }
  if (const auto arguments = request.params.find("arguments"); arguments != request.params.end()) {
    if (!arguments->is_object()) return refuse(RpcError::invalid_params, "arguments: expected an object");
    call.arguments = *arguments;
  }
  if (is_pending(call.id)) return refuse(RpcError::invalid_request, "id: used by a running or queued call");
  if (waiting_.size() >= kMostWaiting) return refuse(RpcError::internal, "too many queued calls");
  if (const auto meta = request.params.find("_meta"); meta != request.params.end() && meta->is_object()) {
    const auto token = meta->find("progressToken");
    if (token != meta->end() && (token->is_string() || token->is_number_integer())) call.progress_token = *token;
  }
  waiting_.push_back(std::move(call));
}

bool McpServer::is_pending(const Json& id) const {
  return (running_ && running_->id == id) ||
         std::any_of(waiting_.begin(), waiting_.end(), [&](const PendingCall& call) { return call.id == id; });
}

void McpServer::cancel(const Json& id) {
  if (running_ && running_->id == id) cancelled_ = true;
  std::erase_if(waiting_, [&](const PendingCall& call) { return call.id == id; });
}

const PendingCall* McpServer::start_next() {
  if (running_ || waiting_.empty()) return nullptr;
  running_ = std::move(waiting_.front());
  waiting_.pop_front();
  cancelled_ = false;
  progress_s_ = -1;
  return &*running_;
}

void McpServer::finish(const ToolAnswer& answer) {
  const PendingCall call = *std::exchange(running_, std::nullopt);
  if (std::exchange(cancelled_, false)) return;
  Json result = {{"content", Json::array({{{"type", "text"}, {"text", answer.text}}})}};
  result["isError"] = answer.is_error;
  send_(rpc_result(call.id, result));
}

void McpServer::report_progress(const CallProgress& progress) {
  if (!running_ || cancelled_ || running_->progress_token.is_null() || progress.seconds <= progress_s_) return;
  progress_s_ = progress.seconds;
  Json params = {{"progressToken", running_->progress_token}, {"progress", progress.seconds}};
  if (progress.total_s) params["total"] = *progress.total_s;
  if (!progress.message.empty()) params["message"] = shorten(clean_line(progress.message), 120);
  send_(rpc_notification("notifications/progress", params));
}

}  // namespace roofline
