// What the program `segue` promises its users, at a terminal and in pipes, on the bundled model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli_program.h"

namespace segue::test {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kModel = SEGUE_TEST_MODEL;
constexpr const char* kEnter = "\r";
constexpr const char* kCtrlC = "\3";
constexpr const char* kCtrlD = "\4";
constexpr int kUsage = 2;

// The same answers each time.
Arguments chat(const Arguments& more = {}) {
  Arguments arguments = {"chat", kModel, "--temp", "0"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

Arguments run(const Arguments& more) {
  Arguments arguments = {"run", kModel, "--temp", "0"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The tokens of a status line: reused, read, written.
struct Cost {
  long reused = -1;
  long read = -1;
  long written = -1;
};

Cost cost_in(std::string status) {
  std::erase(status, ',');
  Cost cost;
  std::istringstream words(status);
  for (std::string word; words >> word;) {
    if (word == "reused") words >> cost.reused;
    if (word == "read") words >> cost.read;
    if (word == "wrote") words >> cost.written;
  }
  return cost;
}

class Cli : public testing::Test {
 protected:
  Finished piped(const std::string& input, const Arguments& more = {}) const {
    return run_program(home_, chat(more), input);
  }
  Folder home_;
};

// Says something at a terminal's prompt; what was answered, and what it cost.
std::pair<std::string, Cost> say(AtTerminal& terminal, const std::string& text) {
  terminal.type(text + kEnter);
  terminal.expect(text + "\n");
  std::string answer = terminal.expect("\nreused ");
  const std::string status = "reused " + terminal.expect("\n");
  terminal.expect("> ");
  return {std::move(answer), cost_in(status)};
}

TEST_F(Cli, AChatInAPipeRecallsAFactOverTurns) {
  const Finished chat = piped("My name is Ada.\nWhat is my name?\n");
  EXPECT_EQ(chat.output, "Nice to meet you, Ada!\nYour name is Ada.\n");
  EXPECT_EQ(chat.errors, "");
  EXPECT_EQ(chat.exit_code, 0);
}

TEST_F(Cli, TheLastLineNeedsNoEndAndWindowsLineEndsAreNone) {
  EXPECT_EQ(piped("My name is Ada.\r\nWhat is my name?").output,
            "Nice to meet you, Ada!\nYour name is Ada.\n");
}

TEST_F(Cli, ATurnReadsOnlyWhatIsNew) {
  const auto lines = lines_of(piped("My name is Ada.\nWhat is my name?\n", {"--verbose"}).errors);
  ASSERT_EQ(lines.size(), 2U);
  const Cost first = cost_in(lines[0]);
  const Cost second = cost_in(lines[1]);
  EXPECT_EQ(first.reused, 0);
  // All but the last token that was written, which nobody has read yet.
  EXPECT_EQ(second.reused, first.read + first.written - 1);
}

TEST_F(Cli, ASavedChatGoesOnInANewProcessWithItsState) {
  const std::string file = home_.path("ada.segue");
  const auto apart = lines_of(piped("My name is Ada.\n/save " + file + "\n", {"--verbose"}).errors);
  const Finished later = piped("/open " + file + "\nWhat is my name?\n", {"--verbose"});
  EXPECT_EQ(later.output, "Your name is Ada.\n");
  ASSERT_EQ(apart.size(), 1U);
  const Cost before = cost_in(apart[0]);
  const Cost after = cost_in(later.errors);
  EXPECT_EQ(after.reused, before.read + before.written - 1);
}

TEST_F(Cli, TheConversationCanBeChangedInEveryWay) {
  const Finished chat = piped(
      "My name is Ada.\n"
      "What is my name?\n"
      "/regenerate\n"
      "/edit 1 My name is Bob.\n"
      "What is my name?\n"
      "/undo\n"
      "/fork side\n"
      "My name is Eve.\n"
      "/sessions\n"
      "/switch main\n"
      "What is my name?\n"
      "/transcript\n");
  EXPECT_THAT(lines_of(chat.output),
              ElementsAre("Nice to meet you, Ada!", "Your name is Ada.", "Your name is Ada.",
                          "Nice to meet you, Bob!", "Your name is Bob.", "Nice to meet you, Eve!",
                          StartsWith("    main  1 turn, "), StartsWith("  * side  2 turns, "),
                          "Your name is Bob.", "1> My name is Bob.", "Nice to meet you, Bob!",
                          "2> What is my name?", "Your name is Bob."));
  EXPECT_EQ(chat.errors, "");
}

TEST_F(Cli, AMistakeIsExplainedAndTheChatGoesOn) {
  const std::string damaged = home_.write("damaged.segue", "\x89segue\r\n and no more");
  const Finished chat = piped("/regnerate\n/set temp hot\n/set grammar " + home_.path("") +
                              "\n/open " + damaged + "\n/open " + home_.path("none") +
                              "\n/save /nowhere/x\n/undo\n/edit 1 x\nMy name is Ada.\n");
  EXPECT_EQ(chat.output, "Nice to meet you, Ada!\n");
  EXPECT_THAT(lines_of(chat.errors),
              ElementsAre(HasSubstr("did you mean /regenerate?"),
                          HasSubstr("\"hot\" is not a number of at least 0"),
                          HasSubstr("it is a directory"), HasSubstr("damaged.segue"),
                          HasSubstr("No such file"), HasSubstr("cannot write /nowhere/x"),
                          HasSubstr("nothing to take back"), HasSubstr("no prompt to edit")));
  // Whoever reads only the answers learns of it.
  EXPECT_EQ(chat.exit_code, 1);
}

TEST_F(Cli, SavingNeverDestroysAFileThatIsNoConversation) {
  const std::string letter = home_.write("letter.txt", "Dear Ada");
  const Finished chat = piped("/save " + letter + "\n");
  EXPECT_EQ(read_file(letter), "Dear Ada");
  EXPECT_THAT(chat.errors, HasSubstr("name another file"));
  const std::string saved = home_.path("x.segue");
  EXPECT_EQ(piped("/save " + saved + "\nMy name is Ada.\n/save " + saved + "\n").errors, "");
}

TEST_F(Cli, AFullContextIsExplainedWithItsNumbers) {
  const Finished chat = piped("hi\n", {"--ctx", "256", "--ignore-eos", "on"});
  EXPECT_THAT(chat.errors, HasSubstr("the context of 256 tokens is full"));
  EXPECT_THAT(chat.errors, HasSubstr("/set max_tokens"));
  EXPECT_EQ(chat.exit_code, 1);
}

TEST_F(Cli, AReaderThatGoesAwayEndsTheChatQuietly) {
  std::string input;
  for (int i = 0; i < 1000; ++i) input += "My name is Ada.\n/undo\n";
  const Finished chat = run_for_lines(home_, {"chat", kModel, "--temp", "0"}, input, 1);
  EXPECT_EQ(chat.output, "Nice to meet you, Ada!\n");
  EXPECT_EQ(chat.errors, "");
  EXPECT_EQ(chat.exit_code, 1);
}

TEST_F(Cli, NoInputIsAChatOfNothing) {
  const Finished chat = piped("");
  EXPECT_EQ(chat.output + chat.errors, "");
  EXPECT_EQ(chat.exit_code, 0);
}

TEST_F(Cli, RunAnswersAPrompt) {
  const Finished once = run_program(home_, run({"-p", "My name is Ada."}));
  EXPECT_EQ(once.output, "Nice to meet you, Ada!\n");
  EXPECT_EQ(once.exit_code, 0);
}

TEST_F(Cli, RunTakesTextFromAPipeAfterItsPrompt) {
  EXPECT_EQ(run_program(home_, run({}), "My name is Ada.\n").output, "Nice to meet you, Ada!\n");
  EXPECT_EQ(run_program(home_, run({"-p", "My name is Ada.", "-p", "Hello."}), "What is my name?\n")
                .output,
            "Nice to meet you, Ada!\nYour name is Ada.\n");
}

TEST_F(Cli, PromptsThatLookLikeListsOrFlagsStayWhole) {
  const Finished answers = run_program(home_, run({"--json", "-p", "[a,b]", "-p", "-5 + 3"}));
  EXPECT_EQ(lines_of(answers.output).size(), 2U) << answers.output << answers.errors;
}

TEST_F(Cli, JsonHasAnObjectForEachAnswer) {
  const Finished answers =
      run_program(home_, run({"--json", "-p", "My name is Ada.", "-p", "What is my name?"}));
  const auto lines = lines_of(answers.output);
  ASSERT_EQ(lines.size(), 2U);
  const json first = json::parse(lines[0]);
  const json second = json::parse(lines[1]);
  EXPECT_EQ(second["text"], "Your name is Ada.");
  EXPECT_EQ(second["reasoning"], "");
  EXPECT_EQ(second["finish_reason"], "end_of_turn");
  EXPECT_EQ(second["usage"]["reused"].get<int>(),
            first["usage"]["read"].get<int>() + first["usage"]["written"].get<int>() - 1);
  for (const char* field : {"to_first_seconds", "total_seconds", "tokens_per_second"}) {
    EXPECT_GT(second["timing"][field].get<double>(), 0) << field;
  }
}

TEST_F(Cli, JsonHasErrorsToo) {
  const Finished missing = run_program(home_, {"run", "/no/model", "--json", "-p", "x"});
  EXPECT_EQ(json::parse(missing.output)["error"]["code"], "invalid_model");
  EXPECT_EQ(missing.errors, "");
  EXPECT_EQ(missing.exit_code, 1);
  const Finished full =
      run_program(home_, run({"--json", "--ctx", "256", "-p", "hi", "--ignore-eos", "on"}));
  EXPECT_EQ(json::parse(full.output)["error"]["code"], "context_overflow");
  EXPECT_THAT(json::parse(full.output)["error"]["message"].get<std::string>(),
              HasSubstr("--max-tokens"));
}

TEST_F(Cli, InspectSaysWhatAModelIsAndWhatThatMeans) {
  const Finished text = run_program(home_, {"inspect", kModel});
  for (const char* part : {"llama", "attention", "any beginning can be kept", "the model's own",
                           "1,024 tokens", "a token", "4 here"}) {
    EXPECT_THAT(text.output, HasSubstr(part));
  }
  const json facts = json::parse(run_program(home_, {"inspect", kModel, "--json"}).output);
  EXPECT_EQ(facts["architecture"], "llama");
  EXPECT_EQ(facts["memory_kind"], "attention");
  EXPECT_EQ(facts["template_kind"], "model");
  EXPECT_EQ(facts["context_length"], 1024);
  EXPECT_GT(facts["state_bytes_per_token"].get<int>(), 0);
}

TEST_F(Cli, ExitCodesTellUsageFromFailure) {
  const std::string empty = home_.write("empty.gguf", "");
  const std::string cut = home_.write("cut.gguf", read_file(kModel).substr(0, 100000));
  struct Case {
    Arguments arguments;
    int exit_code;
    std::string message;
  };
  const std::vector<Case> cases = {
      {{"--help"}, 0, ""},
      {{"chat", "--help"}, 0, ""},
      {{"--version"}, 0, ""},
      {{}, kUsage, "Usage: segue"},
      {{"chatt"}, kUsage, "did you mean chat?"},
      {{kModel}, kUsage, "segue chat "},
      {{"run", kModel}, kUsage, "nothing to ask"},
      {{"run", kModel, "-p", " "}, kUsage, "a prompt is empty"},
      {{"run", "-p", "x"}, kUsage, "name a model"},
      {{"run", kModel, "-p", "two", "words"}, kUsage, "\"words\" is one argument too many"},
      {{"run", kModel, "-p", "x", "--temprature", "1"}, kUsage, "did you mean --temperature?"},
      {{"run", kModel, "-p", "x", "--temp", "hot"}, kUsage, "not a number of at least 0"},
      {{"run", kModel, "-p", "x", "--slots", "0"}, kUsage, "--slots: \"0\""},
      {{"run", kModel, "-p", "x", "--grammar", "/none"}, kUsage, "--grammar: cannot read /none"},
      {{"run", kModel, "-p", "x", "--template", "/"}, kUsage, "--template: cannot read /"},
      {{"inspect", "/no/model"}, 1, "there is no file"},
      {{"inspect", home_.path("")}, 1, "is a directory"},
      {{"inspect", empty}, 1, "is not a GGUF file"},
      {{"inspect", cut}, 1, "is truncated"},
  };
  for (const Case& each : cases) {
    const Finished finished = run_program(home_, each.arguments);
    const std::string shown = testing::PrintToString(each.arguments);
    EXPECT_EQ(finished.exit_code, each.exit_code) << shown << finished.errors;
    EXPECT_THAT(finished.errors, HasSubstr(each.message)) << shown;
  }
}

TEST_F(Cli, OutputThatCannotBeWrittenIsAFailure) {
  // The model is opened after the streams: it must not take a closed one's place.
  const std::string script =
      "'" SEGUE_PROGRAM "' run '" SEGUE_TEST_MODEL "' -p hi >&- 2>'" + home_.path("errors") + "'";
  EXPECT_NE(std::system(script.c_str()), 0);
  EXPECT_THAT(read_file(home_.path("errors")), HasSubstr("cannot write the output"));
}

TEST_F(Cli, ATerminalShowsAnswersAndWhatTheyCost) {
  AtTerminal terminal(home_, chat());
  terminal.expect("/help lists what you can do");
  terminal.expect("> ");
  const auto [first, cost] = say(terminal, "My name is Ada.");
  EXPECT_EQ(first, "Nice to meet you, Ada!");
  const auto [second, next] = say(terminal, "What is my name?");
  EXPECT_EQ(second, "Your name is Ada.");
  EXPECT_EQ(next.reused, cost.read + cost.written - 1);
  terminal.type(kCtrlD);
  EXPECT_EQ(terminal.exit_code(), 0);
  EXPECT_TRUE(terminal.is_as_found());
}

TEST_F(Cli, CtrlCStopsAnAnswerAndKeepsTheChat) {
  AtTerminal terminal(home_, chat({"--ctx", "65536", "--slots", "1"}));
  terminal.expect("> ");
  say(terminal, "My name is Ada.");
  terminal.type(std::string("/set ignore_eos on") + kEnter);
  terminal.expect("ignore_eos is on now\n> ");
  terminal.type(std::string("Hello.") + kEnter);
  terminal.expect("Hello.\n");
  // The answer has begun, and without an end of turn it would go on until the context is full.
  terminal.expect(" ");
  terminal.type(kCtrlC);
  terminal.expect("(stopped; the conversation is as it was before");
  terminal.expect("> ");
  terminal.type(std::string("/set ignore_eos off") + kEnter);
  terminal.expect("ignore_eos is off now\n> ");
  EXPECT_EQ(say(terminal, "What is my name?").first, "Your name is Ada.");
  terminal.type(std::string("/sessions") + kEnter);
  terminal.expect("main  2 turns");
  terminal.type(std::string("/quit") + kEnter);
  EXPECT_EQ(terminal.exit_code(), 0);
}

TEST_F(Cli, CtrlCStopsALongReadAndKeepsWhatWasRead) {
  // More than any machine reads at once; one argument holds 128 KiB at most.
  std::string text;
  while (text.size() < 110000) text += "The quick brown fox jumps over the lazy dog. ";
  AtTerminal terminal(
      home_, chat({"--ctx", "65536", "--slots", "1", "--gpu-layers", "0", "--system", text}));
  terminal.expect("> ");
  terminal.type(std::string("Hello.") + kEnter);
  terminal.expect("Hello.\n");
  terminal.expect("reading ");
  terminal.type(kCtrlC);
  terminal.expect("(stopped; the conversation is as it was before");
  terminal.expect("> ");
  terminal.type(std::string("/stats") + kEnter);
  terminal.expect("1 stopped or failed");
  terminal.expect("1 hold a conversation's state");
  terminal.expect("> ");
  terminal.type(std::string("/system -") + kEnter);
  terminal.expect("there is no system text now\n> ");
  EXPECT_EQ(say(terminal, "My name is Ada.").first, "Nice to meet you, Ada!");
}

TEST_F(Cli, CtrlCThrowsALineAwayAndTwiceAtAnEmptyOneLeaves) {
  AtTerminal terminal(home_, chat());
  terminal.expect("> ");
  terminal.type(std::string("half a li") + kCtrlC);
  EXPECT_EQ(terminal.expect("^C"), "half a li");
  terminal.expect("> ");
  terminal.type(kCtrlC);
  terminal.expect("(Ctrl-C again or Ctrl-D leaves)\n> ");
  EXPECT_EQ(say(terminal, "My name is Ada.").first, "Nice to meet you, Ada!");
  terminal.type(kCtrlC);
  terminal.expect("(Ctrl-C again or Ctrl-D leaves)\n> ");
  terminal.type(kCtrlC);
  EXPECT_EQ(terminal.exit_code(), 0);
  EXPECT_TRUE(terminal.is_as_found());
}

TEST_F(Cli, AnInterruptThatComesAfterTheAnswerKeepsTheChat) {
  AtTerminal terminal(home_, chat());
  terminal.expect("> ");
  say(terminal, "My name is Ada.");
  terminal.signal(SIGINT);
  const auto ask = [&terminal](const std::string& question) {
    terminal.type(question + kEnter);
    terminal.expect(question + "\n");
    return terminal.expect("\n> ");
  };
  std::string shown = ask("What is my name?");
  // The signal may be noticed as late as in this answer; it stops one at most.
  if (shown.find("(stopped") != std::string::npos) shown = ask("What is my name?");
  EXPECT_THAT(shown, StartsWith("Your name is Ada."));
}

TEST_F(Cli, APasteOfSeveralLinesIsOnePrompt) {
  AtTerminal terminal(home_, chat());
  terminal.expect("> ");
  say(terminal, "My name is Ada.");
  terminal.type("\x1b[200~Hello.\rWhat is my name?\r\x1b[201~");
  terminal.expect("What is my name?");
  terminal.type(kEnter);
  terminal.expect("reused ");
  terminal.expect("> ");
  terminal.type(std::string("/transcript") + kEnter);
  terminal.expect("2> Hello.\nWhat is my name?\n");
  terminal.expect("> ");
}

TEST_F(Cli, EditBringsTheOldPromptBack) {
  AtTerminal terminal(home_, chat());
  terminal.expect("> ");
  say(terminal, "My name is Ada.");
  terminal.type(std::string("/edit") + kEnter);
  terminal.expect("/edit 1 My name is Ada.");
  terminal.type(
      "\x7f\x7f\x7f\x7f"
      "Bob.");
  terminal.type(kEnter);
  terminal.expect("Nice to meet you, Bob!");
  terminal.expect("> ");
  terminal.type(std::string("/sessions") + kEnter);
  terminal.expect("main  1 turn,");
}

TEST_F(Cli, LinesAreRememberedAcrossChats) {
  {
    AtTerminal terminal(home_, chat());
    terminal.expect("> ");
    say(terminal, "My name is Ada.");
    // A window that is closed leaves no time to say goodbye.
    terminal.signal(SIGHUP);
    EXPECT_EQ(terminal.exit_code(), 128 + SIGHUP);
    EXPECT_TRUE(terminal.is_as_found());
  }
  AtTerminal terminal(home_, chat());
  terminal.expect("> ");
  terminal.type("\x1b[A");
  terminal.expect("My name is Ada.");
  terminal.type(kEnter);
  terminal.expect("Nice to meet you, Ada!");
}

TEST_F(Cli, TabWritesCommandsOut) {
  AtTerminal terminal(home_, chat());
  terminal.expect("> ");
  terminal.type(std::string("/sess\t") + kEnter);
  terminal.expect("* main  0 turns");
  terminal.type("/set top_\t");
  terminal.expect("top_k  top_p  top_n_sigma");
}

TEST_F(Cli, NoColorLeavesNoColours) {
  const auto talk = [this](const Environment& environment) {
    AtTerminal terminal(home_, chat(), environment);
    terminal.expect("> ");
    say(terminal, "My name is Ada.");
    terminal.type(std::string("/nope") + kEnter);
    terminal.expect("is no command");
    terminal.expect("> ");
    return terminal.raw();
  };
  EXPECT_THAT(talk({}), HasSubstr("\x1b[31m"));
  EXPECT_THAT(talk({{"NO_COLOR", "1"}}), Not(testing::ContainsRegex("\x1b\\[[0-9;]*m")));
  EXPECT_THAT(talk({{"TERM", "dumb"}}), Not(HasSubstr("\x1b")));
}

TEST_F(Cli, WhatAModelWritesNeverDrivesTheTerminal) {
  AtTerminal terminal(home_, chat());
  terminal.expect("> ");
  // A prompt with an escape sequence, shown again.
  const std::string file = home_.path("x.segue");
  const Finished saved = piped("Hello \x1b]0;title\x07.\n/save " + file + "\n");
  EXPECT_EQ(saved.errors, "");
  terminal.type("/open " + file + kEnter);
  terminal.expect("1> Hello ]0;title.");
  EXPECT_THAT(terminal.raw(), Not(HasSubstr("\x1b]")));
}

TEST_F(Cli, InPipesThereAreNoEscapes) {
  const Finished chat =
      piped("My name is Ada.\n/nope\n/help\n/stats\n/transcript\n", {"--verbose"});
  EXPECT_THAT(chat.output + chat.errors, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace segue::test
