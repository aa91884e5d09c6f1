#include "segue/model.h"

#include <utility>
#include <vector>

#include "session/model_impl.h"
#include "session/validation.h"

namespace segue {

Model Model::load(const std::filesystem::path& path, ModelOptions options) {
  return Model(ModelImpl::load(path, std::move(options)));
}

Capabilities Model::capabilities() const { return impl_->capabilities(); }
CachedState Model::cached_state() const { return impl_->engine().counters(); }
void Model::clear_cached_state() { impl_->engine().clear_cached_state(); }

std::int64_t Model::token_count(std::string_view text) const {
  check_utf8(text, "the text");
  std::vector<Token> tokens;
  impl_->vocabulary().tokenize_plain(text, tokens);
  return static_cast<std::int64_t>(tokens.size());
}

}  // namespace segue
