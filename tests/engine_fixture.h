// An engine over fake memories, and conversations in it whose every answer is compared with a fresh
// full read.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/engine.h"
#include "fakes/fake_backend.h"
#include "fakes/fake_letters.h"
#include "fakes/fake_memory.h"
#include "segue/error.h"

namespace segue {

inline constexpr std::array kKeptKinds = {MemoryKind::attention, MemoryKind::sliding_window,
                                          MemoryKind::recurrent, MemoryKind::hybrid};

// Reads an answer to its end; what ended it otherwise is thrown.
inline AnswerResult result_of(Answer& answer) {
  for (;;) {
    AnswerEvent event = answer.next();
    if (auto* result = std::get_if<AnswerResult>(&event)) return std::move(*result);
  }
}

struct FakeEngine {
  explicit FakeEngine(FakeBackendOptions backend = {}, EngineOptions options = {})
      : traits(backend.memory),
        control(std::make_shared<FakeControl>()),
        engine(std::make_unique<Engine>(std::make_unique<FakeBackend>(backend, control), letters,
                                        std::move(options))) {}

  CachedState idle_counters() const {
    engine->wait_until_idle();
    return engine->counters();
  }

  MemoryTraits traits;
  FakeLetters letters;
  std::shared_ptr<FakeControl> control;
  std::unique_ptr<Engine> engine;
};

// Does something on the engine thread in the middle of an answer: at the n-th decode from now.
class AtDecode {
 public:
  AtDecode(FakeEngine& on, int n, std::function<void()> action) : on_(on) {
    on.control->set_on_decode(
        [left = std::make_shared<std::atomic<int>>(n), action = std::move(action)](std::size_t) {
          if (--*left == 0) action();
        });
  }
  ~AtDecode() { on_.control->set_on_decode({}); }
  AtDecode(const AtDecode&) = delete;
  AtDecode& operator=(const AtDecode&) = delete;

 private:
  FakeEngine& on_;
};

// A conversation of made-up turns: what the engine is asked is its items and some new ones.
class Talk {
 public:
  struct Turn {
    std::int64_t new_tokens = 6;
    std::int64_t max_tokens = 8;
    bool transient = false;
    bool endless = false;  // only max_tokens ends it
  };

  explicit Talk(FakeEngine& on, std::string space = {})
      : on_(&on), space_(std::move(space)), id_(on.engine->open_session(space_)) {}
  // The same beginning, a session of its own.
  Talk fork() const {
    Talk copy(*on_, space_);
    copy.items_ = items_;
    copy.boundaries_ = boundaries_;
    return copy;
  }

  SessionId id() const { return id_; }
  const std::vector<Token>& items() const { return items_; }
  const std::vector<ItemCount>& boundaries() const { return boundaries_; }
  std::size_t turns() const { return boundaries_.size(); }

  // The request for a turn whose text is made from `seed`: the same seed, the same text.
  GenerationRequest request(std::uint64_t seed, const Turn& turn) const {
    GenerationRequest request;
    request.session = id_;
    request.prompt = prompt_for(seed, turn.new_tokens);
    request.max_tokens = static_cast<std::int32_t>(turn.max_tokens);
    request.transient = turn.transient;
    request.sampler.ignore_eos = turn.endless;
    return request;
  }
  Prompt prompt_for(std::uint64_t seed, std::int64_t new_tokens) const {
    Prompt prompt;
    for (const Token token : items_) prompt.items.push_back(PromptItem::of_token(token));
    prompt.boundaries = boundaries_;
    if (!items_.empty()) {
      prompt.boundaries.emplace_back(static_cast<std::int64_t>(items_.size()));
    }
    for (std::int64_t i = 0; i < new_tokens; ++i) {
      seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
      prompt.items.push_back(
          PromptItem::of_token(1 + static_cast<Token>((seed >> 33U) % (kFakeVocabulary - 1))));
    }
    return prompt;
  }

  // Asks, compares with a fresh read, and takes the answer into the conversation. Throws what the
  // engine threw; the conversation is then as before.
  AnswerResult ask(std::uint64_t seed, const Turn& turn) {
    const GenerationRequest asked = request(seed, turn);
    AnswerResult result = result_of(*on_->engine->submit(asked));
    expect_fresh(asked, result);
    if (!turn.transient) take(asked.prompt, result);
    return result;
  }
  AnswerResult ask(std::uint64_t seed) { return ask(seed, Turn{}); }

  void expect_fresh(const GenerationRequest& asked, const AnswerResult& result) const {
    const std::vector<Token> prompt = tokens_of(asked.prompt);
    const std::vector<Token> fresh = fresh_fake_answer(
        on_->traits, prompt, asked.max_tokens.value_or(1 << 20), asked.sampler.ignore_eos);
    EXPECT_EQ(result.tokens, fresh) << to_string(on_->traits.kind) << ", " << prompt.size()
                                    << " items, " << result.usage.reused << " reused";
    EXPECT_EQ(result.usage.prompt(), static_cast<std::int64_t>(prompt.size()));
    EXPECT_GE(result.usage.read, asked.max_tokens == 0 ? 0 : 1);
  }
  void take(const Prompt& prompt, const AnswerResult& result) {
    boundaries_ = prompt.boundaries;
    items_ = tokens_of(prompt);
    items_.insert(items_.end(), result.tokens.begin(), result.tokens.end());
    items_.push_back(kFakeEnd);  // the template closes the turn
  }

  // Back to before turn `n` (0: before the first).
  void rewind_to(std::size_t n) {
    if (n >= turns_begin_count()) return;
    items_.resize(begin_of(n));
    boundaries_.resize(n == 0 ? 0 : n - 1);
  }
  // Puts back what an earlier copy of this conversation had.
  void become(const Talk& other) {
    items_ = other.items_;
    boundaries_ = other.boundaries_;
  }
  // Turns whose text has been taken.
  std::size_t turns_begin_count() const { return items_.empty() ? 0 : boundaries_.size() + 1; }

  static std::vector<Token> tokens_of(const Prompt& prompt) {
    std::vector<Token> tokens;
    for (const PromptItem& item : prompt.items) tokens.push_back(item.token);
    return tokens;
  }

 private:
  std::size_t begin_of(std::size_t n) const {
    return n == 0 ? 0 : static_cast<std::size_t>(boundaries_[n - 1].value);
  }

  FakeEngine* on_;
  std::string space_;
  SessionId id_;
  std::vector<Token> items_;
  std::vector<ItemCount> boundaries_;  // where turns 1, 2, … begin
};

inline std::int64_t length(const Talk& talk) {
  return static_cast<std::int64_t>(talk.items().size());
}

// On each kind of memory, with two slots.
class EngineOnEveryMemory : public testing::TestWithParam<MemoryKind> {
 protected:
  static FakeBackendOptions backend(std::int32_t n_slots = 2) {
    return {.memory = fake_traits(GetParam()), .n_slots = n_slots};
  }
  FakeEngine on_{backend()};
};

}  // namespace segue
