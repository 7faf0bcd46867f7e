/* words.h - normalises text for comparison and search, and splits it into words. */
#ifndef MODEL_WORDS_H
#define MODEL_WORDS_H

#include "json/schema.h"

/* Trimmed, with single spaces, NFKC, case-folded. */
struct str words_normal(struct arena *a, struct str text);

/* Splits normalised text into words without accents: a list of struct str. Scripts without spaces
 * are split into pairs of characters; with query, the single last character of a run is left out,
 * unless it is the only one. Words have letters, digits and non-ASCII characters: no quote, no
 * underscore. */
struct list words_split(struct arena *a, struct str normal, bool query);

/* The first character. */
struct str words_initial(struct str text);

#endif
