/* user_events.c - gateway events to the user who invoked an interaction. */
#include "interactions/internal.h"

#include "gateway/gateway.h"
#include "model/fields/rows.h"

struct interaction_outcome {
    snowflake id;
    struct opt_str nonce; /* JSON */
    struct opt_int reason_code;
};

static const struct field success_fields[] = {
    { FIELD(struct interaction_outcome, id), .type = &type_id },
    { FIELD(struct interaction_outcome, nonce), .type = &type_raw, .flags = NULLABLE },
    { 0 },
};
static const struct schema success_schema = {
    .size = sizeof(struct interaction_outcome),
    .fields = success_fields,
};

/* Fields of INTERACTION_CREATE and INTERACTION_FAILURE. Only INTERACTION_FAILURE has
 * reason_code. */
static const struct field outcome_fields[] = {
    { FIELD(struct interaction_outcome, id), .type = &type_id },
    { FIELD(struct interaction_outcome, nonce), .type = &type_raw, .flags = OPTIONAL },
    { FIELD(struct interaction_outcome, reason_code), .type = &type_int, .flags = OPTIONAL },
    { 0 },
};
static const struct schema outcome_schema = {
    .size = sizeof(struct interaction_outcome),
    .fields = outcome_fields,
};

void emit_event_to_invoking_user(struct call *call, const struct interaction *it, enum event event,
                                 const struct schema *schema, const void *object)
{
    struct gateway *g = api_get_options(call->api)->gateway;
    struct audience to = audience_of_user(it->user_id);
    uint64_t session;

    if (g && it->session.given == GIVEN &&
        gateway_find_session(g, it->user_id, it->session.value, &session))
        to = audience_of_session(session);
    call_emit_event(call, event, to, schema, object);
}

static struct opt_str optional_nonce_of_interaction(struct opt_str s)
{
    return s.given == GIVEN ? s : (struct opt_str){ 0 };
}

void emit_interaction_created(struct call *call, const struct interaction *it)
{
    struct interaction_outcome o = { .id = it->id,
                                     .nonce = optional_nonce_of_interaction(it->nonce) };

    emit_event_to_invoking_user(call, it, EVENT_INTERACTION_CREATE, &outcome_schema, &o);
}

void emit_interaction_success(struct call *call, const struct interaction *it)
{
    struct interaction_outcome o = { .id = it->id, .nonce = it->nonce };

    emit_event_to_invoking_user(call, it, EVENT_INTERACTION_SUCCESS, &success_schema, &o);
}

static const char FAIL[] = "update interactions set state = 2 where id = $1 and state = 0";

enum err fail_interaction(struct call *call, snowflake id, enum interaction_failure_reason reason)
{
    struct interaction it;
    int64_t changed;
    enum err e = tx_exec(call->tx, FAIL, BIND(v_id(id)), &changed);

    if (e || !changed)
        return e;
    e = read_interaction(call->tx, id, &it);
    if (e)
        return e;
    struct interaction_outcome o = { .id = id,
                                     .nonce = optional_nonce_of_interaction(it.nonce),
                                     .reason_code = opt_int_present(reason) };
    emit_event_to_invoking_user(call, &it, EVENT_INTERACTION_FAILURE, &outcome_schema, &o);
    return OK;
}
