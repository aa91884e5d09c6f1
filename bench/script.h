// What people do in a workload, as data: which session asks what, in which order, what at once. The
// floor and segue play the same script.
//
// Values; no synchronisation needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace segue::bench {

enum class ActKind : std::uint8_t {
  ask,         // a new prompt
  edit,        // the turn `turn` (from 0) is asked again with another text; what came after it goes
  regenerate,  // the last answer again
  fork,        // the session begins as a copy of `from`; nothing is read
};

struct Act {
  ActKind kind = ActKind::ask;
  std::size_t session = 0;
  std::string text = {};  // ask, edit
  std::size_t turn = 0;   // edit
  std::size_t from = 0;   // fork
};

// Acts one after another, or with `together` every session at once, each with its own in order.
struct Step {
  std::vector<Act> acts;
  bool together = false;
};

struct ScriptSession {
  std::string instructions = {};
  std::string cache_namespace = {};
};

struct Script {
  std::string name;
  std::string description;
  std::vector<ScriptSession> sessions;
  std::vector<Step> steps;
  std::size_t tokens_written = 0;  // of every answer
};

}  // namespace segue::bench
