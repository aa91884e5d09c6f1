// segue: multi-turn chat with local models that never reads twice. Include this.
#pragma once

#include "segue/error.h"       // IWYU pragma: export
#include "segue/model.h"       // IWYU pragma: export
#include "segue/options.h"     // IWYU pragma: export
#include "segue/response.h"    // IWYU pragma: export
#include "segue/session.h"     // IWYU pragma: export
#include "segue/stream.h"      // IWYU pragma: export
#include "segue/transcript.h"  // IWYU pragma: export
