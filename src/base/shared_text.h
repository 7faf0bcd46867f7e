/* shared_text.h - immutable text with an atomic reference count, usable on any thread. */
#ifndef BASE_SHARED_TEXT_H
#define BASE_SHARED_TEXT_H

#include "base/str.h"

struct shared_text;

/* Copies the text and returns one reference to the copy. */
struct shared_text *shared_text_new(struct str s);
struct shared_text *shared_text_ref(struct shared_text *t);
void shared_text_unref(struct shared_text *t); /* does nothing for NULL */
struct str shared_text_get(const struct shared_text *t);

#endif
