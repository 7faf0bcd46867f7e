/* wait_for_reply.c - handles gateway events of an invocation until there is a result. */
#include "tools/invoke/invoke.h"

#include <stdio.h>

#include "base/clock.h"
#include "model/message.h"

#define NANOSECONDS_PER_SECOND INT64_C(1000000000)
/* The server reports a timeout after 3 s. NO_REPORT_TIMEOUT_S is the time to wait for this report.
 * If INTERACTION_SUCCESS arrives before a message, the message may still follow within
 * LATE_MESSAGE_TIMEOUT_S. */
enum { NO_REPORT_TIMEOUT_S = 10, LATE_MESSAGE_TIMEOUT_S = 3 };

/* --- schemas -------------------------------------------------------------------------- */

static const struct field user_fields[] = {
    { FIELD(struct received_user, id), .type = &type_id },
    { FIELD(struct received_user, username), .type = &type_text, .flags = OPTIONAL,
      .fallback_text = "" },
    { FIELD(struct received_user, global_name), .type = &type_text, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema user_schema = { .size = sizeof(struct received_user),
                                           .fields = user_fields };
static const struct type type_received_user = { .kind = KIND_OBJECT, .schema = &user_schema };

static const struct field metadata_fields[] = {
    { FIELD(struct received_interaction_metadata, id), .type = &type_id },
    { FIELD(struct received_interaction_metadata, original_response_message_id), .type = &type_id,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema metadata_schema = { .size = sizeof(struct received_interaction_metadata),
                                               .fields = metadata_fields };
static const struct type type_metadata = { .kind = KIND_OBJECT, .schema = &metadata_schema };

static const struct field message_fields[] = {
    { FIELD(struct received_message, id), .type = &type_id },
    { FIELD(struct received_message, application_id), .type = &type_id,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct received_message, author), .type = &type_received_user },
    { FIELD(struct received_message, content), .type = &type_text },
    { FIELD(struct received_message, embeds), .type = &type_raw },
    { FIELD(struct received_message, components), .type = &type_raw },
    { FIELD(struct received_message, attachments), .type = &type_raw },
    { FIELD(struct received_message, flags), .type = &type_int },
    { FIELD(struct received_message, nonce), .type = &type_raw, .flags = OPTIONAL },
    { FIELD(struct received_message, interaction_metadata), .type = &type_metadata,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema received_message_schema = { .size = sizeof(struct received_message),
                                                       .fields = message_fields };
static const struct type type_received_message = { .kind = KIND_OBJECT,
                                                   .schema = &received_message_schema };

static const struct field modal_fields[] = {
    { FIELD(struct received_modal, id), .type = &type_id },
    { FIELD(struct received_modal, custom_id), .type = &type_text },
    { FIELD(struct received_modal, title), .type = &type_text },
    { FIELD(struct received_modal, components), .type = &type_raw },
    { FIELD(struct received_modal, application), .type = &type_received_user },
    { 0 },
};
static const struct schema modal_schema = { .size = sizeof(struct received_modal),
                                            .fields = modal_fields };
static const struct type type_modal = { .kind = KIND_OBJECT, .schema = &modal_schema };

static const struct field choice_fields[] = {
    { FIELD(struct received_autocomplete_choice, name), .type = &type_text },
    { FIELD(struct received_autocomplete_choice, name_localized), .type = &type_text,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct received_autocomplete_choice, value), .type = &type_raw },
    { 0 },
};
static const struct schema choice_schema = { .size = sizeof(struct received_autocomplete_choice),
                                             .fields = choice_fields };
static const struct type type_choice = { .kind = KIND_OBJECT, .schema = &choice_schema };
static const struct type type_choices = { .kind = KIND_ARRAY, .of = &type_choice };

/* Fields that several interaction events have. */
struct received_event {
    snowflake id;
    struct opt_str nonce;
    int64_t reason_code;
    struct opt_str choices;
};
static const struct field received_event_fields[] = {
    { FIELD(struct received_event, id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct received_event, nonce), .type = &type_raw, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct received_event, reason_code), .type = &type_int, .flags = OPTIONAL },
    { FIELD(struct received_event, choices), .type = &type_raw, .flags = OPTIONAL },
    { 0 },
};
static const struct schema received_event_schema = { .size = sizeof(struct received_event),
                                                     .fields = received_event_fields };
static const struct type type_received_event = { .kind = KIND_OBJECT,
                                                 .schema = &received_event_schema };

const struct received_message *decode_received_message(struct invoke_command_state *v,
                                                       struct str json)
{
    struct received_message *m = schema_decode_or_null(&type_received_message, json, v->arena);

    if (m)
        m->raw = json;
    return m;
}

/* --- waiting -------------------------------------------------------------------------- */

struct event_wait {
    struct invoke_command_state *v;
    struct str nonce; /* JSON */
    int64_t until;
    struct invocation_step_outcome *out;
    bool over;
};

static bool is_deferred_reply(const struct received_message *m)
{
    return m->flags & MESSAGE_LOADING;
}

static void set_timeout_of_event_wait(struct event_wait *w, int64_t seconds)
{
    w->until = clock_monotonic_ns() + seconds * NANOSECONDS_PER_SECOND;
}

/* Ends the wait if there is a reply and the requested number of follow-ups. */
static void end_wait_if_complete(struct event_wait *w)
{
    const struct invocation_step_outcome *out = w->out;

    if (out->message && !is_deferred_reply(out->message)) {
        w->out->status = INVOKE_REPLIED;
        w->over = (int64_t)out->follow_ups.count >= w->v->options->follow_ups;
    }
    if (!w->over)
        set_timeout_of_event_wait(w, w->v->options->wait);
}

static void on_message_create(struct event_wait *w, const struct received_message *m)
{
    const struct received_interaction_metadata *about = m->interaction_metadata.value;
    struct invocation_step_outcome *out = w->out;

    if (m->nonce.given == GIVEN && str_eq(m->nonce.value, w->nonce))
        out->message = m;
    else if (about && out->interaction_id && about->id == out->interaction_id)
        *(const struct received_message **)list_append(w->v->arena, &out->follow_ups, sizeof m) = m;
    else
        return;
    end_wait_if_complete(w);
}

static void on_message_update(struct event_wait *w, const struct received_message *m)
{
    struct invocation_step_outcome *out = w->out;
    bool answer = out->message && out->message->id == m->id,
         pressed = out->pressed == m->id && out->acknowledged;

    if (!answer && !pressed)
        return;
    out->message = m;
    end_wait_if_complete(w);
}

/* Handles the deletion of a message: after it, the app may send another reply or none. */
static void on_message_delete(struct event_wait *w, const struct received_event *t)
{
    struct invocation_step_outcome *out = w->out;

    if (!out->message || out->message->id != t->id)
        return;
    out->message = NULL;
    out->status = INVOKE_REPLIED;
    set_timeout_of_event_wait(w, LATE_MESSAGE_TIMEOUT_S);
}

static void on_interaction_modal_event(struct event_wait *w, struct str json)
{
    struct received_modal *m = schema_decode_or_null(&type_modal, json, w->v->arena);

    if (!m)
        return;
    m->raw = json;
    w->out->modal = m;
    w->out->status = INVOKE_REPLIED;
    w->over = true;
}

static void on_autocomplete_choices(struct event_wait *w, const struct received_event *t)
{
    const struct list *choices =
        schema_decode_or_null(&type_choices, t->choices.value, w->v->arena);

    if (choices)
        w->out->choices = *choices;
    w->out->choices_raw = t->choices.value;
    w->out->status = INVOKE_REPLIED;
    w->over = true;
}

static void on_interaction_event(struct event_wait *w, struct str name,
                                 const struct received_event *t, struct str json)
{
    struct invocation_step_outcome *out = w->out;

    if (str_is(name, "INTERACTION_CREATE")) {
        out->interaction_id = t->id;
    } else if (str_is(name, "INTERACTION_SUCCESS")) {
        out->acknowledged = true;
        out->status = INVOKE_REPLIED;
        set_timeout_of_event_wait(w, LATE_MESSAGE_TIMEOUT_S);
    } else if (str_is(name, "INTERACTION_FAILURE")) {
        out->status = t->reason_code == 2 ? INVOKE_TIMED_OUT : INVOKE_FAILED;
        w->over = true;
    } else if (str_is(name, "INTERACTION_MODAL_CREATE")) {
        on_interaction_modal_event(w, json);
    } else if (str_is(name, "APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE")) {
        on_autocomplete_choices(w, t);
    }
}

static void handle_gateway_event(struct event_wait *w, const struct api_client_event *e)
{
    bool created = str_is(e->name, "MESSAGE_CREATE"), changed = str_is(e->name, "MESSAGE_UPDATE");

    if (created || changed) {
        const struct received_message *m = decode_received_message(w->v, e->data);

        if (m && created)
            on_message_create(w, m);
        else if (m)
            on_message_update(w, m);
        return;
    }
    bool removed = str_is(e->name, "MESSAGE_DELETE");
    if (!removed && !str_starts_with(e->name, STR("INTERACTION_")) &&
        !str_starts_with(e->name, STR("APPLICATION_COMMAND_AUTOCOMPLETE")))
        return;
    const struct received_event *t =
        schema_decode_or_null(&type_received_event, e->data, w->v->arena);
    if (t && removed)
        on_message_delete(w, t);
    else if (t && t->nonce.given == GIVEN && str_eq(t->nonce.value, w->nonce))
        on_interaction_event(w, e->name, t, e->data);
}

void wait_for_interaction_outcome(struct invoke_command_state *v, struct str nonce,
                                  struct invocation_step_outcome *out)
{
    struct event_wait w = {
        .v = v,
        .nonce = STR_CONCAT(v->arena, STR("\""), nonce, STR("\"")),
        .out = out,
    };
    struct api_client_event e;

    out->status = INVOKE_TIMED_OUT;
    set_timeout_of_event_wait(&w, NO_REPORT_TIMEOUT_S);
    while (!w.over) {
        enum api_client_event_result result = api_client_wait_for_event(v->wire, w.until, &e);

        if (result == CLIENT_CONNECTION_LOST)
            out->status = INVOKE_ERROR;
        if (result != CLIENT_EVENT)
            break;
        handle_gateway_event(&w, &e);
    }
    /* The reply was deferred or follow-ups were requested, and they did not arrive in time. */
    if (!w.over && out->status == INVOKE_REPLIED &&
        ((out->message && is_deferred_reply(out->message)) ||
         (int64_t)out->follow_ups.count < v->options->follow_ups))
        out->status = INVOKE_TIMED_OUT;
}
