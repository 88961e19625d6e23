// With --json a command's whole output is one document, whatever happens: the answer.
#pragma once

#include <string>
#include <vector>

#include "cli/options.hpp"

namespace roofline {

struct CommandEntry;
struct HealthCheck;

inline constexpr const char* kAnswerSchema = "roofline.answer/1";

struct Problem {
  std::string code;  ///< "usage", "regression": see error_code()
  std::string message;
  std::string hint;
};

/// What a command has said until it ends.
struct Answer {
  std::string document;  ///< what it would have printed: JSON, or text
  std::vector<std::string> warnings;
  std::vector<Problem> errors;
  std::string comparison = {};  ///< of `analyze --against`: JSON; beside the report
};

/// Whether the command line asks for JSON; also where it is wrong otherwise.
bool asks_for_json(int argc, const char* const* argv);

/// The document, as docs/schema/answer.schema.json has it. `command` is what the user has called.
std::string render_answer(const Answer& answer, const std::string& command, const AnswerRequest& request,
                          ExitCode code);

/// What the manual and the doctor know, as documents.
std::string document_of(const CommandEntry& tree);
std::string document_of(const std::vector<HealthCheck>& checks);

/// The name of an exit code, for programs.
std::string error_code(ExitCode code);

}  // namespace roofline
