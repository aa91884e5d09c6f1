#include "session/session_impl.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "chat/fragment_cache.h"
#include "segue/error.h"
#include "session/answer_reader.h"
#include "session/fitting.h"
#include "session/session_file.h"
#include "session/validation.h"
#include "session/whole_file.h"
#include "store/snapshot_codec.h"

namespace segue {

namespace {

Conversation conversation_with(std::string_view instructions) {
  Conversation conversation;
  conversation.set_instructions(instructions);
  return conversation;
}

// Tokens of another vocabulary, or that it does not have, spell nothing here: the text is tokenized
// instead.
void keep_fitting_tokens(std::vector<ConversationEntry>& entries, bool same_vocabulary,
                         const Vocabulary& vocabulary) {
  for (ConversationEntry& each : entries) {
    if (each.written == nullptr) continue;
    const bool fits = same_vocabulary &&
                      std::all_of(each.written->begin(), each.written->end(), [&](Token token) {
                        return token >= 0 && token < vocabulary.size();
                      });
    if (!fits) each.written = nullptr;
  }
}

}  // namespace

SessionImpl::SessionImpl(std::shared_ptr<ModelImpl> model, const SessionOptions& options)
    : SessionImpl(std::move(model), (check_options(options), options),
                  conversation_with(options.instructions)) {}

SessionImpl::SessionImpl(std::shared_ptr<ModelImpl> model, SessionOptions options,
                         Conversation conversation)
    : model_(std::move(model)),
      cache_namespace_(std::move(options.cache_namespace)),
      id_(model_->engine().open_session(cache_namespace_)),
      fragments_(std::make_unique<FragmentCache>()),
      conversation_(std::move(conversation)),
      exchange_options_(std::move(options.exchange)) {}

SessionImpl::~SessionImpl() { model_->engine().close_session(id_); }

SessionImpl::Turn::~Turn() {
  const std::scoped_lock lock(session_->mutex_);
  session_->is_responding_ = false;
}

void SessionImpl::Turn::commit(Conversation conversation) {
  const std::scoped_lock lock(session_->mutex_);
  session_->conversation_ = std::move(conversation);
}

std::unique_ptr<SessionImpl::Turn> SessionImpl::try_begin() {
  auto self = shared_from_this();
  const std::scoped_lock lock(mutex_);
  if (is_responding_) return nullptr;
  auto turn = std::make_unique<Turn>(std::move(self));
  is_responding_ = true;
  return turn;
}

std::unique_ptr<SessionImpl::Turn> SessionImpl::begin() {
  auto turn = try_begin();
  if (turn == nullptr) {
    throw ConcurrentRequests(
        "the session is already answering; wait for that answer, cancel it, or ask with "
        "WhenBusy::transient");
  }
  return turn;
}

void SessionImpl::refuse_while_responding() const {
  if (is_responding_) {
    throw ConcurrentRequests("the session is answering; it can be changed or saved afterwards");
  }
}

bool SessionImpl::is_responding() const {
  const std::scoped_lock lock(mutex_);
  return is_responding_;
}

Conversation SessionImpl::conversation() const {
  const std::scoped_lock lock(mutex_);
  return conversation_;
}

SessionOptions SessionImpl::options() const {
  const std::scoped_lock lock(mutex_);
  return {std::string(conversation_.instructions()), exchange_options_, cache_namespace_};
}

void SessionImpl::set_exchange_options(const ExchangeOptions& options) {
  check_options(options);
  const std::scoped_lock lock(mutex_);
  exchange_options_ = options;
}

std::shared_ptr<SessionImpl> SessionImpl::fork() const {
  return std::shared_ptr<SessionImpl>(new SessionImpl(model_, options(), conversation()));
}

void SessionImpl::save(const std::filesystem::path& path) const {
  Conversation saving;
  SavedSession saved;
  {
    const std::scoped_lock lock(mutex_);
    refuse_while_responding();
    saving = conversation_;
    saved.options.exchange = exchange_options_;
  }
  saved.entries = saving.entries();
  saved.first_read = saving.first_read();
  saved.options.cache_namespace = cache_namespace_;
  saved.vocabulary = model_->vocabulary_name();
  saved.state = encoded_state(saving, saved.options.exchange);
  replace_whole_file(path, encode_session(saved));
}

std::vector<std::byte> SessionImpl::encoded_state(const Conversation& conversation,
                                                  const ExchangeOptions& options) const {
  try {
    const SnapshotPtr state = model_->engine().export_state(
        id_, model_->builder().certain_prefix(conversation.messages(), build_options(options)));
    if (state != nullptr) return encode_snapshot(*state);
  } catch (const TemplateFailed& error) {  // the conversation is worth saving without its state
    model_->log(LogLevel::info, std::string("saved without state: ") + error.what());
  }
  return {};
}

std::shared_ptr<SessionImpl> SessionImpl::open(std::shared_ptr<ModelImpl> model,
                                               const std::filesystem::path& path) {
  try {
    SavedSession saved = decode_session(read_whole_file(path));
    check_options(saved.options);
    keep_fitting_tokens(saved.entries, saved.vocabulary == model->vocabulary_name(),
                        model->vocabulary());
    Conversation conversation(std::move(saved.entries), saved.first_read);
    std::shared_ptr<SessionImpl> session(
        new SessionImpl(std::move(model), std::move(saved.options), std::move(conversation)));
    session->take_state(saved.state);
    return session;
  } catch (const InvalidSessionFile& error) {
    throw InvalidSessionFile(path.string() + ": " + error.what());
  } catch (const InvalidArgument& error) {
    throw InvalidSessionFile(path.string() +
                             ": the session file holds what no session can: " + error.what());
  }
}

void SessionImpl::take_state(std::span<const std::byte> encoded) {
  if (encoded.empty()) return;
  SnapshotPtr state = decode_snapshot(encoded);
  if (state == nullptr || state->cache_namespace != cache_namespace_ ||
      !model_->engine().import_state(std::move(state))) {
    model_->log(LogLevel::info,
                "the session file's state does not fit this model; the next turn reads all of it");
  }
}

void SessionImpl::prewarm() {
  const auto turn = begin();
  const ExchangeOptions options = this->options().exchange;
  GenerationRequest request;
  request.session = id_;
  request.read_only = true;
  request.prompt = model_->builder().certain_prefix(conversation().messages(),
                                                    build_options(options), &turn->fragments());
  if (request.prompt.items.empty()) return;
  AnswerReader reader(model_->engine(), std::move(request), options);
  while (!std::holds_alternative<AnswerResult>(reader.next())) {
  }
}

std::int64_t SessionImpl::token_count() const {
  Conversation all = conversation();
  const ExchangeOptions options = this->options().exchange;
  if (options.when_full == WhenFull::refuse) all.read_all();
  const std::vector<ChatMessage> messages = all.messages();
  if (messages.empty()) return 0;
  BuildOptions build = build_options(options);
  build.add_generation_prompt = false;
  const BuiltPrompt built = model_->builder().build(messages, build);
  return static_cast<std::int64_t>(built.prompt.items.size());
}

}  // namespace segue
