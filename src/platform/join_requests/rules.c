/* rules.c - validates membership forms and responses. */
#include "base/mem.h"
#include "platform/join_requests/internal.h"

static const char *const status_words[] = { "STARTED", "SUBMITTED", "REJECTED", "APPROVED" };

int64_t join_status_parse(struct str word)
{
    for (size_t i = JOIN_SUBMITTED; i < COUNT_OF(status_words); i++)
        if (str_is(word, status_words[i]))
            return (int64_t)i;
    return 0;
}

struct str join_request_status_name(int64_t status)
{
    return str_of(status_words[status & 3]);
}

bool member_form_needs_review(const struct list *fields)
{
    const struct member_form_field *f = fields->items;

    for (size_t i = 0; i < fields->count; i++)
        if (!str_is(f[i].field_type, "TERMS"))
            return true;
    return false;
}

static void validate_form_field(struct form *form, const struct json_path *here,
                                const struct member_form_field *f)
{
    struct json_path values = json_path_key(here, STR("values")),
                     choices = json_path_key(here, STR("choices")),
                     response = json_path_key(here, STR("response"));

    if (str_is(f->field_type, "TERMS") && !f->values.value.count)
        form_add_error(form, &values, FORM_REQUIRED);
    if (str_is(f->field_type, "MULTIPLE_CHOICE") && !f->choices.value.count)
        form_add_error(form, &choices, FORM_REQUIRED);
    if (f->response.given != ABSENT)
        form_add_error(form, &response, "MEMBER_VERIFICATION_RESPONSE",
                       "A form must not contain responses.");
}

void member_form_fields_validate(struct form *form, const struct json_path *list,
                                 const struct list *fields)
{
    const struct member_form_field *f = fields->items;
    bool terms = false;

    for (size_t i = 0; i < fields->count; i++) {
        struct json_path at = json_path_index(list, i);

        validate_form_field(form, &at, &f[i]);
        if (str_is(f[i].field_type, "TERMS") && terms)
            form_add_error(form, &at, "MEMBER_VERIFICATION_ONE_TERMS",
                           "A form can have only one field of type TERMS.");
        terms |= str_is(f[i].field_type, "TERMS");
    }
}

enum { LINE_MAX_BYTES = 4 * 150, PARAGRAPH_MAX_BYTES = 4 * 1000 };

/* True for a JSON string that is not empty and has at most `most` bytes. Each escape sequence
 * counts with its full length. */
static bool is_json_text_response(struct str json, size_t most)
{
    return json.n > 2 && json.p[0] == '"' && json.n - 2 <= most;
}

static bool is_valid_form_response(const struct member_form_field *asked, struct str json)
{
    int64_t index;

    if (str_is(asked->field_type, "TERMS"))
        return str_is(json, "true");
    if (str_is(asked->field_type, "MULTIPLE_CHOICE"))
        return str_to_i64(json, &index) && index >= 0 &&
               index < (int64_t)asked->choices.value.count;
    return is_json_text_response(
        json, str_is(asked->field_type, "TEXT_INPUT") ? LINE_MAX_BYTES : PARAGRAPH_MAX_BYTES);
}

/* Sets the response of a field. The responses in the body must have the order of the form's
 * fields. */
static void apply_form_response(struct form *form, const struct json_path *at,
                                struct member_form_field *asked,
                                const struct member_form_field *given)
{
    struct json_path response = json_path_key(at, STR("response"));
    bool answered = given->response.given == GIVEN && !str_is(given->response.value, "null");

    if (!str_eq(asked->field_type, given->field_type) || !str_eq(asked->label, given->label))
        form_add_error(form, at, FORM_CHOICES,
                       "This field is not the field of the form at this position.");
    else if (!answered && asked->required)
        form_add_error(form, &response, FORM_REQUIRED);
    else if (answered && !is_valid_form_response(asked, given->response.value))
        form_add_error(form, &response, FORM_CHOICES,
                       "This is not a valid response for the field type.");
    else if (answered)
        asked->response = given->response;
}

struct list member_form_merge_responses(struct form *form, struct arena *arena,
                                        const struct list *fields, const struct list *given)
{
    const struct member_form_field *asked = fields->items, *answer = given->items;
    struct json_path list = json_path_key(NULL, STR("form_fields"));
    struct list out = { 0 };

    if (fields->count != given->count)
        form_add_error(form, &list, FORM_CHOICES,
                       "Must contain all fields of the form, and no others.");
    for (size_t i = 0; i < fields->count && i < given->count; i++) {
        struct json_path at = json_path_index(&list, i);
        struct member_form_field *f = list_append(arena, &out, sizeof *f);

        *f = asked[i];
        apply_form_response(form, &at, f, &answer[i]);
    }
    return out;
}
