/* Makes the n-th call that opens or writes a file below a folder fail. Loaded before libc (LD_PRELOAD) by tests/faults.py. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { NOTHING, OPENS, WRITES };
#define MOST_FDS 4096

static char folder[4096];
static size_t folder_length;
static int kind, code, is_lasting;
static long wanted, counted;
static char is_below[MOST_FDS];

/* Arms the shim: call number `n` (from 1) of a kind fails with an errno; all later ones too if it is lasting. */
void faults_arm(const char *below, int which, long n, int error, int lasting) {
    snprintf(folder, sizeof folder, "%s", below);
    folder_length = strlen(folder);
    kind = which; wanted = n; code = error; is_lasting = lasting; counted = 0;
}

long faults_counted(void) { return counted; }

static int fails(int which) {
    if (kind != which) return 0;
    long now = __atomic_add_fetch(&counted, 1, __ATOMIC_SEQ_CST);
    if (wanted && (now == wanted || (is_lasting && now > wanted))) { errno = code; return 1; }
    return 0;
}

static int lies_below(const char *path) {
    return folder_length && path && strncmp(path, folder, folder_length) == 0;
}

static void note(int fd, int below) { if (fd >= 0 && fd < MOST_FDS) is_below[fd] = (char)below; }
static int noted(int fd) { return fd >= 0 && fd < MOST_FDS && is_below[fd]; }

#define REAL(type, name, ...) static type (*real)(__VA_ARGS__); if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        REAL(int, #name, const char *, int, ...); \
        va_list rest; va_start(rest, flags); mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0; va_end(rest); \
        int below = lies_below(path); \
        if (below && fails(OPENS)) return -1; \
        int fd = real(path, flags, mode); note(fd, below); return fd; \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name) \
    int name(int at, const char *path, int flags, ...) { \
        REAL(int, #name, int, const char *, int, ...); \
        va_list rest; va_start(rest, flags); mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0; va_end(rest); \
        int below = lies_below(path); \
        if (below && fails(OPENS)) return -1; \
        int fd = real(at, path, flags, mode); note(fd, below); return fd; \
    }
OPENAT(openat)
OPENAT(openat64)

int mkdir(const char *path, mode_t mode) {
    REAL(int, "mkdir", const char *, mode_t);
    return lies_below(path) && fails(WRITES) ? -1 : real(path, mode);
}

int rename(const char *from, const char *to) {
    REAL(int, "rename", const char *, const char *);
    return lies_below(to) && fails(WRITES) ? -1 : real(from, to);
}

int link(const char *from, const char *to) {
    REAL(int, "link", const char *, const char *);
    return lies_below(to) && fails(WRITES) ? -1 : real(from, to);
}

ssize_t write(int fd, const void *data, size_t size) {
    REAL(ssize_t, "write", int, const void *, size_t);
    return noted(fd) && fails(WRITES) ? -1 : real(fd, data, size);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    REAL(ssize_t, "writev", int, const struct iovec *, int);
    return noted(fd) && fails(WRITES) ? -1 : real(fd, parts, count);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
    REAL(ssize_t, "pwrite", int, const void *, size_t, off_t);
    return noted(fd) && fails(WRITES) ? -1 : real(fd, data, size, at);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
    REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t);
    return noted(fd) && fails(WRITES) ? -1 : real(fd, data, size, at);
}

int ftruncate(int fd, off_t size) {
    REAL(int, "ftruncate", int, off_t);
    return noted(fd) && fails(WRITES) ? -1 : real(fd, size);
}

int ftruncate64(int fd, off64_t size) {
    REAL(int, "ftruncate64", int, off64_t);
    return noted(fd) && fails(WRITES) ? -1 : real(fd, size);
}

int fsync(int fd) {
    REAL(int, "fsync", int);
    return noted(fd) && fails(WRITES) ? -1 : real(fd);
}

int fdatasync(int fd) {
    REAL(int, "fdatasync", int);
    return noted(fd) && fails(WRITES) ? -1 : real(fd);
}

int close(int fd) {
    REAL(int, "close", int);
    note(fd, 0);
    return real(fd);
}
