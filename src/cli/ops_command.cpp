// roofline ops: lists the ops that a suite can use, and prints the JSON Schema of suites.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/option_values.hpp"
#include "config/suite_schema.hpp"
#include "host/interrupt.hpp"
#include "op/registry.hpp"
#include "render/terminal/table.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> dtypes_of(const Implementation& implementation) {
  std::vector<std::string> names;
  for (const DType dtype : implementation.dtypes) names.emplace_back(to_string(dtype));
  return names;
}

/// "    cpu   vectorized   fp32 fp64        all threads, vectors": the summary wraps below itself. Where long types
/// leave little room for it, it begins on the next line.
std::string text_of(const Implementation& one, DeviceKind kind, const TerminalStyle& style) {
  constexpr std::size_t kSummaryColumn = 40;
  const std::string types = fmt::format("{}", fmt::join(dtypes_of(one), " "));
  const std::string head = fmt::format("    {:<5} {:<12} {:<16} ", to_string(kind), one.name, types);
  const bool fits = display_width(head) + display_width(one.summary) <= style.columns;
  if (fits || head.size() <= kSummaryColumn) return wrapped(head, one.summary, style, true);
  return head.substr(0, head.size() - 1) + "\n" + wrapped(std::string(kSummaryColumn, ' '), one.summary, style, true);
}

std::string text_of(const Op& op, const TerminalStyle& style) {
  std::string text = wrapped(fmt::format("{}: ", op.name()), op.summary(), style, true);
  for (const ShapeParameter& parameter : op.parameters()) {
    text += wrapped(fmt::format("    {:<10} ", parameter.name),
                    fmt::format("{} (default {})", parameter.meaning, parameter.default_value), style, true);
  }
  for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::cuda}) {
    for (const Implementation& one : implementations_of(op, kind)) text += text_of(one, kind, style);
  }
  return text;
}

Json json_of(const Op& op) {
  Json json = {{"name", op.name()},
               {"summary", op.summary()},
               {"family", op.family()},
               {"shape", Json::array()},
               {"implementations", Json::array()}};
  for (const ShapeParameter& parameter : op.parameters()) {
    json["shape"].push_back({{"name", parameter.name},
                             {"meaning", parameter.meaning},
                             {"default", parameter.default_value},
                             {"minimum", parameter.minimum},
                             {"maximum", parameter.maximum}});
  }
  for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::cuda}) {
    for (const Implementation& one : implementations_of(op, kind)) {
      json["implementations"].push_back(
          {{"name", one.name}, {"device", to_string(kind)}, {"dtypes", dtypes_of(one)}, {"summary", one.summary}});
    }
  }
  return json;
}

std::string text_of(std::span<const Op* const> ops, const TerminalStyle& style) {
  std::string text;
  for (const Op* op : ops) text += (text.empty() ? "" : "\n") + text_of(*op, style);
  return text;
}

Json document_of(std::span<const Op* const> ops) {
  Json document = {{"schema", "roofline.ops/1"}, {"ops", Json::array()}};
  for (const Op* op : ops) document["ops"].push_back(json_of(*op));
  return document;
}

struct Flags {
  bool schema = false;
};

void add_options(CommandEntry& command, Flags& flags) {
  command.add("--schema", flag(flags.schema), "Print the JSON Schema of suites with these ops, for editors");
}

ExitCode run(Flags& flags, const GlobalOptions& global) {
  end_at_interrupts();
  if (flags.schema) {
    print_result([] { return suite_schema(all_ops()); }, [] { return suite_schema_text(all_ops()); });
  } else {
    print_result([] { return document_of(all_ops()); },
                 [&] { return text_of(all_ops(), stdout_table_style(global.color)); });
  }
  return ExitCode::ok;
}

}  // namespace

CommandEntry ops_command() {
  return CommandRow<Flags>{"ops", "List the ops that suites can use, with shapes, types and implementations",
                           add_options, run};
}

}  // namespace roofline
