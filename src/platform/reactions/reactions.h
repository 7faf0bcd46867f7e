/* reactions.h - reactions. Table `reactions` has a row per emoji of a message; `reaction_users` has
 * a row per user of such an emoji. The message's row contains the counts as text
 * (model/text/reaction_text.h). If there are concurrent writers, counter shards
 * (tx_get_counter_shard) contain further counts, which must be added. Owns the tables of reactions.
 * May include threads/ and lower layers. Start with counts.c. */
#ifndef PLATFORM_REACTIONS_REACTIONS_H
#define PLATFORM_REACTIONS_REACTIONS_H

#include "platform/messages/messages.h"

/* An emoji in paths and world files: Unicode characters, or name:id. */
struct reaction_emoji_name {
    snowflake id;    /* 0 for a Unicode emoji */
    struct str text; /* the Unicode characters, or the name of a custom emoji */
    struct str key;  /* identifies the emoji: its Unicode characters, or ":id" */
};
bool emoji_name_parse(struct arena *arena, struct str text, struct reaction_emoji_name *ret);

/* Resolves an emoji in a world file: Unicode characters, name:id, or the name of a guild emoji. */
struct world_file_importer;
enum err world_file_resolve_emoji(struct world_file_importer *im, struct str text,
                                  snowflake channel, const struct json_path *at,
                                  struct reaction_emoji_name *ret);

/* Changes reactions of a message as another server reported them, with the events; permissions are
 * not checked. `emoji` is Unicode characters or name:id; ERR_NO_SUCH_EMOJI if it is unknown here.
 * mirrored_reaction_remove removes the emoji of all users if user_id is 0, and all emoji if `emoji`
 * is empty, too. Nothing changes if the reaction is already there, or already gone. */
enum err mirrored_reaction_add(struct call *call, struct channel *c, struct message *m,
                               snowflake user_id, struct str emoji);
enum err mirrored_reaction_remove(struct call *call, struct channel *c, struct message *m,
                                  snowflake user_id, struct str emoji);

extern const struct domain reactions_domain;
extern const struct world_file_fields reactions_world;

/* Sets who may use burst reactions: all accounts, or only those with premium. */
void burst_reactions_set_allowed_for_all(bool everybody_is_premium);

struct reaction_line;
/* Inserts a row in `reactions`. Does not update the reactions text in the message's row. */
enum err reaction_insert_row(struct tx *tx, snowflake message_id, const struct reaction_line *line,
                             const struct reaction_emoji *emoji);
/* Adds a user to a reaction. *ret_new is false if the user has already reacted with this emoji. */
enum err reaction_add_user(struct tx *tx, const struct message *m, snowflake id, bool burst,
                           snowflake user_id, bool *ret_new);

#endif
