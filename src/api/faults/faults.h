/* faults.h - calls that go wrong because somebody wants to see what a client does then.
 *
 * A fault names a method and a path, and what happens to the next calls that fit: another
 * status, a delay, a connection that is cut. While there is none a call pays for one load. */
#ifndef API_FAULTS_H
#define API_FAULTS_H

#include <stdatomic.h>

#include "base/arena.h"
#include "net/http/http.h"

enum { MOST_FAULTS = 64, LONGEST_FAULT_PATH = 200, LONGEST_FAULT_DELAY_MS = 60 * 1000 };

struct fault {
    uint64_t id;
    bool any_method;
    enum http_method method;
    char path[LONGEST_FAULT_PATH + 1]; /* "/channels/{}/messages" below /api; see fault_fits */
    int status;                        /* answered instead; 0: the call goes on after its delay */
    bool drop;                         /* the connection ends without an answer */
    int64_t delay_ms;                  /* before anything is done */
    int64_t retry_after_ms;            /* with status 429 */
    int64_t times;                     /* that are left; 0: until it is taken back */
    uint64_t hits;                     /* calls that it has met */
};

struct faults;
struct faults *faults_new(void);
void faults_free(struct faults *f);

/* Is there any? */
bool faults_there(const struct faults *f);
/* False: there are too many already. Sets the id. From any thread, like all of these. */
bool faults_add(struct faults *f, struct fault *fault);
/* 0: all of them. False: there was none. */
bool faults_remove(struct faults *f, uint64_t id);
/* Copies them to ret, which has room for MOST_FAULTS; returns how many there are. */
size_t faults_list(struct faults *f, struct fault *ret);
/* The first that fits this call, which counts as met. */
bool faults_meet(struct faults *f, enum http_method method, struct str path, struct fault *ret);

/* Does a path ("/api/v10/channels/1/messages") fit a pattern? A segment * or {…} stands for one
 * of any text, ** at the end for all that follow. */
bool fault_fits(struct str pattern, struct str path);

#endif
