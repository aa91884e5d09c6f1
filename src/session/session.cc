#include "segue/session.h"

#include <utility>

#include "segue/error.h"
#include "session/exchange.h"
#include "session/session_impl.h"
#include "session/stream_impl.h"
#include "session/validation.h"

namespace segue {

namespace {

// The copy keeps the session alive while it is used, whatever becomes of the handle meanwhile.
std::shared_ptr<SessionImpl> alive(const std::shared_ptr<SessionImpl>& impl) {
  if (impl == nullptr) throw InvalidArgument("the session has been moved from");
  return impl;
}

Stream make_stream(const std::shared_ptr<SessionImpl>& session,
                   std::optional<std::string_view> prompt, const ExchangeOptions& options) {
  return Stream(std::make_unique<StreamImpl>(std::make_unique<Exchange>(session, prompt, options)));
}

}  // namespace

Session::Session(const Model& model, const SessionOptions& options)
    : impl_(std::make_shared<SessionImpl>(model.impl(), options)) {}
Session::Session(std::shared_ptr<SessionImpl> impl) : impl_(std::move(impl)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Session Session::open(const Model& model, const std::filesystem::path& path) {
  return Session(SessionImpl::open(model.impl(), path));
}
void Session::save(const std::filesystem::path& path) const { alive(impl_)->save(path); }

Response Session::respond(std::string_view prompt) {
  return respond(prompt, alive(impl_)->options().exchange);
}
Response Session::respond(std::string_view prompt, const ExchangeOptions& options) {
  return Exchange(alive(impl_), prompt, options).finish();
}
Stream Session::stream(std::string_view prompt) {
  return stream(prompt, alive(impl_)->options().exchange);
}
Stream Session::stream(std::string_view prompt, const ExchangeOptions& options) {
  return make_stream(alive(impl_), prompt, options);
}

Response Session::regenerate() { return regenerate(alive(impl_)->options().exchange); }
Response Session::regenerate(const ExchangeOptions& options) {
  return Exchange(alive(impl_), std::nullopt, options).finish();
}
Stream Session::stream_regenerate() { return stream_regenerate(alive(impl_)->options().exchange); }
Stream Session::stream_regenerate(const ExchangeOptions& options) {
  return make_stream(alive(impl_), std::nullopt, options);
}

Transcript Session::transcript() const { return alive(impl_)->conversation().transcript(); }
SessionOptions Session::options() const { return alive(impl_)->options(); }
void Session::set_exchange_options(const ExchangeOptions& options) {
  alive(impl_)->set_exchange_options(options);
}

void Session::set_instructions(std::string_view text) {
  check_utf8(text, "the instructions");
  alive(impl_)->edit([&](Conversation& conversation) { conversation.set_instructions(text); });
}
void Session::rewind_to(EntryId entry) {
  alive(impl_)->edit([&](Conversation& conversation) { conversation.rewind_to(entry); });
}
void Session::replace(EntryId entry, std::string_view text) {
  check_utf8(text, "the entry's text");
  alive(impl_)->edit([&](Conversation& conversation) { conversation.replace(entry, text); });
}

Session Session::fork() const { return Session(alive(impl_)->fork()); }
void Session::prewarm() { alive(impl_)->prewarm(); }
bool Session::is_responding() const { return alive(impl_)->is_responding(); }
std::int64_t Session::token_count() const { return alive(impl_)->token_count(); }

}  // namespace segue
