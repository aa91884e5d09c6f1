#include "chat/content_guard.h"

#include <algorithm>

#include "chat/utf8.h"
#include "segue/error.h"

namespace segue {
namespace {

// Supplementary private use area A.
constexpr char32_t kFirstMark = 0xF0000;
constexpr char32_t kLastMark = 0xFFFFD;

bool is_mark_plane(char32_t code_point) {
  return code_point >= kFirstMark && code_point <= kLastMark;
}

}  // namespace

bool GuardedText::is_guarded(std::size_t begin, std::size_t end) const {
  const auto it = std::upper_bound(guarded.begin(), guarded.end(), begin,
                                   [](std::size_t at, const ByteRange& r) { return at < r.end; });
  return it != guarded.end() && it->begin < end;
}

ContentGuard::ContentGuard(const SpecialTokenIndex& index, std::string_view template_source)
    : index_(index), template_source_(template_source), next_mark_(kFirstMark) {}

char32_t ContentGuard::mark_for(char32_t code_point) {
  const auto known = mark_of_.find(code_point);
  if (known != mark_of_.end()) return known->second;
  for (; next_mark_ <= kLastMark; ++next_mark_) {
    std::string mark;
    append_utf8(next_mark_, mark);
    if (template_source_.find(mark) != std::string_view::npos) continue;
    mark_of_.emplace(code_point, next_mark_);
    meant_by_.emplace(next_mark_, code_point);
    return next_mark_++;
  }
  throw InvalidArgument("The conversation holds too many different private-use characters.");
}

std::vector<std::size_t> ContentGuard::places(std::string_view content,
                                              const ControlTexts& controls, Reach reach) const {
  std::vector<std::size_t> places;
  if (reach == Reach::every) {
    for (std::size_t at = 0; at < content.size(); ++at) {
      if (controls.is_lead(content[at])) places.push_back(at);
    }
  }
  for (const SpecialTokenIndex::Match& match : index_.find_all(content)) {
    if (controls.contains(match.rank)) places.push_back(match.begin);
  }
  const std::string_view core = trimmed(content);
  const auto core_begin = static_cast<std::size_t>(core.data() - content.data());
  // The template may trim content, so both edges count.
  for (const std::size_t end : {content.size(), core_begin + core.size()}) {
    const std::size_t first = end - std::min(end, controls.longest());
    for (std::size_t at = first; at < end; ++at) {
      if (controls.begins_one(content.substr(at, end - at))) places.push_back(at);
    }
  }
  for (const std::size_t begin : {std::size_t{0}, core_begin}) {
    const std::string_view rest = content.substr(begin);
    const std::size_t longest = std::min(rest.size(), controls.longest());
    for (std::size_t length = 1; length <= longest; ++length) {
      if (!controls.ends_one(rest.substr(0, length))) continue;
      places.push_back(begin);
      break;
    }
  }
  if (!core.empty() && controls.lies_in_one(core)) places.push_back(core_begin);
  if (!content.empty() && controls.lies_in_one(content)) places.push_back(0);
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

std::string ContentGuard::mark(std::string_view content, const ControlTexts& controls,
                               Reach reach) {
  const std::vector<std::size_t> marked = places(content, controls, reach);
  auto next = marked.begin();
  std::string out;
  out.reserve(content.size() + 3 * marked.size());
  for (std::size_t at = 0; at < content.size();) {
    const Character character = character_at(content, at);
    const bool is_place = next != marked.end() && *next < at + character.length;
    while (next != marked.end() && *next < at + character.length) ++next;
    if (is_place || is_mark_plane(character.code_point)) {
      append_utf8(mark_for(character.code_point), out);
    } else {
      out.append(content.substr(at, character.length));
    }
    at += character.length;
  }
  return out;
}

GuardedText ContentGuard::unmark(std::string_view rendered,
                                 const std::vector<std::size_t*>& offsets) const {
  GuardedText result;
  result.text.reserve(rendered.size());
  auto offset = offsets.begin();
  for (std::size_t at = 0; at < rendered.size();) {
    for (; offset != offsets.end() && **offset <= at; ++offset) **offset = result.text.size();
    const Character character = character_at(rendered, at);
    const auto meant = is_mark_plane(character.code_point) ? meant_by_.find(character.code_point)
                                                           : meant_by_.end();
    if (meant == meant_by_.end()) {
      result.text.append(rendered.substr(at, character.length));
    } else {
      const std::size_t begin = result.text.size();
      append_utf8(meant->second, result.text);
      result.guarded.push_back({begin, result.text.size()});
    }
    at += character.length;
  }
  for (; offset != offsets.end(); ++offset) **offset = result.text.size();
  return result;
}

}  // namespace segue
