/* internal.h - what the files of reactions/ share. */
#ifndef PLATFORM_REACTIONS_INTERNAL_H
#define PLATFORM_REACTIONS_INTERNAL_H

#include "api/hooks.h"
#include "api/jobs/jobs.h"
#include "model/text/reaction_text.h"
#include "platform/reactions/reactions.h"

enum { MOST_REACTIONS = 20 }; /* different emoji under one message */

/* --- rows.c --------------------------------------------------------------------------- */

enum err reaction_add_user(struct tx *tx, const struct message *m, snowflake id, bool burst,
                           snowflake user_id, bool *ret_new);
enum err reaction_remove_user(struct tx *tx, snowflake id, bool burst, snowflake user_id,
                              bool *ret_gone);
/* Those who used it (struct user), by id. */
enum err reaction_users(struct tx *tx, snowflake id, bool burst, snowflake after, int64_t limit,
                        struct list *ret);
/* Has the one blocked the other? */

/* --- show.c --------------------------------------------------------------------------- */

/* Fills in .reactions of messages of one channel, as the caller sees them. */
enum err reactions_show(struct call *call, struct list *messages);
enum err reactions_find_own(struct call *call, struct own_reactions *own);

/* --- counts.c: of messages that reactions_show has filled in ----------------------------- */

/* How many emoji there are. */
size_t reaction_kinds(struct str text);
/* One more, or one fewer (by: 1 or -1). */
enum err reaction_count(struct tx *tx, const struct message *m, snowflake id, bool burst,
                        snowflake user_id, int by);
/* A new emoji under a message, with its first count; those that nobody uses any more go.
 * ERR_UNKNOWN_MESSAGE. */
enum err reaction_insert(struct tx *tx, const struct message *m, const struct reaction_line *line,
                         const struct reaction_emoji *emoji);
/* One emoji, or all (0), are not shown any more. */
enum err reactions_take_off(struct tx *tx, const struct message *m, snowflake id);
/* An emoji that nobody uses any more. */
enum err reaction_delete(struct tx *tx, const struct message *m, snowflake id);
enum err reaction_lanes_drop(struct tx *tx, snowflake message_id);

/* --- removal.c: emoji that very many used --------------------------------------------- */

/* Takes one emoji, or all (0), off a message, and removes those who used them, as many as a
 * step may; a job goes on. */
enum err reactions_remove(struct call *call, const struct message *m, snowflake id);
/* The same for a message that is deleted. */
enum err reactions_go_with_message(struct call *call, const snowflake *message_id);
extern const struct job_kind reaction_leftovers;

/* --- add.c, remove.c: handlers -------------------------------------------------------- */

struct reaction_query {
    int64_t type; /* 1: a burst */
};

enum err may_see_reactions(struct call *call);
enum err create_reaction(struct call *call);
enum err delete_own_reaction(struct call *call);
enum err delete_own_burst_reaction(struct call *call);
enum err delete_user_reaction(struct call *call);
enum err delete_user_burst_reaction(struct call *call);
enum err delete_all_reactions_for_emoji(struct call *call);
enum err delete_all_reactions(struct call *call);

/* The emoji of the path; ERR_NO_SUCH_EMOJI. */
enum err reaction_of_path(struct call *call, struct reaction_name *ret);
/* Does the message of the path have it? */
bool reaction_there(const struct call *call, struct str key, struct reaction_line *ret);
/* An event about the message of the path. */
struct reaction_event reaction_event(const struct call *call);

#endif
