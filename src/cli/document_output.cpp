#include "cli/document_output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "cli/console.hpp"
#include "cli/option_values.hpp"
#include "cli/outputs.hpp"
#include "host/files.hpp"
#include "host/output_file.hpp"
#include "model/error.hpp"
#include "model/find.hpp"
#include "render/formats.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;

/// JUnit reports are XML files; every other format's files end as it is called.
constexpr std::string_view kJunit = "junit", kJunitEnding = "xml";
std::string_view ending_of(std::string_view format) { return format == kJunit ? kJunitEnding : format; }
std::string_view format_of_ending(std::string_view ending) { return ending == kJunitEnding ? kJunit : ending; }

/// A picture is named as in the folder of a report.
std::string file_name(const std::string& stem, std::string_view format) {
  const Format* const known = find_format(format);
  const bool picture = known != nullptr && known->draws_chart() && format != "html";
  return picture ? std::string(known->file) : fmt::format("{}.{}", stem, ending_of(format));
}

}  // namespace

void refuse_unknown_ending(const std::string& path, const std::vector<std::string>& known) {
  constexpr std::size_t kShortest = 3, kLongest = 6;  // with the point
  constexpr int kFewestLetters = 2;                   // "v2" and "a100" are no formats
  const std::string ending = std::filesystem::path(path).extension().string();
  std::error_code hidden;
  if (ending.size() < kShortest || ending.size() > kLongest || std::filesystem::is_directory(path, hidden)) return;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool is_word =
      std::all_of(ending.begin() + 1, ending.end(), [&](char c) { return is_letter(c) || is_digit(c); });
  if (!is_word || std::count_if(ending.begin(), ending.end(), is_letter) < kFewestLetters) return;
  refuse_ending(path, known);
}

void refuse_ending(const std::string& path, const std::vector<std::string>& known) {
  throw UsageError(fmt::format("-o {}: unknown file extension '{}' (supported: {})", path,
                               fs::path(path).extension().string(), fmt::join(known, ", ")),
                   fmt::format("for a folder of that name: -o {}/", path));
}

DocumentOutput::DocumentOutput(std::string stem, std::vector<std::string_view> texts)
    : stem_(std::move(stem)), usual_(std::move(texts)) {
  usual_.insert(usual_.end(), {"html", "svg", "png"});
  all_ = usual_;
  all_.push_back("pdf");
}

void DocumentOutput::add_to(CommandEntry& command) {
  const std::vector<std::string> endings = this->endings();
  command.add("-o,--output", text("PATH", path_),
              fmt::format("Directory for {}.{}, .html and the chart as roofline.svg and .png, a file whose extension "
                          "selects the format, or '-' for stdout (default: -)",
                          stem_, fmt::join(endings.begin(), endings.end() - 4, ", .")));
  OptionValue format = one_of(format_, {"table"});
  format.choices = {"table"};
  for (const std::string_view one : all_) format.choices.emplace_back(one);
  format.set = [this, words = format.choices](const std::string& given, const std::string& option) {
    if (!contains(words, given)) refuse_word(given, option, words);
    format_ = given;
  };
  command.add("--format", std::move(format),
              "Output format (default: table on stdout; all but table and pdf in a directory)");
}

std::string DocumentOutput::format_of_path() const {
  std::error_code hidden;
  const std::string ending = fs::path(path_).extension().string();
  if (ending.empty() || fs::is_directory(path_, hidden)) return {};
  const std::string_view name = format_of_ending(std::string_view(ending).substr(1));
  return contains(all_, name) ? std::string(name) : "";
}

void DocumentOutput::finish() const {
  if (!to_files()) return;
  if (format_ == "table") throw UsageError("-o writes files, but --format requests a table");
  const std::string selected = format_of_path();
  if (selected.empty()) return refuse_unknown_ending(path_, endings());
  if (!format_.empty() && format_ != selected) {
    throw UsageError(fmt::format("-o {} is one {} file, but --format requests {}", path_, selected, format_),
                     "remove --format, or pass a directory to -o");
  }
}

std::vector<std::string> DocumentOutput::endings() const {
  std::vector<std::string> endings;
  for (const std::string_view one : all_) endings.emplace_back(ending_of(one));
  return endings;
}

std::vector<fs::path> DocumentOutput::files() const {
  if (!to_files()) return {};
  if (!format_of_path().empty()) return {path_};
  std::vector<fs::path> files;
  for (const std::string_view one : all_) {
    const bool wanted = format_.empty() ? contains(usual_, one) : format_ == one;
    if (wanted) files.push_back(fs::path(path_) / file_name(stem_, one));
  }
  return files;
}

void DocumentOutput::require() const {
  for (const fs::path& file : files()) {
    require_writable_folder(fs::absolute(file).parent_path());
    require_output(file);
  }
}

bool DocumentOutput::prints_text() const { return shown() == "table" || shown() == "md"; }

void DocumentOutput::put(const std::function<nlohmann::ordered_json()>& document, const Render& render,
                         const TerminalStyle& style) const {
  const auto in = [&](std::string_view format) {
    const Format* const known = format == "table" ? nullptr : find_format(format);
    const auto text = [&] { return render(format, style); };
    return known == nullptr ? text() : rendered(*known, text);
  };
  const std::vector<fs::path> written = files();
  for (const fs::path& file : written) {
    const std::string ending = file.extension().string().substr(1);
    write_output(file, in(format_of_ending(ending)));
  }
  if (shown() == "json") {
    print_document(document());
  } else {
    print_result(document, [&] { return in(shown()); });
  }
  print_written(written);
}

}  // namespace roofline
