#include "cli_program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace segue::test {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kLimit{240};
constexpr int kEnds = 128;

// What execve() takes, made before the fork.
class Words {
 public:
  explicit Words(std::vector<std::string> words) : words_(std::move(words)) {
    for (std::string& word : words_) pointers_.push_back(word.data());
    pointers_.push_back(nullptr);
  }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  char* const* data() const { return pointers_.data(); }

 private:
  std::vector<std::string> words_;
  std::vector<char*> pointers_;
};

std::vector<std::string> command_of(const Arguments& arguments) {
  std::vector<std::string> words = {SEGUE_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

std::vector<std::string> variables_of(const Folder& home, const Environment& added) {
  Environment all = {{"HOME", home.path("")}, {"LANG", "C.UTF-8"}, {"TERM", "xterm"}};
  if (const char* path = std::getenv("PATH")) all["PATH"] = path;
  // A sanitized build's options are the test's.
  for (const char* name : {"ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS"}) {
    if (const char* value = std::getenv(name)) all[name] = value;
  }
  for (const auto& [name, value] : added) all[name] = value;
  std::vector<std::string> words;
  for (const auto& [name, value] : all) words.push_back(name + "=" + value);
  return words;
}

// In the child. A test that was started in the background has SIGINT ignored; a user's program
// has not.
[[noreturn]] void become_program(const Words& command, const Words& variables) {
  for (const int signal : {SIGINT, SIGHUP, SIGTERM, SIGPIPE}) std::signal(signal, SIG_DFL);
  ::execve(SEGUE_PROGRAM, command.data(), variables.data());
  ::_exit(127);
}

int exit_code_of(int status) {
  return WIFSIGNALED(status) ? kEnds + WTERMSIG(status) : WEXITSTATUS(status);
}

int wait_for(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return exit_code_of(status);
}

int open_file(const std::string& path, int flags) {
  const int file = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
  if (file < 0) throw std::runtime_error("cannot open " + path);
  return file;
}

// Streams from and to files never fill, so nobody waits for anybody.
struct Streams {
  Streams(const Folder& folder, std::string_view input_text)
      : output_path(folder.path("stdout")), errors_path(folder.path("stderr")) {
    input = open_file(folder.write("stdin", input_text), O_RDONLY);
    errors = open_file(errors_path, O_WRONLY | O_CREAT | O_TRUNC);
  }
  std::string output_path;
  std::string errors_path;
  int input = -1;
  int errors = -1;
};

pid_t start(const Folder& home, const Arguments& arguments, const Environment& environment,
            const Streams& streams, int output) {
  const Words command(command_of(arguments));
  const Words variables(variables_of(home, environment));
  const pid_t process = ::fork();
  if (process < 0) throw std::runtime_error("cannot fork");
  if (process == 0) {
    ::dup2(streams.input, STDIN_FILENO);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(streams.errors, STDERR_FILENO);
    become_program(command, variables);
  }
  ::close(streams.input);
  ::close(streams.errors);
  ::close(output);
  return process;
}

std::string without_escapes(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b' && i + 1 < text.size() && text[i + 1] == '[') {
      i += 2;
      while (i < text.size() && (text[i] < '@' || text[i] > '~')) ++i;
    } else if (text[i] != '\r' && text[i] != '\a') {
      plain += text[i];
    }
  }
  return plain;
}

}  // namespace

Folder::Folder() {
  std::string name = (fs::temp_directory_path() / "segue-cli-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder");
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string Folder::write(std::string_view name, std::string_view content) const {
  std::ofstream file(path_ / name, std::ios::binary);
  file << content;
  return path(name);
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Finished run_program(const Folder& home, const Arguments& arguments, std::string_view input,
                     const Environment& environment) {
  const Streams streams(home, input);
  const int output = open_file(streams.output_path, O_WRONLY | O_CREAT | O_TRUNC);
  const pid_t process = start(home, arguments, environment, streams, output);
  const int exit_code = wait_for(process);
  return {exit_code, read_file(streams.output_path), read_file(streams.errors_path)};
}

Finished run_for_lines(const Folder& home, const Arguments& arguments, std::string_view input,
                       int n_lines) {
  const Streams streams(home, input);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
  const pid_t process = start(home, arguments, {}, streams, ends[1]);
  std::string lines;
  char next = 0;
  while (std::ranges::count(lines, '\n') < n_lines && ::read(ends[0], &next, 1) == 1) lines += next;
  ::close(ends[0]);
  const int exit_code = wait_for(process);
  return {exit_code, lines, read_file(streams.errors_path)};
}

AtTerminal::AtTerminal(const Folder& home, const Arguments& arguments,
                       const Environment& environment) {
  const Words command(command_of(arguments));
  const Words variables(variables_of(home, environment));
  winsize size{};
  size.ws_col = 200;
  size.ws_row = 50;
  process_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
  if (process_ < 0) throw std::runtime_error("cannot make a terminal");
  if (process_ == 0) become_program(command, variables);
}

AtTerminal::~AtTerminal() {
  if (process_ > 0) {
    ::kill(process_, SIGKILL);
    wait_for(process_);
  }
  ::close(terminal_);
}

void AtTerminal::type(std::string_view keys) {
  while (!keys.empty()) {
    pollfd ready{terminal_, POLLIN | POLLOUT, 0};
    if (::poll(&ready, 1, -1) < 0 && errno != EINTR) return;
    // What it writes meanwhile is taken, or both sides would wait.
    if ((ready.revents & POLLIN) != 0 && !read_more()) return;
    if ((ready.revents & POLLOUT) == 0) continue;
    const ssize_t written =
        ::write(terminal_, keys.data(), std::min<std::size_t>(keys.size(), 512));
    if (written < 0 && errno != EINTR && errno != EAGAIN) return;
    if (written > 0) keys.remove_prefix(static_cast<std::size_t>(written));
  }
}

void AtTerminal::signal(int number) const { ::kill(process_, number); }

bool AtTerminal::read_more() {
  pollfd ready{terminal_, POLLIN, 0};
  const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(kLimit).count();
  if (::poll(&ready, 1, static_cast<int>(limit)) <= 0) {
    hangs_ = true;
    return false;
  }
  std::array<char, 4096> bytes{};
  // EIO: nobody holds the terminal's other side.
  const ssize_t n = ::read(terminal_, bytes.data(), bytes.size());
  if (n <= 0) return false;
  raw_.append(bytes.data(), static_cast<std::size_t>(n));
  return true;
}

std::string AtTerminal::plain() const { return without_escapes(raw_); }

std::string AtTerminal::expect(std::string_view text) {
  for (;;) {
    const std::string all = plain();
    const std::size_t at = all.find(text, seen_);
    if (at != std::string::npos) {
      std::string between = all.substr(seen_, at - seen_);
      seen_ = at + text.size();
      return between;
    }
    if (!read_more()) {
      ADD_FAILURE() << "the program never wrote \"" << text << "\" after:\n" << all.substr(seen_);
      throw std::runtime_error("not what was expected");
    }
  }
}

int AtTerminal::exit_code() {
  while (read_more()) {
  }
  if (hangs_) ::kill(process_, SIGKILL);
  return wait_for(std::exchange(process_, -1));
}

bool AtTerminal::is_as_found() const {
  termios settings{};
  constexpr tcflag_t kCooked = ECHO | ICANON | ISIG;
  return ::tcgetattr(terminal_, &settings) == 0 && (settings.c_lflag & kCooked) == kCooked;
}

}  // namespace segue::test
