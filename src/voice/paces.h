/* paces.h - rate limit of voice joins per account. The caller holds a lock. */
#ifndef VOICE_PACES_H
#define VOICE_PACES_H

#include <stdbool.h>

#include "base/snowflake.h"

struct paces;

/* limited false: all joins are allowed. */
struct paces *paces_new(bool limited);
void paces_free(struct paces *p);

/* Counts a join. True: it may run. False: try again later. */
bool paces_admit(struct paces *p, snowflake user_id);
/* Frees expired entries; call it regularly. */
void paces_forget(struct paces *p);

#endif
