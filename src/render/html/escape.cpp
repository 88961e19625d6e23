// Escaping for a page.
#include "render/html/escape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "text/text.hpp"

namespace roofline {

std::string escape_html(std::string_view text) { return escape_xml(clean(text)); }

std::string html_sentences(std::string_view text) {
  std::string html = escape_html(text);
  std::size_t at = 0;
  for (std::size_t open = html.find('`'); open != std::string::npos; open = html.find('`', at)) {
    const std::size_t close = html.find('`', open + 1);
    if (close == std::string::npos) break;
    const std::string code = "<code>" + html.substr(open + 1, close - open - 1) + "</code>";
    html.replace(open, close + 1 - open, code);
    at = open + code.size();
  }
  return html;
}

std::string html_isolated(std::string_view name, int columns) {
  constexpr int kToolTipColumns = 1000;
  const std::string line = clean_line(name);
  const std::string short_name = shorten(line, columns);
  if (short_name == line) return fmt::format("<bdi>{}</bdi>", escape_html(line));
  return fmt::format("<bdi title=\"{}\">{}</bdi>", escape_html(shorten(line, kToolTipColumns)),
                     escape_html(short_name));
}

std::string html_name(std::string_view name, int columns) {
  const std::string line = clean_line(name);
  const bool ascii = std::all_of(line.begin(), line.end(), [](unsigned char c) { return c < 0x80; });
  return ascii && shorten(line, columns) == line ? escape_html(line) : html_isolated(name, columns);
}

std::string html_list(std::string_view style, const std::vector<std::string>& lines) {
  std::string html = fmt::format("<ul class=\"{}\">\n", style);
  for (const std::string& line : lines) html += "<li>" + escape_html(line) + "</li>\n";
  return html + "</ul>\n";
}

std::string html_time(const std::string& iso) {
  if (iso.size() != 20 || iso[10] != 'T' || iso[19] != 'Z') return iso;
  const std::string_view text = iso;
  return fmt::format("{} {} UTC", text.substr(0, 10), text.substr(11, 5));
}

std::string base64(std::string_view bytes) {
  static constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = (group << 8) | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (int shift = 18; shift >= 0; shift -= 6) text += kAlphabet[(group >> shift) & 63];
  }
  const std::size_t padding = (3 - bytes.size() % 3) % 3;
  text.replace(text.size() - padding, padding, padding, '=');
  return text;
}

std::string base85(std::string_view bytes) {
  static constexpr std::string_view kDigits =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;,=>?@^_`{|}~";
  std::string text;
  text.reserve((bytes.size() + 3) / 4 * 5);
  for (std::size_t i = 0; i < bytes.size(); i += 4) {
    const std::string_view four = bytes.substr(i, 4);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 4; ++k)
      group = (group << 8) | (k < four.size() ? static_cast<unsigned char>(four[k]) : 0u);
    std::string digits(5, '0');
    for (std::size_t k = 5; k-- > 0; group /= 85) digits[k] = kDigits[group % 85];
    text += digits.substr(0, four.size() + 1);
  }
  return text;
}

std::string html_column_names(std::string_view table, const std::vector<std::string>& titles) {
  std::string css;
  for (std::size_t i = 1; i < titles.size(); ++i) {
    css += fmt::format("{} td:nth-child({}):before{{content:\"{}\"}}", table, i + 1, titles[i]);
  }
  return "@media screen and (max-width:760px){" + css + "}\n";
}

std::string html_verdict(std::string_view style, std::string_view word) {
  if (style == "pass") return fmt::format("<i>{}</i>", word);
  return fmt::format("<span class=\"chip {}\">{}</span>", style, word);
}

}  // namespace roofline
