#include "llama/model_identity.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <vector>

#include "hash/xxhash/xxhash.h"
#include "llama.h"
#include "segue/error.h"

namespace segue {

namespace {

constexpr std::uint64_t kWholeBytes = std::uint64_t{32} << 20;
constexpr std::uint64_t kHeadBytes = std::uint64_t{8} << 20;
constexpr std::uint64_t kBlockBytes = 16 << 10;
constexpr std::uint64_t kBlocks = 256;

struct HashDeleter {
  void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};
using Hash = std::unique_ptr<XXH3_state_t, HashDeleter>;

class Part {
 public:
  Part(const std::filesystem::path& path, XXH3_state_t* hash)
      : path_(path), file_(path, std::ios::binary), hash_(hash) {}

  void add() {
    std::error_code error;
    const std::uint64_t size = std::filesystem::file_size(path_, error);
    if (error || !file_) fail();
    XXH3_128bits_update(hash_, &size, sizeof size);
    if (size <= kWholeBytes) {
      add_range(0, size);
      return;
    }
    add_range(0, kHeadBytes);
    const std::uint64_t step = (size - kHeadBytes - kBlockBytes) / kBlocks;
    for (std::uint64_t i = 1; i <= kBlocks; ++i) add_range(kHeadBytes + i * step, kBlockBytes);
  }

 private:
  void add_range(std::uint64_t from, std::uint64_t count) {
    file_.seekg(static_cast<std::streamoff>(from));
    std::vector<char> buffer(std::min<std::uint64_t>(count, 1 << 20));
    while (count > 0) {
      const auto n = std::min<std::uint64_t>(count, buffer.size());
      if (!file_.read(buffer.data(), static_cast<std::streamsize>(n))) fail();
      XXH3_128bits_update(hash_, buffer.data(), n);
      count -= n;
    }
  }

  [[noreturn]] void fail() const {
    throw InvalidModel("\"" + path_.string() +
                       "\" cannot be read. Check that it is complete and "
                       "that you may read it.");
  }

  const std::filesystem::path path_;
  std::ifstream file_;
  XXH3_state_t* hash_;
};

}  // namespace

std::string model_identity(const std::filesystem::path& path, int parts) {
  const Hash hash(XXH3_createState());
  XXH3_128bits_reset(hash.get());
  std::array<char, 4096> prefix{};
  if (parts > 1 && llama_split_prefix(prefix.data(), prefix.size(), path.c_str(), 0, parts) > 0) {
    for (int i = 0; i < parts; ++i) {
      std::array<char, 4096> part{};
      llama_split_path(part.data(), part.size(), prefix.data(), i, parts);
      Part(part.data(), hash.get()).add();
    }
  } else {
    Part(path, hash.get()).add();
  }
  const XXH128_hash_t digest = XXH3_128bits_digest(hash.get());
  std::array<char, 33> text{};
  std::snprintf(text.data(), text.size(), "%016llx%016llx",
                static_cast<unsigned long long>(digest.high64),
                static_cast<unsigned long long>(digest.low64));
  return text.data();
}

}  // namespace segue
