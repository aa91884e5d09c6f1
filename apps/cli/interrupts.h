// Ctrl-C and the other ways to be asked to stop. A thread of its own waits for the signals, so that
// what they set off is ordinary code.
//
// SIGINT: whoever listens is asked to stop; where nobody listens, or nobody obeyed twice, the
// program leaves (130). SIGTERM, SIGHUP: it leaves. What was ignored when the program started stays
// ignored. The terminal is always left as it was found.
#pragma once

#include <csignal>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

namespace segue::cli {

class Interrupts {
 public:
  // Construct before any other thread starts: threads inherit that the signals are not for them.
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // While one lives, SIGINT requests its stop. Where several live, that of the last; they end in
  // the opposite order.
  class Listening {
   public:
    explicit Listening(Interrupts& interrupts);
    ~Listening();
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;

    std::stop_token token() const { return source_.get_token(); }
    bool interrupted() const { return source_.stop_requested(); }

   private:
    Interrupts& interrupts_;
    std::stop_source source_;
    std::optional<std::stop_source> outer_;
  };

 private:
  void wait();
  void on_interrupt();

  sigset_t signals_;
  std::mutex mutex_;
  std::optional<std::stop_source> listener_;  // guarded by mutex_
  int ignored_ = 0;                           // guarded by mutex_: SIGINTs since the first
  bool ending_ = false;                       // guarded by mutex_
  std::thread thread_;                        // the last member: it uses those above
};

}  // namespace segue::cli
