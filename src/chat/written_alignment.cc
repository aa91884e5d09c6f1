#include "chat/written_alignment.h"

#include <algorithm>

#include "chat/utf8.h"

namespace segue {
namespace {

// The text that written tokens spell, and where each token begins and the last ends.
struct Spelling {
  std::string text;
  std::vector<std::size_t> edges;
};

Spelling spell(const Vocabulary& vocabulary, const std::vector<Token>& written) {
  Spelling spelling;
  spelling.edges.reserve(written.size() + 1);
  spelling.edges.push_back(0);
  for (const Token token : written) {
    spelling.text += vocabulary.piece(token, true);
    spelling.edges.push_back(spelling.text.size());
  }
  return spelling;
}

// The longest end of `text` with which `content` begins.
std::size_t longest_overlap(std::string_view text, std::string_view content) {
  std::vector<std::size_t> border(content.size(), 0);
  for (std::size_t i = 1, k = 0; i < content.size(); ++i) {
    while (k > 0 && content[i] != content[k]) k = border[k - 1];
    if (content[i] == content[k]) ++k;
    border[i] = k;
  }
  std::size_t matched = 0;
  for (const char c : text) {
    if (matched == content.size()) matched = border[matched - 1];
    while (matched > 0 && c != content[matched]) matched = border[matched - 1];
    if (c == content[matched]) ++matched;
  }
  return matched;
}

// Lays the spelling over the rendered text so that byte `spelled` lies on byte `placed`, where both
// agree, and takes the whole tokens of the agreeing stretch.
std::optional<TokenRun> run_through(const Spelling& spelling, const std::vector<Token>& written,
                                    std::string_view rendered, const RenderedAnswer& answer,
                                    std::size_t spelled, std::size_t placed) {
  std::size_t left = spelled;
  while (left > 0 && placed - (spelled - left) > answer.earliest &&
         spelling.text[left - 1] == rendered[placed - (spelled - left) - 1]) {
    --left;
  }
  std::size_t right = spelled;
  while (right < spelling.text.size() && placed + (right - spelled) < answer.latest &&
         spelling.text[right] == rendered[placed + (right - spelled)]) {
    ++right;
  }
  const std::vector<std::size_t>& edges = spelling.edges;
  auto first =
      static_cast<std::size_t>(std::lower_bound(edges.begin(), edges.end(), left) - edges.begin());
  auto last = static_cast<std::size_t>(std::upper_bound(edges.begin(), edges.end(), right) -
                                       edges.begin() - 1);
  const auto place = [&](std::size_t token) { return placed + edges[token] - spelled; };
  while (first < last && !is_character_edge(rendered, place(first))) ++first;
  while (first < last && !is_character_edge(rendered, place(last))) --last;
  const std::span<const Token> tokens(written);
  TokenRun run;
  if (first < last && edges[first] != edges[last]) {
    run.text = {place(first), place(last)};
    run.tokens = tokens.subspan(first, last - first);
  }
  // Tokenizers that put a space after a special token take the space that the model wrote there as
  // this one, so a text without it has the same tokens.
  const bool after_space = left > 0 && spelling.text[left - 1] == ' ' &&
                           std::binary_search(edges.begin(), edges.end(), left - 1);
  const std::size_t begin = placed - (spelled - left);
  if (after_space && last > 0 && edges[last] > left && is_character_edge(rendered, begin)) {
    const auto spaced = static_cast<std::size_t>(
        std::lower_bound(edges.begin(), edges.end(), left - 1) - edges.begin());
    run.spaced_begin = begin;
    run.spaced_tokens = tokens.subspan(spaced, last - spaced);
    if (run.tokens.empty()) run.text = {begin, place(last)};
  }
  if (run.tokens.empty() && run.spaced_tokens.empty()) return {};
  return run;
}

std::size_t shared_bytes(const std::optional<TokenRun>& run, ByteRange content) {
  if (!run) return 0;
  const std::size_t begin = std::max(run->text.begin, content.begin);
  const std::size_t end = std::min(run->text.end, content.end);
  return end > begin ? end - begin : 0;
}

}  // namespace

std::optional<TokenRun> align_written(const Vocabulary& vocabulary,
                                      const std::vector<Token>& written, std::string_view rendered,
                                      const RenderedAnswer& answer) {
  const Spelling spelling = spell(vocabulary, written);
  // The template may render the answer just as it was written, reasoning and marks included.
  const std::optional<TokenRun> whole =
      run_through(spelling, written, rendered, answer, 0, answer.earliest);

  const std::string_view content =
      trimmed(rendered.substr(answer.content.begin, answer.content.size()));
  if (content.empty()) return shared_bytes(whole, answer.content) > 0 ? whole : std::nullopt;
  const auto content_begin = static_cast<std::size_t>(content.data() - rendered.data());
  std::size_t spelled = spelling.text.rfind(content);
  if (spelled == std::string::npos) {
    // A stop string or the limit of tokens cut through the last token: the answer's text and its
    // whole tokens share a beginning only.
    const std::size_t overlap = longest_overlap(spelling.text, content);
    if (overlap == 0) return shared_bytes(whole, answer.content) > 0 ? whole : std::nullopt;
    spelled = spelling.text.size() - overlap;
  }
  const std::optional<TokenRun> inner =
      run_through(spelling, written, rendered, answer, spelled, content_begin);
  const std::optional<TokenRun>& best =
      shared_bytes(whole, answer.content) >= shared_bytes(inner, answer.content) ? whole : inner;
  return shared_bytes(best, answer.content) > 0 ? best : std::nullopt;
}

}  // namespace segue
