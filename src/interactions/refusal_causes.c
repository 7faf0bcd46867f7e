/* refusal_causes.c - explains why the response of an app to an interaction is refused. */
#include "interactions/internal.h"

#include "base/clock.h"

/* Milliseconds since the interaction was created. */
static long long interaction_age_ms(const struct interaction *it)
{
    return (long long)((clock_us() - interaction_creation_time(it)) / 1000);
}

static void explain_late_response(struct call *call, const struct interaction *it)
{
    long long age = interaction_age_ms(it), limit = INTERACTION_TIMEOUT_US / 1000;

    call_set_refusal_cause(
        call,
        "the first response came %lld ms after the interaction, %lld ms too late (limit "
        "%lld ms); defer it at once (type 5, or 6 for components: deferReply, "
        "defer) and edit the response later",
        age, age - limit, limit);
}

static void explain_unknown_interaction(struct call *call, const struct interaction *it)
{
    bool is_late;

    if (!it->id) {
        call_set_refusal_cause(
            call, "this server did not create the interaction with this token: id and token "
                  "do not belong together, the token is of another server, or the data was "
                  "replaced since (restore, new key); use both from the same "
                  "INTERACTION_CREATE");
        return;
    }
    is_late = interaction_age_ms(it) > INTERACTION_TIMEOUT_US / 1000;
    if (!it->application_id && !is_late)
        call_set_refusal_cause(
            call, "this server has no such interaction any more: the data was replaced "
                  "since (restore)");
    else if (it->state == INTERACTION_FAILED && !is_late)
        call_set_refusal_cause(call,
                               "the interaction has already failed: its user was told that the app "
                               "did not respond");
    else
        explain_late_response(call, it);
}

static void explain_repeated_response(struct call *call, const struct interaction *it)
{
    call_set_refusal_cause(
        call,
        "the interaction was already answered with callback type %lld; answer once, "
        "then edit the response (PATCH …/messages/@original: editReply, "
        "edit_original_response) or send a follow-up (followUp, followup.send); do two "
        "processes or two handlers of the bot answer?",
        (long long)it->callback_type);
}

static void explain_unknown_token(struct call *call, const struct interaction *it)
{
    snowflake application = call_get_path_id(call, "interaction.application.id");

    if (!it->id)
        return;
    if (!it->application_id)
        call_set_refusal_cause(
            call, "this server has no interaction with this token any more: the data was "
                  "replaced since (restore)");
    else if (it->application_id != application)
        call_set_refusal_cause(
            call, "the token belongs to an interaction of the application %llu, not %llu",
            (unsigned long long)it->application_id, (unsigned long long)application);
    else if (it->state == INTERACTION_UNANSWERED)
        call_set_refusal_cause(
            call, "the interaction has no response yet; first answer it with POST "
                  "/interactions/ID/TOKEN/callback (reply or deferReply), then edit or "
                  "follow up");
    else
        explain_late_response(call, it);
}

enum err explain_interaction_refusal(struct call *call, const struct call_refusal_cause *refusal)
{
    const struct interaction *it = call->target.interaction;

    if (!it)
        return OK;
    switch (refusal->error) {
    case ERR_UNKNOWN_INTERACTION:
        explain_unknown_interaction(call, it);
        return OK;
    case ERR_ALREADY_ACKNOWLEDGED:
        explain_repeated_response(call, it);
        return OK;
    case ERR_UNKNOWN_WEBHOOK:
        explain_unknown_token(call, it);
        return OK;
    case ERR_INVALID_WEBHOOK_TOKEN:
        call_set_refusal_cause(
            call,
            "the token of an interaction is valid for 15 minutes, and this call came "
            "%lld s after the interaction; send a message to the channel instead",
            interaction_age_ms(it) / 1000);
        return OK;
    default:
        return OK;
    }
}
