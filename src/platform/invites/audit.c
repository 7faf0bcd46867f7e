/* audit.c - audit log entries of invites: each property is a change. */
#include "platform/invites/internal.h"

#include "base/mem.h"

enum { MOST_CHANGES = 7 };

static struct str audit_number(struct call *call, int64_t n)
{
    return str_printf(call->arena, "%lld", (long long)n);
}

static struct str audit_quoted(struct call *call, struct str text)
{
    return STR_CONCAT(call->arena, STR("\""), text, STR("\""));
}

/* Any reader of the audit log could use a code in it, so the code of an invite that grants roles is
 * null there until the invite is deleted. */
static struct str audit_code(struct call *call, enum audit_action action, const struct invite *i)
{
    bool credential = action == AUDIT_INVITE_CREATE && i->role_ids.count;

    return credential ? STR("null") : audit_quoted(call, i->code);
}

enum err invite_audit(struct call *call, enum audit_action action, const struct invite *i)
{
    struct audit_change changes[MOST_CHANGES] = { 0 };
    const struct {
        const char *key;
        struct str value;
    } facts[MOST_CHANGES] = {
        { "code", audit_code(call, action, i) },
        { "channel_id", audit_quoted(call, audit_number(call, (int64_t)i->channel_id.value)) },
        { "inviter_id", audit_quoted(call, audit_number(call, (int64_t)i->inviter_id)) },
        { "uses", audit_number(call, i->uses) },
        { "max_uses", audit_number(call, i->max_uses) },
        { "max_age", audit_number(call, i->max_age) },
        { "temporary", i->temporary ? STR("true") : STR("false") },
    };

    for (size_t n = 0; n < COUNT_OF(facts); n++) {
        changes[n].key = str_of(facts[n].key);
        if (action == AUDIT_INVITE_DELETE)
            changes[n].old_value = given_str(facts[n].value);
        else
            changes[n].new_value = given_str(facts[n].value);
    }
    return audit_with(call, i->guild_id.value, action, 0, NULL,
                      (struct list){ changes, COUNT_OF(changes) });
}
