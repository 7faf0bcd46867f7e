/* internal.h - declarations shared by the files of reactions/. */
#ifndef PLATFORM_REACTIONS_INTERNAL_H
#define PLATFORM_REACTIONS_INTERNAL_H

#include "api/hooks.h"
#include "api/jobs/jobs.h"
#include "model/text/reaction_text.h"
#include "platform/reactions/reactions.h"

enum { MOST_REACTIONS = 20 }; /* maximum number of different emoji per message */

/* --- rows.c --------------------------------------------------------------------------- */

enum err reaction_remove_user(struct tx *tx, snowflake id, bool burst, snowflake user_id,
                              bool *ret_gone);
/* Reads the users of a reaction (struct user), sorted by id. */
enum err reaction_read_users(struct tx *tx, snowflake id, bool burst, snowflake after,
                             int64_t limit, struct list *ret);

/* --- show.c --------------------------------------------------------------------------- */

/* Sets .reactions of messages of one channel. The caller's own reactions are marked. */
enum err messages_fill_reactions(struct call *call, struct list *messages);
enum err read_caller_reactions(struct call *call, struct caller_reactions *own);

/* --- counts.c: update counts; call messages_fill_reactions for the message before ----- */

/* Returns the number of different emoji of a message. */
size_t count_distinct_emoji(struct str text);
/* Changes the count of a reaction by `by`, which is 1 or -1. */
enum err reaction_update_count(struct tx *tx, const struct message *m, snowflake id, bool burst,
                               snowflake user_id, int by);
/* Adds an emoji that the message does not have yet, with its first user. Also removes emoji without
 * users. May return ERR_UNKNOWN_MESSAGE. */
enum err message_add_new_reaction_emoji(struct tx *tx, const struct message *m,
                                        const struct reaction_line *line,
                                        const struct reaction_emoji *emoji);
/* Removes the counts of one emoji from the message, or of all emoji if id is 0. */
enum err reactions_remove_counts(struct tx *tx, const struct message *m, snowflake id);
/* Deletes an emoji of the message if it has no users left. */
enum err reaction_delete_if_without_users(struct tx *tx, const struct message *m, snowflake id);
enum err reaction_count_shards_delete(struct tx *tx, snowflake message_id);

/* --- removal_job.c: removal of emoji with many users ---------------------------------- */

/* Removes one emoji from a message, or all emoji if id is 0. Deletes the first rows of
 * reaction_users in this transaction; a job deletes the rest. */
enum err reactions_remove_from_message(struct call *call, const struct message *m, snowflake id);
enum err reactions_delete_of_message(struct call *call, const snowflake *message_id);
extern const struct job_kind reaction_users_delete_job;

/* --- add.c, remove.c: handlers -------------------------------------------------------- */

struct reaction_query {
    int64_t type; /* 1: burst reaction (super reaction), 0: normal reaction */
};

enum err create_reaction(struct call *call);
enum err delete_own_reaction(struct call *call);
enum err delete_own_burst_reaction(struct call *call);
enum err delete_user_reaction(struct call *call);
enum err delete_user_burst_reaction(struct call *call);
enum err delete_all_reactions_for_emoji(struct call *call);
enum err delete_all_reactions(struct call *call);

/* Change a reaction of the message in call->target; call->caller must be set. */
enum err reaction_add_caller_and_emit(struct call *call, const struct reaction_emoji_name *name,
                                      bool burst);
enum err reaction_remove_user_and_emit(struct call *call, const struct reaction_emoji_name *name,
                                       snowflake user_id, bool burst);
enum err reaction_remove_emoji_and_emit(struct call *call, const struct reaction_emoji_name *name);

/* Parses the emoji in the request's path. Returns ERR_NO_SUCH_EMOJI if it is not an emoji. */
enum err parse_emoji_of_path(struct call *call, struct reaction_emoji_name *ret);
/* Finds the reaction with this emoji key in the path's message. Returns false if the message does
 * not have it. */
bool find_reaction_by_emoji_key(const struct call *call, struct str key, struct reaction_line *ret);
/* Returns an event with the ids of the message in the path. */
struct reaction_event reaction_event_of_message(const struct call *call);

#endif
