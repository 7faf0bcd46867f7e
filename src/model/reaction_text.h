/* reaction_text.h - reactions as a message's row keeps them.
 *
 * A page of messages shows up to 2,000 emoji. As rows of their own they cost ten times the
 * messages, so each message has a text with a line for each of its emoji, oldest first:
 *
 *   id (16 hex digits), own (1 digit), normal "," burst "," key TAB emoji (JSON) NEWLINE
 *
 * It is written out for readers without being taken apart. `own` is 0 in the store; whoever
 * shows the text to an account marks there what that account used. */
#ifndef MODEL_REACTION_TEXT_H
#define MODEL_REACTION_TEXT_H

#include "model/reaction.h"

enum { MOST_REACTION_TEXT = 1 << 20 }; /* bytes of it */

enum reaction_own { OWN_NORMAL = 1, OWN_BURST = 2 };

struct reaction_line {
    snowflake id;
    unsigned own; /* enum reaction_own */
    int64_t normal, burst;
    struct str key;   /* what makes two emoji the same */
    struct str emoji; /* JSON of a struct reaction_emoji */
};

/* Takes the first line off a text. False at its end, and where it cannot be read. */
bool reaction_line_next(struct str *text, struct reaction_line *ret);
/* Adds a line that is nobody's own. */
void reaction_line_add(struct buf *out, const struct reaction_line *line);

struct str reaction_emoji_text(struct arena *arena, const struct reaction_emoji *emoji);
/* Never NULL. */
const struct reaction_emoji *reaction_emoji_of(struct arena *arena,
                                               const struct reaction_line *line);

/* Marks in an account's copy of a text that it used an emoji; one that is not there is no
 * reaction any more. */
void reaction_text_mark(struct str text, snowflake id, enum reaction_own own);
/* Writes what the interface shows: an array of reactions. */
void reaction_text_show(struct json *j, struct str text);

#endif
