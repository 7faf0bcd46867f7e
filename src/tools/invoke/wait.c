/* wait.c - handles gateway events of an invocation until there is a result. */
#include "tools/invoke/invoke.h"

#include <stdio.h>

#include "base/clock.h"
#include "model/message.h"

#define SECOND INT64_C(1000000000)
/* The server reports a timeout after 3 seconds; UNHEARD_S limits the wait for that report. After
 * INTERACTION_SUCCESS without a message, a message may still follow within SETTLE_S. */
enum { UNHEARD_S = 10, SETTLE_S = 3 };

/* --- schemas -------------------------------------------------------------------------- */

static const struct field user_fields[] = {
    { FIELD(struct told_user, id), .type = &type_id },
    { FIELD(struct told_user, username), .type = &type_text, .flags = OPTIONAL,
      .fallback_text = "" },
    { FIELD(struct told_user, global_name), .type = &type_text, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema user_schema = { .size = sizeof(struct told_user),
                                           .fields = user_fields };
static const struct type type_told_user = { .kind = KIND_OBJECT, .schema = &user_schema };

static const struct field metadata_fields[] = {
    { FIELD(struct told_metadata, id), .type = &type_id },
    { FIELD(struct told_metadata, original_response_message_id), .type = &type_id,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema metadata_schema = { .size = sizeof(struct told_metadata),
                                               .fields = metadata_fields };
static const struct type type_metadata = { .kind = KIND_OBJECT, .schema = &metadata_schema };

static const struct field message_fields[] = {
    { FIELD(struct told_message, id), .type = &type_id },
    { FIELD(struct told_message, application_id), .type = &type_id, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct told_message, author), .type = &type_told_user },
    { FIELD(struct told_message, content), .type = &type_text },
    { FIELD(struct told_message, embeds), .type = &type_raw },
    { FIELD(struct told_message, components), .type = &type_raw },
    { FIELD(struct told_message, attachments), .type = &type_raw },
    { FIELD(struct told_message, flags), .type = &type_int },
    { FIELD(struct told_message, nonce), .type = &type_raw, .flags = OPTIONAL },
    { FIELD(struct told_message, interaction_metadata), .type = &type_metadata,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema told_message_schema = { .size = sizeof(struct told_message),
                                                   .fields = message_fields };
static const struct type type_told_message = { .kind = KIND_OBJECT,
                                               .schema = &told_message_schema };

static const struct field modal_fields[] = {
    { FIELD(struct told_modal, id), .type = &type_id },
    { FIELD(struct told_modal, custom_id), .type = &type_text },
    { FIELD(struct told_modal, title), .type = &type_text },
    { FIELD(struct told_modal, components), .type = &type_raw },
    { FIELD(struct told_modal, application), .type = &type_told_user },
    { 0 },
};
static const struct schema modal_schema = { .size = sizeof(struct told_modal),
                                            .fields = modal_fields };
static const struct type type_modal = { .kind = KIND_OBJECT, .schema = &modal_schema };

static const struct field choice_fields[] = {
    { FIELD(struct told_choice, name), .type = &type_text },
    { FIELD(struct told_choice, name_localized), .type = &type_text, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct told_choice, value), .type = &type_raw },
    { 0 },
};
static const struct schema choice_schema = { .size = sizeof(struct told_choice),
                                             .fields = choice_fields };
static const struct type type_choice = { .kind = KIND_OBJECT, .schema = &choice_schema };
static const struct type type_choices = { .kind = KIND_ARRAY, .of = &type_choice };

/* Fields that interaction events have in common. */
struct told_event {
    snowflake id;
    struct opt_str nonce;
    int64_t reason_code;
    struct opt_str choices;
};
static const struct field told_fields[] = {
    { FIELD(struct told_event, id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct told_event, nonce), .type = &type_raw, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct told_event, reason_code), .type = &type_int, .flags = OPTIONAL },
    { FIELD(struct told_event, choices), .type = &type_raw, .flags = OPTIONAL },
    { 0 },
};
static const struct schema told_schema = { .size = sizeof(struct told_event),
                                           .fields = told_fields };
static const struct type type_told = { .kind = KIND_OBJECT, .schema = &told_schema };

const struct told_message *message_told(struct invoke_run *v, struct str json)
{
    struct told_message *m = schema_read(&type_told_message, json, v->arena);

    if (m)
        m->raw = json;
    return m;
}

/* --- waiting -------------------------------------------------------------------------- */

struct event_wait {
    struct invoke_run *v;
    struct str nonce; /* JSON */
    int64_t until;
    struct step_outcome *out;
    bool over;
};

static bool is_loading(const struct told_message *m)
{
    return m->flags & MESSAGE_LOADING;
}

static void wait_for(struct event_wait *w, int64_t seconds)
{
    w->until = clock_mono() + seconds * SECOND;
}

/* Ends the wait when there is a reply and the requested number of follow-ups. */
static void look_whether_over(struct event_wait *w)
{
    const struct step_outcome *out = w->out;

    if (out->message && !is_loading(out->message)) {
        w->out->status = INVOKE_ANSWERED;
        w->over = (int64_t)out->follow_ups.count >= w->v->options->follow_ups;
    }
    if (!w->over)
        wait_for(w, w->v->options->wait);
}

static void hear_message(struct event_wait *w, const struct told_message *m)
{
    const struct told_metadata *about = m->interaction_metadata.value;
    struct step_outcome *out = w->out;

    if (m->nonce.given == GIVEN && str_eq(m->nonce.value, w->nonce))
        out->message = m;
    else if (about && out->interaction_id && about->id == out->interaction_id)
        *(const struct told_message **)list_add(w->v->arena, &out->follow_ups, sizeof m) = m;
    else
        return;
    look_whether_over(w);
}

static void hear_update(struct event_wait *w, const struct told_message *m)
{
    struct step_outcome *out = w->out;
    bool answer = out->message && out->message->id == m->id,
         pressed = out->pressed == m->id && out->acknowledged;

    if (!answer && !pressed)
        return;
    out->message = m;
    look_whether_over(w);
}

/* The app may delete its reply and send another one, or none. */
static void hear_removal(struct event_wait *w, const struct told_event *t)
{
    struct step_outcome *out = w->out;

    if (!out->message || out->message->id != t->id)
        return;
    out->message = NULL;
    out->status = INVOKE_ANSWERED;
    wait_for(w, SETTLE_S);
}

static void hear_modal(struct event_wait *w, struct str json)
{
    struct told_modal *m = schema_read(&type_modal, json, w->v->arena);

    if (!m)
        return;
    m->raw = json;
    w->out->modal = m;
    w->out->status = INVOKE_ANSWERED;
    w->over = true;
}

static void hear_choices(struct event_wait *w, const struct told_event *t)
{
    const struct list *choices = schema_read(&type_choices, t->choices.value, w->v->arena);

    if (choices)
        w->out->choices = *choices;
    w->out->choices_raw = t->choices.value;
    w->out->status = INVOKE_ANSWERED;
    w->over = true;
}

static void hear_own(struct event_wait *w, struct str name, const struct told_event *t,
                     struct str json)
{
    struct step_outcome *out = w->out;

    if (str_is(name, "INTERACTION_CREATE")) {
        out->interaction_id = t->id;
    } else if (str_is(name, "INTERACTION_SUCCESS")) {
        out->acknowledged = true;
        out->status = INVOKE_ANSWERED;
        wait_for(w, SETTLE_S);
    } else if (str_is(name, "INTERACTION_FAILURE")) {
        out->status = t->reason_code == 2 ? INVOKE_TIMED_OUT : INVOKE_FAILED;
        w->over = true;
    } else if (str_is(name, "INTERACTION_MODAL_CREATE")) {
        hear_modal(w, json);
    } else if (str_is(name, "APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE")) {
        hear_choices(w, t);
    }
}

static void invoke_wait_hear(struct event_wait *w, const struct wire_event *e)
{
    bool created = str_is(e->name, "MESSAGE_CREATE"), changed = str_is(e->name, "MESSAGE_UPDATE");

    if (created || changed) {
        const struct told_message *m = message_told(w->v, e->data);

        if (m && created)
            hear_message(w, m);
        else if (m)
            hear_update(w, m);
        return;
    }
    bool removed = str_is(e->name, "MESSAGE_DELETE");
    if (!removed && !str_starts(e->name, STR("INTERACTION_")) &&
        !str_starts(e->name, STR("APPLICATION_COMMAND_AUTOCOMPLETE")))
        return;
    const struct told_event *t = schema_read(&type_told, e->data, w->v->arena);
    if (t && removed)
        hear_removal(w, t);
    else if (t && t->nonce.given == GIVEN && str_eq(t->nonce.value, w->nonce))
        hear_own(w, e->name, t, e->data);
}

void outcome_await(struct invoke_run *v, struct str nonce, struct step_outcome *out)
{
    struct event_wait w = {
        .v = v,
        .nonce = STR_CONCAT(v->arena, STR("\""), nonce, STR("\"")),
        .out = out,
    };
    struct wire_event e;

    out->status = INVOKE_TIMED_OUT;
    wait_for(&w, UNHEARD_S);
    while (!w.over) {
        enum wire_news news = wire_next(v->wire, w.until, &e);

        if (news == WIRE_LOST)
            out->status = INVOKE_TROUBLE;
        if (news != WIRE_EVENT)
            break;
        invoke_wait_hear(&w, &e);
    }
    /* The deferred reply or the requested follow-ups did not arrive. */
    if (!w.over && out->status == INVOKE_ANSWERED &&
        ((out->message && is_loading(out->message)) ||
         (int64_t)out->follow_ups.count < v->options->follow_ups))
        out->status = INVOKE_TIMED_OUT;
}
