/* rules.c - validates membership forms and responses. */
#include "base/mem.h"
#include "platform/join_requests/internal.h"

static const char *const status_words[] = { "STARTED", "SUBMITTED", "REJECTED", "APPROVED" };

int64_t join_status_of(struct str word)
{
    for (size_t i = JOIN_SUBMITTED; i < COUNT_OF(status_words); i++)
        if (str_is(word, status_words[i]))
            return (int64_t)i;
    return 0;
}

struct str join_status_word(int64_t status)
{
    return str_of(status_words[status & 3]);
}

bool form_needs_review(const struct list *fields)
{
    const struct form_field *f = fields->items;

    for (size_t i = 0; i < fields->count; i++)
        if (!str_is(f[i].field_type, "TERMS"))
            return true;
    return false;
}

static void form_field_check(struct form *form, const struct place *here,
                             const struct form_field *f)
{
    struct place values = place_key(here, STR("values")), choices = place_key(here, STR("choices")),
                 response = place_key(here, STR("response"));

    if (str_is(f->field_type, "TERMS") && !f->values.value.count)
        form_fail(form, &values, FORM_REQUIRED);
    if (str_is(f->field_type, "MULTIPLE_CHOICE") && !f->choices.value.count)
        form_fail(form, &choices, FORM_REQUIRED);
    if (f->response.given != ABSENT)
        form_fail(form, &response, "MEMBER_VERIFICATION_RESPONSE",
                  "A form must not contain responses.");
}

void form_fields_check(struct form *form, const struct place *list, const struct list *fields)
{
    const struct form_field *f = fields->items;
    bool terms = false;

    for (size_t i = 0; i < fields->count; i++) {
        struct place at = place_index(list, i);

        form_field_check(form, &at, &f[i]);
        if (str_is(f[i].field_type, "TERMS") && terms)
            form_fail(form, &at, "MEMBER_VERIFICATION_ONE_TERMS",
                      "A form can have only one field of type TERMS.");
        terms |= str_is(f[i].field_type, "TERMS");
    }
}

/* --- answers -------------------------------------------------------------------------- */

enum { LINE_MAX_BYTES = 4 * 150, PARAGRAPH_MAX_BYTES = 4 * 1000 };

/* True for a JSON string within the length limit; escapes can only make the text longer. */
static bool text_answers(struct str json, size_t most)
{
    return json.n > 2 && json.p[0] == '"' && json.n - 2 <= most;
}

static bool response_fits(const struct form_field *asked, struct str json)
{
    int64_t index;

    if (str_is(asked->field_type, "TERMS"))
        return str_is(json, "true");
    if (str_is(asked->field_type, "MULTIPLE_CHOICE"))
        return str_to_i64(json, &index) && index >= 0 &&
               index < (int64_t)asked->choices.value.count;
    return text_answers(json, str_is(asked->field_type, "TEXT_INPUT") ? LINE_MAX_BYTES
                                                                      : PARAGRAPH_MAX_BYTES);
}

/* Responses must have the same order as the form's fields. */
static void take_response(struct form *form, const struct place *at, struct form_field *asked,
                          const struct form_field *given)
{
    struct place response = place_key(at, STR("response"));
    bool answered = given->response.given == GIVEN && !str_is(given->response.value, "null");

    if (!str_eq(asked->field_type, given->field_type) || !str_eq(asked->label, given->label))
        form_fail(form, at, FORM_CHOICES,
                  "This field is not the field of the form at this position.");
    else if (!answered && asked->required)
        form_fail(form, &response, FORM_REQUIRED);
    else if (answered && !response_fits(asked, given->response.value))
        form_fail(form, &response, FORM_CHOICES,
                  "This is not a valid response for the field type.");
    else if (answered)
        asked->response = given->response;
}

struct list form_answers(struct form *form, struct arena *arena, const struct list *fields,
                         const struct list *given)
{
    const struct form_field *asked = fields->items, *answer = given->items;
    struct place list = place_key(NULL, STR("form_fields"));
    struct list out = { 0 };

    if (fields->count != given->count)
        form_fail(form, &list, FORM_CHOICES, "Must contain all fields of the form, and no others.");
    for (size_t i = 0; i < fields->count && i < given->count; i++) {
        struct place at = place_index(&list, i);
        struct form_field *f = list_add(arena, &out, sizeof *f);

        *f = asked[i];
        take_response(form, &at, f, &answer[i]);
    }
    return out;
}
