// Programs for the injected library: program SCENARIO. They use the fake driver as a program uses the driver.
#include <cuda.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <iterator>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "fake_gpu.hpp"

extern "C" void fake_graph_update(CUgraphExec graph, unsigned grid);

namespace {

FakeFunction scale = {"scale", 3, {8, 4, 8}, false};
FakeFunction scale_kernel = {"scale_kernel", 3, {8, 4, 8}, true};
FakeFunction mapped = {"mapped", 1, {128}, false};
FakeFunction all_reduce = {"ncclDevKernel_AllReduce", 0, {}, false};
FakeFunction timeless = {"timeless", 0, {}, false};
FakeFunction convert = {"bfloat16_copy_kernel_cuda", 2, {8, 8}, false};
FakeFunction convert_strided = {"direct_copy_kernel_cuda", 1, {160}, false};
FakeFunction multiply = {"multiply", 2, {8, 8}, false};
FakeFunction plain = {"plain", 0, {}, false};

CUfunction handle(FakeFunction& function) { return reinterpret_cast<CUfunction>(&function); }

/// Never inlined: all launches are from one line.
__attribute__((noinline)) void launch(FakeFunction& function, unsigned grid = 1, CUstream stream = nullptr,
                                      void** parameters = nullptr, void** extra = nullptr) {
  cuLaunchKernel(handle(function), grid, 1, 1, 64, 1, 1, 0, stream, parameters, extra);
}

/// As a compiler lays its parameters out.
struct ScaleParameters {
  CUdeviceptr data;
  int count;
  double factor;
};

void launch_scale(FakeFunction& function, ScaleParameters values) {
  void* parameters[] = {&values.data, &values.count, &values.factor};
  launch(function, 1, nullptr, parameters);
}

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

void kinds() {
  CUdeviceptr first = 0, second = 0;
  cuMemAlloc_v2(&first, 1 << 20);
  cuMemAlloc_v2(&second, 1 << 20);
  for (const CUdeviceptr data : {first, second, CUdeviceptr{0x7f1234567000}}) launch_scale(scale, {data, 7, 2.5});
  ScaleParameters packed = {second, 7, 2.5};  // the same launch, by the other way to give parameters
  std::size_t size = sizeof(packed);
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  launch(scale, 1, nullptr, nullptr, extra);
  launch_scale(scale, {first, 8, 2.5});
  launch_scale(scale_kernel, {first, 7, 2.5});
  for (int seed = 0; seed < 30; ++seed) {
    void* parameters[] = {&first, &seed, &packed.factor};
    launch(scale_kernel, 5, nullptr, parameters);
  }
  for (const std::uint64_t address : {std::uint64_t{0x10000}, std::uint64_t{0x20000}}) {
    std::array<std::uint64_t, 16> map = {address, 1, 2};
    void* parameters[] = {&map};
    launch(mapped, 1, nullptr, parameters);
  }
  launch(all_reduce);
  launch(plain, 0);  // refused by the driver

  CUlaunchAttribute attributes[2] = {};
  attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attributes[0].value.clusterDim.x = 2;
  attributes[0].value.clusterDim.y = attributes[0].value.clusterDim.z = 1;
  attributes[1].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attributes[1].value.cooperative = 1;
  const CUlaunchConfig config = {4, 3, 2, 128, 1, 1, 1024, nullptr, attributes, 2};
  cuLaunchKernelEx(&config, handle(plain), nullptr, nullptr);
}

void launch_two(FakeFunction& function, CUdeviceptr to, CUdeviceptr from) {
  void* parameters[] = {&to, &from};
  launch(function, 1, nullptr, parameters);
}

void unchanged_inputs() {
  CUdeviceptr weight = 0, other = 0, result = 0;
  for (CUdeviceptr* memory : {&weight, &other, &result}) cuMemAlloc_v2(memory, 1 << 20);
  for (int step = 0; step < 3; ++step) {  // the second and the third time it is unchanged
    launch_two(convert, result, weight);
    launch_two(multiply, other, result);
  }
  launch_two(multiply, weight, other);  // an update
  launch_two(convert, result, weight);
  cuMemsetD8Async(weight, 0, 32, nullptr);
  launch_two(convert, result, weight);
  launch(all_reduce);  // may write to any memory
  launch_two(convert, result, weight);
  launch_two(convert, other, weight);  // unchanged again
  // A copy whose layout has words that look like pointers says what it may write to.
  CUdeviceptr strides[20];
  std::fill(std::begin(strides), std::end(strides), other);
  void* parameters[] = {strides};
  launch(convert_strided, 1, nullptr, parameters);
  launch_two(convert, result, weight);
  strides[17] = weight;
  launch(convert_strided, 1, nullptr, parameters);
  launch_two(convert, result, weight);
}

/// A graph converts a weight (grid 2), and an input that is copied before each replay (grid 3).
void unchanged_in_graph() {
  const auto stream = reinterpret_cast<CUstream>(0x55);
  CUdeviceptr weight = 0, input = 0, result = 0, narrow = 0;
  for (CUdeviceptr* memory : {&weight, &input, &result, &narrow}) cuMemAlloc_v2(memory, 1 << 20);
  CUgraph captured = nullptr;
  CUgraphExec executable = nullptr;
  cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
  void* of_weight[] = {&result, &weight};
  launch(convert, 2, stream, of_weight);
  void* of_input[] = {&narrow, &input};
  launch(convert, 3, stream, of_input);
  cuMemsetD8Async(result, 0, 32, stream);
  cuStreamEndCapture(stream, &captured);
  cuGraphInstantiateWithFlags(&executable, captured, 0);
  const std::array<char, 16> data = {};
  for (int replay = 0; replay < 3; ++replay) {
    cuMemcpyHtoDAsync_v2(input, data.data(), data.size(), stream);
    cuGraphLaunch(executable, stream);
  }
}

void copy_sources() {
  std::vector<char> data(64 << 10);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i / 8 % 100);
  for (const std::size_t size : {std::size_t{512}, std::size_t{4096}, data.size()}) {
    for (int copy = 0; copy < 2; ++copy) cuMemcpyHtoDAsync_v2(0x302000000, data.data(), size, nullptr);
  }
  ++data[4000];
  cuMemcpyHtoDAsync_v2(0x302000000, data.data(), 4096, nullptr);
  data.assign(data.size(), 0);
  cuMemcpyHtoDAsync_v2(0x302000000, data.data(), data.size(), nullptr);
}

void calls() {
  nvtxRangePushA("copies");
  const std::array<char, 16> data = {};
  cuMemcpyHtoDAsync_v2(0x302000000, data.data(), data.size(), nullptr);
  nvtxRangePop();
  cuMemsetD8Async(0x302000000, 0, 32, nullptr);
  cuEventQuery(nullptr);
  cuStreamSynchronize(nullptr);
  launch(timeless);
  fake_cupti_drop(3);
}

void graph() {
  const auto stream = reinterpret_cast<CUstream>(0x55);
  CUgraph captured = nullptr;
  CUgraphExec executable = nullptr;
  const std::array<char, 16> data = {};
  nvtxRangePushA("capture");
  cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
  launch(plain, 3, stream);
  launch(plain, 3, stream);
  launch(timeless, 1, nullptr);  // on a stream that is not captured
  cuMemcpyHtoDAsync_v2(0x302000000, data.data(), data.size(), stream);
  cuStreamEndCapture(stream, &captured);
  nvtxRangePop();
  CUDA_KERNEL_NODE_PARAMS node = {};
  node.func = handle(mapped);
  node.gridDimX = 9;
  node.gridDimY = node.gridDimZ = node.blockDimX = node.blockDimY = node.blockDimZ = 1;
  std::array<std::uint64_t, 16> map = {};
  void* parameters[] = {&map};
  node.kernelParams = parameters;
  CUgraphNode added = nullptr;
  cuGraphAddKernelNode_v2(&added, captured, nullptr, 0, &node);
  cuGraphInstantiateWithFlags(&executable, captured, 0);
  nvtxRangePushA("replay");
  for (int replay = 0; replay < 4; ++replay) cuGraphLaunch(executable, stream);
  nvtxRangePop();
  fake_graph_update(executable, 21);
  cuGraphLaunch(executable, stream);
}

void ranges() {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("library");
  const nvtxStringHandle_t name = nvtxDomainRegisterStringA(domain, "registered");
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = name;
  const bool levels = nvtxRangePushA("outer") == 0 && nvtxRangePushW(L"größer") == 1;
  launch(plain);
  nvtxDomainRangePushEx(domain, &event);
  launch(plain, 2);
  nvtxRangePop();  // out of turn: the default domain's innermost
  launch(plain, 3);
  nvtxDomainRangePop(domain);
  const int outermost = nvtxRangePop();
  const int none = nvtxRangePop();
  const nvtxRangeId_t started = nvtxRangeStartA("from a thread to another");
  std::thread([&] { nvtxRangeEnd(started); }).join();
  for (int step = 0; step < 100; ++step) {
    nvtxRangePushA(("step " + std::to_string(step)).c_str());
    launch(plain, 4);
    nvtxRangePop();
  }
  for (int depth = 0; depth < 200; ++depth) nvtxRangePushA("deep");
  launch(plain, 5);
  for (int depth = 0; depth < 200; ++depth) nvtxRangePop();
  launch(plain, 6);
  if (!levels || outermost != 0 || none >= 0) std::exit(9);
}

void threads() {
  nvtxInitialize(nullptr);  // which NVTX itself does without a lock, by its first use
  std::vector<std::thread> all;
  for (unsigned index = 0; index < 4; ++index) {
    all.emplace_back([index] {
      pthread_setname_np(pthread_self(), ("worker " + std::to_string(index)).c_str());
      for (int count = 0; count < 2000; ++count) {
        nvtxRangePushA(index % 2 == 0 ? "even" : "odd");
        launch(plain, index + 1);
        nvtxRangePop();
      }
    });
  }
  for (std::thread& thread : all) thread.join();
}

int wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

/// A child of fork() has no CUDA; it ends through exit() all the same.
void forks() {
  launch(plain);
  const pid_t child = fork();
  if (child == 0) {
    launch(plain, 77);
    nvtxRangePushA("child");
    nvtxRangePop();
    std::exit(0);
  }
  const int status = wait_for(child);
  launch(plain, 2);
  if (status != 0) std::exit(9);
}

/// The first use of CUDA is in the child; NVTX came before. That is how workers are made.
void forks_first() {
  nvtxRangePushA("before");
  const pid_t child = fork();
  if (child == 0) {
    cuInit(0);
    nvtxRangePushA("in the child");
    launch(plain, 77);
    std::exit(0);
  }
  if (wait_for(child) != 0) std::exit(9);
}

void starts_another(const char* self) {
  launch(plain);
  const pid_t child = fork();
  if (child == 0) {
    execl(self, self, "ends", nullptr);
    _exit(9);
  }
  if (wait_for(child) != 0) std::exit(9);
}

void exits_suddenly() {
  for (int count = 0; count < 50; ++count) launch(plain);
  sleep_ms(800);
  _exit(3);
}

void dies() {
  for (int count = 0; count < 50; ++count) launch(plain);
  sleep_ms(800);
  launch(plain, 2);  // may be lost
  kill(getpid(), SIGKILL);
}

/// Launches of grids 1, 2, … for two seconds.
void goes_on() {
  for (unsigned count = 1; count <= 200; ++count) {
    launch(plain, count);
    sleep_ms(10);
  }
}

/// Launches until the parent's wish has surely been seen.
void is_stopped() {
  launch(plain);
  const char* const folder = std::getenv("ROOFLINE_SPOOL");
  if (folder == nullptr) return;
  std::ofstream(std::string(folder) + "/stop") << "";
  sleep_ms(1500);
  launch(plain, 2);
}

void writes_much() {
  for (int count = 0; count < 20000; ++count) launch(plain);
  sleep_ms(1500);
  launch(plain, 2);
}

/// A step with a copy to begin with, and a launch of every grid from 1 to 20.
void step_with_copy(int ms) {
  const std::array<char, 16> data = {};
  cuMemcpyHtoDAsync_v2(0x302000000, data.data(), data.size(), nullptr);
  for (unsigned grid = 1; grid <= 20; ++grid) launch(plain, grid);
  sleep_ms(ms);
}
/// 100 launches in 5 ms.
void step_of_launches() {
  for (unsigned grid = 1; grid <= 100; ++grid) {
    launch(plain, grid);
    if (grid % 20 == 0) sleep_ms(1);
  }
}

/// Steps while CUPTI records, or while it does not; at most for a minute.
int steps_while(bool recorded, const std::function<void()>& step) {
  int steps = 0;
  const auto since = std::chrono::steady_clock::now();
  while (fake_cupti_records() == recorded && std::chrono::steady_clock::now() - since < std::chrono::minutes(1)) {
    step();
    ++steps;
  }
  return steps;
}

/// Ends 200 steps after its recording has.
void repeats() {
  steps_while(true, [] { step_with_copy(1); });
  for (int step = 0; step < 200; ++step) step_with_copy(1);
  if (fake_cupti_records() || fake_cupti_reports(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel)) std::exit(9);
}

/// More launches in a second than may be followed, and nothing else.
void launches_much() {
  steps_while(true, step_of_launches);
  for (int step = 0; step < 400; ++step) step_of_launches();
}

/// A graph is made while nothing is recorded, and launched from then on.
void captures_while_quiet() {
  steps_while(true, [] { step_with_copy(1); });
  for (int step = 0; step < 20; ++step) step_with_copy(1);
  const auto stream = reinterpret_cast<CUstream>(0x55);
  CUgraph captured = nullptr;
  CUgraphExec executable = nullptr;
  nvtxRangePushA("capture");
  cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
  launch(timeless, 3, stream);
  cuStreamEndCapture(stream, &captured);
  nvtxRangePop();
  cuGraphInstantiateWithFlags(&executable, captured, 0);
  // The capture is a reason to record again: now with the graph in each step.
  const auto step = [executable] {
    step_with_copy(1);
    cuGraphLaunch(executable, nullptr);
  };
  steps_while(false, step);
  steps_while(true, step);
  for (int more = 0; more < 20; ++more) step();
}

/// No two of its launches are alike.
void never_repeats() {
  for (unsigned grid = 1; grid <= 3000; ++grid) {
    launch(plain, grid);
    sleep_ms(1);
  }
}

void forks_while_quiet() {
  steps_while(true, [] { step_with_copy(1); });
  for (int step = 0; step < 20; ++step) step_with_copy(1);
  const pid_t child = fork();
  if (child == 0) {
    for (int step = 0; step < 20; ++step) step_with_copy(1);
    std::exit(0);
  }
  if (wait_for(child) != 0) std::exit(9);
  for (int step = 0; step < 20; ++step) step_with_copy(1);
}

void is_stopped_while_quiet() {
  steps_while(true, [] { step_with_copy(1); });
  const char* const folder = std::getenv("ROOFLINE_SPOOL");
  if (folder == nullptr) return;
  std::ofstream(std::string(folder) + "/stop") << "";
  sleep_ms(1500);
  launch(plain, 2);
}

void destroys_its_context() {
  launch(plain);
  cuCtxDestroy_v2(nullptr);
  _exit(0);
}

/// For two seconds, without a pause.
void launches_on() {
  for (int i = 0; i < 1000; ++i) {
    launch(plain);
    sleep_ms(2);
  }
}

void reloads_a_module() {
  launch_scale(scale, {0, 7, 2.5});
  cuModuleUnload(nullptr);
  scale.symbol = "another";  // its handle is a new function's
  launch_scale(scale, {0, 7, 2.5});
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return 2;
  const std::map<std::string, std::function<void()>> scenarios = {
      {"kinds", kinds},
      {"calls", calls},
      {"unchanged_inputs", unchanged_inputs},
      {"unchanged_in_graph", unchanged_in_graph},
      {"copy_sources", copy_sources},
      {"graph", graph},
      {"ranges", ranges},
      {"threads", threads},
      {"forks", forks},
      {"starts_another", [&] { starts_another(arguments[0]); }},
      {"exits_suddenly", exits_suddenly},
      {"dies", dies},
      {"goes_on", goes_on},
      {"is_stopped", is_stopped},
      {"writes_much", writes_much},
      {"repeats", repeats},
      {"launches_much", launches_much},
      {"launches_on", launches_on},
      {"captures_while_quiet", captures_while_quiet},
      {"never_repeats", never_repeats},
      {"forks_while_quiet", forks_while_quiet},
      {"is_stopped_while_quiet", is_stopped_while_quiet},
      {"destroys_its_context", destroys_its_context},
      {"reloads_a_module", reloads_a_module},
      {"ends", [] { launch(plain); }},
      {"never_launches", [] {}},
  };
  const std::string wanted = arguments[1];
  if (wanted == "forks_first") {
    forks_first();
    return 0;
  }
  cuInit(0);
  scenarios.at(wanted)();
}
