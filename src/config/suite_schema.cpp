// What every suite has stands here as JSON; what the ops add is made of their parameters.
#include "config/suite_schema.hpp"

#include <nlohmann/json.hpp>

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSuite = R"json({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "roofline suite",
  "description": "What `roofline analyze` runs. Lists are sweeps: an entry is run for every combination of its shapes, dtypes, implementations and cache modes, in that order, shapes slowest.",
  "type": "object",
  "properties": {
    "name": {
      "description": "Names the report's folder.",
      "type": "string", "pattern": "^[A-Za-z0-9_][A-Za-z0-9._-]*$"
    },
    "description": {"type": "string", "minLength": 1},
    "defaults": {
      "description": "What holds for every workload that doesn't say otherwise.",
      "type": "object",
      "properties": {
        "dtype": {"$ref": "#/$defs/dtypes"}, "cache": {"$ref": "#/$defs/caches"}, "seed": {"$ref": "#/$defs/seed"}
      },
      "additionalProperties": false
    },
    "workloads": {"type": "array", "items": {"$ref": "#/$defs/workload"}, "minItems": 1}
  },
  "required": ["name", "workloads"],
  "additionalProperties": false,
  "$defs": {
    "dtype": {},
    "dtypes": {
      "description": "Element type, or a list of them. Default: fp32.",
      "anyOf": [
        {"$ref": "#/$defs/dtype"},
        {"type": "array", "items": {"$ref": "#/$defs/dtype"}, "minItems": 1, "uniqueItems": true}
      ]
    },
    "cache": {"enum": ["cold", "hot"]},
    "caches": {
      "description": "cold: inputs come from main memory (default). hot: one set of buffers, reused.",
      "anyOf": [
        {"$ref": "#/$defs/cache"},
        {"type": "array", "items": {"$ref": "#/$defs/cache"}, "minItems": 1, "uniqueItems": true}
      ]
    },
    "seed": {
      "description": "Of the random inputs. Default: 1.",
      "anyOf": [
        {"type": "integer", "minimum": 0, "maximum": 9007199254740991}, {"$ref": "#/$defs/written_integer"}
      ]
    },
    "device_kind": {"enum": ["cpu", "cuda"]},
    "written_integer": {
      "description": "2^28, 32Ki, 32Mi, 1Gi or 1Ti (Ki = 1024)",
      "type": "string", "pattern": "^(0|[1-9][0-9]*)(\\^(0|[1-9][0-9]*)|Ki|Mi|Gi|Ti)$"
    },
    "extent": {
      "anyOf": [{"type": "integer", "minimum": 1, "maximum": 1099511627776}, {"$ref": "#/$defs/written_integer"}]
    },
    "extents": {
      "anyOf": [{"$ref": "#/$defs/extent"}, {"type": "array", "items": {"$ref": "#/$defs/extent"}, "minItems": 1}]
    },
    "option": {"type": "integer", "minimum": 0, "maximum": 1099511627776},
    "options": {
      "anyOf": [{"$ref": "#/$defs/option"}, {"type": "array", "items": {"$ref": "#/$defs/option"}, "minItems": 1}]
    },
    "shape": {
      "description": "Extents of the op; those left out keep the op's default (roofline ops). A list of mappings gives several shapes.",
      "type": ["object", "array"]
    },
    "impl": {
      "description": "Implementation, a list of them, or all. Default: the fastest that supports the dtype.",
      "anyOf": [
        {"type": "string", "minLength": 1},
        {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1, "uniqueItems": true}
      ]
    },
    "label": {"description": "Name of the row. Default: op, dtype and shape.", "type": "string", "minLength": 1},
    "override": {
      "type": "object",
      "properties": {
        "shape": {"$ref": "#/$defs/shape"}, "dtype": {"$ref": "#/$defs/dtypes"}, "impl": {"$ref": "#/$defs/impl"},
        "cache": {"$ref": "#/$defs/caches"}, "seed": {"$ref": "#/$defs/seed"}, "label": {"$ref": "#/$defs/label"}
      },
      "additionalProperties": false,
      "minProperties": 1
    },
    "workload": {
      "type": "object",
      "properties": {
        "op": {
          "description": "What to run (roofline ops). Those named here come with roofline; yours are welcome too.",
          "anyOf": [{"enum": []}, {"type": "string", "pattern": "^[a-z][a-z0-9_]*$"}]
        },
        "shape": {"$ref": "#/$defs/shape"}, "dtype": {"$ref": "#/$defs/dtypes"}, "impl": {"$ref": "#/$defs/impl"},
        "cache": {"$ref": "#/$defs/caches"}, "seed": {"$ref": "#/$defs/seed"}, "label": {"$ref": "#/$defs/label"},
        "only": {
          "description": "Keeps this entry for these kinds of device.",
          "anyOf": [
            {"$ref": "#/$defs/device_kind"},
            {"type": "array", "items": {"$ref": "#/$defs/device_kind"}, "minItems": 1, "uniqueItems": true}
          ]
        },
        "cpu": {
          "$ref": "#/$defs/override",
          "description": "What is different on a CPU. A shape mapping changes single extents."
        },
        "cuda": {
          "$ref": "#/$defs/override",
          "description": "What is different on a CUDA GPU. A shape mapping changes single extents."
        }
      },
      "required": ["op"],
      "additionalProperties": false,
      "allOf": []
    }
  }
})json";

/// "gemm" → one mapping of its extents, or a list of them.
void add_shape(Json& definitions, const Op& op) {
  Json extents = {{"type", "object"}, {"properties", Json::object()}, {"additionalProperties", false}};
  for (const ShapeParameter& p : op.parameters()) {
    extents["properties"][p.name] = {{"$ref", p.minimum < 1 ? "#/$defs/options" : "#/$defs/extents"},
                                     {"description", p.meaning}};
  }
  const std::string name(op.name());
  definitions["extents_" + name] = std::move(extents);
  const Json one = {{"$ref", "#/$defs/extents_" + name}};
  definitions["shape_" + name]["anyOf"] = {one, {{"type", "array"}, {"items", one}, {"minItems", 1}}};
}

/// Where `op` has that name, its shapes are the op's, also where they differ by device.
Json shape_rule(const Op& op) {
  const Json shape = {{"shape", {{"$ref", "#/$defs/shape_" + std::string(op.name())}}}};
  const Json within = {{"properties", shape}};
  return {{"if", {{"properties", {{"op", {{"const", op.name()}}}}}, {"required", {"op"}}}},
          {"then", {{"properties", {{"shape", shape["shape"]}, {"cpu", within}, {"cuda", within}}}}}};
}

/// JSON in which whatever fits a line stands on one.
std::string laid_out(const Json& value, std::size_t indent) {
  constexpr std::size_t kWidth = 110;
  const std::string flat = value.dump();
  if (!value.is_structured() || indent + flat.size() <= kWidth) return flat;
  std::string text;
  for (const auto& [key, item] : value.items()) {
    text += (text.empty() ? "\n" : ",\n") + std::string(indent + 2, ' ');
    if (value.is_object()) text += Json(key).dump() + ": ";
    text += laid_out(item, indent + 2);
  }
  text += "\n" + std::string(indent, ' ');
  return value.is_object() ? "{" + text + "}" : "[" + text + "]";
}

}  // namespace

std::string suite_schema(std::span<const Op* const> ops) {
  Json schema = Json::parse(kSuite);
  Json& definitions = schema["$defs"];
  definitions["dtype"]["enum"] = dtype_names();
  for (const Op* op : ops) {
    Json& workload = definitions["workload"];  // anew each time: add_shape moves what is in the definitions
    workload["properties"]["op"]["anyOf"][0]["enum"].push_back(op->name());
    workload["allOf"].push_back(shape_rule(*op));
    add_shape(definitions, *op);
  }
  return laid_out(schema, 0) + "\n";
}

}  // namespace roofline
