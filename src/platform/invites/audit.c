/* audit.c - audit log entries of invites. They list every field of the invite as a change. */
#include "platform/invites/internal.h"

#include "base/mem.h"

enum { MOST_CHANGES = 7 };

static struct str format_number(struct call *call, int64_t n)
{
    return str_printf(call->arena, "%lld", (long long)n);
}

static struct str quote_json_text(struct call *call, struct str text)
{
    return STR_CONCAT(call->arena, STR("\""), text, STR("\""));
}

/* Formats the code for the audit log. The code of an invite that grants roles is null until the
 * invite is deleted, because every reader of the log could use it. */
static struct str format_audited_invite_code(struct call *call, enum audit_log_action action,
                                             const struct invite *i)
{
    bool credential = action == AUDIT_INVITE_CREATE && i->role_ids.count;

    return credential ? STR("null") : quote_json_text(call, i->code);
}

enum err audit_log_record_invite(struct call *call, enum audit_log_action action,
                                 const struct invite *i)
{
    struct audit_log_change changes[MOST_CHANGES] = { 0 };
    const struct {
        const char *key;
        struct str value;
    } facts[MOST_CHANGES] = {
        { "code", format_audited_invite_code(call, action, i) },
        { "channel_id", quote_json_text(call, format_number(call, (int64_t)i->channel_id.value)) },
        { "inviter_id", quote_json_text(call, format_number(call, (int64_t)i->inviter_id)) },
        { "uses", format_number(call, i->uses) },
        { "max_uses", format_number(call, i->max_uses) },
        { "max_age", format_number(call, i->max_age) },
        { "temporary", i->temporary ? STR("true") : STR("false") },
    };

    for (size_t n = 0; n < COUNT_OF(facts); n++) {
        changes[n].key = str_of(facts[n].key);
        if (action == AUDIT_INVITE_DELETE)
            changes[n].old_value = opt_str_or_null(facts[n].value);
        else
            changes[n].new_value = opt_str_or_null(facts[n].value);
    }
    return audit_log_record_changes(call, i->guild_id.value, action, 0, NULL,
                                    (struct list){ changes, COUNT_OF(changes) });
}
