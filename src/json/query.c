/* query.c - decodes query strings and form bodies into structs by a schema. */
#include "json/internal.h"

#include "base/arena.h"
#include "base/utf8.h"

struct query {
    struct form *form;
    struct progress progress;
};

static bool query_unescape(struct query *q, struct str raw, struct str *ret)
{
    return str_unescape(q->form->arena, raw, true, ret) && utf8_valid(*ret);
}

static bool read_bool(struct str text, bool *ret)
{
    *ret = str_is(text, "True") || str_is(text, "true") || str_is(text, "1");
    return *ret || str_is(text, "False") || str_is(text, "false") || str_is(text, "0");
}

/* Decodes one value of a query, where numbers and booleans are text. */
static void decode_text(struct form *form, const struct type *type, struct str text,
                        const struct place *at, void *out)
{
    struct scalar s = { .kind = JSON_STRING, .of_text = true, .text = text };

    switch (type->kind) {
    case KIND_BOOL:
        if (read_bool(text, &s.truth))
            s.kind = JSON_BOOL;
        scalar_decode(form, type, &s, at, out);
        break;
    case KIND_ARRAY:
        form_fail(form, at, FORM_NOT_LIST);
        break;
    case KIND_MAP:
        form_fail(form, at, FORM_NOT_DICT);
        break;
    case KIND_OBJECT:
        form_fail(form, at, FORM_NOT_MODEL);
        break;
    case KIND_RAW:
        if (json_valid(text))
            *(struct str *)out = text;
        else
            form_fail(form, at, FORM_NOT_STRING, STR_FMT(form_quote(text)));
        break;
    default:
        scalar_decode(form, type, &s, at, out);
    }
}

/* Decodes a comma-separated list; one item more than allowed makes the later count check fail. */
static void decode_items(struct form *form, const struct type *type, struct str text,
                         const struct place *at, struct list *out)
{
    size_t most = (type->max ? (size_t)type->max : ITEMS_MAX) + 1;

    while (text.n && out->count < most) {
        struct str item = str_cut(&text, ',');
        struct place here = place_index(at, out->count);
        void *slot = list_add(form->arena, out, schema_item_size(type->of));

        if (out->count < most)
            decode_text(form, type->of, item, &here, slot);
    }
}

static void decode_pair(struct query *q, const struct field *f, struct str raw)
{
    struct place at = place_key(NULL, f->name);
    bool list = f->type->kind == KIND_ARRAY;
    bool again = progress_has(&q->progress, q->progress.next - 1);
    struct str text;

    if (again && q->progress.schema->once) {
        form_forget(q->form, &at);
        form_fail(q->form, &at, FORM_REPEATED);
        return;
    }

    /* A repeated key appends to an array and replaces any other value. */
    if (!(list && again) && progress_mark(&q->progress))
        form_forget(q->form, &at);
    void *out = field_slot(f, q->progress.object, GIVEN);

    /* A query value is never an object, but checks of the schema dereference the member. */
    if (f->type->kind == KIND_OBJECT)
        *(void **)out = arena_alloc(q->form->arena, f->type->schema->size);
    if (!raw.n && f->type->flags & TYPE_EMPTY_NONE)
        field_slot(f, q->progress.object, f->flags & NULLABLE ? GIVEN_NULL : ABSENT);
    else if (!query_unescape(q, raw, &text))
        form_fail(q->form, &at, FORM_NOT_STRING, STR_FMT(form_quote(raw)));
    else if (list)
        decode_items(q->form, f->type, text, &at, out);
    else
        decode_text(q->form, f->type, text, &at, out);
}

/* Checks the number of items of arrays at the end of the query, after all repeated keys. */
static void check_counts(struct query *q)
{
    const struct field *f = q->progress.schema->fields;

    for (size_t i = 0; f->name.p; i++, f++) {
        if (f->type->kind != KIND_ARRAY || !progress_has(&q->progress, i))
            continue;
        struct place at = place_key(NULL, f->name);
        const struct list *list = field_slot(f, q->progress.object, GIVEN);

        length_check(q->form, f->type, list->count, ITEMS_MAX, &at);
    }
}

enum err schema_decode_query(const struct schema *schema, struct str query, struct form *form,
                             void **ret)
{
    struct query q = { .form = form, .progress = { .schema = schema } };

    q.progress.object = arena_alloc(form->arena, schema->size);
    while (query.n) {
        struct str value = str_cut(&query, '&'), name = str_cut(&value, '=');
        const struct field *f =
            query_unescape(&q, name, &name) ? progress_find(&q.progress, name) : NULL;

        if (f)
            decode_pair(&q, f, value);
    }
    check_counts(&q);
    progress_finish(&q.progress, form, NULL);
    if (form_failed(form))
        return ERR_INVALID_FORM_BODY;
    *ret = q.progress.object;
    return OK;
}
