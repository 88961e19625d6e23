#include "import/op_arguments.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace roofline {
namespace {

using Json = nlohmann::json;

std::optional<Element> element_of(std::string_view type) {
  static const std::map<std::string_view, Element> kElements = {
      {"double", {DType::fp64, 8}},
      {"float", {DType::fp32, 4}},
      {"c10::Half", {DType::fp16, 2}},
      {"c10::BFloat16", {DType::bf16, 2}},
      {"c10::Float8_e4m3fn", {DType::fp8, 1}},
      {"c10::Float8_e5m2", {DType::fp8, 1}},
      {"c10::Float8_e4m3fnuz", {DType::fp8, 1}},
      {"c10::Float8_e5m2fnuz", {DType::fp8, 1}},
      {"signed char", {DType::int8, 1, false}},
      {"unsigned char", {DType::int8, 1, false}},
      {"bool", {DType::int8, 1, false}},
      {"short", {DType::int32, 2, false}},
      {"short int", {DType::int32, 2, false}},
      {"int", {DType::int32, 4, false}},
      {"long", {DType::int32, 8, false}},
      {"long int", {DType::int32, 8, false}},
  };
  const auto found = kElements.find(type);
  return found == kElements.end() ? std::nullopt : std::optional(found->second);
}

Json parsed(std::string_view text) {
  constexpr std::size_t kLongestJson = std::size_t{1} << 20;
  return text.empty() || text.size() > kLongestJson ? Json() : Json::parse(text, nullptr, false);
}

}  // namespace

Arguments::Arguments(const OpCall& call) {
  const Json dims = parsed(call.dims), types = parsed(call.types);
  if (!dims.is_array() || !types.is_array()) return;
  tensors_.resize(dims.size());
  for (std::size_t i = 0; i < dims.size() && i < types.size(); ++i) {
    if (!types[i].is_string() || !dims[i].is_array()) continue;
    const auto element = element_of(types[i].get_ref<const std::string&>());
    if (!element) continue;
    Tensor tensor = {.shape = {}, .element = *element};
    for (const Json& extent : dims[i]) {
      if (!extent.is_number() || !(extent.get<double>() >= 0)) {
        tensors_.clear();
        return;
      }
      tensor.shape.push_back(extent.get<double>());
    }
    tensors_[i] = std::move(tensor);
  }
  const Json concrete = parsed(call.concrete);
  if (!concrete.is_array()) return;
  for (const Json& value : concrete) words_.push_back(value.is_string() ? value.get<std::string>() : "");
}

std::vector<double> Arguments::numbers(std::size_t index) const {
  std::vector<double> list;
  const Json array = parsed(word(index));
  if (!array.is_array()) return list;
  for (const Json& number : array) {
    if (!number.is_number()) return {};
    list.push_back(number.get<double>());
  }
  return list;
}

}  // namespace roofline
