/* hashing.h - threads that hash passwords, and the bounded line before them. */
#ifndef API_HASHING_H
#define API_HASHING_H

#include <stdbool.h>
#include <stdint.h>

struct hashing;

/* Embedded in what it is about. run is called on one of the threads, in the order of the
 * line; the task may be gone when it returns. */
struct hash_task {
    struct hash_task *next;
    void (*run)(struct hash_task *t);
};

struct hashing *hashing_new(unsigned threads, unsigned most_waiting);
/* From any thread. False: so many wait already, and the task is not taken. */
bool hashing_submit(struct hashing *h, struct hash_task *t);

struct hashing_stats {
    uint64_t waiting, refused;
};
void hashing_stats(struct hashing *h, struct hashing_stats *ret);

/* Runs what waits still, then ends the threads. */
void hashing_free(struct hashing *h);

#endif
