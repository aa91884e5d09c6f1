#include "chat/prompt_tokenizer.h"

#include <algorithm>
#include <string>

#include "chat/utf8.h"

namespace segue {
namespace {

// A character that no vocabulary merges with another: it stands for the text before a fragment that
// must not get the space of a text's beginning.
constexpr std::string_view kTextBefore = "\x01";

bool opens_with_space(const Vocabulary& vocabulary) {
  std::vector<Token> tokens;
  vocabulary.tokenize_plain("a", tokens);
  return !tokens.empty() && vocabulary.piece(tokens.front()).substr(0, 1) == " ";
}

}  // namespace

PromptTokenizer::PromptTokenizer(const Vocabulary& vocabulary, std::string_view template_words)
    : vocabulary_(vocabulary),
      index_(vocabulary.special_tokens()),
      controls_(index_, template_words),
      adds_space_(opens_with_space(vocabulary)) {}

TokenizedText PromptTokenizer::tokenize(const GuardedText& text, const std::vector<TokenRun>& runs,
                                        FragmentCache* cache) const {
  TokenizedText out;
  const Token bos = vocabulary_.added_bos();
  if (bos != kNoToken) {
    out.items.push_back(PromptItem::of_token(bos));
    out.ends.push_back(0);
    out.firm.push_back(1);
  }
  std::size_t at = 0;
  for (const TokenRun& run : runs) {
    const bool spaced = adds_space_ && !run.spaced_tokens.empty() && run.spaced_begin >= at &&
                        puts_space_after(text, {at, run.spaced_begin});
    if (!spaced && run.tokens.empty()) continue;
    const std::size_t begin = spaced ? run.spaced_begin : run.text.begin;
    add_part(text, {at, begin}, cache, out);
    add_run(begin, run.text.end, spaced ? run.spaced_tokens : run.tokens, out);
    at = run.text.end;
  }
  add_part(text, {at, text.text.size()}, cache, out);
  return out;
}

bool PromptTokenizer::puts_space_after(const GuardedText& text, ByteRange part) const {
  if (part.size() == 0) return part.begin == 0;
  const std::vector<Found> found = partition(text, part);
  return !found.empty() && found.back().swallowed.end == part.end;
}

void PromptTokenizer::add_run(std::size_t begin, std::size_t end, std::span<const Token> tokens,
                              TokenizedText& out) const {
  std::size_t spelled = 0;
  for (const Token token : tokens) spelled += vocabulary_.piece(token, true).size();
  const std::size_t added = spelled > end - begin ? 1 : 0;  // the space that the text has not
  std::size_t done = 0;
  for (const Token token : tokens) {
    done += vocabulary_.piece(token, true).size();
    out.items.push_back(PromptItem::of_token(token));
    out.ends.push_back(std::min(begin + done - added, end));
    out.firm.push_back(out.items.size());
  }
}

std::vector<PromptTokenizer::Found> PromptTokenizer::partition(const GuardedText& text,
                                                               ByteRange part) const {
  const std::string_view view = std::string_view(text.text).substr(part.begin, part.size());
  std::vector<SpecialTokenIndex::Match> matches = index_.find_all(view);
  // One special token after the other takes all its places that are still free, from left to right.
  std::stable_sort(matches.begin(), matches.end(),
                   [](const auto& a, const auto& b) { return a.rank < b.rank; });
  std::vector<bool> taken(view.size(), false);
  std::vector<Found> found;
  for (const SpecialTokenIndex::Match& match : matches) {
    const SpecialToken& special = index_.tokens()[match.rank];
    const std::size_t end = match.begin + special.text.size();
    const bool is_control = controls_.contains(match.rank);
    if (is_control && text.is_guarded(part.begin + match.begin, part.begin + end)) continue;
    if (std::find(taken.begin() + static_cast<std::ptrdiff_t>(match.begin),
                  taken.begin() + static_cast<std::ptrdiff_t>(end),
                  true) != taken.begin() + static_cast<std::ptrdiff_t>(end)) {
      continue;
    }
    std::size_t left = match.begin;
    std::size_t right = end;
    if (special.strips_left) {
      while (left > 0 && !taken[left - 1] && is_white_space(view[left - 1])) --left;
    }
    if (special.strips_right) {
      while (right < view.size() && !taken[right] && is_white_space(view[right])) ++right;
    }
    for (std::size_t i = left; i < right; ++i) taken[i] = true;
    found.push_back({&special,
                     is_control,
                     {part.begin + match.begin, part.begin + end},
                     {part.begin + left, part.begin + right}});
  }
  std::sort(found.begin(), found.end(),
            [](const Found& a, const Found& b) { return a.text.begin < b.text.begin; });
  return found;
}

void PromptTokenizer::add_part(const GuardedText& text, ByteRange part, FragmentCache* cache,
                               TokenizedText& out) const {
  std::size_t at = part.begin;
  const auto add_until = [&](std::size_t end) {
    if (end > at) add_plain(std::string_view(text.text).substr(at, end - at), at, cache, out);
  };
  for (const Found& found : partition(text, part)) {
    add_until(found.swallowed.begin);
    at = std::max(at, found.swallowed.end);
    // The tokenizer's own BOS stands at the start already.
    const bool repeats_bos = found.special->token == vocabulary_.added_bos() &&
                             out.items.size() == 1 &&
                             out.items.front().token == found.special->token;
    if (repeats_bos) continue;
    out.items.push_back(PromptItem::of_token(found.special->token));
    out.ends.push_back(found.text.end);
    if (found.is_control) out.firm.push_back(out.items.size());
  }
  add_until(part.end);
}

std::vector<Token> PromptTokenizer::plain_tokens(std::string_view fragment, bool follows_text,
                                                 FragmentCache* cache) const {
  std::string key(1, follows_text ? '+' : '=');
  key += fragment;
  if (cache != nullptr) {
    if (const std::vector<Token>* known = cache->find(key)) return *known;
  }
  std::vector<Token> tokens;
  if (follows_text) {
    std::vector<Token> before;
    vocabulary_.tokenize_plain(kTextBefore, before);
    std::string text(kTextBefore);
    text.append(fragment);
    vocabulary_.tokenize_plain(text, tokens);
    if (tokens.size() >= before.size() &&
        std::equal(before.begin(), before.end(), tokens.begin())) {
      tokens.erase(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(before.size()));
    } else {
      tokens.clear();
      vocabulary_.tokenize_plain(fragment, tokens);
    }
  } else {
    vocabulary_.tokenize_plain(fragment, tokens);
  }
  if (cache != nullptr) cache->put(key, tokens);
  return tokens;
}

void PromptTokenizer::add_plain(std::string_view fragment, std::size_t begin, FragmentCache* cache,
                                TokenizedText& out) const {
  const bool follows_text =
      adds_space_ && !out.items.empty() && !index_.is_special(out.items.back().token);
  const std::vector<Token> tokens = plain_tokens(fragment, follows_text, cache);
  std::size_t spelled = 0;
  for (const Token token : tokens) spelled += vocabulary_.piece(token, true).size();
  const std::size_t added = adds_space_ && !follows_text ? 1 : 0;
  // Tokenizers that normalise do not spell the fragment: its tokens then end where it ends.
  const bool is_spelled = spelled == fragment.size() + added;
  const std::size_t fragment_end = begin + fragment.size();
  std::size_t done = 0;
  for (const Token token : tokens) {
    done += vocabulary_.piece(token, true).size();
    out.items.push_back(PromptItem::of_token(token));
    out.ends.push_back(is_spelled ? begin + done - std::min(done, added) : fragment_end);
  }
}

}  // namespace segue
