// The protocol: messages in, messages out, and the calls of tools between them. It runs nothing and reads no clock.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "mcp/digest.hpp"
#include "mcp/json_rpc.hpp"

namespace roofline {

/// Versions of the protocol that are spoken, the newest first. Not 2025-03-26, which requires batches.
inline constexpr std::string_view kProtocolVersions[] = {"2025-11-25", "2025-06-18", "2024-11-05"};

/// A call of a tool that waits or runs.
struct PendingCall {
  nlohmann::ordered_json id;
  std::string tool;
  nlohmann::ordered_json arguments;
  nlohmann::ordered_json progress_token = nullptr;  ///< null: progress was not requested
};

/// Progress of a call: elapsed seconds, and the total if known.
struct CallProgress {
  double seconds = 0;
  std::optional<double> total_s = std::nullopt;
  std::string message = {};
};

class McpServer {
 public:
  /// `send` gets lines with their line feed.
  explicit McpServer(std::function<void(const std::string& line)> send) : send_(std::move(send)) {}

  void receive(const std::string& line);
  /// For a line that was discarded.
  void receive_too_long();

  /// The next call to run; it is running until finish(). Null if there is none or one runs already: calls run one after
  /// another, because a second one would disturb a measurement.
  const PendingCall* start_next();
  /// The running call is to be ended; it gets no answer.
  bool is_cancelled() const { return running_ && cancelled_; }
  void finish(const ToolAnswer& answer);
  /// Sent if the caller asked for it, and where `seconds` is more than before.
  void report_progress(const CallProgress& progress);

 private:
  void answer_request(const RpcMessage& request);
  void initialize(const RpcMessage& request);
  void call_tool(const RpcMessage& request);
  void cancel(const nlohmann::ordered_json& id);
  bool is_pending(const nlohmann::ordered_json& id) const;

  std::function<void(const std::string& line)> send_;
  bool initialized_ = false;
  std::deque<PendingCall> waiting_;
  std::optional<PendingCall> running_;
  bool cancelled_ = false;
  double progress_s_ = -1;  ///< that was reported last
};

}  // namespace roofline
