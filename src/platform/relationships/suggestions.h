/* suggestions.h - friend suggestions. Each source (address book, mutual friends, a connected
 * platform) adds and removes its own suggestions. A user whom several sources suggest is one
 * suggestion for clients, which is deleted with its last source. */
#ifndef PLATFORM_RELATIONSHIPS_SUGGESTIONS_H
#define PLATFORM_RELATIONSHIPS_SUGGESTIONS_H

#include "api/hooks.h"
#include "model/relationship.h"
#include "platform/accounts/accounts.h"

/* Names of suggestion sources; the other sources are the types of connections. */
#define SOURCE_CONTACTS "contacts"
#define SOURCE_REVERSE  "reverse" /* the suggested user has the owner in an address book */
#define SOURCE_MUTUAL   "mutual"

enum friend_suggestion_score {
    SCORE_MUTUAL = 100, /* maximum; the score is the number of mutual friends */
    SCORE_REVERSE = 200,
    SCORE_CONNECTION = 300,
    SCORE_CONTACT = 400,
};

/* A user that a source suggests. */
struct suggested_user {
    snowflake user_id;
    struct str name;               /* name on the connected platform; p is NULL without one */
    struct opt_str contact_name;   /* name in the owner's address book */
    struct opt_int mutual_friends; /* absent if unknown */
    int64_t score;
};

/* Replaces all suggestions of a source by `offers` (struct suggested_user). Skips bots, users with
 * any relationship to the owner, users who accept no requests, and dismissed users. Retains the 100
 * best suggestions of all sources. Emits the created and deleted suggestions to the owner. */
enum err friend_suggestions_replace_of_source(struct call *call, snowflake owner, struct str source,
                                              const struct list *offers);

/* Reads whether this user may be suggested to the owner. */
enum err friend_suggestion_read_is_allowed(struct tx *tx, snowflake owner, snowflake id, bool *ret);

/* Deletes a suggestion of all sources; emits FRIEND_SUGGESTION_DELETE if the suggestion existed. */
enum err friend_suggestion_delete(struct call *call, snowflake owner, snowflake suggested);
/* Deletes a suggestion and does not suggest the user again for 180 days. */
enum err friend_suggestion_dismiss(struct call *call, snowflake owner, snowflake suggested);
/* Deletes the suggestion of one source; emits the event if no other source has it. */
enum err friend_suggestions_delete_of_source(struct call *call, snowflake owner,
                                             snowflake suggested, struct str source);
/* Reads the ids of the users to whom this source suggests the account. */
enum err friend_suggestion_read_recipients(struct tx *tx, snowflake suggested, struct str source,
                                           struct list *ret);
/* Deletes the source's suggestions of this account to all other users. */
enum err friend_suggestions_delete_of_source_to_all(struct call *call, snowflake suggested,
                                                    struct str source);
/* Deletes address book suggestions of an account that disabled discovery by phone number. */
enum err friend_suggestions_on_settings_change(struct call *call,
                                               const struct user_settings_change *c);

enum err friend_suggestion_exists(struct tx *tx, snowflake owner, snowflake suggested, bool *ret);
/* Reads the suggestions of an account (struct friend_suggestion), best first. */
enum err friend_suggestions_read(struct tx *tx, snowflake owner, struct list *ret);
enum err friend_suggestions_count(struct tx *tx, snowflake owner, int64_t *ret);

/* --- suggestion_search_job.c: suggestions computed by the server ---------------------- */

/* Schedules the daily search for mutual friends and for friends on connected platforms. The first
 * run is within 24 hours. */
enum err friend_suggestions_schedule_search(struct call *call, snowflake owner);
/* Runs the search at once, after the friend list or friend sync of a connected account changed. */
enum err friend_suggestions_search_now(struct call *call, snowflake owner);
extern const struct job_kind *const suggestion_jobs[];

#define SUGGESTION_EVENTS EVENT_FRIEND_SUGGESTION_CREATE, EVENT_FRIEND_SUGGESTION_DELETE

#endif
