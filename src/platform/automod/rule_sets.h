/* rule_sets.h - the compiled AutoMod rules of a guild, and their cache.
 *
 * A set is immutable and reference counted. Callers find a set in the cache by the version number
 * in the guild's row, so a stale set is never used. */
#ifndef PLATFORM_AUTOMOD_RULE_SETS_H
#define PLATFORM_AUTOMOD_RULE_SETS_H

#include "platform/automod/automod.h"
#include "platform/automod/matching.h"

struct automod_rule_set;

struct automod_rule_set *automod_rule_set_new(const struct list *rules);
struct automod_rule_set *automod_rule_set_ref(struct automod_rule_set *s);
void automod_rule_set_unref(struct automod_rule_set *s); /* accepts NULL */

/* A rule that a text violates, and the part of the text that matched. */
struct automod_hit {
    snowflake rule_id;
    struct opt_str keyword, content; /* matched keyword and text; null for rules without keywords */
    bool in_title;
};

/* Returns true if matching a text of this many bytes takes too long for a transaction. */
bool automod_rule_set_is_slow(const struct automod_rule_set *s, size_t bytes);
/* Adds a struct automod_hit for each rule of this event type that the text violates. */
void automod_rule_set_find_hits(const struct automod_rule_set *s, enum automod_event event,
                                struct arena *arena, struct str text, struct list *ret);
/* Returns the id of the set's rule against spam; 0 if there is none. */
snowflake automod_rule_set_get_spam_rule(const struct automod_rule_set *s);
/* Returns true if a rule of the set applies to the names of members. */
bool automod_rule_set_checks_names(const struct automod_rule_set *s);

/* --- cache of compiled rules --------------------------------------------------------- */

/* Returns a reference to the cached set with this version number; NULL if it is not cached. server
 * is the api_instance_number of the server. */
struct automod_rule_set *automod_rule_set_cache_find(uint64_t server, snowflake guild_id,
                                                     snowflake version);
/* Adds a compiled rule set to the cache, which takes a reference of its own, and evicts the guild's
 * older version. */
void automod_rule_set_cache_insert(uint64_t server, snowflake guild_id, snowflake version,
                                   struct automod_rule_set *s);

#endif
