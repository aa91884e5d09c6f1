// The floor: a bare loop over llama_decode that reads only what is new and takes the arg-max. It
// knows the whole script beforehand, so it keeps in its slots, saves and restores exactly what will
// be needed, and decides nothing while it plays.
//
// Its context has the parameters that segue uses. Not thread-safe. Throws std::runtime_error where
// llama.cpp fails, or where an answer is not the expected one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bench/bare_model.h"
#include "bench/played.h"
#include "bench/trace.h"

namespace segue::bench {

// Where a model that cannot be rewound has its state saved while a prompt is read; each costs a
// decode of its own.
enum class FloorCheckpoints : std::uint8_t {
  as_needed,   // only where the script comes back
  every_turn,  // where every user turn begins and before the last token, as one has to who does not
               // know what comes
};

struct FloorOptions {
  std::int32_t slots = 4;
  std::int32_t context_length = 4096;
  std::int32_t batch_size = 512;
  std::int32_t threads = 1;
  FloorCheckpoints checkpoints = FloorCheckpoints::as_needed;
};

class Floor {
 public:
  // `model` must outlive the floor.
  Floor(const BareModel& model, const FloorOptions& options);

  // What the model writes after this prompt. Forgets everything else.
  std::vector<Token> write(const std::vector<Token>& prompt, std::size_t count);

  // Forgets everything and makes ready for another script. `trace` must outlive its last play().
  void start(const Trace& trace);
  // Plays the exchanges of one step; steps come in order.
  PlayedStep play(std::size_t step);

 private:
  using Blob = std::vector<std::uint8_t>;
  // A sequence of the context, and the exchange whose record it holds.
  struct Seat {
    std::optional<std::size_t> exchange;
    bool busy = false;
    std::uint64_t last_used = 0;
  };
  // An exchange being played.
  struct Player {
    std::size_t exchange = 0;
    llama_seq_id seat = 0;
    std::size_t position = 0;
    std::vector<std::size_t> checkpoints;  // lengths at which to save
    std::size_t written = 0;
    Token last = kNoToken;
  };

  Player place(std::size_t exchange);
  llama_seq_id free_seat();
  void go_back(llama_seq_id seat, std::size_t exchange);
  std::vector<std::size_t> checkpoints_of(std::size_t exchange) const;
  bool is_used_after(std::size_t exchange, std::size_t user) const;
  void read(std::span<Player> players);
  void write(std::span<Player> players);
  void decode();
  void save(std::size_t exchange, llama_seq_id seat);
  void restore(const Blob& blob, llama_seq_id seat, bool is_partial);
  void take(Player& player, std::int32_t batch_index);
  void add(Token token, std::size_t position, llama_seq_id seat, bool wants_logits);

  const BareModel& model_;
  const FloorOptions options_;
  std::unique_ptr<llama_context, decltype(&llama_free)> context_;
  llama_batch batch_;
  std::unique_ptr<llama_batch, void (*)(llama_batch*)> batch_owner_;

  const Trace* trace_ = nullptr;
  std::vector<std::size_t> last_user_;  // by exchange: the last one that goes on from its record
  std::vector<Seat> seats_;
  std::map<std::size_t, Blob> parked_;  // by exchange: the state of its record
  std::map<std::pair<std::size_t, std::size_t>, Blob> saved_;  // by reader and length: the part
                                                               // that cannot be rewound
  std::uint64_t uses_ = 0;
};

}  // namespace segue::bench
