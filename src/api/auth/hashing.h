/* hashing.h - threads that hash passwords, with a bounded queue. */
#ifndef API_HASHING_H
#define API_HASHING_H

#include <stdbool.h>
#include <stdint.h>

struct hashing;

/* A hash to compute, embedded in the caller's struct. run is called on one of the threads, in FIFO
 * order; the task may be freed before run returns. */
struct hash_task {
    struct hash_task *next;
    void (*run)(struct hash_task *t);
};

struct hashing *hashing_new(unsigned threads, unsigned most_waiting);
/* Queues a task. Returns false if the queue is full. From any thread. */
bool hashing_submit(struct hashing *h, struct hash_task *t);

struct hashing_stats {
    uint64_t waiting, refused;
};
void hashing_stats(struct hashing *h, struct hashing_stats *ret);

/* Runs the queued tasks, then stops the threads. */
void hashing_free(struct hashing *h);

#endif
