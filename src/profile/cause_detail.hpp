// What a cause of lost time is about, where the text about it and its action depend on that.
#pragma once

#include <cstdint>
#include <string_view>

namespace roofline {

enum class CauseDetail : std::uint8_t {
  none,
  small_copies,         ///< copies: many small ones in a row
  waited_copies,        ///< copies: the host waits for each, although its memory is pinned
  readback,             ///< pageable_copy: from the GPU to the host
  unified_memory,       ///< copies: pages that the driver moves while kernels run
  host_memory,          ///< allocation: of pinned host memory
  streams,              ///< allocation: CUDA streams or events
  graphs,               ///< allocation: executable CUDA graphs
  anomaly_mode,         ///< item_sync: autograd's checks of each gradient
  triton_compiler,      ///< recompilation: by Triton, without torch.compile
  numba_compiler,       ///< recompilation: by Numba
  nvrtc_compiler,       ///< recompilation: CUDA C++ at run time
  cudnn_compiler,       ///< recompilation: by cuDNN, for shapes that are new to it
  cpu_tensors,          ///< host_native: PyTorch's own arithmetic on the CPU
  made_on_host,         ///< host_native: a model's forward makes tensors on the host, which are then copied
  host_random,          ///< host_native: random numbers are drawn on the host
  workers_started,      ///< data_loading: worker processes are started in the loop
  deep_copies,          ///< host_python: Python copies a model or another object with all that it holds
  host_function,        ///< late_stream: a function of the program runs on the host, in the stream
  subprocess,           ///< wait_queue: another program's end or output
  saved_state,          ///< host_native: a checkpoint is written
  object_messages,      ///< host_python: Python objects are packed for other ranks, or unpacked
  requests,             ///< wait_network: of the program's clients
  answers,              ///< host_python, host_native: a server at work on a request, where requests are few
  kernel_loop,          ///< tiny_kernels, launch_rate: of a loop inside of compiled code
  graph_launches,       ///< launch_rate: of CUDA graphs
  imports,              ///< module_load: of Python, as an import or by a framework's first use
  long_sums,            ///< small_batch: a reduction with few results
  optimizer_passes,     ///< unfused_optimizer: a kernel for each operation, on all parameters
  dense_embedding,      ///< the same: most of it is for rows of an embedding that the batch does not use
  default_stream,       ///< small_batch: the default stream keeps others from running side by side
  own_grid,             ///< small_batch: the program chooses the number of blocks
  cpu_collective,       ///< wait_network: a collective of tensors in host memory, as Gloo has
  fewer_cpus,           ///< late_rank: its process may run on fewer CPUs than those of other ranks
  pipeline_stages,      ///< uneven_ranks: they wait for each other's sends
  unequal_tokens,       ///< unequal_work: of what an all-to-all brings
  dependent_messages,   ///< small_messages: each needs results of kernels, as those of split layers do
  batch_norm_messages,  ///< the same: of PyTorch's SyncBatchNorm
  exposed_transfers,    ///< exposed_communication: most of it is in sends and receives
  exposed_gathers,      ///< the same: all-gathers
  exposed_scatters,     ///< the same: reduce-scatters
  exposed_broadcasts,
  exposed_all_to_alls
};

/// What a call of the driver creates, allocates or frees besides memory of the GPU; none: nothing of the kind.
CauseDetail detail_of_call(std::string_view call);

}  // namespace roofline
