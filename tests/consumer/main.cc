// A program of somebody else's that uses segue: two turns with the model that it is given. Its exit
// status tells whether the second turn reused the first, errors can be caught by their type, and no
// llama.cpp comes with the headers.
#include <cstdio>
#include <exception>
#include <string>

#include <segue/segue.h>

#ifdef LLAMA_DEFAULT_SEED
#error "llama.cpp's headers came with segue's"
#endif

namespace {

bool missing_file_is_typed() {
  try {
    segue::Model::load("no-such-file.gguf");
  } catch (const segue::InvalidModel& e) {
    return e.code() == segue::ErrorCode::invalid_model;
  }
  return false;
}

bool second_turn_reuses(const char* path) {
  const segue::Model model = segue::Model::load(path);
  segue::Session chat(model, {.exchange = {.sampling = {.temperature = 0}}});
  const segue::Response first = chat.respond("My name is Ada.");
  std::string second;
  for (const std::string_view piece : chat.stream("What is my name?")) second += piece;
  std::printf("%s\n%s\n", first.text.c_str(), second.c_str());
  return second.find("Ada") != std::string::npos &&
         model.cached_state().tokens_reused >= first.usage.prompt();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 2 || !missing_file_is_typed()) return 1;
    return second_turn_reuses(argv[1]) ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
