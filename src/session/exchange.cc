#include "session/exchange.h"

#include <algorithm>
#include <cstdint>
#include <new>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "chat/utf8.h"
#include "reuse/record.h"
#include "segue/error.h"
#include "session/fitting.h"
#include "session/validation.h"

namespace segue {

namespace {

bool has_outer_space(std::string_view text) {
  return !text.empty() && (is_white_space(text.front()) || is_white_space(text.back()));
}

}  // namespace

Exchange::Exchange(const std::shared_ptr<SessionImpl>& session,
                   std::optional<std::string_view> prompt, ExchangeOptions options)
    : session_(session), options_(std::move(options)) {
  check_options(options_);
  if (prompt) check_utf8(*prompt, "the prompt");
  turn_ = options_.when_busy == WhenBusy::transient ? session->try_begin() : session->begin();
  conversation_ = session->conversation();
  if (prompt) {
    conversation_.add_prompt(*prompt);
  } else {
    conversation_.reopen_last_prompt();
  }
  FragmentCache* fragments = turn_ != nullptr ? &turn_->fragments() : nullptr;
  built_ = build_fitting(session_->model(), conversation_, options_, fragments);
  building_ = Clock::now() - asked_;
  reader_ = std::make_unique<AnswerReader>(session_->model().engine(), request(), options_);
  splitter_.emplace(built_.parser);
}

Exchange::~Exchange() { release(); }

// The engine lets go of the answer before the session may be asked again.
void Exchange::release() noexcept {
  reader_.reset();
  turn_.reset();
}

GenerationRequest Exchange::request() const {
  GenerationRequest request;
  request.session = session_->id();
  request.prompt = built_.prompt;
  request.sampler.sampling = options_.sampling;
  request.sampler.ignore_eos = options_.ignore_eos;
  request.sampler.grammar = options_.grammar;
  request.sampler.n_top_logprobs = options_.top_logprobs.value_or(-1);
  request.max_tokens = options_.max_tokens;
  request.stop = options_.stop;
  for (const std::string& stop : built_.stop_strings) {
    if (!stop.empty()) request.stop.push_back(stop);
  }
  for (const SpecialToken& special : session_->model().vocabulary().special_tokens()) {
    if (std::ranges::count(built_.preserved_tokens, special.text) > 0) {
      request.visible_controls.push_back(special.token);
    }
  }
  request.transient = turn_ == nullptr;
  return request;
}

std::optional<Piece> Exchange::next() {
  while (true) {
    if (!ready_.empty()) {
      Piece piece = std::move(ready_.front());
      ready_.pop_front();
      return piece;
    }
    if (error_ != nullptr) std::rethrow_exception(error_);
    if (response_) return std::nullopt;
    try {
      advance();
    } catch (const std::bad_alloc&) {
      error_ = std::make_exception_ptr(OutOfMemory("out of memory during an exchange"));
    } catch (...) {
      error_ = std::current_exception();
    }
    if (error_ != nullptr) release();
  }
}

void Exchange::advance() {
  auto event = reader_->next();
  if (auto* text = std::get_if<TextPiece>(&event)) {
    splitter_->add(text->text, ready_);
    return;
  }
  const WrittenTokens written = commit(std::get<AnswerResult>(std::move(event)));
  if (turn_ != nullptr) settle(*written);
  release();
}

WrittenTokens Exchange::commit(AnswerResult result) {
  Response response;
  ParsedOutput parsed = splitter_->finish(result.text, ready_);
  response.text = std::move(parsed.content);
  response.reasoning = std::move(parsed.reasoning);
  response.finish_reason = result.finish_reason;
  response.usage = result.usage;
  response.timing = result.timing;
  response.timing.to_first += building_;
  response.timing.total += building_;
  response.logprobs = std::move(result.logprobs);
  auto written = std::make_shared<const std::vector<Token>>(std::move(result.tokens));
  if (turn_ != nullptr) {
    conversation_.add_response(response.text, response.reasoning, written);
    turn_->commit(conversation_);
  }
  response_ = std::move(response);
  return written;
}

// Where the template writes this turn in another way once it is history, the session's state is
// brought to that in idle time. Most templates never do, and finding out means rendering the
// conversation, so a session whose history stayed as it was asks again only after an answer of the
// kind that templates change. The answer stands, whatever happens here: what is not read ahead is
// read by the next turn.
void Exchange::settle(const std::vector<Token>& written) {
  const bool may_change = !response_->reasoning.empty() || has_outer_space(response_->text);
  if (turn_->history_is_stable() && !may_change) return;
  ModelImpl& model = session_->model();
  try {
    Prompt next = model.builder().certain_prefix(conversation_.messages(), build_options(options_),
                                                 &turn_->fragments());
    std::vector<PromptItem> held = built_.prompt.items;
    for (const Token token : written) held.push_back(PromptItem::of_token(token));
    const auto shared = static_cast<std::size_t>(common_prefix(next.items, held).value);
    const bool is_stable = shared == std::min(next.items.size(), held.size());
    turn_->set_history_is_stable(is_stable);
    if (!is_stable) model.engine().settle(session_->id(), std::move(next));
  } catch (const std::exception& error) {
    model.log(LogLevel::debug,
              std::string("nothing is read ahead after this answer: ") + error.what());
  }
}

const Response& Exchange::finish() {
  while (next()) {
  }
  return *response_;
}

}  // namespace segue
