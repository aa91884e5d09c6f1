#include "interrupts.h"

#include <pthread.h>
#include <unistd.h>

#include <utility>

#include "terminal.h"

namespace segue::cli {
namespace {

constexpr int kPatience = 2;  // further SIGINTs until an answer that does not stop is left

constexpr int kWake = SIGUSR1;

// nohup, or a shell that starts us in the background: who ignores a signal for us means it.
bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

[[noreturn]] void leave(int signal) {
  restore_terminal_settings();
  ::_exit(128 + signal);
}

}  // namespace

Interrupts::Interrupts() {
  sigemptyset(&signals_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (!is_ignored(signal)) sigaddset(&signals_, signal);
  }
  // What ends the thread.
  sigaddset(&signals_, kWake);
  ::pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  // A closed pipe is an error of the write that finds it.
  std::signal(SIGPIPE, SIG_IGN);
  thread_ = std::thread([this] { wait(); });
}

Interrupts::~Interrupts() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ::pthread_kill(thread_.native_handle(), kWake);
  thread_.join();
}

void Interrupts::wait() {
  for (;;) {
    int signal = 0;
    if (::sigwait(&signals_, &signal) != 0) continue;
    {
      const std::lock_guard lock(mutex_);
      if (ending_) return;
    }
    if (signal == kWake) continue;  // somebody else's
    if (signal != SIGINT) leave(signal);
    on_interrupt();
  }
}

void Interrupts::on_interrupt() {
  std::optional<std::stop_source> listener;
  {
    const std::lock_guard lock(mutex_);
    if (!listener_ || ignored_++ >= kPatience) leave(SIGINT);
    listener = listener_;
  }
  // Outside the lock: what a stop sets off may take a while.
  listener->request_stop();
}

Interrupts::Listening::Listening(Interrupts& interrupts) : interrupts_(interrupts) {
  const std::lock_guard lock(interrupts_.mutex_);
  outer_ = std::exchange(interrupts_.listener_, source_);
  interrupts_.ignored_ = 0;
}

Interrupts::Listening::~Listening() {
  const std::lock_guard lock(interrupts_.mutex_);
  interrupts_.listener_ = outer_;
  interrupts_.ignored_ = 0;
}

}  // namespace segue::cli
