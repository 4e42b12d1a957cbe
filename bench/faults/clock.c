/* The wall clock of a process, as many seconds ahead as the file says that CLOCK_AHEAD names. Clocks that nobody sets stay right. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int (*real)(clockid_t, struct timespec *);
static const volatile long *ahead;

__attribute__((constructor)) static void begin(void) {
    real = dlsym(RTLD_NEXT, "clock_gettime");
    const char *name = getenv("CLOCK_AHEAD");
    int file = name ? open(name, O_RDONLY) : -1;
    void *seen = file < 0 ? MAP_FAILED : mmap(0, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
    if (file >= 0) close(file);
    if (seen != MAP_FAILED) ahead = seen;
}

int clock_gettime(clockid_t which, struct timespec *told) {
    if (!real) begin();
    int code = real(which, told);
    if (!code && ahead && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) told->tv_sec += *ahead;
    return code;
}

int gettimeofday(struct timeval *restrict told, void *restrict zone) {
    struct timespec now;
    int code = clock_gettime(CLOCK_REALTIME, &now);
    told->tv_sec = now.tv_sec;
    told->tv_usec = now.tv_nsec / 1000;
    return code;
}

time_t time(time_t *told) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (told) *told = now.tv_sec;
    return now.tv_sec;
}
