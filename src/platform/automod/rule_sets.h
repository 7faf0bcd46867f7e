/* rule_sets.h - the compiled AutoMod rules of a guild, and their cache.
 *
 * A set is immutable and reference counted. Callers look up a set by the version in the guild's
 * row, so a stale set is never used. */
#ifndef PLATFORM_AUTOMOD_RULE_SETS_H
#define PLATFORM_AUTOMOD_RULE_SETS_H

#include "platform/automod/automod.h"
#include "platform/automod/matching.h"

struct automod_set;

/* Compiles the enabled rules of a guild. */
struct automod_set *automod_set_new(const struct list *rules);
struct automod_set *automod_set_ref(struct automod_set *s);
void automod_set_unref(struct automod_set *s); /* accepts NULL */

/* A match of a rule in a text. */
struct automod_hit {
    snowflake rule_id;
    struct opt_str keyword, content; /* null: the rule matched without a specific text */
    bool in_title;
};

/* Returns true if matching a text of this size takes too long for a transaction. */
bool automod_set_is_slow(const struct automod_set *s, size_t bytes);
/* Adds a struct automod_hit for each rule of this event type that the text breaks. */
void automod_set_find_hits(const struct automod_set *s, enum automod_event event,
                           struct arena *arena, struct str text, struct list *ret);
/* Returns the id of the rule against spam, or 0. */
snowflake automod_set_spam_rule(const struct automod_set *s);
/* Returns true if a rule applies to names. */
bool automod_set_checks_names(const struct automod_set *s);

/* --- cache ---------------------------------------------------------------------------- */

/* Returns a reference, or NULL if this version is not cached. server: api_instance_number of the
 * server. */
struct automod_set *automod_set_cache_find(uint64_t server, snowflake guild_id, snowflake version);
/* Caches the set and evicts an older version. The caller keeps its own reference. */
void automod_set_cache_insert(uint64_t server, snowflake guild_id, snowflake version,
                              struct automod_set *s);

#endif
