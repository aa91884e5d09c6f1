// Plays a script through segue's public interface, and checks every answer.
//
// Not thread-safe. Throws segue::Error, and std::runtime_error where an answer is not the expected
// one.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/played.h"
#include "bench/script.h"
#include "segue/segue.h"

namespace segue::bench {

class SeguePlayer {
 public:
  SeguePlayer(const std::filesystem::path& path, const ModelOptions& options);

  // Ends the sessions of the script before, frees all kept state and opens the sessions of this
  // one. `script` must outlive its last play(). `answer`: the text of every answer.
  void start(const Script& script, std::string answer);
  PlayedStep play(std::size_t step);

 private:
  Session& session(std::size_t index) { return sessions_.at(index).value(); }
  void act(const Act& act, std::optional<Response>& out);

  Model model_;
  const Script* script_ = nullptr;
  std::string answer_;
  std::vector<std::optional<Session>> sessions_;
};

}  // namespace segue::bench
