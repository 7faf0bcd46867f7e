/* changes.c - routes that create, sync and modify integrations with accounts of other platforms. */
#include "integrations/internal.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "platform/guilds/guilds.h"

enum { MOST_ROLES = 250, LONGEST_ROLE_NAME = 100, GRACE_DAYS = 7, SYNC_SECONDS = 60 };

/* --- POST /guilds/{guild.id}/integrations --------------------------------------------- */

/* Results that earlier stages pass to the handler. */
struct creation {
    enum platform platform;
    struct str secret;
    enum provider_result result;
    bool has_programme;
    struct str name;
};

/* Reads the caller's connection, which must be verified: knowing an account id is not enough. */
static enum err own_connection(struct call *call, const struct creation *c,
                               struct linked_account *ret)
{
    const struct integration_draft *in = call->body;

    if (!platform_is_on(c->platform))
        return ERR_FEATURE_DISABLED;
    enum err e =
        connection_find(call->tx, call->caller->id, platform_name(c->platform), in->id, ret);
    if (!e && !ret->verified)
        e = ERR_UNKNOWN_CONNECTION;
    if (!e && ret->revoked)
        e = ERR_CONNECTION_REVOKED;
    return e;
}

static enum err look_at_connection(struct call *call)
{
    struct creation *c = call_passed(call, "creation");
    struct linked_account connection;
    enum err e = own_connection(call, c, &connection);

    if (!e)
        c->secret = secret_open(call->arena, api_options(call->api)->auth, call->caller->id,
                                connection.secret);
    return e;
}

static void integration_answered(void *arg, const struct provider_answer *a)
{
    struct call *call = arg;
    struct creation *c = call_passed(call, "creation");

    c->result = a->result;
    c->has_programme = a->account.has_programme;
    c->name = str_dup(call->arena, a->account.name);
    call_resume(call, OK);
}

static void ask_account(struct call *call)
{
    const struct integration_draft *in = call->body;
    const struct creation *c = call_passed(call, "creation");

    provider_ask(call->api, call->loop,
                 &(struct provider_question){ .kind = ASK_ACCOUNT,
                                              .platform = c->platform,
                                              .account_id = in->id,
                                              .secret = c->secret,
                                              .done = integration_answered,
                                              .arg = call });
}

enum err prepare_create_integration(struct call *call)
{
    const struct integration_draft *in = call->body;
    struct creation *c = call_pass(call, "creation", sizeof *c);

    /* The body is invalid; its error is reported after the path was resolved. */
    if (!in)
        return OK;
    c->platform = platform_of(in->type);
    call->look = look_at_connection;
    call->await = ask_account;
    return OK;
}

static enum err integration_eligible(const struct creation *c)
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

/* Truncates the account name so that the role name has at most 100 characters. */
static struct str role_name(struct arena *arena, struct str account)
{
    static const char suffix[] = " Subscriber";
    size_t n = 0;
    uint32_t c;

    for (size_t left = LONGEST_ROLE_NAME - (sizeof suffix - 1); left && n < account.n; left--)
        n += utf8_decode(str_from(account, n), &c);
    return STR_CONCAT(arena, str_slice(account.p, n), str_of(suffix));
}

/* Creates the subscriber role. If the guild has the maximum number of roles, the integration has no
 * role. */
static enum err add_role(struct call *call, struct integration_row *i)
{
    struct role_tags tags = { .integration_id = { GIVEN, i->id } };
    struct role role = {
        .id = snowflake_new(),
        .guild_id = i->guild_id,
        .name = role_name(call->arena, i->name),
        .position = 1,
        .managed = true,
        .tags = &tags,
    };
    struct list roles;

    enum err e = guild_roles(call->tx, i->guild_id, &roles);
    if (e || roles.count >= MOST_ROLES)
        return e;
    e = roles_make_room(call->tx, i->guild_id);
    if (!e)
        e = role_insert(call->tx, &role);
    if (!e)
        e = role_find(call->tx, i->guild_id, role.id, &role);
    if (e)
        return e;
    i->role_id = role.id;
    call_emit(call, EVENT_GUILD_ROLE_CREATE, to_guild(i->guild_id), &guild_role_event_schema,
              &(struct guild_role_event){ i->guild_id, &role });
    return OK;
}

static enum err add_integration(struct call *call, const struct creation *c)
{
    const struct integration_draft *in = call->body;
    struct integration_row i = {
        .id = snowflake_new(),
        .guild_id = call->target.guild->id,
        .user_id = call->caller->id,
        .type = platform_name(c->platform),
        .platform = c->platform,
        .name = c->name,
        .account_id = in->id,
        .enabled = true,
        .expire_grace_period = GRACE_DAYS,
        .created_at = clock_us(),
    };
    struct integration shown;
    int64_t count = 0;

    enum err e = integrations_count(call->tx, i.guild_id, &count);
    if (!e && count >= MOST_INTEGRATIONS)
        e = ERR_MAX_INTEGRATIONS;
    if (!e)
        e = add_role(call, &i);
    if (!e)
        e = integration_insert(call->tx, &i);
    if (!e)
        e = integration_show(call->tx, &i, &shown);
    if (!e)
        e = sync_begin(call, i.id);
    if (e)
        return e;
    integration_announce(call, EVENT_INTEGRATION_CREATE, &shown);
    return integration_audit(call, NULL, &i);
}

/* Enables an integration again that was disabled or revoked. */
static enum err integration_revive(struct call *call, const struct creation *c,
                                   struct integration_row *i)
{
    if (i->enabled && !i->revoked_at)
        return OK;
    const struct integration_row before = *i;

    i->enabled = true;
    i->revoked_at = 0;
    i->user_id = call->caller->id;
    i->name = c->name;
    enum err e = integration_change(call, i);
    if (!e)
        e = sync_begin(call, i->id);
    return e ? e : integration_audit(call, &before, i);
}

enum err create_integration(struct call *call)
{
    const struct integration_draft *in = call->body;
    const struct creation *c = call_passed(call, "creation");
    struct linked_account connection;
    struct integration_row i;
    bool found = false;

    enum err e = own_connection(call, c, &connection);
    if (!e)
        e = integration_eligible(c);
    if (!e)
        e = integration_find_account(call->tx, call->target.guild->id, platform_name(c->platform),
                                     in->id, &i, &found);
    if (e)
        return e;
    return found ? integration_revive(call, c, &i) : add_integration(call, c);
}

/* --- POST …/{integration.id}/sync ----------------------------------------------------- */

static enum err platforms_only(struct call *call, const struct integration_row *i)
{
    if (i->platform != PLATFORM_NONE)
        return OK;
    return call_invalid(call, NULL, "INTEGRATION_TYPE_INVALID",
                        "This is only for accounts of other platforms.");
}

enum err sync_integration(struct call *call)
{
    struct integration_row *i = call->target.integration;
    int64_t now = clock_us();

    enum err e = platforms_only(call, i);
    if (e)
        return e;
    if (!i->enabled || !platform_is_on(i->platform))
        return ERR_FEATURE_DISABLED;
    if (i->syncing)
        return OK;
    int64_t wait = i->asked_at ? i->asked_at + SYNC_SECONDS * SECOND - now : 0;
    if (wait > 0)
        return call_wait_shared(call, wait / 1000 + 1);
    i->asked_at = now;
    e = integration_save(call->tx, i);
    if (!e)
        e = sync_begin(call, i->id);
    return e ? e : integration_audit(call, i, i);
}

/* --- PATCH …/{integration.id} --------------------------------------------------------- */

static bool take_int(int64_t *field, const struct opt_int *in)
{
    bool changed = in->given == GIVEN && in->value != *field;

    if (changed)
        *field = in->value;
    return changed;
}

static bool take_bool(bool *field, const struct opt_bool *in)
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
    enum err e = platforms_only(call, i);

    if (e)
        return e;
    const struct integration_row before = *i;
    bool changed = take_int(&i->expire_behavior, &in->expire_behavior);
    changed |= take_int(&i->expire_grace_period, &in->expire_grace_period);
    if (i->platform == PLATFORM_A)
        changed |= take_bool(&i->enable_emoticons, &in->enable_emoticons);
    if (!changed)
        return OK;
    e = integration_change(call, i);
    return e ? e : integration_audit(call, &before, i);
}
