/* plan.c - schemas precompiled for fast decoding. */
#include "json/plan.h"

#include <pthread.h>

#include "base/mem.h"

/* Plans are never removed from the hash table, so readers need no lock. */
enum { BUCKETS = 256 };
static _Atomic(struct plan *) buckets[BUCKETS];
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

static _Atomic(struct plan *) *plan_bucket(const struct schema *schema)
{
    return &buckets[((uintptr_t)schema >> 4 ^ (uintptr_t)schema >> 12) % BUCKETS];
}

static struct plan *plan_find(const struct schema *schema)
{
    struct plan *p = atomic_load_explicit(plan_bucket(schema), memory_order_acquire);

    while (p && p->schema != schema)
        p = p->next;
    return p;
}

/* --- building a plan ------------------------------------------------------------------ */

/* Makes a step that matches no input, because its first eight bytes would need two values. */
static void step_set_nothing(struct step *s)
{
    s->mask = UINT64_MAX;
    s->words = 2;
    s->last = ~s->key[0];
}

static void step_set_key(struct step *s, struct str name)
{
    char key[STEP_KEY] = ",\"";
    size_t n = name.n + 4;

    if (n > sizeof key) {
        step_set_nothing(s);
        return;
    }
    memcpy(key + 2, name.p, name.n);
    memcpy(key + 2 + name.n, "\":", 2);
    for (size_t i = 0; i < COUNT_OF(s->key); i++)
        s->key[i] = scan_load(key + 8 * i);
    s->mask = n < 8 ? (UINT64_C(1) << 8 * n) - 1 : UINT64_MAX;
    s->words = (uint8_t)((n + 7) / 8);
    s->key_n = (uint8_t)n;
    if (n > 8) {
        s->tail = (uint8_t)(n - 8);
        s->last = scan_load(key + s->tail);
    }
}

/* Sets the lengths that length_is_surely_fine accepts; returns false if there are none. */
static bool step_set_lengths(struct step *s, const struct type *type)
{
    int64_t least = type->min > 0 ? 4 * type->min - 3 : 0;
    int64_t most = type->max ? type->max : CHARACTERS_MAX;

    if (most < least)
        return false;
    s->least = (size_t)least;
    s->range = (size_t)(most - least);
    return true;
}

static bool is_words(struct step *s, const struct type *type)
{
    if (type->kind != KIND_MAP || type->min || !is_simple(type->of))
        return false;
    s->most = type->max ? (uint32_t)type->max : ITEMS_MAX;
    return step_set_lengths(s, type->of);
}

static enum step_kind step_kind_of(struct step *s, const struct type *type)
{
    if (is_simple(type) && step_set_lengths(s, type))
        return STEP_TEXT;
    if (is_words(s, type))
        return STEP_WORDS;
    switch (type->kind) {
    case KIND_RAW:
        return STEP_RAW;
    case KIND_ARRAY:
        return STEP_LIST;
    case KIND_INT:
        for (unsigned digit = 0; digit < 10; digit++)
            s->digits = (uint16_t)(s->digits | (unsigned)int_is_fine(type, digit) << digit);
        return STEP_INT;
    case KIND_BOOL:
        return STEP_BOOL;
    default:
        return STEP_OTHER;
    }
}

static void step_set(struct step *s, const struct field *f, size_t index)
{
    const struct member_info *info = &member_infos[f->member];

    step_set_key(s, f->name);
    s->bit = UINT64_C(1) << index;
    s->member = (uint16_t)f->offset;
    s->value = (uint16_t)(f->offset + info->value);
    s->field = f;
    s->kind = (uint8_t)step_kind_of(s, f->type);
    if (f->offset + info->size > UINT16_MAX)
        s->kind = STEP_OTHER;
}

/* Initially each field is predicted to be followed by the next one in the schema. */
static void plan_set_order(struct plan *p, size_t count)
{
    step_set_nothing(&p->steps[count]);
    for (size_t i = 0; i < count; i++)
        atomic_init(&p->steps[i].follow, &p->steps[i + 1]);
    atomic_init(&p->begin.follow, &p->steps[0]);
}

/* Builds a plan and those of nested schemas, which may be recursive. `fresh`: plans being built. */
static struct plan *plan_make(const struct schema *schema, struct plan **fresh)
{
    struct plan *p = plan_find(schema);
    size_t count = 0;

    for (struct plan *other = *fresh; other && !p; other = other->next)
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

        step_set(&p->steps[i], f, i);
        if (!(f->flags & OPTIONAL) || f->fallback || f->fallback_text)
            p->wanted |= p->steps[i].bit;
        if (f->type->kind == KIND_ARRAY && f->type->of->kind == KIND_OBJECT)
            p->steps[i].inner = plan_make(f->type->of->schema, fresh);
    }
    if (schema->check || schema->counts)
        p->wanted |= PLAN_CHECK;
    plan_set_order(p, count);
    return p;
}

static void plan_publish(struct plan *fresh)
{
    while (fresh) {
        _Atomic(struct plan *) *bucket = plan_bucket(fresh->schema);
        struct plan *p = fresh;

        fresh = p->next;
        p->next = atomic_load_explicit(bucket, memory_order_relaxed);
        atomic_store_explicit(bucket, p, memory_order_release);
    }
}

struct plan *plan_of(const struct schema *schema)
{
    struct plan *p = plan_find(schema), *fresh = NULL;

    if (p)
        return p;
    pthread_mutex_lock(&making);
    p = plan_make(schema, &fresh);
    plan_publish(fresh);
    pthread_mutex_unlock(&making);
    return p;
}

/* --- using a plan --------------------------------------------------------------------- */

struct step *step_search(struct plan *plan, struct step *after, const char *at, uint64_t word)
{
    struct step *first = after->field ? after + 1 : plan->steps, *s = first;

    if ((word & 0xffff) != (',' | '"' << 8))
        return NULL;
    while (s->field && !step_is(s, at, word))
        s++;
    if (!s->field) {
        for (s = plan->steps; s < first && !step_is(s, at, word);)
            s++;
        if (s == first)
            return NULL;
    }
    atomic_store_explicit(&after->follow, s, memory_order_relaxed);
    return s;
}
