// The built program `segue`, run as a user runs it: in pipes, or at a terminal.
//
// Nothing here depends on time: everything waits for what the program writes or for its end, up to
// a limit that only a hanging program reaches.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace segue::test {

using Arguments = std::vector<std::string>;
// Added to an environment of its own: a home folder, UTF-8, TERM=xterm.
using Environment = std::map<std::string, std::string>;

// A folder for one test, removed with all that is in it.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path(std::string_view name) const { return (path_ / name).string(); }
  std::string write(std::string_view name, std::string_view content) const;

 private:
  std::filesystem::path path_;
};

std::string read_file(const std::string& path);

struct Finished {
  int exit_code = -1;  // 128 + the signal's number where one ended it
  std::string output;
  std::string errors;
};

// Runs to the end with `input` in a pipe's place.
Finished run_program(const Folder& home, const Arguments& arguments, std::string_view input = {},
                     const Environment& environment = {});

// Runs until `n_lines` came from its standard output, which is then closed as `head -n` does.
Finished run_for_lines(const Folder& home, const Arguments& arguments, std::string_view input,
                       int n_lines);

// The program at a terminal of 200 columns.
class AtTerminal {
 public:
  AtTerminal(const Folder& home, const Arguments& arguments, const Environment& environment = {});
  // Ends the program where it still runs.
  ~AtTerminal();
  AtTerminal(const AtTerminal&) = delete;
  AtTerminal& operator=(const AtTerminal&) = delete;

  // As keys; "\r" is Enter, "\3" Ctrl-C.
  void type(std::string_view keys);
  void signal(int number) const;

  // Waits until the text appears after what was expected last; gives what stood between. Where the
  // program ends without it, or hangs, the test fails with what was on the screen.
  std::string expect(std::string_view text);
  // Waits for the program's end.
  int exit_code();

  // All that was written so far, as it was and without escape sequences.
  const std::string& raw() const { return raw_; }
  std::string plain() const;

  // The terminal shows what is typed and turns Ctrl-C into a signal, as it did at first.
  bool is_as_found() const;

 private:
  // False at the end of the output, or where it hangs.
  bool read_more();

  int terminal_ = -1;
  pid_t process_ = -1;
  bool hangs_ = false;
  std::string raw_;
  std::size_t seen_ = 0;  // in plain()
};

}  // namespace segue::test
