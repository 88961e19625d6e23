"""Traces PyTorch problems on tensors that have shapes and no data: nothing is computed, and no GPU is needed.

Run by `roofline bound` with the paths of problem files as arguments. A problem file has a class Model, a function
get_inputs() and, where Model takes arguments, get_init_inputs(), as in KernelBench. For each file one line of JSON goes
to standard output: the graph (src/import/torch_graph.hpp), or {"file", "error"}.
"""
import contextlib
import importlib.util
import json
import os
import sys
import warnings

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

# As the profiler of PyTorch names element types.
TYPE_NAMES = {
    torch.float64: "double", torch.float32: "float", torch.float16: "c10::Half", torch.bfloat16: "c10::BFloat16",
    torch.int64: "long int", torch.int32: "int", torch.int16: "short int", torch.int8: "signed char",
    torch.uint8: "unsigned char", torch.bool: "bool",
}
for _name in ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz"):
    if hasattr(torch, f"float8_{_name}"):
        TYPE_NAMES[getattr(torch, f"float8_{_name}")] = f"c10::Float8_{_name}"

# These store all of their first argument without reading it.
OVERWRITING = ("copy_", "fill_", "zero_", "normal_", "uniform_", "random_", "bernoulli_", "exponential_")
# Views whose schema does not say so.
UNDECLARED_VIEWS = ("_unsafe_view",)


def stored_bytes(tensor):
    """Of distinct elements: a dimension of stride 0 repeats the same ones."""
    count = 1
    for size, stride in zip(tensor.shape, tensor.stride() if tensor.layout == torch.strided else [1] * tensor.dim()):
        if size == 0:
            return 0
        count *= int(size) if stride != 0 else 1
    return count * tensor.element_size()


class Recorder(TorchDispatchMode):
    """Keeps the operators that are called, with the storages that they read and write."""

    def __init__(self):
        super().__init__()
        self.storages = []  # [role, bytes]
        self.calls = []
        self.storage_of = {}  # by id of a tensor, which is kept alive
        self.alive = []
        self.times = 1

    @contextlib.contextmanager
    def repeated(self, times):
        """What is called inside stands for as many calls one after the other."""
        before = self.times
        self.times *= times
        try:
            yield
        finally:
            self.times = before

    def storage(self, tensor, role="intermediate"):
        known = self.storage_of.get(id(tensor))
        if known is None:
            known = len(self.storages)
            self.storages.append([role, stored_bytes(tensor)])
            self.alias(tensor, known)
        return known

    def alias(self, tensor, storage):
        self.storage_of[id(tensor)] = storage
        self.alive.append(tensor)

    def use(self, tensor, role="constant"):
        return [self.storage(tensor, role), stored_bytes(tensor)]

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        self.record(func, args, kwargs, result)
        return result

    def record(self, func, args, kwargs, result):
        schema = func._schema
        name = schema.name.split("::")[-1]
        arguments = [(declared, args[i] if i < len(args) else kwargs.get(declared.name, declared.default_value))
                     for i, declared in enumerate(schema.arguments)]
        mutated = [value for declared, value in arguments
                   if declared.alias_info is not None and declared.alias_info.is_write]
        results = [part for part in tree_flatten(result)[0] if isinstance(part, torch.Tensor)]
        sources = [value for declared, value in arguments if isinstance(value, torch.Tensor)
                   and (declared.alias_info is not None or name in UNDECLARED_VIEWS)]
        is_view = name in UNDECLARED_VIEWS or any(
            part.alias_info is not None and not part.alias_info.is_write for part in schema.returns)
        if is_view and sources and not mutated:
            storage = self.storage(sources[0], "constant")
            for part in results:
                if id(part) not in self.storage_of:
                    self.alias(part, storage)
            return
        if not results and not mutated:
            return
        self.calls.append(self.call_of(schema.name, name, arguments, mutated, results))

    def call_of(self, full_name, name, arguments, mutated, results):
        written = [part for part in tree_flatten(mutated)[0] if isinstance(part, torch.Tensor)]
        call = {"name": full_name, "dims": [], "types": [], "concrete": [], "reads": [], "writes": [],
                "tf32": tf32_allowed(name), "times": self.times}
        for declared, value in arguments:
            tensors = [part for part in tree_flatten(value)[0] if isinstance(part, torch.Tensor)]
            if isinstance(value, torch.Tensor):
                call["dims"].append([int(size) for size in value.shape])
                call["types"].append(TYPE_NAMES.get(value.dtype, str(value.dtype)))
            elif tensors:
                call["dims"].append([[int(size) for size in part.shape] for part in tensors])
                call["types"].append("TensorList")
            else:
                call["dims"].append([])
                call["types"].append("")
            call["concrete"].append("" if tensors or value is None else str(value))
            only_written = declared.alias_info is not None and declared.alias_info.is_write and (
                declared.kwarg_only or name in OVERWRITING)
            if not only_written:
                call["reads"] += [self.use(part) for part in tensors]
        call["writes"] = [self.use(part) for part in written]
        written_ids = {id(part) for part in written}
        call["writes"] += [self.use(part, "intermediate") for part in results if id(part) not in written_ids]
        return call


def tf32_allowed(name):
    if "conv" in name:
        return bool(torch.backends.cudnn.allow_tf32)
    if "attention" in name:
        return True  # on GPUs the fused kernels compute products of fp32 from several of TF32
    return bool(torch.backends.cuda.matmul.allow_tf32)


def recurrent(recorder, cell):
    """Replaces a recurrent network's operator, which would be traced step by step: one product a layer for all inputs,
    and one step of the recurrence as often as there are steps. `cell` makes the new state of gates and old state."""
    def layer(x, state, weights, bias):
        w_input, w_state = weights[:2]
        b_input, b_state = weights[2:4] if bias else (None, None)
        inputs = torch.nn.functional.linear(x, w_input, b_input)
        with recorder.repeated(x.shape[0]):
            products = torch.nn.functional.linear(state[0], w_state, b_state)
            state = cell(inputs[0], products, state)
            if len(weights) == (5 if bias else 3):  # LSTM with projections
                state = (torch.nn.functional.linear(state[0], weights[-1]), *state[1:])
        return x.new_empty(x.shape[:-1] + state[0].shape[-1:]), state

    def call(x, hx, weights, bias, layers, dropout, train, bidirectional, batch_first):
        del dropout, train
        states = hx if isinstance(hx, (tuple, list)) else (hx,)
        directions = 2 if bidirectional else 1
        each = len(weights) // (layers * directions)
        x = x.transpose(0, 1) if batch_first and x.dim() == 3 else x
        for i in range(layers):
            ends = []
            for j in range(i * directions, (i + 1) * directions):
                out, _ = layer(x, tuple(state[j] for state in states), weights[j * each:(j + 1) * each], bias)
                ends.append(out)
            x = torch.cat(ends, -1) if bidirectional else ends[0]
        finals = tuple(torch.empty_like(state) for state in states)
        return (x.transpose(0, 1) if batch_first and x.dim() == 3 else x, *finals)
    return call


def lstm_cell(inputs, products, state):
    forget, enter, new, out = (inputs + products).chunk(4, -1)
    memory = forget.sigmoid() * state[1] + enter.sigmoid() * new.tanh()
    return out.sigmoid() * memory.tanh(), memory


def gru_cell(inputs, products, state):
    reset, update, new = (inputs + products).chunk(3, -1)
    update = update.sigmoid()
    return (update * state[0] + (1 - update) * (new + reset.sigmoid()).tanh(),)


def rnn_cell(inputs, products, _):
    return ((inputs + products).tanh(),)


@contextlib.contextmanager
def short_recurrences(recorder):
    """Networks over packed sequences are traced as they are."""
    module = torch.nn.modules.rnn
    names = {"lstm": lstm_cell, "gru": gru_cell, "rnn_tanh": rnn_cell, "rnn_relu": rnn_cell}
    originals = {name: getattr(module._VF, name) for name in names}

    def replaced(name, cell):
        short = recurrent(recorder, cell)

        def call(*args):
            is_packed = isinstance(args[1], torch.Tensor) and isinstance(args[2], (torch.Tensor, tuple, list)) \
                and len(args) > 4 and isinstance(args[3], (tuple, list))
            return originals[name](*args) if is_packed else short(*args)
        return call
    replacements = {name: replaced(name, cell) for name, cell in names.items()}
    tables = getattr(module, "_rnn_impls", {})
    kept = dict(tables)
    try:
        for name, call in replacements.items():
            setattr(module._VF, name, call)
        tables.update({key: replacements[key.lower()] for key in tables})
        yield
    finally:
        for name, call in originals.items():
            setattr(module._VF, name, call)
        tables.update(kept)


def load(path):
    spec = importlib.util.spec_from_file_location("problem", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["problem"] = module
    spec.loader.exec_module(module)
    if not hasattr(module, "Model") or not hasattr(module, "get_inputs"):
        raise ValueError("no problem: it needs a class Model and a function get_inputs()")
    return module


def make_model(module):
    arguments = module.get_init_inputs() if hasattr(module, "get_init_inputs") else []
    if len(arguments) == 2 and isinstance(arguments[0], list) and isinstance(arguments[1], dict):
        return module.Model(*arguments[0], **arguments[1])
    return module.Model(**arguments) if isinstance(arguments, dict) else module.Model(*arguments)


def without_data(model, mode):
    """Gives the model's tensors up for ones of the same shapes."""
    fakes = {}

    def fake(value):
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) not in fakes:
            fakes[id(value)] = mode.from_tensor(value.detach())
        return fakes[id(value)]
    for part in model.modules():
        for name, parameter in list(part._parameters.items()):
            if parameter is not None:  # by setattr: recurrent networks keep lists of theirs
                setattr(part, name, torch.nn.Parameter(fake(parameter), requires_grad=False))
        for name, buffer in list(part._buffers.items()):
            part._buffers[name] = fake(buffer)
        for name, value in list(vars(part).items()):
            if not name.startswith("_") and any(isinstance(x, torch.Tensor) for x in tree_flatten(value)[0]):
                setattr(part, name, tree_map(fake, value))
    return model


def skip_initial_values():
    """Memory that no one writes costs nothing."""
    for name in dir(torch.nn.init):
        if name.endswith("_") and not name.startswith("_"):
            setattr(torch.nn.init, name, lambda tensor, *args, **kwargs: tensor)


def model_and_inputs(path, mode):
    """Made without data; where their code asks for values, with them."""
    try:
        with mode:
            module = load(path)
            return make_model(module), module.get_inputs()
    except Exception:  # pylint: disable=broad-except
        module = load(path)
        model = without_data(make_model(module), mode)
        with mode:
            return model, module.get_inputs()


def trace(path):
    torch.backends.mkldnn.enabled = False
    mode = FakeTensorMode(allow_fallback_kernels=False)
    recorder = Recorder()
    with torch.no_grad():
        model, inputs = model_and_inputs(path, mode)
        for parameter in list(model.parameters()) + list(model.buffers()):
            recorder.storage(parameter, "parameter")
        for part in tree_flatten(inputs)[0]:
            if isinstance(part, torch.Tensor):
                recorder.storage(part, "input")
        with mode, short_recurrences(recorder), recorder:
            result = model(**inputs) if isinstance(inputs, dict) else model(*inputs)
    outputs = [recorder.use(part) for part in tree_flatten(result)[0] if isinstance(part, torch.Tensor)]
    return {"file": path, "storages": recorder.storages, "calls": recorder.calls, "outputs": outputs}


def main():
    lines = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what problems print is no line of ours
    warnings.simplefilter("ignore")
    skip_initial_values()
    FakeTensorMode.__deepcopy__ = lambda self, memo: self  # copied tensors are of the same mode
    for path in sys.argv[1:]:
        try:
            document = trace(path)
        except Exception as error:  # pylint: disable=broad-except
            document = {"file": path, "error": f"{type(error).__name__}: {str(error).split('. ')[0]}"[:200]}
        lines.write(json.dumps(document) + "\n")
        lines.flush()


main()
