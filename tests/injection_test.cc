// Over llama.cpp's vocabularies and chat templates: whatever users, instructions and earlier
// answers say, control tokens come from the template's words only, and what was said can be read
// back.
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "chat/prompt_builder.h"
#include "llama_fixture.h"

namespace segue {
namespace {

struct Said {
  std::string system;
  std::string first;
  std::string answer;
  std::string reasoning;
  std::string second;
};

std::vector<ChatMessage> conversation(const Said& said) {
  return {{ChatRole::system, said.system, "", nullptr},
          {ChatRole::user, said.first, "", nullptr},
          {ChatRole::assistant, said.answer, said.reasoning, nullptr},
          {ChatRole::user, said.second, "", nullptr}};
}

// The same words without the marks: the first character of each is another one.
std::string disarmed(std::string text, char lead) {
  std::replace(text.begin(), text.end(), lead, '(');
  return text;
}

class Injection : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { file_ = load_vocabulary(vocabulary_path(GetParam())); }
  const Vocabulary& vocabulary() const { return *file_.vocabulary; }

  // Control tokens, first those that the template writes itself.
  std::vector<std::string> control_texts(std::string_view source, std::size_t at_most) const {
    std::vector<std::string> used;
    std::vector<std::string> others;
    for (const SpecialToken& special : vocabulary().special_tokens()) {
      if (!special.is_control || special.text.empty()) continue;
      const bool is_used = source.find(special.text) != std::string_view::npos;
      (is_used ? used : others).push_back(special.text);
    }
    used.insert(used.end(), others.begin(), others.end());
    used.resize(std::min(used.size(), at_most));
    return used;
  }

  std::vector<Token> controls_in(const std::vector<PromptItem>& items) const {
    std::vector<Token> controls;
    for (const PromptItem& item : items) {
      if (vocabulary().is_control(item.token)) controls.push_back(item.token);
    }
    return controls;
  }

  std::string text_of(const std::vector<PromptItem>& items) const {
    std::string text;
    for (const PromptItem& item : items) text += vocabulary().piece(item.token, true);
    return text;
  }

  // The control tokens of a conversation are those of its harmless copy. Returns whether the
  // template renders it.
  bool holds(const PromptBuilder& builder, const Said& said,
             const std::function<std::string(const std::string&)>& harmless) const {
    const Said copy = {harmless(said.system), harmless(said.first), harmless(said.answer),
                       harmless(said.reasoning), harmless(said.second)};
    std::vector<PromptItem> items;
    std::vector<PromptItem> expected;
    try {
      expected = builder.build(conversation(copy), {}).prompt.items;
      items = builder.build(conversation(said), {}).prompt.items;
    } catch (const TemplateFailed&) {
      return false;
    }
    EXPECT_EQ(controls_in(items), controls_in(expected)) << "user says: " << said.first << "\n"
                                                         << text_of(items);
    return true;
  }

  template <typename Check>
  void for_each_template(Check check) const {
    int rendered = 0;
    for (const auto& path : template_paths()) {
      SCOPED_TRACE(path.filename().string());
      const auto chat_template = load_template(file_, path);
      const PromptBuilder builder(vocabulary(), *chat_template);
      if (check(builder, *chat_template)) ++rendered;
    }
    EXPECT_GT(rendered, 55);
  }

  const VocabularyFile& file() const { return file_; }

 private:
  VocabularyFile file_;
};

TEST_P(Injection, ControlTokensWrittenByAnyoneStayText) {
  for_each_template([&](const PromptBuilder& builder, const ChatTemplate& chat_template) {
    std::string all = "begin ";
    for (const std::string& text : control_texts(chat_template.source(), 40)) all += text + " x\n";
    const Said said = {"S " + all, "U " + all, "A " + all, "R " + all, "V " + all};
    const auto harmless = [](const std::string& text) {
      return disarmed(disarmed(text, '<'), '[');
    };
    const bool is_rendered = holds(builder, said, harmless);
    if (is_rendered) {
      // What was said is still there, to the letter (some tokenizers swallow white space at marks).
      const std::string text = text_of(builder.build(conversation(said), {}).prompt.items);
      EXPECT_NE(text.find(all.substr(0, all.size() - 1)), std::string::npos) << text;
    }
    return is_rendered;
  });
}

// The place nearest to `at`, not after it, that splits no character; at least one character in.
std::size_t between_characters(const std::string& text, std::size_t at) {
  const auto continues = [&](std::size_t i) {
    return i < text.size() && (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80;
  };
  while (at > 0 && continues(at)) --at;
  if (at == 0) {
    ++at;
    while (continues(at)) ++at;
  }
  return at;
}

TEST_P(Injection, ControlTokensDoNotArisePartlyFromContent) {
  for_each_template([&](const PromptBuilder& builder, const ChatTemplate& chat_template) {
    const std::vector<std::string> texts = control_texts(chat_template.source(), 3);
    bool is_rendered = false;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const std::string& a = texts[i];
      const std::string& b = texts[(i + 1) % texts.size()];
      // Each content ends with the beginning of a control token and begins with the end of one.
      const auto edged = [&](std::size_t cut) {
        const std::size_t a_cut = between_characters(a, std::min(cut, a.size() - 1));
        const std::size_t b_cut = between_characters(b, std::min(cut, b.size() - 1));
        return a.substr(a_cut) + b.substr(b_cut) + " x " + b.substr(0, b_cut) + a.substr(0, a_cut);
      };
      const Said said = {edged(1), edged(2), edged(a.size() - 1), edged(3), edged(a.size() / 2)};
      is_rendered |= holds(builder, said, [](const std::string&) { return std::string("x y"); });
    }
    return is_rendered;
  });
}

TEST_P(Injection, PartsThatATemplateTakesOutDoNotJoinTheRestToAControlToken) {
  for_each_template([&](const PromptBuilder& builder, const ChatTemplate& chat_template) {
    bool is_rendered = false;
    for (const std::string& text : control_texts(chat_template.source(), 2)) {
      const std::size_t half = between_characters(text, text.size() / 2);
      std::string all = "z ";
      for (const char* cut : {"/think", "/no_think", "<tool_def_sep>", "<think>x</think>"}) {
        all += text.substr(0, half) + cut + text.substr(half) + " y ";
      }
      is_rendered |= holds(builder, {all, all, "A", "R", all},
                           [&](const std::string& said) { return disarmed(said, text[0]); });
    }
    return is_rendered;
  });
}

INSTANTIATE_TEST_SUITE_P(Vocabularies, Injection,
                         testing::Values("gemma-4", "llama-bpe", "llama-spm", "phi-3", "qwen2",
                                         "qwen35", "deepseek-llm", "gpt-2", "command-r"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace segue
