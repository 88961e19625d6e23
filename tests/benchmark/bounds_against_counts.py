#!/usr/bin/env python3
"""Compares the bounds of `roofline bound config.json` with what transformers' models with random weights do.

    tests/benchmark/bounds_against_counts.py ROOFLINE [--machine FILE] [--only llama,mixtral:decode] [--no-gpu]

Each model is made from a config. A phase is the prefill of a batch or one decode step after a context. Three sources are compared:

- the bound: FLOPs, bytes as one kernel and as a kernel for each part, the least time;
- torch.utils.flop_counter.FlopCounterMode on the meta device. It counts all pairs of queries and keys, so its attention is
  scaled to the pairs that the causal mask (and the window) leaves;
- on a GPU: hardware counters of a steady step (`roofline profile`), and the time of the step as a CUDA graph (CUDA events, median).

Prints Markdown tables. The exit status is 1 if parameters differ by more than 0.1 %, FLOPs by more than 1 % or if a time is below its bound.
Counted FLOPs are those of tensor cores. Tiles compute more than a problem has: those of attention at the diagonal of the mask,
those of experts at the end of each expert's rows, and all of a decode step, whose rows are fewer than a tile's. Therefore
counted products are checked from both sides in prefill, and otherwise only against being less than the bound.
--no-gpu needs no GPU: it compares parameters and FLOPs of all models, also of those that are measured only with --only.
"""
import argparse
import collections
import dataclasses
import gc
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

from bound_models import MODELS

TOLERANCE = 0.01
PARAMETER_TOLERANCE = 0.001
TILE_ROWS = 128  # of the kernels for groups of experts
ATTENTION_KERNEL = re.compile(r"flash|fmha|attention|attn|sdpa", re.IGNORECASE)


def shape_of(model, phase):
    """Sequences, queries of each, tokens of each in the cache."""
    batch, tokens = getattr(model, phase)
    return (batch, tokens, 0) if phase == "prefill" else (batch, 1, tokens)


def config_of(model):
    import transformers

    members = dict(model.config)
    config = transformers.AutoConfig.for_model(members.pop("model_type"), **members)
    config.dtype = "bfloat16"
    return config


def build(config, device, experts):
    import torch
    import transformers

    transformers.logging.set_verbosity_error()
    options = {"experts_implementation": experts} if experts else {}

    def with_attention(name):
        return transformers.AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16, attn_implementation=name, **options).eval()

    with torch.device(device):
        try:
            return with_attention("sdpa")
        except ValueError as error:
            if "scaled_dot_product_attention" not in str(error):
                raise
            return with_attention("eager")


def cache_of(config, queries, past):
    """Keys and values written in place into buffers of the length that the step sees. DynamicCache copies the whole cache in each step."""
    import torch
    from transformers.cache_utils import Cache, DynamicLayer

    class Buffers(DynamicLayer):
        def update(self, key_states, value_states, *_, **__):
            if self.keys is None:
                self.keys, self.values = (states.new_empty(*states.shape[:2], past + queries, states.shape[3]).normal_()
                                          for states in (key_states, value_states))
            self.keys[:, :, past:] = key_states
            self.values[:, :, past:] = value_states
            return self.keys, self.values

        def get_seq_length(self, *_):
            return past

        def get_mask_sizes(self, *_):
            return past + queries, 0

    layers = config.num_hidden_layers
    return Cache(layers=[Buffers() for _ in range(layers)])


def step_of(network, config, shape, device):
    import torch

    batch, queries, past = shape
    tokens = torch.randint(0, config.vocab_size, (batch, queries), device=device)
    cache = cache_of(config, queries, past)

    def step():
        with torch.no_grad():
            return network(input_ids=tokens, past_key_values=cache, use_cache=True, logits_to_keep=1)

    return step


def visible_share(queries, past, keys, window):
    """Of all pairs of queries and keys, those that a causal mask leaves, at most `window` keys of a query (None: all)."""
    return sum(min(past + query + 1, window or keys) for query in range(queries)) / (queries * keys)


def eager_attention_flops(config, counter, shape):
    """All and visible FLOPs of attention that is written as two batched products, by the modules that contain them."""
    _, queries, past = shape
    kinds, found = getattr(config, "layer_types", None), collections.Counter()
    for module, counts in counter.get_flop_counts().items():
        layer = re.search(r"\.(\d+)\.\w*(attn|attention)$", module)
        if not layer:
            continue
        flops = sum(count for operator, count in counts.items() if str(operator).endswith("bmm"))
        windowed = kinds and kinds[int(layer[1])] == "sliding_attention"
        found["all"] += flops
        found["visible"] += flops * visible_share(queries, past, past + queries, config.sliding_window if windowed else None)
    return found


def counted_by_torch(config, shape, device):
    """FLOPs by FlopCounterMode with the causal half of attention, and parameters."""
    from torch.nn import functional
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    network = build(config, device, "batched_mm")
    step = step_of(network, config, shape, device)
    _, queries, past = shape
    counter = FlopCounterMode(display=False)
    attention = collections.Counter()
    original = functional.scaled_dot_product_attention

    def counted_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
        groups = query.shape[1] // key.shape[1]  # FlopCounterMode does not know heads that share keys
        key, value = (tensor.repeat_interleave(groups, 1) for tensor in (key, value))
        before = counter.get_total_flops()
        out = original(query, key, value, attn_mask=attn_mask, dropout_p=dropout_p, is_causal=is_causal, scale=scale)
        flops = counter.get_total_flops() - before
        window = getattr(config, "sliding_window", None) if attn_mask is not None else None
        attention["all"] += flops
        attention["visible"] += flops * visible_share(queries, past, key.shape[2], window)
        return out

    functional.scaled_dot_product_attention = counted_attention
    try:
        with sdpa_kernel(SDPBackend.MATH), counter:  # as products, which FlopCounterMode counts on every device
            step()
    finally:
        functional.scaled_dot_product_attention = original
    attention = attention or eager_attention_flops(config, counter, shape)
    if not attention["all"]:
        raise RuntimeError("no attention was found in it")
    return counter.get_total_flops() - attention["all"] + attention["visible"], sum(p.numel() for p in network.parameters())


def data_sheet(options):
    """The GPU whose data sheet bounds a model where no calibration is given."""
    if options.no_gpu:
        return "H100"
    import torch

    return torch.cuda.get_device_name().removeprefix("NVIDIA ").split()[0]


def bound_of(options, folder, shape, phase, measured_s=None):
    """The phase of `roofline bound`, the bytes of weights, and whether that time is possible."""
    batch, queries, past = shape
    tokens = ["--prompt", str(queries)] if phase == "prefill" else ["--context", str(past)]
    against = ["--against", f"{measured_s * 1e3:.6f}ms"] if measured_s else []
    done = subprocess.run([options.roofline, "bound", str(folder / "config.json"), "--machine", options.machine or data_sheet(options), "--batch",
                           str(batch), *tokens, "--phase", phase, *against, "--json"], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        raise RuntimeError((done.stdout + done.stderr)[-500:])
    data = json.loads(done.stdout)["data"]
    return data["phases"][0], data["memory"]["weights_bytes"], done.returncode == 0, data["notes"]


def flops_of(phase, only=lambda part: True):
    return sum(part["launches"] * sum(part["flops"].values()) for part in phase["parts"] if only(part))


def bytes_of(work):
    return sum(work["bytes"]["hbm"].values()) if "hbm" in work["bytes"] else 0


def is_attention(part):
    return part["name"] in ("attention", "attention in a window")


def seconds_of_step(step):
    """Median time as a CUDA graph, so that launches cost nothing; without one where the step cannot be captured."""
    import torch

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    how, run = "graph", None
    try:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
        run = graph.replay
    except RuntimeError as error:
        print(f"not captured: {str(error)[:200]}", file=sys.stderr)
        torch.cuda.synchronize()
        how, run = "eager", step
    seconds, begin = [], time.perf_counter()
    for _ in range(10):
        run()
    torch.cuda.synchronize()
    while len(seconds) < 20 or (time.perf_counter() - begin < 1 and len(seconds) < 200):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        run()
        end.record()
        end.synchronize()
        seconds.append(start.elapsed_time(end) * 1e-3)
    return statistics.median(seconds), how


def run_child(name, phase, seconds):
    import torch

    model = MODELS[name]
    config = config_of(model)
    step = step_of(build(config, "cuda", None), config, shape_of(model, phase), "cuda")
    begin, number = time.perf_counter(), 0
    while number < 30 or time.perf_counter() - begin < seconds:
        torch.cuda.nvtx.range_push("step")
        step()
        torch.cuda.synchronize()
        torch.cuda.nvtx.range_pop()
        number += 1


def counted_by_hardware(options, folder, name, phase):
    """Of a steady step: FLOPs of tensor cores in products and in attention, DRAM bytes, share of the kernel time that was counted."""
    report = folder / "report.json"
    machine = ["--machine", options.machine] if options.machine and os.path.exists(options.machine) else []
    done = subprocess.run([options.roofline, "profile", *machine, "--no-python", "--no-host", "--count-time", "10s", "--step", "step", "-o",
                           str(report), "--", sys.executable, os.path.abspath(__file__), options.roofline, "--child", name, phase,
                           "--seconds", str(options.seconds)], capture_output=True, text=True, check=False)
    if done.returncode != 0 or not report.exists():
        raise RuntimeError(f"profile: exit code {done.returncode}: {done.stderr[-500:]}")
    document = json.loads(report.read_text())
    if options.keep:
        (pathlib.Path(options.keep) / f"{name}-{phase}.json").write_text(report.read_text())
    total, counts = 0.0, collections.Counter()
    for row in document["results"]:
        step = row["profiled"].get("step")
        if not step:
            continue
        total += step["seconds"]
        if row["profiled"]["sources"].get("work") != "counted":
            continue
        counts["seconds"] += step["seconds"]
        kind = "attention" if ATTENTION_KERNEL.search(row["profiled"]["full_name"]) else "products"
        counts[kind] += step["launches"] * sum(flops for pipe, flops in row["work"]["flops"].items() if pipe.startswith("tensor"))
        counts["bytes"] += step["launches"] * row["work"]["bytes"].get("hbm", 0)
    if not counts["seconds"]:
        raise RuntimeError("no kernel of a step was counted: " + document["profile"].get("why_no_steps", "see roofline doctor"))
    return {"products": counts["products"], "attention": counts["attention"], "bytes": counts["bytes"],
            "counted": counts["seconds"] / total}


def padding_of(config, shape, phase):
    """Upper bound on what tiles add to products, as a fraction."""
    if phase == "decode":
        return float("inf")
    experts = next((count for key in ("num_local_experts", "num_experts", "n_routed_experts")
                    if (count := getattr(config, key, None))), 0)
    if experts < 2:
        return 0
    return TILE_ROWS / 2 * experts / (shape[0] * shape[1] * config.num_experts_per_tok)


@dataclasses.dataclass
class Table:
    title: str
    heads: tuple
    rows: list = dataclasses.field(default_factory=list)

    def print(self):
        print(f"\n{self.title}\n\n| " + " | ".join(self.heads) + " |\n|" + "---|" * 2 + "--:|" * (len(self.heads) - 2))
        for row in self.rows:
            print("| " + " | ".join(row) + " |")
        sys.stdout.flush()


def tables():
    return {
        "flops": Table("FLOPs of a step, and parameters", ("model", "phase", "parameters", "model's / bound's", "FLOPs, bound",
                                                          "FlopCounterMode / bound", "as expected")),
        "counted": Table("Counted FLOPs of tensor cores", ("model", "phase", "kernel time counted", "products, bound", "counted / bound",
                                                           "attention, bound", "counted / bound", "as expected")),
        "bytes": Table("DRAM bytes of a step", ("model", "phase", "one kernel", "counted", "a kernel for each part", "counted / one kernel",
                                                "between")),
        "time": Table("Time of a step", ("model", "phase", "at least", "part by part", "measured", "share of the bound", "possible")),
    }


def yes(good):
    return "yes" if good else "**no**"


def compare(options, folder, name, phase, out):
    """Adds the rows of a model's phase. Returns whether all is as expected."""
    model = MODELS[name]
    config, shape = config_of(model), shape_of(model, phase)
    label = [name, f"{phase}, {shape[0]} × {max(shape[1:]):,}"]
    config.save_pretrained(folder)
    bound, weights, _, notes = bound_of(options, folder, shape, phase)
    for note in notes:
        print(f"{name}: {note}", file=sys.stderr)
    flops, (torch_flops, parameters) = flops_of(bound), counted_by_torch(config, shape, model.counted_on)
    good = abs(torch_flops / flops - 1) <= TOLERANCE and abs(2 * parameters / weights - 1) <= PARAMETER_TOLERANCE
    out["flops"].rows.append([*label, f"{parameters:,}", f"{2 * parameters / weights:.5f}", f"{flops:.4g}", f"{torch_flops / flops:.4f}",
                              yes(good)])
    if options.no_gpu:
        return good
    import torch

    seconds, how = seconds_of_step(step_of(build(config, "cuda", None), config, shape, "cuda"))
    gc.collect()
    torch.cuda.empty_cache()
    scored, _, possible, _ = bound_of(options, folder, shape, phase, seconds)
    good &= possible
    out["time"].rows.append([*label, f"{scored['least_s'] * 1e3:.2f} ms", f"{scored['by_op_s'] * 1e3:.2f} ms",
                             f"{seconds * 1e3:.2f} ms" + ("" if how == "graph" else f" ({how})"),
                             f"{100 * scored['least_s'] / seconds:.1f} %", yes(possible)])
    counts = counted_by_hardware(options, folder, name, phase)
    products, attention = flops_of(bound, lambda part: not is_attention(part)), flops_of(bound, is_attention)
    ratios = counts["products"] / products, counts["attention"] / attention
    least = counts["counted"] - TOLERANCE
    expected = least <= ratios[0] <= 1 + TOLERANCE + padding_of(config, shape, phase) and ratios[1] >= least
    out["counted"].rows.append([*label, f"{100 * counts['counted']:.1f} %", f"{products:.4g}", f"{ratios[0]:.4f}", f"{attention:.4g}",
                                f"{ratios[1]:.4f}", yes(expected)])
    by_part = sum(part["launches"] * bytes_of(part) for part in bound["parts"])
    fused = bytes_of(bound["fused"]) if "fused" in bound else None
    between = fused is not None and (1 - TOLERANCE) * fused <= counts["bytes"] <= (1 + TOLERANCE) * by_part
    out["bytes"].rows.append([*label, f"{fused / 1e9:.2f} GB" if fused else "–", f"{counts['bytes'] / 1e9:.2f} GB", f"{by_part / 1e9:.2f} GB",
                              f"{counts['bytes'] / fused:.3f}" if fused else "–", yes(between)])
    return good and expected


def chosen(options):
    """(model, phase) pairs."""
    def phases(model):
        return [phase for phase in ("prefill", "decode") if getattr(model, phase)]

    if not options.only:
        return [(name, phase) for name, model in MODELS.items() for phase in (phases(model) if options.no_gpu else model.measured)]
    pairs = []
    for word in options.only.split(","):
        name, _, phase = word.partition(":")
        if name not in MODELS or (phase and phase not in phases(MODELS[name])):
            sys.exit(f"--only {word}: models are {', '.join(MODELS)}, each alone or with :prefill or :decode")
        pairs += [(name, phase)] if phase else [(name, each) for each in phases(MODELS[name])]
    return pairs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("roofline")
    parser.add_argument("--machine", help="calibration file, or a GPU with a known data sheet (default: the data sheet of this GPU)")
    parser.add_argument("--only", help="models, or model:phase, comma-separated")
    parser.add_argument("--no-gpu", action="store_true", help="compare parameters and FLOPs on the meta device alone")
    parser.add_argument("--seconds", type=float, default=4, help="how long a profiled program runs")
    parser.add_argument("--keep", help="keep the reports of the profiles in this folder")
    parser.add_argument("--child", nargs=2, metavar=("MODEL", "PHASE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        run_child(*options.child, options.seconds)
        return
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    begin, good, out, skipped = time.perf_counter(), True, tables(), []
    with tempfile.TemporaryDirectory() as temporary:
        for name, phase in chosen(options):
            folder = pathlib.Path(temporary) / f"{name}-{phase}"
            folder.mkdir()
            try:
                good &= compare(options, folder, name, phase, out)
            except Exception as error:  # a model that this version of transformers lacks must not end the others
                skipped.append(f"{name} {phase}")
                print(f"{name}, {phase}: skipped: {type(error).__name__}: {str(error)[:400]}", file=sys.stderr, flush=True)
    for table in out.values():
        if table.rows:
            table.print()
    print(f"\n{time.perf_counter() - begin:.0f} s; skipped: {', '.join(skipped) or 'none'}")
    sys.exit(0 if good and len(skipped) < len(chosen(options)) else 1)


if __name__ == "__main__":
    main()
