/* reactions.h - emoji that people put under messages.
 *
 * A message's emoji are rows of `reactions`, those who used one rows of `reaction_users`. What
 * is shown of them, counts included, is a text in the message's own row, so that a page of
 * messages costs hardly more with them than without (model/text/reaction_text.h); where many write
 * at once, each lane of the store counts beside it. Begin with counts.c. */
#ifndef PLATFORM_REACTIONS_REACTIONS_H
#define PLATFORM_REACTIONS_REACTIONS_H

#include "platform/messages/messages.h"

/* An emoji as paths and world files name it: the characters of Unicode, or name:id. */
struct reaction_name {
    snowflake id;    /* 0: of Unicode */
    struct str text; /* the characters, or the name that stands before the id */
    struct str key;  /* what makes two emoji the same */
};
/* False: the text names no emoji. */
bool reaction_read(struct arena *arena, struct str text, struct reaction_name *ret);

extern const struct domain reactions_domain;

/* Whether burst reactions are for everybody, or for premium accounts. */
void reactions_set(bool everybody_is_premium);

#endif
