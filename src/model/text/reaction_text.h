/* reaction_text.h - reactions as a message's row keeps them.
 *
 * A page of messages shows up to 2,000 emoji. As rows of their own they cost ten times the
 * messages, so each message has a text with a line for each of its emoji, oldest first:
 *
 *   reader NEWLINE
 *   id, own (1 digit), normal "," burst "," users "," key TAB emoji (JSON) NEWLINE
 *   …
 *
 * Ids are 16 hex digits. It is written out for readers without being taken apart: who shows it
 * to an account writes that account's id to the first line. `users` are the first few who used
 * an emoji, so that nobody has to be asked whether the reader is one of them; what they do not
 * say is marked in `own`. Both are 0 in the store. */
#ifndef MODEL_REACTION_TEXT_H
#define MODEL_REACTION_TEXT_H

#include "model/message.h"
#include "model/reaction.h"

enum { MOST_REACTION_TEXT = 1 << 20 }; /* bytes of it */

enum reaction_own { OWN_NORMAL = 1, OWN_BURST = 2 };

struct reaction_line {
    snowflake id;
    unsigned own; /* enum reaction_own */
    int64_t normal, burst;
    struct str users; /* ids of some of the normal ones */
    struct str key;   /* what makes two emoji the same */
    struct str emoji; /* JSON of a struct reaction_emoji */
};

/* Begins a text; lines follow. */
void reaction_text_begin(struct buf *out);
/* The lines of a text. */
struct str reaction_text_lines(struct str text);
/* Takes the first one off lines. False at their end, and where they cannot be read. */
bool reaction_line_next(struct str *text, struct reaction_line *ret);
/* Adds a line that is nobody's own. */
void reaction_line_add(struct buf *out, const struct reaction_line *line);

/* Is the account among the users that a line names? */
bool reaction_line_names(const struct reaction_line *line, snowflake user_id);
/* Somebody's normal one is counted: named, while all the others are and there is room. */
void reaction_line_count(struct arena *arena, struct reaction_line *line, snowflake user_id);
/* It is not there any more. */
void reaction_line_discount(struct arena *arena, struct reaction_line *line, snowflake user_id);
/* What messages.reacted is with such a text and no lanes: REACTED, or REACTED_BY_FEW where it
 * names everybody who has reacted. */
int64_t reaction_text_kind(struct str text);

struct str reaction_emoji_text(struct arena *arena, const struct reaction_emoji *emoji);
/* Never NULL. */
const struct reaction_emoji *reaction_emoji_of(struct arena *arena,
                                               const struct reaction_line *line);

/* Who a copy of a text is shown to. */
void reaction_text_for(struct str text, snowflake reader);
/* Marks in a copy of a text that its reader used an emoji; one that is not there is no
 * reaction any more. */
void reaction_text_mark(struct str text, snowflake id, enum reaction_own own);
/* Writes what the interface shows: an array of reactions. */
void reaction_text_show(struct json *j, struct str text);

/* What was written of an emoji for readers who have not used it. */
struct reaction_spot {
    snowflake id;
    struct str users;
    size_t me, me_burst; /* where the "false" of each stands */
};
/* Takes the first one off lines and writes it as an element of an array, as nobody's own. False as
 * reaction_line_next. */
bool reaction_show_plain(struct json *j, struct str *lines, struct reaction_spot *ret);
/* Takes the first one off the users that a line names. False at their end. */
bool reaction_user_next(struct str *users, snowflake *ret);

#endif
