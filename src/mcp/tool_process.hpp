// A command of roofline as a child process: its document, its messages, its progress.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "host/process.hpp"
#include "mcp/digest.hpp"
#include "mcp/server.hpp"
#include "text/line_reader.hpp"

namespace roofline {

class ToolProcess {
 public:
  /// Starts it with no input. Throws std::system_error, Error.
  ToolProcess(const std::filesystem::path& program, const ToolCommand& command);

  /// To wait for.
  std::vector<int> descriptors() const;
  /// Reads the available output without waiting; kills processes whose stop() was too long ago.
  void update();
  /// Asks the process to end; after a delay, update() kills it and its descendants.
  void stop();

  bool ended() const { return status_.has_value(); }
  /// Answer of a process that has ended.
  ToolAnswer answer() const;
  CallProgress progress() const;

 private:
  void read_messages();

  std::string name_;
  ReportView view_;
  std::filesystem::path new_folder_;  ///< removed at the end if it is empty; empty: none
  double begin_s_;
  Channel output_, messages_;
  Process process_;
  std::optional<int> status_;        ///< once it has ended
  std::optional<double> stopped_s_;  ///< when it was asked to end
  bool too_much_ = false;            ///< its document was too large
  std::string document_;
  LineReader message_lines_;
  std::string recent_;           ///< its last messages
  std::string current_;          ///< what it does, by its own words
  std::optional<double> end_s_;  ///< when it expects to end
};

}  // namespace roofline
