#include "mcp/json_rpc.hpp"

#include <utility>

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kIdBytes = 1000;  // an id is repeated in every answer

std::string to_line(const Json& message) { return message.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

RpcMessage invalid_message(RpcError error, std::string problem, Json id = nullptr) {
  RpcMessage message;
  message.error = error;
  message.problem = std::move(problem);
  message.id = std::move(id);
  return message;
}

bool is_id(const Json& id) {
  return id.is_number_integer() || (id.is_string() && id.get_ref<const std::string&>().size() <= kIdBytes);
}

}  // namespace

RpcMessage parse_rpc(const std::string& line) {
  bool too_deep = false;
  const auto watch = [&](int depth, Json::parse_event_t, Json&) {
    too_deep = too_deep || depth > kRpcDepth;
    return !too_deep;  // what is deeper is left out
  };
  Json document;
  try {
    document = Json::parse(line, watch);
  } catch (const Json::exception&) {
    return invalid_message(RpcError::parse, "not valid JSON");
  }
  if (too_deep) return invalid_message(RpcError::parse, "nested too deeply");
  if (!document.is_object()) return invalid_message(RpcError::invalid_request, "a message is one JSON object");
  const auto id = document.find("id");
  const bool has_id = id != document.end();
  if (has_id && !is_id(*id)) return invalid_message(RpcError::invalid_request, "id: expected a string or an integer");
  const Json known_id = has_id ? *id : Json();
  const auto version = document.find("jsonrpc");
  if (version == document.end() || *version != "2.0") {
    return invalid_message(RpcError::invalid_request, "jsonrpc: expected \"2.0\"", known_id);
  }
  RpcMessage message;
  message.id = known_id;
  const auto method = document.find("method");
  if (method == document.end()) {
    if (!document.contains("result") && !document.contains("error")) {
      return invalid_message(RpcError::invalid_request, "method is missing", known_id);
    }
    message.kind = RpcKind::response;
    return message;
  }
  if (!method->is_string()) return invalid_message(RpcError::invalid_request, "method: expected a string", known_id);
  message.method = method->get<std::string>();
  if (const auto params = document.find("params"); params != document.end()) {
    if (!params->is_object()) {
      return invalid_message(has_id ? RpcError::invalid_params : RpcError::invalid_request,
                             "params: expected an object", known_id);
    }
    message.params = *params;
  }
  message.kind = has_id ? RpcKind::request : RpcKind::notification;
  return message;
}

std::string rpc_result(const Json& id, const Json& result) {
  return to_line({{"jsonrpc", "2.0"}, {"id", id}, {"result", result}});
}

std::string rpc_error(const Json& id, RpcError code, const std::string& message) {
  return to_line({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", static_cast<int>(code)}, {"message", message}}}});
}

std::string rpc_notification(const std::string& method, const Json& params) {
  return to_line({{"jsonrpc", "2.0"}, {"method", method}, {"params", params}});
}

}  // namespace roofline
