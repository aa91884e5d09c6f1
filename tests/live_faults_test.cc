// What goes wrong leaves a session as it was: errors, cancellations, callbacks that throw, readers
// that go away, and requests that meet each other.
#include <atomic>
#include <optional>
#include <stdexcept>
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
using live::model;
using live::texts;
using testing::HasSubstr;

std::string long_text(int sentences) {
  std::string text;
  for (int i = 0; i < sentences; ++i) text += "I live in a place called Oslo. ";
  return text;
}

// A model whose reads come in many small pieces.
Model in_small_pieces() {
  ModelOptions options = live::small_options();
  options.batch_size = 16;
  return Model::load(live::model_path(), options);
}

// A session that has been told a name, and whose next answer must be right and cheap.
struct ToldName {
  explicit ToldName(const Model& on) : chat(on, greedy_session()) {
    told = chat.respond("My name is Ada.");
    before = texts(chat);
  }
  void expect_as_before() {
    EXPECT_FALSE(chat.is_responding());
    EXPECT_EQ(texts(chat), before);
    const Response asked = chat.respond("What is my name?");
    EXPECT_EQ(asked.text, "Your name is Ada.");
    EXPECT_GE(asked.usage.reused, held_after(told));
    expect_as_fresh(chat);
  }

  Session chat;
  Response told;
  std::vector<std::string> before;
};

TEST(LiveFaults, APromptBeyondTheContextIsRefusedWithCounts) {
  ToldName ada(model());
  try {
    ada.chat.respond(long_text(200));
    FAIL() << "no error";
  } catch (const ContextOverflow& error) {
    EXPECT_EQ(error.context_length(), 1024);
    EXPECT_GT(error.prompt_tokens(), 1024);
    EXPECT_EQ(error.written_tokens(), 0);
  }
  ada.expect_as_before();
}

TEST(LiveFaults, AnAnswerThatFillsTheContextIsNoShorterSuccess) {
  ToldName ada(model());
  ExchangeOptions endless = greedy();
  endless.max_tokens.reset();
  endless.ignore_eos = true;
  endless.grammar = "root ::= [a-z ]*";
  try {
    ada.chat.respond("Tell me a story.", endless);
    FAIL() << "no error";
  } catch (const ContextOverflow& error) {
    EXPECT_GT(error.written_tokens(), 0);
    EXPECT_LE(error.prompt_tokens() + error.written_tokens(), 1024 + 1);
  }
  ada.expect_as_before();
}

TEST(LiveFaults, AFullContextEndsItsOwnAnswerOnly) {
  Session full(model(), greedy_session());
  Session other(model(), greedy_session());
  other.respond("My name is Ada.");
  ExchangeOptions endless = greedy();
  endless.max_tokens.reset();
  endless.ignore_eos = true;
  endless.grammar = "root ::= [a-z ]*";
  std::atomic<bool> overflowed = false;
  std::jthread writer([&] {
    try {
      full.respond("Tell me a story.", endless);
    } catch (const ContextOverflow&) {
      overflowed = true;
    }
  });
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(other.respond("What is my name?").text, "Your name is Ada.");
  }
  writer.join();
  EXPECT_TRUE(overflowed);
  EXPECT_TRUE(full.transcript().empty());
  expect_as_fresh(other);
}

TEST(LiveFaults, TextThatIsNotUtf8IsRefusedWithItsOffset) {
  ToldName ada(model());
  try {
    ada.chat.respond("abc\xFFxyz");
    FAIL() << "no error";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("byte 3"));
  }
  ada.expect_as_before();
}

TEST(LiveFaults, OptionsOutOfRangeAreRefused) {
  ToldName ada(model());
  ExchangeOptions options = greedy();
  options.sampling.top_p = 7;
  EXPECT_THROW(ada.chat.respond("Hello", options), InvalidArgument);
  EXPECT_THROW(ada.chat.set_exchange_options(options), InvalidArgument);
  options = greedy();
  options.grammar = "root ::= (((";
  EXPECT_THROW(ada.chat.respond("Hello", options), InvalidArgument);
  ada.expect_as_before();
}

TEST(LiveFaults, ARequestThatIsCancelledAlreadyDoesNothing) {
  ToldName ada(model());
  std::stop_source source;
  source.request_stop();
  ExchangeOptions options = greedy();
  options.cancel = source.get_token();
  EXPECT_THROW(ada.chat.respond("Hello", options), Cancelled);
  ada.expect_as_before();
}

TEST(LiveFaults, CancellingALongReadLeavesTheTranscript) {
  const Model small = in_small_pieces();
  ToldName ada(small);
  std::stop_source source;
  ExchangeOptions options = greedy();
  options.cancel = source.get_token();
  options.on_read = [&](std::int64_t, std::int64_t) { source.request_stop(); };
  EXPECT_THROW(ada.chat.respond(long_text(60), options), Cancelled);
  ada.expect_as_before();
}

TEST(LiveFaults, CancellingWhileItWritesLeavesTheTranscript) {
  ToldName ada(model());
  std::stop_source source;
  ExchangeOptions options = greedy();
  options.cancel = source.get_token();
  options.max_tokens.reset();
  options.ignore_eos = true;
  options.grammar = "root ::= [a-z ]*";
  Stream stream = ada.chat.stream("Tell me a story.", options);
  EXPECT_TRUE(stream.next().has_value());
  source.request_stop();
  EXPECT_THROW(while (stream.next()){}, Cancelled);
  EXPECT_THROW(stream.next(), Cancelled) << "an error is thrown again";
  EXPECT_THROW(stream.finish(), Cancelled);
  ada.expect_as_before();
}

TEST(LiveFaults, LeavingAStreamCancels) {
  ToldName ada(model());
  for (const std::string_view piece : ada.chat.stream("What is my name?")) {
    EXPECT_FALSE(piece.empty());
    break;
  }
  ada.expect_as_before();
}

TEST(LiveFaults, AStreamThatIsNeverReadHoldsNobodyUp) {
  ToldName ada(model());
  ExchangeOptions endless = greedy();
  endless.max_tokens.reset();
  endless.ignore_eos = true;
  {
    const Stream unread = ada.chat.stream("Tell me a story.", endless);
    Session other(model(), greedy_session());
    other.respond("I live in Oslo.");
    EXPECT_EQ(other.respond("Where do I live?").text, "You live in Oslo.");
  }
  ada.expect_as_before();
}

TEST(LiveFaults, ACallbackThatThrowsEndsTheExchange) {
  const Model small = in_small_pieces();
  ToldName ada(small);
  ExchangeOptions options = greedy();
  options.on_read = [](std::int64_t, std::int64_t) { throw std::runtime_error("no disk"); };
  try {
    ada.chat.respond(long_text(60), options);
    FAIL() << "no error";
  } catch (const CallbackFailed& error) {
    EXPECT_THAT(error.what(), HasSubstr("no disk"));
  }
  ada.expect_as_before();
}

TEST(LiveFaults, ALogThatThrowsBreaksNothing) {
  ModelOptions options = live::small_options();
  std::atomic<int> calls = 0;
  options.log = [&](LogLevel, const std::string&) {
    ++calls;
    throw std::runtime_error("broken log");
  };
  const Model noisy = Model::load(live::model_path(), options);
  EXPECT_GT(calls, 0);
  ToldName(noisy).expect_as_before();
}

TEST(LiveFaults, AFailedRegenerationKeepsTheOldAnswer) {
  Session chat(model(), greedy_session());
  chat.respond("My name is Ada.");
  chat.respond("What is my name?");
  const Transcript before = chat.transcript();
  std::stop_source source;
  source.request_stop();
  ExchangeOptions options = greedy();
  options.cancel = source.get_token();
  EXPECT_THROW(chat.regenerate(options), Cancelled);
  EXPECT_EQ(texts(chat).back(), before.back().text);
  EXPECT_EQ(chat.transcript().back().id, before.back().id);
}

TEST(LiveFaults, GivingUpInALongReadFiveTimesGetsFurtherEachTime) {
  const Model small = in_small_pieces();
  Session chat(small, greedy_session());
  const std::string prompt = long_text(60) + "Where do I live?";
  std::int64_t last_total = 1 << 20;
  for (int attempt = 0; attempt < 5; ++attempt) {
    std::stop_source source;
    ExchangeOptions options = greedy();
    options.cancel = source.get_token();
    std::int64_t total = 0;
    options.on_read = [&](std::int64_t, std::int64_t to_read) {
      total = to_read;
      source.request_stop();
    };
    EXPECT_THROW(chat.respond(prompt, options), Cancelled);
    EXPECT_LT(total, last_total) << "attempt " << attempt;
    last_total = total;
  }
  const Response answer = chat.respond(prompt);
  EXPECT_LT(answer.usage.read, last_total);
  EXPECT_EQ(answer.text, live::fresh_answer(chat).text);
}

TEST(LiveFaults, ASecondRequestMeanwhileIsRefused) {
  ToldName ada(model());
  {
    const Stream running = ada.chat.stream("What is my name?");
    EXPECT_TRUE(ada.chat.is_responding());
    EXPECT_THROW(ada.chat.respond("Hello"), ConcurrentRequests);
    EXPECT_THROW(ada.chat.regenerate(), ConcurrentRequests);
    EXPECT_THROW(ada.chat.prewarm(), ConcurrentRequests);
    EXPECT_THROW(ada.chat.rewind_to(EntryId{}), ConcurrentRequests);
    EXPECT_THROW(ada.chat.set_instructions("x"), ConcurrentRequests);
    EXPECT_THROW(ada.chat.replace(live::id_of(ada.chat, 0), "x"), ConcurrentRequests);
    const live::ScratchFile file;
    EXPECT_THROW(ada.chat.save(file.path()), ConcurrentRequests);
  }
  ada.expect_as_before();
}

TEST(LiveFaults, ATransientRequestMeanwhileIsAnsweredApart) {
  ToldName ada(model());
  ExchangeOptions apart = greedy();
  apart.when_busy = WhenBusy::transient;
  Stream running = ada.chat.stream("Where do I live?");
  const Response meanwhile = ada.chat.respond("What is my name?", apart);
  EXPECT_EQ(meanwhile.text, "Your name is Ada.");
  EXPECT_EQ(texts(ada.chat), ada.before);
  running.finish();
  EXPECT_EQ(texts(ada.chat).size(), 4U);
  EXPECT_EQ(texts(ada.chat)[2], "Where do I live?");
  expect_as_fresh(ada.chat);
}

TEST(LiveFaults, ATransientRequestThatMeetsNobodyIsAnOrdinaryOne) {
  ToldName ada(model());
  ExchangeOptions apart = greedy();
  apart.when_busy = WhenBusy::transient;
  ada.chat.respond("What is my name?", apart);
  EXPECT_EQ(texts(ada.chat).size(), 4U);
}

TEST(LiveFaults, ASessionDestroyedWhileItStreamsStillAnswers) {
  std::optional<Session> chat(std::in_place, model(), greedy_session());
  chat->respond("My name is Ada.");
  Stream stream = chat->stream("What is my name?");
  chat.reset();
  EXPECT_EQ(stream.finish().text, "Your name is Ada.");
}

TEST(LiveFaults, TheModelMayGoBeforeItsSessions) {
  std::optional<Model> own = Model::load(live::model_path(), live::small_options());
  Session chat(*own, greedy_session());
  chat.respond("My name is Ada.");
  own.reset();
  EXPECT_EQ(chat.respond("What is my name?").text, "Your name is Ada.");
}

TEST(LiveFaults, SixtyFourSessionsComeAndGoWhileTheyAnswer) {
  const Model own = Model::load(live::model_path(), live::small_options());
  for (int i = 0; i < 64; ++i) {
    Session chat(own, greedy_session());
    Stream stream = chat.stream("My name is Ada.");
    if (i % 3 == 0) stream.next();
  }
  ToldName(own).expect_as_before();
  EXPECT_EQ(own.cached_state().slots_busy, 0);
}

TEST(LiveFaults, WaitingIsBounded) {
  ModelOptions options = live::small_options();
  options.slots = 1;
  options.max_waiting = 1;
  const Model own = Model::load(live::model_path(), options);
  std::vector<Session> chats;
  for (int i = 0; i < 3; ++i) chats.emplace_back(own, greedy_session());
  ExchangeOptions endless = greedy();
  endless.max_tokens.reset();
  endless.ignore_eos = true;
  endless.grammar = "root ::= [a-z ]*";
  Stream running = chats[0].stream("Tell me a story.", endless);
  ASSERT_TRUE(running.next().has_value());
  const Stream waiting = chats[1].stream("Hello");
  EXPECT_THROW(chats[2].respond("Hello"), QueueFull);
  EXPECT_TRUE(chats[2].transcript().empty());
}

}  // namespace
}  // namespace segue
