/* mfa.c - POST /guilds/{guild.id}/mfa: sets whether moderators need a second factor. */
#include "platform/guilds/internal.h"

#include "api/hooks.h"

enum { MFA_LEVEL_NONE, MFA_LEVEL_ELEVATED };

struct mfa_level_change {
    int64_t level;
};

static const struct type type_level = { .kind = KIND_INT,
                                        .min = INT32_MIN,
                                        .max = INT32_MAX,
                                        .doc = "0: not required; 1: moderators need a second "
                                               "factor" };
static const struct field level_fields[] = {
    { FIELD(struct mfa_level_change, level), .type = &type_level },
    { 0 },
};
static const struct schema level_schema = {
    .name = "GuildMfaLevel",
    .size = sizeof(struct mfa_level_change),
    .fields = level_fields,
    .doc = "Whether moderators need a second factor.",
};
static const struct type type_level_change = { .kind = KIND_OBJECT, .schema = &level_schema };

/* Only an owner who has a second factor may change the guild's MFA level. An owner without one
 * could not change it back. */
static enum err require_owner_with_mfa(struct call *call)
{
    struct user owner;

    if (!call->target.member_access->input.owner)
        return call_get_not_guild_owner_error(call);
    enum err e = user_find(call->tx, call->caller->id, &owner);
    return e ? e : owner.mfa_enabled ? OK : ERR_GUILD_MFA_REQUIRED;
}

static enum err set_guild_mfa_level(struct call *call)
{
    const struct mfa_level_change *in = call->body;
    struct guild g = *call->target.guild;
    struct list changes = { 0 };

    if (in->level != MFA_LEVEL_NONE && in->level != MFA_LEVEL_ELEVATED)
        return ERR_MFA_LEVEL;
    audit_log_add_typed_change_to_list(call, &changes, "mfa_level", &type_count, &g.mfa_level,
                                       &in->level);
    g.mfa_level = in->level;
    enum err e = guild_update(call->tx, &g);
    if (!e && changes.count)
        e = audit_log_record_changes(call, g.id, AUDIT_GUILD_UPDATE, g.id, NULL, changes);
    if (!e)
        e = guild_read_roles_emojis_and_other_lists(call, &g);
    if (e)
        return e;
    if (changes.count)
        call_emit_event(call, EVENT_GUILD_UPDATE, audience_of_guild(g.id), &guild_schema, &g);
    return call_reply_with_object(call, in);
}

static const struct route routes[] = {
    {
        .method = POST,
        .path = "/guilds/{guild.id}/mfa",
        .name = "set_guild_mfa_level",
        .doc = "Set whether moderators need a second factor. Only for an owner who has one.",
        .auth = AUTH_USER,
        .body = &type_level_change,
        .reply = &type_level_change,
        .fires = (const enum event[]){ EVENT_GUILD_UPDATE, EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE,
                                       EVENT_NONE },
        .admit = require_owner_with_mfa,
        .handle = set_guild_mfa_level,
    },
    { 0 },
};

const struct domain guild_mfa_domain = {
    .name = "Guilds: second factor",
    .doc = "Second factor for the moderators of a guild.",
    .routes = routes,
};
