/* words.h - text as it is compared and looked for: without case, accents and forms that only
 * look different; and the words in it. */
#ifndef MODEL_WORDS_H
#define MODEL_WORDS_H

#include "json/schema.h"

/* Trimmed, single spaces, compatibility forms and case taken away (NFKC). */
struct str words_normal(struct arena *a, struct str text);

/* The words of normal text, without accents; scripts that are written without spaces
 * are cut into pairs of characters. A struct list of struct str. For a query the last
 * words of such a run stand for the whole run. Words are letters, digits and characters beyond
 * ASCII, so no word has a quote or an underscore in it. */
struct list words_split(struct arena *a, struct str normal, bool query);

/* The first character. */
struct str words_initial(struct str text);

#endif
