/* faults.c - the list of injected faults, and the search for a fault that matches a call. */
#include "api/faults/faults.h"

#include <pthread.h>

#include "base/mem.h"
#include "model/text/old_api_encoding.h"

struct injected_faults {
    _Atomic size_t count;
    pthread_mutex_t lock; /* lock of list and last_id; count is also changed under the lock, but
                           * read without it */
    uint64_t last_id;
    struct injected_fault list[MOST_FAULTS];
};

struct injected_faults *injected_faults_new(void)
{
    struct injected_faults *f = mem_new(sizeof *f);

    pthread_mutex_init(&f->lock, NULL);
    return f;
}

void injected_faults_free(struct injected_faults *f)
{
    if (!f)
        return;
    pthread_mutex_destroy(&f->lock);
    mem_free(f);
}

bool injected_faults_exist(const struct injected_faults *f)
{
    return atomic_load_explicit(&f->count, memory_order_relaxed) > 0;
}

bool injected_faults_add(struct injected_faults *f, struct injected_fault *fault)
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

static void remove_fault_at(struct injected_faults *f, size_t i)
{
    size_t behind = f->count - i - 1;

    memmove(&f->list[i], &f->list[i + 1], behind * sizeof *f->list);
    f->count--;
}

bool injected_faults_remove(struct injected_faults *f, uint64_t id)
{
    bool found = false;

    pthread_mutex_lock(&f->lock);
    for (size_t i = f->count; i-- > 0;) {
        if (id == 0 || f->list[i].id == id) {
            remove_fault_at(f, i);
            found = true;
        }
    }
    pthread_mutex_unlock(&f->lock);
    return found;
}

size_t injected_faults_list(struct injected_faults *f, struct injected_fault *ret)
{
    pthread_mutex_lock(&f->lock);
    size_t count = f->count;
    memcpy(ret, f->list, count * sizeof *ret);
    pthread_mutex_unlock(&f->lock);
    return count;
}

/* Removes "/api" and the API version from the start of a path. */
static struct str strip_api_version(struct str path)
{
    if (str_starts_with(path, STR("/")))
        path = str_skip_bytes(path, 1);
    struct str rest = path, first = str_cut(&rest, '/');
    if (str_is(first, "api")) {
        path = rest;
        first = str_cut(&rest, '/');
    }
    int version;

    return parse_api_version(first, &version) ? rest : path;
}

static bool segment_matches_pattern(struct str pattern, struct str segment)
{
    if (str_is(pattern, "*") || (pattern.n > 1 && pattern.p[0] == '{'))
        return segment.n > 0;
    return str_eq(pattern, segment);
}

/* Returns whether a path ("/api/v10/channels/1/messages") matches a pattern. A segment of one
 * asterisk or {…} matches any one segment; two asterisks at the end match all further segments. */
static bool fault_path_matches(struct str pattern, struct str path)
{
    pattern = strip_api_version(pattern);
    path = strip_api_version(path);
    while (pattern.n && path.n) {
        struct str pattern_segment = str_cut(&pattern, '/'), path_segment = str_cut(&path, '/');

        if (str_is(pattern_segment, "**"))
            return true;
        if (!segment_matches_pattern(pattern_segment, path_segment))
            return false;
    }
    return pattern.n == path.n || str_is(pattern, "**");
}

bool injected_faults_find_fault_for_call(struct injected_faults *f, enum http_method method,
                                         struct str path, struct injected_fault *ret)
{
    bool matched = false;

    pthread_mutex_lock(&f->lock);
    for (size_t i = 0; i < f->count && !matched; i++) {
        struct injected_fault *x = &f->list[i];

        if ((!x->any_method && x->method != method) || !fault_path_matches(str_of(x->path), path))
            continue;
        matched = true;
        x->hits++;
        *ret = *x;
        if (x->times && --x->times == 0)
            remove_fault_at(f, i);
    }
    pthread_mutex_unlock(&f->lock);
    return matched;
}
