#include "inject/loaded_library.hpp"

#include <link.h>

#include <cstddef>

namespace roofline::inject {
namespace {

struct Search {
  std::string ending;
  std::string path;
};

int find(dl_phdr_info* info, std::size_t, void* of) {
  Search& search = *static_cast<Search*>(of);
  const std::string_view path = info->dlpi_name;
  if (!path.ends_with(search.ending)) return 0;
  search.path = path;
  return 1;
}

}  // namespace

std::string loaded_library(std::string_view file) {
  Search search = {"/" + std::string(file), {}};
  dl_iterate_phdr(find, &search);
  return search.path;
}

}  // namespace roofline::inject
