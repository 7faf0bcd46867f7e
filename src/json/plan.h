/* plan.h - schemas, prepared for reading.
 *
 * Bodies mostly come without white space, with the names that the rows have, in the order of the
 * body before. A plan has what a reader of such a body would otherwise work out for each value: the
 * bytes in which a name is written, where its member is, which lengths are surely fine. It is made
 * from the rows when a schema is first read, and stays as long as the schema does: always. */
#ifndef JSON_PLAN_H
#define JSON_PLAN_H

#include <stdatomic.h>

#include "json/internal.h"
#include "json/scan.h"

enum step_kind {
    STEP_TEXT,  /* simple text */
    STEP_WORDS, /* a map of simple text */
    STEP_RAW,   /* a value that is kept as it is written */
    STEP_LIST,
    STEP_INT,
    STEP_BOOL,
    STEP_OTHER,
};

/* One field of a plan. A name is compared with its quotes, its colon and the comma before it: the
 * first eight bytes, of which the mask says how many there are, the last eight, and what is
 * between. A name that is too long for that is never found this way. */
enum { STEP_KEY = 32 };
struct step {
    _Atomic(struct step *) follow; /* what came after it the last time */
    uint64_t mask, key[3], last;
    uint64_t bit;           /* in progress.seen */
    size_t least, range;    /* bytes that text surely may have, and how many more at most */
    uint32_t most;          /* entries of a map */
    uint16_t digits;        /* a bit for each that a whole number may be */
    uint16_t member, value; /* offsets */
    uint8_t words, key_n, tail, kind;
    const struct field *field;
    struct plan *inner; /* of the objects in a list */
};

struct plan {
    const struct schema *schema;
    struct plan *next;   /* in its bucket */
    uint64_t wanted;     /* fields whose absence means something, an error or a value; PLAN_CHECK */
    struct step begin;   /* what is likely to come first follows it */
    struct step steps[]; /* as the rows; one without a field ends them */
};

/* The schema has a check. No field has this bit. */
#define PLAN_CHECK (UINT64_C(1) << FIELDS_MAX)

/* Nothing but its length can be wrong with a text of the type. */
static inline bool is_simple(const struct type *type)
{
    return type->kind == KIND_STRING && !type->flags && !type->choices && !type->rule;
}

/* The plan of a schema, which must stay. Any thread. */
struct plan *plan_of(const struct schema *schema);

/* Is it what stands here? word: the first eight bytes, with a comma for the object's brace.
 * STEP_KEY bytes are there. */
static inline bool step_is(const struct step *s, const char *at, uint64_t word)
{
    if ((word ^ s->key[0]) & s->mask)
        return false;
    if (s->words > 1) {
        if (scan_load(at + s->tail) != s->last)
            return false;
        if (s->words > 2 &&
            (scan_load(at + 8) != s->key[1] || (s->words > 3 && scan_load(at + 16) != s->key[2])))
            return false;
    }
    return true;
}

/* What is likely to come after a step. */
static inline struct step *step_after(const struct step *s)
{
    return atomic_load_explicit(&s->follow, memory_order_relaxed);
}

/* What has come after a step instead, from now on the likely one; NULL when it is no field's name
 * or not written as simply as it could be. */
struct step *step_search(struct plan *plan, struct step *after, const char *at, uint64_t word);

/* The member of a text or a list is given, and its value is put in next, at the place that is
 * returned: a plain member is written over. */
static inline void *step_slot(const struct step *s, char *object)
{
    const enum given given = GIVEN;

    memcpy(object + s->member, &given, sizeof given);
    return object + s->value;
}

#endif
