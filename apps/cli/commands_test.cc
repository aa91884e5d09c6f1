#include "commands.h"

#include <gtest/gtest.h>

namespace segue::cli {
namespace {

TEST(Commands, ALineWithoutASlashIsSaidToTheModel) {
  EXPECT_EQ(std::get<SaidToModel>(parse_line("set the table")).text, "set the table");
  EXPECT_EQ(std::get<SaidToModel>(parse_line("")).text, "");
  EXPECT_EQ(std::get<SaidToModel>(parse_line(" /set")).text, " /set");
}

TEST(Commands, TwoSlashesSayOneToTheModel) {
  EXPECT_EQ(std::get<SaidToModel>(parse_line("//etc/hosts")).text, "/etc/hosts");
}

TEST(Commands, EveryCommandOfTheTableIsFoundByItsName) {
  for (const CommandInfo& info : command_table()) {
    const Line line = parse_line("/" + std::string(info.name) + "  some text ");
    ASSERT_TRUE(std::holds_alternative<Command>(line)) << info.name;
    EXPECT_EQ(std::get<Command>(line).kind, info.kind);
    EXPECT_EQ(std::get<Command>(line).arguments, "some text");
    EXPECT_NE(command_help(80).find("/" + std::string(info.name)), std::string::npos);
  }
}

TEST(Commands, OtherNamesForLeavingWork) {
  EXPECT_EQ(std::get<Command>(parse_line("/exit")).kind, CommandKind::quit);
  EXPECT_EQ(std::get<Command>(parse_line("/?")).kind, CommandKind::help);
}

TEST(Commands, AnUnknownCommandComesWithTheNearestOne) {
  const auto unknown = std::get<UnknownCommand>(parse_line("/regnerate now"));
  EXPECT_EQ(unknown.name, "regnerate");
  EXPECT_EQ(unknown.suggestion, "regenerate");
  EXPECT_EQ(std::get<UnknownCommand>(parse_line("/xyzzy")).suggestion, "");
  EXPECT_EQ(std::get<UnknownCommand>(parse_line("/")).suggestion, "");
}

TEST(Commands, EditTakesANumberOrTheLastPrompt) {
  EXPECT_EQ(parse_edit("2 My name is Bob.").number, 2);
  EXPECT_EQ(parse_edit("2 My name is Bob.").text, "My name is Bob.");
  EXPECT_EQ(parse_edit("My name is Bob.").number, 0);
  EXPECT_EQ(parse_edit("My name is Bob.").text, "My name is Bob.");
  EXPECT_EQ(parse_edit("3").number, 3);
  EXPECT_EQ(parse_edit("3").text, "");
  EXPECT_EQ(parse_edit("3rd try").number, 0);
  EXPECT_EQ(parse_edit("-1 x").number, 0);
}

}  // namespace
}  // namespace segue::cli
