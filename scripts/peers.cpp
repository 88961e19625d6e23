// The CPU libraries that scripts/peers holds our kernels against, compiled by it: OpenBLAS, looked for when this runs,
// and oneDNN, where its headers are (-DHAVE_ONEDNN). One op at one shape is timed as roofline times its own: launches
// in batches, over sets of operands that take turns. Prints what ran, then the seconds of a launch, a line for each
// batch.
//
//   peers <openblas|onednn> <op> <dtype> <sets> <settle seconds> <seconds> <extent>=<number>…
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#ifdef HAVE_ONEDNN
#include <oneapi/dnnl/dnnl.hpp>
#endif

namespace {

using Shape = std::map<std::string, std::int64_t>;
/// One launch on a set.
using Launch = std::function<void(std::size_t set)>;

struct Prepared {
  std::string name;
  Launch launch;
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::int64_t bytes_of(const std::string& dtype) {
  if (dtype == "fp64") return 8;
  return dtype == "fp32" ? 4 : 2;
}

/// Random elements in [-1, 1], on huge pages where the system grants them, touched first by the threads that OpenMP
/// shares loops among. Never given back: the program ends first.
void* operand(std::int64_t elements, const std::string& dtype) {
  constexpr std::int64_t kHuge = std::int64_t{2} << 20;
  const std::int64_t bytes = (elements * bytes_of(dtype) + kHuge - 1) / kHuge * kHuge;
  void* at = std::aligned_alloc(kHuge, static_cast<std::size_t>(bytes));
  if (at == nullptr) throw std::runtime_error("no memory");
  madvise(at, static_cast<std::size_t>(bytes), MADV_HUGEPAGE);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < elements; ++i) {
    auto bits = static_cast<std::uint64_t>(i + 1) * 0x9E3779B97F4A7C15ULL;
    bits = (bits ^ bits >> 31) * 0xBF58476D1CE4E5B9ULL;
    const double value = static_cast<double>(bits >> 11) * 0x1p-52 - 1;
    const auto single = static_cast<float>(value);
    std::uint32_t word;
    std::memcpy(&word, &single, 4);
    if (dtype == "fp64") static_cast<double*>(at)[i] = value;
    if (dtype == "fp32") static_cast<float*>(at)[i] = single;
    if (dtype == "bf16") static_cast<std::uint16_t*>(at)[i] = static_cast<std::uint16_t>(word >> 16);
    if (dtype == "fp16") {  // cut off; below 2^-14, zero
      const std::uint32_t exponent = word >> 23 & 0xFF;
      const std::uint32_t magnitude = exponent < 113 ? 0 : (exponent - 112) << 10 | (word >> 13 & 0x3FF);
      static_cast<std::uint16_t*>(at)[i] = static_cast<std::uint16_t>(word >> 16 & 0x8000 | magnitude);
    }
  }
  return at;
}

template <typename T>
using Gemm = void (*)(int, int, int, int, int, int, T, const T*, int, const T*, int, T, T*, int);

template <typename T>
Launch blas_gemm(void* library, const char* symbol, const std::string& dtype, const Shape& shape, std::size_t sets) {
  const auto gemm = reinterpret_cast<Gemm<T>>(dlsym(library, symbol));
  const std::int64_t m = shape.at("m"), n = shape.at("n"), k = shape.at("k");
  std::vector<T*> a, b, c;
  for (std::size_t set = 0; set < sets; ++set) {
    a.push_back(static_cast<T*>(operand(m * k, dtype)));
    b.push_back(static_cast<T*>(operand(k * n, dtype)));
    c.push_back(static_cast<T*>(operand(m * n, dtype)));
  }
  return [=](std::size_t set) {
    constexpr int kRowMajor = 101, kPlain = 111;
    const auto rows = static_cast<int>(m), columns = static_cast<int>(n), depth = static_cast<int>(k);
    gemm(kRowMajor, kPlain, kPlain, rows, columns, depth, 1, a[set], depth, b[set], columns, 0, c[set], columns);
  };
}

constexpr const char* kOpenBlas = "libopenblas.so.0";

std::string openblas_core(void* library) {
  return reinterpret_cast<const char* (*)()>(dlsym(library, "openblas_get_corename"))();
}

/// An OpenBLAS that does not know a CPU with AVX-512 takes kernels without it, several times as slow. It chooses as it
/// is loaded: to tell it to take those for the first such CPUs, this process begins anew.
void choose_openblas_kernels([[maybe_unused]] char** arguments) {
#if defined(__x86_64__)
  const bool wide = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
  if (!wide || std::getenv("OPENBLAS_CORETYPE") != nullptr) return;
  void* library = dlopen(kOpenBlas, RTLD_NOW);
  if (library == nullptr) return;
  const std::string core = openblas_core(library);
  for (const char* has_them : {"SkylakeX", "Cooperlake", "Sapphirerapids"}) {
    if (core == has_them) return;
  }
  setenv("OPENBLAS_CORETYPE", "SkylakeX", 1);
  execv("/proc/self/exe", arguments);
#endif
}

Prepared openblas(const std::string& op, const std::string& dtype, const Shape& shape, std::size_t sets) {
  void* library = dlopen(kOpenBlas, RTLD_NOW);
  if (library == nullptr) throw std::runtime_error("not installed: apt-get install libopenblas0");
  if (op == "gemm" && dtype == "fp32") return {"sgemm", blas_gemm<float>(library, "cblas_sgemm", dtype, shape, sets)};
  if (op == "gemm" && dtype == "fp64") return {"dgemm", blas_gemm<double>(library, "cblas_dgemm", dtype, shape, sets)};
  if (op != "version") throw std::runtime_error("has no " + op + " in " + dtype);
  const auto config = reinterpret_cast<const char* (*)()>(dlsym(library, "openblas_get_config"));
  const std::string text = config();
  return {text.substr(0, text.find(' ', text.find(' ') + 1)) + ", kernels for " + openblas_core(library), {}};
}

#ifdef HAVE_ONEDNN
using dnnl::memory;

/// The primitive and its arguments for each set. `weights`, if any, are brought into the form that the primitive likes
/// best, once for all launches.
class OneDnn {
 public:
  OneDnn(const std::string& dtype, std::size_t sets) : dtype_(dtype), arguments_(sets) {}

  memory::desc desc(const memory::dims& extents, memory::format_tag tag) const { return {extents, type(), tag}; }
  /// Of elements that follow each other, in as many rows.
  memory::desc plain(const memory::dims& extents) const {
    constexpr memory::format_tag kTags[] = {memory::format_tag::a, memory::format_tag::ab};
    return desc(extents, kTags[extents.size() - 1]);
  }
  const dnnl::engine& engine() const { return engine_; }

  void argument(int which, const memory::desc& desc, const std::string& dtype) {
    for (auto& arguments : arguments_) {
      const auto elements = static_cast<std::int64_t>(desc.get_size()) / bytes_of(dtype);
      arguments[which] = memory(desc, engine_, operand(elements, dtype));
    }
  }
  void argument(int which, const memory::desc& desc) { argument(which, desc, dtype_); }

  template <typename Primitive, typename PrimitiveDesc>
  Launch launch(const PrimitiveDesc& description) {
    return [this, primitive = Primitive(description)](std::size_t set) {
      primitive.execute(stream_, arguments_[set]);
      stream_.wait();
    };
  }

 private:
  memory::data_type type() const {
    static const std::map<std::string, memory::data_type> types = {
        {"fp32", memory::data_type::f32}, {"fp16", memory::data_type::f16}, {"bf16", memory::data_type::bf16}};
    const auto found = types.find(dtype_);
    if (found == types.end()) throw std::runtime_error("has no " + dtype_);
    return found->second;
  }

  std::string dtype_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  std::vector<std::unordered_map<int, memory>> arguments_;
};

#if DNNL_VERSION_MAJOR >= 3
template <typename Primitive, typename... Arguments>
auto described(const dnnl::engine& engine, const Arguments&... arguments) {
  return typename Primitive::primitive_desc(engine, arguments...);
}
#else
template <typename Primitive, typename... Arguments>
auto described(const dnnl::engine& engine, const Arguments&... arguments) {
  return typename Primitive::primitive_desc(typename Primitive::desc(arguments...), engine);
}
#endif

Prepared onednn(const std::string& op, const std::string& dtype, const Shape& shape, std::size_t sets) {
  using dnnl::algorithm;
  using dnnl::prop_kind;
  constexpr auto kInference = prop_kind::forward_inference;
  const auto extent = [&](const char* name) { return shape.at(name); };
  auto& library = *new OneDnn(dtype, sets);  // the launch refers to it
  const dnnl::engine& engine = library.engine();
  if (op == "version") {
    const dnnl_version_t* version = dnnl_version();
    return {
        std::to_string(version->major) + '.' + std::to_string(version->minor) + '.' + std::to_string(version->patch),
        {}};
  }
  if (op == "gemm") {
    const auto a = library.plain({extent("m"), extent("k")}), b = library.plain({extent("k"), extent("n")}),
               c = library.plain({extent("m"), extent("n")});
    const auto description = described<dnnl::matmul>(engine, a, b, c);
    library.argument(DNNL_ARG_SRC, a);
    library.argument(DNNL_ARG_WEIGHTS, b);
    library.argument(DNNL_ARG_DST, c);
    return {"matmul", library.launch<dnnl::matmul>(description)};
  }
  if (op == "conv2d") {
    const std::int64_t pad = extent("padding"), kernel = extent("kernel");
    const std::int64_t rows = extent("height") + 2 * pad - kernel + 1, columns = extent("width") + 2 * pad - kernel + 1;
    const auto input = library.desc({extent("batch"), extent("channels"), extent("height"), extent("width")},
                                    memory::format_tag::nhwc);
    const auto output = library.desc({extent("batch"), extent("filters"), rows, columns}, memory::format_tag::nhwc);
    const auto any = library.desc({extent("filters"), extent("channels"), kernel, kernel}, memory::format_tag::any);
    const memory::dims strides = {1, 1}, padding = {pad, pad};
    const auto description = described<dnnl::convolution_forward>(engine, kInference, algorithm::convolution_direct,
                                                                  input, any, output, strides, padding, padding);
    library.argument(DNNL_ARG_SRC, input);
    library.argument(DNNL_ARG_WEIGHTS, description.weights_desc());
    library.argument(DNNL_ARG_DST, output);
    return {"convolution, filters packed before", library.launch<dnnl::convolution_forward>(description)};
  }
  if (op == "softmax" || op == "layernorm") {
    const auto rows = library.plain({extent("rows"), extent("cols")});
    library.argument(DNNL_ARG_SRC, rows);
    library.argument(DNNL_ARG_DST, rows);
#if DNNL_VERSION_MAJOR >= 3
    if (op == "softmax") {
      const auto description =
          described<dnnl::softmax_forward>(engine, kInference, algorithm::softmax_accurate, rows, rows, 1);
      return {"softmax", library.launch<dnnl::softmax_forward>(description)};
    }
#else
    if (op == "softmax") {
      const auto description = described<dnnl::softmax_forward>(engine, kInference, rows, 1);
      return {"softmax", library.launch<dnnl::softmax_forward>(description)};
    }
#endif
    const memory::desc factors({extent("cols")}, memory::data_type::f32, memory::format_tag::a);
    const auto flags = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
#if DNNL_VERSION_MAJOR >= 3
    const auto description = described<dnnl::layer_normalization_forward>(engine, kInference, rows, rows, 1e-5F, flags);
#else
    const auto description = described<dnnl::layer_normalization_forward>(engine, kInference, rows, 1e-5F, flags);
#endif
    library.argument(DNNL_ARG_SCALE, factors, "fp32");
    library.argument(DNNL_ARG_SHIFT, factors, "fp32");
    return {"layer normalization", library.launch<dnnl::layer_normalization_forward>(description)};
  }
  const auto elements = library.plain({extent("n")});
  if (op == "relu") {
    library.argument(DNNL_ARG_SRC, elements);
    library.argument(DNNL_ARG_DST, elements);
#if DNNL_VERSION_MAJOR >= 3
    const auto description =
        described<dnnl::eltwise_forward>(engine, kInference, algorithm::eltwise_relu, elements, elements, 0.F, 0.F);
#else
    const auto description =
        described<dnnl::eltwise_forward>(engine, kInference, algorithm::eltwise_relu, elements, 0.F, 0.F);
#endif
    return {"eltwise relu", library.launch<dnnl::eltwise_forward>(description)};
  }
  if (op == "add") {
    const auto description = described<dnnl::binary>(engine, algorithm::binary_add, elements, elements, elements);
    library.argument(DNNL_ARG_SRC_0, elements);
    library.argument(DNNL_ARG_SRC_1, elements);
    library.argument(DNNL_ARG_DST, elements);
    return {"binary add", library.launch<dnnl::binary>(description)};
  }
  if (op == "reduction") {
    const auto one = library.plain({1});
    const auto description = described<dnnl::reduction>(engine, algorithm::reduction_sum, elements, one, 0.F, 0.F);
    library.argument(DNNL_ARG_SRC, elements);
    library.argument(DNNL_ARG_DST, one);
    return {"reduction", library.launch<dnnl::reduction>(description)};
  }
  throw std::runtime_error("has no " + op);
}
#else
Prepared onednn(const std::string&, const std::string&, const Shape&, std::size_t) {
  throw std::runtime_error("not installed: apt-get install libdnnl-dev");
}
#endif

/// Seconds of a launch, of `launches` one after another.
double batch(const Launch& launch, std::size_t sets, std::int64_t launches, std::size_t& next) {
  const double start = now();
  for (std::int64_t i = 0; i < launches; ++i) launch(next++ % sets);
  return (now() - start) / static_cast<double>(launches);
}

void time_launches(const Launch& launch, std::size_t sets, double settle_s, double sample_s) {
  constexpr double kBatch = 5e-3;
  std::size_t next = 0;
  batch(launch, sets, 1, next);  // chooses and compiles
  const double once = batch(launch, sets, 1, next);
  const auto launches = static_cast<std::int64_t>(kBatch / once) + 1;
  for (const double end = now() + settle_s; now() < end;) batch(launch, sets, launches, next);
  const double end = now() + sample_s;
  do {
    std::printf("%.9g\n", batch(launch, sets, launches, next));
  } while (now() < end);
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> given(arguments + 1, arguments + count);
  try {
    if (given.size() < 6) throw std::runtime_error("usage: see the top of peers.cpp");
    Shape shape;
    for (std::size_t i = 6; i < given.size(); ++i) {
      const auto sign = given[i].find('=');
      shape[given[i].substr(0, sign)] = std::stoll(given[i].substr(sign + 1));
    }
    const std::size_t sets = std::stoul(given[3]);
    if (given[0] == "openblas") choose_openblas_kernels(arguments);
    const Prepared peer = (given[0] == "openblas" ? openblas : onednn)(given[1], given[2], shape, sets);
    std::printf("%s\n", peer.name.c_str());
    if (peer.launch) time_launches(peer.launch, sets, std::stod(given[4]), std::stod(given[5]));
  } catch (const std::out_of_range&) {  // an extent that only this op has
    std::fprintf(stderr, "has no %s\n", given[1].c_str());
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
