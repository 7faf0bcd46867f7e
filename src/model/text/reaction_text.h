/* reaction_text.h - reactions of a message as one text column of its row.
 *
 * A page of messages has up to 2,000 emoji. As separate rows they would cost ten times as much as
 * the messages, so each message has a text with one line per emoji, oldest first:
 *
 *   reader NEWLINE
 *   id, own (1 digit), normal "," burst "," users "," key TAB emoji (JSON) NEWLINE
 *   …
 *
 * Ids are 16 hex digits. The text is encoded as JSON without being decoded into structs: before
 * that, the id of the reader is written to the first line of a copy. `users` are the first few
 * users of an emoji, so that most readers need no query; reactions of other readers are marked in
 * `own`. In the store `reader` and `own` are 0. */
#ifndef MODEL_REACTION_TEXT_H
#define MODEL_REACTION_TEXT_H

#include "model/message.h"
#include "model/reaction.h"

enum { MOST_REACTION_TEXT = 1 << 20 }; /* maximum size in bytes */

enum reaction_own { OWN_NORMAL = 1, OWN_BURST = 2 };

struct reaction_line {
    snowflake id;
    unsigned own; /* enum reaction_own */
    int64_t normal, burst;
    struct str users; /* ids of the first users with a normal reaction */
    struct str key;   /* identifies the emoji */
    struct str emoji; /* JSON of a struct reaction_emoji */
};

/* Writes the first line. */
void reaction_text_begin(struct buf *out);
/* The text after the first line. */
struct str reaction_text_lines(struct str text);
/* Cuts the first line off. False at the end, and if the line is invalid. */
bool reaction_line_next(struct str *text, struct reaction_line *ret);
/* Appends a line with own = 0. */
void reaction_line_add(struct buf *out, const struct reaction_line *line);

/* Does `users` contain the account? */
bool reaction_line_names(const struct reaction_line *line, snowflake user_id);
/* Counts a normal reaction. The user is named if all others are and there is room. */
void reaction_line_count(struct arena *arena, struct reaction_line *line, snowflake user_id);
/* Removes a normal reaction. */
void reaction_line_discount(struct arena *arena, struct reaction_line *line, snowflake user_id);
/* The value of messages.reacted for this text without rows in reaction_lanes: REACTED_BY_FEW if it
 * names all users who have reacted, else REACTED. */
int64_t reaction_text_kind(struct str text);

struct str reaction_emoji_text(struct arena *arena, const struct reaction_emoji *emoji);
/* Never NULL. */
const struct reaction_emoji *reaction_emoji_of(struct arena *arena,
                                               const struct reaction_line *line);

/* Sets the reader in a copy of a text. */
void reaction_text_for(struct str text, snowflake reader);
/* Marks in a copy that its reader has used an emoji. Ignores an emoji that was removed. */
void reaction_text_mark(struct str text, snowflake id, enum reaction_own own);
/* Writes the JSON array of reactions. */
void reaction_text_show(struct json *j, struct str text);

/* The JSON of a reaction for readers who have not used it; with offsets to patch it for others. */
struct reaction_spot {
    snowflake id;
    struct str users;
    size_t me, me_burst; /* offsets of the two "false" in the output */
};
/* Cuts the first line off and writes it as an array element with me = false. False: as
 * reaction_line_next. */
bool reaction_show_plain(struct json *j, struct str *lines, struct reaction_spot *ret);
/* Cuts the first id off `users`. False at the end. */
bool reaction_user_next(struct str *users, snowflake *ret);

#endif
