/* hashing.h - threads that hash passwords, with a bounded queue. */
#ifndef API_HASHING_H
#define API_HASHING_H

#include <stdbool.h>
#include <stdint.h>

struct password_hasher;

/* A hash to compute, embedded in a struct of the caller. `run` is called on a password thread, in
 * FIFO order; `run` may free the task. */
struct password_hash_task {
    struct password_hash_task *next;
    void (*run)(struct password_hash_task *t);
};

struct password_hasher *password_hasher_new(unsigned threads, unsigned most_waiting);
/* Queues a password to hash. Returns false if the queue is full. May be called from any thread. */
bool password_hasher_submit(struct password_hasher *h, struct password_hash_task *t);

struct password_hasher_stats {
    uint64_t waiting, refused;
};
void password_hasher_read_stats(struct password_hasher *h, struct password_hasher_stats *ret);

/* Runs the queued tasks, stops the threads and frees the hasher. */
void password_hasher_free(struct password_hasher *h);

#endif
