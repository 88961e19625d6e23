// What stacks tell of the workers that prepare input data, and of waits for them.
#include <fmt/format.h>

#include "profile/idle/frame_kinds.hpp"
#include "profile/idle/stack_frames.hpp"

namespace roofline {
namespace {

/// Takes something from workers: a loader's queue, a pool's result, a pipe.
bool takes_from_queue(const HostFrame& frame) {
  const std::string_view function = plain_function(frame);
  if (frame.file.ends_with("torch/utils/data/dataloader.py")) {
    return function == "_try_get_data" || function == "_get_data";
  }
  // The iterators of tf.data and of DALI wait for their own threads.
  if (frame.file.ends_with("tensorflow/python/data/ops/iterator_ops.py")) {
    return function == "__next__" || function == "_next_internal" || function == "get_next";
  }
  if (contains_any(frame.file, {"nvidia/dali/pipeline"})) return function == "outputs" || function == "share_outputs";
  if (frame.file.ends_with("/queue.py") || frame.file.ends_with("multiprocessing/queues.py") ||
      frame.file.ends_with("multiprocessing/connection.py")) {
    return function == "get" || function.starts_with("recv") || function.starts_with("_recv") || function == "wait" ||
           function == "_poll" || function == "poll";
  }
  return (frame.file.ends_with("concurrent/futures/_base.py") && function == "result") ||
         (frame.file.ends_with("multiprocessing/pool.py") && (function == "get" || function == "next"));
}

/// A worker's wait for room in the queue of its results.
bool gives_to_queue(const HostFrame& frame) {
  return plain_function(frame) == "put" &&
         (frame.file.ends_with("/queue.py") || frame.file.ends_with("multiprocessing/queues.py"));
}

/// Where a worker process or thread waits for tasks and calls the program's code.
bool in_worker_loop(const HostFrame& frame) {
  return contains_any(frame.file,
                      {"torch/utils/data/_utils/worker.py", "multiprocessing/process.py", "multiprocessing/pool.py",
                       "concurrent/futures/thread.py", "concurrent/futures/process.py"}) ||
         (frame.file.ends_with("threading.py") && plain_function(frame) == "run");
}

}  // namespace

bool StackView::starts_workers() const {
  return any([](const HostFrame& of) {
    const std::string_view function = plain_function(of);
    if (of.file.ends_with("torch/utils/data/dataloader.py")) {
      return (of.function.starts_with("_MultiProcessingDataLoaderIter") && function == "__init__") ||
             function == "_shutdown_workers";
    }
    if (of.file.ends_with("multiprocessing/process.py")) return function == "start" || function == "_Popen";
    return of.file.ends_with("multiprocessing/pool.py") && function.starts_with("_repopulate_pool");
  });
}

bool StackView::loads_data() const {
  return any([](const HostFrame& of) {
    return in_loader(of) ||
           contains_any(of.file, {"torchvision/transforms/",
                                  "torchvision/datasets/",
                                  "torchvision/io/",
                                  "torchaudio/",
                                  "/PIL/",
                                  "/cv2/",
                                  "/albumentations/",
                                  "/tokenizers/",
                                  "tokenization_",
                                  "site-packages/datasets/",
                                  "webdataset/",
                                  "tensorflow/python/data/",
                                  "tensorflow_datasets/",
                                  "/nvidia/dali/",
                                  "libdali",
                                  "/grain/",
                                  "/ffcv/",
                                  "/streaming/base/",
                                  "/petastorm/",
                                  "/litdata/",
                                  "/monai/data/",
                                  "/monai/transforms/",
                                  "/h5py/",
                                  "/zarr/",
                                  "/lmdb/",
                                  "/pyarrow/",
                                  "/pandas/",
                                  "/librosa/",
                                  "/soundfile",
                                  "/decord/",
                                  "/skimage/",
                                  "/imageio/"}) ||
           of.function.starts_with("tensorflow::data::");
  });
}

bool StackView::awaits_queue() const { return any(takes_from_queue); }

bool StackView::works_for_loader() const {
  for (std::size_t i = 0; i < size_; ++i) {
    const HostFrame& of = frame(i);
    // Frames outside the loop were on the stack when the process forked.
    if (in_worker_loop(of) || takes_from_queue(of) || gives_to_queue(of)) return false;
    if (is_own(of) ||
        contains_any(of.file, {"torch/utils/data/_utils/fetch.py", "torch/utils/data/_utils/collate.py", "libdali"}) ||
        of.function.starts_with("tensorflow::data::")) {
      return true;
    }
  }
  return false;
}

bool StackView::in_worker() const { return any(in_worker_loop); }

bool StackView::feeds_queue() const {
  return any([](const HostFrame& of) {
    return of.file.ends_with("multiprocessing/queues.py") && plain_function(of) == "_feed";
  });
}

std::string StackView::call_in_worker() const {
  const HostFrame* called = nullptr;
  for (std::size_t i = 0; i < size_ && !in_worker_loop(frame(i)) && !is_own(frame(i)); ++i) called = &frame(i);
  if (called == nullptr || !called->python) return {};
  std::string_view path = called->file;
  constexpr std::string_view kPackage = "/__init__.py";
  path.remove_suffix(path.ends_with(kPackage) ? kPackage.size() : path.ends_with(".py") ? 3 : 0);
  return fmt::format("{}.{}", last_path_part(path), plain_function(*called));
}

HostPlace StackView::place_in_worker() const {
  const HostFrame* called = nullptr;  // by the loader: the dataset's method
  for (std::size_t i = 0; i < size_; ++i) {
    const HostFrame& of = frame(i);
    if (in_worker_loop(of)) break;
    if (is_own(of)) return {of.file, of.function, of.line};
    if (called == nullptr || (of.python && !in_loader(of))) called = &of;
  }
  return called == nullptr ? HostPlace() : HostPlace{called->file, called->function, called->line};
}

}  // namespace roofline
