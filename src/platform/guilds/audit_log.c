/* audit_log.c - GET /guilds/{guild.id}/audit-logs. */
#include "platform/guilds/internal.h"

#include "api/hooks.h"
#include "model/fields/ids.h"
#include "model/fields/rows.h"

struct audit_log_query {
    struct opt_id user_id, target_id, before, after;
    struct opt_int action_type;
    int64_t limit;
};

static const struct type type_limit = { .kind = KIND_INT, .min = 1, .max = 100 };
static const struct field query_fields[] = {
    { FIELD(struct audit_log_query, user_id), .type = &type_id, .flags = OPTIONAL,
      .doc = "Only actions of this account" },
    { FIELD(struct audit_log_query, target_id), .type = &type_id, .flags = OPTIONAL,
      .doc = "Only actions on this target" },
    { FIELD(struct audit_log_query, action_type), .type = &type_count, .flags = OPTIONAL },
    { FIELD(struct audit_log_query, before), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct audit_log_query, after), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct audit_log_query, limit), .type = &type_limit, .flags = OPTIONAL,
      .fallback = 50 },
    { 0 },
};
const struct schema audit_log_query_schema = {
    .name = "AuditLogQuery",
    .size = sizeof(struct audit_log_query),
    .fields = query_fields,
    .doc = "Selects audit log entries.",
};

struct audit_log {
    struct list audit_log_entries;    /* struct audit_entry */
    struct list users;                /* struct user: actors and targets */
    struct list application_commands; /* struct str: JSON of commands */
    /* Lists of struct str: JSON of the objects to which entries refer. Other folders of platform/
     * add them through a hook. */
    struct list webhooks, integrations, threads, auto_moderation_rules, guild_scheduled_events;
};

static const struct type type_entry = { .kind = KIND_OBJECT, .schema = &audit_entry_schema };
static const struct type type_entries = { .kind = KIND_ARRAY, .of = &type_entry };
static const struct type type_users = { .kind = KIND_ARRAY, .of = &type_partial_user };
static const struct type type_finished = { .kind = KIND_ARRAY,
                                           .of = &type_raw,
                                           .doc = "Objects that entries refer to and that still "
                                                  "exist" };
static const struct field log_fields[] = {
    { FIELD(struct audit_log, audit_log_entries), .type = &type_entries },
    { FIELD(struct audit_log, users), .type = &type_users },
    { FIELD(struct audit_log, webhooks), .type = &type_finished },
    { FIELD(struct audit_log, integrations), .type = &type_finished },
    { FIELD(struct audit_log, threads), .type = &type_finished },
    { FIELD(struct audit_log, application_commands), .type = &type_finished },
    { FIELD(struct audit_log, auto_moderation_rules), .type = &type_finished },
    { FIELD(struct audit_log, guild_scheduled_events), .type = &type_finished },
    { 0 },
};
static const struct schema log_schema = {
    .name = "AuditLog",
    .size = sizeof(struct audit_log),
    .fields = log_fields,
    .doc = "The audit log of a guild.",
};
const struct type audit_log_reply = { .kind = KIND_OBJECT, .schema = &log_schema };

/* Selects audit log entries of a guild. A filter that is 0 matches every entry: $4 user, $5 action,
 * $6 target. */
#define ENTRIES                                                                                 \
    "select id, guild_id, user_id, target_id, action, reason, options, changes from audit_log " \
    "where guild_id = $1 and id > $2 and id < $3 "                                              \
    "and (cast($4 as bigint) = 0 or user_id = $4) and (cast($5 as bigint) = 0 or action = $5) " \
    "and (cast($6 as bigint) = 0 or target_id = $6) "

static const char LATEST_ENTRIES[] = ENTRIES "order by id desc limit $7";
static const char ENTRIES_AFTER[] = ENTRIES "order by id limit $7";

static void audit_entry_from_row(const struct rows *r, void *ret)
{
    struct audit_entry *e = ret;

    *e = (struct audit_entry){
        .id = row_id(r, 0),
        .guild_id = row_id(r, 1),
        .user_id = row_optional_id(r, 2),
        .target_id = row_optional_id(r, 3),
        .action_type = row_int(r, 4),
        .reason = row_optional_text(r, 5),
        .changes = json_column_decode_list(tx_arena(r->tx), &type_audit_changes, row_text(r, 7)),
    };
    if (!row_column_is_null(r, 6))
        e->options = json_column_decode(tx_arena(r->tx), &type_audit_options, row_text(r, 6));
    if (e->reason.given != GIVEN)
        e->reason.given = ABSENT;
}

static enum err find_audit_entries(struct call *call, struct list *ret)
{
    const struct audit_log_query *in = call->query;
    bool forward = in->after.given == GIVEN && in->before.given != GIVEN;
    snowflake after = forward ? in->after.value : 0;
    snowflake before = in->before.given == GIVEN ? in->before.value : INT64_MAX;

    return tx_read_list(call->tx, forward ? SQL(ENTRIES_AFTER) : SQL(LATEST_ENTRIES),
                        BIND(v_id(call->target.guild->id), v_id(after), v_id(before),
                             v_id(in->user_id.value), v_int(in->action_type.value),
                             v_id(in->target_id.value), v_int(in->limit)),
                        sizeof(struct audit_entry), audit_entry_from_row, ret);
}

/* Adds the account with this id to the list, if it exists and is not in the list yet. */
static enum err add_referenced_user_once(struct call *call, struct list *users, struct opt_id id)
{
    const struct user *all = users->items;
    struct user user;

    if (id.given != GIVEN)
        return OK;
    for (size_t i = 0; i < users->count; i++)
        if (all[i].id == id.value)
            return OK;
    enum err e = user_find(call->tx, id.value, &user);
    if (!e)
        *(struct user *)list_append(call->arena, users, sizeof user) = user;
    return e == ERR_UNKNOWN_USER ? OK : e;
}

static bool action_targets_account(int64_t action)
{
    return (action >= AUDIT_MEMBER_KICK && action <= AUDIT_BOT_ADD) ||
           action == AUDIT_MESSAGE_DELETE || action == AUDIT_MESSAGE_PIN ||
           action == AUDIT_MESSAGE_UNPIN ||
           (action >= AUDIT_AUTOMOD_BLOCK && action <= AUDIT_AUTOMOD_QUARANTINE);
}

static const char LISTED_COMMAND[] = "select plain from commands where id = $1";

/* Adds the command with this id to the list of JSON texts, if it exists and is not there yet. */
static enum err add_command_json_once(struct tx *tx, snowflake id, struct list *texts)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, LISTED_COMMAND, BIND(v_id(id)), &row, &found);

    if (e || !found)
        return e;
    struct str text = row_text(&row, 0);
    for (size_t i = 0; i < texts->count; i++)
        if (str_eq(((const struct str *)texts->items)[i], text))
            return OK;
    *(struct str *)list_append(tx_arena(tx), texts, sizeof text) = text;
    return OK;
}

struct list audit_log_list_target_ids_of_actions(struct arena *arena,
                                                 const struct audit_log_objects *log,
                                                 enum audit_log_action first,
                                                 enum audit_log_action last)
{
    const struct audit_entry *e = log->entries->items;
    struct list out = { 0 };

    for (size_t i = 0; i < log->entries->count; i++)
        if (e[i].action_type >= (int64_t)first && e[i].action_type <= (int64_t)last &&
            e[i].target_id.given == GIVEN && !id_list_contains(&out, e[i].target_id.value))
            id_list_add(arena, &out, e[i].target_id.value);
    return out;
}

void audit_log_append_object(struct arena *arena, struct list *texts, const struct type *type,
                             const void *object)
{
    *(struct str *)list_append(arena, texts, sizeof(struct str)) =
        json_column_encode(arena, type, object);
}

static enum err add_referenced_objects(struct call *call, struct audit_log *log)
{
    struct audit_log_objects shown = { .guild_id = call->target.guild->id,
                                       .entries = &log->audit_log_entries };
    enum err e = hook_audit_log_fill(call, &shown);

    log->webhooks = shown.webhooks;
    log->integrations = shown.integrations;
    log->threads = shown.threads;
    log->auto_moderation_rules = shown.auto_moderation_rules;
    log->guild_scheduled_events = shown.guild_scheduled_events;
    return e;
}

enum err get_guild_audit_log(struct call *call)
{
    struct audit_log log = { 0 };
    enum err e = find_audit_entries(call, &log.audit_log_entries);
    const struct audit_entry *entries = log.audit_log_entries.items;

    for (size_t i = 0; !e && i < log.audit_log_entries.count; i++) {
        e = add_referenced_user_once(call, &log.users, entries[i].user_id);
        if (!e && action_targets_account(entries[i].action_type))
            e = add_referenced_user_once(call, &log.users, entries[i].target_id);
        if (!e && entries[i].action_type == AUDIT_COMMAND_PERMISSIONS)
            e = add_command_json_once(call->tx, entries[i].target_id.value,
                                      &log.application_commands);
    }
    if (!e)
        e = add_referenced_objects(call, &log);
    return e ? e : call_reply_with_object(call, &log);
}
