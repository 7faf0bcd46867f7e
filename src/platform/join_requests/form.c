/* form.c - routes that read and change a guild's membership form. */
#include "base/clock.h"
#include "platform/invites/invites.h"
#include "platform/join_requests/internal.h"

/* Returns an error if the caller is not a member and the query has no valid invite to the guild. */
enum err require_invite_to_read_member_form(struct call *call)
{
    const struct member_form_query *q = call->query;
    struct invite invite;

    if (!q || q->invite_code.given != GIVEN)
        return ERR_MISSING_ACCESS;
    enum err e = invite_find(call->tx, q->invite_code.value, &invite);
    return !e && invite.guild_id.value != call->target.guild->id ? ERR_UNKNOWN_INVITE : e;
}

enum err get_member_form(struct call *call)
{
    struct member_form form;
    enum err e = member_form_find(call->tx, call->target.guild->id, &form);

    return e ? e : call_reply_with_object(call, &form);
}

/* Maximum size in bytes of a form as a JSON string. The writer thread parses it; valid forms are
 * shorter. */
enum { LONGEST_FORM = 256 * 1024 };

/* Parses the list of form fields from a JSON string, the form in which the official client sends
 * it. */
static enum err parse_form_fields(struct call *call, struct str json, struct list *ret)
{
    struct json_path at = json_path_key(NULL, STR("form_fields"));
    void *decoded;
    enum err e;

    if (json.n > LONGEST_FORM) {
        form_add_error(&call->form, &at, FORM_MAX_LENGTH, (long long)LONGEST_FORM);
        return ERR_INVALID_FORM_BODY;
    }
    if (json.n && json.p[0] == '"') {
        e = schema_decode_part_of_body(&type_text, json, &call->form, &at, &decoded);
        if (e)
            return e;
        json = *(struct str *)decoded;
    }
    e = schema_decode_part_of_body(&type_form_fields, json, &call->form, &at, &decoded);
    if (e == ERR_INVALID_JSON)
        return call_add_field_error(call, "form_fields", FORM_CHOICES,
                                    "Must be a list of form fields.");
    if (e)
        return e;
    *ret = *(struct list *)decoded;
    member_form_fields_validate(&call->form, &at, ret);
    return form_has_errors(&call->form) ? ERR_INVALID_FORM_BODY : OK;
}

static enum err set_member_form_enabled(struct call *call, struct member_form *form, bool on)
{
    enum err e = guild_set_feature_and_emit(call, form->guild_id, SCREENING_FEATURE, on);

    form->enabled = on;
    if (e || on)
        return e;
    return job_schedule(call, &pending_admission_job, form->guild_id, clock_us(), STR(""));
}

enum err modify_member_form(struct call *call)
{
    const struct member_form_patch *in = call->body;
    struct member_form form;
    enum err e = member_form_find(call->tx, call->target.guild->id, &form);

    if (e == ERR_UNKNOWN_MEMBER_FORM) {
        form = (struct member_form){ .guild_id = call->target.guild->id,
                                     .description.given = GIVEN_NULL };
        e = OK;
    }
    if (!e && in->form_fields.given == GIVEN)
        e = parse_form_fields(call, in->form_fields.value, &form.form_fields);
    if (e)
        return e;
    if (in->description.given != ABSENT)
        form.description = in->description;
    form.version = clock_us();
    if (in->enabled.given == GIVEN && in->enabled.value && !form.form_fields.count)
        return call_add_field_error(call, "form_fields", FORM_REQUIRED);
    if (in->enabled.given == GIVEN && in->enabled.value != form.enabled)
        e = set_member_form_enabled(call, &form, in->enabled.value);
    if (!e)
        e = member_form_write(call->tx, &form);
    return e ? e : call_reply_with_object(call, &form);
}
