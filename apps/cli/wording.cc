#include "wording.h"

#include <array>
#include <string_view>
#include <utility>

#include "segue/error.h"
#include "words.h"

namespace segue::cli {
namespace {

// Names of the library's options as its messages have them, and what a user has instead.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kNames = {{
    {"a shorter context_length", "a smaller --ctx"},
    {"context_length", "--ctx"},
    {"gpu_layers", "--gpu-layers"},
    {"ModelOptions::chat_template", "--template FILE"},
    {"the load was stopped by on_progress", "stopped while the model was loading"},
}};

std::string in_words_of_the_program(std::string message) {
  for (const auto& [theirs, ours] : kNames) {
    for (std::size_t at = 0; (at = message.find(theirs, at)) != std::string::npos;
         at += ours.size()) {
      message.replace(at, theirs.size(), ours);
    }
  }
  return message;
}

std::string describe_overflow(const ContextOverflow& full, Mode mode) {
  const std::string context = "the context of " + grouped(full.context_length()) + " tokens";
  const bool in_chat = mode == Mode::chat;
  const std::string cut = in_chat ? "/set max_tokens N" : "--max-tokens N";
  const std::string forget = in_chat ? "/set when_full drop_oldest" : "--when-full drop_oldest";
  std::string message;
  if (full.written_tokens() > 0) {
    message = context + " is full: the prompt takes " + grouped(full.prompt_tokens()) +
              " and the answer has come to " + grouped(full.written_tokens()) +
              ". The answer is not kept. " + cut + " ends answers earlier; ";
  } else {
    message = "the conversation has come to " + grouped(full.prompt_tokens()) +
              " tokens, which do not fit " + context + ". ";
  }
  message += forget + " forgets the oldest turns; ";
  if (in_chat) message += "/undo takes back the last one; ";
  return message + "--ctx N at the start makes more room.";
}

}  // namespace

std::string describe(const std::exception& error, Mode mode) {
  if (const auto* full = dynamic_cast<const ContextOverflow*>(&error)) {
    return describe_overflow(*full, mode);
  }
  return in_words_of_the_program(error.what());
}

std::string title_of(const Capabilities& model) {
  // llama.cpp has no name for sizes that nobody published.
  constexpr std::string_view kUnnamedSize = "?B";
  std::string title = model.description;
  if (const std::size_t at = title.find(kUnnamedSize); at != std::string::npos) {
    title.replace(at, kUnnamedSize.size(), short_count(model.parameters));
  }
  return title;
}

}  // namespace segue::cli
