// `segue chat`: conversations at a terminal or through a pipe.
#pragma once

#include <map>
#include <string>

#include "answering.h"
#include "commands.h"
#include "interrupts.h"
#include "options.h"
#include "segue/session.h"
#include "terminal.h"

namespace segue::cli {

class Chat {
 public:
  Chat(const CommandLine& line, Model model, Terminal& terminal, Interrupts& interrupts);

  // Until the end of the input or /quit; the exit code.
  int talk();

 private:
  // False: leave.
  bool handle(const std::string& text);
  void ask(const std::string& prompt);
  void answer(const BeginStream& begin);
  bool carry_out(const Command& command);  // chat_commands.cc
  void edit(const std::string& arguments);
  void undo();
  void open_named(const std::string& name, Session session);
  void set_system(const std::string& arguments);
  void set_option(const std::string& arguments);
  void list_sessions();
  void show_transcript();
  std::string free_name(const std::string& wanted, const std::string& stem) const;
  std::vector<Entry> prompts() const;

  void say(const std::string& text, Style style = Style::plain);
  void complain(const std::string& text);
  std::string prompt_sign(bool continued) const;
  Session& current() { return sessions_.at(name_); }
  const Session& current() const { return sessions_.at(name_); }

  const CommandLine& line_;
  Model model_;
  Terminal& terminal_;
  Interrupts& interrupts_;
  std::map<std::string, Session> sessions_;
  std::string name_ = "main";
  bool failed_ = false;
};

}  // namespace segue::cli
