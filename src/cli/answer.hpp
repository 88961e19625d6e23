// The answer: with --json the whole output of a command is one document, also if it fails.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace roofline {

inline constexpr const char* kAnswerSchema = "roofline.answer/1";

struct Problem {
  std::string code;  ///< "usage", "regression": see error_code()
  std::string message;
  std::string hint;
};

/// The output of a command.
struct Answer {
  nlohmann::ordered_json data = {};  ///< the result; null: none
  std::vector<std::string> warnings = {};
  std::vector<Problem> errors = {};
  nlohmann::ordered_json comparison = {};  ///< comparison of `analyze --against`, in addition to the report; null: none
};

/// True if the command line contains --json, even if it is invalid.
bool asks_for_json(int argc, const char* const* argv);

/// The document (docs/schema/answer.schema.json). `command` is the command that was run.
std::string render_answer(Answer answer, const std::string& command, const AnswerRequest& request, ExitCode code);

/// The name of an exit code, for programs.
std::string error_code(ExitCode code);

}  // namespace roofline
