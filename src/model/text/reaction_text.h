/* reaction_text.h - reactions of a message as one text column of its row.
 *
 * A page of messages has up to 2,000 emoji. As separate rows they would cost ten times as much as
 * the messages, so each message has a text with one line per emoji, oldest first:
 *
 * reader NEWLINE id, own (1 digit), normal "," burst "," users "," key TAB emoji (JSON) NEWLINE …
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
    struct str users; /* ids of the first users who added a normal reaction */
    struct str key;   /* key that identifies the emoji */
    struct str emoji; /* JSON of a struct reaction_emoji */
};

/* Writes the first line, with reader 0. */
void reaction_text_begin(struct buf *out);
/* Returns the text after the first line. */
struct str reaction_text_lines(struct str text);
/* Parses the next line and removes it from *text. False at the end, and if it is invalid. */
bool reaction_line_next(struct str *text, struct reaction_line *ret);
/* Appends a line, with own = 0. */
void reaction_line_add(struct buf *out, const struct reaction_line *line);

bool reaction_line_names(const struct reaction_line *line, snowflake user_id);
/* Adds a normal reaction. Stores the user's id if those of all other users are stored. */
void reaction_line_count(struct arena *arena, struct reaction_line *line, snowflake user_id);
void reaction_line_discount(struct arena *arena, struct reaction_line *line, snowflake user_id);
/* Returns the value of messages.reacted for this text without rows in reaction_lanes:
 * REACTED_BY_FEW if the text contains all users who have reacted, otherwise REACTED. */
int64_t reaction_text_kind(struct str text);

struct str reaction_emoji_text(struct arena *arena, const struct reaction_emoji *emoji);
/* Decodes the emoji of a line; never returns NULL. */
const struct reaction_emoji *reaction_emoji_of(struct arena *arena,
                                               const struct reaction_line *line);

void reaction_text_for(struct str text, snowflake reader);
/* Marks, in a copy of the text, that the reader has used an emoji, unless it was removed. */
void reaction_text_mark(struct str text, snowflake id, enum reaction_own own);
void reaction_text_show(struct json *j, struct str text);

/* JSON of a reaction for readers who have not used it, with offsets to patch it for others. */
struct reaction_spot {
    snowflake id;
    struct str users;
    size_t me, me_burst; /* offsets of both "false" values in the output */
};
/* Removes the first line and writes it as an array element with me = false. Returns false at the
 * end, and if the line is invalid. */
bool reaction_show_plain(struct json *j, struct str *lines, struct reaction_spot *ret);
/* Removes the first id from `users`; returns false at the end. */
bool reaction_user_next(struct str *users, snowflake *ret);

#endif
