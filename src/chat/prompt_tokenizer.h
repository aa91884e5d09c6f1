// Rendered text → prompt items, by llama.cpp's rules (special tokens first, the longest before the
// shorter; plain tokenization between them), with two additions: a control token may not cover a
// guarded byte, and runs of text whose tokens are known keep them.
//
// Without guarded bytes and runs the items equal llama.cpp's own for the whole text, BOS included
// as the model says, but once only.
//
// Immutable after construction; thread-safe (a cache is its caller's).
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "backend/item.h"
#include "backend/vocabulary.h"
#include "chat/content_guard.h"
#include "chat/control_texts.h"
#include "chat/fragment_cache.h"
#include "chat/special_token_index.h"

namespace segue {

// Text whose tokens are known. Its edges lie between characters.
struct TokenRun {
  ByteRange text;
  std::span<const Token> tokens;
  // The same from an earlier place, with a first token that begins with a space which the text does
  // not have: right where the tokenizer itself puts a space (after a special token). Empty: none.
  // `tokens` may be empty then.
  std::size_t spaced_begin = 0;
  std::span<const Token> spaced_tokens{};
};

struct TokenizedText {
  std::vector<PromptItem> items;
  // Where in the text each item ends; never too early, so that a cut after item i holds at least
  // items[0..i].
  std::vector<std::size_t> ends;
  // Lengths up to which the items depend on nothing that comes later in the text: after control
  // tokens and after runs. Ascending.
  std::vector<std::size_t> firm;
};

class PromptTokenizer {
 public:
  // `vocabulary` must outlive the tokenizer. `template_words` as ControlTexts takes them.
  PromptTokenizer(const Vocabulary& vocabulary, std::string_view template_words);
  PromptTokenizer(const PromptTokenizer&) = delete;
  PromptTokenizer& operator=(const PromptTokenizer&) = delete;

  const SpecialTokenIndex& special_tokens() const { return index_; }
  const ControlTexts& controls() const { return controls_; }

  // `runs`: ascending, disjoint. `cache` may be null.
  TokenizedText tokenize(const GuardedText& text, const std::vector<TokenRun>& runs,
                         FragmentCache* cache) const;

 private:
  // Special tokens that the text between `begin` and `end` holds, in order of place.
  struct Found {
    const SpecialToken* special = nullptr;
    bool is_control = false;
    ByteRange text;
    ByteRange swallowed;  // with the white space that the token takes in
  };
  // Whether the tokenizer puts a space before what follows this part of the text.
  bool puts_space_after(const GuardedText& text, ByteRange part) const;
  void add_run(std::size_t begin, std::size_t end, std::span<const Token> tokens,
               TokenizedText& out) const;
  std::vector<Found> partition(const GuardedText& text, ByteRange part) const;
  void add_part(const GuardedText& text, ByteRange part, FragmentCache* cache,
                TokenizedText& out) const;
  void add_plain(std::string_view fragment, std::size_t begin, FragmentCache* cache,
                 TokenizedText& out) const;
  std::vector<Token> plain_tokens(std::string_view fragment, bool follows_text,
                                  FragmentCache* cache) const;

  const Vocabulary& vocabulary_;
  SpecialTokenIndex index_;
  ControlTexts controls_;
  bool adds_space_;  // before a fragment that begins the text or follows a special token
};

}  // namespace segue
