/* platform_integrations.c - routes that create, sync and modify integrations with accounts of other
 * platforms. */
#include "integrations/internal.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "platform/guilds/guilds.h"

enum { MOST_ROLES = 250, LONGEST_ROLE_NAME = 100, GRACE_DAYS = 7, SYNC_SECONDS = 60 };

/* --- POST /guilds/{guild.id}/integrations --------------------------------------------- */

/* Results of the checks of a request to create an integration, for its handler. */
struct integration_creation {
    enum platform platform;
    struct str secret;
    enum platform_provider_result result;
    bool has_programme;
    struct str name;
};

/* Reads the caller's connection. It must be verified, because anyone can know the id of an
 * account. */
static enum err read_linked_account_of_caller(struct call *call,
                                              const struct integration_creation *c,
                                              struct linked_platform_account *ret)
{
    const struct integration_create_request *in = call->body;

    if (!platform_is_enabled(c->platform))
        return ERR_FEATURE_DISABLED;
    enum err e = read_linked_account(call->tx, call->caller->id,
                                     platform_get_database_name(c->platform), in->id, ret);
    if (!e && !ret->verified)
        e = ERR_UNKNOWN_CONNECTION;
    if (!e && ret->revoked)
        e = ERR_CONNECTION_REVOKED;
    return e;
}

static enum err read_linked_account_secret(struct call *call)
{
    struct integration_creation *c = call_get_stage_data(call, "integration_creation");
    struct linked_platform_account connection;
    enum err e = read_linked_account_of_caller(call, c, &connection);

    if (!e)
        c->secret = decrypt_linked_account_secret(call->arena, api_get_options(call->api)->auth,
                                                  call->caller->id, connection.secret);
    return e;
}

static void on_account_read_from_provider(void *arg, const struct platform_provider_response *a)
{
    struct call *call = arg;
    struct integration_creation *c = call_get_stage_data(call, "integration_creation");

    c->result = a->result;
    c->has_programme = a->account.has_programme;
    c->name = str_dup(call->arena, a->account.name);
    call_resume_after_await(call, OK);
}

static void request_provider_account(struct call *call)
{
    const struct integration_create_request *in = call->body;
    const struct integration_creation *c = call_get_stage_data(call, "integration_creation");

    platform_provider_send_request(
        call->api, call->loop,
        &(struct platform_provider_request){ .kind = ASK_ACCOUNT,
                                             .platform = c->platform,
                                             .account_id = in->id,
                                             .secret = c->secret,
                                             .done = on_account_read_from_provider,
                                             .arg = call });
}

enum err prepare_create_integration(struct call *call)
{
    const struct integration_create_request *in = call->body;
    struct integration_creation *c = call_store_stage_data(call, "integration_creation", sizeof *c);

    /* If the body is invalid, its errors are returned after the path was resolved. */
    if (!in)
        return OK;
    c->platform = platform_find_by_name(in->type);
    call->read = read_linked_account_secret;
    call->await = request_provider_account;
    return OK;
}

static enum err check_account_has_programme(const struct integration_creation *c)
{
    switch (c->result) {
    case PROVIDER_OK:
        return c->has_programme ? OK : ERR_INVALID_CONNECTION;
    case PROVIDER_UNAUTHORISED:
        return ERR_CONNECTION_REVOKED;
    case PROVIDER_NOT_FOUND:
        return ERR_INVALID_CONNECTION;
    default:
        return ERR_UNAVAILABLE;
    }
}

/* Returns the name of the subscriber role. Truncates the account name, so that the role name has at
 * most 100 characters. */
static struct str subscriber_role_name(struct arena *arena, struct str account)
{
    static const char suffix[] = " Subscriber";
    size_t n = 0;
    uint32_t c;

    for (size_t left = LONGEST_ROLE_NAME - (sizeof suffix - 1); left && n < account.n; left--)
        n += utf8_decode(str_skip_bytes(account, n), &c);
    return STR_CONCAT(arena, str_slice(account.p, n), str_of(suffix));
}

/* Creates the subscriber role. If the guild already has the maximum number of roles, the
 * integration gets no role. */
static enum err create_subscriber_role(struct call *call, struct integration_row *i)
{
    struct role_tags tags = { .integration_id = { GIVEN, i->id } };
    struct role role = {
        .id = snowflake_new(),
        .guild_id = i->guild_id,
        .name = subscriber_role_name(call->arena, i->name),
        .position = 1,
        .managed = true,
        .tags = &tags,
    };
    struct list roles;

    enum err e = guild_roles_list(call->tx, i->guild_id, &roles);
    if (e || roles.count >= MOST_ROLES)
        return e;
    e = roles_shift_up_by_one_position(call->tx, i->guild_id);
    if (!e)
        e = role_insert(call->tx, &role);
    if (!e)
        e = role_find(call->tx, i->guild_id, role.id, &role);
    if (e)
        return e;
    i->role_id = role.id;
    call_emit_event(call, EVENT_GUILD_ROLE_CREATE, audience_of_guild(i->guild_id),
                    &guild_role_event_schema, &(struct guild_role_event){ i->guild_id, &role });
    return OK;
}

static enum err create_platform_integration(struct call *call, const struct integration_creation *c)
{
    const struct integration_create_request *in = call->body;
    struct integration_row i = {
        .id = snowflake_new(),
        .guild_id = call->target.guild->id,
        .user_id = call->caller->id,
        .type = platform_get_database_name(c->platform),
        .platform = c->platform,
        .name = c->name,
        .account_id = in->id,
        .enabled = true,
        .expire_grace_period = GRACE_DAYS,
        .created_at = clock_us(),
    };
    struct integration object;
    int64_t count = 0;

    enum err e = read_integration_count(call->tx, i.guild_id, &count);
    if (!e && count >= MOST_INTEGRATIONS)
        e = ERR_MAX_INTEGRATIONS;
    if (!e)
        e = create_subscriber_role(call, &i);
    if (!e)
        e = insert_integration(call->tx, &i);
    if (!e)
        e = read_application_and_build_integration(call->tx, &i, &object);
    if (!e)
        e = schedule_integration_sync(call, i.id);
    if (e)
        return e;
    integration_emit_change(call, EVENT_INTEGRATION_CREATE, &object);
    return record_integration_audit_entry(call, NULL, &i);
}

/* Enables an integration that was disabled or revoked. */
static enum err reenable_integration(struct call *call, const struct integration_creation *c,
                                     struct integration_row *i)
{
    if (i->enabled && !i->revoked_at)
        return OK;
    const struct integration_row before = *i;

    i->enabled = true;
    i->revoked_at = 0;
    i->user_id = call->caller->id;
    i->name = c->name;
    enum err e = update_integration_and_emit(call, i);
    if (!e)
        e = schedule_integration_sync(call, i->id);
    return e ? e : record_integration_audit_entry(call, &before, i);
}

enum err create_integration(struct call *call)
{
    const struct integration_create_request *in = call->body;
    const struct integration_creation *c = call_get_stage_data(call, "integration_creation");
    struct linked_platform_account connection;
    struct integration_row i;
    bool found = false;

    enum err e = read_linked_account_of_caller(call, c, &connection);
    if (!e)
        e = check_account_has_programme(c);
    if (!e)
        e = read_integration_of_account(call->tx, call->target.guild->id,
                                        platform_get_database_name(c->platform), in->id, &i,
                                        &found);
    if (e)
        return e;
    return found ? reenable_integration(call, c, &i) : create_platform_integration(call, c);
}

/* --- POST …/{integration.id}/sync ----------------------------------------------------- */

static enum err require_platform_integration(struct call *call, const struct integration_row *i)
{
    if (i->platform != PLATFORM_NONE)
        return OK;
    return call_add_field_error(call, NULL, "INTEGRATION_TYPE_INVALID",
                                "This is only for accounts of other platforms.");
}

enum err sync_integration(struct call *call)
{
    struct integration_row *i = call->target.integration;
    int64_t now = clock_us();

    enum err e = require_platform_integration(call, i);
    if (e)
        return e;
    if (!i->enabled || !platform_is_enabled(i->platform))
        return ERR_FEATURE_DISABLED;
    if (i->syncing)
        return OK;
    int64_t wait = i->asked_at ? i->asked_at + SYNC_SECONDS * SECOND - now : 0;
    if (wait > 0)
        return call_refuse_as_shared_rate_limited(call, wait / 1000 + 1);
    i->asked_at = now;
    e = update_integration_row(call->tx, i);
    if (!e)
        e = schedule_integration_sync(call, i->id);
    return e ? e : record_integration_audit_entry(call, i, i);
}

/* --- PATCH …/{integration.id} --------------------------------------------------------- */

static bool update_int_if_given(int64_t *field, const struct opt_int *in)
{
    bool changed = in->given == GIVEN && in->value != *field;

    if (changed)
        *field = in->value;
    return changed;
}

static bool update_bool_if_given(bool *field, const struct opt_bool *in)
{
    bool changed = in->given == GIVEN && in->value != *field;

    if (changed)
        *field = in->value;
    return changed;
}

enum err modify_integration(struct call *call)
{
    const struct integration_patch *in = call->body;
    struct integration_row *i = call->target.integration;
    enum err e = require_platform_integration(call, i);

    if (e)
        return e;
    const struct integration_row before = *i;
    bool changed = update_int_if_given(&i->expire_behavior, &in->expire_behavior);
    changed |= update_int_if_given(&i->expire_grace_period, &in->expire_grace_period);
    if (i->platform == PLATFORM_A)
        changed |= update_bool_if_given(&i->enable_emoticons, &in->enable_emoticons);
    if (!changed)
        return OK;
    e = update_integration_and_emit(call, i);
    return e ? e : record_integration_audit_entry(call, &before, i);
}
