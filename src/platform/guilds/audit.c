/* audit.c - writes the audit log: action, actor, target, changes and reason. */
#include "platform/guilds/internal.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "net/http/server.h"

enum { VERSION_REASON_IN_QUERY = 9 };
enum { LONGEST_REASON = 512, RETENTION_DAYS = 45, LONGEST_VALUE = 1 << 20 };
/* Maximum size in bytes of one value of an audit log entry. Longer values are omitted, because each
 * entry is stored as a row and sent to every moderator. */
enum { MAX_AUDITED_VALUE = 64 * 1024 };

static const struct field options_fields[] = {
    { FIELD(struct audit_log_options, channel_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct audit_log_options, message_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct audit_log_options, count), .type = &type_text, .flags = OPTIONAL,
      .doc = "Number of messages" },
    { FIELD(struct audit_log_options, delete_member_days), .type = &type_text, .flags = OPTIONAL,
      .doc = "Days of inactivity of the pruned members" },
    { FIELD(struct audit_log_options, members_removed), .type = &type_text, .flags = OPTIONAL,
      .doc = "Number of removed members" },
    { FIELD(struct audit_log_options, id), .type = &type_id, .flags = OPTIONAL,
      .doc = "The role or member of an overwrite" },
    { FIELD(struct audit_log_options, type), .type = &type_text, .flags = OPTIONAL,
      .doc = "0: a role, 1: a member" },
    { FIELD(struct audit_log_options, role_name), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct audit_log_options, event_exception_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct audit_log_options, auto_moderation_rule_name), .type = &type_text,
      .flags = OPTIONAL },
    { FIELD(struct audit_log_options, auto_moderation_rule_trigger_type), .type = &type_text,
      .flags = OPTIONAL },
    { FIELD(struct audit_log_options, status), .type = &type_text, .flags = OPTIONAL,
      .doc = "Status of a voice channel" },
    { FIELD(struct audit_log_options, application_id), .type = &type_id, .flags = OPTIONAL,
      .doc = "The application whose commands are meant" },
    { 0 },
};
static const struct schema options_schema = {
    .name = "AuditLogOptions",
    .size = sizeof(struct audit_log_options),
    .fields = options_fields,
    .doc = "Extra fields of some actions.",
};
const struct type type_audit_options = { .kind = KIND_OBJECT, .schema = &options_schema };

static const struct type type_any = { .kind = KIND_RAW, .doc = "Any value" };
static const struct field change_fields[] = {
    { FIELD(struct audit_log_change, key), .type = &type_text },
    { FIELD(struct audit_log_change, old_value), .type = &type_any, .flags = OPTIONAL },
    { FIELD(struct audit_log_change, new_value), .type = &type_any, .flags = OPTIONAL },
    { 0 },
};
static const struct schema change_schema = {
    .name = "AuditLogChange",
    .size = sizeof(struct audit_log_change),
    .fields = change_fields,
    .doc = "A changed field.",
};
static const struct type type_change = { .kind = KIND_OBJECT, .schema = &change_schema };
const struct type type_audit_changes = { .kind = KIND_ARRAY, .of = &type_change };

static const struct field entry_fields[] = {
    { FIELD(struct audit_entry, id), .type = &type_id },
    { FIELD(struct audit_entry, guild_id), .type = &type_id },
    { FIELD(struct audit_entry, user_id), .type = &type_id, .flags = NULLABLE },
    { FIELD(struct audit_entry, target_id), .type = &type_id, .flags = NULLABLE },
    { FIELD(struct audit_entry, action_type), .type = &type_count },
    { FIELD(struct audit_entry, reason), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct audit_entry, options), .type = &type_audit_options, .flags = OPTIONAL },
    { FIELD(struct audit_entry, changes), .type = &type_audit_changes },
    { 0 },
};
const struct schema audit_entry_schema = {
    .name = "AuditLogEntry",
    .size = sizeof(struct audit_entry),
    .fields = entry_fields,
    .doc = "An action in a guild.",
};

/* Percent-decodes the header X-Audit-Log-Reason once. An invalid escape sequence is copied
 * unchanged. */
static struct str decode_audit_reason(struct arena *arena, struct str s)
{
    char *out = arena_alloc(arena, s.n);
    size_t n = 0;

    while (s.n) {
        struct str byte = s;
        bool escape =
            s.p[0] == '%' && s.n >= 3 && str_percent_decode(arena, str_slice(s.p, 3), false, &byte);

        out[n++] = byte.p[0];
        s = str_skip_bytes(s, escape ? 3 : 1);
    }
    return str_slice(out, n);
}

static bool is_valid_reason_text(struct str s)
{
    return utf8_is_valid(s) && !memchr(s.p, 0, s.n);
}

/* Returns a copy with a space for each plus, as in a form. */
static struct str replace_plus_by_space(struct arena *arena, struct str s)
{
    char *out = arena_alloc(arena, s.n);

    for (size_t i = 0; i < s.n; i++)
        out[i] = s.p[i] == '+' ? ' ' : s.p[i];
    return str_slice(out, s.n);
}

/* Finds the percent-encoded value of "reason" in a query string. */
static struct str reason_from_query(struct arena *arena, struct str query)
{
    while (query.n) {
        struct str value = str_cut(&query, '&'), key = str_cut(&value, '=');

        if (str_is(key, "reason"))
            return replace_plus_by_space(arena, value);
    }
    return (struct str){ 0 };
}

enum err audit_log_parse_reason_of_call(struct call *call, struct opt_str *ret)
{
    struct str header = { 0 }, text;

    *ret = (struct opt_str){ .given = ABSENT };
    if (call->exchange)
        header = http_find_header(call->exchange->request, STR("X-Audit-Log-Reason"));
    if (!header.n && call_get_api_version(call) <= VERSION_REASON_IN_QUERY)
        header = reason_from_query(call->arena, call->exchange->request->query);
    if (!header.n)
        return OK;
    text = decode_audit_reason(call->arena, header);
    if (!is_valid_reason_text(text))
        text = header; /* not UTF-8 after decoding, so the header was not percent-encoded */
    if (!is_valid_reason_text(text))
        return call_add_field_error(call, "reason", "STRING_TYPE_CONVERT",
                                    "The reason is not UTF-8 text.");
    if (utf8_length(text) > LONGEST_REASON)
        return call_add_field_error(call, "reason", "BASE_TYPE_MAX_LENGTH",
                                    "Must be 512 or fewer in length.");
    *ret = (struct opt_str){ GIVEN, text };
    return OK;
}

static const char ADD_ENTRY[] =
    "insert into audit_log (id, guild_id, user_id, target_id, action, reason, options, changes) "
    "values ($1, $2, $3, $4, $5, $6, $7, $8)";

/* Each new audit log entry deletes up to two expired entries of the guild, so that no cleanup job
 * is needed. */
static const char DROP_OLD_ENTRIES[] =
    "delete from audit_log where id in (select id from audit_log where guild_id = $1 and id < $2 "
    "order by id limit 2)";

static enum err delete_expired_audit_entries(struct tx *tx, snowflake guild_id)
{
    snowflake oldest = snowflake_from_ms(clock_ms() - RETENTION_DAYS * INT64_C(86400000));

    return tx_exec(tx, DROP_OLD_ENTRIES, BIND(v_id(guild_id), v_id(oldest)), NULL);
}

static enum err insert_audit_entry(struct tx *tx, const struct audit_entry *entry)
{
    struct arena *arena = tx_arena(tx);

    enum err e = tx_exec(
        tx, ADD_ENTRY,
        BIND(v_id(entry->id), v_id(entry->guild_id),
             entry->user_id.value ? v_id(entry->user_id.value) : v_null(),
             entry->target_id.value ? v_id(entry->target_id.value) : v_null(),
             v_int(entry->action_type),
             entry->reason.given == GIVEN ? v_text(entry->reason.value) : v_null(),
             entry->options ? v_text(json_column_encode(arena, &type_audit_options, entry->options))
                            : v_null(),
             v_text(json_column_encode(arena, &type_audit_changes, &entry->changes))),
        NULL);
    return e ? e : delete_expired_audit_entries(tx, entry->guild_id);
}

void audit_log_add_change_to_list(struct call *call, struct list *changes, const char *key,
                                  struct str before, struct str now)
{
    bool same = before.p && now.p ? str_eq(before, now) : !before.p && !now.p;

    if (same)
        return;
    if (before.n > MAX_AUDITED_VALUE)
        before = (struct str){ 0 };
    if (now.n > MAX_AUDITED_VALUE)
        now = (struct str){ 0 };
    struct audit_log_change *c = list_append(call->arena, changes, sizeof *c);
    *c = (struct audit_log_change){ .key = str_of(key) };
    if (before.p)
        c->old_value = opt_str_or_null(before);
    if (now.p)
        c->new_value = opt_str_or_null(now);
}

void audit_log_add_typed_change_to_list(struct call *call, struct list *changes, const char *key,
                                        const struct type *type, const void *before,
                                        const void *now)
{
    struct str none = { 0 };

    audit_log_add_change_to_list(call, changes, key,
                                 before ? json_column_encode(call->arena, type, before) : none,
                                 now ? json_column_encode(call->arena, type, now) : none);
}

static struct str encode_audited_value(struct arena *arena, const struct field *f,
                                       const void *object)
{
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, LONGEST_VALUE);
    if (!object || !schema_encode_field_value(&j, f, object)) {
        buf_clear(&out);
        return (struct str){ 0 };
    }
    return buf_move_to_arena(&out, arena);
}

void audit_log_add_changed_fields_to_list(struct call *call, struct list *changes,
                                          const struct field *fields, const void *before,
                                          const void *now)
{
    for (const struct field *f = fields; f->name.p; f++)
        audit_log_add_change_to_list(call, changes, f->name.p,
                                     encode_audited_value(call->arena, f, before),
                                     encode_audited_value(call->arena, f, now));
}

enum err audit_log_record_object_change(struct call *call, snowflake guild_id,
                                        enum audit_log_action action, snowflake target,
                                        const struct field *fields, const void *before,
                                        const void *now)
{
    struct list changes = { 0 };

    audit_log_add_changed_fields_to_list(call, &changes, fields, before, now);
    return audit_log_record_changes(call, guild_id, action, target, NULL, changes);
}

const struct field audited_guild[] = {
    { FIELD(struct guild, name), .type = &type_text },
    { FIELD(struct guild, description), .type = &type_text },
    { FIELD_AS(struct guild, icon, "icon_hash"), .type = &type_text },
    { FIELD_AS(struct guild, banner, "banner_hash"), .type = &type_text },
    { FIELD_AS(struct guild, splash, "splash_hash"), .type = &type_text },
    { FIELD_AS(struct guild, discovery_splash, "discovery_splash_hash"), .type = &type_text },
    { FIELD_AS(struct guild, home_header, "home_header_hash"), .type = &type_text },
    { FIELD(struct guild, owner_id), .type = &type_id },
    { FIELD(struct guild, preferred_locale), .type = &type_text },
    { FIELD(struct guild, afk_channel_id), .type = &type_id },
    { FIELD(struct guild, afk_timeout), .type = &type_int },
    { FIELD(struct guild, system_channel_id), .type = &type_id },
    { FIELD(struct guild, system_channel_flags), .type = &type_int },
    { FIELD(struct guild, rules_channel_id), .type = &type_id },
    { FIELD(struct guild, public_updates_channel_id), .type = &type_id },
    { FIELD(struct guild, safety_alerts_channel_id), .type = &type_id },
    { FIELD(struct guild, widget_enabled), .type = &type_bool },
    { FIELD(struct guild, widget_channel_id), .type = &type_id },
    { FIELD(struct guild, verification_level), .type = &type_int },
    { FIELD(struct guild, default_message_notifications), .type = &type_int },
    { FIELD(struct guild, explicit_content_filter), .type = &type_int },
    { FIELD(struct guild, mfa_level), .type = &type_int },
    { FIELD(struct guild, nsfw_level), .type = &type_int },
    { FIELD(struct guild, premium_progress_bar_enabled), .type = &type_bool },
    { FIELD(struct guild, features), .type = &type_any },
    { 0 },
};

static const struct field audit_role_fields[] = {
    { FIELD(struct role, name), .type = &type_text },
    { FIELD(struct role, id), .type = &type_id },
    { 0 },
};
static const struct schema audit_role_schema = {
    .name = "AuditLogRole",
    .size = sizeof(struct role),
    .fields = audit_role_fields,
    .doc = "A role that was added to or removed from a member.",
};
static const struct type type_audit_role = { .kind = KIND_OBJECT, .schema = &audit_role_schema };
static const struct type type_audit_roles = { .kind = KIND_ARRAY, .of = &type_audit_role };

/* Adds an audit log change that lists the roles that are in `in` but not in `not_in` (lists of role
 * ids). */
static void add_role_changes(struct call *call, struct list *changes, const char *key,
                             const struct list *roles, const struct list *in,
                             const struct list *not_in)
{
    const struct role *role = roles->items;
    struct list found = { 0 };

    for (size_t i = 0; i < roles->count; i++)
        if (id_list_contains(in, role[i].id) && !id_list_contains(not_in, role[i].id))
            *(struct role *)list_append(call->arena, &found, sizeof *role) = role[i];
    if (found.count)
        audit_log_add_typed_change_to_list(call, changes, key, &type_audit_roles, NULL, &found);
}

enum err audit_log_record_member_roles(struct call *call, snowflake guild_id, snowflake user_id,
                                       const struct list *before, const struct list *now)
{
    struct list roles, changes = { 0 };
    enum err e = guild_roles_list(call->tx, guild_id, &roles);

    if (e)
        return e;
    add_role_changes(call, &changes, "$add", &roles, now, before);
    add_role_changes(call, &changes, "$remove", &roles, before, now);
    return audit_log_record_changes(call, guild_id, AUDIT_MEMBER_ROLE_UPDATE, user_id, NULL,
                                    changes);
}

enum err audit_log_record_changes_with_reason(struct call *call, snowflake guild_id,
                                              enum audit_log_action action, snowflake target,
                                              const struct audit_log_options *options,
                                              struct list changes, struct opt_str reason)
{
    struct audit_entry entry = {
        .id = snowflake_new(),
        .guild_id = guild_id,
        .user_id = opt_id_or_null(call->caller ? call->caller->id : 0),
        .target_id = { target ? GIVEN : GIVEN_NULL, target },
        .action_type = action,
        .options = options,
        .changes = changes,
        .reason = reason,
    };

    enum err e = insert_audit_entry(call->tx, &entry);
    if (e)
        return e;
    call_emit_event(call, EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE,
                    audience_of_members_with_permission(guild_id, 0, PERMISSION(VIEW_AUDIT_LOG)),
                    &audit_entry_schema, &entry);
    return OK;
}

enum err audit_log_record_changes(struct call *call, snowflake guild_id,
                                  enum audit_log_action action, snowflake target,
                                  const struct audit_log_options *options, struct list changes)
{
    struct opt_str reason;
    enum err e = audit_log_parse_reason_of_call(call, &reason);

    return e ? e
             : audit_log_record_changes_with_reason(call, guild_id, action, target, options,
                                                    changes, reason);
}

enum err audit_log_record_action(struct call *call, snowflake guild_id,
                                 enum audit_log_action action, snowflake target)
{
    return audit_log_record_changes(call, guild_id, action, target, NULL, (struct list){ 0 });
}
