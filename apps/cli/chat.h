// `segue chat`: conversations at a terminal or through a pipe.
#pragma once

#include <map>
#include <string>

#include "answering.h"
#include "commands.h"
#include "interrupts.h"
#include "options.h"
#include "prompt_assembler.h"
#include "segue/session.h"
#include "terminal.h"

namespace segue::cli {

class Chat {
 public:
  Chat(const CommandLine& line, Model model, Terminal& terminal, Interrupts& interrupts);

  // Until the end of the input or /quit; the exit code.
  int talk();

 private:
  void greet();
  int end_of_input(PromptAssembler& assembler);
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
  void save(const std::string& file);
  void open(const std::string& file);
  void switch_to(const std::string& name);
  void list_sessions();
  // The last `turns` prompts and what was answered.
  void show_transcript(std::size_t turns);
  std::string free_name(const std::string& wanted, const std::string& stem) const;
  std::vector<Entry> prompts() const;

  // What was asked for; what a person wants to know beside it (nothing in a pipe); what went wrong.
  void say(const std::string& text, Style style = Style::plain);
  void note(const std::string& text);
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
  std::string draft_;  // what the next line begins as
  bool failed_ = false;
};

}  // namespace segue::cli
