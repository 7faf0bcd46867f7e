/* requests.c - submits, lists and reviews join requests. */
#include "base/clock.h"
#include "model/fields/types.h"
#include "platform/join_requests/internal.h"

/* --- emitting events ----------------------------------------------------------------- */

static struct audience audience_of_join_request_reviewers(snowflake guild_id)
{
    return audience_of_members_with_permission(guild_id, 0, PERMISSION(KICK_MEMBERS));
}

/* Emits the event to the reviewers and to the requesting user. */
static void emit_join_request_event(struct call *call, enum event what,
                                    const struct join_request *r)
{
    struct join_request_event delivered_to = { r->guild_id, r->application_status.value, r };

    call_emit_event(call, what, audience_of_join_request_reviewers(r->guild_id),
                    &join_request_event_schema, &delivered_to);
    call_emit_event(call, what, audience_of_user(r->user_id), &join_request_event_schema,
                    &delivered_to);
}

static void emit_join_request_delete(struct call *call, const struct join_request *r)
{
    struct join_request_delete_event gone = { r->id, r->guild_id, r->user_id };

    call_emit_event(call, EVENT_GUILD_JOIN_REQUEST_DELETE,
                    audience_of_join_request_reviewers(r->guild_id), &join_request_deleted_schema,
                    &gone);
    call_emit_event(call, EVENT_GUILD_JOIN_REQUEST_DELETE, audience_of_user(r->user_id),
                    &join_request_deleted_schema, &gone);
}

/* --- submitting a join request ------------------------------------------------------- */

static void set_join_request_status(struct join_request *r, int64_t status)
{
    r->status = status;
    r->application_status = opt_str_or_null(join_request_status_name(status));
}

static enum err check_form_version(struct call *call, const struct member_form *form)
{
    const struct join_request_submission *in = call->body;

    if (in->version == form->version)
        return OK;
    return call_add_field_error(
        call, "version", FORM_CHOICES,
        "The form has changed. Read it again and send its current version.");
}

/* If the caller has a request, sets its status to SUBMITTED. Otherwise creates a request. */
static enum err reset_or_create_join_request(struct call *call, struct join_request *r,
                                             bool *ret_new)
{
    snowflake guild_id = call->target.guild->id;
    bool found = false;
    enum err e = join_request_find_of_user(call->tx, guild_id, call->caller->id, &found, r);

    *ret_new = !found;
    if (!found)
        *r = (struct join_request){ .id = snowflake_new(),
                                    .guild_id = guild_id,
                                    .user_id = call->caller->id };
    r->created_at = clock_us();
    r->reviewed_at.given = r->rejection_reason.given = GIVEN_NULL;
    r->reviewed_by = 0;
    set_join_request_status(r, JOIN_SUBMITTED);
    return e;
}

/* Admits the member at once, because the form consists of rules only and needs no review. */
static enum err approve_join_request_without_review(struct call *call, struct join_request *r)
{
    struct member m = *call->target.member_access->member;

    set_join_request_status(r, JOIN_APPROVED);
    r->reviewed_at = opt_int_present(r->created_at);
    return admit_pending_member(call, &m);
}

enum err put_current_user_join_request(struct call *call)
{
    const struct join_request_submission *in = call->body;
    struct member_form form;
    struct join_request r;
    bool made = false;
    enum err e = member_form_find(call->tx, call->target.guild->id, &form);

    if (!e && !call->target.member_access->member->pending)
        e = ERR_ALREADY_MEMBER;
    if (!e)
        e = check_form_version(call, &form);
    if (!e)
        e = reset_or_create_join_request(call, &r, &made);
    if (e)
        return e;
    r.form_responses =
        member_form_merge_responses(&call->form, call->arena, &form.form_fields, &in->form_fields);
    if (form_has_errors(&call->form))
        return ERR_INVALID_FORM_BODY;
    if (!member_form_needs_review(&form.form_fields))
        e = approve_join_request_without_review(call, &r);
    if (!e)
        e = join_request_write(call->tx, &r);
    if (!e)
        e = join_request_read_users(call->tx, &r);
    if (e)
        return e;
    emit_join_request_event(
        call, made ? EVENT_GUILD_JOIN_REQUEST_CREATE : EVENT_GUILD_JOIN_REQUEST_UPDATE, &r);
    return call_reply_with_object(call, &r);
}

enum err delete_current_user_join_request(struct call *call)
{
    struct join_request r;
    bool found = false;
    enum err e =
        join_request_find_of_user(call->tx, call->target.guild->id, call->caller->id, &found, &r);

    if (!e && !found)
        e = ERR_NOT_FOUND;
    if (!e)
        e = join_request_delete(call->tx, r.id);
    if (!e)
        emit_join_request_delete(call, &r);
    return e;
}

enum err join_request_on_member_left(struct call *call, const struct member_leaving_guild *leave)
{
    struct join_request r;
    bool found = false;
    enum err e = join_request_find_of_user(call->tx, leave->guild_id, leave->user->id, &found, &r);

    if (e || !found)
        return e;
    e = join_request_delete(call->tx, r.id);
    if (!e)
        emit_join_request_delete(call, &r);
    return e;
}

/* --- listing and reviewing join requests --------------------------------------------- */

enum err list_join_requests(struct call *call)
{
    const struct join_requests_query *q = call->query;
    struct join_requests out = { 0 };
    int64_t status = q->status.given == GIVEN ? join_status_parse(q->status.value) : 0;
    enum err e;

    if (q->status.given == GIVEN &&
        !status) /* 0: no request has the status STARTED, because only submitted forms are stored */
        return call_reply_with_object(call, &out);
    e = join_requests_list(call->tx, call->target.guild->id, status, q, &out);
    for (size_t i = 0; !e && i < out.guild_join_requests.count; i++)
        e = join_request_read_users(call->tx,
                                    (struct join_request *)out.guild_join_requests.items + i);
    return e ? e : call_reply_with_object(call, &out);
}

static enum err approve_or_reject_join_request(struct call *call, struct join_request *r)
{
    const struct join_request_review *in = call->body;
    bool approved = str_is(in->action, "APPROVED");
    struct member m;

    set_join_request_status(r, approved ? JOIN_APPROVED : JOIN_REJECTED);
    r->reviewed_at = opt_int_present(clock_us());
    r->reviewed_by = call->caller->id;
    if (!approved && in->rejection_reason.given == GIVEN)
        r->rejection_reason = in->rejection_reason;
    if (!approved)
        return OK;
    enum err e = member_find(call->tx, r->guild_id, r->user_id, &m);
    return e || !m.pending ? e : admit_pending_member(call, &m);
}

/* Approves or rejects a request. Only requests with the status SUBMITTED can be reviewed, so a
 * decision is final. */
enum err review_join_request(struct call *call)
{
    struct join_request r;
    bool found = false;
    enum err e = join_request_find(call->tx, call->target.guild->id,
                                   call_get_path_id(call, "request.id"), &found, &r);

    if (e || !found || r.status != JOIN_SUBMITTED)
        return e ? e : ERR_NOT_FOUND;
    e = approve_or_reject_join_request(call, &r);
    if (!e)
        e = join_request_write(call->tx, &r);
    if (!e)
        e = join_request_read_users(call->tx, &r);
    if (e)
        return e;
    emit_join_request_event(call, EVENT_GUILD_JOIN_REQUEST_UPDATE, &r);
    return call_reply_with_object(call, &r);
}
