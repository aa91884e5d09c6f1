#include "session/fitting.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace segue {

namespace {

std::int64_t positions_of(const Prompt& prompt) {
  std::int64_t positions = 0;
  for (const PromptItem& item : prompt.items) positions += item.n_positions;
  return positions;
}

// Kept free for the answer: what was asked for, but never more than a quarter of the context; an
// eighth where nothing was.
std::int64_t room_for_answer(const ExchangeOptions& options, std::int64_t context) {
  const std::int64_t asked = options.max_tokens ? *options.max_tokens : context / 8;
  return std::clamp<std::int64_t>(asked, 1, std::max<std::int64_t>(context / 4, 1));
}

}  // namespace

BuildOptions build_options(const ExchangeOptions& options) {
  BuildOptions build;
  build.enable_thinking = options.thinking;
  return build;
}

BuiltPrompt build_fitting(const ModelImpl& model, Conversation& conversation,
                          const ExchangeOptions& options, FragmentCache* fragments) {
  const auto build = [&] {
    return model.builder().build(conversation.messages(), build_options(options), fragments);
  };
  if (options.when_full == WhenFull::refuse) {
    conversation.read_all();
    return build();
  }
  BuiltPrompt built = build();
  const std::int64_t context = model.capabilities().context_length;
  const std::int64_t room = room_for_answer(options, context);
  if (positions_of(built.prompt) + room <= context) return built;

  const std::int64_t goal = context * 3 / 4;
  for (std::int64_t length = positions_of(built.prompt) + room; length > goal;
       length = positions_of(built.prompt) + room) {
    // Half of what turns of equal length would need, so that unequal ones are not left out in vain.
    const auto turns = static_cast<std::int64_t>(conversation.turns_read());
    std::int64_t count = std::max<std::int64_t>(turns * (length - goal) / length / 2, 1);
    bool has_changed = false;
    while (count-- > 0 && conversation.leave_out_oldest_turn()) has_changed = true;
    if (!has_changed) break;
    built = build();
  }
  return built;
}

}  // namespace segue
