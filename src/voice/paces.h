/* paces.h - how often accounts join voice. Whoever uses it holds a lock. */
#ifndef VOICE_PACES_H
#define VOICE_PACES_H

#include <stdbool.h>

#include "base/snowflake.h"

struct paces;

/* limited false: as often as they like. */
struct paces *paces_new(bool limited);
void paces_free(struct paces *p);

/* May it join now? Then it counts; else it asks again a little later. */
bool paces_admit(struct paces *p, snowflake user_id);
/* Now and then: lets go of who has not joined for a while. */
void paces_forget(struct paces *p);

#endif
