// Signals that end a program which is watched, in child processes: the seconds before are written,
// and the program ends as it would have.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "base/sanitizers.h"
#include "collector/watching_test.h"
#include "stepscope/record.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

using testing::contains;
using testing::read_run;
using testing::ReadBack;
using testing::runs_in;
using testing::sleep_ms;
using testing::steps_of;
using testing::watch_rules;

// A child process trains and then does `ending`; returns how it ended.
int train_in_child(const std::string& output, uint32_t signals, const std::function<void()>& before,
                   const std::function<void()>& ending) {
  const pid_t child = ::fork();
  if (child == 0) {
    // Sanitizers have handlers of their own, which end the program in another way.
    for (const int fault : {SIGSEGV, SIGFPE, SIGABRT}) ::signal(fault, SIG_DFL);
    before();
    auto chosen = watch_rules();
    chosen.signals = signals;
    if (stepscope_watch(output.c_str(), &chosen, nullptr) != 0) ::_exit(100);
    for (int step = 1; step <= 100; ++step) {
      stepscope_step(step);
      STEPSCOPE_SCOPE("work");
      sleep_ms(1);
    }
    ending();
    sleep_ms(5000);
    ::_exit(101);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

constexpr uint32_t kSignals = 1u << SIGABRT | 1u << SIGSEGV | 1u << SIGTERM | 1u << SIGFPE;

void expect_last_step(const std::string& output, int signal) {
  const auto runs = runs_in(output);
  ASSERT_EQ(runs.size(), 1u);
  const ReadBack run = read_run(runs[0]);
  EXPECT_FALSE(run.ended) << "it did not end well, and must not say so";
  EXPECT_EQ(run.torn_bytes, 0u);
  const std::string& trigger = run.notes.at("trigger");
  EXPECT_TRUE(contains(trigger, "\"signal\":" + std::to_string(signal))) << trigger;
  EXPECT_TRUE(run.notes.contains("written_until"));
  ASSERT_FALSE(steps_of(run).empty());
  EXPECT_EQ(steps_of(run).back(), 100) << "up to the very last record";
}

class DyingBy : public ::testing::TestWithParam<int> {};

TEST_P(DyingBy, ASignalLeavesTheSecondsBeforeAndStillKills) {
  const testing::TemporaryFolder folder;
  const int signal = GetParam();
  const int status =
      train_in_child(folder.path("runs"), kSignals, [] {}, [&] { ::kill(::getpid(), signal); });
  ASSERT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_EQ(WTERMSIG(status), signal);
  expect_last_step(folder.path("runs"), signal);
}

INSTANTIATE_TEST_SUITE_P(Signals, DyingBy, ::testing::Values(SIGABRT, SIGSEGV, SIGTERM, SIGFPE));

TEST(Dying, ByAFaultOfItsOwn) {
  const testing::TemporaryFolder folder;
  const int status = train_in_child(
      folder.path("runs"), kSignals, [] {},
      [] {
        const volatile uintptr_t nowhere = 64;
        *reinterpret_cast<volatile int*>(nowhere) = 1;
      });
  ASSERT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_EQ(WTERMSIG(status), SIGSEGV);
  expect_last_step(folder.path("runs"), SIGSEGV);
}

TEST(Dying, ByAbortWhileOthersRecord) {
  const testing::TemporaryFolder folder;
  const int status = train_in_child(
      folder.path("runs"), kSignals, [] {},
      [] {
        for (int i = 0; i < 3; ++i) {
          std::thread([] {
            while (true) STEPSCOPE_SCOPE("busy");
          }).detach();
        }
        sleep_ms(100);
        std::abort();
      });
  ASSERT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_EQ(WTERMSIG(status), SIGABRT);
  const auto runs = runs_in(folder.path("runs"));
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(steps_of(read_run(runs[0])).back(), 100);
}

TEST(Dying, AnEarlierHandlerIsCalledAndDecides) {
  const testing::TemporaryFolder folder;
  const int status = train_in_child(
      folder.path("runs"), kSignals, [] { ::signal(SIGTERM, [](int) { ::_exit(42); }); },
      [] { ::kill(::getpid(), SIGTERM); });
  ASSERT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 42);
  expect_last_step(folder.path("runs"), SIGTERM);
}

TEST(Dying, AnIgnoredSignalStaysIgnoredAlsoByProgramsThatAreStarted) {
  const testing::TemporaryFolder folder;
  const int status = train_in_child(
      folder.path("runs"), kSignals, [] { ::signal(SIGTERM, SIG_IGN); },
      [] {
        ::kill(::getpid(), SIGTERM);
        struct sigaction now{};
        ::sigaction(SIGTERM, nullptr, &now);
        stepscope_stop();
        ::_exit(now.sa_handler == SIG_IGN ? 7 : 8);
      });
  ASSERT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_TRUE(runs_in(folder.path("runs")).empty());
}

// What a terminal, a timer or a limit sends comes from the kernel, and not again by itself.
TEST(Dying, BySignalsOfTheKernel) {
  const testing::TemporaryFolder folder;
  const int status =
      train_in_child(folder.path("runs"), 1u << SIGALRM, [] {}, [] { ::ualarm(1000, 0); });
  ASSERT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_EQ(WTERMSIG(status), SIGALRM);
  expect_last_step(folder.path("runs"), SIGALRM);
}

TEST(Dying, AHandlerForOneTimeIsCalledOnce) {
  const testing::TemporaryFolder folder;
  const int status = train_in_child(
      folder.path("runs"), kSignals,
      [] {
        struct sigaction once{};
        once.sa_handler = [](int) {};
        once.sa_flags = SA_RESETHAND;
        ::sigaction(SIGTERM, &once, nullptr);
      },
      [] {
        ::raise(SIGTERM);
        ::raise(SIGTERM);
      });
  ASSERT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
}

struct sigaction under_it;
int calls_above = 0;

// As Python's faulthandler does, which may be switched on between two watches.
void above_ours(int number, siginfo_t* info, void* context) {
  if (++calls_above > 1) ::_exit(50);  // ours and this one would call each other without end
  if ((under_it.sa_flags & SA_SIGINFO) != 0) under_it.sa_sigaction(number, info, context);
}

TEST(Dying, AHandlerThatCameAboveOursAndCallsItIsCalledOnce) {
  const testing::TemporaryFolder folder;
  const std::string output = folder.path("runs");
  const int status = train_in_child(
      output, kSignals, [] {},
      [&] {
        struct sigaction above{};
        above.sa_sigaction = above_ours;
        above.sa_flags = SA_SIGINFO;
        ::sigaction(SIGTERM, &above, &under_it);
        stepscope_stop();
        auto chosen = watch_rules();
        chosen.signals = kSignals;
        if (stepscope_watch(output.c_str(), &chosen, nullptr) != 0) ::_exit(100);
        stepscope_step(100);
        sleep_ms(2);
        ::kill(::getpid(), SIGTERM);
      });
  ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
  expect_last_step(output, SIGTERM);
}

TEST(Dying, AForkedChildHasNoWriterAndDoesNotWaitForOne) {
  if (kThreadSanitizer) {
    GTEST_SKIP() << "behind a fork with threads ThreadSanitizer delivers no signals";
  }
  const testing::TemporaryFolder folder;
  const int status = train_in_child(
      folder.path("runs"), kSignals, [] {},
      [] {
        const pid_t grandchild = ::fork();
        if (grandchild == 0) {
          ::kill(::getpid(), SIGTERM);
          sleep_ms(1000);  // delivered here at the latest
          ::_exit(0);
        }
        int how = 0;
        ::waitpid(grandchild, &how, 0);
        stepscope_stop();
        ::_exit(WIFSIGNALED(how) && WTERMSIG(how) == SIGTERM ? 9 : 8);
      });
  ASSERT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 9);
  EXPECT_TRUE(runs_in(folder.path("runs")).empty());
}

TEST(Dying, HandlersAreGoneBehindStop) {
  const testing::TemporaryFolder folder;
  const int status = train_in_child(
      folder.path("runs"), kSignals, [] {},
      [] {
        stepscope_stop();
        struct sigaction now{};
        ::sigaction(SIGTERM, nullptr, &now);
        ::_exit(now.sa_handler == SIG_DFL ? 5 : 6);
      });
  ASSERT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 5);
}

}  // namespace
}  // namespace stepscope
