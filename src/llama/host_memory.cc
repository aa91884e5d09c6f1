#include "llama/host_memory.h"

#include <algorithm>
#include <fstream>
#include <string>

namespace segue {

namespace {

std::optional<std::int64_t> number_in(const char* path) {
  std::ifstream file(path);
  std::int64_t value = 0;
  // "max" where a group has no limit.
  if (file >> value) return value;
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> available_host_memory() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::int64_t kib = 0;
  std::string unit;
  std::optional<std::int64_t> available;
  while (file >> name >> kib && std::getline(file, unit)) {
    if (name == "MemAvailable:" || name == "SwapFree:") {
      available = available.value_or(0) + (kib << 10);
    }
  }
  const auto limit = number_in("/sys/fs/cgroup/memory.max");
  // What the group uses now is left out: most of it is page cache, which the system gives back.
  if (available && limit) available = std::min(*available, *limit);
  return available;
}

}  // namespace segue
