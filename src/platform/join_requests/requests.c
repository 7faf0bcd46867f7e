/* requests.c - submits, lists and reviews join requests. */
#include "base/clock.h"
#include "model/fields/types.h"
#include "platform/join_requests/internal.h"

/* --- events --------------------------------------------------------------------------- */

static struct subject request_reviewers(snowflake guild_id)
{
    return to_entitled(guild_id, 0, PERMISSION(KICK_MEMBERS));
}

/* Emits the event to the reviewers and to the requesting user. */
static void request_announce(struct call *call, enum event what, const struct join_request *r)
{
    struct join_request_told told = { r->guild_id, r->application_status.value, r };

    call_emit(call, what, request_reviewers(r->guild_id), &join_request_told_schema, &told);
    call_emit(call, what, to_user(r->user_id), &join_request_told_schema, &told);
}

static void request_announce_gone(struct call *call, const struct join_request *r)
{
    struct join_request_gone gone = { r->id, r->guild_id, r->user_id };

    call_emit(call, EVENT_GUILD_JOIN_REQUEST_DELETE, request_reviewers(r->guild_id),
              &join_request_gone_schema, &gone);
    call_emit(call, EVENT_GUILD_JOIN_REQUEST_DELETE, to_user(r->user_id), &join_request_gone_schema,
              &gone);
}

/* --- submitting ----------------------------------------------------------------------- */

static void request_set_status(struct join_request *r, int64_t status)
{
    r->status = status;
    r->application_status = given_str(join_status_word(status));
}

static enum err check_form_version(struct call *call, const struct member_form *form)
{
    const struct join_request_draft *in = call->body;

    if (in->version == form->version)
        return OK;
    return call_invalid(call, "version", FORM_CHOICES,
                        "The form has changed. Read it again and send its current version.");
}

/* Resets the caller's existing request to SUBMITTED, or creates one. */
static enum err request_begin(struct call *call, struct join_request *r, bool *ret_new)
{
    snowflake guild_id = call->target.guild->id;
    bool found = false;
    enum err e = join_request_of(call->tx, guild_id, call->caller->id, &found, r);

    *ret_new = !found;
    if (!found)
        *r = (struct join_request){ .id = snowflake_new(),
                                    .guild_id = guild_id,
                                    .user_id = call->caller->id };
    r->created_at = clock_us();
    r->reviewed_at.given = r->rejection_reason.given = GIVEN_NULL;
    r->reviewed_by = 0;
    request_set_status(r, JOIN_SUBMITTED);
    return e;
}

/* A form that only has rules needs no review: the member is admitted at once. */
static enum err request_let_in(struct call *call, struct join_request *r)
{
    struct member m = *call->target.standing->member;

    request_set_status(r, JOIN_APPROVED);
    r->reviewed_at = given_int(r->created_at);
    return member_admit(call, &m);
}

enum err put_own_join_request(struct call *call)
{
    const struct join_request_draft *in = call->body;
    struct member_form form;
    struct join_request r;
    bool made = false;
    enum err e = member_form_find(call->tx, call->target.guild->id, &form);

    if (!e && !call->target.standing->member->pending)
        e = ERR_ALREADY_MEMBER;
    if (!e)
        e = check_form_version(call, &form);
    if (!e)
        e = request_begin(call, &r, &made);
    if (e)
        return e;
    r.form_responses = form_answers(&call->form, call->arena, &form.form_fields, &in->form_fields);
    if (form_failed(&call->form))
        return ERR_INVALID_FORM_BODY;
    if (!form_needs_review(&form.form_fields))
        e = request_let_in(call, &r);
    if (!e)
        e = join_request_save(call->tx, &r);
    if (!e)
        e = join_request_load_people(call->tx, &r);
    if (e)
        return e;
    request_announce(call, made ? EVENT_GUILD_JOIN_REQUEST_CREATE : EVENT_GUILD_JOIN_REQUEST_UPDATE,
                     &r);
    return call_reply(call, &r);
}

enum err delete_own_join_request(struct call *call)
{
    struct join_request r;
    bool found = false;
    enum err e = join_request_of(call->tx, call->target.guild->id, call->caller->id, &found, &r);

    if (!e && !found)
        e = ERR_NOT_FOUND;
    if (!e)
        e = join_request_delete(call->tx, r.id);
    if (!e)
        request_announce_gone(call, &r);
    return e;
}

enum err join_request_goes(struct call *call, const struct member_leave *leave)
{
    struct join_request r;
    bool found = false;
    enum err e = join_request_of(call->tx, leave->guild_id, leave->user->id, &found, &r);

    if (e || !found)
        return e;
    e = join_request_delete(call->tx, r.id);
    if (!e)
        request_announce_gone(call, &r);
    return e;
}

/* --- reviewing ------------------------------------------------------------------------ */

enum err list_join_requests(struct call *call)
{
    const struct join_requests_query *q = call->query;
    struct join_requests out = { 0 };
    int64_t status = q->status.given == GIVEN ? join_status_of(q->status.value) : 0;
    enum err e;

    if (q->status.given == GIVEN && !status) /* unsubmitted forms are not stored */
        return call_reply(call, &out);
    e = join_requests_list(call->tx, call->target.guild->id, status, q, &out);
    for (size_t i = 0; !e && i < out.guild_join_requests.count; i++)
        e = join_request_load_people(call->tx,
                                     (struct join_request *)out.guild_join_requests.items + i);
    return e ? e : call_reply(call, &out);
}

static enum err request_decide(struct call *call, struct join_request *r)
{
    const struct join_request_review *in = call->body;
    bool approved = str_is(in->action, "APPROVED");
    struct member m;

    request_set_status(r, approved ? JOIN_APPROVED : JOIN_REJECTED);
    r->reviewed_at = given_int(clock_us());
    r->reviewed_by = call->caller->id;
    if (!approved && in->rejection_reason.given == GIVEN)
        r->rejection_reason = in->rejection_reason;
    if (!approved)
        return OK;
    enum err e = member_find(call->tx, r->guild_id, r->user_id, &m);
    return e || !m.pending ? e : member_admit(call, &m);
}

/* A decision is final: only submitted requests can be reviewed. */
enum err review_join_request(struct call *call)
{
    struct join_request r;
    bool found = false;
    enum err e = join_request_find(call->tx, call->target.guild->id, call_id(call, "request.id"),
                                   &found, &r);

    if (e || !found || r.status != JOIN_SUBMITTED)
        return e ? e : ERR_NOT_FOUND;
    e = request_decide(call, &r);
    if (!e)
        e = join_request_save(call->tx, &r);
    if (!e)
        e = join_request_load_people(call->tx, &r);
    if (e)
        return e;
    request_announce(call, EVENT_GUILD_JOIN_REQUEST_UPDATE, &r);
    return call_reply(call, &r);
}
