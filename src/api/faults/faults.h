/* faults.h - injected faults, to test how a client handles errors.
 *
 * A fault has a method, a path pattern, and an effect on the next matching calls: another status, a
 * delay, or a closed connection. If no fault is set, the check costs one atomic load per call. */
#ifndef API_FAULTS_H
#define API_FAULTS_H

#include <stdatomic.h>

#include "base/arena.h"
#include "net/http/http_parser.h"

enum { MOST_FAULTS = 64, LONGEST_FAULT_PATH = 200, LONGEST_FAULT_DELAY_MS = 60 * 1000 };

struct injected_fault {
    uint64_t id;
    bool any_method;
    enum http_method method;
    char path[LONGEST_FAULT_PATH + 1]; /* path pattern below /api */
    int status; /* status of the response; 0 means that the call is processed normally, after the
                 * delay */
    bool drop;  /* close the connection without a response */
    int64_t delay_ms;       /* delay before the call is processed, in ms */
    int64_t retry_after_ms; /* Retry-After of status 429, in ms */
    int64_t times;          /* remaining uses; 0 means until removed */
    uint64_t hits;          /* number of calls to which the fault was applied */
};

struct injected_faults;
struct injected_faults *injected_faults_new(void);
void injected_faults_free(struct injected_faults *f);

bool injected_faults_exist(const struct injected_faults *f);
/* Adds a fault and sets its id. Returns false if there are already MOST_FAULTS. All functions of
 * this header may be called from any thread. */
bool injected_faults_add(struct injected_faults *f, struct injected_fault *fault);
/* Removes the fault with this id, or all if id is 0. Returns false if nothing was removed. */
bool injected_faults_remove(struct injected_faults *f, uint64_t id);
/* Copies the faults to ret, which has room for MOST_FAULTS; returns their number. */
size_t injected_faults_list(struct injected_faults *f, struct injected_fault *ret);
/* Finds the first fault that matches this call, and counts the use. Returns false if none match. */
bool injected_faults_find_fault_for_call(struct injected_faults *f, enum http_method method,
                                         struct str path, struct injected_fault *ret);

#endif
