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
      "description": "Defaults for all workloads.",
      "type": "object",
      "properties": {
        "dtype": {"$ref": "#/$defs/dtypes"}, "cache": {"$ref": "#/$defs/caches"}, "seed": {"$ref": "#/$defs/seed"}
      },
      "additionalProperties": false
    },
    "kernels": {
      "description": "Kernels of your own, by name (docs/your-kernels.md). They are compiled and run by analyze: a suite with kernels is code.",
      "type": "object", "additionalProperties": {"$ref": "#/$defs/kernel"},
      "propertyNames": {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}
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
      "description": "Seed of the random inputs. Default: 1.",
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
    "formula": {
      "description": "A number, or a formula over extents and defines: ceil(n / (block * 4)).",
      "type": ["string", "number"]
    },
    "formulas": {
      "anyOf": [{"$ref": "#/$defs/formula"}, {"type": "array", "items": {"$ref": "#/$defs/formula"}, "minItems": 1}]
    },
    "extent3": {
      "anyOf": [
        {"$ref": "#/$defs/formula"},
        {
          "type": "object", "additionalProperties": false,
          "properties": {
            "x": {"$ref": "#/$defs/formula"}, "y": {"$ref": "#/$defs/formula"}, "z": {"$ref": "#/$defs/formula"}
          }
        }
      ]
    },
    "extent3s": {
      "anyOf": [{"$ref": "#/$defs/extent3"}, {"type": "array", "items": {"$ref": "#/$defs/extent3"}, "minItems": 1}]
    },
    "texts": {
      "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]
    },
    "scalar_type": {
      "enum": ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "fp16", "bf16", "fp32", "fp64"]
    },
    "npy": {
      "type": "object", "properties": {"npy": {"type": "string"}}, "required": ["npy"], "additionalProperties": false
    },
    "two_formulas": {"type": "array", "items": {"$ref": "#/$defs/formula"}, "minItems": 2, "maxItems": 2},
    "values": {
      "description": "Values before the first launch (docs/your-kernels.md, Values). Default: uniform in [-1, 1].",
      "anyOf": [
        {"enum": ["uniform", "normal", "ones", "zeros", "permutation"]},
        {"$ref": "#/$defs/npy"},
        {
          "type": "object", "additionalProperties": false, "minProperties": 1, "maxProperties": 1,
          "properties": {
            "range": {"$ref": "#/$defs/two_formulas", "description": "Uniform in [from, to); whole numbers of [from, to] for integer types."},
            "sorted": {"$ref": "#/$defs/two_formulas", "description": "The same, ascending."},
            "constant": {"$ref": "#/$defs/formula"},
            "formula": {"$ref": "#/$defs/formula", "description": "A formula of the index i: i % 7."},
            "mask": {"$ref": "#/$defs/formula", "description": "1 with this probability, else 0."},
            "csr_rows": {"$ref": "#/$defs/two_formulas", "description": "Row pointers of a random sparse matrix: [non-zeros, columns]."},
            "csr_columns": {"type": "string", "description": "Column indices of the matrix whose row pointers are this buffer."}
          }
        }
      ]
    },
    "buffer": {
      "type": "object", "additionalProperties": false,
      "properties": {
        "input": {"type": "string"}, "output": {"type": "string"},
        "inout": {"description": "Read, and then written by each launch.", "type": "string"},
        "workspace": {"description": "Scratch memory; not verified.", "type": "string"},
        "dtype": {"$ref": "#/$defs/dtype"},
        "size": {"$ref": "#/$defs/formula", "description": "Elements."},
        "values": {"$ref": "#/$defs/values"}
      }
    },
    "scalar": {
      "type": "object", "additionalProperties": false, "required": ["scalar", "dtype"],
      "properties": {"scalar": {"$ref": "#/$defs/formula"}, "dtype": {"$ref": "#/$defs/scalar_type"}}
    },
    "argument": {
      "anyOf": [
        {"$ref": "#/$defs/buffer"},
        {"$ref": "#/$defs/scalar"},
        {
          "type": "object", "additionalProperties": false, "required": ["pointer"],
          "properties": {
            "pointer": {"description": "A buffer that is declared elsewhere.", "type": "string"},
            "offset": {"$ref": "#/$defs/formula", "description": "Elements."}
          }
        },
        {
          "type": "object", "additionalProperties": false, "required": ["struct"],
          "properties": {
            "struct": {"type": "array", "items": {"$ref": "#/$defs/scalar"}, "minItems": 1},
            "type": {"description": "Its C type, for a CPU's compiler.", "type": "string"}
          }
        },
        {
          "type": "object", "additionalProperties": false,
          "required": ["tensor_map", "rows", "columns", "box_rows", "box_columns"],
          "properties": {
            "tensor_map": {"description": "A buffer that the copy engine (TMA) reads as a matrix in tiles.", "type": "string"},
            "rows": {"$ref": "#/$defs/formula"}, "columns": {"$ref": "#/$defs/formula"},
            "box_rows": {"$ref": "#/$defs/formula"}, "box_columns": {"$ref": "#/$defs/formula"},
            "swizzle": {"enum": [0, 128]}
          }
        }
      ]
    },
    "arguments": {"type": "array", "items": {"$ref": "#/$defs/argument"}, "minItems": 1},
    "launch": {
      "description": "Lists are tried value by value.",
      "type": "object", "additionalProperties": false,
      "properties": {
        "grid": {"$ref": "#/$defs/extent3s"}, "block": {"$ref": "#/$defs/extent3s"},
        "cluster": {"$ref": "#/$defs/extent3s"},
        "shared": {"$ref": "#/$defs/formulas", "description": "Bytes of dynamic shared memory."},
        "cooperative": {"type": "boolean"},
        "threads": {
          "description": "CPU threads: all or a number; formulas of arguments can use thread and threads. own: the kernel starts its threads itself.",
          "anyOf": [
            {"enum": ["all", "own"]}, {"type": "integer", "minimum": 1},
            {"type": "array", "items": {"anyOf": [{"enum": ["all", "own"]}, {"type": "integer", "minimum": 1}]}, "minItems": 1}
          ]
        }
      }
    },
    "pipes": {"type": "object", "additionalProperties": {"$ref": "#/$defs/formula"}},
    "kernel": {
      "type": "object", "additionalProperties": false, "required": ["source"],
      "properties": {
        "source": {"description": ".cu, .ptx, .cubin, .fatbin; .c, .cpp, .so for the CPU.", "type": "string"},
        "compiler": {"enum": ["auto", "nvrtc", "nvcc"]},
        "options": {"$ref": "#/$defs/texts"}, "include": {"$ref": "#/$defs/texts"},
        "define": {
          "description": "Macros of the source and names in formulas; lists are tried value by value.",
          "type": "object",
          "additionalProperties": {
            "anyOf": [
              {"type": ["string", "number"]},
              {"type": "array", "items": {"type": ["string", "number"]}, "minItems": 1}
            ]
          }
        },
        "entry": {"description": "The function's name; templates are instantiated.", "type": "string"},
        "buffers": {"type": "array", "items": {"$ref": "#/$defs/buffer"}, "minItems": 1},
        "arguments": {"$ref": "#/$defs/arguments"},
        "launch": {"$ref": "#/$defs/launch"},
        "steps": {
          "description": "Several launches as one workload.",
          "type": "array", "minItems": 1,
          "items": {
            "type": "object", "additionalProperties": false, "required": ["entry"],
            "properties": {
              "entry": {"type": "string"}, "arguments": {"$ref": "#/$defs/arguments"},
              "launch": {"$ref": "#/$defs/launch"}
            }
          }
        },
        "work": {
          "description": "Work of one launch. Default for bytes: each input and output once. Without work, operations are counted (--counters).",
          "type": "object", "additionalProperties": false,
          "properties": {
            "flops": {"$ref": "#/$defs/pipes"}, "uncounted": {"$ref": "#/$defs/pipes"},
            "read": {"$ref": "#/$defs/formula"}, "write": {"$ref": "#/$defs/formula"}
          }
        },
        "expect": {
          "description": "Every output as a formula over inputs at the same index, elements such as x[i + 1] and the index i; or a file.",
          "type": "object", "minProperties": 1,
          "additionalProperties": {"anyOf": [{"$ref": "#/$defs/formula"}, {"$ref": "#/$defs/npy"}]}
        },
        "same_as": {"description": "A kernel of this suite whose outputs are the reference.", "type": "string"},
        "unverified": {"description": "No reference: outputs are not verified, and every row says so.", "type": "boolean"},
        "tolerance": {
          "anyOf": [
            {"type": "number", "minimum": 0},
            {
              "type": "object", "additionalProperties": false,
              "properties": {
                "relative": {"type": "number", "minimum": 0}, "magnitude": {"type": "number", "exclusiveMinimum": 0}
              }
            }
          ]
        },
        "like": {"description": "An op of roofline that this kernel computes; its implementations are timed too.", "type": "string"},
        "dtype": {"$ref": "#/$defs/dtypes", "description": "Types of the op that the kernel is written for."},
        "choose": {"description": "Keeps the fastest configuration for each shape.", "enum": ["fastest"]},
        "time_limit": {"description": "Time limit of a row in seconds. Default: 60.", "type": "number", "minimum": 1}
      }
    },
    "workload": {
      "type": "object",
      "properties": {
        "kernel": {"description": "One of this suite's kernels.", "type": "string"},
        "op": {
          "description": "The op to run (roofline ops). The listed ops are built in; others are accepted.",
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
        "needs": {"description": "Keeps this entry for machines with a ceiling of this pipe.", "enum": []},
        "cpu": {
          "$ref": "#/$defs/override",
          "description": "Overrides on a CPU. A shape mapping changes single extents."
        },
        "cuda": {
          "$ref": "#/$defs/override",
          "description": "Overrides on a CUDA GPU. A shape mapping changes single extents."
        }
      },
      "anyOf": [{"required": ["op"]}, {"required": ["kernel"]}],
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

/// JSON in which values that fit are written on one line.
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

Json suite_schema(std::span<const Op* const> ops) {
  Json schema = Json::parse(kSuite);
  Json& definitions = schema["$defs"];
  definitions["dtype"]["enum"] = dtype_names();
  definitions["workload"]["properties"]["needs"]["enum"] = pipe_names();
  for (const Op* op : ops) {
    Json& workload = definitions["workload"];  // anew each time: add_shape moves what is in the definitions
    workload["properties"]["op"]["anyOf"][0]["enum"].push_back(op->name());
    workload["allOf"].push_back(shape_rule(*op));
    add_shape(definitions, *op);
  }
  return schema;
}

std::string suite_schema_text(std::span<const Op* const> ops) { return laid_out(suite_schema(ops), 0) + "\n"; }

}  // namespace roofline
