// Numbers that must not be mixed: counts of prompt items, positions of a sequence, bytes, and the
// names of slots and sessions. Each is a distinct type; none converts into another by accident.
//
// Values; no synchronisation needed.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace segue {

template <typename Tag, typename Rep>
struct Quantity {
  Rep value{};

  constexpr Quantity() = default;
  constexpr explicit Quantity(Rep v) : value(v) {}

  friend constexpr auto operator<=>(Quantity, Quantity) = default;  // NOLINT(modernize-use-nullptr)
  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity(a.value + b.value);
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity(a.value - b.value);
  }
  constexpr Quantity& operator+=(Quantity other) { return *this = *this + other; }
  constexpr Quantity& operator-=(Quantity other) { return *this = *this - other; }
};

// How many prompt items: the unit of records, plans and prefixes.
using ItemCount = Quantity<struct ItemCountTag, std::int64_t>;
// A position in a llama.cpp sequence. For text one item is one position; for some media it is not.
using Position = Quantity<struct PositionTag, std::int64_t>;
using Bytes = Quantity<struct BytesTag, std::int64_t>;
// A sequence of the context, 0 <= value < number of slots.
using SlotId = Quantity<struct SlotIdTag, std::int32_t>;
// Unique within the process for the life of a model; never reused.
using SessionId = Quantity<struct SessionIdTag, std::uint64_t>;

// A vocabulary entry. Plain, since it is an opaque name that nobody computes with.
using Token = std::int32_t;
inline constexpr Token kNoToken = -1;

}  // namespace segue

template <typename Tag, typename Rep>
struct std::hash<segue::Quantity<Tag, Rep>> {
  std::size_t operator()(segue::Quantity<Tag, Rep> q) const noexcept {
    return std::hash<Rep>{}(q.value);
  }
};
