#include "session/conversation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "segue/error.h"

namespace segue {
namespace {

using testing::ElementsAre;

WrittenTokens tokens(std::vector<Token> list) {
  return std::make_shared<const std::vector<Token>>(std::move(list));
}

std::vector<std::string> texts(const Conversation& conversation) {
  std::vector<std::string> texts;
  for (const Entry& entry : conversation.transcript()) texts.push_back(entry.text);
  return texts;
}

std::vector<std::string> read_texts(const Conversation& conversation) {
  std::vector<std::string> texts;
  for (const ChatMessage& message : conversation.messages()) texts.push_back(message.text);
  return texts;
}

// Instructions and three turns: p1 r1, p2 r2, p3 r3.
Conversation three_turns() {
  Conversation conversation;
  conversation.set_instructions("rules");
  for (const char* n : {"1", "2", "3"}) {
    conversation.add_prompt(std::string("p") + n);
    conversation.add_response(std::string("r") + n, "", tokens({1, 2}));
  }
  return conversation;
}

TEST(Conversation, InstructionsAreTheFirstEntryWheneverTheyAreGiven) {
  Conversation conversation;
  conversation.add_prompt("hello");
  conversation.set_instructions("rules");
  EXPECT_THAT(texts(conversation), ElementsAre("rules", "hello"));
  conversation.set_instructions("other rules");
  EXPECT_THAT(texts(conversation), ElementsAre("other rules", "hello"));
  conversation.set_instructions("");
  EXPECT_THAT(texts(conversation), ElementsAre("hello"));
}

TEST(Conversation, SettingTheSameInstructionsKeepsTheirId) {
  Conversation conversation = three_turns();
  const EntryId before = conversation.entries().front().entry.id;
  conversation.set_instructions("rules");
  EXPECT_EQ(conversation.entries().front().entry.id, before);
}

TEST(Conversation, MessagesCarryRolesReasoningAndWrittenTokens) {
  Conversation conversation;
  conversation.set_instructions("rules");
  conversation.add_prompt("why?");
  conversation.add_response("because", "hm", tokens({7, 8}));
  const std::vector<ChatMessage> messages = conversation.messages();
  ASSERT_EQ(messages.size(), 3U);
  EXPECT_EQ(messages[0].role, ChatRole::system);
  EXPECT_EQ(messages[1].role, ChatRole::user);
  EXPECT_EQ(messages[2].role, ChatRole::assistant);
  EXPECT_EQ(messages[2].reasoning, "hm");
  EXPECT_THAT(*messages[2].written, ElementsAre(7, 8));
}

TEST(Conversation, RewindingDropsEveryLaterEntry) {
  Conversation conversation = three_turns();
  conversation.rewind_to(conversation.entries()[2].entry.id);
  EXPECT_THAT(texts(conversation), ElementsAre("rules", "p1", "r1"));
}

TEST(Conversation, RewindingToTheBeginningKeepsTheInstructions) {
  Conversation conversation = three_turns();
  conversation.rewind_to(EntryId{});
  EXPECT_THAT(texts(conversation), ElementsAre("rules"));
}

TEST(Conversation, AnEntryThatDoesNotExistIsRefusedAndNothingChanges) {
  Conversation conversation = three_turns();
  EXPECT_THROW(conversation.rewind_to(EntryId{99}), InvalidArgument);
  EXPECT_THROW(conversation.replace(EntryId{99}, "x"), InvalidArgument);
  EXPECT_EQ(texts(conversation), texts(three_turns()));
}

TEST(Conversation, AReplacedEntryGetsANewIdAndLosesItsWrittenTokens) {
  Conversation conversation = three_turns();
  const EntryId old = conversation.entries()[2].entry.id;
  conversation.replace(old, "another answer");
  const ConversationEntry& replaced = conversation.entries()[2];
  EXPECT_NE(replaced.entry.id, old);
  EXPECT_EQ(replaced.written, nullptr);
  EXPECT_EQ(replaced.entry.kind, EntryKind::response);
  EXPECT_THAT(texts(conversation),
              ElementsAre("rules", "p1", "another answer", "p2", "r2", "p3", "r3"));
}

TEST(Conversation, ReplacingInstructionsByNothingRemovesThem) {
  Conversation conversation = three_turns();
  conversation.replace(conversation.entries()[0].entry.id, "");
  EXPECT_EQ(conversation.instructions(), "");
  EXPECT_EQ(texts(conversation).front(), "p1");
}

TEST(Conversation, CopiesNeverGiveTheSameIdToTwoEntries) {
  Conversation a = three_turns();
  Conversation b = a;
  const EntryId in_a = a.add_prompt("a");
  const EntryId in_b = b.add_prompt("b");
  EXPECT_NE(in_a, in_b);
}

TEST(Conversation, ReopeningDropsTheLastAnswerOnly) {
  Conversation conversation = three_turns();
  conversation.reopen_last_prompt();
  EXPECT_EQ(texts(conversation).back(), "p3");
  conversation.reopen_last_prompt();
  EXPECT_EQ(texts(conversation).back(), "p3");
  EXPECT_EQ(texts(conversation).size(), 6U);
}

TEST(Conversation, ReopeningNeedsAPrompt) {
  Conversation conversation;
  EXPECT_THROW(conversation.reopen_last_prompt(), InvalidArgument);
  conversation.set_instructions("rules");
  EXPECT_THROW(conversation.reopen_last_prompt(), InvalidArgument);
}

TEST(Conversation, LeavingOutTurnsKeepsInstructionsAndTheTranscript) {
  Conversation conversation = three_turns();
  EXPECT_TRUE(conversation.leave_out_oldest_turn());
  EXPECT_THAT(read_texts(conversation), ElementsAre("rules", "p2", "r2", "p3", "r3"));
  EXPECT_TRUE(conversation.leave_out_oldest_turn());
  EXPECT_THAT(read_texts(conversation), ElementsAre("rules", "p3", "r3"));
  EXPECT_EQ(conversation.turns_read(), 1U);
  EXPECT_FALSE(conversation.leave_out_oldest_turn());
  EXPECT_EQ(texts(conversation), texts(three_turns()));
  conversation.read_all();
  EXPECT_EQ(read_texts(conversation), texts(three_turns()));
}

TEST(Conversation, RewindingBeforeWhatIsReadReadsAllAgain) {
  Conversation conversation = three_turns();
  conversation.leave_out_oldest_turn();
  conversation.rewind_to(conversation.entries()[2].entry.id);
  EXPECT_THAT(read_texts(conversation), ElementsAre("rules", "p1", "r1"));
}

TEST(Conversation, EditingTheFirstEntryThatIsReadLeavesTheSameTurnsOut) {
  Conversation conversation = three_turns();
  conversation.leave_out_oldest_turn();
  conversation.replace(conversation.entries()[3].entry.id, "edited");
  EXPECT_THAT(read_texts(conversation), ElementsAre("rules", "edited", "r2", "p3", "r3"));
}

TEST(Conversation, ASavedConversationGoesOnWithFreshIds) {
  const Conversation before = three_turns();
  Conversation after(before.entries(), before.first_read());
  EXPECT_EQ(texts(after), texts(before));
  const EntryId added = after.add_prompt("p4");
  for (const ConversationEntry& each : before.entries()) EXPECT_NE(each.entry.id, added);
}

TEST(Conversation, ASavedConversationThatBreaksTheRulesIsRefused) {
  std::vector<ConversationEntry> twins(2);
  twins[0].entry = {EntryId{1}, EntryKind::prompt, "a", ""};
  twins[1].entry = {EntryId{1}, EntryKind::response, "b", ""};
  EXPECT_THROW(Conversation(twins, EntryId{}), InvalidArgument);
  std::vector<ConversationEntry> misplaced(2);
  misplaced[0].entry = {EntryId{1}, EntryKind::prompt, "a", ""};
  misplaced[1].entry = {EntryId{2}, EntryKind::instructions, "b", ""};
  EXPECT_THROW(Conversation(misplaced, EntryId{}), InvalidArgument);
}

}  // namespace
}  // namespace segue
