/* install.c - installs an app in a guild. An installed app is an integration of type "service". If
 * the scopes contain `bot`, the app's bot is a member of the guild and has a managed role. Only the
 * bot can have this role, which grants the bot's permissions. */
#include "platform/applications/internal.h"

#include "api/hooks.h"
#include "base/clock.h"
#include "model/fields/rows.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"

enum { MOST_INTEGRATIONS = 50, MOST_ROLES = 250 };

bool scope_list_contains(const struct list *scopes, const char *name)
{
    for (size_t i = 0; i < scopes->count; i++)
        if (str_is(((const struct str *)scopes->items)[i], name))
            return true;
    return false;
}

static void append_scope_if_missing(struct arena *arena, struct list *scopes, struct str name)
{
    if (!scope_list_contains(scopes, str_dup_cstring(arena, name)))
        *(struct str *)list_append(arena, scopes, sizeof(struct str)) = name;
}

/* Returns the scopes of both lists without duplicates. If `bot` is among them, adds
 * `applications.commands`. */
static struct list merge_scopes(struct arena *arena, struct list before, struct list more)
{
    struct list all = { 0 };

    for (size_t i = 0; i < before.count; i++)
        append_scope_if_missing(arena, &all, ((const struct str *)before.items)[i]);
    for (size_t i = 0; i < more.count; i++)
        append_scope_if_missing(arena, &all, ((const struct str *)more.items)[i]);
    if (scope_list_contains(&all, "bot"))
        append_scope_if_missing(arena, &all, STR("applications.commands"));
    return all;
}

/* --- row of the app's integration ---------------------------------------------------- */

static const char FIND_INTEGRATION[] = "select id, scopes from integrations where guild_id = $1 "
                                       "and application_id = $2 and type = 'service'";
static const char COUNT_INTEGRATIONS[] =
    "select count(*) from integrations where guild_id = $1 and type <> 'removed'";
static const char ADD_INTEGRATION[] =
    "insert into integrations (id, guild_id, type, name, application_id, scopes, account_id, "
    "role_id, user_id, enabled, created_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
static const char SAVE_INTEGRATION[] =
    "update integrations set name = $2, scopes = $3 where id = $1";

enum err integration_insert_row(struct tx *tx, const struct new_integration *i)
{
    return tx_exec(tx, ADD_INTEGRATION,
                   BIND(v_id(i->id), v_id(i->guild_id), v_text(i->type), v_text(i->name),
                        sql_value_of_id_or_null(i->application_id),
                        v_text(i->scopes.p ? i->scopes : STR("[]")),
                        i->account_id.p ? v_text(i->account_id) : v_null(),
                        sql_value_of_id_or_null(i->role_id), sql_value_of_id_or_null(i->user_id),
                        v_int(!i->disabled), v_int(i->created_at)),
                   NULL);
}

static enum err insert_app_integration(struct tx *tx, const struct app_installation *in,
                                       const struct integration *i)
{
    int64_t n = 0;
    enum err e = tx_read_int(tx, COUNT_INTEGRATIONS, BIND(v_id(in->guild_id)), &n);

    if (e || n >= MOST_INTEGRATIONS)
        return e ? e : ERR_MAX_INTEGRATIONS;
    return integration_insert_row(
        tx, &(struct new_integration){
                .id = i->id,
                .guild_id = i->guild_id,
                .application_id = in->application->id,
                .user_id = in->user_id,
                .type = STR("service"),
                .name = i->name,
                .scopes = json_column_encode(tx_arena(tx), &type_texts, &i->scopes.value),
                .created_at = clock_us() });
}

struct integration integration_from_application(struct arena *arena, const struct application *a,
                                                snowflake guild_id, snowflake id)
{
    struct integration_account *account = arena_alloc(arena, sizeof *account);

    account->id = str_printf(arena, "%llu", (unsigned long long)a->id);
    account->name = a->name;
    return (struct integration){
        .id = id,
        .guild_id = guild_id,
        .name = a->name,
        .type = STR("service"),
        .enabled = true,
        .account = account,
        .application = a,
    };
}

/* True if the scopes permit commands, as the SQL condition INTEGRATION_HAS_COMMANDS. */
static bool has_commands_scope(const struct list *scopes)
{
    return scope_list_contains(scopes, "applications.commands");
}

static enum err insert_or_update_integration(struct tx *tx, const struct app_installation *in,
                                             struct app_installation_result *ret)
{
    struct arena *arena = tx_arena(tx);
    const struct application *a = in->application;
    struct integration *i = &ret->integration;
    struct list before = { 0 };
    struct rows row;
    bool found;

    enum err e = tx_one(tx, FIND_INTEGRATION, BIND(v_id(in->guild_id), v_id(a->id)), &row, &found);
    if (e)
        return e;
    if (found)
        before = json_column_decode_list(arena, &type_texts, row_text(&row, 1));
    *i = integration_from_application(arena, a, in->guild_id,
                                      found ? row_id(&row, 0) : snowflake_new());
    i->scopes = (struct opt_list){ GIVEN, merge_scopes(arena, before, in->scopes) };
    ret->new_integration = !found;
    ret->new_commands = has_commands_scope(&i->scopes.value) && !has_commands_scope(&before);
    if (!found)
        return insert_app_integration(tx, in, i);
    return tx_exec(tx, SAVE_INTEGRATION,
                   BIND(v_id(i->id), v_text(i->name),
                        v_text(json_column_encode(arena, &type_texts, &i->scopes.value))),
                   NULL);
}

/* --- managed role of an app's bot ---------------------------------------------------- */

static const char FIND_BOT_ROLE[] =
    "select id from roles where guild_id = $1 and bot_id = $2 and managed = 1";
static const char COUNT_ROLES[] =
    "select count(*) from roles where guild_id = $1 and position >= 0";

/* If the app is installed again, the installing user may change the bot's role only as any other
 * role: the role must be below the user's highest role, and only permissions that the user has can
 * change. */
static uint64_t compute_bot_role_permissions(const struct app_installation *in,
                                             const struct role *role)
{
    const struct member_access *s = in->installer;

    if (!s)
        return in->permissions;
    return member_outranks_role(s, role) ? in->permissions | (role->permissions & ~s->permissions)
                                         : role->permissions;
}

static enum err update_bot_role(struct tx *tx, const struct app_installation *in, snowflake id,
                                struct app_installation_result *ret)
{
    enum err e = role_find(tx, in->guild_id, id, &ret->role);
    uint64_t after = e ? 0 : compute_bot_role_permissions(in, &ret->role);

    ret->changed_role = !e && ret->role.permissions != after;
    if (!ret->changed_role)
        return e;
    ret->role.permissions = after;
    return role_update(tx, &ret->role);
}

static enum err insert_bot_role(struct tx *tx, const struct app_installation *in,
                                struct app_installation_result *ret)
{
    struct role_tags *tags = arena_alloc(tx_arena(tx), sizeof *tags);
    int64_t n = 0;
    enum err e = tx_read_int(tx, COUNT_ROLES, BIND(v_id(in->guild_id)), &n);

    /* If the guild already has the maximum number of roles, the bot gets no role. */
    if (e || n >= MOST_ROLES)
        return e;
    *tags =
        (struct role_tags){ { GIVEN, in->application->bot_id }, { GIVEN, ret->integration.id } };
    struct role role = {
        .id = snowflake_new(),
        .guild_id = in->guild_id,
        .name = in->application->name,
        .permissions = in->permissions,
        .position = 1,
        .managed = true,
        .tags = tags,
    };
    e = roles_shift_up_by_one_position(tx, in->guild_id);
    if (!e)
        e = role_insert(tx, &role);
    ret->new_role = !e;
    return e ? e : role_find(tx, in->guild_id, role.id, &ret->role);
}

static enum err insert_or_update_bot_role(struct tx *tx, const struct app_installation *in,
                                          struct app_installation_result *ret)
{
    snowflake role;
    enum err e = tx_read_id(tx, FIND_BOT_ROLE,
                            BIND(v_id(in->guild_id), v_id(in->application->bot_id)), &role);

    if (e)
        return e;
    if (role)
        return update_bot_role(tx, in, role, ret);
    return in->permissions ? insert_bot_role(tx, in, ret) : OK;
}

/* Writes the rows of the integration and of the bot's role. The caller adds the bot as a member and
 * emits the events. */
static enum err application_write_install_rows(struct tx *tx, const struct app_installation *in,
                                               struct app_installation_result *ret)
{
    bool with_bot = scope_list_contains(&in->scopes, "bot");

    *ret = (struct app_installation_result){ 0 };
    if (with_bot && !in->application->bot_id)
        return ERR_NO_BOT;
    enum err e = insert_or_update_integration(tx, in, ret);
    return e || !with_bot ? e : insert_or_update_bot_role(tx, in, ret);
}

/* --- emitting events ----------------------------------------------------------------- */

static enum err add_bot_member(struct call *call, const struct app_installation *in,
                               const struct app_installation_result *done)
{
    snowflake *role = arena_alloc(call->arena, sizeof *role);
    struct member_to_add_to_guild newcomer = { .guild_id = in->guild_id,
                                               .user_id = in->application->bot_id };
    struct member member;
    bool new_member;

    *role = done->role.id;
    if (done->role.id)
        newcomer.roles = (struct list){ role, 1 };
    enum err e = member_add_to_guild(call, &newcomer, &member, &new_member);
    if (e)
        return e;
    if (new_member)
        return audit_log_record_action(call, in->guild_id, AUDIT_BOT_ADD, in->application->bot_id);
    if (!done->new_role)
        return OK;
    struct list roles = { 0 };
    for (size_t i = 0; i < member.roles.count; i++)
        *(snowflake *)list_append(call->arena, &roles, sizeof *role) =
            ((const snowflake *)member.roles.items)[i];
    *(snowflake *)list_append(call->arena, &roles, sizeof *role) = *role;
    member.roles = roles;
    return member_update_and_emit(call, &member);
}

static void emit_bot_role_event(struct call *call, const struct app_installation_result *done)
{
    struct guild_role_event event = { done->integration.guild_id, &done->role };

    if (done->new_role)
        call_emit_event(call, EVENT_GUILD_ROLE_CREATE, audience_of_guild(event.guild_id),
                        &guild_role_event_schema, &event);
    else if (done->changed_role)
        call_emit_event(call, EVENT_GUILD_ROLE_UPDATE, audience_of_guild(event.guild_id),
                        &guild_role_event_schema, &event);
}

void integration_emit_change(struct call *call, enum event event, const struct integration *i)
{
    struct guild_integrations_event guild = { i->guild_id };
    struct audience managers =
        audience_of_members_with_permission(i->guild_id, 0, PERMISSION(MANAGE_GUILD));
    struct integration shown = *i;

    integration_set_displayed_type(&shown);
    call_emit_event(call, EVENT_GUILD_INTEGRATIONS_UPDATE, managers,
                    &guild_integrations_event_schema, &guild);
    call_emit_event(call, event, managers, &integration_event_schema, &shown);
}

static void emit_install_events(struct call *call, const struct app_installation_result *done)
{
    struct guild_integrations_event guild = { done->integration.guild_id };

    integration_emit_change(
        call, done->new_integration ? EVENT_INTEGRATION_CREATE : EVENT_INTEGRATION_UPDATE,
        &done->integration);
    call_emit_event(call, EVENT_GUILD_APPLICATION_COMMAND_INDEX_UPDATE,
                    audience_of_guild(guild.guild_id), &guild_integrations_event_schema, &guild);
}

static const struct field audited_app[] = {
    { FIELD_AS(struct integration, displayed_type, "type"), .type = &type_text },
    { FIELD(struct integration, name), .type = &type_text },
    { 0 },
};

enum err application_install_in_guild(struct call *call, const struct app_installation *in)
{
    struct app_installation_result done;
    enum err e = application_write_install_rows(call->tx, in, &done);

    if (e)
        return e;
    emit_bot_role_event(call, &done); /* emitted before the event of the member who gets the role */
    if (scope_list_contains(&in->scopes, "bot"))
        e = add_bot_member(call, in, &done);
    if (e)
        return e;
    emit_install_events(call, &done);
    e = hook_command_index_changed(call, in->guild_id);
    if (!e && done.new_commands)
        e = hook_guild_app_changing(
            call, &(struct guild_app_installation){ in->guild_id, in->application->id });
    if (e)
        return e;
    return audit_log_record_object_change(
        call, in->guild_id,
        done.new_integration ? AUDIT_INTEGRATION_CREATE : AUDIT_INTEGRATION_UPDATE,
        done.integration.id, audited_app, done.new_integration ? NULL : &done.integration,
        &done.integration);
}
