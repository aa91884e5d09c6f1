// SEGUE_API marks what the shared library offers; all else stays inside it.
#pragma once

#if defined(__GNUC__)
#define SEGUE_API __attribute__((visibility("default")))
#else
#define SEGUE_API
#endif
