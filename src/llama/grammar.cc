#include "llama/grammar.h"

#include <exception>

#include "llama-grammar.h"
#include "llama.h"
#include "llama/log_router.h"
#include "segue/error.h"

namespace segue {

namespace {

constexpr std::size_t kQuoted = 60;

// The parser quotes the whole rest of the grammar.
std::string shortened(std::string words) {
  const auto at = words.find(" at ");
  if (at != std::string::npos && words.size() > at + 4 + kQuoted) {
    words.resize(at + 4 + kQuoted);
    words += "…";
  }
  return words;
}

const char* skip_space(const char* text) {
  while (*text == ' ' || *text == '\t' || *text == '\r' || *text == '\n' || *text == '#') {
    if (*text++ == '#') {
      while (*text != '\0' && *text != '\n') ++text;
    }
  }
  return text;
}

// llama_grammar_parser::parse() prints its errors to the terminal and keeps only "failed", so its
// rules are parsed here one by one first, to have the words and to print nothing.
void check_syntax(const llama_vocab* vocab, const std::string& gbnf) {
  llama_grammar_parser parser(vocab);
  const char* text = skip_space(gbnf.c_str());
  while (*text != '\0') text = parser.parse_rule(text);
  for (const auto& [name, id] : parser.symbol_ids) {
    if (id >= parser.rules.size() || parser.rules[id].empty()) {
      throw InvalidArgument("undefined rule '" + name + "'");
    }
  }
  if (!parser.symbol_ids.contains("root")) throw InvalidArgument("there is no rule 'root'");
}

}  // namespace

LlamaSamplerHandle make_grammar(const llama_vocab* vocab, const std::string& gbnf) {
  const LogCapture log;
  LlamaSamplerHandle sampler;
  try {
    check_syntax(vocab, gbnf);
    sampler.reset(llama_sampler_init_grammar(vocab, gbnf.c_str(), "root"));
  } catch (const std::exception& e) {
    throw InvalidArgument(std::string("the grammar is not valid GBNF: ") + shortened(e.what()));
  }
  if (!sampler) throw InvalidArgument("the grammar cannot be used: " + log.reason());
  return sampler;
}

}  // namespace segue
