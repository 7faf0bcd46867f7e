/* query.c - decodes query strings and form bodies into structs by a schema. */
#include "json/internal.h"

#include "base/arena.h"
#include "base/utf8.h"

struct query_decoder {
    struct form *form;
    struct object_decode_progress progress;
};

static bool decode_query_escapes(struct query_decoder *q, struct str raw, struct str *ret)
{
    return str_percent_decode(q->form->arena, raw, true, ret) && utf8_is_valid(*ret);
}

static bool parse_query_bool(struct str text, bool *ret)
{
    *ret = str_is(text, "True") || str_is(text, "true") || str_is(text, "1");
    return *ret || str_is(text, "False") || str_is(text, "false") || str_is(text, "0");
}

/* Decodes one value of a query, where numbers and booleans are text. */
static void decode_query_value(struct form *form, const struct type *type, struct str text,
                               const struct json_path *at, void *out)
{
    struct scalar_value s = { .kind = JSON_STRING, .of_text = true, .text = text };

    switch (type->kind) {
    case KIND_BOOL:
        if (parse_query_bool(text, &s.truth))
            s.kind = JSON_BOOL;
        decode_scalar_value(form, type, &s, at, out);
        break;
    case KIND_ARRAY:
        form_add_error(form, at, FORM_NOT_LIST);
        break;
    case KIND_MAP:
        form_add_error(form, at, FORM_NOT_DICT);
        break;
    case KIND_OBJECT:
        form_add_error(form, at, FORM_NOT_MODEL);
        break;
    case KIND_RAW:
        if (json_is_valid(text))
            *(struct str *)out = text;
        else
            form_add_error(form, at, FORM_NOT_STRING, STR_ARGS(form_shorten_quoted_value(text)));
        break;
    default:
        decode_scalar_value(form, type, &s, at, out);
    }
}

/* Decodes a comma-separated list. Stops after one item more than the maximum, which is enough for
 * check_array_lengths_of_query to report an error. */
static void decode_query_list(struct form *form, const struct type *type, struct str text,
                              const struct json_path *at, struct list *out)
{
    size_t most = (type->max ? (size_t)type->max : DEFAULT_MAX_ITEMS) + 1;

    while (text.n && out->count < most) {
        struct str item = str_cut(&text, ',');
        struct json_path here = json_path_index(at, out->count);
        void *slot = list_append(form->arena, out, schema_list_item_size(type->of));

        if (out->count < most)
            decode_query_value(form, type->of, item, &here, slot);
    }
}

static void decode_query_parameter(struct query_decoder *q, const struct field *f, struct str raw)
{
    struct json_path at = json_path_key(NULL, f->name);
    bool list = f->type->kind == KIND_ARRAY;
    bool again = decode_field_is_present(&q->progress, q->progress.next - 1);
    struct str text;

    if (again && q->progress.schema->once) {
        form_remove_errors_at_path(q->form, &at);
        form_add_error(q->form, &at, FORM_REPEATED);
        return;
    }

    /* If the key of an array is repeated, append to the array. For other types, the last value
     * counts. */
    if (!(list && again) && decode_mark_field_present(&q->progress))
        form_remove_errors_at_path(q->form, &at);
    void *out = field_get_value_address(f, q->progress.object, GIVEN);

    /* Objects are invalid in queries. Allocate a struct nevertheless, because the schema's check
     * function dereferences the pointer. */
    if (f->type->kind == KIND_OBJECT)
        *(void **)out = arena_alloc(q->form->arena, f->type->schema->size);
    if (!raw.n && f->type->flags & TYPE_EMPTY_NONE)
        field_get_value_address(f, q->progress.object, f->flags & NULLABLE ? GIVEN_NULL : ABSENT);
    else if (!decode_query_escapes(q, raw, &text))
        form_add_error(q->form, &at, FORM_NOT_STRING, STR_ARGS(form_shorten_quoted_value(raw)));
    else if (list)
        decode_query_list(q->form, f->type, text, &at, out);
    else
        decode_query_value(q->form, f->type, text, &at, out);
}

/* Checks the number of items of arrays. Called at the end of the query, because keys may be
 * repeated. */
static void check_array_lengths_of_query(struct query_decoder *q)
{
    const struct field *f = q->progress.schema->fields;

    for (size_t i = 0; f->name.p; i++, f++) {
        if (f->type->kind != KIND_ARRAY || !decode_field_is_present(&q->progress, i))
            continue;
        struct json_path at = json_path_key(NULL, f->name);
        const struct list *list = field_get_value_address(f, q->progress.object, GIVEN);

        check_length_limits(q->form, f->type, list->count, DEFAULT_MAX_ITEMS, &at);
    }
}

enum err schema_decode_query(const struct schema *schema, struct str query, struct form *form,
                             void **ret)
{
    struct query_decoder q = { .form = form, .progress = { .schema = schema } };

    q.progress.object = arena_alloc(form->arena, schema->size);
    while (query.n) {
        struct str value = str_cut(&query, '&'), name = str_cut(&value, '=');
        const struct field *f =
            decode_query_escapes(&q, name, &name) ? decode_find_field(&q.progress, name) : NULL;

        if (f)
            decode_query_parameter(&q, f, value);
    }
    check_array_lengths_of_query(&q);
    decode_set_defaults_and_check_object(&q.progress, form, NULL);
    if (form_has_errors(form))
        return ERR_INVALID_FORM_BODY;
    *ret = q.progress.object;
    return OK;
}
