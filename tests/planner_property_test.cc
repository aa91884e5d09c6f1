// The planner over fake memories, without an engine: whatever was read, parked and dropped before,
// each of its plans leads to the state of a fresh read, and no way of starting keeps more than its
// first. A case that fails is shrunk to the fewest operations that still fail, and printed.
#include "reuse/planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <sstream>
#include <string>

#include "fakes/fake_memory.h"
#include "shrink.h"

namespace segue {
namespace {

struct Operation {
  enum class Kind : std::uint8_t { ask, park, drop_parked, clear };
  Kind kind = Kind::ask;
  std::uint64_t who = 0;    // which slot or parked state
  std::uint64_t what = 0;   // ask: which earlier text, how much of it, what comes after it
  std::uint64_t saves = 0;  // ask: after which batches a checkpoint is taken
};

std::string in_words(const Operation& operation) {
  static constexpr std::array kNames = {"ask", "park", "drop_parked", "clear"};
  std::ostringstream out;
  out << kNames.at(static_cast<std::size_t>(operation.kind)) << ' ' << operation.who << ' '
      << operation.what << ' ' << operation.saves;
  return out.str();
}

struct Setting {
  MemoryTraits memory;
  std::size_t n_slots = 2;
};

struct State {
  FakeMemory memory;
  Record record{};
  Checkpoints checkpoints{};
};

struct Parked {
  std::uint64_t id = 0;
  StateBlob blob;
  Record record;
  Checkpoints checkpoints;
};

// Plays operations; what does not hold, or nothing.
class Player {
 public:
  explicit Player(const Setting& setting)
      : memory_(setting.memory), slots_(setting.n_slots, State{FakeMemory(setting.memory)}) {}

  std::optional<std::string> play(const std::vector<Operation>& operations) {
    for (const Operation& operation : operations) {
      perform(operation);
      if (wrong_) return in_words(operation) + ": " + *wrong_;
    }
    return std::nullopt;
  }

 private:
  void perform(const Operation& operation) {
    const std::size_t slot = operation.who % slots_.size();
    switch (operation.kind) {
      case Operation::Kind::ask:
        return ask(slot, operation);
      case Operation::Kind::park:
        if (slots_[slot].record.empty()) return;
        parked_.push_back({.id = ++last_parked_,
                           .blob = slots_[slot].memory.save(StatePart::whole),
                           .record = slots_[slot].record,
                           .checkpoints = slots_[slot].checkpoints});
        return;
      case Operation::Kind::drop_parked:
        if (parked_.empty()) return;
        parked_.erase(parked_.begin() +
                      static_cast<std::ptrdiff_t>(operation.who % parked_.size()));
        return;
      case Operation::Kind::clear:
        slots_[slot] = State{FakeMemory(memory_)};
        return;
    }
  }

  void ask(std::size_t slot, const Operation& operation) {
    const Prompt prompt = prompt_of(operation.what);
    const std::vector<Holder> holders = holders_of(slot);
    const std::vector<Plan> plans = make_plans(prompt, holders, memory_);
    check_list(plans, prompt);
    if (wrong_) return;
    for (const Plan& plan : plans) check_right(plan, slot, prompt);
    for (const Holder& holder : holders) check_nothing_better(plans.front(), holder, prompt);
    if (wrong_) return;

    State state = *start(plans.front(), slot);
    read(state, prompt.items, operation.saves);
    // The answer, a token at a time; then the state may be parked, extended or gone back in.
    std::vector<PromptItem> all = prompt.items;
    for (std::uint64_t i = 0; i < operation.saves % 9; ++i) {
      all.push_back(PromptItem::of_token(fake_choice(state.memory.logits())));
      read(state, all, 0);
    }
    slots_[slot] = std::move(state);
    texts_.push_back(std::move(all));
  }

  // Some of an earlier text, then new tokens of a few kinds, so that texts meet by chance too.
  Prompt prompt_of(std::uint64_t what) const {
    std::mt19937_64 random(what);
    Prompt prompt;
    if (!texts_.empty() && random() % 8 != 0) {
      const std::vector<PromptItem>& text = texts_[random() % texts_.size()];
      const bool whole = random() % 3 == 0;
      const std::size_t kept = whole ? text.size() : random() % (text.size() + 1);
      prompt.items.assign(text.begin(),
                          text.begin() + static_cast<std::ptrdiff_t>(std::min(kept, kMostKept)));
    }
    for (std::uint64_t n = prompt.items.empty() ? 1 + random() % 12 : random() % 12; n > 0; --n) {
      prompt.items.push_back(PromptItem::of_token(1 + static_cast<Token>(random() % 3)));
    }
    return prompt;
  }

  std::vector<Holder> holders_of(std::size_t own) const {
    std::vector<Holder> holders;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      holders.push_back({.kind = i == own ? HolderKind::own_slot : HolderKind::other_slot,
                         .id = i,
                         .record = &slots_[i].record,
                         .checkpoints = &slots_[i].checkpoints,
                         .position_min = Position(slots_[i].memory.position_min()),
                         .state_bytes = Bytes(0)});
    }
    for (const Parked& parked : parked_) {
      holders.push_back({.kind = HolderKind::snapshot,
                         .id = parked.id,
                         .record = &parked.record,
                         .checkpoints = &parked.checkpoints,
                         .position_min = Position(0),
                         .state_bytes = Bytes(static_cast<std::int64_t>(parked.blob.size()))});
    }
    return holders;
  }

  // --- what must hold ---

  void check_list(const std::vector<Plan>& plans, const Prompt& prompt) {
    if (plans.empty() || plans.back() != Plan{}) return wrong("the last plan is no full read");
    if (plans.size() > 8) return wrong("too many plans");
    for (std::size_t i = 0; i + 1 < plans.size(); ++i) {
      const std::int64_t length = plans[i].length.value;
      if (length < 1 || plans[i].kind == PlanKind::start_empty) wrong("a plan that keeps nothing");
      if (length >= static_cast<std::int64_t>(prompt.items.size()))
        wrong("no item is left to read");
      if (length < plans[i + 1].length.value) wrong("a longer plan after a shorter one");
      if (std::ranges::count(plans, plans[i]) > 1) wrong("the same plan twice");
    }
  }

  void check_right(const Plan& plan, std::size_t slot, const Prompt& prompt) {
    std::optional<State> state = start(plan, slot);
    if (!state || !reads_like_fresh(*state, prompt)) {
      wrong("a plan of kind " + std::to_string(static_cast<int>(plan.kind)) + " to " +
            std::to_string(plan.length.value) + " does not give the state of a fresh read");
    }
  }

  // Tries all longer beginnings of the holder, without asking the planner's rules.
  void check_nothing_better(const Plan& first, const Holder& holder, const Prompt& prompt) {
    const ItemCount most = std::min(common_prefix(holder.record->items(), prompt.items),
                                    ItemCount(static_cast<std::int64_t>(prompt.items.size()) - 1));
    for (ItemCount length = first.length + ItemCount(1); length <= most; length += ItemCount(1)) {
      check_cannot_serve(first, holder, prompt, {Cut::rewind, length});
      for (const Checkpoint& point : holder.checkpoints->list()) {
        check_cannot_serve(first, holder, prompt, {Cut::checkpoint, length, point.length});
      }
    }
  }

  struct Cutting {
    Cut how;
    ItemCount length;
    ItemCount checkpoint{};
  };
  void check_cannot_serve(const Plan& first, const Holder& holder, const Prompt& prompt,
                          const Cutting& cutting) {
    State state = arrive(holder.kind, holder.id);
    if (!cut_to(state, cutting.how, cutting.length, cutting.checkpoint)) return;
    if (!reads_like_fresh(state, prompt)) return;
    wrong("only " + std::to_string(first.length.value) + " items are kept where holder " +
          std::to_string(holder.id) + " could serve " + std::to_string(cutting.length.value));
  }

  bool reads_like_fresh(State& state, const Prompt& prompt) const {
    FakeMemory fresh(memory_);
    std::int64_t position = 0;
    for (const PromptItem& item : prompt.items) fresh.read(item.token, position++);
    return read(state, prompt.items, 0) && state.memory.logits() == fresh.logits();
  }

  // --- carrying a plan out, on copies ---

  std::optional<State> start(const Plan& plan, std::size_t slot) const {
    switch (plan.kind) {
      case PlanKind::start_empty:
        return State{FakeMemory(memory_)};
      case PlanKind::copy:
        return cut_copy(arrive(HolderKind::other_slot, plan.holder), plan);
      case PlanKind::restore:
        return cut_copy(arrive(HolderKind::snapshot, plan.holder), plan);
      default:
        return cut_copy(slots_[slot], plan);
    }
  }

  static std::optional<State> cut_copy(State state, const Plan& plan) {
    if (plan.cut == Cut::none) {
      return state.record.length() == plan.length ? std::optional(state) : std::nullopt;
    }
    const bool done = cut_to(state, plan.cut, plan.length, plan.checkpoint);
    return done ? std::optional(state) : std::nullopt;
  }

  // The holder's state as it comes to the slot that asks: moved where it is another's.
  State arrive(HolderKind kind, std::uint64_t id) const {
    if (kind == HolderKind::own_slot) return slots_[id];
    State moved{FakeMemory(memory_)};
    if (kind == HolderKind::other_slot) {
      moved.memory.restore(slots_[id].memory.save(StatePart::whole), StatePart::whole);
      moved.record = slots_[id].record;
      moved.checkpoints = slots_[id].checkpoints;
      return moved;
    }
    const auto parked = std::ranges::find(parked_, id, &Parked::id);
    moved.memory.restore(parked->blob, StatePart::whole);
    moved.record = parked->record;
    moved.checkpoints = parked->checkpoints;
    return moved;
  }

  static bool cut_to(State& state, Cut how, ItemCount length, ItemCount checkpoint) {
    if (how == Cut::checkpoint) {
      const auto points = state.checkpoints.list();
      const auto point = std::ranges::find(points, checkpoint, &Checkpoint::length);
      if (point == points.end()) return false;
      if (!state.memory.restore(*point->blob, StatePart::partial)) return false;
    }
    if (!state.memory.remove_from(length.value)) return false;
    state.record.truncate(length);
    state.checkpoints.truncate(length);
    return true;
  }

  // Reads what the state lacks of the items, in batches; bit n of `saves`: a checkpoint after the
  // n-th. False where the memory does not take them.
  bool read(State& state, const std::vector<PromptItem>& items, std::uint64_t saves) const {
    constexpr std::size_t kBatch = 5;
    for (std::size_t at = state.record.items().size(); at < items.size(); saves >>= 1U) {
      state.memory.forget();
      for (const std::size_t end = std::min(items.size(), at + kBatch); at < end; ++at) {
        if (!state.memory.read(items[at].token, static_cast<std::int64_t>(at))) return false;
        state.record.append(items[at]);
      }
      if (saves % 2 == 0 || !memory_.needs_checkpoints()) continue;
      state.checkpoints.add(
          {.length = state.record.length(),
           .blob = std::make_shared<const StateBlob>(state.memory.save(StatePart::partial))});
      state.checkpoints.thin(Bytes(800));
    }
    return true;
  }

  void wrong(std::string what) {
    if (!wrong_) wrong_ = std::move(what);
  }

  static constexpr std::size_t kMostKept = 60;

  MemoryTraits memory_;
  std::vector<State> slots_;
  std::vector<Parked> parked_;
  std::vector<std::vector<PromptItem>> texts_;  // all that was ever held
  std::uint64_t last_parked_ = 0;
  std::optional<std::string> wrong_;
};

Setting random_setting(std::mt19937_64& random) {
  static constexpr std::array kKinds = {MemoryKind::attention, MemoryKind::sliding_window,
                                        MemoryKind::recurrent, MemoryKind::hybrid};
  const MemoryKind kind = kKinds.at(random() % kKinds.size());
  return {.memory = fake_traits(kind, 1 + static_cast<std::int64_t>(random() % 10)),
          .n_slots = 1 + random() % 3};
}

std::vector<Operation> random_operations(std::mt19937_64& random) {
  std::vector<Operation> operations(3 + random() % 25);
  for (Operation& operation : operations) {
    // Two of three are turns.
    const std::uint64_t kind = random() % 12;
    operation.kind = kind < 4 ? static_cast<Operation::Kind>(kind) : Operation::Kind::ask;
    operation.who = random() % 100;
    operation.what = random() % 100'000;
    operation.saves = random() % 256;
  }
  return operations;
}

std::string report(const Setting& setting, const std::vector<Operation>& operations) {
  const auto few = shrunk(operations, [&](const std::vector<Operation>& fewer) {
    return Player(setting).play(fewer).has_value();
  });
  std::ostringstream out;
  out << "memory of kind " << static_cast<int>(setting.memory.kind) << ", window "
      << setting.memory.window << ", " << setting.n_slots << " slots:\n";
  for (const Operation& operation : few) out << "  " << in_words(operation) << '\n';
  out << *Player(setting).play(few);
  return out.str();
}

TEST(PlannerProperty, EveryPlanGivesTheStateOfAFreshReadAndNoneKeepsMoreThanTheFirst) {
  constexpr std::uint64_t kCases = 20'000;
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    std::mt19937_64 random(seed);
    const Setting setting = random_setting(random);
    const std::vector<Operation> operations = random_operations(random);
    if (Player(setting).play(operations)) {
      FAIL() << "case " << seed << ", shrunk: " << report(setting, operations);
    }
  }
}

TEST(PlannerProperty, AFailureIsShrunkToWhatItNeeds) {
  // Fails where a 3 comes somewhere before a 5.
  const auto fails = [](const std::vector<int>& list) {
    const auto three = std::ranges::find(list, 3);
    return std::find(three, list.end(), 5) != list.end();
  };
  EXPECT_EQ(shrunk(std::vector{5, 1, 3, 4, 3, 2, 5, 3, 5}, fails), (std::vector{3, 5}));
}

}  // namespace
}  // namespace segue
