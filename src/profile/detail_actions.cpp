// The action against a cause whose detail is known.
#include "profile/action_texts.hpp"

namespace roofline {
namespace {

/// Copies and waits for them have the same remedies.
constexpr ActionTexts readback_texts(const char* what) {
  return {
      what,
      "Compute on the GPU with what is copied, or do this less often; else copy into pinned memory (cudaHostAlloc) "
      "with cudaMemcpyAsync, and wait once when the values are needed.",
      "Compute on the GPU instead of copying (averaged weights: torch._foreach_lerp_; metrics: torch.bincount), or do "
      "this less often; else copy into pinned memory with non_blocking=True, and synchronise once.",
      "Compute in jit with what is copied, or do this less often; else call copy_to_host_async() first, and np.asarray "
      "when the values are needed.",
      "Compute on the GPU with what is copied, or do this less often; else copy into pinned memory: "
      "array.get(out=cupyx.empty_pinned(…), blocking=False)."};
}

constexpr ActionRow<CauseDetail> kDetailRows[] = {
    {CauseDetail::small_copies,
     {"GPU idle: many small copies instead of one",
      "Combine them in one contiguous pinned buffer, and send it as one cudaMemcpyAsync.",
      "Combine them on the host (torch.stack or torch.cat into one pinned tensor), then one copy: .to(device, "
      "non_blocking=True).",
      "Combine them on the host (np.stack), then one copy: jax.device_put.",
      "Combine them on the host (numpy.stack), then one copy: cupy.asarray."}},
    {CauseDetail::waited_copies,
     {"GPU idle: the host waits for copies from pinned memory",
      "Use cudaMemcpyAsync on another stream instead of cudaMemcpy, and wait with an event where the data is needed.",
      "The memory is pinned: use .to(device, non_blocking=True) without a synchronisation after it.", "",
      "The memory is pinned: use array.set(pinned, stream=…) on a non-blocking stream."}},
    {CauseDetail::readback, readback_texts("Copies from the GPU to pageable memory")},
    {CauseDetail::read_arrays, readback_texts("GPU idle: the host reads arrays back and waits for them")},
    {CauseDetail::unified_memory,
     {"Pages of unified memory migrate in the loop",
      "Prefetch before the kernel (cudaMemPrefetchAsync), set the location (cudaMemAdvise), or use cudaMalloc and "
      "copies.",
      "", "", "Use CuPy's default memory pool instead of malloc_managed, and cupy.asarray for inputs."}},
    {CauseDetail::host_memory,
     {"GPU idle: pinned host memory is allocated or freed in the loop",
      "Allocate or register it once before the loop (cudaHostAlloc, cudaHostRegister) and reuse it.",
      "Call pin_memory() once before the loop and reuse the buffer, or use DataLoader(pin_memory=True).", "",
      "Allocate it once with cupyx.empty_pinned(), and reuse it."}},
    {CauseDetail::memory_returns,
     {"GPU idle: memory is returned to the driver and reallocated in the loop",
      "Keep freed memory for the next step instead of cudaFree.",
      "Remove torch.cuda.empty_cache() from the loop (once after a peak is enough): PyTorch reuses freed memory "
      "without cudaFree and cudaMalloc.",
      "",
      "Remove free_all_blocks() from the loop (once after a peak is enough): CuPy's pool reuses freed memory without "
      "cudaFree and cudaMalloc."}},
    {CauseDetail::streams,
     {"GPU idle: streams or events are created in the loop",
      "Create streams and events once before the loop and reuse them.",
      "Create torch.cuda.Stream and torch.cuda.Event once before the loop and reuse them.", "",
      "Create cupy.cuda.Stream and cupy.cuda.Event once before the loop and reuse them."}},
    {CauseDetail::graphs,
     {"GPU idle: CUDA graphs are captured or instantiated in the loop",
      "Instantiate the graph once before the loop and launch it; change arguments with "
      "cudaGraphExecKernelNodeSetParams.",
      "Capture torch.cuda.CUDAGraph once before the loop; copy new inputs into its static tensors and call replay().",
      "", "Capture the graph once before the loop; copy new inputs into its arrays and call launch()."}},
    {CauseDetail::anomaly_mode,
     {"GPU idle: autograd's anomaly mode checks every gradient",
      "Remove torch.autograd.set_detect_anomaly(True); use it only to search for a NaN.", "", "", ""}},
    {CauseDetail::triton_compiler,
     {"GPU idle: Triton recompiles kernels",
      "Pass values that change as ordinary arguments, not as tl.constexpr; use do_not_specialize, and few block sizes.",
      "", "", ""}},
    {CauseDetail::numba_compiler,
     {"GPU idle: Numba recompiles functions",
      "Decorate the function once, outside the loop, with an explicit signature; pass the same types and array "
      "layouts.",
      "", "", ""}},
    {CauseDetail::nvrtc_compiler,
     {"GPU idle: CUDA C++ is recompiled (NVRTC)",
      "Compile once before the loop and keep the module (nvrtcCompileProgram, cuModuleLoadData).",
      "Compile once before the loop (load_inline, torch.cuda._compile_kernel) and keep the function.", "",
      "Build RawKernel and RawModule once before the loop; each new source or option compiles."}},
    {CauseDetail::cudnn_compiler,
     {"GPU idle: cuDNN recompiles kernels",
      "cuDNN compiles for each new shape: keep shapes fixed (pad), or keep execution plans by shape and reuse them.",
      "cuDNN compiles for each new shape: keep shapes fixed (pad; a KV cache of fixed length). For convolutions, "
      "disable torch.backends.cudnn.benchmark. For attention, use another backend: "
      "torch.nn.attention.sdpa_kernel(SDPBackend.FLASH_ATTENTION).",
      "cuDNN compiles for each new shape: pad inputs to a few sizes.", ""}},
    {CauseDetail::cpu_tensors,
     {"GPU idle: PyTorch computes on the CPU",
      "Compute on the GPU: no .cpu() before the arithmetic, and tensors created with device=\"cuda\"; else do it less "
      "often, or in another process.",
      "", "", ""}},
    {CauseDetail::made_on_host,
     {"GPU idle: the model creates tensors on the host and copies them",
      "Create them on the GPU (device=x.device); create constants once, in __init__ (register_buffer).", "", "", ""}},
    {CauseDetail::host_random,
     {"GPU idle: the host draws random numbers", "Draw them on the GPU (cuRAND), or in advance on another thread.",
      "Draw them on the GPU: torch.randn(…, device=\"cuda\"), torch.rand, torch.bernoulli.",
      "Draw them inside the jitted step: jax.random.", "Draw them on the GPU: cupy.random."}},
    {CauseDetail::host_picks,
     {"GPU idle: the host picks items at random, one by one, from a Python collection",
      "Keep the items in one array, and take a batch of it by one array of random indices.",
      "Keep the items in tensors (on the GPU, if they fit), one per field, and take a batch by one tensor of random "
      "indices: torch.randint, index_select.",
      "Keep the items in one device array, and index it with jax.random.randint inside the jitted step.",
      "Keep the items in one cupy array, and take a batch by one array of indices: cupy.random.randint."}},
    {CauseDetail::host_results,
     {"GPU idle: the host computes with results that it reads back",
      "Do this on the GPU, in the same stream; else do it less often.",
      "Do this on the GPU with tensors (topk, gather, where, masks) instead of .tolist(), .cpu() or .numpy(); else do "
      "it less often.",
      "Do this inside the jitted step (jax.lax.top_k, jnp.where, lax.scan); else do it less often.",
      "Do this on the GPU with cupy functions instead of .get() or cupy.asnumpy(); else do it less often."}},
    {CauseDetail::decompression,
     {"GPU idle: the launching process decompresses input data",
      "Decompress it on another thread, or once before the loop, or store it uncompressed.",
      "Load in worker processes: DataLoader(num_workers=8); or store it uncompressed (.npy, mmap_mode=\"r\"). Take an "
      "array out of np.load(\"x.npz\") once before the loop: each access decompresses it anew.",
      "Prefetch batches in the background, or store them uncompressed (.npy, mmap_mode=\"r\"). Take an array out of "
      "np.load(\"x.npz\") once before the loop: each access decompresses it anew.",
      "Decompress on another thread, or store it uncompressed (.npy, mmap_mode=\"r\"). Take an array out of "
      "np.load(\"x.npz\") once before the loop: each access decompresses it anew."}},
    {CauseDetail::mixed_precision,
     {"Arrays of single precision or small integers are computed in double precision",
      "If single precision is enough: make all operands float32 (dtype=, or astype() once, outside the loop).",
      "If single precision is enough: create the float64 tensor as float32 (dtype=torch.float32, or .float() once). "
      "Tensors from NumPy arrays and Python's math are float64.",
      "",
      "If single precision is enough: convert the float64 operand once, .astype(cupy.float32). Windows (cupy.hanning), "
      "linspace, fftfreq, random numbers and NumPy arrays are float64."}},
    {CauseDetail::host_gather,
     {"GPU idle: the host gathers rows of a table and copies them",
      "Keep the table on the GPU and read its rows there; if it does not fit, gather the next rows on another thread, "
      "into pinned memory.",
      "Keep the table or data set on the GPU and index it there (nn.Embedding on cuda); if it does not fit, gather in "
      "worker processes: DataLoader(num_workers=8, pin_memory=True).",
      "Keep the table on the GPU (jax.device_put once) and index it in the jitted step; if it does not fit, gather the "
      "next rows on another thread.",
      "Keep the table on the GPU (cupy.asarray once) and index it there; if it does not fit, gather the next rows on "
      "another thread, into pinned memory."}},
    {CauseDetail::workers_started,
     {"GPU idle: worker processes are restarted in the loop",
      "Start them once before the loop. Prepare what each of them needs (parsed files, indices) before they are "
      "forked.",
      "Use DataLoader(persistent_workers=True), one iterator for many epochs, or longer epochs. Prepare what each "
      "worker needs (parsed files, indices) once in the parent process, before the workers are forked.",
      "", ""}},
    {CauseDetail::busy_cpus,
     {"GPU idle: workers that prepare input data wait for CPUs",
      "More workers have no CPU to run on. Make their work cheaper, do it on the GPU, or run on more CPUs.",
      "More workers have no CPU to run on. Make the work of an item cheaper, do it on the GPU (NVIDIA DALI, "
      "torchvision v2), store its result once, or run on more CPUs.",
      "", ""}},
    {CauseDetail::deep_copies,
     {"GPU idle: the host makes deep copies of objects", "Copy only the arrays that change, into reused buffers.",
      "Instead of copy.deepcopy: keep one copy, and torch._foreach_copy_(copies, parameters) under torch.no_grad(); do "
      "it every N steps, or torch.optim.swa_utils.AveragedModel.",
      "", ""}},
    {CauseDetail::host_function,
     {"GPU idle: a stream waits for a function on the host",
      "Compute on the GPU, or in advance on another thread; a host function (cudaLaunchHostFunc) blocks its stream.",
      "", "", ""}},
    {CauseDetail::queued_work,
     {"GPU idle although its next work is queued",
      "Look for other programs on the GPU (nvidia-smi), which take turns with this one; run alone.", "", "", ""}},
    {CauseDetail::channels_first,
     {"Convolutions of tensors in NCHW: cuDNN converts them to NHWC and back",
      "Keep tensors in NHWC (CUDNN_TENSOR_NHWC) in the whole network.",
      "Keep model and input in channels last: model.to(memory_format=torch.channels_last), and the same for its input. "
      "Batch normalisation is faster in it, too.",
      "Use NHWC in the whole model (dimension_numbers of lax.conv_general_dilated, Flax's default).", ""}},
    {CauseDetail::item_loop,
     {"GPU idle: a loop launches short kernels one by one",
      "Use one launch for all items (a batch dimension of the grid). If iterations depend on each other, use a CUDA "
      "graph.",
      "One call for all items: a batch dimension, torch._foreach_* for lists of tensors, torch.func.vmap; where an "
      "iteration needs the one before: torch.compile(mode=\"reduce-overhead\") or torch.cuda.CUDAGraph.",
      "",
      "One operation for all items: an array with a batch axis; where an iteration needs the one before: a CUDA "
      "graph."}},
    {CauseDetail::grouped_loop,
     {"GPU idle: a loop reads the size of each group back and launches short kernels for it",
      "Handle all groups in one launch: sort by group once, and give a grouped product or a kernel the groups' "
      "offsets, which stay on the GPU.",
      "Handle all groups in one call: sort by group once (argsort, bincount, cumsum), then a grouped product "
      "(torch._grouped_mm, or bmm with a fixed capacity); torch.where, nonzero and boolean masks wait for the GPU.",
      "",
      "Handle all groups in one call: sort by group once (argsort, bincount), then one operation with the groups' "
      "offsets; where, nonzero and boolean masks wait for the GPU."}},
    {CauseDetail::collective_loop,
     {"GPU idle: a loop starts a collective for each tensor",
      "One collective for all: copy the tensors into one buffer, or put ncclGroupStart and ncclGroupEnd around the "
      "loop.",
      "One collective for all: DistributedDataParallel reduces gradients in buckets while backward goes on; else one "
      "all_reduce of a flat tensor, or torch.distributed._coalescing_manager around the loop.",
      "", "One collective for all: copy the arrays into one buffer, or use groupStart and groupEnd around the loop."}},
    {CauseDetail::recurrent_cells,
     {"GPU idle: a loop steps a recurrent cell, kernel by kernel",
      "Give cuDNN the whole sequence in one call (cudnnRNNForward); else capture the loop in a CUDA graph.",
      "Give the whole sequence to nn.LSTM, nn.GRU or nn.RNN (cuDNN) instead of stepping the cell; where an output is "
      "the next input: torch.cuda.CUDAGraph or torch.compile(mode=\"reduce-overhead\").",
      "", ""}},
    {CauseDetail::eager_programs,
     {"GPU idle: operations are dispatched one by one outside of jax.jit",
      "Put all of them into one jax.jit, with donate_argnums for what is replaced: the whole update, or the step with "
      "its gradient.",
      "", "", ""}},
    {CauseDetail::kernel_loop,
     {"GPU idle: a loop in the compiled step launches its kernels one by one",
      "Fuse the loop's kernels, or capture it in a CUDA graph.", "",
      "Instead of lax.map, scan, fori_loop or while_loop: jax.vmap where iterations do not depend on each other, "
      "lax.associative_scan if the operation is associative; else scan(unroll=8), or more work per iteration.",
      ""}},
    {CauseDetail::subprocess,
     {"GPU idle: the host runs another program and waits for it",
      "Run it outside the loop or less often, do not wait for it (a thread), or call a library instead.", "", "", ""}},
    {CauseDetail::saved_state,
     {"GPU idle: the program saves its state",
      "Save less often, or in the background: copy to pinned memory, and write on another thread.",
      "Save less often, or in the background: torch.distributed.checkpoint.async_save, or copy to pinned memory and "
      "write on another thread.",
      "Save less often, or in the background: an asynchronous checkpoint (Orbax).", ""}},
    {CauseDetail::object_messages,
     {"GPU idle: the host serialises Python objects for other ranks",
      "Send tensors instead of objects, and less often.",
      "Send tensors (all_gather_into_tensor) instead of objects (all_gather_object), and less often.", "", ""}},
    {CauseDetail::shard_copies,
     {"GPU idle: the host prepares a collective of FSDP",
      "Use one unit per layer, so that the host prepares one layer's collective during another layer's kernels.",
      "Use one unit per layer: fully_shard(block) for each block before fully_shard(model). The host then prepares one "
      "layer's collective during another layer's kernels. If it already does, use a larger batch or fewer units.",
      "", ""}},
    {CauseDetail::requests,
     {"GPU idle: the host waits for requests",
      "No action in the program: the GPU has no work until the next request. More concurrent requests would use it.",
      "", "", ""}},
    {CauseDetail::answers,
     {"GPU idle: the host works on a request",
      "No action for the GPU, which mostly waits for requests. Less work here shortens the response time.", "", "",
      ""}},
    {CauseDetail::graph_launches,
     {"GPU idle: the host launches the next CUDA graph too late",
      "Launch graphs back to back: put several steps into one graph, or more work into each.", "", "", ""}},
    {CauseDetail::imports,
     {"GPU idle: Python imports modules",
      "One-time cost: find slow imports with python -X importtime, and import before the work begins.", "", "", ""}},
    {CauseDetail::sparse_build,
     {"A sparse matrix is built from its indices in each step, which sorts them",
      "Build it once before the loop while its indices stay the same; else sort them once and change the values only.",
      "Build it once before the loop while its indices stay the same (coalesce(), to_sparse_csr()), and pass it on; "
      "else aggregate without it: index_add_ or scatter_add_.",
      "Build it once before the loop while its indices stay the same (BCOO.sort_indices, sum_duplicates); else "
      "jax.ops.segment_sum.",
      "Build it once before the loop while its indices stay the same (coo_matrix.tocsr(), sum_duplicates()), and "
      "change only .data."}},
    {CauseDetail::equal_sorts,
     {"Each step sorts data of the same size several times",
      "Sort once before the loop where the keys stay the same; else fewer or shorter keys (a selection first, 32 "
      "bits).",
      "Sort once before the loop where the keys stay the same (edges of a graph, indices), and keep the order; else "
      "sort fewer or shorter keys: torch.topk first, int32.",
      "Sort once before the loop where the keys stay the same, and keep the order (argsort); else fewer or shorter "
      "keys: jax.lax.top_k first, int32.",
      "Sort once before the loop where the keys stay the same, and keep the order (argsort); else fewer or shorter "
      "keys: cupy.partition first, int32."}},
    {CauseDetail::repeated_values,
     {"Values are replicated in memory for an operation that could broadcast them",
      "Let the operation index one copy several times (stride 0), instead of writing several.",
      "Broadcast instead: scaled_dot_product_attention(enable_gqa=True) for heads that share keys and values, else a "
      "dimension of size 1 or expand(), which copies nothing.",
      "Broadcast instead: a dimension of size 1, jnp.einsum or jnp.broadcast_to; jax.nn.dot_product_attention takes "
      "fewer key heads than query heads.",
      "Broadcast instead: an axis of size 1 or cupy.broadcast_to, which copies nothing."}},
    {CauseDetail::grown_tensors,
     {"A tensor is grown by concatenation, which copies all of it each time",
      "Allocate for the largest length once, and write what is new in place.",
      "Allocate for the largest length once, and write what is new in place: x[:, position] = new, or index_copy_; "
      "read a slice of it.",
      "Allocate for the largest length once, and write what is new with jax.lax.dynamic_update_slice, in a jit with "
      "donate_argnums.",
      "Allocate for the largest length once, and write what is new in place: x[position] = new; read a slice of it."}},
    {CauseDetail::permutations,
     {"A permutation of all indices is drawn, but only a few of them are used",
      "Draw as many random indices as are used.",
      "Draw indices with torch.randint(n, (k,), device=...). To draw each once, make one torch.randperm per epoch and "
      "take slices of it.",
      "Draw indices with jax.random.randint, or make one permutation per epoch and take slices of it.",
      "Draw indices with cupy.random.randint, or make one permutation per epoch and take slices of it."}},
    {CauseDetail::long_sums,
     {"Reductions with too few blocks to fill the GPU",
      "Split each reduction: partial results of many blocks and a second kernel, or cub::DeviceReduce.",
      "Reduce in two stages, so that more blocks work: x.view(k, -1).sum(1).sum(0), or a matrix product.",
      "Reduce in two stages, so that more blocks work (reshape, sum, sum), or use a matrix product.",
      "Reduce in two stages (reshape, sum, sum), along another axis, or by a matrix product; CUPY_ACCELERATORS=cub."}},
    {CauseDetail::optimizer_passes,
     {"The optimizer reads and writes all parameters several times", "Update all parameters in one kernel.",
      "Pass fused=True to the optimizer.", "Call the optimizer's update inside the jitted step.", ""}},
    {CauseDetail::replicated_updates,
     {"All ranks compute the same update of all parameters",
      "Divide the parameters among the ranks by the cost of their updates, then exchange the updated ones.",
      "Divide the parameters among the ranks by the cost of their updates; each rank updates its own, then broadcast "
      "or all_gather them (ZeroRedundancyOptimizer; Muon's distributed form).",
      "", ""}},
    {CauseDetail::dense_embedding,
     {"The optimizer updates every row of an embedding", "Update only the rows that the batch uses.",
      "Update only the rows that the batch uses: nn.Embedding(sparse=True), with torch.optim.SparseAdam, SGD or "
      "Adagrad; else fused=True, or a larger batch per update.",
      "Update only the rows that the batch uses (optax.lazy_adam, or gradients of the gathered rows).", ""}},
    {CauseDetail::default_stream,
     {"Work in the default stream keeps other streams from overlapping",
      "Launch it into the stream that needs it, or create the streams with cudaStreamNonBlocking and order them by "
      "events; or compile with --default-stream per-thread.",
      "", "", "Use cupy.cuda.Stream(non_blocking=True), and events between streams."}},
    {CauseDetail::own_grid,
     {"Grids are smaller than the GPU",
      "Launch enough blocks to fill the GPU: less work per block, a second dimension of the grid, or its long loop "
      "divided among blocks whose results a second kernel combines (split-K, flash-decoding).",
      "", "", ""}},
    {CauseDetail::cpu_collective,
     {"GPU idle: a collective runs on the CPU", "Use NCCL for data on GPUs.",
      "Use the NCCL group for CUDA tensors: no group of the gloo backend (or one of \"cpu:gloo,cuda:nccl\") and no "
      ".cpu() before the collective; keep gloo for control messages. DistributedDataParallel also overlaps it.",
      "", ""}},
    {CauseDetail::fewer_cpus,
     {"A rank may run on fewer CPUs than the others",
      "Let it run on as many CPUs as the others: see what sets its affinity (taskset, numactl, cpusets of the job, "
      "sched_setaffinity).",
      "Let it run on as many CPUs as the others: see what sets its affinity (os.sched_setaffinity, taskset, numactl, "
      "torchrun --numa-binding, cpusets of the job).",
      "", ""}},
    {CauseDetail::pipeline_stages,
     {"Pipeline stages wait for each other",
      "Cut each batch into more micro-batches (1F1B or an interleaved schedule), and give every stage the same work.",
      "Cut each batch into more micro-batches (torch.distributed.pipelining: Schedule1F1B, ScheduleInterleaved1F1B), "
      "and give every stage the same work; or use data parallelism if the model fits on one GPU.",
      "Cut each batch into more micro-batches, and give every stage the same work.", ""}},
    {CauseDetail::uneven_stages,
     {"Pipeline stages are unequal",
      "Balance the stages by their time, not by the number of layers: move layers from the longest stage to the "
      "others, and count embeddings, the output layer and the loss.",
      "Balance the stages by their time, not by the number of layers: move layers from the longest stage to the "
      "others, and count the embedding, the output layer and the loss; or split the output layer between the ranks.",
      "", ""}},
    {CauseDetail::unequal_tokens,
     {"A rank has more work than the others", "Give every rank the same work: equal shares of what is exchanged.",
      "Give every rank the same work: balance the routing of tokens to experts (auxiliary loss, a fresh bias, a "
      "capacity factor), or put a busy expert on several ranks.",
      "", ""}},
    {CauseDetail::uneven_updates,
     {"A rank updates more than the others",
      "Divide the updates among the ranks by their cost, not by their number: largest first, each to the rank with the "
      "least so far.",
      "Divide the parameters among the ranks by the cost of their updates, not by number: sort them by cost (m*m*n for "
      "Newton-Schulz of an m x n matrix, m <= n), and give each, largest first, to the rank with the least so far.",
      "", ""}},
    {CauseDetail::split_sequence,
     {"A rank has more of the attention than the others",
      "Split the sequence so that each rank has a part from its start and one from its end: of 2 n chunks for n ranks, "
      "rank i gets the chunks i and 2 n - 1 - i.",
      "Give each rank a part from the start and one from the end of the sequence (zig-zag): of 2*world chunks, rank i "
      "gets i and 2*world-1-i, with their positions and masks. torch.distributed.tensor.experimental.context_parallel "
      "does so for causal attention.",
      "", ""}},
    {CauseDetail::repeated_meetings,
     {"Ranks take turns arriving last",
      "Run it once per step: add its values up on the GPU first. Ranks then wait for each other once per step, and "
      "their work per step is equal.",
      "All-reduce once per step: first add its values up on the GPU over all micro-batches (count tokens before the "
      "first forward pass), or reduce them with the gradients. Ranks then meet once, with equal work per step.",
      "", ""}},
    {CauseDetail::lone_work,
     {"A rank does work that the others do not",
      "Divide this work among all ranks, do it less often, or do it in another process.",
      "Divide it among all ranks (a validation: a part of the data on each, then one all_reduce of the sums), do it "
      "less often, or do it in another process, from a checkpoint.",
      "", ""}},
    {CauseDetail::dependent_messages,
     {"Many small collectives, limited by latency",
      "Use fewer and larger ones: more work per step and rank, no split of layers that are this small, and a CUDA "
      "graph of the step.",
      "Use fewer and larger ones: a larger batch per rank, no split of layers that are this small (replicas instead; "
      "or one all-reduce for two linears: by columns, then by rows); then a CUDA graph of the step.",
      "Use fewer and larger ones: a larger batch per device, and no sharding of layers that are this small.", ""}},
    {CauseDetail::batch_norm_messages,
     {"Many small collectives, limited by latency", "Use fewer and larger ones: statistics of each rank's own batch.",
      "Use fewer and larger ones: plain BatchNorm without convert_sync_batchnorm where a rank's batch is large enough "
      "for its statistics, or GroupNorm; else a larger batch per rank.",
      "", ""}},
    {CauseDetail::micro_batches,
     {"Gradients are reduced in every micro-batch of a step",
      "Add the gradients of all micro-batches, and reduce them once.",
      "Reduce once per update: model.no_sync() around all micro-batches but the last; in FSDP2 "
      "set_requires_gradient_sync(False).",
      "", ""}},
    {CauseDetail::exposed_transfers,
     {"Sends and receives without overlap",
      "Overlap them: send and receive on a stream of their own, and compute another micro-batch meanwhile; or cut the "
      "model where less is sent.",
      "Overlap them: isend and irecv (batch_isend_irecv) ahead, and compute another micro-batch meanwhile; or send "
      "less: bf16 activations, a cut where the model is narrow.",
      "", ""}},
    {CauseDetail::exposed_gathers,
     {"All-gathers without overlap",
      "Overlap it: gather the next part on a stream of its own while this one is computed; or gather less.",
      "Overlap them: gather the next layer's parameters during this layer's kernels (FSDP2's fully_shard prefetches; "
      "else async_op=True into a second buffer); or gather less: no reshard_after_forward, shards within a node only, "
      "a larger batch per rank.",
      "Let XLA overlap collectives (--xla_gpu_enable_latency_hiding_scheduler=true), or shard less.", ""}},
    {CauseDetail::exposed_scatters,
     {"Reduce-scatters without overlap",
      "Overlap it: reduce each part on a stream of its own as soon as its gradients are ready; or reduce less often.",
      "Overlap them: reduce each layer's gradients (async_op=True, FSDP2's fully_shard) during backward; or reduce "
      "less often: gradient accumulation, bf16 gradients, a larger batch per rank.",
      "Let XLA overlap collectives (--xla_gpu_enable_latency_hiding_scheduler=true), or reduce less often.", ""}},
    {CauseDetail::whole_shards,
     {"One collective holds the shards of the whole model",
      "Split it by layers, so that one layer's transfer overlaps another layer's kernels.",
      "Shard layer by layer: fully_shard(block) for each block before fully_shard(model), or an auto_wrap_policy in "
      "FullyShardedDataParallel; one layer's transfer then overlaps another layer's kernels.",
      "Let XLA overlap collectives (--xla_gpu_enable_latency_hiding_scheduler=true), or shard less.", ""}},
    {CauseDetail::split_layers,
     {"Activations of split layers are reduced without overlap",
      "Reduce less often: split one product by columns and the next by rows, so that two need one reduction; or split "
      "over fewer GPUs, and use replicas.",
      "Reduce less often: split one linear by columns and the next by rows (ColwiseParallel, RowwiseParallel), with "
      "one all-reduce for both; or overlap: two half batches in turn, torch._inductor.config._micro_pipeline_tp; or "
      "use replicas where the model fits on one GPU.",
      "Reduce less often: shard one product by columns and the next by rows; or use replicas where the model fits.",
      ""}},
    {CauseDetail::gathered_shards,
     {"Whole tensors are gathered after the update",
      "Work on the own shard, and gather only where the whole tensor is needed.",
      "Work on the local shards: p.to_local() instead of p.full_tensor(), torch._foreach_lerp_ for averages; gather "
      "only to save or evaluate, or every N steps.",
      "Keep the arrays sharded, with the sharding of the parameters; gather only to save or evaluate.", ""}},
    {CauseDetail::gathered_heads,
     {"Queries, keys and values of all heads are gathered on every rank",
      "Keep the heads split between the ranks: attention needs no other rank's heads.",
      "Keep the heads split: ColwiseParallel() without output_layouts=Replicate() for q, k and v, RowwiseParallel() "
      "for the output, and view(…, -1, head_dim). Each rank then computes attention for its own heads, without "
      "gathers.",
      "Keep the heads sharded from the products to the output: attention needs no other device's heads.", ""}},
    {CauseDetail::widened_messages,
     {"Values are converted to single precision for a collective, then converted back",
      "Send them in the type that they have before and after: half of the bytes, and no conversions. Keep single "
      "precision only for sums of so many ranks that half precision is not enough.",
      "Send them in their original 16-bit type, without .float() before the collective: half the bytes, and no "
      "conversions. Keep single precision only where bf16 sums over that many ranks are too inaccurate.",
      "", ""}},
    {CauseDetail::wide_messages,
     {"Values are sent in single precision, but made or used in half precision",
      "Send them in the 16-bit type of the kernels before or after: half of the bytes, and fewer conversions.",
      "Convert before the exchange: x.to(torch.bfloat16), without .float() or type_as() on the results; half the "
      "bytes. Under autocast, layer norms and sums return float32. FSDP: "
      "MixedPrecisionPolicy(param_dtype=torch.bfloat16).",
      "Send them in bfloat16: convert before the exchange, not after it.", ""}},
    {CauseDetail::reduced_late,
     {"Data is sent first and reduced afterwards",
      "Reduce it (sum, mean, pool) on the rank that has it, and send the results; reduce-scatter or all-reduce in "
      "place of "
      "an all-gather and a sum.",
      "Reduce it (sum, mean, pool) on the rank that has it, and send the results: pool embeddings before the "
      "all-to-all; "
      "reduce_scatter_tensor or all_reduce in place of an all-gather and a sum.",
      "Reduce it on the device that has it, and send the results: psum or psum_scatter in place of all_gather and a "
      "sum.",
      ""}},
    {CauseDetail::unread_rows,
     {"All ranks gather a whole table, but read few of its rows",
      "Exchange the rows that are needed instead: all-to-all of their indices, then of the rows; or gather the table "
      "once while it does not change.",
      "Exchange the rows that are needed instead: all_to_all_single of their indices, then of the rows; or look up the "
      "own shard's rows, zero the others, and all_reduce. A table that does not change: gather it once.",
      "", ""}},
    {CauseDetail::unused_gradients,
     {"All rows of an embedding's gradient are reduced, most of them zeros",
      "Send only the rows that the batch uses, or divide the table among the ranks.",
      "Keep the table out of the all-reduce: divide its rows among the ranks and look them up by all_to_all (as "
      "TorchRec does), or all_gather the indices and gradients of the rows that the batch uses.",
      "Send only the rows that the batch uses (all_gather of indices and their gradients), or shard the table.", ""}},
    {CauseDetail::exposed_broadcasts,
     {"Broadcasts without overlap", "Broadcast only what changes; send constants once, before the loop.",
      "Broadcast only what changes: DistributedDataParallel(broadcast_buffers=False) sends no buffers in each forward "
      "pass; keep large constant data out of buffers, and send it once before the loop.",
      "Broadcast only what changes; send constants once, before the loop.", ""}},
    {CauseDetail::exposed_all_to_alls,
     {"All-to-alls without overlap", "Overlap it with other computation on another stream, or send less.",
      "Overlap them: async_op=True, and meanwhile compute parts that need no tokens from other ranks (shared experts, "
      "another micro-batch); or send less: a lower capacity factor or top-k, bf16 or fp8 tokens.",
      "Let XLA overlap collectives (--xla_gpu_enable_latency_hiding_scheduler=true), or send less.", ""}}};

}  // namespace

const ActionTexts* texts_of(CauseDetail detail) { return texts_in<CauseDetail>(kDetailRows, detail); }

}  // namespace roofline
