#include "import/byte_source.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "host/files.hpp"
#include "import/utf16.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBuffer = std::size_t{1} << 18;
/// Traces compress to a tenth, repetitive ones to a thirtieth. A higher ratio is a decompression bomb.
constexpr std::uint64_t kMostUnpacked = 150;
constexpr std::uint64_t kSmallEnough = std::uint64_t{1} << 28;

/// It is read as it comes, and what is kept of it is far less.
constexpr FileLimit kImportLimit{std::uint64_t{64} << 30, "a profile"};

/// zstd's streaming interface, as libzstd.so.1 has had it since 2016. Found at run time: only .ncu-repz need it.
class Zstd {
 public:
  struct Input {
    const void* bytes;
    std::size_t size, position;
  };
  struct Output {
    void* bytes;
    std::size_t size, position;
  };

  Zstd() {
    library_ = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) return;
    create_ = reinterpret_cast<void* (*)()>(dlsym(library_, "ZSTD_createDStream"));
    free_ = reinterpret_cast<std::size_t (*)(void*)>(dlsym(library_, "ZSTD_freeDStream"));
    unpack_ = reinterpret_cast<std::size_t (*)(void*, Output*, Input*)>(dlsym(library_, "ZSTD_decompressStream"));
    is_error_ = reinterpret_cast<unsigned (*)(std::size_t)>(dlsym(library_, "ZSTD_isError"));
    if (create_ == nullptr || free_ == nullptr || unpack_ == nullptr || is_error_ == nullptr) return;
    stream_ = create_();
    if (stream_ == nullptr) throw std::bad_alloc();
  }
  ~Zstd() {
    if (stream_ != nullptr) free_(stream_);
    if (library_ != nullptr) dlclose(library_);
  }
  Zstd(const Zstd&) = delete;
  Zstd& operator=(const Zstd&) = delete;

  bool found() const { return stream_ != nullptr; }
  /// True if it went well. `left` is 0 at the end of a frame.
  bool unpack(Output& output, Input& input, std::size_t& left) {
    left = unpack_(stream_, &output, &input);
    return is_error_(left) == 0;
  }

 private:
  void* library_ = nullptr;
  void* stream_ = nullptr;
  void* (*create_)() = nullptr;
  std::size_t (*free_)(void*) = nullptr;
  std::size_t (*unpack_)(void*, Output*, Input*) = nullptr;
  unsigned (*is_error_)(std::size_t) = nullptr;
};

}  // namespace

/// What fills the buffer.
struct ByteSource::Unpacker {
  Unpacker() : buffer(kBuffer) {}
  virtual ~Unpacker() = default;
  /// Bytes that it put into `buffer`; 0 at the end. `problem` is set where the file is broken.
  virtual std::size_t next() = 0;

  std::vector<char> buffer;
  std::uint64_t packed_size = 0;
  bool packed = false;
  std::string problem;
};

namespace {

/// Reads gzip and plain files; zlib detects which.
struct Gzip final : ByteSource::Unpacker {
  explicit Gzip(gzFile opened) : file(opened) {
    gzbuffer(file, kBuffer);
    packed = gzdirect(file) == 0;
  }
  ~Gzip() override { gzclose(file); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  std::size_t next() override {
    const int got = gzread(file, buffer.data(), static_cast<unsigned>(buffer.size()));
    int code = Z_OK;
    const char* text = gzerror(file, &code);
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    if (code == Z_BUF_ERROR) problem = "the compressed file is truncated";
    if (code != Z_OK && code != Z_BUF_ERROR && code != Z_STREAM_END) {
      problem = code == Z_ERRNO ? std::strerror(errno) : text;
    }
    return got > 0 ? static_cast<std::size_t>(got) : 0;
  }

  gzFile file;
};

struct ZstdFile final : ByteSource::Unpacker {
  explicit ZstdFile(std::FILE* opened) : file(opened), packed_bytes(kBuffer) { packed = true; }
  ~ZstdFile() override { std::fclose(file); }
  ZstdFile(const ZstdFile&) = delete;
  ZstdFile& operator=(const ZstdFile&) = delete;

  std::size_t next() override {
    Zstd::Output output = {buffer.data(), buffer.size(), 0};
    while (output.position == 0) {
      if (input.position == input.size) {
        input = {packed_bytes.data(), std::fread(packed_bytes.data(), 1, packed_bytes.size(), file), 0};
        if (input.size == 0) {
          if (left != 0) problem = "the compressed file is truncated";
          return 0;
        }
      }
      if (!zstd.unpack(output, input, left)) {
        problem = "invalid zstd data";
        return 0;
      }
    }
    return output.position;
  }

  Zstd zstd;
  std::FILE* file;
  std::vector<char> packed_bytes;
  Zstd::Input input = {nullptr, 0, 0};
  std::size_t left = 0;
};

/// Text in UTF-16 with a byte order mark as UTF-8; everything else as it is.
struct AsUtf8 final : ByteSource::Unpacker {
  explicit AsUtf8(std::unique_ptr<ByteSource::Unpacker> of) : inner(std::move(of)) { packed = inner->packed; }

  std::size_t next() override {
    const std::size_t size = inner->next();
    problem = inner->problem;
    const std::string_view bytes(inner->buffer.data(), size);
    if (!started) encoding = marked_encoding_of(bytes);
    const bool has_mark = !std::exchange(started, true) && encoding != TextEncoding::utf8;
    if (encoding != TextEncoding::utf8) return decode(bytes.substr(has_mark ? 2 : 0), size);
    std::swap(buffer, inner->buffer);
    return size;
  }

  std::size_t decode(std::string_view bytes, std::size_t read) {
    text.clear();
    for (const char byte : bytes) {
      unit[filled++] = byte;
      if (filled < 2) continue;
      decoder.take(utf16_unit(unit, encoding));
      filled = 0;
    }
    if (read == 0) decoder.finish();
    // A surrogate's first half alone gives no text yet, and 0 would be the end.
    if (read > 0 && text.empty()) return next();
    buffer.assign(text.begin(), text.end());
    return text.size();
  }

  std::unique_ptr<ByteSource::Unpacker> inner;
  std::string text;
  Utf16Decoder decoder{text};
  TextEncoding encoding = TextEncoding::utf8;
  char unit[2] = {};
  std::size_t filled = 0;
  bool started = false;
};

std::unique_ptr<ByteSource::Unpacker> open_packed(const fs::path& path) {
  const auto refuse = [&] { throw UsageError(fmt::format("{}: {}", path.string(), std::strerror(errno))); };
  require_file(path, kImportLimit);
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) refuse();
  unsigned char magic[4] = {};
  const bool zstd = std::fread(magic, 1, 4, file) == 4 && magic[0] == 0x28 && magic[1] == 0xb5 && magic[2] == 0x2f &&
                    magic[3] == 0xfd;
  if (zstd) {
    std::rewind(file);
    auto unpacker = std::make_unique<ZstdFile>(file);
    if (!unpacker->zstd.found()) {
      throw UsageError(fmt::format("{}: compressed with zstd, but libzstd.so.1 was not found", path.string()),
                       "install libzstd, or decompress it with zstd -d");
    }
    return unpacker;
  }
  std::fclose(file);
  errno = 0;
  gzFile opened = gzopen(path.c_str(), "rb");
  if (opened == nullptr && errno == 0) throw std::bad_alloc();
  if (opened == nullptr) refuse();
  return std::make_unique<Gzip>(opened);
}

std::unique_ptr<ByteSource::Unpacker> open(const fs::path& path) { return std::make_unique<AsUtf8>(open_packed(path)); }

}  // namespace

ByteSource::ByteSource(const fs::path& path) : name_(path.string()), unpacker_(open(path)) {
  std::error_code ignored;
  const auto size = fs::file_size(path, ignored);
  unpacker_->packed_size = ignored ? 0 : size;
}

ByteSource::~ByteSource() = default;

bool ByteSource::fill() {
  before_ += static_cast<std::uint64_t>(end_ - begin_);
  const std::size_t size = unpacker_->next();
  begin_ = next_ = unpacker_->buffer.data();
  end_ = begin_ + size;
  if (!unpacker_->problem.empty()) {
    end_ = begin_;
    fail(unpacker_->problem);
  }
  if (unpacker_->packed && before_ + size > kSmallEnough && before_ + size > kMostUnpacked * unpacker_->packed_size) {
    fail(fmt::format("it decompresses to more than {} times its size", kMostUnpacked));
  }
  return size > 0;
}

std::size_t ByteSource::read(char* to, std::size_t size) {
  std::size_t done = 0;
  while (done < size && (next_ < end_ || fill())) {
    const std::size_t some = std::min(size - done, static_cast<std::size_t>(end_ - next_));
    std::memcpy(to + done, next_, some);
    next_ += some;
    done += some;
  }
  return done;
}

std::uint64_t ByteSource::pass_over(std::uint64_t size) {
  std::uint64_t done = 0;
  while (done < size && (next_ < end_ || fill())) {
    const auto some = std::min<std::uint64_t>(size - done, static_cast<std::uint64_t>(end_ - next_));
    next_ += some;
    done += some;
  }
  return done;
}

bool ByteSource::line(std::string& text) {
  constexpr std::size_t kLongest = std::size_t{1} << 24;
  text.clear();
  bool any = false;
  line_ended_ = false;
  while (next_ < end_ || fill()) {
    any = true;
    const char* stop = static_cast<const char*>(std::memchr(next_, '\n', static_cast<std::size_t>(end_ - next_)));
    text.append(next_, stop == nullptr ? end_ : stop);
    next_ = stop == nullptr ? end_ : stop + 1;
    if (text.size() > kLongest) fail("a line of more than 16 MB");
    line_ended_ = stop != nullptr;
    if (line_ended_) break;
  }
  return any;
}

void ByteSource::fail(const std::string& what, const std::string& hint) const { fail_at(offset(), what, hint); }

void ByteSource::fail_at(std::uint64_t offset, const std::string& what, const std::string& hint) const {
  throw UsageError(fmt::format("{}: byte {}{}: {}", name_, offset, unpacker_->packed ? " (decompressed)" : "", what),
                   hint);
}

std::string first_bytes(const fs::path& path, std::size_t size) {
  ByteSource source(path);
  std::string bytes(size, '\0');
  bytes.resize(source.read(bytes.data(), size));
  return bytes;
}

}  // namespace roofline
