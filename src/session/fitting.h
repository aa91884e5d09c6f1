// A conversation's prompt for one exchange, made to fit the context where that is asked for.
//
// Pure but for the conversation and the cache that it is given.
#pragma once

#include "chat/prompt_builder.h"
#include "segue/options.h"
#include "session/conversation.h"
#include "session/model_impl.h"

namespace segue {

BuildOptions build_options(const ExchangeOptions& options);

// With WhenFull::drop_oldest, oldest whole turns are left out of `conversation`'s reading where the
// prompt and a usual answer would not fit; then enough of them for several turns to come, since
// every such step makes the model read all of the rest again. With WhenFull::refuse all is read.
// The last turn always stays: whether that fits is for the engine to say. Throws what
// PromptBuilder::build() throws.
BuiltPrompt build_fitting(const ModelImpl& model, Conversation& conversation,
                          const ExchangeOptions& options, FragmentCache* fragments);

}  // namespace segue
