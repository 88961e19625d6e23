// JSON-RPC 2.0 over lines: parses messages and writes answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace roofline {

/// Codes of the specification.
enum class RpcError : int {
  parse = -32700,
  invalid_request = -32600,
  method_not_found = -32601,
  invalid_params = -32602,
  internal = -32603,
};

enum class RpcKind : std::uint8_t { request, notification, response, invalid };

struct RpcMessage {
  RpcKind kind = RpcKind::invalid;
  nlohmann::ordered_json id = nullptr;  ///< a text or an integer; null: none, or none that could be read
  std::string method = {};
  nlohmann::ordered_json params = nlohmann::ordered_json::object();
  RpcError error = RpcError::invalid_request;  ///< of an invalid message
  std::string problem = {};
};

/// Deeper documents are refused, because copies of a value are recursive.
inline constexpr int kRpcDepth = 32;

/// Never throws: an invalid line is a message with an error.
RpcMessage parse_rpc(const std::string& line);

/// Lines with their line feed. Text that is not UTF-8 is repaired.
std::string rpc_result(const nlohmann::ordered_json& id, const nlohmann::ordered_json& result);
std::string rpc_error(const nlohmann::ordered_json& id, RpcError code, const std::string& message);
std::string rpc_notification(const std::string& method, const nlohmann::ordered_json& params);

}  // namespace roofline
