#include "report/gpu_units.hpp"

#include <cctype>

#include "report/titles.hpp"

namespace roofline {
namespace {

constexpr GpuUnitName kNvidia = {"SM", "SMs"}, kAmd = {"compute unit", "compute units"},
                      kIntel = {"Xe core", "Xe cores"};

bool is_word_part(std::string_view text, std::size_t i) {
  return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || text[i] == '_');
}

void replace_word(std::string& text, std::string_view word, std::string_view by) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
    const bool whole = (at == 0 || !is_word_part(text, at - 1)) && !is_word_part(text, at + word.size());
    if (whole) text.replace(at, word.size(), by);
    at += whole ? by.size() : word.size();
  }
}

}  // namespace

GpuUnitName gpu_unit_name(std::string_view device) {
  return is_gpu_of_amd(device) ? kAmd : is_gpu_of_intel(device) ? kIntel : kNvidia;
}

std::string in_units_of(std::string_view device, std::string text) {
  const GpuUnitName name = gpu_unit_name(device);
  if (name.one == kNvidia.one) return text;
  replace_word(text, kNvidia.many, name.many);
  replace_word(text, "an " + std::string(kNvidia.one), (name.one == kIntel.one ? "an " : "a ") + std::string(name.one));
  replace_word(text, kNvidia.one, name.one);
  return text;
}

}  // namespace roofline
