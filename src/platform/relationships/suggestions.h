/* suggestions.h - people whom somebody might know.
 *
 * A suggestion lives as long as there is a reason for it. Each source (an address book,
 * the friends of friends, an account elsewhere) gives its own reasons and takes them
 * back; what is told to clients is the sum. */
#ifndef PLATFORM_RELATIONSHIPS_SUGGESTIONS_H
#define PLATFORM_RELATIONSHIPS_SUGGESTIONS_H

#include "api/hooks.h"
#include "model/relationship.h"
#include "platform/accounts/accounts.h"

/* Sources other than the type of a connection. */
#define SOURCE_CONTACTS "contacts"
#define SOURCE_REVERSE  "reverse" /* the other has the owner in an address book */
#define SOURCE_MUTUAL   "mutual"

enum suggestion_score {
    SCORE_MUTUAL = 100, /* at most: the number of friends in common */
    SCORE_REVERSE = 200,
    SCORE_CONNECTION = 300,
    SCORE_CONTACT = 400,
};

/* Somebody whom a source knows of. */
struct suggestion_offer {
    snowflake user_id;
    struct str name;               /* over there; p == NULL: as here */
    struct opt_str contact_name;   /* what the owner calls them */
    struct opt_int mutual_friends; /* where it is known */
    int64_t score;
};

/* From now on this source knows these (struct suggestion_offer) and no others. Left out
 * are bots, those who have something to do with the owner already, who want no requests
 * and who were dismissed. The best 100 of all sources stay; the owner is told of what
 * comes and goes. */
enum err suggestions_replace(struct call *call, snowflake owner, struct str source,
                             const struct list *offers);

/* Whether somebody may be suggested to the owner at all. */
enum err suggestion_admissible(struct tx *tx, snowflake owner, snowflake id, bool *ret);

/* The suggestion goes, whatever its reasons; the owner is told if there was one. */
enum err suggestion_drop(struct call *call, snowflake owner, snowflake suggested);
/* The same, and it does not come back for 180 days. */
enum err suggestion_dismiss(struct call *call, snowflake owner, snowflake suggested);
/* One of its reasons goes; the owner is told if it was the last. */
enum err suggestion_withdraw(struct call *call, snowflake owner, snowflake suggested,
                             struct str source);
/* To whom this source suggests somebody (snowflakes). */
enum err suggestion_owners(struct tx *tx, snowflake suggested, struct str source, struct list *ret);
/* Somebody is to be suggested by this source no longer. */
enum err suggestion_withdraw_all(struct call *call, snowflake suggested, struct str source);
/* For who can no longer be found by an address book. */
enum err suggestions_hide(struct call *call, const struct settings_change *c);

enum err suggestion_exists(struct tx *tx, snowflake owner, snowflake suggested, bool *ret);
/* struct friend_suggestion, the best first. */
enum err suggestions_of(struct tx *tx, snowflake owner, struct list *ret);
enum err suggestions_count(struct tx *tx, snowflake owner, int64_t *ret);

/* --- suggestions_found.c: what the server finds by itself ----------------------------- */

/* Friends of friends, and friends elsewhere, are looked for within a day, and every day
 * from then on. */
enum err suggestions_watch(struct call *call, snowflake owner);
/* At once: for whoever has just learnt of somebody's friends on another platform, or that
 * they are no longer to be looked at. */
enum err suggestions_from_connections(struct call *call, snowflake owner);
extern const struct job_kind *const suggestion_jobs[];

#define SUGGESTION_EVENTS EVENT_FRIEND_SUGGESTION_CREATE, EVENT_FRIEND_SUGGESTION_DELETE

#endif
