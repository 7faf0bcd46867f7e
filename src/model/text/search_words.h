/* search_words.h - normalises text for comparison and search, and splits it into words. */
#ifndef MODEL_SEARCH_WORDS_H
#define MODEL_SEARCH_WORDS_H

#include "json/schema.h"

/* Normalises text: trims it, replaces white space by single spaces, converts it to NFKC and folds
 * the case. */
struct str normalize_search_text(struct arena *a, struct str text);

/* Splits normalised text into words without accents, a list of struct str. Text in scripts without
 * spaces (Thai, Han) is split into pairs of characters and its last single character. For a query
 * that last character is omitted, unless it is the only one. Words contain letters, digits and
 * non-ASCII characters, but no quote or underscore. */
struct list split_into_search_words(struct arena *a, struct str normal, bool query);

struct str utf8_first_character(struct str text);

#endif
