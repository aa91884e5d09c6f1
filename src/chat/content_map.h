// Where in a rendered prompt each content stands. Found by rendering the same conversation once
// more with a distinct private-use name in place of each content: the text between the names is the
// template's own, and must stand in the real rendering too.
//
// Where a template's words depend on what content says, the map ends there: what is not found is
// missing from it, never wrong.
// Values; no synchronisation needed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "backend/chat_template.h"
#include "chat/content_guard.h"

namespace segue {

struct PlacedContent {
  std::size_t message = 0;
  bool is_reasoning = false;
  ByteRange text;
  // The text there is the content as given, or trimmed. False: the template took it apart.
  bool is_verbatim = true;
  // Where the answer before this content may begin at the earliest: after the words that the
  // template also ends a prompt with. 0 where that is unknown.
  std::size_t generation_begin = 0;
};

struct ContentMap {
  std::vector<PlacedContent> contents;  // ascending by place; one content may stand twice
  std::size_t mapped_end = 0;           // up to here the map is whole
};

// `messages` and `rendered` as they were given to, and came from, `chat_template`. Never throws
// TemplateFailed: an empty map instead.
ContentMap map_contents(const ChatTemplate& chat_template,
                        const std::vector<TemplateMessage>& messages,
                        const TemplateOptions& options, std::string_view rendered);

}  // namespace segue
