/* hashing.c - threads that hash passwords, with a bounded queue.
 *
 * A hash takes tens of milliseconds of CPU and megabytes of memory, and any client can request one.
 * So a few dedicated threads compute the hashes, and a call gets 503 if their queue is full. Then a
 * flood of log-ins slows down neither the loops nor the thread pool. */
#include "api/auth/hashing.h"

#include <assert.h>
#include <pthread.h>

#include "base/mem.h"

struct password_hasher {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct password_hash_task *first, **end;
    unsigned waiting, most;
    uint64_t refused;
    bool stopping;
    unsigned count;
    pthread_t threads[];
};

static struct password_hash_task *wait_for_hash_task(struct password_hasher *h)
{
    struct password_hash_task *t;

    pthread_mutex_lock(&h->lock);
    while (!h->first && !h->stopping)
        pthread_cond_wait(&h->changed, &h->lock);
    t = h->first;
    if (t) {
        h->first = t->next;
        if (!h->first)
            h->end = &h->first;
        h->waiting--;
    }
    pthread_mutex_unlock(&h->lock);
    return t;
}

static void *run_hashing_thread(void *arg)
{
    struct password_hash_task *t;

    while ((t = wait_for_hash_task(arg)))
        t->run(t);
    return NULL;
}

struct password_hasher *password_hasher_new(unsigned threads, unsigned most_waiting)
{
    struct password_hasher *h = mem_new(sizeof *h + threads * sizeof *h->threads);

    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->changed, NULL);
    h->end = &h->first;
    h->most = most_waiting;
    h->count = threads;
    for (unsigned i = 0; i < threads; i++) {
        int failed = pthread_create(&h->threads[i], NULL, run_hashing_thread, h);

        assert(!failed);
        (void)failed;
    }
    return h;
}

bool password_hasher_submit(struct password_hasher *h, struct password_hash_task *t)
{
    bool queued;

    t->next = NULL;
    pthread_mutex_lock(&h->lock);
    queued = h->waiting < h->most;
    if (queued) {
        *h->end = t;
        h->end = &t->next;
        h->waiting++;
        pthread_cond_signal(&h->changed);
    } else {
        h->refused++;
    }
    pthread_mutex_unlock(&h->lock);
    return queued;
}

void password_hasher_read_stats(struct password_hasher *h, struct password_hasher_stats *ret)
{
    pthread_mutex_lock(&h->lock);
    *ret = (struct password_hasher_stats){ .waiting = h->waiting, .refused = h->refused };
    pthread_mutex_unlock(&h->lock);
}

void password_hasher_free(struct password_hasher *h)
{
    if (!h)
        return;
    pthread_mutex_lock(&h->lock);
    h->stopping = true;
    pthread_cond_broadcast(&h->changed);
    pthread_mutex_unlock(&h->lock);
    for (unsigned i = 0; i < h->count; i++)
        pthread_join(h->threads[i], NULL);
    pthread_cond_destroy(&h->changed);
    pthread_mutex_destroy(&h->lock);
    mem_free(h);
}
