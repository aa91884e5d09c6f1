#include "bench/floor.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <stdexcept>
#include <string>

namespace segue::bench {
namespace {

using Clock = std::chrono::steady_clock;

// In lanes, so that the compiler makes vectors of it: over 150,000 logits a plain search is felt.
Token arg_max(const float* logits, std::int32_t count) {
  constexpr std::int32_t kLanes = 32;
  std::array<float, kLanes> best;
  best.fill(-std::numeric_limits<float>::infinity());
  std::int32_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::int32_t lane = 0; lane < kLanes; ++lane) {
      const float value = logits[i + lane];
      best[lane] = value > best[lane] ? value : best[lane];
    }
  }
  float most = *std::max_element(best.begin(), best.end());
  for (; i < count; ++i) most = std::max(most, logits[i]);
  return static_cast<Token>(std::find(logits, logits + count, most) - logits);
}

}  // namespace

Floor::Floor(const BareModel& model, const FloorOptions& options)
    : model_(model),
      options_(options),
      context_(nullptr, llama_free),
      batch_(llama_batch_init(options.batch_size, 0, 1)),
      batch_owner_(&batch_, [](llama_batch* batch) { llama_batch_free(*batch); }) {
  llama_context_params params = llama_context_default_params();
  params.n_ctx = static_cast<std::uint32_t>(options.slots * options.context_length);
  params.n_seq_max = static_cast<std::uint32_t>(options.slots);
  params.n_batch = params.n_ubatch = static_cast<std::uint32_t>(options.batch_size);
  params.n_outputs_max = params.n_seq_max;
  params.n_threads = params.n_threads_batch = options.threads;
  params.swa_full = false;
  params.kv_unified = false;
  params.no_perf = true;
  context_.reset(llama_init_from_model(model.get(), params));
  if (!context_) throw std::runtime_error("llama.cpp cannot make a context");
  seats_.resize(static_cast<std::size_t>(options.slots));
}

std::vector<Token> Floor::write(const std::vector<Token>& prompt, std::size_t count) {
  llama_memory_clear(llama_get_memory(context_.get()), true);
  std::vector<Token> out;
  std::size_t position = 0;
  while (position < prompt.size()) {
    batch_.n_tokens = 0;
    while (position < prompt.size() && batch_.n_tokens < options_.batch_size) {
      add(prompt[position], position, 0, position + 1 == prompt.size());
      ++position;
    }
    decode();
  }
  for (;;) {
    out.push_back(arg_max(llama_get_logits_ith(context_.get(), -1), model_.vocabulary_size()));
    if (out.size() == count) return out;
    batch_.n_tokens = 0;
    add(out.back(), position++, 0, true);
    decode();
  }
}

void Floor::start(const Trace& trace) {
  trace_ = &trace;
  llama_memory_clear(llama_get_memory(context_.get()), true);
  seats_.assign(seats_.size(), {});
  parked_.clear();
  saved_.clear();
  last_user_.assign(trace.exchanges.size(), 0);
  for (std::size_t i = 0; i < trace.exchanges.size(); ++i) {
    if (trace.exchanges[i].source) last_user_[*trace.exchanges[i].source] = i;
  }
}

PlayedStep Floor::play(std::size_t step) {
  std::vector<std::size_t> exchanges;
  for (std::size_t i = 0; i < trace_->exchanges.size(); ++i) {
    if (trace_->exchanges[i].step == step) exchanges.push_back(i);
  }
  PlayedStep out;
  const Clock::time_point begin = Clock::now();
  std::map<std::size_t, Clock::time_point> asked;  // by session
  // Those that are asked together take the slots in waves.
  for (std::size_t first = 0; first < exchanges.size(); first += seats_.size()) {
    const std::size_t last = std::min(exchanges.size(), first + seats_.size());
    std::vector<Player> players;
    for (std::size_t i = first; i < last; ++i) players.push_back(place(exchanges[i]));
    read(players);
    const Clock::time_point read_at = Clock::now();
    write(players);
    const Clock::time_point written_at = Clock::now();
    for (const Player& player : players) {
      const TracedExchange& exchange = trace_->exchanges[player.exchange];
      const auto since = asked.try_emplace(exchange.act.session, begin).first->second;
      out.exchanges.push_back(
          {.read = static_cast<std::int64_t>(exchange.least_read()), .to_first = read_at - since});
      asked[exchange.act.session] = written_at;
      Seat& seat = seats_[static_cast<std::size_t>(player.seat)];
      seat.exchange = player.exchange;
      seat.busy = false;
      seat.last_used = ++uses_;
    }
  }
  out.total = Clock::now() - begin;
  return out;
}

// Gives the exchange a seat that holds exactly what it keeps.
Floor::Player Floor::place(std::size_t index) {
  const TracedExchange& exchange = trace_->exchanges[index];
  Player player;
  player.exchange = index;
  player.position = exchange.keep;
  player.checkpoints = checkpoints_of(index);
  const auto holder = !exchange.source
                          ? seats_.end()
                          : std::find_if(seats_.begin(), seats_.end(), [&](const Seat& seat) {
                              return seat.exchange == exchange.source;
                            });
  if (holder != seats_.end() && !holder->busy && !is_used_after(*exchange.source, index)) {
    player.seat = static_cast<llama_seq_id>(holder - seats_.begin());
    holder->busy = true;
    go_back(player.seat, index);
    return player;
  }
  if (holder != seats_.end()) {
    save(*exchange.source, static_cast<llama_seq_id>(holder - seats_.begin()));
  }
  player.seat = free_seat();
  seats_[static_cast<std::size_t>(player.seat)].busy = true;
  llama_memory_seq_rm(llama_get_memory(context_.get()), player.seat, -1, -1);
  if (exchange.source) {
    restore(parked_.at(*exchange.source), player.seat, /*is_partial=*/false);
    go_back(player.seat, index);
    if (!is_used_after(*exchange.source, index)) parked_.erase(*exchange.source);
  }
  return player;
}

// The least recently used, whose state is saved where it will be needed.
llama_seq_id Floor::free_seat() {
  const auto seat =
      std::min_element(seats_.begin(), seats_.end(), [](const Seat& a, const Seat& b) {
        return std::pair(a.busy, a.last_used) < std::pair(b.busy, b.last_used);
      });
  const auto id = static_cast<llama_seq_id>(seat - seats_.begin());
  if (seat->exchange && is_used_after(*seat->exchange, *seat->exchange)) save(*seat->exchange, id);
  seat->exchange.reset();
  return id;
}

// From the whole record of the source to the part that is kept.
void Floor::go_back(llama_seq_id seat, std::size_t index) {
  const TracedExchange& exchange = trace_->exchanges[index];
  std::size_t reader = *exchange.source;
  if (exchange.keep == trace_->exchanges[reader].record.size()) return;
  if (model_.needs_checkpoints()) {
    while (trace_->exchanges[reader].keep >= exchange.keep) {
      reader = *trace_->exchanges[reader].source;
    }
    restore(saved_.at({reader, exchange.keep}), seat, /*is_partial=*/true);
  }
  if (!llama_memory_seq_rm(llama_get_memory(context_.get()), seat,
                           static_cast<llama_pos>(exchange.keep), -1)) {
    throw std::runtime_error("a sequence cannot be cut");
  }
}

std::vector<std::size_t> Floor::checkpoints_of(std::size_t index) const {
  const TracedExchange& exchange = trace_->exchanges[index];
  if (!model_.needs_checkpoints()) return {};
  std::vector<std::size_t> out = exchange.returns;
  if (options_.checkpoints == FloorCheckpoints::every_turn) {
    for (const std::size_t start : exchange.turn_starts) {
      if (start > exchange.keep) out.push_back(start);
    }
    if (exchange.prompt.size() - 1 > exchange.keep) out.push_back(exchange.prompt.size() - 1);
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
  }
  return out;
}

// Whether an exchange after `user` goes on from the record of `exchange`.
bool Floor::is_used_after(std::size_t exchange, std::size_t user) const {
  return last_user_[exchange] > user;
}

void Floor::read(std::span<Player> players) {
  const auto prompt = [&](const Player& player) -> const std::vector<Token>& {
    return trace_->exchanges[player.exchange].prompt;
  };
  const auto open = [&](const Player& player) { return player.position < prompt(player).size(); };
  while (std::any_of(players.begin(), players.end(), open)) {
    batch_.n_tokens = 0;
    std::vector<std::pair<Player*, std::int32_t>> ended;
    for (Player& player : players) {
      if (!open(player)) continue;
      const auto next =
          std::upper_bound(player.checkpoints.begin(), player.checkpoints.end(), player.position);
      const std::size_t stop = next == player.checkpoints.end() ? prompt(player).size() : *next;
      while (player.position < stop && batch_.n_tokens < options_.batch_size) {
        const bool is_last = player.position + 1 == prompt(player).size();
        add(prompt(player)[player.position], player.position, player.seat, is_last);
        if (is_last) ended.emplace_back(&player, batch_.n_tokens - 1);
        ++player.position;
      }
    }
    decode();
    for (Player& player : players) {
      if (!std::binary_search(player.checkpoints.begin(), player.checkpoints.end(),
                              player.position)) {
        continue;
      }
      Blob& blob = saved_[{player.exchange, player.position}];
      if (!blob.empty()) continue;
      blob.resize(llama_state_seq_get_size_ext(context_.get(), player.seat,
                                               LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY));
      if (llama_state_seq_get_data_ext(context_.get(), blob.data(), blob.size(), player.seat,
                                       LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY) != blob.size()) {
        throw std::runtime_error("a state cannot be saved");
      }
    }
    for (const auto& [player, index] : ended) take(*player, index);
  }
}

void Floor::write(std::span<Player> players) {
  for (std::size_t step = 1; step < trace_->answer.size(); ++step) {
    batch_.n_tokens = 0;
    for (Player& player : players) add(player.last, player.position++, player.seat, true);
    decode();
    for (std::size_t i = 0; i < players.size(); ++i) {
      take(players[i], static_cast<std::int32_t>(i));
    }
  }
}

void Floor::take(Player& player, std::int32_t batch_index) {
  player.last =
      arg_max(llama_get_logits_ith(context_.get(), batch_index), model_.vocabulary_size());
  if (player.last != trace_->answer[player.written]) {
    throw std::runtime_error("the floor's answer is not the expected one");
  }
  ++player.written;
}

void Floor::add(Token token, std::size_t position, llama_seq_id seat, bool wants_logits) {
  const std::int32_t i = batch_.n_tokens++;
  batch_.token[i] = token;
  batch_.pos[i] = static_cast<llama_pos>(position);
  batch_.n_seq_id[i] = 1;
  batch_.seq_id[i][0] = seat;
  batch_.logits[i] = wants_logits ? 1 : 0;
}

void Floor::decode() {
  const std::int32_t status = llama_decode(context_.get(), batch_);
  if (status != 0) {
    throw std::runtime_error("llama_decode gave " + std::to_string(status));
  }
}

void Floor::save(std::size_t exchange, llama_seq_id seat) {
  Blob& blob = parked_[exchange];
  if (!blob.empty()) return;
  blob.resize(llama_state_seq_get_size(context_.get(), seat));
  if (llama_state_seq_get_data(context_.get(), blob.data(), blob.size(), seat) != blob.size()) {
    throw std::runtime_error("a state cannot be saved");
  }
}

void Floor::restore(const Blob& blob, llama_seq_id seat, bool is_partial) {
  const llama_state_seq_flags flags =
      is_partial ? LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY : LLAMA_STATE_SEQ_FLAGS_NONE;
  if (llama_state_seq_set_data_ext(context_.get(), blob.data(), blob.size(), seat, flags) !=
      blob.size()) {
    throw std::runtime_error("a state cannot be restored");
  }
}

}  // namespace segue::bench
