// One step of the engine's loop: what goes into the next decode, and what becomes of it.
#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "engine/scheduler.h"
#include "reuse/checkpoint_points.h"
#include "segue/error.h"

namespace segue {
namespace {

std::int64_t remaining(const Job& job) {
  return static_cast<std::int64_t>(job.sequence().items.size()) - job.slot()->record.length().value;
}

bool reads(const Job& job) { return !job.is_writing() || remaining(job) > 1; }

std::exception_ptr decoding_failed(const Job& job, DecodeStatus status) {
  const char* why = status == DecodeStatus::no_room   ? "there was no room in the context"
                    : status == DecodeStatus::invalid ? "the batch was refused as invalid"
                    : status == DecodeStatus::aborted ? "it was aborted"
                                                      : "the back end reported a fatal error";
  return std::make_exception_ptr(DecodingFailed(
      "decoding failed after " + std::to_string(job.slot()->record.length().value) + " of " +
      std::to_string(job.sequence().items.size()) + " items (" + std::to_string(job.written()) +
      " written): " + why + "; the conversation is as it was before, so you can ask again"));
}

}  // namespace

void Scheduler::step() {
  for (bool found = true; found;) {
    const auto full =
        std::ranges::find_if(active_, [&](const JobPtr& job) { return overflows(*job); });
    found = full != active_.end();
    if (!found) break;
    Job& job = **full;
    const std::int64_t length = backend_.shape().context_length.value;
    fail(job,
         std::make_exception_ptr(ContextOverflow(
             "the context of " + std::to_string(length) + " tokens is full: the prompt takes " +
                 std::to_string(job.prompt_length().value) + " and the answer has come to " +
                 std::to_string(job.written()) +
                 "; use a larger context_length, set max_tokens, or let the oldest turns be "
                 "dropped (WhenFull::drop_oldest)",
             job.prompt_length().value, job.written(), length)));
  }

  std::vector<Share> shares;
  batch_.clear();
  collect(shares);
  if (shares.empty()) return;
  const DecodeStatus status = decode_batch(shares);
  if (status == DecodeStatus::ok) {
    for (const Share& share : shares) accept(share);
  } else {
    recover(shares, status);
  }
}

bool Scheduler::overflows(const Job& job) const {
  return job.is_writing() && remaining(job) > 0 &&
         job.slot()->record.end_position() >= backend_.shape().context_length;
}

void Scheduler::collect(std::vector<Share>& shares) {
  const auto batch_size = static_cast<std::size_t>(backend_.shape().batch_size);
  bool settling_only = true;
  for (const JobPtr& job : active_) {
    if (job->is_settling()) continue;
    settling_only = false;
    if (!reads(*job) && job->answer()->has_room() && batch_.size() < batch_size) {
      add_share(*job, 1, shares);
    }
  }
  // While others write, a prompt is read in small pieces, so that their tokens keep flowing.
  const std::size_t most =
      shares.empty() ? batch_size
                     : std::min(batch_size, batch_.size() + static_cast<std::size_t>(std::max(
                                                                1, options_.shared_prefill)));
  for (const JobPtr& job : active_) {
    if (job->is_settling() != settling_only || !reads(*job)) continue;
    if (batch_.size() < most) add_share(*job, most - batch_.size(), shares);
  }
}

void Scheduler::add_share(Job& job, std::size_t most, std::vector<Share>& shares) {
  const Slot& slot = *job.slot();
  const std::vector<PromptItem>& items = job.sequence().items;
  const auto from = static_cast<std::size_t>(slot.record.length().value);
  const std::size_t count = piece_length(job, most);
  Position position = slot.record.end_position();
  shares.push_back({.job = &job, .first = batch_.size(), .count = count});
  for (std::size_t i = from; i < from + count; ++i) {
    batch_.push_back({.token = items[i].token, .position = position, .slot = slot.id});
    position += Position(items[i].n_positions);
  }
  batch_.back().wants_logits = job.writes() && from + count == items.size();
}

// A piece ends where a checkpoint is due, since a state can be saved only between two decodes.
std::size_t Scheduler::piece_length(const Job& job, std::size_t most) const {
  const auto length = static_cast<std::size_t>(std::max<std::int64_t>(0, remaining(job)));
  const std::size_t count = std::min(most, length);
  const ItemCount from = job.slot()->record.length();
  const ItemCount stop = next_checkpoint(job.checkpoint_points(), from);
  if (stop <= from) return count;
  return std::min(count, static_cast<std::size_t>((stop - from).value));
}

DecodeStatus Scheduler::decode_batch(const std::vector<Share>& shares) {
  batch_answers_.clear();
  for (const Share& share : shares) {
    if (share.job->answer() != nullptr) batch_answers_.push_back(share.job->answer().get());
  }
  DecodeStatus status = DecodeStatus::failed;
  try {
    status = backend_.decode(batch_);
  } catch (const std::exception&) {  // as after a fatal error: parts may have been processed
  }
  batch_answers_.clear();
  return status;
}

void Scheduler::accept(const Share& share) {
  Job& job = *share.job;
  Slot& slot = *job.slot();
  const auto from = static_cast<std::size_t>(slot.record.length().value);
  for (std::size_t i = from; i < from + share.count; ++i) {
    slot.record.append(job.sequence().items[i]);
  }
  job.add_read(ItemCount(static_cast<std::int64_t>(share.count)));
  if (std::ranges::binary_search(job.checkpoint_points(), slot.record.length()) ||
      is_longest_whole(slot.record, backend_.shape().memory)) {
    keeper_.checkpoint(slot);
  }
  if (!job.is_read()) return;
  if (!job.writes()) return finish(job);
  try {
    if (job.write(static_cast<std::int32_t>(share.first + share.count - 1), vocabulary_)) {
      finish(job);
    }
  } catch (...) {
    fail(job, as_segue_error(std::current_exception()));
  }
}

void Scheduler::recover(const std::vector<Share>& shares, DecodeStatus status) {
  const bool untouched = status == DecodeStatus::no_room || status == DecodeStatus::invalid;
  std::vector<Job*> jobs;
  for (const Share& share : shares) {
    if (!untouched) reconcile(*share.job);
    jobs.push_back(share.job);
  }
  if (status == DecodeStatus::aborted) {
    // Nobody waits for this batch any more: the next turn drops its jobs.
    return;
  }
  if (jobs.size() == 1) {
    return fail_decode(*jobs.front(), status);
  }
  // One of several is at fault: each alone, and only the guilty one fails.
  for (Job* job : jobs) decode_alone(*job);
}

void Scheduler::fail_decode(Job& job, DecodeStatus status) {
  // A batch that follows from the record and is refused shows that the state is not what the record
  // says: the next exchange must not meet it again.
  if (status == DecodeStatus::invalid) job.slot()->clear_on_release = true;
  fail(job, decoding_failed(job, status));
}

void Scheduler::reconcile(Job& job) {
  const ItemCount before = job.slot()->record.length();
  keeper_.reconcile(*job.slot());
  if (job.slot()->record.length() < before) job.note_loss(job.slot()->record.length());
}

void Scheduler::decode_alone(Job& job) {
  if (job.slot()->record.empty() || remaining(job) < 1) {
    job.note_loss(keeper_.prepare(*job.slot(), job.sequence(), TailCare::drop));
  }
  std::vector<Share> shares;
  batch_.clear();
  add_share(job, static_cast<std::size_t>(backend_.shape().batch_size), shares);
  const DecodeStatus status = decode_batch(shares);
  if (status == DecodeStatus::ok) return accept(shares.front());
  if (status != DecodeStatus::no_room && status != DecodeStatus::invalid) {
    reconcile(job);
  }
  if (status != DecodeStatus::aborted) fail_decode(job, status);
}

}  // namespace segue
