/* Makes each flush of a file take FLUSH_MS longer, as on a slower disk. Loaded before the C library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

static void hold(void) {
  const char *ms = getenv("FLUSH_MS");
  long ns = ms ? (long)(atof(ms) * 1e6) : 0;
  struct timespec pause = {ns / 1000000000, ns % 1000000000};
  /* A profiler's signals cut it short. */
  while (nanosleep(&pause, &pause) == -1 && errno == EINTR) {
  }
}

int fsync(int file) {
  hold();
  return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(file);
}

int fdatasync(int file) {
  hold();
  return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(file);
}
