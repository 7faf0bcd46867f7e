/* modals.c - submission of a modal. */
#include "interactions/invoke.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "json/read.h"
#include "model/fields/rows.h"
#include "platform/messages/messages.h"

/* --- stored modal --------------------------------------------------------------------- */

struct kept_modal {
    struct str custom_id, components; /* components: JSON */
};
static const struct field kept_fields[] = {
    { FIELD(struct kept_modal, custom_id), .type = &type_text },
    { FIELD(struct kept_modal, components), .type = &type_raw },
    { 0 },
};
static const struct schema kept_schema = {
    .name = "KeptModal",
    .size = sizeof(struct kept_modal),
    .fields = kept_fields,
};
static const struct type type_kept = { .kind = KIND_OBJECT, .schema = &kept_schema };

/* Reads the interaction that opened the modal; it must be the caller's, and not submitted or
 * expired. */
static enum err find_opener(struct call *call, struct interaction *ret)
{
    const struct invoking *v = invoking_of(call);
    const struct data_in *in = ((const struct invocation *)call->body)->data;
    enum err e = interaction_find(call->tx, in->id.value, ret);

    if (e)
        return e;
    bool theirs = ret->user_id == v->user.id && ret->application_id == v->application.id &&
                  ret->channel_id == call->target.channel->id;
    bool open = ret->callback_type == CALLBACK_MODAL && ret->modal.given == GIVEN &&
                clock_us() <= interaction_created(ret) + INTERACTION_LIFE;
    return theirs && open ? OK : ERR_UNKNOWN_INTERACTION;
}

static const char TAKE_MODAL[] =
    "update interactions set modal = null where id = $1 and modal is not null";

enum err modal_take(struct call *call)
{
    const struct invoking *v = invoking_of(call);
    int64_t changed;
    enum err e = tx_exec(call->tx, TAKE_MODAL, BIND(v_id(v->it.opener_id)), &changed);

    return e || changed ? e : ERR_UNKNOWN_INTERACTION;
}

/* --- one component -------------------------------------------------------------------- */

/* State while submitted values are checked and written. */
struct filling {
    struct call *call;
    struct json *out;
    struct place at; /* path of the component in the body */
};

static enum err modal_refuse(struct filling *f, const char *code, const char *message)
{
    form_fail(&f->call->form, &f->at, code, "%s", message);
    return ERR_INVALID_FORM_BODY;
}

static const struct entry_in *entry_find(const struct list *entries, struct str custom_id)
{
    const struct entry_in *in = entries->items, *found = NULL;

    for (size_t i = 0; !found && i < entries->count; i++) {
        if (in[i].custom_id.given == GIVEN && str_eq(in[i].custom_id.value, custom_id))
            return &in[i];
        found = entry_find(&in[i].components.value, custom_id);
        if (!found && in[i].component.value)
            found = entry_find(&(struct list){ in[i].component.value, 1 }, custom_id);
    }
    return found;
}

static bool is_required(const struct component *c)
{
    return c->required.given != GIVEN || c->required.value;
}

static enum err take_text(struct filling *f, const struct component *c, const struct entry_in *in)
{
    struct str text = STR("");
    struct json_reader r;

    if (in && in->value.given == GIVEN) {
        json_reader_init(&r, in->value.value, f->call->arena);
        if (json_peek(&r) != JSON_STRING || !json_take_string(&r, &text))
            return modal_refuse(f, "STRING_TYPE_CONVERT", "The value is not text.");
    }
    int64_t n = (int64_t)utf8_length(text);
    int64_t least = c->min_length.given == GIVEN ? c->min_length.value : 0;
    int64_t most = c->max_length.given == GIVEN ? c->max_length.value : COMPONENT_TEXT_MOST;
    if (n == 0 && is_required(c))
        return modal_refuse(f, FORM_REQUIRED);
    if (n > most || (n && n < least)) {
        form_fail(&f->call->form, &f->at, FORM_BAD_LENGTH, (long long)least, (long long)most);
        return ERR_INVALID_FORM_BODY;
    }
    json_name(f->out, "value");
    json_text(f->out, text);
    return OK;
}

static enum err take_checkbox(struct filling *f, const struct entry_in *in)
{
    struct json_reader r;
    bool on = false;

    if (in && in->value.given == GIVEN) {
        json_reader_init(&r, in->value.value, f->call->arena);
        if (json_peek(&r) != JSON_BOOL || !json_take_bool(&r, &on))
            return modal_refuse(f, FORM_NOT_BOOL);
    }
    json_name(f->out, "value");
    json_bool(f->out, on);
    return OK;
}

/* Writes the selected value as text; null if nothing is selected and the component is not
 * required. */
static enum err take_radio(struct filling *f, const struct component *c, const struct entry_in *in)
{
    struct json_reader r;
    struct str text;
    struct list values = { &text, 0 }, taken = { 0 };
    bool good;

    if (in && in->value.given == GIVEN) {
        json_reader_init(&r, in->value.value, f->call->arena);
        if (json_peek(&r) != JSON_STRING || !json_take_string(&r, &text))
            return modal_refuse(f, "STRING_TYPE_CONVERT", "The value is not text.");
        values.count = 1;
    }
    enum err e = menu_take(f->call, c, &values, &taken, &good);
    if (e || !good)
        return e ? e
                 : modal_refuse(f, "COMPONENT_VALIDATION_FAILED", "This cannot be chosen here.");
    json_name(f->out, "value");
    if (taken.count)
        json_text(f->out, text);
    else
        json_null(f->out);
    return OK;
}

static enum err take_menu(struct filling *f, const struct component *c, const struct entry_in *in)
{
    struct list none = { 0 }, taken = { 0 };
    bool good;
    enum err e = menu_take(f->call, c, in ? &in->values.value : &none, &taken, &good);

    if (e || !good)
        return e ? e
                 : modal_refuse(f, "COMPONENT_VALIDATION_FAILED", "This cannot be chosen here.");
    json_name(f->out, "values");
    schema_encode(f->out, &type_texts, &taken);
    return OK;
}

static enum err take_field(struct filling *f, const struct component *c)
{
    const struct data_in *data = ((const struct invocation *)f->call->body)->data;
    const struct entry_in *in = entry_find(&data->components.value, c->custom_id.value);
    enum err e;

    if (in && in->type != c->type)
        return modal_refuse(f, "COMPONENT_VALIDATION_FAILED", "The component is of another type.");
    json_name(f->out, "custom_id");
    json_text(f->out, c->custom_id.value);
    switch ((enum component_type)c->type) {
    case TEXT_INPUT:
        e = take_text(f, c, in);
        break;
    case CHECKBOX:
        e = take_checkbox(f, in);
        break;
    case RADIO_GROUP:
        e = take_radio(f, c, in);
        break;
    default:
        e = take_menu(f, c, in);
    }
    return e;
}

/* --- all components, in the order of the modal ---------------------------------------- */

static enum err write_part(struct filling *f, const struct component *c)
{
    const struct component *inside = c->components.value.items;
    enum err e = OK;

    json_object(f->out);
    json_name(f->out, "type");
    json_int(f->out, c->type);
    json_name(f->out, "id");
    json_int(f->out, c->id.value);
    if (c->type == ACTION_ROW) {
        json_name(f->out, "components");
        json_array(f->out);
        for (size_t i = 0; !e && i < c->components.value.count; i++)
            e = write_part(f, &inside[i]);
        json_array_end(f->out);
    } else if (c->type == LABEL && c->component.value) {
        json_name(f->out, "component");
        e = write_part(f, c->component.value);
    } else if (c->custom_id.given == GIVEN) {
        e = take_field(f, c);
    }
    json_object_end(f->out);
    return e;
}

static enum err write_parts(struct call *call, const struct list *parts, struct json *out)
{
    struct place data = place_key(NULL, STR("data")), list = place_key(&data, STR("components"));
    const struct component *c = parts->items;
    enum err e = OK;

    json_array(out);
    for (size_t i = 0; !e && i < parts->count; i++) {
        struct filling f = { call, out, place_index(&list, i) };

        e = write_part(&f, &c[i]);
    }
    json_array_end(out);
    return e;
}

/* Returns true if each submitted component is in the modal. */
static bool all_known(const struct list *parts, const struct list *entries)
{
    const struct entry_in *in = entries->items;
    bool known = true;

    for (size_t i = 0; known && i < entries->count; i++) {
        struct list inside = { in[i].component.value, in[i].component.value ? 1 : 0 };

        known = (in[i].custom_id.given != GIVEN || component_find(parts, in[i].custom_id.value)) &&
                all_known(parts, &in[i].components.value) && all_known(parts, &inside);
    }
    return known;
}

static enum err write_data(struct call *call, const struct kept_modal *modal)
{
    struct invoking *v = invoking_of(call);
    const struct data_in *in = ((const struct invocation *)call->body)->data;
    struct list parts = components_read(call->arena, modal->components);
    struct buf out;
    struct json j = json_to(&out);

    if (!str_eq(modal->custom_id, in->custom_id.value) || !all_known(&parts, &in->components.value))
        return refuse_data(call, "COMPONENT_VALIDATION_FAILED",
                           "The submission does not match the modal that was sent.");
    buf_init(&out, CALL_MAX_REPLY);
    json_object(&j);
    json_name(&j, "custom_id");
    json_text(&j, modal->custom_id);
    json_name(&j, "components");
    enum err e = write_parts(call, &parts, &j);
    json_object_end(&j);
    v->data = buf_take(&out, call->arena);
    return e;
}

/* Copies the command, message and context of the interaction that opened the modal. */
static void modal_follow_up(struct invoking *v, const struct interaction *opener)
{
    struct interaction *it = &v->it;

    it->opener_id = opener->id;
    it->message_id = opener->message_id;
    it->owners = opener->owners;
    it->context = opener->context;
    it->command_id = opener->command_id;
    it->command_type = opener->command_type;
    it->name = opener->name;
    it->target_id = opener->target_id;
}

enum err look_at_modal(struct call *call)
{
    struct invoking *v = invoking_of(call);
    struct interaction opener;
    enum err e = find_opener(call, &opener);

    if (e)
        return e;
    const struct kept_modal *modal = column_decode(call->arena, &type_kept, opener.modal.value);
    if (!modal)
        return ERR_UNKNOWN_INTERACTION;
    modal_follow_up(v, &opener);
    e = write_data(call, modal);
    if (!e && opener.message_id) {
        e = message_find_ephemeral(call, opener.channel_id, opener.message_id, &v->message);
        v->message.reactions.given = ABSENT;
        if (e == ERR_UNKNOWN_MESSAGE) {
            v->message.id = 0;
            e = OK;
        }
    }
    return e;
}
