#include "llama/chat_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <fstream>
#include <iterator>

#include "llama/template_dates.h"
#include "llama/test_models.h"
#include "llama/vocabulary.h"
#include "segue/error.h"

namespace segue {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const LlamaChatTemplate::Specials kSpecials{.bos = "<s>", .eos = "</s>", .adds_bos = false};

std::string source_of(const std::string& name) {
  std::ifstream file(llama_models() / "templates" / (name + ".jinja"), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<TemplateMessage> conversation(int turns, bool with_system = true) {
  std::vector<TemplateMessage> messages;
  if (with_system) messages.push_back({"system", "Be brief.", ""});
  for (int i = 0; i < turns; ++i) {
    if (i > 0) messages.push_back({"assistant", "Answer " + std::to_string(i), "A thought."});
    messages.push_back({"user", "Question " + std::to_string(i), ""});
  }
  return messages;
}

TEST(LlamaChatTemplate, TheBundledModelsTemplateRendersATurn) {
  const auto chat = LlamaChatTemplate::load(*tiny_model(), "");
  ASSERT_NE(chat, nullptr);
  const RenderedPrompt prompt = chat->render({{"user", "Hello", ""}}, {});
  EXPECT_THAT(prompt.text, HasSubstr("Hello"));
  ASSERT_NE(prompt.parser, nullptr);
  EXPECT_EQ(prompt.parser->parse("Good day", false).content, "Good day");
}

TEST(LlamaChatTemplate, AnOptionReplacesTheModelsTemplate) {
  const auto chat = LlamaChatTemplate::load(*tiny_model(),
                                            "{% for m in messages %}[{{ m.content }}]{% endfor %}");
  EXPECT_THAT(chat->render({{"user", "Hello", ""}}, {.add_generation_prompt = false}).text,
              "[Hello]");
}

TEST(LlamaChatTemplate, TheShortCutGivesWhatTheLongWayGives) {
  for (const auto& file : std::filesystem::directory_iterator(llama_models() / "templates")) {
    if (file.path().extension() != ".jinja") continue;
    SCOPED_TRACE(file.path().stem().string());
    const LlamaChatTemplate chat(source_of(file.path().stem().string()), kSpecials);
    for (const bool thinking : {true, false}) {
      for (const bool generate : {true, false}) {
        for (int turns = 1; turns <= 4; ++turns) {
          const TemplateOptions options{generate, thinking};
          const auto messages = conversation(turns, turns % 2 == 0);
          try {
            const RenderedPrompt full = chat.render_fully(messages, options);
            const RenderedPrompt quick = chat.render(messages, options);
            EXPECT_EQ(quick.text, full.text);
            if (generate) {
              EXPECT_EQ(quick.stop_strings, full.stop_strings);
              EXPECT_EQ(quick.preserved_tokens, full.preserved_tokens);
              EXPECT_EQ(quick.supports_thinking, full.supports_thinking);
              for (const char* answer : {"Hi", "<think>\nhm\n</think>\n\nHi", "hm</think>Hi"}) {
                EXPECT_EQ(quick.parser->parse(answer, false).content,
                          full.parser->parse(answer, false).content);
              }
            } else {
              EXPECT_EQ(quick.parser, nullptr);
            }
          } catch (const TemplateFailed&) {
            // Some templates refuse some conversations; both ways then say so.
            EXPECT_THROW(chat.render_fully(messages, options), TemplateFailed);
            EXPECT_THROW(chat.render(messages, options), TemplateFailed);
          }
        }
      }
    }
  }
}

TEST(LlamaChatTemplate, ReasoningIsSplitOffAsItArrives) {
  const LlamaChatTemplate chat(source_of("Qwen-Qwen3-0.6B"), kSpecials);
  EXPECT_TRUE(chat.supports_thinking());
  const RenderedPrompt prompt = chat.render(conversation(1), {});
  const ParsedOutput part = prompt.parser->parse("<think>\nLet me", true);
  EXPECT_EQ(part.content, "");
  EXPECT_THAT(part.reasoning, HasSubstr("Let me"));
  const ParsedOutput whole = prompt.parser->parse("<think>\nLet me see.\n</think>\n\nFour.", false);
  EXPECT_EQ(whole.content, "Four.");
  EXPECT_THAT(whole.reasoning, HasSubstr("Let me see."));
}

TEST(LlamaChatTemplate, ThinkingCanBeSwitchedOff) {
  const LlamaChatTemplate chat(source_of("Qwen-Qwen3-0.6B"), kSpecials);
  const std::string on = chat.render(conversation(1), {.enable_thinking = true}).text;
  const RenderedPrompt off = chat.render(conversation(1), {.enable_thinking = false});
  EXPECT_THAT(off.text, HasSubstr("</think>"));
  EXPECT_THAT(on, Not(HasSubstr("</think>")));
  EXPECT_EQ(off.parser->parse("Four.", false).content, "Four.");
}

TEST(LlamaChatTemplate, ABosThatTheTokenizerAddsIsLeftOut) {
  const std::string source = "{{ bos_token }}{% for m in messages %}{{ m.content }}{% endfor %}";
  const LlamaChatTemplate with(source, {.bos = "<s>", .eos = "</s>", .adds_bos = true});
  const LlamaChatTemplate without(source, kSpecials);
  const TemplateOptions options{.add_generation_prompt = false};
  EXPECT_EQ(with.render({{"user", "x", ""}}, options).text, "x");
  EXPECT_EQ(without.render({{"user", "x", ""}}, options).text, "<s>x");
}

TEST(LlamaChatTemplate, WhatTheTemplateRaisesIsTheErrorsMessage) {
  const LlamaChatTemplate chat(
      "{% for m in messages %}{% if m.content == 'bad' %}{{ raise_exception('no such word') }}"
      "{% endif %}{{ m.content }}{% endfor %}",
      kSpecials);
  EXPECT_NO_THROW(chat.render(conversation(2), {}));
  try {
    chat.render({{"user", "bad", ""}}, {});
    FAIL() << "rendered";
  } catch (const TemplateFailed& e) {
    EXPECT_THAT(e.what(), HasSubstr("no such word"));
  }
}

TEST(LlamaChatTemplate, ABrokenTemplateIsRefusedWithTheEnginesWords) {
  try {
    const LlamaChatTemplate chat("{% if %}{{ unclosed", kSpecials);
    FAIL() << "parsed";
  } catch (const TemplateFailed& e) {
    EXPECT_THAT(e.what(), Not(HasSubstr("std::exception")));
  }
}

TEST(TemplateDates, ALiteralFormatBecomesTheDateOfTheGivenMoment) {
  std::tm day{};
  day.tm_year = 125;
  day.tm_mon = 6;
  day.tm_mday = 26;
  day.tm_hour = 12;
  day.tm_isdst = -1;
  const std::time_t time = std::mktime(&day);
  EXPECT_EQ(with_fixed_dates("a {{ strftime_now(\"%Y-%m-%d\") }} b {{strftime_now( '%Y' )}}", time),
            "a {{ \"2025-07-26\" }} b {{\"2025\"}}");
  EXPECT_EQ(with_fixed_dates("{% if strftime_now is defined %}{{ strftime_now(f) }}", time),
            "{% if strftime_now is defined %}{{ strftime_now(f) }}");
}

}  // namespace
}  // namespace segue
