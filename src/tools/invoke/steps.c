/* steps.c - the steps of an invocation: command, component press, form. */
#include "tools/invoke/invoke.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <time.h>

enum { READING_DELAY_MS = 300 };

/* --- one step ------------------------------------------------------------------------- */

static void write_interaction_json(struct invoke_command_state *v, const struct invocation_step *s,
                                   struct str nonce, struct buf *out)
{
    struct json_writer j = json_writer_to_buf(out);

    json_begin_object(&j);
    json_write_name(&j, "type");
    json_write_int(&j, s->type);
    json_write_name(&j, "application_id");
    json_write_id(&j, s->application_id);
    json_write_name(&j, "channel_id");
    json_write_id(&j, v->channel_id);
    if (v->guild_id) {
        json_write_name(&j, "guild_id");
        json_write_id(&j, v->guild_id);
    }
    if (s->message) {
        json_write_name(&j, "message_id");
        json_write_id(&j, s->message->id);
        json_write_name(&j, "message_flags");
        json_write_int(&j, s->message->flags);
    }
    if (api_client_get_session_id(v->wire).n) {
        json_write_name(&j, "session_id");
        json_write_text(&j, api_client_get_session_id(v->wire));
    }
    json_write_name(&j, "nonce");
    json_write_text(&j, nonce);
    json_write_name(&j, "data");
    json_write_raw(&j, s->data);
    json_end_object(&j);
}

/* Waits before the tool presses a button or fills a form. Client libraries handle both only after
 * the HTTP response to their callback, which may arrive after the event of the callback. */
static void sleep_before_pressing_or_filling(const struct invoke_command_state *v)
{
    if (v->app_replied)
        nanosleep(&(struct timespec){ .tv_nsec = READING_DELAY_MS * 1000000L }, NULL);
}

struct invocation_step_outcome run_invocation_step(struct invoke_command_state *v,
                                                   const struct invocation_step *s)
{
    struct invocation_step_outcome out = { .step = s->name,
                                           .status = INVOKE_ERROR,
                                           .pressed = s->pressed };
    struct str nonce = str_printf(v->arena, "%" PRIu32 "%09" PRIu32, randombytes_random(),
                                  randombytes_uniform(1000000000));
    struct api_client_response a;
    struct buf body;

    sleep_before_pressing_or_filling(v);
    buf_init(&body, 1024 * 1024);
    write_interaction_json(v, s, nonce, &body);
    bool sent =
        !buf_is_full(&body) && api_client_request(v->wire, "POST", "/interactions",
                                                  buf_as_str(&body), v->files, v->file_count, &a);
    buf_clear(&body);
    v->file_count = 0;
    if (sent && a.status == 204) {
        wait_for_interaction_outcome(v, nonce, &out);
    } else if (sent) {
        out.status = INVOKE_REFUSED;
        out.http_status = a.status;
        out.refusal = a.body;
    }
    if (out.status == INVOKE_FAILED || out.status == INVOKE_TIMED_OUT)
        out.reason = find_reason_of_missing_reply(v, &out);
    v->app_replied = out.status == INVOKE_REPLIED;
    print_interaction_outcome(v, &out);
    return out;
}

/* --- component press ------------------------------------------------------------------ */

static const struct component *find_component_by_id(const struct list *components, struct str id)
{
    for (size_t i = 0; i < components->count; i++) {
        const struct component *c = &((const struct component *)components->items)[i], *found;
        struct list inside = { c->component.value, c->component.value ? 1 : 0 },
                    accessories = { c->accessory.value, c->accessory.value ? 1 : 0 };

        if (c->custom_id.given == GIVEN &&
            (str_eq(c->custom_id.value, id) ||
             (c->label.given == GIVEN && str_eq(c->label.value, id))))
            return c;
        if ((found = find_component_by_id(&c->components.value, id)) ||
            (found = find_component_by_id(&inside, id)) ||
            (found = find_component_by_id(&accessories, id)))
            return found;
    }
    return NULL;
}

static bool write_selected_value_json(struct invoke_command_state *v, struct json_writer *j,
                                      int64_t type, struct str value)
{
    snowflake id = 0;

    if (type == STRING_SELECT || type > CONTAINER) {
        json_write_text(j, value);
        return true;
    }
    if (type == ROLE_SELECT)
        id = find_role_by_text(v, value);
    else if (type == CHANNEL_SELECT)
        id = find_channel_by_text(v, value);
    else if (type == MENTIONABLE_SELECT)
        id = find_mentionable_by_text(v, value);
    else
        id = find_user_by_text(v, value);
    if (id)
        json_write_id(j, id);
    return id != 0;
}

static bool write_selected_values_json(struct invoke_command_state *v, struct json_writer *j,
                                       int64_t type, struct str values)
{
    bool ok = true;

    json_begin_array(j);
    while (values.n && ok)
        ok = write_selected_value_json(v, j, type, str_cut(&values, ','));
    json_end_array(j);
    return ok;
}

static bool format_component_press_data(struct invoke_command_state *v,
                                        const struct received_message *m, struct str *ret)
{
    struct str values = str_of(v->options->press), id = str_cut(&values, '=');
    struct list components = components_decode_json(v->arena, m->components);
    const struct component *c = find_component_by_id(&components, id);
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    if (!c)
        return print_invoke_error("the message has no component '%.*s'", STR_ARGS(id));
    buf_init(&out, 65536);
    json_begin_object(&j);
    json_write_name(&j, "component_type");
    json_write_int(&j, c->type);
    json_write_name(&j, "custom_id");
    json_write_text(&j, c->custom_id.value);
    bool ok = true;
    if (component_is_select(c->type)) {
        json_write_name(&j, "values");
        ok = write_selected_values_json(v, &j, c->type, values);
    }
    json_end_object(&j);
    *ret = buf_move_to_arena(&out, v->arena);
    return ok && !arena_has_lost_data(v->arena);
}

struct invocation_step_outcome press_message_component(struct invoke_command_state *v,
                                                       const struct received_message *m)
{
    struct invocation_step s = { .name = "press", .type = 3, .message = m, .pressed = m->id };
    struct invocation_step_outcome none = { .status = INVOKE_USAGE };

    s.application_id = m->application_id.given == GIVEN ? m->application_id.value : m->author->id;
    return format_component_press_data(v, m, &s.data) ? run_invocation_step(v, &s) : none;
}

const struct received_message *fetch_message_named_by_option(struct invoke_command_state *v)
{
    struct api_client_response a;
    char path[128];

    snprintf(path, sizeof path, "/channels/%" PRIu64 "/messages/%s", v->channel_id,
             v->options->message);
    if (!api_client_get(v->wire, path, &a))
        return NULL;
    const struct received_message *m = a.status == 200 ? decode_received_message(v, a.body) : NULL;
    if (!m)
        print_invoke_error("there is no message '%s' here", v->options->message);
    return m;
}

/* --- forms ---------------------------------------------------------------------------- */

static struct str find_value_of_form_field(const struct list *pairs, const struct component *c,
                                           struct str label)
{
    struct key_value_pair *p = pairs->items;

    for (size_t i = 0; i < pairs->count; i++)
        if (str_eq(p[i].key, c->custom_id.value) || (label.n && str_eq(p[i].key, label))) {
            p[i].used = true;
            return p[i].value;
        }
    return c->value.given == GIVEN ? c->value.value : (struct str){ 0 };
}

static bool write_form_field_json(struct invoke_command_state *v, struct json_writer *j,
                                  const struct component *c, const struct list *pairs,
                                  struct str label)
{
    struct str value = find_value_of_form_field(pairs, c, label);
    bool ok = true;

    json_begin_object(j);
    json_write_name(j, "type");
    json_write_int(j, c->type);
    json_write_name(j, "custom_id");
    json_write_text(j, c->custom_id.value);
    if (c->type == TEXT_INPUT || c->type == RADIO_GROUP) {
        json_write_name(j, "value");
        json_write_text(j, value.p ? value : STR(""));
    } else if (c->type == CHECKBOX) {
        json_write_name(j, "value");
        json_write_bool(j, str_is(value, "true") || str_is(value, "yes"));
    } else {
        json_write_name(j, "values");
        ok = write_selected_values_json(v, j, c->type, value);
    }
    json_end_object(j);
    return ok;
}

static bool write_form_component_json(struct invoke_command_state *v, struct json_writer *j,
                                      const struct component *c, const struct list *pairs)
{
    const struct component *row = c->components.value.items;
    bool ok = true;

    json_begin_object(j);
    json_write_name(j, "type");
    json_write_int(j, c->type);
    if (c->type == LABEL) {
        json_write_name(j, "component");
        ok = write_form_field_json(v, j, c->component.value, pairs, c->label.value);
    } else if (c->type == ACTION_ROW) {
        json_write_name(j, "components");
        json_begin_array(j);
        for (size_t i = 0; i < c->components.value.count && ok; i++)
            ok = write_form_field_json(v, j, &row[i], pairs, row[i].label.value);
        json_end_array(j);
    }
    json_end_object(j);
    return ok;
}

static bool check_all_form_values_used(const struct list *pairs)
{
    const struct key_value_pair *p = pairs->items;

    for (size_t i = 0; i < pairs->count; i++)
        if (!p[i].used)
            return print_invoke_error("the form has no field '%.*s'", STR_ARGS(p[i].key));
    return true;
}

static bool format_form_data(struct invoke_command_state *v, const struct received_modal *m,
                             struct str *ret)
{
    struct list parts = components_decode_json(v->arena, m->components), pairs = { 0 };
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    if (!parse_key_value_pairs(v, v->options->fill, &pairs))
        return false;
    buf_init(&out, 1024 * 1024);
    json_begin_object(&j);
    json_write_name(&j, "id");
    json_write_id(&j, m->id);
    json_write_name(&j, "custom_id");
    json_write_text(&j, m->custom_id);
    json_write_name(&j, "components");
    json_begin_array(&j);
    bool ok = true;
    for (size_t i = 0; i < parts.count && ok; i++)
        ok = write_form_component_json(v, &j, &((const struct component *)parts.items)[i], &pairs);
    json_end_array(&j);
    json_end_object(&j);
    *ret = buf_move_to_arena(&out, v->arena);
    return ok && !arena_has_lost_data(v->arena) && check_all_form_values_used(&pairs);
}

struct invocation_step_outcome submit_modal_if_requested(struct invoke_command_state *v,
                                                         struct invocation_step_outcome before)
{
    struct invocation_step s = { .name = "fill", .type = 5, .pressed = before.pressed };
    struct invocation_step_outcome none = { .status = INVOKE_USAGE };

    if (before.status || !before.modal || !v->options->fill)
        return before;
    v->filled = true;
    s.application_id = before.modal->application->id;
    return format_form_data(v, before.modal, &s.data) ? run_invocation_step(v, &s) : none;
}
