#include "engine/job.h"

#include <algorithm>
#include <span>
#include <utility>

namespace segue {
namespace {

// How many tokens of the prompt's end the sampling options look at.
std::size_t lookback(const SamplingOptions& options, std::size_t prompt_length) {
  const bool penalties = options.repeat_penalty != 1.0F || options.frequency_penalty != 0.0F ||
                         options.presence_penalty != 0.0F;
  const auto wanted = [&](std::int32_t last_n) {
    return last_n < 0 ? prompt_length : static_cast<std::size_t>(last_n);
  };
  std::size_t most = penalties ? wanted(options.penalty_last_n) : 0;
  if (options.dry_multiplier != 0.0F) most = std::max(most, wanted(options.dry_penalty_last_n));
  return std::min(most, prompt_length);
}

}  // namespace

Job::Job(GenerationRequest request, std::shared_ptr<Answer> answer)
    : request_(std::move(request)),
      answer_(std::move(answer)),
      sequence_(std::move(request_.prompt)),
      prompt_length_(static_cast<std::int64_t>(sequence_.items.size())),
      filter_(request_.stop) {}

Job::Job(SessionId session, Prompt prefix)
    : sequence_(std::move(prefix)),
      prompt_length_(static_cast<std::int64_t>(sequence_.items.size())),
      filter_({}) {
  request_.session = session;
}

void Job::start(Slot& slot, ItemCount kept, std::unique_ptr<Sampler> sampler) {
  slot_ = &slot;
  sampler_ = std::move(sampler);
  started_ = Clock::now();
  reused_ = kept.value;
  if (sampler_ == nullptr) return;
  const std::span<const PromptItem> items(sequence_.items);
  for (const PromptItem& item : items.last(lookback(request_.sampler.sampling, items.size()))) {
    if (!item.is_media()) sampler_->accept_prompt(item.token);
  }
}

bool Job::is_read() const {
  return slot_->record.length().value == static_cast<std::int64_t>(sequence_.items.size());
}

void Job::add_read(ItemCount count) {
  if (is_writing()) return;  // its own tokens: counted as written
  read_ += count.value;
  if (answer_ != nullptr) {
    const std::int64_t total = prompt_length_.value - reused_;
    answer_->push(ReadProgress{.done = std::min(read_, total), .total = total});
  }
}

void Job::note_loss(ItemCount left) {
  const std::int64_t held = is_writing() ? prompt_length_.value : left.value;
  reused_ = std::min(reused_, left.value);
  read_ = std::min(held, prompt_length_.value) - reused_;
}

bool Job::write(std::int32_t batch_index, const Vocabulary& vocabulary) {
  const TokenChoice choice = sampler_->sample(batch_index);
  last_ = Clock::now();
  if (written_ == 0) first_ = last_;
  ++written_;
  if (request_.sampler.n_top_logprobs >= 0) note_logprob(choice, vocabulary);
  if (vocabulary.ends_generation(choice.token)) return end(FinishReason::end_of_turn);

  const bool visible = std::ranges::count(request_.visible_controls, choice.token) > 0;
  const std::string_view piece = vocabulary.piece(choice.token, visible);
  output_bytes_ += piece.size();
  tokens_.push_back(choice.token);
  token_ends_.push_back(output_bytes_);
  sequence_.items.push_back(PromptItem::of_token(choice.token));

  std::string text = filter_.push(piece);
  if (!text.empty()) {
    text_ += text;
    answer_->push(TextPiece{std::move(text)});
  }
  if (filter_.stopped()) return end(FinishReason::stop_string);
  if (request_.max_tokens && written_ >= *request_.max_tokens) {
    return end(FinishReason::max_tokens);
  }
  return false;
}

bool Job::end(FinishReason reason) {
  reason_ = reason;
  std::string rest = filter_.finish();
  if (!rest.empty()) {
    text_ += rest;
    answer_->push(TextPiece{std::move(rest)});
  }
  while (!token_ends_.empty() && token_ends_.back() > filter_.kept_bytes()) {
    token_ends_.pop_back();
    tokens_.pop_back();
  }
  return true;
}

void Job::note_logprob(const TokenChoice& choice, const Vocabulary& vocabulary) {
  logprobs_.push_back({.token = choice.token,
                       .text = std::string(vocabulary.piece(choice.token, true)),
                       .logprob = choice.logprob,
                       .top = choice.top});
}

void Job::finish() {
  if (answer_ == nullptr) return;
  answer_->push(AnswerResult{.text = std::move(text_),
                             .tokens = std::move(tokens_),
                             .finish_reason = reason_,
                             .usage = {.reused = reused_, .read = read_, .written = written_},
                             .timing = timing(),
                             .logprobs = std::move(logprobs_)});
}

void Job::fail(std::exception_ptr error) {
  if (answer_ != nullptr) answer_->fail(std::move(error));
}

Timing Job::timing() const {
  Timing timing;
  timing.queued = started_ - asked_;
  timing.total = Clock::now() - asked_;
  timing.to_first = written_ > 0 ? first_ - asked_ : timing.total;
  if (written_ > 1) {
    const std::chrono::duration<double> writing = last_ - first_;
    if (writing.count() > 0) {
      timing.tokens_per_second = static_cast<double>(written_ - 1) / writing.count();
    }
  }
  return timing;
}

}  // namespace segue
