/* faults.c - injected faults: the list, and matching calls against it. */
#include "api/faults/faults.h"

#include <pthread.h>

#include "base/mem.h"
#include "model/text/old_versions.h"

struct faults {
    _Atomic size_t count;
    pthread_mutex_t lock; /* protects list and last_id, and writes of count */
    uint64_t last_id;
    struct fault list[MOST_FAULTS];
};

struct faults *faults_new(void)
{
    struct faults *f = mem_new(sizeof *f);

    pthread_mutex_init(&f->lock, NULL);
    return f;
}

void faults_free(struct faults *f)
{
    if (!f)
        return;
    pthread_mutex_destroy(&f->lock);
    mem_free(f);
}

bool faults_there(const struct faults *f)
{
    return atomic_load_explicit(&f->count, memory_order_relaxed) > 0;
}

bool faults_add(struct faults *f, struct fault *fault)
{
    pthread_mutex_lock(&f->lock);
    bool fits = f->count < MOST_FAULTS;
    if (fits) {
        fault->id = ++f->last_id;
        f->list[f->count] = *fault;
        f->count++;
    }
    pthread_mutex_unlock(&f->lock);
    return fits;
}

static void fault_drop(struct faults *f, size_t i)
{
    size_t behind = f->count - i - 1;

    memmove(&f->list[i], &f->list[i + 1], behind * sizeof *f->list);
    f->count--;
}

bool faults_remove(struct faults *f, uint64_t id)
{
    bool found = false;

    pthread_mutex_lock(&f->lock);
    for (size_t i = f->count; i-- > 0;) {
        if (id == 0 || f->list[i].id == id) {
            fault_drop(f, i);
            found = true;
        }
    }
    pthread_mutex_unlock(&f->lock);
    return found;
}

size_t faults_list(struct faults *f, struct fault *ret)
{
    pthread_mutex_lock(&f->lock);
    size_t count = f->count;
    memcpy(ret, f->list, count * sizeof *ret);
    pthread_mutex_unlock(&f->lock);
    return count;
}

/* Removes "/api" and the version from a path. */
static struct str below_version(struct str path)
{
    if (str_starts(path, STR("/")))
        path = str_from(path, 1);
    struct str rest = path, first = str_cut(&rest, '/');
    if (str_is(first, "api")) {
        path = rest;
        first = str_cut(&rest, '/');
    }
    int version;

    return version_read(first, &version) ? rest : path;
}

static bool segment_fits(struct str pattern, struct str segment)
{
    if (str_is(pattern, "*") || (pattern.n > 1 && pattern.p[0] == '{'))
        return segment.n > 0;
    return str_eq(pattern, segment);
}

bool fault_fits(struct str pattern, struct str path)
{
    pattern = below_version(pattern);
    path = below_version(path);
    while (pattern.n && path.n) {
        struct str mine = str_cut(&pattern, '/'), theirs = str_cut(&path, '/');

        if (str_is(mine, "**"))
            return true;
        if (!segment_fits(mine, theirs))
            return false;
    }
    return pattern.n == path.n || str_is(pattern, "**");
}

bool faults_meet(struct faults *f, enum http_method method, struct str path, struct fault *ret)
{
    bool met = false;

    pthread_mutex_lock(&f->lock);
    for (size_t i = 0; i < f->count && !met; i++) {
        struct fault *x = &f->list[i];

        if ((!x->any_method && x->method != method) || !fault_fits(str_of(x->path), path))
            continue;
        met = true;
        x->hits++;
        *ret = *x;
        if (x->times && --x->times == 0)
            fault_drop(f, i);
    }
    pthread_mutex_unlock(&f->lock);
    return met;
}
