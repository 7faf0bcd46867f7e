/* plan.h - schemas precompiled for fast decoding.
 *
 * Most bodies have no white space, and contain known names in the same order as the previous body.
 * A plan precomputes for each field what such a body needs: the bytes of the quoted name, the
 * member's offset, the byte lengths that are certainly valid. It is built when a schema is first
 * used and never freed. */
#ifndef JSON_PLAN_H
#define JSON_PLAN_H

#include <stdatomic.h>

#include "json/internal.h"
#include "json/scan.h"

enum step_kind {
    STEP_TEXT,  /* string whose only limit is its length */
    STEP_WORDS, /* map of strings whose only limit is their length */
    STEP_RAW,   /* value stored as JSON text */
    STEP_LIST,
    STEP_INT,
    STEP_BOOL,
    STEP_OTHER,
};

/* One field of a plan. The field's name is compared together with its quotes, its colon and the
 * comma before it: the first eight bytes (masked if shorter), the last eight, and those between.
 * Names above STEP_KEY bytes use the slow path. */
enum { STEP_KEY = 32 };
struct step {
    _Atomic(struct step *) follow; /* the field that followed this one last time */
    uint64_t mask, key[3], last;
    uint64_t bit;           /* bit of the field in progress.seen */
    size_t least, range;    /* certainly valid byte lengths: minimum, and range above it */
    uint32_t most;          /* maximum number of entries of a map */
    uint16_t digits;        /* bit mask of the allowed one-digit integers */
    uint16_t member, value; /* offsets of the member and of its value */
    uint8_t words, key_n, tail, kind;
    const struct field *field;
    struct plan *inner; /* plan of the elements if the field is an array of objects */
};

struct plan {
    const struct schema *schema;
    struct plan *next;   /* next plan in the hash bucket */
    uint64_t wanted;     /* fields whose absence needs an error or a default; also PLAN_CHECK */
    struct step begin;   /* predecessor of the first field; `follow` is the likely first field */
    struct step steps[]; /* in the order of the fields; the last entry has no field */
};

/* Bit of plan.wanted: the schema has a check or a counts function. No field uses this bit. */
#define PLAN_CHECK (UINT64_C(1) << FIELDS_MAX)

/* Returns true if only the length of a text decides whether it is valid for the type. */
static inline bool is_simple(const struct type *type)
{
    return type->kind == KIND_STRING && !type->flags && !type->choices && !type->rule;
}

/* Returns the plan of a schema, which must never be freed. May be called from any thread. */
struct plan *plan_of(const struct schema *schema);

/* Returns true if the name at `at` is this field. word: the first eight bytes, with the object's
 * brace replaced by a comma. STEP_KEY bytes must be readable. */
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

/* Returns the field that probably follows this one. */
static inline struct step *step_after(const struct step *s)
{
    return atomic_load_explicit(&s->follow, memory_order_relaxed);
}

/* Finds the field whose name is at `at` and stores it as the likely successor of `after`. Returns
 * NULL if the name is unknown or not in the simplest form. */
struct step *step_search(struct plan *plan, struct step *after, const char *at, uint64_t word);

/* Marks an optional member as given and returns the address of its value. A plain member has both
 * at the same offset, so the caller's value overwrites the mark. */
static inline void *step_slot(const struct step *s, char *object)
{
    const enum given given = GIVEN;

    memcpy(object + s->member, &given, sizeof given);
    return object + s->value;
}

#endif
