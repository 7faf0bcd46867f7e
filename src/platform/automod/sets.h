/* sets.h - the rules of a guild, compiled, and where they are kept.
 *
 * A set is made once and only read; whoever uses one holds a reference. The store says which
 * version is in force, so one that is kept here is never used too long. */
#ifndef PLATFORM_AUTOMOD_SETS_H
#define PLATFORM_AUTOMOD_SETS_H

#include "platform/automod/automod.h"
#include "platform/automod/matching.h"

struct automod_set;

/* Of rules that are in force. */
struct automod_set *automod_set_new(const struct list *rules);
struct automod_set *automod_set_ref(struct automod_set *s);
void automod_set_unref(struct automod_set *s); /* accepts NULL */

/* What a rule found in a text. */
struct automod_hit {
    snowflake rule_id;
    struct opt_str keyword, content; /* null: nothing in particular */
    bool in_title;
};

/* Whether a text is too long for patterns such as these to be looked at in a transaction. */
bool automod_set_is_slow(const struct automod_set *s, size_t bytes);
/* Adds a struct automod_hit for each rule of this event that the text breaks by itself. */
void automod_set_find(const struct automod_set *s, enum automod_event event, struct arena *arena,
                      struct str text, struct list *ret);
/* The rule against repetition, or 0. */
snowflake automod_set_spam(const struct automod_set *s);
/* Whether a rule is about names. */
bool automod_set_has_profile(const struct automod_set *s);

/* --- kept ones ------------------------------------------------------------------------ */

/* A reference, or NULL when there is none of this version. The server is known by its api_number.
 */
struct automod_set *automod_kept(uint64_t server, snowflake guild_id, snowflake version);
/* Takes the place of an older version; the caller keeps its reference. */
void automod_keep(uint64_t server, snowflake guild_id, snowflake version, struct automod_set *s);

#endif
