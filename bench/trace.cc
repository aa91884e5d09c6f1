#include "bench/trace.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string_view>

namespace segue::bench {
namespace {

constexpr std::string_view kUserStart = "<|im_start|>user\n";
constexpr std::string_view kAnswerStart = "<|im_start|>assistant\n";
constexpr std::string_view kEnd = "<|im_end|>\n";

// A conversation as ChatML spells it.
struct Conversation {
  std::string instructions;
  std::vector<std::string> prompts;

  // The text before the answer to the last prompt.
  std::string render(const std::string& answer) const {
    std::string text = before_turn(prompts.size() - 1, answer);
    return text.append(prompts.back()).append(kEnd).append(kAnswerStart);
  }

  // The text up to where the prompt of the given turn begins.
  std::string before_turn(std::size_t turn, const std::string& answer) const {
    std::string text;
    if (!instructions.empty()) {
      text.append("<|im_start|>system\n").append(instructions).append(kEnd);
    }
    for (std::size_t i = 0; i < turn; ++i) {
      text.append(kUserStart).append(prompts[i]).append(kEnd);
      text.append(kAnswerStart).append(answer).append(kEnd);
    }
    return text.append(kUserStart);
  }
};

std::size_t common_length(const std::vector<Token>& a, const std::vector<Token>& b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                                  a.begin());
}

class Tracer {
 public:
  Tracer(const Script& script, const BareModel& model, Trace& out)
      : script_(script), model_(model), out_(out), conversations_(script.sessions.size()) {
    for (std::size_t i = 0; i < conversations_.size(); ++i) {
      conversations_[i].instructions = script.sessions[i].instructions;
    }
  }

  void add(const Act& act, std::size_t step) {
    Conversation& conversation = conversations_[act.session];
    switch (act.kind) {
      case ActKind::fork:
        conversation = conversations_[act.from];
        return;
      case ActKind::edit:
        conversation.prompts.resize(act.turn);
        conversation.prompts.push_back(act.text);
        break;
      case ActKind::ask:
        conversation.prompts.push_back(act.text);
        break;
      case ActKind::regenerate:
        break;
    }
    TracedExchange exchange;
    exchange.act = act;
    exchange.step = step;
    exchange.prompt = model_.tokenize(conversation.render(out_.answer_text));
    exchange.record = exchange.prompt;
    exchange.record.insert(exchange.record.end(), out_.answer.begin(), out_.answer.end());
    exchange.record.pop_back();
    for (std::size_t turn = 0; turn < conversation.prompts.size(); ++turn) {
      exchange.turn_starts.push_back(
          model_.tokenize(conversation.before_turn(turn, out_.answer_text)).size());
    }
    find_source(exchange);
    out_.exchanges.push_back(std::move(exchange));
  }

  // Tells each exchange which lengths later ones come back to.
  void note_returns() {
    for (const TracedExchange& exchange : out_.exchanges) {
      if (!exchange.source) continue;
      std::size_t reader = *exchange.source;
      if (exchange.keep == out_.exchanges[reader].record.size()) continue;
      while (out_.exchanges[reader].keep >= exchange.keep) {
        reader = out_.exchanges[reader].source.value();
      }
      std::vector<std::size_t>& returns = out_.exchanges[reader].returns;
      returns.push_back(exchange.keep);
      std::sort(returns.begin(), returns.end());
      returns.erase(std::unique(returns.begin(), returns.end()), returns.end());
    }
  }

 private:
  void find_source(TracedExchange& exchange) const {
    const std::string& space = script_.sessions[exchange.act.session].cache_namespace;
    bool own = false;
    for (std::size_t i = 0; i < out_.exchanges.size(); ++i) {
      const TracedExchange& earlier = out_.exchanges[i];
      if (script_.sessions[earlier.act.session].cache_namespace != space) continue;
      const std::size_t shared =
          std::min(common_length(earlier.record, exchange.prompt), exchange.prompt.size() - 1);
      const bool is_own = earlier.act.session == exchange.act.session;
      if (shared < exchange.keep || shared == 0) continue;
      if (shared == exchange.keep && own && !is_own) continue;
      exchange.source = i;
      exchange.keep = shared;
      own = is_own;
    }
  }

  const Script& script_;
  const BareModel& model_;
  Trace& out_;
  std::vector<Conversation> conversations_;
};

}  // namespace

std::size_t Trace::least_read() const {
  return std::accumulate(
      exchanges.begin(), exchanges.end(), std::size_t{0},
      [](std::size_t sum, const TracedExchange& exchange) { return sum + exchange.least_read(); });
}

Trace trace(const Script& script, const BareModel& model, const std::vector<Token>& answer) {
  Trace out;
  out.answer = answer;
  out.answer_text = model.detokenize(answer);
  Tracer tracer(script, model, out);
  for (std::size_t step = 0; step < script.steps.size(); ++step) {
    for (const Act& act : script.steps[step].acts) tracer.add(act, step);
  }
  tracer.note_returns();
  for (const TracedExchange& exchange : out.exchanges) {
    if (exchange.act.kind != ActKind::ask || exchange.turn_starts.size() == 1) continue;
    if (!exchange.source || exchange.keep != out.exchanges[*exchange.source].record.size()) {
      throw std::logic_error("an answer does not tokenize to itself in a conversation");
    }
  }
  return out;
}

}  // namespace segue::bench
