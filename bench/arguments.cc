#include "bench/arguments.h"

#include <cstddef>
#include <stdexcept>

namespace segue::bench {
namespace {

MemoryKind parse_kind(const std::string& word) {
  if (word == "attention") return MemoryKind::attention;
  if (word == "sliding-window") return MemoryKind::sliding_window;
  if (word == "hybrid") return MemoryKind::hybrid;
  throw std::invalid_argument("no model is called " + word);
}

std::string parse_workload(const std::string& word) {
  for (const char* known : {"chat", "sessions", "system", "edit", "at-once", "none"}) {
    if (word == known) return word;
  }
  throw std::invalid_argument("no workload is called " + word);
}

int parse_number(const std::string& word) {
  std::size_t used = 0;
  int number = 0;
  try {
    number = std::stoi(word, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used == 0 || used != word.size() || number < 1) {
    throw std::invalid_argument(word + " is not a number of at least 1");
  }
  return number;
}

template <typename T>
T choose(const std::string& word, const std::string& first, T first_value,
         const std::string& second, T second_value) {
  if (word == first) return first_value;
  if (word == second) return second_value;
  throw std::invalid_argument(word + " is neither " + first + " nor " + second);
}

}  // namespace

const char* const kUsage =
    "usage: segue_bench [options]\n"
    "Measures segue against a bare loop over llama_decode that reads only what is new.\n"
    "  --model NAME         attention, sliding-window or hybrid; may be given again (all)\n"
    "  --workload NAME      chat, sessions, system, edit or at-once; may be given again (all);\n"
    "                       none: sampling only\n"
    "  --no-sampling        leave out the cost of sampling\n"
    "  --scale SCALE        real or tiny (real)\n"
    "  --tokens N           tokens of an answer (32)\n"
    "  --repeat N           how often each workload is played (3)\n"
    "  --threads N          threads of a decode (all cores)\n"
    "  --floor-checkpoints WHEN\n"
    "                       needed: the floor saves states only where the script comes back;\n"
    "                       turns: at every turn, as segue has to (needed)\n"
    "  --models DIR         where the made-up models are kept (1.6 GB)\n"
    "  --json FILE          write the figures there as well\n";

Arguments parse_arguments(const std::vector<std::string>& words) {
  Arguments out;
  bool has_models = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& option = words[i];
    if (option == "--help" || option == "-h") {
      out.help = true;
      continue;
    }
    if (option == "--no-sampling") {
      out.sampling = false;
      continue;
    }
    if (i + 1 == words.size()) throw std::invalid_argument(option + " needs a value");
    const std::string& value = words[++i];
    if (option == "--model") {
      if (!has_models) out.kinds.clear();
      has_models = true;
      out.kinds.push_back(parse_kind(value));
    } else if (option == "--workload") {
      out.workloads.push_back(parse_workload(value));
    } else if (option == "--scale") {
      out.scale = choose(value, "real", ModelScale::real, "tiny", ModelScale::tiny);
    } else if (option == "--tokens") {
      out.tokens_written = static_cast<std::size_t>(parse_number(value));
    } else if (option == "--repeat") {
      out.repeats = parse_number(value);
    } else if (option == "--threads") {
      out.threads = parse_number(value);
    } else if (option == "--floor-checkpoints") {
      out.checkpoints = choose(value, "needed", FloorCheckpoints::as_needed, "turns",
                               FloorCheckpoints::every_turn);
    } else if (option == "--models") {
      out.models = value;
    } else if (option == "--json") {
      out.json = value;
    } else {
      throw std::invalid_argument("there is no option " + option);
    }
  }
  return out;
}

}  // namespace segue::bench
