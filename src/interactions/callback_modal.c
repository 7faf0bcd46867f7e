/* callback_modal.c - modals: validation, stored form, and the event to the user. */
#include "interactions/answers.h"

#include "base/utf8.h"
#include "model/fields/rows.h"

enum { MOST_PARTS = 5, MOST_LABEL = 45, MOST_ABOUT = 100, MOST_HINT = 100 };

/* --- validation ----------------------------------------------------------------------- */

static void check_length(struct form *form, const struct place *here, const char *key,
                         const struct opt_str *text, long long min, long long max)
{
    struct place at = place_key(here, str_of(key));
    long long n = (long long)utf8_length(text->value);

    if (text->given == GIVEN && (n < min || n > max))
        form_fail(form, &at, FORM_BAD_LENGTH, min, max);
}

static void check_text_input(struct form *form, const struct place *here, const struct component *c)
{
    struct place style = place_key(here, STR("style")), least = place_key(here, STR("min_length"));

    form_require(form, here, "style", c->style.given == GIVEN);
    if (c->style.given == GIVEN && c->style.value > 2)
        form_fail(form, &style, FORM_CHOICES, "Value must be one of (1, 2).");
    check_length(form, here, "placeholder", &c->placeholder, 0, MOST_HINT);
    if (c->min_length.given == GIVEN && c->max_length.given == GIVEN &&
        c->min_length.value > c->max_length.value)
        form_fail(form, &least, "BASE_TYPE_INVALID", "Minimum must not exceed maximum.");
}

static bool can_be_labelled(int64_t type)
{
    return type == TEXT_INPUT || component_is_select(type) || type >= FILE_UPLOAD;
}

static void check_type(struct form *form, const struct place *here, bool good, const char *types)
{
    struct place at = place_key(here, STR("type"));

    if (!good && !form_failed_at(form, &at))
        form_fail(form, &at, FORM_CHOICES, "Value must be one of (%s).", types);
}

/* Checks an action row, which must contain one text input with its own label. */
static void check_row(struct form *form, const struct place *here, const struct component *row)
{
    struct place list = place_key(here, STR("components")), item = place_index(&list, 0);
    const struct component *c = row->components.value.items;

    if (row->components.value.count != 1) {
        form_fail(form, &list, FORM_BAD_LENGTH, 1LL, 1LL);
        return;
    }
    check_type(form, &item, c->type == TEXT_INPUT, "4,");
    if (c->type != TEXT_INPUT)
        return;
    form_require(form, &item, "label", c->label.given == GIVEN);
    check_length(form, &item, "label", &c->label, 1, MOST_LABEL);
    check_text_input(form, &item, c);
}

static void check_label(struct form *form, const struct place *here, const struct component *label)
{
    struct place inside = place_key(here, STR("component"));
    const struct component *c = label->component.value;

    form_require(form, here, "label", label->label.given == GIVEN);
    check_length(form, here, "label", &label->label, 1, MOST_LABEL);
    check_length(form, here, "description", &label->description, 0, MOST_ABOUT);
    if (!c)
        return;
    check_type(form, &inside, can_be_labelled(c->type), "3, 4, 5, 6, 7, 8, 19, 21, 22, 23");
    if (c->type == TEXT_INPUT)
        check_text_input(form, &inside, c);
}

static void check_part(struct form *form, const struct place *here, const struct component *c)
{
    if (c->type == ACTION_ROW)
        check_row(form, here, c);
    else if (c->type == LABEL)
        check_label(form, here, c);
    else
        check_type(form, here, c->type == TEXT_DISPLAY, "1, 10, 18");
}

void modal_check(struct form *form, const struct place *here, const struct callback_data *in)
{
    struct place list = place_key(here, STR("components"));
    const struct opt_list *parts = &in->message.components;
    const struct component *c = parts->value.items;

    form_require(form, here, "custom_id", in->custom_id.given == GIVEN);
    form_require(form, here, "title", in->title.given == GIVEN);
    form_require(form, here, "components", parts->given == GIVEN);
    if (parts->given != GIVEN || form_failed_at(form, &list))
        return;
    if (parts->value.count < 1 || parts->value.count > MOST_PARTS)
        form_fail(form, &list, FORM_BAD_LENGTH, 1LL, (long long)MOST_PARTS);
    for (size_t i = 0; i < parts->value.count; i++) {
        struct place item = place_index(&list, i);

        check_part(form, &item, &c[i]);
    }
    components_check_all(form, &list, &parts->value);
}

/* --- storage and event ---------------------------------------------------------------- */

struct modal {
    snowflake id, channel_id;
    struct str custom_id, title, components;
    const struct application *application;
    struct opt_str nonce;
};

static const struct field kept_fields[] = {
    { FIELD(struct modal, custom_id), .type = &type_text },
    { FIELD(struct modal, title), .type = &type_text },
    { FIELD(struct modal, components), .type = &type_raw },
    { 0 },
};
static const struct schema kept_schema = { .size = sizeof(struct modal), .fields = kept_fields };
static const struct type type_kept = { .kind = KIND_OBJECT, .schema = &kept_schema };

static const struct field told_fields[] = {
    { FIELD(struct modal, id), .type = &type_id },
    { FIELD(struct modal, channel_id), .type = &type_id },
    { FIELD(struct modal, custom_id), .type = &type_text },
    { FIELD(struct modal, application), .type = &type_integration_application },
    { FIELD(struct modal, title), .type = &type_text },
    { FIELD(struct modal, components), .type = &type_raw },
    { FIELD(struct modal, nonce), .type = &type_raw, .flags = NULLABLE },
    { 0 },
};
static const struct schema told_schema = { .size = sizeof(struct modal), .fields = told_fields };

static struct str parts_text(struct arena *arena, const struct callback_data *in)
{
    struct list parts = in->message.components.value;

    return components_text(arena, &parts);
}

struct str modal_text(struct arena *arena, const struct callback_data *in)
{
    struct modal m = {
        .custom_id = in->custom_id.value,
        .title = in->title.value,
        .components = parts_text(arena, in),
    };

    return column_encode(arena, &type_kept, &m);
}

void modal_tell(struct call *call, const struct interaction *it, const struct application *a,
                const struct callback_data *in)
{
    struct modal m = {
        .id = it->id,
        .channel_id = it->channel_id,
        .custom_id = in->custom_id.value,
        .application = a,
        .title = in->title.value,
        .components = parts_text(call->arena, in),
        .nonce = it->nonce,
    };

    interaction_tell(call, it, EVENT_INTERACTION_MODAL_CREATE, &told_schema, &m);
}
