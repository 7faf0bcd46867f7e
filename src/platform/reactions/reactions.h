/* reactions.h - reactions. `reactions` has a row per emoji of a message, `reaction_users` a row per
 * user of an emoji. The message's row has the counts as text (model/text/reaction_text.h); with
 * concurrent writers, counter shards (tx_get_counter_shard) have additional counts. Owns the tables
 * of reactions. May include threads/ and lower layers. Start with counts.c. */
#ifndef PLATFORM_REACTIONS_REACTIONS_H
#define PLATFORM_REACTIONS_REACTIONS_H

#include "platform/messages/messages.h"

/* An emoji in paths and world files: Unicode characters, or name:id. */
struct reaction_emoji_name {
    snowflake id;    /* 0 for a Unicode emoji */
    struct str text; /* the characters, or the name before the id */
    struct str key;  /* identifies the emoji: Unicode characters, or ":id" */
};
bool emoji_name_parse(struct arena *arena, struct str text, struct reaction_emoji_name *ret);

/* Resolves an emoji in a world file: Unicode characters, name:id, or the name of a guild emoji. */
struct world_file_importer;
enum err world_file_resolve_emoji(struct world_file_importer *im, struct str text,
                                  snowflake channel, const struct json_path *at,
                                  struct reaction_emoji_name *ret);

/* Changes reactions of a message as another server reported them, with the events; permissions are
 * not checked. `emoji` is Unicode characters or name:id; ERR_NO_SUCH_EMOJI if it is unknown here.
 * reaction_unmirror removes the emoji of all users if user_id is 0, and all emoji if `emoji` is
 * empty, too. Nothing changes if the reaction is already there, or already gone. */
enum err reaction_mirror(struct call *call, struct channel *c, struct message *m, snowflake user_id,
                         struct str emoji);
enum err reaction_unmirror(struct call *call, struct channel *c, struct message *m,
                           snowflake user_id, struct str emoji);

extern const struct domain reactions_domain;
extern const struct world_file_fields reactions_world;

/* Sets whether all accounts, or only premium accounts, may use burst reactions. */
void burst_reactions_set_allowed_for_all(bool everybody_is_premium);

struct reaction_line;
/* Inserts a row in `reactions` without updating the reactions text in the message's row. */
enum err reaction_insert_row(struct tx *tx, snowflake message_id, const struct reaction_line *line,
                             const struct reaction_emoji *emoji);
/* *ret_new is false if the user has already reacted with this emoji. */
enum err reaction_add_user(struct tx *tx, const struct message *m, snowflake id, bool burst,
                           snowflake user_id, bool *ret_new);

#endif
