// The call is checked by the compiler against the kernel's own declaration.
#include "user/call_source.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string_view>
#include <variant>
#include <vector>

namespace roofline {
namespace {

std::string_view scalar_c_type(ScalarType type, const Place& place) {
  switch (type) {
    case ScalarType::fp32:
      return "float";
    case ScalarType::fp64:
      return "double";
    case ScalarType::fp16:
    case ScalarType::bf16:
      place.fail("a CPU's functions take no scalars of 16-bit floating point");
    default: {
      static const std::array<std::string_view, 8> integers = {"int8_t",  "uint8_t",  "int16_t", "uint16_t",
                                                               "int32_t", "uint32_t", "int64_t", "uint64_t"};
      return integers.at(static_cast<std::size_t>(type));
    }
  }
}

/// The type that a buffer is passed as; what C has no name for fits any pointer.
std::string_view pointer_c_type(DType dtype, bool c) {
  switch (dtype) {
    case DType::fp64:
      return "double*";
    case DType::fp32:
    case DType::tf32:
      return "float*";
    case DType::int8:
      return "int8_t*";
    case DType::int32:
      return "int32_t*";
    case DType::int16:
      return "int16_t*";
    case DType::uint16:
      return "uint16_t*";
    case DType::uint32:
      return "uint32_t*";
    case DType::int64:
      return "int64_t*";
    case DType::uint64:
      return "uint64_t*";
    default:
      return c ? "void*" : "roofline_any";
  }
}

/// The C type of each argument. `dtype_of` returns that of a buffer.
template <typename DTypeOf>
std::vector<std::string> c_types(const StepSpec& step, bool c, DTypeOf dtype_of) {
  std::vector<std::string> types;
  for (const ArgumentSpec& argument : step.arguments) {
    if (const auto* pointer = std::get_if<PointerSpec>(&argument.value)) {
      types.emplace_back(pointer_c_type(dtype_of(pointer->buffer), c));
    } else if (const auto* scalar = std::get_if<ScalarSpec>(&argument.value)) {
      types.emplace_back(scalar_c_type(scalar->type, argument.place));
    } else if (const auto* structure = std::get_if<StructSpec>(&argument.value)) {
      if (structure->type.empty())
        argument.place.fail("a structure needs the name of its C type on a CPU (type: Params)");
      types.push_back(structure->type);
    } else {
      argument.place.fail("a CPU has no tensor maps");
    }
  }
  return types;
}

}  // namespace

std::string with_defines(const std::string& entry, const Configuration& configuration) {
  std::string text;
  for (std::size_t at = 0; at < entry.size();) {
    std::size_t end = at;
    while (end < entry.size() && is_in_name(entry[end])) ++end;
    if (end == at) {
      text += entry[at++];
      continue;
    }
    std::string word = entry.substr(at, end - at);
    for (const auto& [name, value] : configuration.defines) {
      if (word == name) word = value;
    }
    text += word;
    at = end;
  }
  return text;
}

std::string call_source(const KernelSpec& spec, const Configuration& configuration) {
  const bool c = spec.kind == SourceKind::c;
  const bool library = spec.kind == SourceKind::shared_library;
  const auto dtype_of = [&](const std::string& name) {
    const BufferSpec* buffer = spec.find_buffer(name);
    // If the kernel is like an op, the type comes with the workload.
    return buffer == nullptr || (spec.like != nullptr && !buffer->workspace) ? DType::fp16 : buffer->dtype;
  };
  std::string text = "#include <stdint.h>\n";
  if (!c) {
    text +=
        "#include <exception>\n#include <stdlib.h>\n#include <string.h>\n"
        "namespace { struct roofline_any { void* p; template <class T> operator T*() const { return "
        "static_cast<T*>(p); } "
        "operator void*() const { return p; } }; }\n";
  }
  for (std::size_t i = 0; i < spec.steps.size(); ++i) {
    const std::vector<std::string> types = c_types(spec.steps[i], c, dtype_of);
    std::vector<std::string> given;
    for (std::size_t a = 0; a < types.size(); ++a) given.push_back(fmt::format("*({}*)roofline_a[{}]", types[a], a));
    std::vector<std::string> declared = types;
    for (std::string& type : declared) type = type == "roofline_any" ? "void*" : type;
    const std::string function = library ? fmt::format("((void (*)({}))roofline_f)", fmt::join(declared, ", "))
                                         : with_defines(spec.steps[i].entry, configuration);
    const std::string call = fmt::format("{}({});", function, fmt::join(given, ", "));
    const std::string signature = fmt::format("const char* roofline_call_{}(void* roofline_f, void** roofline_a)", i);
    if (c) {
      text += fmt::format("{} {{ (void)roofline_f; {} return 0; }}\n", signature, call);
    } else {
      text += fmt::format(
          "extern \"C\" {} {{\n  (void)roofline_f;\n#if __cpp_exceptions\n  try {{\n    {}\n  }} catch (const "
          "std::exception& error) {{\n    return strdup(error.what());\n  }} catch (...) {{\n    return \"an "
          "exception that is not a std::exception\";\n  }}\n#else\n  {}\n#endif\n  return 0;\n}}\n",
          signature, call, call);
    }
  }
  return text;
}

}  // namespace roofline
