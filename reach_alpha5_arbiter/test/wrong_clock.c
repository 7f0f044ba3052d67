/* A wall clock that is as many seconds off as the file in WRONG_CLOCK says: eight bytes, in the
 * machine's order, which may be changed at any time. Preloaded, it is what every part of a process
 * reads, the middleware as well. Clocks that nobody sets are left alone. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* Waits until a time of the wall clock are told from those of a clock that began at boot. */
#define EPOCH 500000000

static const volatile int64_t none = 0;
static const volatile int64_t *offset = &none;

__attribute__((constructor)) static void open_file(void)
{
    const char *file = getenv("WRONG_CLOCK");
    int fd = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *page = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (page != MAP_FAILED)
        offset = page;
}

static int is_wall(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);
    if (!real)
        real = dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(clock, now);
    if (!failed && is_wall(clock))
        now->tv_sec += *offset;
    return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec wall;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &wall);
    now->tv_sec = wall.tv_sec;
    now->tv_usec = wall.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *into)
{
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    if (into)
        *into = wall.tv_sec;
    return wall.tv_sec;
}

/* The kernel waits by the true clock. */
int pthread_cond_timedwait(
    pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
    const struct timespec *restrict until)
{
    static int (*real)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    struct timespec at = *until;
    if (!real)
        real = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
    if (!real)
        real = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
    if (at.tv_sec > EPOCH)
        at.tv_sec -= *offset;
    return real(cond, mutex, &at);
}
