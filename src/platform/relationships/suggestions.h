/* suggestions.h - friend suggestions. Each source (address book, mutual friends, connected
 * platforms) adds and removes its own suggestions. If several sources suggest a user, clients see
 * one suggestion. It is deleted when the last source removes it. */
#ifndef PLATFORM_RELATIONSHIPS_SUGGESTIONS_H
#define PLATFORM_RELATIONSHIPS_SUGGESTIONS_H

#include "api/hooks.h"
#include "model/relationship.h"
#include "platform/accounts/accounts.h"

/* Names of sources of friend suggestions. Other sources are named after connection types. */
#define SOURCE_CONTACTS "contacts"
#define SOURCE_REVERSE  "reverse" /* the suggested user's address book has the owner's number */
#define SOURCE_MUTUAL   "mutual"

enum friend_suggestion_score {
    SCORE_MUTUAL =
        100, /* maximum score of the source "mutual friends", whose score is their number */
    SCORE_REVERSE = 200,
    SCORE_CONNECTION = 300,
    SCORE_CONTACT = 400,
};

/* A user that a source suggests. */
struct suggested_user {
    snowflake user_id;
    struct str name;               /* name on the connected platform; p is NULL if there is none */
    struct opt_str contact_name;   /* name in the owner's address book */
    struct opt_int mutual_friends; /* absent if unknown */
    int64_t score;
};

/* Replaces all suggestions of a source with `offers` (struct suggested_user). Skips bots, users
 * with any relationship to the owner, users who accept no requests, and dismissed users. Retains
 * the 100 suggestions with the highest scores of all sources. Emits created and deleted suggestions
 * to the owner. */
enum err friend_suggestions_replace_of_source(struct call *call, snowflake owner, struct str source,
                                              const struct list *offers);

/* Reads whether this user may be suggested to the owner. */
enum err friend_suggestion_check_allowed(struct tx *tx, snowflake owner, snowflake id, bool *ret);

/* Deletes the suggestions of this user by all sources. Emits FRIEND_SUGGESTION_DELETE if there was
 * one. */
enum err friend_suggestion_delete(struct call *call, snowflake owner, snowflake suggested);
/* Deletes a suggestion and does not suggest the user again for 180 days. */
enum err friend_suggestion_dismiss(struct call *call, snowflake owner, snowflake suggested);
/* Deletes one source's suggestion of a user. Emits FRIEND_SUGGESTION_DELETE if no other source
 * suggests the user. */
enum err friend_suggestions_delete_of_source(struct call *call, snowflake owner,
                                             snowflake suggested, struct str source);
/* Reads the ids of the users to whom this source suggests the account `suggested`. */
enum err friend_suggestion_read_recipients(struct tx *tx, snowflake suggested, struct str source,
                                           struct list *ret);
/* Deletes all suggestions of the account that this source has made to other users. */
enum err friend_suggestions_delete_for_all_recipients(struct call *call, snowflake suggested,
                                                      struct str source);
/* If an account disabled discovery by phone number, deletes the address book suggestions of this
 * account. */
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
/* Runs the search at once. Call it after the account's list of friends on a connected platform, or
 * its friend sync setting, has changed. */
enum err friend_suggestions_search_now(struct call *call, snowflake owner);
extern const struct job_kind *const suggestion_jobs[];

#define SUGGESTION_EVENTS EVENT_FRIEND_SUGGESTION_CREATE, EVENT_FRIEND_SUGGESTION_DELETE

#endif
