// The promise on a real model: what a session has read or written, it never reads again, and the
// answers are right.
#include <atomic>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "live.h"

namespace segue {
namespace {

using live::expect_as_fresh;
using live::greedy;
using live::greedy_session;
using live::held_after;
using live::id_of;
using live::model;
using live::texts;
using testing::HasSubstr;

std::string joined(Stream stream) {
  std::string text;
  for (const std::string_view piece : stream) text += piece;
  return text;
}

TEST(Live, TurnTwoReadsOnlyItsOwnTokens) {
  Session chat(model(), greedy_session("You are a helpful assistant."));
  const Response first = chat.respond("My name is Ada.");
  const std::int64_t before = chat.token_count();
  const Response second = chat.respond("What is my name?");
  EXPECT_EQ(second.text, "Your name is Ada.");
  EXPECT_EQ(second.usage.reused, held_after(first));
  // The end of the first turn, the question and the words of the template around it.
  EXPECT_LE(second.usage.read, 2 + model().token_count("What is my name?") + 12);
  EXPECT_EQ(second.usage.prompt() - before, second.usage.read - (before - held_after(first)));
  expect_as_fresh(chat);
}

TEST(Live, TurnTwoOfAStreamReadsOnlyItsOwnTokens) {
  Session chat(model(), greedy_session("You are a helpful assistant."));
  Stream first = chat.stream("My name is Ada.");
  const Response told = first.finish();
  Stream second = chat.stream("What is my name?");
  const Response asked = second.finish();
  EXPECT_EQ(asked.text, "Your name is Ada.");
  EXPECT_EQ(asked.usage.reused, held_after(told));
  expect_as_fresh(chat);
}

TEST(Live, TheStreamedPiecesAreTheAnswer) {
  Session chat(model(), greedy_session());
  chat.respond("My name is Ada.");
  EXPECT_EQ(joined(chat.stream("What is my name?")), "Your name is Ada.");
  EXPECT_THAT(texts(chat), testing::Contains("Your name is Ada."));
}

TEST(Live, TwoSessionsInTurnEachReuseAllOfTheirState) {
  Session ada(model(), greedy_session("You are a helpful assistant."));
  Session bob(model(), greedy_session("Be brief."));
  Response ada_last = ada.respond("My name is Ada.");
  Response bob_last = bob.respond("My name is Bob.");
  for (int round = 0; round < 3; ++round) {
    const Response from_ada = ada.respond("What is my name?");
    EXPECT_THAT(from_ada.text, HasSubstr("Ada"));
    EXPECT_EQ(from_ada.usage.reused, held_after(ada_last));
    const Response from_bob = bob.respond("What is my name?");
    EXPECT_THAT(from_bob.text, HasSubstr("Bob"));
    EXPECT_EQ(from_bob.usage.reused, held_after(bob_last));
    ada_last = from_ada;
    bob_last = from_bob;
  }
  expect_as_fresh(ada);
  expect_as_fresh(bob);
}

TEST(Live, ManyMoreSessionsThanSlotsStillReadOnlyWhatIsNew) {
  const std::vector<std::string> names = {"Ada", "Bob", "Mira", "Oscar", "Nina", "Karl", "Emma"};
  std::vector<Session> chats;
  std::vector<Response> last;
  for (const std::string& name : names) {
    chats.emplace_back(model(), greedy_session());
    last.push_back(chats.back().respond("My name is " + name + "."));
  }
  for (std::size_t i = 0; i < chats.size(); ++i) {
    const Response asked = chats[i].respond("What is my name?");
    EXPECT_EQ(asked.text, "Your name is " + names[i] + ".");
    EXPECT_EQ(asked.usage.reused, held_after(last[i])) << names[i];
  }
}

TEST(Live, RegeneratingReadsOneTokenAndReplacesTheAnswer) {
  Session chat(model(), greedy_session());
  chat.respond("My name is Ada.");
  const Response first = chat.respond("What is my name?");
  const EntryId old = id_of(chat, 3);
  const Response again = chat.regenerate();
  EXPECT_EQ(again.text, first.text);
  EXPECT_EQ(again.usage.read, 1);
  EXPECT_EQ(again.usage.reused, first.usage.prompt() - 1);
  EXPECT_EQ(chat.transcript().size(), 4U);
  EXPECT_NE(id_of(chat, 3), old);
  expect_as_fresh(chat);
}

TEST(Live, RegeneratingWorksWhereThePromptHasNoAnswerYet) {
  Session chat(model(), greedy_session());
  chat.respond("My name is Ada.");
  chat.respond("What is my name?");
  chat.rewind_to(id_of(chat, 2));
  EXPECT_EQ(chat.regenerate().text, "Your name is Ada.");
  EXPECT_EQ(chat.transcript().size(), 4U);
}

TEST(Live, RegeneratingWithoutAPromptIsRefused) {
  Session chat(model(), greedy_session("You are a helpful assistant."));
  EXPECT_THROW(chat.regenerate(), InvalidArgument);
  EXPECT_FALSE(chat.is_responding());
}

TEST(Live, EditingAnEarlierTurnReadsOnlyFromThere) {
  Session chat(model(), greedy_session("You are a helpful assistant."));
  const Response told = chat.respond("I live in Oslo.");
  chat.respond("My name is Ada.");
  chat.respond("What is my name?");
  chat.replace(id_of(chat, 3), "My name is Bob.");
  chat.rewind_to(id_of(chat, 3));
  const Response again = chat.regenerate();
  // All of the first turn is kept; the second one is read from its first changed word.
  EXPECT_GE(again.usage.reused, held_after(told));
  EXPECT_EQ(chat.respond("What is my name?").text, "Your name is Bob.");
  expect_as_fresh(chat);
}

TEST(Live, AnEditKeepsLaterEntries) {
  Session chat(model(), greedy_session());
  chat.respond("My name is Ada.");
  chat.respond("I live in Oslo.");
  chat.replace(id_of(chat, 0), "My name is Bob.");
  chat.replace(id_of(chat, 1), "Nice to meet you, Bob!");
  EXPECT_EQ(chat.respond("What is my name?").text, "Your name is Bob.");
  EXPECT_EQ(chat.respond("Where do I live?").text, "You live in Oslo.");
  EXPECT_EQ(texts(chat).size(), 8U);
  expect_as_fresh(chat);
}

TEST(Live, ForksShareTheStateAndGoOnIndependently) {
  Session chat(model(), greedy_session());
  const Response told = chat.respond("My name is Ada.");
  Session branch = chat.fork();
  EXPECT_EQ(texts(branch), texts(chat));
  const Response in_branch = branch.respond("I live in Oslo.");
  EXPECT_EQ(in_branch.usage.reused, held_after(told));
  const Response in_chat = chat.respond("I live in Paris.");
  EXPECT_GE(in_chat.usage.reused, held_after(told));
  EXPECT_EQ(branch.respond("Where do I live?").text, "You live in Oslo.");
  EXPECT_EQ(chat.respond("Where do I live?").text, "You live in Paris.");
  expect_as_fresh(branch);
  expect_as_fresh(chat);
}

TEST(Live, RewindingForgetsWhatCameLater) {
  Session chat(model(), greedy_session());
  chat.respond("My name is Ada.");
  const EntryId there = id_of(chat, 1);
  chat.respond("My name is Bob now.");
  chat.rewind_to(there);
  EXPECT_EQ(chat.respond("What is my name?").text, "Your name is Ada.");
  expect_as_fresh(chat);
}

TEST(Live, NewInstructionsAreObeyedAtOnce) {
  Session chat(model(), greedy_session("The user is called Ada."));
  EXPECT_EQ(chat.respond("What is my name?").text, "Your name is Ada.");
  chat.set_instructions("The user is called Oscar.");
  EXPECT_EQ(chat.options().instructions, "The user is called Oscar.");
  chat.rewind_to(EntryId{});
  EXPECT_EQ(chat.respond("What is my name?").text, "Your name is Oscar.");
  expect_as_fresh(chat);
}

TEST(Live, PrewarmingReadsTheInstructionsAhead) {
  Session chat(model(), greedy_session("You are a helpful assistant. The user lives in Oslo."));
  chat.prewarm();
  EXPECT_FALSE(chat.is_responding());
  const Response asked = chat.respond("Where do I live?");
  EXPECT_EQ(asked.text, "You live in Oslo.");
  EXPECT_GE(asked.usage.reused, model().token_count(chat.options().instructions));
  EXPECT_LE(asked.usage.read, model().token_count("Where do I live?") + 10);
  expect_as_fresh(chat);
}

TEST(Live, ASavedSessionOpensWarmInAnotherEngine) {
  Session chat(model(), greedy_session("You are a helpful assistant."));
  const Response told = chat.respond("The codeword is apple.");
  const live::ScratchFile file;
  chat.save(file.path());
  const Model restarted = Model::load(live::model_path(), live::small_options());
  Session opened = Session::open(restarted, file.path());
  EXPECT_EQ(texts(opened), texts(chat));
  EXPECT_EQ(opened.options().exchange.max_tokens, greedy().max_tokens);
  const Response asked = opened.respond("What is the codeword?");
  EXPECT_EQ(asked.text, "The code is apple.");
  EXPECT_EQ(asked.usage.reused, held_after(told));
  expect_as_fresh(opened);
}

TEST(Live, AStateThatDoesNotFitIsLeftAndTheTranscriptStays) {
  Session chat(model(), greedy_session());
  chat.respond("The codeword is apple.");
  const live::ScratchFile file;
  chat.save(file.path());
  ModelOptions options = live::small_options();
  options.slots = 3;  // another layout of the state
  const Model another = Model::load(live::model_path(), options);
  Session opened = Session::open(another, file.path());
  const Response asked = opened.respond("What is the codeword?");
  EXPECT_EQ(asked.text, "The code is apple.");
  EXPECT_EQ(asked.usage.reused, 0);
}

TEST(Live, OpeningWhatIsNoSessionFileSaysSo) {
  EXPECT_THROW(Session::open(model(), live::model_path()), InvalidSessionFile);
  EXPECT_THROW(Session::open(model(), "no such file"), IoFailed);
}

TEST(Live, FiguresOfTheModelAddUp) {
  const Model own = Model::load(live::model_path(), live::small_options());
  Session chat(own, greedy_session());
  const Response a = chat.respond("My name is Ada.");
  const Response b = chat.respond("What is my name?");
  const CachedState state = own.cached_state();
  EXPECT_EQ(state.exchanges, 2);
  EXPECT_EQ(state.failures, 0);
  EXPECT_EQ(state.tokens_reused, a.usage.reused + b.usage.reused);
  EXPECT_EQ(state.tokens_written, a.usage.written + b.usage.written);
  EXPECT_EQ(state.tokens_read - state.tokens_settled, a.usage.read + b.usage.read);
  EXPECT_EQ(state.slots_busy, 0);
}

TEST(Live, ClearingCostsTimeAndNoContent) {
  const Model own = Model::load(live::model_path(), live::small_options());
  Session chat(own, greedy_session());
  chat.respond("My name is Ada.");
  Model(own).clear_cached_state();
  EXPECT_EQ(own.cached_state().slots_holding_state, 0);
  EXPECT_EQ(own.cached_state().parked_bytes, 0);
  const Response asked = chat.respond("What is my name?");
  EXPECT_EQ(asked.text, "Your name is Ada.");
  EXPECT_EQ(asked.usage.reused, 0);
}

TEST(Live, CapabilitiesDescribeTheModel) {
  const Capabilities capabilities = model().capabilities();
  EXPECT_EQ(capabilities.architecture, "llama");
  EXPECT_EQ(capabilities.memory_kind, "attention");
  EXPECT_EQ(capabilities.template_kind, "model");
  EXPECT_EQ(capabilities.vocabulary_size, 1536);
  EXPECT_EQ(capabilities.context_length, 1024);
  EXPECT_EQ(capabilities.slots, 2);
  EXPECT_EQ(capabilities.threads, 1);
  EXPECT_GT(capabilities.parameters, 2'000'000);
}

TEST(Live, LoadingWhatIsNoModelIsATypedError) {
  EXPECT_THROW(Model::load("no such file"), InvalidModel);
  EXPECT_THROW(Model::load(__FILE__), InvalidModel);
  ModelOptions options = live::small_options();
  options.slots = 0;
  EXPECT_THROW(Model::load(live::model_path(), options), InvalidArgument);
}

TEST(Live, ALoadCanBeStopped) {
  ModelOptions options = live::small_options();
  options.on_progress = [](float) { return false; };
  EXPECT_THROW(Model::load(live::model_path(), options), Cancelled);
  options.on_progress = [](float) -> bool { throw std::runtime_error("broken progress bar"); };
  EXPECT_THROW(Model::load(live::model_path(), options), CallbackFailed);
}

}  // namespace
}  // namespace segue
