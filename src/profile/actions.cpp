#include "profile/actions.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "profile/causes/kernel_names.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

/// An empty action is that of CUDA.
struct CauseRow {
  SavingCause cause = SavingCause::kernel;
  const char* what = "";
  const char* cuda = "";
  const char* torch = "";
  const char* jax = "";
  const char* cupy = "";
};

constexpr CauseRow kCauseRows[] = {
    {SavingCause::data_loading, "GPU idle: the launching process prepares input data",
     "Prepare the next batch on another thread while the GPU runs.",
     "Load data in worker processes: DataLoader(num_workers=8, pin_memory=True, prefetch_factor=4).",
     "Prefetch batches in the background: grain, tf.data prefetch(), or jax.device_put one batch ahead.",
     "Prepare the next batch on another thread or process, and copy it on a cupy.cuda.Stream of its own."},
    {SavingCause::few_workers, "GPU idle: too few workers prepare input data",
     "Use more threads for input data, or prepare it on the GPU.",
     "Increase num_workers, or move decoding and augmentation to the GPU (NVIDIA DALI, torchvision v2).",
     "Increase the loader's worker count, or move augmentation into the jitted step."},
    {SavingCause::pageable_copy, "Copies from or to pageable memory",
     "Use pinned memory (cudaHostAlloc) and cudaMemcpyAsync on another stream.",
     "Use pinned memory: DataLoader(pin_memory=True), then .to(device, non_blocking=True).",
     "Transfer the next batch ahead of its use (jax.device_put), so that the copy overlaps.",
     "Copy from pinned memory: cupyx.empty_pinned(), then array.set(pinned, stream=…)."},
    {SavingCause::repeated_copy, "The same data is copied in every step",
     "Copy it once before the loop and keep it on the GPU.",
     "Move it to the GPU once before the loop: tensor.to(device) or register_buffer().",
     "Call jax.device_put once before the loop and pass the array on.",
     "Call cupy.asarray once before the loop and keep the array."},
    {SavingCause::repeated_cast, "Unchanged data is converted in every step",
     "Convert it once before the loop and keep the result.",
     "Convert it once: model.to(torch.bfloat16), or keep the cast tensor outside the loop.",
     "Convert it once outside the jitted step."},
    {SavingCause::item_sync, "GPU idle: the host reads a value back and waits for it",
     "Keep the value on the GPU; read it every N steps with an asynchronous copy.",
     "Keep the value on the GPU: no .item(), .cpu(), boolean mask or if on a tensor; read it every N steps.",
     "Keep the value on the device: no float(x) or np.asarray(x) in the loop; read it every N steps.",
     "Keep the value on the GPU: no float(x), .item(), .get() or if on an array; read it every N steps."},
    {SavingCause::synchronize, "GPU idle: the host synchronises in the loop",
     "Remove the synchronisation; order work with streams and events.",
     "Remove torch.cuda.synchronize() from the loop; time with torch.cuda.Event instead.",
     "Call block_until_ready() once after the loop, not in every step.",
     "Remove Stream.synchronize() from the loop; time with cupy.cuda.Event or cupyx.profiler.benchmark."},
    {SavingCause::logging_sync, "GPU idle: logging reads values back",
     "Log every N steps, from values that were copied asynchronously.",
     "Log every N steps; collect detached tensors and call .item() once per interval.",
     "Log every N steps; keep metrics as device arrays until then."},
    {SavingCause::gil, "GPU idle: another thread holds Python's interpreter lock",
     "Move the other thread's work into a process.",
     "Move the other thread's work into a process: multiprocessing, or DataLoader workers.",
     "Move the other thread's work into a process: multiprocessing."},
    {SavingCause::tiny_kernels, "GPU idle: kernels end before the next one is launched",
     "Capture the step in a CUDA graph, or merge small kernels.",
     "Use torch.compile(mode=\"reduce-overhead\"), or capture the step in torch.cuda.CUDAGraph.",
     "Put the whole step into one jax.jit; use lax.scan for inner loops.",
     "Merge elementwise operations with cupy.fuse or an ElementwiseKernel, or capture the step in a CUDA graph."},
    {SavingCause::unfused_attention, "Attention as separate kernels",
     "Use a fused attention kernel (cuDNN, FlashAttention).", "Use torch.nn.functional.scaled_dot_product_attention.",
     "Use jax.nn.dot_product_attention(implementation=\"cudnn\")."},
    {SavingCause::masked_attention, "Attention with its mask as a tensor",
     "If the mask is causal, use the kernel's causal mode, which skips half of the work.",
     "If the mask is causal, pass is_causal=True without attn_mask, which skips half of the work. For other masks, "
     "flex_attention with a block mask skips what is masked."},
    {SavingCause::unfused_optimizer, "Parameters are updated one by one", "Update all parameters in one kernel.",
     "Pass fused=True (or foreach=True) to the optimizer; in updates of your own (averages, clipping) use "
     "torch._foreach_mul_, torch._foreach_lerp_ and the like on lists of parameters.",
     "Call the optimizer's update inside the jitted step."},
    {SavingCause::allocation, "GPU idle: memory is allocated or freed in the loop",
     "Allocate once before the loop, or use a memory pool (cudaMallocAsync).",
     "Remove torch.cuda.empty_cache(); set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.",
     "Donate buffers (jax.jit(donate_argnums=…)) and keep preallocation on.",
     "Keep CuPy's memory pool (no free_all_blocks() in the loop), or write into existing arrays with out=…."},
    {SavingCause::recompilation, "GPU idle: code is recompiled",
     "Compile before the loop (cuModuleLoad, nvrtc) and keep the module.",
     "Avoid new shapes: pad inputs, or torch.compile(dynamic=True), mark_dynamic; TORCH_LOGS=recompiles names the "
     "reason.",
     "Call jax.jit once, outside the loop, and avoid new shapes: pad inputs to a few sizes. A static argument "
     "(static_argnums) compiles for each value: pass what changes as an array.",
     "Build ElementwiseKernel, RawKernel and RawModule once before the loop; each new source or type compiles."},
    {SavingCause::checkpointing, "Backward repeats the forward pass (gradient checkpointing)",
     "Keep activations where memory allows.",
     "Checkpoint fewer modules, or use selective checkpointing, where memory allows.",
     "Use a less strict jax.checkpoint policy where memory allows."},
    {SavingCause::no_tf32, "fp32 matrix products without tensor cores",
     "Allow TF32: cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH), or use bf16.",
     "Call torch.set_float32_matmul_precision(\"high\"), or use autocast with bfloat16.",
     "Set jax_default_matmul_precision=\"tensorfloat32\", or use bfloat16."},
    {SavingCause::double_precision, "Matrix products in double precision",
     "If single precision is enough: float instead of double (sgemm, TF32) for these matrices.",
     "If single precision is enough: .float() or torch.set_default_dtype(torch.float32). NumPy arrays are float64 by "
     "default: convert them with .astype(np.float32).",
     "If single precision is enough: jax_enable_x64=False, or .astype(jnp.float32).",
     "If single precision is enough: .astype(cupy.float32); NumPy arrays are float64."},
    {SavingCause::unaligned_product, "Products of matrices with unaligned rows",
     "Pad the dimensions and leading dimensions to a multiple of 16 bytes (8 values in bf16 or fp16, 4 in fp32).",
     "Pad the dimensions (layer widths, vocabulary, batch) to a multiple of 8 in bf16 or fp16, of 4 in TF32.", "", ""},
    {SavingCause::indexed_sum, "Sums by index (scatter-add) sort the indices first",
     "Add with atomics (atomicAdd) instead of sorting, or sort once where the indices do not change.",
     "If torch.use_deterministic_algorithms(True) is set, remove it: index_add_ and scatter_add_ then use atomics. "
     "Read rows with "
     "torch.index_select, gather or F.embedding, not x[index], whose gradient sorts. If results must be deterministic, "
     "sort the indices once and use torch.segment_reduce.",
     "", ""},
    {SavingCause::full_sort, "All values are sorted, but only a few of them are used",
     "Select instead of sorting: a partial sort (cub::DeviceTopK, radix select), or sort what a threshold leaves.",
     "Use torch.topk or torch.kthvalue where only some values are needed.", "Use jax.lax.top_k or jnp.partition.",
     "Use cupy.partition or cupy.argpartition."},
    {SavingCause::unused_results, "Most of a matrix product's result is not used",
     "Compute only the rows and columns of the product that are used.",
     "Slice before the product: x[:, -1] before the layer that computes the logits (transformers: "
     "logits_to_keep=1), or multiply only by the rows of its weight that are needed.",
     "Slice before the product: x[:, -1] before the layer that computes the logits.", ""},
    {SavingCause::one_hot, "Indices are expanded to one-hot vectors for a product",
     "Read the rows by their indices instead of multiplying with one-hot vectors.",
     "Use the indices: F.embedding(indices, weight) instead of F.one_hot(indices) @ weight; F.cross_entropy with class "
     "indices instead of one-hot targets.",
     "Use the indices: weight[indices] (jnp.take) instead of jax.nn.one_hot(indices) @ weight.", ""},
    {SavingCause::padding, "Kernels compute on padding",
     "Batch rows of similar length and pad to the longest of a batch, or concatenate the rows and pass their offsets.",
     "Sort or bucket rows by length, and pad each batch to its longest row (DataCollatorWithPadding, "
     "pad_to_multiple_of=8); or pack rows: flash_attn_varlen_func, torch.nested.",
     "Bucket rows by length and pad to a few lengths, one compilation each; or pack several rows into one, with "
     "segment ids in the mask.",
     "Sort rows by length and pad each batch to its longest row, or concatenate the rows and pass their offsets."},
    {SavingCause::fft_length, "Fourier transforms of an unfavourable length",
     "Pad to a length without prime factors above 7 (for a convolution the result is the same).",
     "Pad to a length without prime factors above 7: scipy.fft.next_fast_len, torch.fft.rfft(x, n=…).",
     "Pad to a length without prime factors above 7: scipy.fft.next_fast_len, jnp.fft.rfft(x, n=…).",
     "Pad to a length without prime factors above 7: cupyx.scipy.fft.next_fast_len, cupy.fft.rfft(x, n=…)."},
    {SavingCause::layout_copy, "Tensors are copied to change their layout",
     "Keep one layout in the whole program, or read the strided data in the kernel that uses it.",
     "Keep one layout: memory_format=torch.channels_last for model and inputs, operators that accept strided tensors "
     "without .contiguous(); or fuse the copy (torch.compile).",
     "Choose a layout that every operation uses (NHWC, dimension numbers), so that XLA needs no transposes.",
     "Keep one memory order (order=\"C\" or \"F\"), or fuse the transpose into the kernel that uses it."},
    {SavingCause::small_batch, "Grids are smaller than the GPU",
     "Batch more work per launch, or run independent work on other streams.",
     "Increase batch_size, or run several requests in one batch.", "Increase the batch size, or use jax.vmap."},
    {SavingCause::wait_disk, "GPU idle: the host waits for a disk",
     "Read ahead on another thread, or keep the data in memory or on local NVMe.",
     "Read in worker processes (DataLoader(num_workers=8, prefetch_factor=4)), or cache the data set in memory.", ""},
    {SavingCause::wait_network, "GPU idle: the host waits for the network",
     "Request the next data on another thread before it is needed.",
     "Fetch in worker processes (DataLoader(num_workers=8, prefetch_factor=4)), or cache locally.", ""},
    {SavingCause::wait_queue, "GPU idle: the host waits for a queue", "Use more producers, or a deeper queue.",
     "Use more producers: a higher num_workers or prefetch_factor.", ""},
    {SavingCause::wait_lock, "GPU idle: the host waits for a lock",
     "Hold the lock for a shorter time: do the work before taking it, or give each thread its own data.", "", ""},
    {SavingCause::sleep, "GPU idle: the host sleeps", "Remove the sleep, or wait for the event itself.", "", ""},
    {SavingCause::slow_steps, "Some steps take much longer than the others",
     "Do this less often, or in the background: on another thread or in another process.",
     "Do this less often, or in the background: another thread or process, torch.distributed.checkpoint.async_save.",
     "Do this less often, or in the background: another thread or process, an asynchronous checkpoint (Orbax)."},
    {SavingCause::host_python, "GPU idle: the host runs Python code",
     "Speed this code up, or move it to another process.",
     "Vectorise this code, do it less often, or move it to another process.",
     "Move this code into the jitted step, or into another process."},
    {SavingCause::host_native, "GPU idle: the host runs native code",
     "Speed this code up, or run it on another thread.",
     "Do this on the GPU with PyTorch, use a faster routine, or run it in another thread or process.",
     "Do this with jax.numpy inside the jitted step, or in another process.",
     "Do this on the GPU with CuPy, use a faster routine, or run it on another thread."},
    {SavingCause::profiler_on, "GPU idle: the program's own profiler records every operation",
     "Switch the profiler off, or let it record a few steps only.",
     "Take torch.profiler out of the loop, or record few steps: schedule(wait=…, warmup=1, active=3, repeat=1), "
     "without with_stack, record_shapes and profile_memory.",
     ""},
    {SavingCause::module_load, "GPU idle: CUDA modules are loaded",
     "One-time cost: load eagerly (CUDA_MODULE_LOADING=EAGER), or warm up first.", "", ""},
    {SavingCause::launch_rate, "GPU idle: the host launches too slowly",
     "Use a CUDA graph, fused kernels or larger batches.",
     "Use torch.compile(mode=\"reduce-overhead\"), a CUDA graph, or larger batches.",
     "Put the whole step into one jax.jit.",
     "Merge operations with cupy.fuse, capture the step in a CUDA graph, or use larger arrays."},
    {SavingCause::fusion, "Memory-bound kernels in sequence",
     "Fuse them, so that intermediate results stay in registers.", "Fuse them: torch.compile, or a Triton kernel.",
     "Put them into one jax.jit, so that XLA fuses them.",
     "Fuse them: cupy.fuse, or an ElementwiseKernel or ReductionKernel."},
    {SavingCause::kernel, "A kernel below its roof",
     "Compare with a library kernel of the same shape, or tune its tile and launch configuration.", "", ""},
    {SavingCause::memory_growth, "Memory in use grows from step to step",
     "Free what each step allocates, or allocate once before the loop and reuse it.",
     "Keep no tensors of earlier steps: bound caches (lru_cache) and lists; append loss.detach() or loss.item(), and "
     "use torch.no_grad() for evaluation.",
     "Keep no arrays of earlier steps: store float(x) or np.asarray(x) of what is logged, every N steps.",
     "Keep no arrays of earlier steps: store array.get() of what is needed, or write into one array."},
    {SavingCause::fragmentation, "Much more GPU memory is reserved than allocated",
     "Use cudaMallocAsync with a release threshold, or blocks of a few fixed sizes.",
     "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, and pad or bucket inputs to a few shapes; "
     "torch.cuda.empty_cache() once after a peak.",
     "", "Free the pool once after a peak: cupy.get_default_memory_pool().free_all_blocks(); use few array sizes."},
    {SavingCause::out_of_memory, "Out of GPU memory",
     "Free what is no longer used, or process less at once; begin with the largest lines.",
     "Reduce the batch, checkpoint activations (torch.utils.checkpoint) or use bf16; begin with the largest lines.",
     "Reduce the batch, use jax.checkpoint, or donate buffers (jax.jit(donate_argnums=…)).",
     "Process smaller parts, or free unused arrays first (del array)."},
    {SavingCause::host_memory_growth, "Host memory grows from step to step",
     "Free what each step allocates; bound queues, caches and logs.",
     "Keep no tensors or arrays of earlier steps: bound caches, queues and logs, or write them to a file.", "", ""},
    {SavingCause::copies, "Copies without overlap", "Overlap the copies with kernels on another stream.",
     "Copy on another stream: torch.cuda.Stream and non_blocking=True.",
     "Transfer the next batch ahead of its use (jax.device_put).",
     "Copy on another stream: cupy.cuda.Stream(non_blocking=True) and pinned memory."},
    {SavingCause::between_kernels, "GPU idle: gaps between queued kernels",
     "Fuse small kernels; a CUDA graph shortens the gaps.",
     "Fuse small kernels (torch.compile); a CUDA graph shortens the gaps.",
     "Put the kernels into one jax.jit, so that XLA fuses them.", "Fuse small kernels: cupy.fuse or a RawKernel."},
    {SavingCause::late_stream, "GPU idle: a stream waits for another one",
     "Find the event in the timeline; launch the awaited work earlier.", "", ""},
    {SavingCause::late_rank, "A rank arrives last at the collectives",
     "Look in the timeline for what its host does before the collective, and give every rank the same work.", "", ""},
    {SavingCause::slow_gpu, "The same kernels take longer on one GPU",
     "Look for other programs on it (nvidia-smi), compare clocks, power limit and temperature (nvidia-smi -q -d "
     "CLOCK,POWER,PERFORMANCE), run roofline calibrate --device all, and replace the GPU or node in the job.",
     "", ""},
    {SavingCause::unequal_work, "A rank has more work than the others",
     "Give every rank the same work: equal shares of the data, balanced stages.",
     "Give every rank the same work: equal batch sizes, and samples bucketed by length in the DistributedSampler.", ""},
    {SavingCause::serial_part, "A rank works alone while the others wait",
     "Divide this work among the ranks, or overlap it with theirs.", "", ""},
    {SavingCause::uneven_ranks, "Ranks take turns arriving last",
     "Balance each step: bucket samples by length, pin every process to its own cores, and synchronise less often.",
     "Balance each step: bucket samples by length, pin every process to its own cores (torchrun --numa-binding), and "
     "synchronise less often (gradient accumulation with no_sync()).",
     ""},
    {SavingCause::uneven_hosts, "Ranks take turns arriving last, because their hosts launch at different times",
     "Shorten what the hosts do between launches (see GPU idle), give every process CPUs of its own, and synchronise "
     "less often: fewer collectives in a step.",
     "Shorten what the hosts do between launches (see GPU idle), give every process cores of its own (torchrun "
     "--numa-binding), and synchronise less often: fewer collectives in a step, no_sync() while accumulating.",
     ""},
    {SavingCause::barrier, "GPU idle: the host waits for all ranks at a barrier",
     "Remove the barrier from the loop: collectives synchronise the ranks that need it.",
     "Remove dist.barrier() from the loop: collectives synchronise the ranks that need it.", ""},
    {SavingCause::exposed_communication, "Collectives without overlap",
     "Start each collective as soon as its data is ready, on a stream of its own, and compute meanwhile.",
     "Overlap it: DistributedDataParallel with larger bucket_cap_mb and gradient_as_bucket_view=True; or transfer "
     "less: no_sync() while accumulating, bf16 gradients (bf16_compress_hook), a larger batch per rank.",
     "Let XLA overlap collectives (--xla_gpu_enable_latency_hiding_scheduler=true), or transfer less."},
    {SavingCause::small_messages, "Many small collectives, limited by latency",
     "Merge them: one collective on one contiguous buffer, or ncclGroupStart and ncclGroupEnd around them.",
     "Merge them: a larger bucket_cap_mb, or one all_reduce of a flat tensor; torch.distributed._coalescing_manager "
     "for collectives of one kind.",
     "Merge them: --xla_gpu_all_reduce_combine_threshold_bytes."},
    {SavingCause::slow_link, "Collectives do not use NVLink",
     "See with NCCL_DEBUG=INFO which transport NCCL chooses: it should be P2P or NVLS. Remove NCCL_P2P_DISABLE and "
     "NCCL_P2P_LEVEL from the environment and from nccl.conf, and check nvidia-smi topo -p2p r and the fabric manager.",
     "", ""},
    {SavingCause::shared_gpu, "GPU idle: its rank runs kernels on another rank's GPU",
     "Let each process use its own GPU only: cudaSetDevice(local rank) before anything is allocated.",
     "Let each rank use its own GPU only: torch.cuda.set_device(int(os.environ[\"LOCAL_RANK\"])) first, and this "
     "device instead of \"cuda:0\" for every model and tensor.",
     "Let each process use its own GPU only: jax.distributed.initialize(local_device_ids=…).",
     "Let each process use its own GPU only: cupy.cuda.Device(local_rank).use() before anything is allocated."},
    {SavingCause::new_communicators, "GPU idle: a communicator is created in the loop",
     "Create it once before the loop (ncclCommInitRank, ncclCommSplit) and reuse it.",
     "Create the group once at start-up (dist.new_group) and reuse it; if all ranks are members, use the default "
     "group. "
     "Destroy it after the loop.",
     "", "Create the NcclCommunicator once before the loop and reuse it."},
    {SavingCause::communication_hook, "Kernels of a communication hook, which compresses gradients",
     "Reduce gradients without compression where the link is fast.",
     "Remove register_comm_hook() where the link is fast (NVLink): plain all-reduces overlap the backward pass. Else "
     "use bf16_compress_hook, or a hook of lower rank.",
     ""},
    {SavingCause::unknown_idle, "GPU idle without a known cause",
     "No action: the recording does not show the cause. The timeline shows the gaps.", "", ""}};

/// Instead of the row of their cause. An empty action is that of CUDA.
struct DetailRow {
  CauseDetail detail = CauseDetail::none;
  const char* what = "";
  const char* cuda = "";
  const char* torch = "";
  const char* jax = "";
  const char* cupy = "";
};

constexpr DetailRow kDetailRows[] = {
    {CauseDetail::small_copies, "GPU idle: many small copies instead of one",
     "Combine them in one contiguous pinned buffer, and send it as one cudaMemcpyAsync.",
     "Combine them on the host (torch.stack or torch.cat into one pinned tensor), then one copy: .to(device, "
     "non_blocking=True).",
     "Combine them on the host (np.stack), then one copy: jax.device_put.",
     "Combine them on the host (numpy.stack), then one copy: cupy.asarray."},
    {CauseDetail::waited_copies, "GPU idle: the host waits for copies from pinned memory",
     "Use cudaMemcpyAsync on another stream instead of cudaMemcpy, and wait with an event where the data is needed.",
     "The memory is pinned: use .to(device, non_blocking=True) without a synchronisation after it.", "",
     "The memory is pinned: use array.set(pinned, stream=…) on a non-blocking stream."},
    {CauseDetail::readback, "Copies from the GPU to pageable memory",
     "Compute on the GPU with what is copied, or do this less often; else copy into pinned memory (cudaHostAlloc) with "
     "cudaMemcpyAsync, and wait once when the values are needed.",
     "Compute on the GPU instead of copying (averaged weights: torch._foreach_lerp_; metrics: torch.bincount), or do "
     "this less often; else copy into pinned memory with non_blocking=True, and synchronise once.",
     "Compute in jit with what is copied, or do this less often; else call copy_to_host_async() first, and np.asarray "
     "when the values are needed.",
     "Compute on the GPU with what is copied, or do this less often; else copy into pinned memory: "
     "array.get(out=cupyx.empty_pinned(…), blocking=False)."},
    {CauseDetail::unified_memory, "Pages of unified memory migrate in the loop",
     "Prefetch before the kernel (cudaMemPrefetchAsync), set the location (cudaMemAdvise), or use cudaMalloc and "
     "copies.",
     "", "", "Use CuPy's default memory pool instead of malloc_managed, and cupy.asarray for inputs."},
    {CauseDetail::host_memory, "GPU idle: pinned host memory is allocated or freed in the loop",
     "Allocate or register it once before the loop (cudaHostAlloc, cudaHostRegister) and reuse it.",
     "Call pin_memory() once before the loop and reuse the buffer, or use DataLoader(pin_memory=True).", "",
     "Allocate it once with cupyx.empty_pinned(), and reuse it."},
    {CauseDetail::memory_returns, "GPU idle: memory is returned to the driver and reallocated in the loop",
     "Keep freed memory for the next step instead of cudaFree.",
     "Remove torch.cuda.empty_cache() from the loop (once after a peak is enough): PyTorch reuses freed memory without "
     "cudaFree and cudaMalloc.",
     "",
     "Remove free_all_blocks() from the loop (once after a peak is enough): CuPy's pool reuses freed memory without "
     "cudaFree and cudaMalloc."},
    {CauseDetail::streams, "GPU idle: streams or events are created in the loop",
     "Create streams and events once before the loop and reuse them.",
     "Create torch.cuda.Stream and torch.cuda.Event once before the loop and reuse them.", "",
     "Create cupy.cuda.Stream and cupy.cuda.Event once before the loop and reuse them."},
    {CauseDetail::graphs, "GPU idle: CUDA graphs are captured or instantiated in the loop",
     "Instantiate the graph once before the loop and launch it; change arguments with "
     "cudaGraphExecKernelNodeSetParams.",
     "Capture torch.cuda.CUDAGraph once before the loop; copy new inputs into its static tensors and call replay().",
     "", "Capture the graph once before the loop; copy new inputs into its arrays and call launch()."},
    {CauseDetail::anomaly_mode, "GPU idle: autograd's anomaly mode checks every gradient",
     "Remove torch.autograd.set_detect_anomaly(True); use it only to search for a NaN.", "", "", ""},
    {CauseDetail::triton_compiler, "GPU idle: Triton recompiles kernels",
     "Pass values that change as ordinary arguments, not as tl.constexpr; use do_not_specialize, and few block sizes.",
     "", "", ""},
    {CauseDetail::numba_compiler, "GPU idle: Numba recompiles functions",
     "Decorate the function once, outside the loop, with an explicit signature; pass the same types and array "
     "layouts.",
     "", "", ""},
    {CauseDetail::nvrtc_compiler, "GPU idle: CUDA C++ is recompiled (NVRTC)",
     "Compile once before the loop and keep the module (nvrtcCompileProgram, cuModuleLoadData).",
     "Compile once before the loop (load_inline, torch.cuda._compile_kernel) and keep the function.", "",
     "Build RawKernel and RawModule once before the loop; each new source or option compiles."},
    {CauseDetail::cudnn_compiler, "GPU idle: cuDNN recompiles kernels",
     "cuDNN compiles for each new shape: keep shapes fixed (pad), or keep execution plans by shape and reuse them.",
     "cuDNN compiles for each new shape: keep shapes fixed (pad; a KV cache of fixed length). For convolutions, "
     "disable "
     "torch.backends.cudnn.benchmark. For attention, use another backend: "
     "torch.nn.attention.sdpa_kernel(SDPBackend.FLASH_ATTENTION).",
     "cuDNN compiles for each new shape: pad inputs to a few sizes.", ""},
    {CauseDetail::cpu_tensors, "GPU idle: PyTorch computes on the CPU",
     "Compute on the GPU: no .cpu() before the arithmetic, and tensors created with device=\"cuda\"; else do it less "
     "often, or in another process.",
     "", "", ""},
    {CauseDetail::made_on_host, "GPU idle: the model creates tensors on the host and copies them",
     "Create them on the GPU (device=x.device); create constants once, in __init__ (register_buffer).", "", "", ""},
    {CauseDetail::host_random, "GPU idle: the host draws random numbers",
     "Draw them on the GPU (cuRAND), or in advance on another thread.",
     "Draw them on the GPU: torch.randn(…, device=\"cuda\"), torch.rand, torch.bernoulli.",
     "Draw them inside the jitted step: jax.random.", "Draw them on the GPU: cupy.random."},
    {CauseDetail::host_results, "GPU idle: the host computes with results that it reads back",
     "Do this on the GPU, in the same stream; else do it less often.",
     "Do this on the GPU with tensors (topk, gather, where, masks) instead of .tolist(), .cpu() or .numpy(); else do "
     "it less often.",
     "Do this inside the jitted step (jax.lax.top_k, jnp.where, lax.scan); else do it less often.",
     "Do this on the GPU with cupy functions instead of .get() or cupy.asnumpy(); else do it less often."},
    {CauseDetail::decompression, "GPU idle: the launching process decompresses input data",
     "Decompress it on another thread, or once before the loop, or store it uncompressed.",
     "Load in worker processes: DataLoader(num_workers=8); or store it uncompressed (.npy, mmap_mode=\"r\"). Take an "
     "array out of np.load(\"x.npz\") once before the loop: each access decompresses it anew.",
     "Prefetch batches in the background, or store them uncompressed (.npy, mmap_mode=\"r\"). Take an array out of "
     "np.load(\"x.npz\") once before the loop: each access decompresses it anew.",
     "Decompress on another thread, or store it uncompressed (.npy, mmap_mode=\"r\"). Take an array out of "
     "np.load(\"x.npz\") once before the loop: each access decompresses it anew."},
    {CauseDetail::mixed_precision, "Arrays of single precision are computed in double precision",
     "If single precision is enough: make both operands float.",
     "If single precision is enough: create the float64 tensor as float32 (dtype=torch.float32, or .float() once). "
     "Tensors from NumPy arrays and Python's math are float64.",
     "",
     "If single precision is enough: convert the float64 operand once, .astype(cupy.float32). Windows (cupy.hanning), "
     "linspace, random numbers and NumPy arrays are float64."},
    {CauseDetail::host_gather, "GPU idle: the host gathers rows of a table and copies them",
     "Keep the table on the GPU and read its rows there; if it does not fit, gather the next rows on another thread, "
     "into pinned memory.",
     "Keep the table or data set on the GPU and index it there (nn.Embedding on cuda); if it does not fit, gather in "
     "worker processes: DataLoader(num_workers=8, pin_memory=True).",
     "Keep the table on the GPU (jax.device_put once) and index it in the jitted step; if it does not fit, gather the "
     "next rows on another thread.",
     "Keep the table on the GPU (cupy.asarray once) and index it there; if it does not fit, gather the next rows on "
     "another thread, into pinned memory."},
    {CauseDetail::workers_started, "GPU idle: worker processes are restarted in the loop",
     "Start them once before the loop. Prepare what each of them needs (parsed files, indices) before they are forked.",
     "Use DataLoader(persistent_workers=True), one iterator for many epochs, or longer epochs. Prepare what each "
     "worker "
     "needs (parsed files, indices) once in the parent process, before the workers are forked.",
     "", ""},
    {CauseDetail::deep_copies, "GPU idle: the host makes deep copies of objects",
     "Copy only the arrays that change, into reused buffers.",
     "Instead of copy.deepcopy: keep one copy, and torch._foreach_copy_(copies, parameters) under torch.no_grad(); "
     "do it every N steps, or torch.optim.swa_utils.AveragedModel.",
     "", ""},
    {CauseDetail::host_function, "GPU idle: a stream waits for a function on the host",
     "Compute on the GPU, or in advance on another thread; a host function (cudaLaunchHostFunc) blocks its stream.", "",
     "", ""},
    {CauseDetail::channels_first, "Convolutions of tensors in NCHW: cuDNN converts them to NHWC and back",
     "Keep tensors in NHWC (CUDNN_TENSOR_NHWC) in the whole network.",
     "Keep model and input in channels last: model.to(memory_format=torch.channels_last), and the same for its input. "
     "Batch normalisation is faster in it, too.",
     "Use NHWC in the whole model (dimension_numbers of lax.conv_general_dilated, Flax's default).", ""},
    {CauseDetail::item_loop, "GPU idle: a loop launches short kernels one by one",
     "Use one launch for all items (a batch dimension of the grid). If iterations depend on each other, use a CUDA "
     "graph.",
     "One call for all items: a batch dimension, torch._foreach_* for lists of tensors, torch.func.vmap; where an "
     "iteration needs the one before: torch.compile(mode=\"reduce-overhead\") or torch.cuda.CUDAGraph.",
     "",
     "One operation for all items: an array with a batch axis; where an iteration needs the one before: a CUDA graph."},
    {CauseDetail::grouped_loop, "GPU idle: a loop reads the size of each group back and launches short kernels for it",
     "Handle all groups in one launch: sort by group once, and give a grouped product or a kernel the groups' offsets, "
     "which stay on the GPU.",
     "Handle all groups in one call: sort by group once (argsort, bincount, cumsum), then a grouped product "
     "(torch._grouped_mm, or bmm with a fixed capacity); torch.where, nonzero and boolean masks wait for the GPU.",
     "",
     "Handle all groups in one call: sort by group once (argsort, bincount), then one operation with the groups' "
     "offsets; where, nonzero and boolean masks wait for the GPU."},
    {CauseDetail::collective_loop, "GPU idle: a loop starts a collective for each tensor",
     "One collective for all: copy the tensors into one buffer, or put ncclGroupStart and ncclGroupEnd around the "
     "loop.",
     "One collective for all: DistributedDataParallel reduces gradients in buckets while backward goes on; else one "
     "all_reduce of a flat tensor, or torch.distributed._coalescing_manager around the loop.",
     "", "One collective for all: copy the arrays into one buffer, or use groupStart and groupEnd around the loop."},
    {CauseDetail::recurrent_cells, "GPU idle: a loop steps a recurrent cell, kernel by kernel",
     "Give cuDNN the whole sequence in one call (cudnnRNNForward); else capture the loop in a CUDA graph.",
     "Give the whole sequence to nn.LSTM, nn.GRU or nn.RNN (cuDNN) instead of stepping the cell; where an output is "
     "the next input: torch.cuda.CUDAGraph or torch.compile(mode=\"reduce-overhead\").",
     "", ""},
    {CauseDetail::eager_programs, "GPU idle: operations are dispatched one by one outside of jax.jit",
     "Put all of them into one jax.jit, with donate_argnums for what is replaced: the whole update, or the step with "
     "its gradient.",
     "", "", ""},
    {CauseDetail::kernel_loop, "GPU idle: a loop in the compiled step launches its kernels one by one",
     "Fuse the loop's kernels, or capture it in a CUDA graph.", "",
     "Instead of lax.map, scan, fori_loop or while_loop: jax.vmap where iterations do not depend on each other, "
     "lax.associative_scan if the operation is associative; else scan(unroll=8), or more work per iteration.",
     ""},
    {CauseDetail::subprocess, "GPU idle: the host runs another program and waits for it",
     "Run it outside the loop or less often, do not wait for it (a thread), or call a library instead.", "", "", ""},
    {CauseDetail::saved_state, "GPU idle: the program saves its state",
     "Save less often, or in the background: copy to pinned memory, and write on another thread.",
     "Save less often, or in the background: torch.distributed.checkpoint.async_save, or copy to pinned memory and "
     "write on another thread.",
     "Save less often, or in the background: an asynchronous checkpoint (Orbax).", ""},
    {CauseDetail::object_messages, "GPU idle: the host serialises Python objects for other ranks",
     "Send tensors instead of objects, and less often.",
     "Send tensors (all_gather_into_tensor) instead of objects (all_gather_object), and less often.", "", ""},
    {CauseDetail::shard_copies, "GPU idle: the host prepares a collective of FSDP",
     "Use one unit per layer, so that the host prepares one layer's collective during another layer's kernels.",
     "Use one unit per layer: fully_shard(block) for each block before fully_shard(model). The host then prepares one "
     "layer's collective during another layer's kernels. If it already does, use a larger batch or fewer units.",
     "", ""},
    {CauseDetail::requests, "GPU idle: the host waits for requests",
     "No action in the program: the GPU has no work until the next request. More concurrent requests would use it.", "",
     "", ""},
    {CauseDetail::answers, "GPU idle: the host works on a request",
     "No action for the GPU, which mostly waits for requests. Less work here shortens the response time.", "", "", ""},
    {CauseDetail::graph_launches, "GPU idle: the host launches the next CUDA graph too late",
     "Launch graphs back to back: put several steps into one graph, or more work into each.", "", "", ""},
    {CauseDetail::imports, "GPU idle: Python imports modules",
     "One-time cost: find slow imports with python -X importtime, and import before the work begins.", "", "", ""},
    {CauseDetail::sparse_build, "A sparse matrix is built from its indices in each step, which sorts them",
     "Build it once before the loop while its indices stay the same; else sort them once and change the values only.",
     "Build it once before the loop while its indices stay the same (coalesce(), to_sparse_csr()), and pass it on; "
     "else aggregate without it: index_add_ or scatter_add_.",
     "Build it once before the loop while its indices stay the same (BCOO.sort_indices, sum_duplicates); else "
     "jax.ops.segment_sum.",
     "Build it once before the loop while its indices stay the same (coo_matrix.tocsr(), sum_duplicates()), and change "
     "only .data."},
    {CauseDetail::equal_sorts, "Each step sorts data of the same size several times",
     "Sort once before the loop where the keys stay the same; else fewer or shorter keys (a selection first, 32 bits).",
     "Sort once before the loop where the keys stay the same (edges of a graph, indices), and keep the order; else "
     "sort fewer or shorter keys: torch.topk first, int32.",
     "Sort once before the loop where the keys stay the same, and keep the order (argsort); else fewer or shorter "
     "keys: jax.lax.top_k first, int32.",
     "Sort once before the loop where the keys stay the same, and keep the order (argsort); else fewer or shorter "
     "keys: cupy.partition first, int32."},
    {CauseDetail::repeated_values, "Values are replicated in memory for an operation that could broadcast them",
     "Let the operation index one copy several times (stride 0), instead of writing several.",
     "Broadcast instead: scaled_dot_product_attention(enable_gqa=True) for heads that share keys and values, else a "
     "dimension of size 1 or expand(), which copies nothing.",
     "Broadcast instead: a dimension of size 1, jnp.einsum or jnp.broadcast_to; jax.nn.dot_product_attention takes "
     "fewer key heads than query heads.",
     "Broadcast instead: an axis of size 1 or cupy.broadcast_to, which copies nothing."},
    {CauseDetail::grown_tensors, "A tensor is grown by concatenation, which copies all of it each time",
     "Allocate for the largest length once, and write what is new in place.",
     "Allocate for the largest length once, and write what is new in place: x[:, position] = new, or index_copy_; read "
     "a slice of it.",
     "Allocate for the largest length once, and write what is new with jax.lax.dynamic_update_slice, in a jit with "
     "donate_argnums.",
     "Allocate for the largest length once, and write what is new in place: x[position] = new; read a slice of it."},
    {CauseDetail::permutations, "A permutation of all indices is drawn, but only a few of them are used",
     "Draw as many random indices as are used.",
     "Draw indices with torch.randint(n, (k,), device=...). To draw each once, make one torch.randperm per epoch and "
     "take slices of it.",
     "Draw indices with jax.random.randint, or make one permutation per epoch and take slices of it.",
     "Draw indices with cupy.random.randint, or make one permutation per epoch and take slices of it."},
    {CauseDetail::long_sums, "Reductions with too few blocks to fill the GPU",
     "Split each reduction: partial results of many blocks and a second kernel, or cub::DeviceReduce.",
     "Reduce in two stages, so that more blocks work: x.view(k, -1).sum(1).sum(0), or a matrix product.",
     "Reduce in two stages, so that more blocks work (reshape, sum, sum), or use a matrix product.",
     "Reduce in two stages (reshape, sum, sum), along another axis, or by a matrix product; CUPY_ACCELERATORS=cub."},
    {CauseDetail::optimizer_passes, "The optimizer reads and writes all parameters several times",
     "Update all parameters in one kernel.", "Pass fused=True to the optimizer.",
     "Call the optimizer's update inside the jitted step.", ""},
    {CauseDetail::dense_embedding, "The optimizer updates every row of an embedding",
     "Update only the rows that the batch uses.",
     "Update only the rows that the batch uses: nn.Embedding(sparse=True) with torch.optim.SparseAdam; else "
     "fused=True, or a larger batch per update.",
     "Update only the rows that the batch uses (optax.lazy_adam, or gradients of the gathered rows).", ""},
    {CauseDetail::default_stream, "Work in the default stream keeps other streams from overlapping",
     "Launch it into the stream that needs it, or create the streams with cudaStreamNonBlocking and order them by "
     "events; or compile with --default-stream per-thread.",
     "", "", "Use cupy.cuda.Stream(non_blocking=True), and events between streams."},
    {CauseDetail::own_grid, "Grids are smaller than the GPU",
     "Launch enough blocks to fill the GPU: less work per block, or a second dimension of the grid.", "", "", ""},
    {CauseDetail::cpu_collective, "GPU idle: a collective runs on the CPU", "Use NCCL for data on GPUs.",
     "Use the NCCL group for CUDA tensors: no group of the gloo backend (or one of \"cpu:gloo,cuda:nccl\") and no "
     ".cpu() before the collective; keep gloo for control messages. DistributedDataParallel also overlaps it.",
     "", ""},
    {CauseDetail::fewer_cpus, "A rank may run on fewer CPUs than the others",
     "Let it run on as many CPUs as the others: see what sets its affinity (taskset, numactl, cpusets of the job, "
     "sched_setaffinity).",
     "Let it run on as many CPUs as the others: see what sets its affinity (os.sched_setaffinity, taskset, numactl, "
     "torchrun --numa-binding, cpusets of the job).",
     "", ""},
    {CauseDetail::pipeline_stages, "Pipeline stages wait for each other",
     "Cut each batch into more micro-batches (1F1B or an interleaved schedule), and give every stage the same work.",
     "Cut each batch into more micro-batches (torch.distributed.pipelining: Schedule1F1B, ScheduleInterleaved1F1B), "
     "and give every stage the same work; or use data parallelism if the model fits on one GPU.",
     "Cut each batch into more micro-batches, and give every stage the same work.", ""},
    {CauseDetail::uneven_stages, "Pipeline stages are unequal",
     "Balance the stages by their time, not by the number of layers: move layers from the longest stage to the others, "
     "and count embeddings, the output layer and the loss.",
     "Balance the stages by their time, not by the number of layers: move layers from the longest stage to the others, "
     "and count the embedding, the output layer and the loss; or split the output layer between the ranks.",
     "", ""},
    {CauseDetail::unequal_tokens, "A rank has more work than the others",
     "Give every rank the same work: equal shares of what is exchanged.",
     "Give every rank the same work: balance the routing of tokens to experts (auxiliary loss, a fresh bias, a "
     "capacity factor), or put a busy expert on several ranks.",
     "", ""},
    {CauseDetail::uneven_updates, "A rank updates more than the others",
     "Divide the updates among the ranks by their cost, not by their number: largest first, each to the rank with the "
     "least so far.",
     "Divide the parameters among the ranks by the cost of their updates, not by number: sort them by cost (m*m*n for "
     "Newton-Schulz of an m x n matrix, m <= n), and give each, largest first, to the rank with the least so far.",
     "", ""},
    {CauseDetail::split_sequence, "A rank has more of the attention than the others",
     "Split the sequence so that each rank has a part from its start and one from its end: of 2 n chunks for n ranks, "
     "rank i gets the chunks i and 2 n - 1 - i.",
     "Give each rank a part from the start and one from the end of the sequence (zig-zag): of 2*world chunks, rank i "
     "gets i and 2*world-1-i, with their positions and masks. "
     "torch.distributed.tensor.experimental.context_parallel does so for causal attention.",
     "", ""},
    {CauseDetail::repeated_meetings, "Ranks take turns arriving last",
     "Run it once per step: add its values up on the GPU first. Ranks then wait for each other once per step, and "
     "their work per step is equal.",
     "All-reduce once per step: first add its values up on the GPU over all micro-batches (count tokens before the "
     "first forward pass), or reduce them with the gradients. Ranks then meet once, with equal work per step.",
     "", ""},
    {CauseDetail::lone_work, "A rank does work that the others do not",
     "Divide this work among all ranks, do it less often, or do it in another process.",
     "Divide it among all ranks (a validation: a part of the data on each, then one all_reduce of the sums), do it "
     "less often, or do it in another process, from a checkpoint.",
     "", ""},
    {CauseDetail::dependent_messages, "Many small collectives, limited by latency",
     "Use fewer and larger ones: more work per step and rank, no split of layers that are this small, and a CUDA "
     "graph of the step.",
     "Use fewer and larger ones: a larger batch per rank, no split of layers that are this small (replicas instead; "
     "or one all-reduce for two linears: by columns, then by rows); then a CUDA graph of the step.",
     "Use fewer and larger ones: a larger batch per device, and no sharding of layers that are this small.", ""},
    {CauseDetail::batch_norm_messages, "Many small collectives, limited by latency",
     "Use fewer and larger ones: statistics of each rank's own batch.",
     "Use fewer and larger ones: plain BatchNorm without convert_sync_batchnorm where a rank's batch is large enough "
     "for its statistics, or GroupNorm; else a larger batch per rank.",
     "", ""},
    {CauseDetail::micro_batches, "Gradients are reduced in every micro-batch of a step",
     "Add the gradients of all micro-batches, and reduce them once.",
     "Reduce once per update: model.no_sync() around all micro-batches but the last; in FSDP2 "
     "set_requires_gradient_sync(False).",
     "", ""},
    {CauseDetail::exposed_transfers, "Sends and receives without overlap",
     "Overlap them: send and receive on a stream of their own, and compute another micro-batch meanwhile; or cut the "
     "model where less is sent.",
     "Overlap them: isend and irecv (batch_isend_irecv) ahead, and compute another micro-batch meanwhile; or send "
     "less: bf16 activations, a cut where the model is narrow.",
     "", ""},
    {CauseDetail::exposed_gathers, "All-gathers without overlap",
     "Overlap it: gather the next part on a stream of its own while this one is computed; or gather less.",
     "Overlap them: gather the next layer's parameters during this layer's kernels (FSDP2's fully_shard prefetches; "
     "else "
     "async_op=True into a second buffer); or gather less: no reshard_after_forward, shards within a node only, a "
     "larger batch per rank.",
     "Let XLA overlap collectives (--xla_gpu_enable_latency_hiding_scheduler=true), or shard less.", ""},
    {CauseDetail::exposed_scatters, "Reduce-scatters without overlap",
     "Overlap it: reduce each part on a stream of its own as soon as its gradients are ready; or reduce less often.",
     "Overlap them: reduce each layer's gradients (async_op=True, FSDP2's fully_shard) during backward; or reduce less "
     "often: gradient accumulation, bf16 gradients, a larger batch per rank.",
     "Let XLA overlap collectives (--xla_gpu_enable_latency_hiding_scheduler=true), or reduce less often.", ""},
    {CauseDetail::whole_shards, "One collective holds the shards of the whole model",
     "Split it by layers, so that one layer's transfer overlaps another layer's kernels.",
     "Shard layer by layer: fully_shard(block) for each block before fully_shard(model), or an auto_wrap_policy in "
     "FullyShardedDataParallel; one layer's transfer then overlaps another layer's kernels.",
     "Let XLA overlap collectives (--xla_gpu_enable_latency_hiding_scheduler=true), or shard less.", ""},
    {CauseDetail::split_layers, "Activations of split layers are reduced without overlap",
     "Reduce less often: split one product by columns and the next by rows, so that two need one reduction; or split "
     "over fewer GPUs, and use replicas.",
     "Reduce less often: split one linear by columns and the next by rows (ColwiseParallel, RowwiseParallel), with one "
     "all-reduce for both; or overlap: two half batches in turn, torch._inductor.config._micro_pipeline_tp; or use "
     "replicas where the model fits on one GPU.",
     "Reduce less often: shard one product by columns and the next by rows; or use replicas where the model fits.", ""},
    {CauseDetail::gathered_shards, "Whole tensors are gathered after the update",
     "Work on the own shard, and gather only where the whole tensor is needed.",
     "Work on the local shards: p.to_local() instead of p.full_tensor(), torch._foreach_lerp_ for averages; gather "
     "only to save or evaluate, or every N steps.",
     "Keep the arrays sharded, with the sharding of the parameters; gather only to save or evaluate.", ""},
    {CauseDetail::gathered_heads, "Queries, keys and values of all heads are gathered on every rank",
     "Keep the heads split between the ranks: attention needs no other rank's heads.",
     "Keep the heads split: ColwiseParallel() without output_layouts=Replicate() for q, k and v, RowwiseParallel() for "
     "the output, and view(…, -1, head_dim). Each rank then computes attention for its own heads, without gathers.",
     "Keep the heads sharded from the products to the output: attention needs no other device's heads.", ""},
    {CauseDetail::widened_messages, "Values are converted to single precision for a collective, then converted back",
     "Send them in the type that they have before and after: half of the bytes, and no conversions. Keep single "
     "precision only for sums of so many ranks that half precision is not enough.",
     "Send them in their original 16-bit type, without .float() before the collective: half the "
     "bytes, and no conversions. Keep single precision only where bf16 sums over that many ranks are too inaccurate.",
     "", ""},
    {CauseDetail::unread_rows, "All ranks gather a whole table, but read few of its rows",
     "Exchange the rows that are needed instead: all-to-all of their indices, then of the rows; or gather the table "
     "once while it does not change.",
     "Exchange the rows that are needed instead: all_to_all_single of their indices, then of the rows; or look up the "
     "own shard's rows, zero the others, and all_reduce. A table that does not change: gather it once.",
     "", ""},
    {CauseDetail::unused_gradients, "All rows of an embedding's gradient are reduced, most of them zeros",
     "Send only the rows that the batch uses, or divide the table among the ranks.",
     "Keep the table out of the all-reduce: divide its rows among the ranks and look them up by all_to_all (as "
     "TorchRec "
     "does), or all_gather the indices and gradients of the rows that the batch uses.",
     "Send only the rows that the batch uses (all_gather of indices and their gradients), or shard the table.", ""},
    {CauseDetail::exposed_broadcasts, "Broadcasts without overlap",
     "Broadcast only what changes; send constants once, before the loop.",
     "Broadcast only what changes: DistributedDataParallel(broadcast_buffers=False) sends no buffers in each forward "
     "pass; keep large constant data out of buffers, and send it once before the loop.",
     "Broadcast only what changes; send constants once, before the loop.", ""},
    {CauseDetail::exposed_all_to_alls, "All-to-alls without overlap",
     "Overlap it with other computation on another stream, or send less.",
     "Overlap them: async_op=True, and meanwhile compute parts that need no tokens from other ranks (shared experts, "
     "another "
     "micro-batch); or send less: a lower capacity factor or top-k, bf16 or fp8 tokens.",
     "Let XLA overlap collectives (--xla_gpu_enable_latency_hiding_scheduler=true), or send less.", ""}};

/// Null: the row of the cause has the texts.
const DetailRow* row_of_detail(CauseDetail detail) {
  const auto* const found = std::find_if(std::begin(kDetailRows), std::end(kDetailRows),
                                         [detail](const DetailRow& row) { return row.detail == detail; });
  return found == std::end(kDetailRows) ? nullptr : found;
}

/// The action in that framework's API.
template <typename Row>
std::string action_in(const Row& row, Framework framework) {
  const std::string_view own = framework == Framework::torch  ? row.torch
                               : framework == Framework::jax  ? row.jax
                               : framework == Framework::cupy ? row.cupy
                                                              : "";
  return std::string(own.empty() ? row.cuda : own);
}

const CauseRow& row_of_cause(SavingCause cause) {
  const auto* const found = std::find_if(std::begin(kCauseRows), std::end(kCauseRows),
                                         [cause](const CauseRow& row) { return row.cause == cause; });
  return found == std::end(kCauseRows) ? kCauseRows[std::size(kCauseRows) - 1] : *found;
}

}  // namespace

Framework framework_of(const Recording& recording) {
  for (const ProcessTrace& trace : recording.traces) {
    if (trace.times_by == "torch.profiler") return Framework::torch;
    if (trace.times_by == kXlaProfiler) return Framework::jax;
    for (const spool::Range& range : trace.ranges) {
      if (trace.text(range.name).starts_with("XlaModule") || trace.text(range.domain) == "TSL") return Framework::jax;
    }
  }
  bool fusions = false;
  for (const LaunchGroup& group : recording.groups) {
    // at::native, c10, Inductor's and modules; XLA names its kernels after HLO instructions.
    const bool torch = contains_any(group.symbol, {"2at6native", "at::native", "c10"}) || is_of_inductor(group.symbol);
    if (torch || !group.module.empty()) return Framework::torch;
    // cupy_add, cupyx_scipy_…; kernels of its users have their own names.
    if (group.symbol.starts_with("cupy")) return Framework::cupy;
    fusions |= contains_any(group.symbol, {"loop_", "input_", "wrapped_"}) &&
               contains_any(group.symbol, {"fusion", "wrapped_"});
  }
  return fusions ? Framework::jax : Framework::cuda;
}

std::string what_is_lost(SavingCause cause, CauseDetail detail) {
  const DetailRow* const row = row_of_detail(detail);
  return row != nullptr ? row->what : row_of_cause(cause).what;
}

std::string action_against(SavingCause cause, Framework framework, CauseDetail detail) {
  const DetailRow* const row = row_of_detail(detail);
  return row != nullptr ? action_in(*row, framework) : action_in(row_of_cause(cause), framework);
}

std::string action_for_copies(const CopySum& copy, double fraction, Framework framework) {
  constexpr double kSmall = 64 << 10;
  constexpr double kLinkSpeed = 0.7;
  if (copy.path.host() == CopyMemory::pageable) return action_against(SavingCause::pageable_copy, framework);
  if (copy.path.host() == CopyMemory::unified) {
    return "Prefetch it before use (cudaMemPrefetchAsync), or set its location (cudaMemAdvise).";
  }
  if (copy.bytes > 0 && copy.bytes / static_cast<double>(copy.copies) < kSmall) {
    return copy.path.direction == CopyDirection::host_to_device
               ? action_against(SavingCause::copies, framework, CauseDetail::small_copies)
               : "Merge small copies into one.";
  }
  if (copy.path.direction == CopyDirection::memset) {
    return "Drop memsets of memory that the next kernel overwrites entirely.";
  }
  if (copy.path.direction == CopyDirection::device_to_device) {
    return "Write the result in place, or fuse the copy into an adjacent kernel.";
  }
  if (fraction > kLinkSpeed) {
    return "At link speed: overlap the copies with kernels on another stream, or send fewer bytes.";
  }
  return action_against(SavingCause::copies, framework);
}

}  // namespace roofline
