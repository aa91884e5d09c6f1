// The promise on every kind of memory: what a session went back to, branched from or came back to
// gives the answer of a fresh read, and a far edit at the start of a turn never costs a full one.
#include <cstdint>
#include <stop_token>
#include <string>

#include "bench/shaped_model.h"
#include "live.h"

namespace segue {
namespace {

using live::fresh_answer;
using live::held_after;
using live::id_of;

class LiveMemory : public testing::TestWithParam<MemoryKind> {
 protected:
  static Model load(std::int32_t slots = 2, std::int32_t batch_size = 512) {
    const auto path = bench::write_random_model(SEGUE_TEST_MODELS, GetParam(), 1);
    ModelOptions options = live::small_options();
    options.slots = slots;
    options.batch_size = batch_size;
    options.context_length = 2048;
    return Model::load(path, options);
  }
  // These models never end an answer; the prompts are longer than the sliding window.
  static SessionOptions options() {
    SessionOptions options = live::greedy_session("Answer with words of every kind and length.");
    options.exchange.max_tokens = 12;
    return options;
  }
  static std::string prompt(const std::string& topic) {
    std::string text = "Let us talk about " + topic + ".";
    for (int i = 0; i < 12; ++i) text += " What else is there to say about " + topic + "?";
    return text;
  }
  void expect_as_fresh(const Session& session) {
    EXPECT_EQ(session.transcript().back().text, fresh_answer(session, fresh_).text);
  }

  const Model model_ = load();
  const Model fresh_ = load();
};

TEST_P(LiveMemory, AppendingReadsOnlyWhatIsNew) {
  Session chat(model_, options());
  Response last = chat.respond(prompt("rivers"));
  for (const char* topic : {"mountains", "bridges"}) {
    const Response next = chat.respond(prompt(topic));
    EXPECT_EQ(next.usage.reused, held_after(last));
    last = next;
    expect_as_fresh(chat);
  }
}

TEST_P(LiveMemory, SessionsInTurnReuseAllOfTheirState) {
  const Model one_slot = load(1);
  Session first(one_slot, options());
  Session second(one_slot, options());
  const Response first_told = first.respond(prompt("rivers"));
  const Response second_told = second.respond(prompt("mountains"));
  EXPECT_EQ(first.respond("Go on.").usage.reused, held_after(first_told));
  EXPECT_EQ(second.respond("Go on.").usage.reused, held_after(second_told));
}

TEST_P(LiveMemory, RegeneratingReadsNoMoreThanTheLastTurn) {
  Session chat(model_, options());
  chat.respond(prompt("rivers"));
  const Response first = chat.respond("Go on.");
  const Response again = chat.regenerate();
  EXPECT_EQ(again.text, first.text);
  EXPECT_LE(again.usage.read, first.usage.read + first.usage.written);
  expect_as_fresh(chat);
}

TEST_P(LiveMemory, RegeneratingWhatWasParkedReadsOneToken) {
  const Model one_slot = load(1);
  Session chat(one_slot, options());
  chat.respond(prompt("rivers"));
  const Response first = chat.respond(prompt("mountains"));
  Session(one_slot, options()).respond(prompt("bridges"));
  const Response again = chat.regenerate();
  EXPECT_EQ(again.text, first.text);
  EXPECT_EQ(again.usage.read, 1);
  expect_as_fresh(chat);
}

TEST_P(LiveMemory, AFarEditReadsOnlyFromItsTurn) {
  Session chat(model_, options());
  const Response first = chat.respond(prompt("rivers"));
  chat.respond(prompt("mountains"));
  chat.respond(prompt("bridges"));
  chat.replace(id_of(chat, 3), prompt("islands"));
  chat.rewind_to(id_of(chat, 3));
  const Response edited = chat.regenerate();
  // Back to the start of the edited turn, but for the few words of the template before it.
  EXPECT_GE(edited.usage.reused, first.usage.prompt());
  expect_as_fresh(chat);
}

TEST_P(LiveMemory, TheFirstBranchIsStillThere) {
  Session chat(model_, options());
  chat.respond(prompt("rivers"));
  const Response last = chat.respond(prompt("mountains"));
  Session branch = chat.fork();
  branch.rewind_to(id_of(branch, 2));
  branch.respond(prompt("islands"));
  branch.respond(prompt("bridges"));
  expect_as_fresh(branch);
  const Response back = chat.respond("Go on.");
  EXPECT_EQ(back.usage.reused, held_after(last));
  expect_as_fresh(chat);
}

TEST_P(LiveMemory, ASavedSessionOpensWarm) {
  Session chat(model_, options());
  chat.respond(prompt("rivers"));
  const Response last = chat.respond("Go on.");
  const live::ScratchFile file;
  chat.save(file.path());
  const Model restarted = load();
  Session opened = Session::open(restarted, file.path());
  EXPECT_EQ(opened.respond("And on.").usage.reused, held_after(last));
  expect_as_fresh(opened);
}

TEST_P(LiveMemory, GivingUpInALongReadFiveTimesGetsFurtherEachTime) {
  const Model in_pieces = load(2, 64);
  Session chat(in_pieces, options());
  std::string all;
  for (const char* topic : {"rivers", "mountains", "bridges", "boats", "birds"}) {
    all += prompt(topic) + "\n";
  }
  std::int64_t last_total = 1 << 20;
  for (int attempt = 0; attempt < 5; ++attempt) {
    std::stop_source source;
    ExchangeOptions giving_up = options().exchange;
    giving_up.cancel = source.get_token();
    std::int64_t total = 0;
    giving_up.on_read = [&](std::int64_t, std::int64_t to_read) {
      total = to_read;
      source.request_stop();
    };
    EXPECT_THROW(chat.respond(all, giving_up), Cancelled);
    EXPECT_LT(total, last_total) << "attempt " << attempt;
    last_total = total;
  }
  EXPECT_LT(chat.respond(all).usage.read, last_total);
  expect_as_fresh(chat);
}

TEST_P(LiveMemory, ParkedStatesAndTheirCheckpointsStayWithinTheBudget) {
  ModelOptions tight = live::small_options();
  tight.cache_bytes = 1 << 20;
  const Model own = Model::load(bench::write_random_model(SEGUE_TEST_MODELS, GetParam(), 1), tight);
  for (int i = 0; i < 12; ++i) {
    Session chat(own, options());
    chat.respond(prompt("river number " + std::to_string(i)));
    chat.respond("Go on.");
    const CachedState state = own.cached_state();
    ASSERT_LE(state.parked_bytes + state.checkpoint_bytes, state.cache_bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, LiveMemory,
                         testing::Values(MemoryKind::attention, MemoryKind::sliding_window,
                                         MemoryKind::recurrent, MemoryKind::hybrid),
                         [](const auto& info) { return to_string(info.param); });

}  // namespace
}  // namespace segue
