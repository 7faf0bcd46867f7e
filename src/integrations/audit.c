/* audit.c - audit log entries about integrations, and the integration objects that an audit log
 * reply contains. */
#include "integrations/internal.h"
#include "platform/guilds/guilds.h"

struct logged_integration {
    snowflake id;
    struct str name, type;
    const struct integration_account *account;
    struct opt_id application_id; /* set for apps only */
};

static const struct field logged_fields[] = {
    { FIELD(struct logged_integration, id), .type = &type_id },
    { FIELD(struct logged_integration, name), .type = &type_text },
    { FIELD(struct logged_integration, type), .type = &type_text },
    { FIELD(struct logged_integration, account), .type = &type_integration_account },
    { FIELD(struct logged_integration, application_id), .type = &type_id, .flags = OPTIONAL },
    { 0 },
};
static const struct schema logged_schema = {
    .name = "LoggedIntegration",
    .size = sizeof(struct logged_integration),
    .fields = logged_fields,
    .doc = "An integration that the audit log refers to.",
};
static const struct type type_logged = { .kind = KIND_OBJECT, .schema = &logged_schema };

static enum err add_integration_to_audit_log(struct call *call, struct audit_log_objects *log,
                                             snowflake id)
{
    struct integration_row row;
    struct integration object;
    enum err e = read_integration(call->tx, id, &row);

    if (!e)
        e = read_application_and_build_integration(call->tx, &row, &object);
    if (e)
        return e == ERR_UNKNOWN_INTEGRATION ? OK : e;
    struct logged_integration out = {
        object.id, object.name, object.displayed_type, object.account, { 0 }
    };
    if (row.application_id)
        out.application_id = opt_id_or_null(row.application_id);
    audit_log_append_object(call->arena, &log->integrations, &type_logged, &out);
    return OK;
}

static const struct field audited_integration[] = {
    { FIELD(struct integration_row, type), .type = &type_text },
    { FIELD(struct integration_row, name), .type = &type_text },
    { FIELD(struct integration_row, enabled), .type = &type_bool },
    { FIELD(struct integration_row, enable_emoticons), .type = &type_bool },
    { FIELD(struct integration_row, expire_behavior), .type = &type_int },
    { FIELD(struct integration_row, expire_grace_period), .type = &type_int },
    { 0 },
};

enum err record_integration_audit_entry(struct call *call, const struct integration_row *before,
                                        const struct integration_row *now)
{
    const struct integration_row *any = now ? now : before;
    enum audit_log_action action = !before ? AUDIT_INTEGRATION_CREATE
                                   : now   ? AUDIT_INTEGRATION_UPDATE
                                           : AUDIT_INTEGRATION_DELETE;

    return audit_log_record_object_change(call, any->guild_id, action, any->id, audited_integration,
                                          before, now);
}

enum err audit_log_reply_add_integrations(struct call *call, struct audit_log_objects *log)
{
    struct list ids = audit_log_list_target_ids_of_actions(
        call->arena, log, AUDIT_INTEGRATION_CREATE, AUDIT_INTEGRATION_DELETE);
    const snowflake *id = ids.items;
    enum err e = OK;

    for (size_t i = 0; !e && i < ids.count; i++)
        e = add_integration_to_audit_log(call, log, id[i]);
    return e;
}
