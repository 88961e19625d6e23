// Convolutions and their gradients. Libraries order the arguments differently (PyTorch's native_functions.yaml), but
// every form has the tensors first and its lists of numbers in a fixed order, with or without a bias before them.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "import/op_models.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

/// Which input positions are multiplied: a transposed convolution applies its window to each position of its input.
enum class Direction : std::uint8_t { forward, transposed, by_flag };

struct ConvolutionForm {
  /// The lists among its arguments, in order: k for the window, p padding, s stride, d dilation, o output padding.
  std::string_view lists;
  Direction direction = Direction::forward;
};

const std::map<std::string_view, ConvolutionForm>& convolution_forms() {
  using enum Direction;
  static const std::map<std::string_view, ConvolutionForm> kForms = {
      {"convolution", {"spdo", by_flag}},
      {"_convolution", {"spdo", by_flag}},
      {"convolution_overrideable", {"spdo", by_flag}},
      {"conv1d", {"spd"}},
      {"conv2d", {"spd"}},
      {"conv3d", {"spd"}},
      {"conv_transpose1d", {"spod", transposed}},
      {"conv_transpose2d", {"spod", transposed}},
      {"conv_transpose3d", {"spod", transposed}},
      {"cudnn_convolution", {"psd"}},
      {"cudnn_convolution_relu", {"spd"}},
      {"cudnn_convolution_add_relu", {"spd"}},
      {"cudnn_convolution_transpose", {"posd", transposed}},
      {"miopen_convolution", {"psd"}},
      {"miopen_depthwise_convolution", {"psd"}},
      {"miopen_convolution_relu", {"spd"}},
      {"miopen_convolution_add_relu", {"spd"}},
      {"miopen_convolution_transpose", {"posd", transposed}},
      {"mkldnn_convolution", {"psd"}},
      {"thnn_conv2d", {"ksp"}},
      {"_slow_conv2d_forward", {"ksp"}},
      {"slow_conv3d", {"ksp"}},
      {"slow_conv3d_forward", {"ksp"}},
      {"slow_conv_dilated2d", {"kspd"}},
      {"slow_conv_dilated3d", {"kspd"}},
      {"slow_conv_transpose2d", {"kspod", transposed}},
      {"slow_conv_transpose3d", {"kspod", transposed}},
      {"_conv_depthwise2d", {"kspd"}},
      {"conv_depthwise3d", {"kspd"}},
      {"thnn_conv_depthwise2d", {"kspd"}},
      {"thnn_conv_depthwise2d_forward", {"kspd"}},
  };
  return kForms;
}

/// Where the tensors of a backward operator are; a shape is a list of numbers instead of a tensor.
struct GradientForm {
  std::size_t gradient = 0, input = 1, weight = 2;
  Direction direction = Direction::forward;
  std::optional<Gradient> only = {};  ///< computes that one; its own tensor is given by its shape or not at all
};

const std::map<std::string_view, GradientForm>& gradient_forms() {
  using enum Direction;
  constexpr GradientForm kNative = {.gradient = 0, .input = 1, .weight = 2};
  constexpr GradientForm kLibrary = {.gradient = 1, .input = 0, .weight = 2};
  constexpr GradientForm kOfInput = {.gradient = 1, .input = 0, .weight = 2, .only = Gradient::input};
  constexpr GradientForm kOfWeight = {.gradient = 1, .input = 2, .weight = 0, .only = Gradient::weight};
  constexpr auto kTransposed = [](GradientForm form) {
    form.direction = transposed;
    return form;
  };
  constexpr auto kFlagged = [](GradientForm form) {
    form.direction = by_flag;
    return form;
  };
  static const std::map<std::string_view, GradientForm> kForms = {
      {"convolution_backward", kFlagged(kNative)},
      {"convolution_backward_overrideable", kFlagged(kNative)},
      {"cudnn_convolution_backward", kLibrary},
      {"cudnn_convolution_backward_input", kOfInput},
      {"cudnn_convolution_backward_weight", kOfWeight},
      {"cudnn_convolution_transpose_backward", kTransposed(kLibrary)},
      {"cudnn_convolution_transpose_backward_weight", kTransposed(kOfWeight)},
      {"miopen_convolution_backward", kLibrary},
      {"miopen_convolution_backward_input", kOfInput},
      {"miopen_convolution_backward_weight", kOfWeight},
      {"miopen_convolution_transpose_backward", kTransposed(kLibrary)},
      {"miopen_convolution_transpose_backward_weight", kTransposed(kOfWeight)},
      {"miopen_depthwise_convolution_backward", kLibrary},
      {"miopen_depthwise_convolution_backward_input", kOfInput},
      {"miopen_depthwise_convolution_backward_weight", kOfWeight},
      {"mkldnn_convolution_backward", kLibrary},
      {"thnn_conv2d_backward", kNative},
      {"_slow_conv2d_backward", kNative},
      {"slow_conv3d_backward", kNative},
      {"slow_conv_dilated2d_backward", kNative},
      {"slow_conv_dilated3d_backward", kNative},
      {"slow_conv_transpose2d_backward", kTransposed(kNative)},
      {"slow_conv_transpose3d_backward", kTransposed(kNative)},
      {"_conv_depthwise2d_backward", kNative},
      {"conv_depthwise3d_backward", kNative},
      {"thnn_conv_depthwise2d_backward", kNative},
  };
  return kForms;
}

constexpr std::size_t kFewestDimensions = 3;  // batch, channels, and one extent

/// std::nullopt if a flag decides and was not recorded.
std::optional<bool> is_transposed(Direction direction, const Arguments& a) {
  if (direction != Direction::by_flag) return direction == Direction::transposed;
  for (std::size_t i = 0; i < a.words(); ++i) {
    const std::string word = lower_case(a.word(i));
    if (word == "true" || word == "false") return word == "true";
  }
  return std::nullopt;
}

/// The lists of a call by their letters; those that were not recorded are missing.
std::map<char, std::vector<double>> lists_of(std::string_view letters, const Arguments& a) {
  std::map<char, std::vector<double>> lists;
  std::size_t next = 0;
  for (std::size_t i = 2; i < a.words() && next < letters.size(); ++i) {
    if (std::vector<double> numbers = a.numbers(i); !numbers.empty()) lists[letters[next++]] = std::move(numbers);
  }
  return lists;
}

/// The first number among the scalars; 1 for operators without groups.
double groups_of(const Arguments& a) {
  for (std::size_t i = 2; i < a.words(); ++i) {
    const std::string word = a.word(i);
    const bool digits = !word.empty() && word.size() < 10 &&
                        std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (digits) return std::stod(word);
  }
  return 1;
}

/// Batch and extents of the output of a convolution, without its channels; std::nullopt if the lists don't fit.
std::optional<double> output_positions(const Tensor& input, const Tensor& weight, bool transposed,
                                       std::map<char, std::vector<double>> lists) {
  const auto at = [&](char letter, std::size_t i, double fallback) {
    const std::vector<double>& list = lists[letter];
    return list.empty() ? fallback : list.size() == 1 ? list[0] : i < list.size() ? list[i] : std::nan("");
  };
  double positions = input.shape[0];
  for (std::size_t i = 0; i + 2 < input.rank(); ++i) {
    const double extent = input.shape[i + 2], stride = at('s', i, std::nan("")), padding = at('p', i, std::nan(""));
    const double window = at('d', i, 1) * (weight.shape[i + 2] - 1) + 1;
    const double outputs = transposed ? (extent - 1) * stride - 2 * padding + window + at('o', i, 0)
                                      : std::floor((extent + 2 * padding - window) / stride) + 1;
    if (!(outputs >= 0) || !(stride > 0)) return std::nullopt;
    positions *= outputs;
  }
  return positions;
}

/// Batch times extents of a tensor, without its channels.
double positions_of(const Tensor& tensor) {
  double positions = tensor.shape[0];
  for (std::size_t i = 2; i < tensor.rank(); ++i) positions *= tensor.shape[i];
  return positions;
}

/// input: batch × channels × extents; weight: filters × channels of a group × extents, and transposed channels ×
/// filters of a group × extents.
std::optional<OpWork> forward_work(const ConvolutionForm& form, const Arguments& a) {
  const Tensor *input = a.tensor(0, kFewestDimensions), *weight = a.tensor(1, kFewestDimensions);
  const std::optional<bool> transposed = is_transposed(form.direction, a);
  if (input == nullptr || weight == nullptr || input->rank() != weight->rank() || !transposed) return std::nullopt;
  if (*transposed && input->shape[1] != weight->shape[0]) return std::nullopt;
  const auto positions = output_positions(*input, *weight, *transposed, lists_of(form.lists, a));
  if (!positions) return std::nullopt;
  // A bias, and what is added to the result; tensors behind the lists are outputs.
  double read = input->bytes() + weight->bytes();
  for (std::size_t i = 2; i < 5; ++i) read += a.tensor(i) != nullptr ? a.tensor(i)->bytes() : 0;
  const double channels = *transposed ? weight->shape[1] * groups_of(a) : weight->shape[0];
  const double windows = *transposed ? positions_of(*input) : *positions;
  return product(2 * windows * weight->count(), input->element, read, *positions * channels * input->element.size);
}

/// A tensor, or one of that type whose shape is in the list.
std::optional<Tensor> shaped(const Arguments& a, std::size_t index, const Tensor& like) {
  if (const Tensor* tensor = a.tensor(index, kFewestDimensions)) return *tensor;
  Tensor tensor = {.shape = a.numbers(index), .element = like.element};
  const bool valid = tensor.rank() == like.rank() &&
                     std::all_of(tensor.shape.begin(), tensor.shape.end(), [](double extent) { return extent >= 0; });
  return valid ? std::optional(std::move(tensor)) : std::nullopt;
}

/// Which of the gradients of input, weight and bias a call computes, "[False, True, False]"; std::nullopt if it wasn't
/// recorded.
std::optional<std::array<bool, 3>> output_mask(const Arguments& a) {
  for (std::size_t i = a.words(); i-- > 0;) {
    const std::string word = lower_case(a.word(i));
    if (!word.starts_with('[') || !contains_any(word, {"true", "false"})) continue;
    std::array<bool, 3> mask = {};
    std::size_t at = 0;
    for (bool& computed : mask) {
      at = word.find_first_of("tf", at);
      if (at == std::string::npos) break;
      computed = word[at] == 't';
      at = word.find_first_of(",]", at);
    }
    return mask;
  }
  return std::nullopt;
}

OpWork bias_gradient(const Tensor& gradient) {
  OpWork work = {.work = moving(gradient.bytes(), gradient.shape[1] * gradient.element.size),
                 .by_longest_kernel = true};
  work.work.flops[vector_pipe(gradient.element.dtype)] = gradient.count();
  return work;
}

/// Each of the two gradients is a convolution of the same size.
std::optional<OpWork> backward_work(const GradientForm& form, const Arguments& a) {
  const Tensor* gradient = a.tensor(form.gradient, kFewestDimensions);
  const std::optional<bool> transposed = is_transposed(form.direction, a);
  if (gradient == nullptr || !transposed) return std::nullopt;
  const auto input = shaped(a, form.input, *gradient), weight = shaped(a, form.weight, *gradient);
  if (!input || !weight || input->rank() != gradient->rank() || weight->rank() != gradient->rank()) return std::nullopt;
  const Tensor& filtered = *transposed ? *input : *gradient;
  if (filtered.shape[1] != weight->shape[0] || input->shape[0] != gradient->shape[0]) return std::nullopt;
  const double flops = 2 * positions_of(filtered) * weight->count();
  OpWork of_input = product(flops, gradient->element, gradient->bytes() + weight->bytes(), input->bytes());
  OpWork of_weight = product(flops, gradient->element, gradient->bytes() + input->bytes(), weight->bytes());
  const auto mask = output_mask(a);
  const bool wants_input = form.only ? *form.only == Gradient::input : !mask || (*mask)[0];
  const bool wants_weight = form.only ? *form.only == Gradient::weight : !mask || (*mask)[1];
  if (wants_input != wants_weight) return wants_input ? of_input : of_weight;
  if (!wants_input) return (*mask)[2] ? std::optional(bias_gradient(*gradient)) : std::nullopt;
  OpWork both = {.work = of_input.work};
  both.gradients = {{Gradient::input, of_input.work}, {Gradient::weight, of_weight.work}};
  return both;
}

}  // namespace

bool is_convolution(std::string_view name) {
  return convolution_forms().contains(name) || gradient_forms().contains(name);
}

std::optional<OpWork> convolution_work(std::string_view name, const Arguments& arguments) {
  if (const auto form = convolution_forms().find(name); form != convolution_forms().end()) {
    return forward_work(form->second, arguments);
  }
  const auto form = gradient_forms().find(name);
  return form == gradient_forms().end() ? std::nullopt : backward_work(form->second, arguments);
}

std::optional<Gradient> gradient_of(std::string_view kernel) {
  const std::string name = lower_case(kernel);
  if (contains_any(name, {"wgrad", "wrw", "bwd_weight", "bwdweight", "backward_weight", "grad_weight", "bwd_filter",
                          "backward_filter"})) {
    return Gradient::weight;
  }
  const bool of_input = contains_any(name, {"dgrad", "bwd_data", "bwddata", "backward_data", "grad_input",
                                            "backward_input", "_bwd_", "conv_depthwise2d_backward"});
  return of_input ? std::optional(Gradient::input) : std::nullopt;
}

}  // namespace roofline
