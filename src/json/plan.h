/* plan.h - schemas precompiled for fast decoding.
 *
 * Most bodies have no white space, and contain known names in the same order as the previous body.
 * A plan precomputes for each field what such a body needs: the bytes of the quoted name, the
 * member's offset, the byte lengths that are certainly valid. The plan of a schema is built when
 * the schema is first used, and never freed. */
#ifndef JSON_PLAN_H
#define JSON_PLAN_H

#include <stdatomic.h>

#include "json/internal.h"
#include "json/scan.h"

enum decode_plan_step_kind {
    STEP_TEXT,     /* step for a string whose type has no limits but the length */
    STEP_TEXT_MAP, /* step for a map of strings whose type has no limits but the length */
    STEP_RAW,      /* value stored as JSON text */
    STEP_LIST,
    STEP_INT,
    STEP_BOOL,
    STEP_OTHER,
};

/* A step decodes one field. The quoted name is compared together with the comma before it and the
 * colon after it: the first eight bytes (masked if the name is shorter), the last eight, and the
 * bytes between. Names above STEP_KEY_BYTES bytes use the slow path. */
enum { STEP_KEY_BYTES = 32 };
struct decode_plan_step {
    _Atomic(struct decode_plan_step *) follow; /* step of the field that followed this field in the
                                                * last decoded body */
    uint64_t mask, key[3], last;
    uint64_t bit;             /* bit of the field in object_decode_progress.seen */
    size_t min_length, range; /* byte lengths that are certainly valid: the minimum; the maximum
                               * minus the minimum */
    uint32_t max_entries;     /* maximum number of entries of a map */
    uint16_t digits;          /* bit mask: bit n is set if the one-digit integer n is allowed */
    uint16_t member, value;   /* offsets in the struct: of the member, and of the member's value */
    uint8_t words, key_n, tail, kind;
    const struct field *field;
    struct decode_plan *inner; /* plan of the elements' schema if the field is an array of
                                * objects */
};

struct decode_plan {
    const struct schema *schema;
    struct decode_plan *next; /* next plan in the hash bucket */
    uint64_t wanted; /* bit set of the fields that need an error or a default if they are absent;
                      * also PLAN_HAS_CHECK */
    struct decode_plan_step
        begin; /* pseudo step before the first field; its `follow` is the likely first field */
    struct decode_plan_step steps[]; /* one step per field, in the order of the fields; the last
                                      * step has no field */
};

/* Bit of decode_plan.wanted that is set if the schema has a check or applicable_fields function. */
#define PLAN_HAS_CHECK (UINT64_C(1) << MAX_FIELDS)

/* Returns true if strings of this type have no limit except their length. */
static inline bool type_is_plain_string(const struct type *type)
{
    return type->kind == KIND_STRING && !type->flags && !type->choices && !type->rule;
}

/* Returns the plan of a schema; the schema must never be freed. May be called from any thread. */
struct decode_plan *schema_get_decode_plan(const struct schema *schema);

/* Returns true if the name at `at` is this field's name. word contains the first eight bytes at
 * `at`; an opening brace of the object was replaced by a comma. STEP_KEY_BYTES bytes must be
 * readable. */
static inline bool decode_plan_step_matches(const struct decode_plan_step *s, const char *at,
                                            uint64_t word)
{
    if ((word ^ s->key[0]) & s->mask)
        return false;
    if (s->words > 1) {
        if (load_u64_little_endian(at + s->tail) != s->last)
            return false;
        if (s->words > 2 && (load_u64_little_endian(at + 8) != s->key[1] ||
                             (s->words > 3 && load_u64_little_endian(at + 16) != s->key[2])))
            return false;
    }
    return true;
}

/* Returns the step of the field that followed this field in the last decoded body. */
static inline struct decode_plan_step *decode_plan_step_get_predicted_next(
    const struct decode_plan_step *s)
{
    return atomic_load_explicit(&s->follow, memory_order_relaxed);
}

/* Finds the field whose name is at `at` and stores it as the likely successor of `after`. Returns
 * NULL if the name is unknown, has escapes or is surrounded by white space. */
struct decode_plan_step *decode_plan_find_step(struct decode_plan *plan,
                                               struct decode_plan_step *after, const char *at,
                                               uint64_t word);

/* Sets the presence flag of an optional member to GIVEN, and returns the address of the value. If
 * the member has no flag, its value is at the same offset, so the caller overwrites what was
 * written as flag. */
static inline void *decode_plan_step_get_value_address(const struct decode_plan_step *s,
                                                       char *object)
{
    const enum field_presence given = GIVEN;

    memcpy(object + s->member, &given, sizeof given);
    return object + s->value;
}

#endif
