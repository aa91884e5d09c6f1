#include "session/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "segue/error.h"

namespace segue {

namespace {

std::string reason() { return std::generic_category().message(errno); }

IoFailed failure(const char* what, const std::filesystem::path& path, const std::string& why) {
  return IoFailed(std::string("cannot ") + what + " " + path.string() + ": " + why);
}

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }
  // False where the last writes were lost.
  bool close() { return ::close(std::exchange(value_, -1)) == 0; }

 private:
  int value_;
};

// Removes the unfinished file unless it became the real one.
class Unfinished {
 public:
  explicit Unfinished(std::filesystem::path path) : path_(std::move(path)) {}
  ~Unfinished() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  const std::filesystem::path& path() const { return path_; }
  void keep() { path_.clear(); }

 private:
  std::filesystem::path path_;
};

std::filesystem::path name_beside(const std::filesystem::path& path) {
  static std::atomic<std::uint64_t> count{0};
  std::filesystem::path beside = path;
  beside += ".part-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
  return beside;
}

bool write_all(int file, std::span<const std::byte> content) {
  while (!content.empty()) {
    const ssize_t written = ::write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    content = content.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

// The rename itself reaches the disk with its folder. Some file systems cannot sync a folder; the
// content is safe then, too.
void sync_folder_of(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.get() >= 0) ::fsync(descriptor.get());
}

}  // namespace

std::vector<std::byte> read_whole_file(const std::filesystem::path& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) throw failure("read", path, error.message());
  std::ifstream file(path, std::ios::binary);
  if (!file) throw failure("read", path, reason());
  std::vector<std::byte> content(size);
  file.read(reinterpret_cast<char*>(content.data()), static_cast<std::streamsize>(size));
  if (!file) throw failure("read", path, "it ended early");
  return content;
}

void replace_whole_file(const std::filesystem::path& path, std::span<const std::byte> content) {
  // A link stays a link: what it points to is replaced.
  std::error_code error;
  std::filesystem::path target = std::filesystem::weakly_canonical(path, error);
  if (error) target = path;

  const std::filesystem::path beside = name_beside(target);
  Descriptor file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.get() < 0) throw failure("write", path, reason());
  Unfinished unfinished(beside);
  struct stat old {};
  if (::stat(target.c_str(), &old) == 0 && ::fchmod(file.get(), old.st_mode & 07777) != 0) {
    throw failure("write", path, reason());
  }
  if (!write_all(file.get(), content) || ::fsync(file.get()) != 0 || !file.close() ||
      ::rename(unfinished.path().c_str(), target.c_str()) != 0) {
    throw failure("write", path, reason());
  }
  unfinished.keep();
  sync_folder_of(target);
}

}  // namespace segue
