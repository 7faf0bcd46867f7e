/* plan.c - schemas precompiled for fast decoding. */
#include "json/plan.h"

#include <pthread.h>

#include "base/mem.h"

/* Size of the hash table of plans. Plans are never removed from it, so readers need no lock. */
enum { BUCKETS = 256 };
static _Atomic(struct decode_plan *) buckets[BUCKETS];
static pthread_mutex_t plan_build_lock = PTHREAD_MUTEX_INITIALIZER;

static _Atomic(struct decode_plan *) *plan_bucket(const struct schema *schema)
{
    return &buckets[((uintptr_t)schema >> 4 ^ (uintptr_t)schema >> 12) % BUCKETS];
}

static struct decode_plan *find_decode_plan(const struct schema *schema)
{
    struct decode_plan *p = atomic_load_explicit(plan_bucket(schema), memory_order_acquire);

    while (p && p->schema != schema)
        p = p->next;
    return p;
}

/* Makes a step of a decode plan that matches no input, because it requires the same bytes to have
 * two different values. */
static void plan_step_set_unmatchable(struct decode_plan_step *s)
{
    s->mask = UINT64_MAX;
    s->words = 2;
    s->last = ~s->key[0];
}

static void plan_step_set_quoted_name(struct decode_plan_step *s, struct str name)
{
    char key[STEP_KEY_BYTES] = ",\"";
    size_t n = name.n + 4;

    if (n > sizeof key) {
        plan_step_set_unmatchable(s);
        return;
    }
    memcpy(key + 2, name.p, name.n);
    memcpy(key + 2 + name.n, "\":", 2);
    for (size_t i = 0; i < COUNT_OF(s->key); i++)
        s->key[i] = load_u64_little_endian(key + 8 * i);
    s->mask = n < 8 ? (UINT64_C(1) << 8 * n) - 1 : UINT64_MAX;
    s->words = (uint8_t)((n + 7) / 8);
    s->key_n = (uint8_t)n;
    if (n > 8) {
        s->tail = (uint8_t)(n - 8);
        s->last = load_u64_little_endian(key + s->tail);
    }
}

/* Sets the byte lengths of a step to those that byte_length_certainly_meets_limits accepts for the
 * type. Returns false if it accepts none. */
static bool plan_step_set_lengths(struct decode_plan_step *s, const struct type *type)
{
    int64_t least = type->min > 0 ? 4 * type->min - 3 : 0;
    int64_t most = type->max ? type->max : DEFAULT_MAX_CHARACTERS;

    if (most < least)
        return false;
    s->min_length = (size_t)least;
    s->range = (size_t)(most - least);
    return true;
}

static bool plan_step_set_plain_string_map(struct decode_plan_step *s, const struct type *type)
{
    if (type->kind != KIND_MAP || type->min || !type_is_plain_string(type->of))
        return false;
    s->max_entries = type->max ? (uint32_t)type->max : DEFAULT_MAX_ITEMS;
    return plan_step_set_lengths(s, type->of);
}

static enum decode_plan_step_kind choose_plan_step_kind(struct decode_plan_step *s,
                                                        const struct type *type)
{
    if (type_is_plain_string(type) && plan_step_set_lengths(s, type))
        return STEP_TEXT;
    if (plan_step_set_plain_string_map(s, type))
        return STEP_TEXT_MAP;
    switch (type->kind) {
    case KIND_RAW:
        return STEP_RAW;
    case KIND_ARRAY:
        return STEP_LIST;
    case KIND_INT:
        for (unsigned digit = 0; digit < 10; digit++)
            s->digits =
                (uint16_t)(s->digits | (unsigned)int_is_within_type_limits(type, digit) << digit);
        return STEP_INT;
    case KIND_BOOL:
        return STEP_BOOL;
    default:
        return STEP_OTHER;
    }
}

static void plan_step_init(struct decode_plan_step *s, const struct field *f, size_t index)
{
    const struct struct_member_layout *info = &member_type_infos[f->member];

    plan_step_set_quoted_name(s, f->name);
    s->bit = UINT64_C(1) << index;
    s->member = (uint16_t)f->offset;
    s->value = (uint16_t)(f->offset + info->value);
    s->field = f;
    s->kind = (uint8_t)choose_plan_step_kind(s, f->type);
    if (f->offset + info->size > UINT16_MAX)
        s->kind = STEP_OTHER;
}

/* Initializes a decode plan's predictions: after each field, the schema's next field follows. */
static void plan_init_field_predictions(struct decode_plan *p, size_t count)
{
    plan_step_set_unmatchable(&p->steps[count]);
    for (size_t i = 0; i < count; i++)
        atomic_init(&p->steps[i].follow, &p->steps[i + 1]);
    atomic_init(&p->begin.follow, &p->steps[0]);
}

/* Builds the decode plan of a schema and the plans of its nested schemas. Schemas may be recursive,
 * so `fresh` lists the plans that are still being built. */
static struct decode_plan *build_decode_plan(const struct schema *schema,
                                             struct decode_plan **fresh)
{
    struct decode_plan *p = find_decode_plan(schema);
    size_t count = 0;

    for (struct decode_plan *other = *fresh; other && !p; other = other->next)
        if (other->schema == schema)
            p = other;
    if (p)
        return p;
    while (schema->fields[count].name.p)
        count++;
    p = mem_new(sizeof *p + (count + 1) * sizeof *p->steps);
    p->schema = schema;
    p->next = *fresh;
    *fresh = p;
    for (size_t i = 0; i < count; i++) {
        const struct field *f = &schema->fields[i];

        plan_step_init(&p->steps[i], f, i);
        if (!(f->flags & OPTIONAL) || f->fallback || f->fallback_text)
            p->wanted |= p->steps[i].bit;
        if (f->type->kind == KIND_ARRAY && f->type->of->kind == KIND_OBJECT)
            p->steps[i].inner = build_decode_plan(f->type->of->schema, fresh);
    }
    if (schema->check || schema->applicable_fields)
        p->wanted |= PLAN_HAS_CHECK;
    plan_init_field_predictions(p, count);
    return p;
}

static void publish_decode_plans(struct decode_plan *fresh)
{
    while (fresh) {
        _Atomic(struct decode_plan *) *bucket = plan_bucket(fresh->schema);
        struct decode_plan *p = fresh;

        fresh = p->next;
        p->next = atomic_load_explicit(bucket, memory_order_relaxed);
        atomic_store_explicit(bucket, p, memory_order_release);
    }
}

struct decode_plan *schema_get_decode_plan(const struct schema *schema)
{
    struct decode_plan *p = find_decode_plan(schema), *fresh = NULL;

    if (p)
        return p;
    pthread_mutex_lock(&plan_build_lock);
    p = build_decode_plan(schema, &fresh);
    publish_decode_plans(fresh);
    pthread_mutex_unlock(&plan_build_lock);
    return p;
}

struct decode_plan_step *decode_plan_find_step(struct decode_plan *plan,
                                               struct decode_plan_step *after, const char *at,
                                               uint64_t word)
{
    struct decode_plan_step *first = after->field ? after + 1 : plan->steps, *s = first;

    if ((word & 0xffff) != (',' | '"' << 8))
        return NULL;
    while (s->field && !decode_plan_step_matches(s, at, word))
        s++;
    if (!s->field) {
        for (s = plan->steps; s < first && !decode_plan_step_matches(s, at, word);)
            s++;
        if (s == first)
            return NULL;
    }
    atomic_store_explicit(&after->follow, s, memory_order_relaxed);
    return s;
}
