/* reaction_text.h - reactions of a message as one text column of its row.
 *
 * A page of messages has up to 2,000 emoji. Reading them as separate rows would take ten times as
 * long as reading the messages, so each message has a text with one line per emoji, oldest first:
 *
 * reader NEWLINE id, own (1 digit), normal "," burst "," users "," key TAB emoji (JSON) NEWLINE …
 *
 * Ids are 16 hex digits. The text is encoded as JSON without being decoded into structs. Before
 * that, the id of the user who reads the message is written to the first line of a copy (reader).
 * `users` are the first few users who reacted with an emoji; if the reader is among them, no query
 * is needed. Other reactions of the reader are marked in `own`. In the store, reader and own are 0.
 */
#ifndef MODEL_REACTION_TEXT_H
#define MODEL_REACTION_TEXT_H

#include "model/message.h"
#include "model/reaction.h"

enum { MAX_REACTION_TEXT_BYTES = 1 << 20 }; /* maximum length */

enum reader_reaction_bits { READER_REACTED_NORMAL = 1, READER_REACTED_BURST = 2 };

struct reaction_line {
    snowflake id;
    unsigned reader_bits; /* enum reader_reaction_bits */
    int64_t normal, burst;
    struct str users; /* ids of the first few users who added a normal reaction */
    struct str key;   /* text that identifies the emoji */
    struct str emoji; /* JSON of a struct reaction_emoji */
};

/* Writes the first line of a reaction text, with 0 as the id of the reading user. */
void reaction_text_append_reader_line(struct buf *out);
struct str reaction_text_skip_reader_line(struct str text);
/* Parses the next line and removes it from *text. Returns false if there is no further line, or the
 * line is invalid. */
bool reaction_line_parse_next(struct str *text, struct reaction_line *ret);
/* Appends the line of one emoji to a reaction text. `own` in the line is 0. */
void reaction_line_append(struct buf *out, const struct reaction_line *line);

bool reaction_line_contains_user(const struct reaction_line *line, snowflake user_id);
/* Adds a normal reaction of a user. Stores the user's id only if the ids of all other users who
 * reacted are stored. */
void reaction_line_add_user(struct arena *arena, struct reaction_line *line, snowflake user_id);
void reaction_line_remove_user(struct arena *arena, struct reaction_line *line, snowflake user_id);
/* Returns the value of messages.reacted for a message without rows in the table reaction_lanes:
 * HAS_REACTIONS_WITH_ALL_USERS if the text contains the ids of all users who have reacted,
 * otherwise MAY_HAVE_REACTIONS. */
int64_t reaction_text_get_state(struct str text);

struct str reaction_emoji_encode(struct arena *arena, const struct reaction_emoji *emoji);
/* Decodes the emoji of a line; never returns NULL. */
const struct reaction_emoji *reaction_emoji_decode(struct arena *arena,
                                                   const struct reaction_line *line);

void reaction_text_write_reader_id(struct str text, snowflake reader);
/* Marks that the reading user has reacted with an emoji. The text must be a copy. Does nothing if
 * the text does not contain the emoji any more. */
void reaction_text_mark_reaction_of_reader(struct str text, snowflake id,
                                           enum reader_reaction_bits reader_bits);
void write_reactions_json(struct json_writer *j, struct str text);

/* Where the JSON of a reaction must be changed for users who have added the reaction. */
struct reaction_json_offsets {
    snowflake id;
    struct str users;
    size_t me, me_burst; /* offsets of the two "false" values in the output */
};
/* Removes the first line from *lines and writes its reaction as a JSON array element with "me":
 * false. Returns false if there is no further line, or the line is invalid. */
bool write_next_reaction_json(struct json_writer *j, struct str *lines,
                              struct reaction_json_offsets *ret);
/* Removes the first user id from users and sets ret to it. Returns false if users is empty. */
bool reaction_user_ids_read_next(struct str *users, snowflake *ret);

#endif
