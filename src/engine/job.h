// A job: one exchange (or one settling) on its slot. It wants a growing run of items, its sequence,
// to be decoded; whenever the slot holds all of it, the next token is chosen and joins the
// sequence. Reading a prompt, writing an answer and going on after a fault are the same motion.
//
// Engine thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "backend/sampler.h"
#include "backend/vocabulary.h"
#include "engine/answer.h"
#include "engine/engine.h"
#include "engine/slot.h"
#include "engine/text_filter.h"

namespace segue {

class Job {
 public:
  using Clock = std::chrono::steady_clock;

  // An exchange.
  Job(GenerationRequest request, std::shared_ptr<Answer> answer);
  // A settling: brings the session's slot to `prefix`.
  Job(SessionId session, Prompt prefix);

  bool is_settling() const { return answer_ == nullptr; }
  SessionId session() const { return request_.session; }
  const GenerationRequest& request() const { return request_; }
  const std::shared_ptr<Answer>& answer() const { return answer_; }
  bool is_cancelled() const { return answer_ != nullptr && answer_->is_cancelled(); }

  // Gives the job its slot, which holds `kept` items of the sequence; `sampler` is null where
  // nothing is to be written.
  void start(Slot& slot, ItemCount kept, std::unique_ptr<Sampler> sampler);
  // Lengths at which the slot's state is saved on the way, ascending; empty where the memory can be
  // rewound.
  void set_checkpoint_points(std::vector<ItemCount> points) { points_ = std::move(points); }
  const std::vector<ItemCount>& checkpoint_points() const { return points_; }
  Slot* slot() const { return slot_; }

  // The items that the slot should hold: the prompt and the tokens written so far.
  const Prompt& sequence() const { return sequence_; }
  ItemCount prompt_length() const { return prompt_length_; }
  bool is_writing() const { return written_ > 0; }
  bool writes() const { return sampler_ != nullptr; }
  // True when the slot holds the whole sequence.
  bool is_read() const;

  // Notes items decoded for this job.
  void add_read(ItemCount count);
  // Notes that a fault left the slot with `left` items, so that the others are read again: reused
  // and read together stay what the slot held of the prompt.
  void note_loss(ItemCount left);
  // Chooses the next token from the logits at `batch_index`, hands its text on, and tells whether
  // the answer is complete. Throws what the sampler throws.
  bool write(std::int32_t batch_index, const Vocabulary& vocabulary);
  // Ends the answer well. Requires that write() said so, or that nothing is to be written.
  void finish();
  void fail(std::exception_ptr error);

  std::int64_t reused() const { return reused_; }
  std::int64_t read() const { return read_; }
  std::int64_t written() const { return written_; }

 private:
  bool end(FinishReason reason);
  void note_logprob(const TokenChoice& choice, const Vocabulary& vocabulary);
  Timing timing() const;

  GenerationRequest request_;
  std::shared_ptr<Answer> answer_;
  Prompt sequence_;
  ItemCount prompt_length_;
  Slot* slot_ = nullptr;
  std::unique_ptr<Sampler> sampler_;
  TextFilter filter_;
  std::vector<ItemCount> points_;

  std::string text_;
  std::vector<Token> tokens_;
  std::vector<std::size_t> token_ends_;  // bytes of the output up to the end of each token
  std::size_t output_bytes_ = 0;
  std::vector<TokenLogprob> logprobs_;
  FinishReason reason_ = FinishReason::max_tokens;

  std::int64_t reused_ = 0;
  std::int64_t read_ = 0;
  std::int64_t written_ = 0;
  Clock::time_point asked_ = Clock::now();
  Clock::time_point started_;
  Clock::time_point first_;
  Clock::time_point last_;
};

}  // namespace segue
