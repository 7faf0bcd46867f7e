/* routes.c - routes of the public list of guilds, and joining a guild of the list. */
#include "api/deletion.h"
#include "api/hooks.h"
#include "platform/discovery/internal.h"
#include "platform/members/members.h"

struct join_query {
    struct opt_bool lurker;
    struct opt_str session_id, location, recommendation_load_id;
};
static const struct field join_query_fields[] = {
    { FIELD(struct join_query, lurker), .type = &type_bool, .flags = OPTIONAL,
      .doc = "Only false: people join as members" },
    { FIELD(struct join_query, session_id), .type = &type_text, .flags = OPTIONAL,
      .doc = "Ignored" },
    { FIELD(struct join_query, location), .type = &type_text, .flags = OPTIONAL, .doc = "Ignored" },
    { FIELD(struct join_query, recommendation_load_id), .type = &type_text, .flags = OPTIONAL,
      .doc = "Ignored" },
    { 0 },
};
static const struct schema join_query_schema = {
    .name = "JoinGuildQuery",
    .size = sizeof(struct join_query),
    .fields = join_query_fields,
    .doc = "How to join.",
};

/* Adds the caller to the guild. The rules are the same as for an invite: bans, paused joins,
 * screening, limits (member_add_to_guild). */
static enum err join_discoverable_guild(struct call *call)
{
    const struct join_query *in = call->query;
    struct guild *g = call->target.guild;
    struct member_to_add_to_guild newcomer = { .guild_id = g->id, .user_id = call->caller->id };
    struct member member;
    bool is_new;

    if (in->lurker.value)
        return call_add_field_error(call, "lurker", FORM_CHOICES,
                                    "A guild cannot be viewed without joining: send lurker=false.");
    enum err e = member_add_to_guild(call, &newcomer, &member, &is_new);
    if (!e && !is_new) {
        call_set_status(call, 204);
        return OK;
    }
    if (!e)
        e = guild_find(call->tx, g->id, g);
    if (!e)
        e = guild_read_roles_emojis_and_other_lists(call, g);
    return e ? e : call_reply_with_object(call, g);
}

/* Rate limit per account for joining guilds of the list, so that a script cannot join every
 * guild. */
static const struct rate_limit limit_join = {
    .name = "discovery-join", .count = 10, .window_s = 600, .strict = true
};
/* Rate limit of searches: each search examines up to 5,000 guilds in the background. */
static const struct rate_limit limit_search = { .name = "discovery-search",
                                                .count = 20,
                                                .window_s = 10 };

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/discoverable-guilds",
        .name = "get_discoverable_guilds",
        .doc = "The guilds whose managers added the feature DISCOVERABLE, largest first.",
        .auth = AUTH_USER,
        .query = &discovery_list_query_schema,
        .reply = &discovery_page_reply,
        .background = true,
        .limit = &limit_search,
        .handle = get_discoverable_guilds,
    },
    {
        .method = GET,
        .path = "/discoverable-guilds/search",
        .name = "search_discoverable_guilds",
        .doc = "Search the names, descriptions and keywords of discoverable guilds.",
        .auth = AUTH_USER | AUTH_BOT,
        .query = &discovery_search_query_schema,
        .reply = &discovery_page_reply,
        .background = true,
        .limit = &limit_search,
        .handle = get_discoverable_guilds,
    },
    {
        .method = GET,
        .path = "/discovery/categories",
        .name = "get_discovery_categories",
        .doc = "The categories of the public list.",
        .auth = AUTH_USER | AUTH_BOT,
        .query = &discovery_categories_query_schema,
        .reply = &discovery_categories_reply,
        .store = ROUTE_STORE_NONE,
        .handle = get_discovery_categories,
    },
    {
        .method = GET,
        .path = "/discovery/valid-term",
        .name = "get_discovery_valid_term",
        .doc = "Whether a text can be a keyword: 1 to 30 visible characters.",
        .auth = AUTH_USER | AUTH_BOT,
        .query = &discovery_term_query_schema,
        .reply = &discovery_term_reply,
        .store = ROUTE_STORE_NONE,
        .handle = get_discovery_valid_term,
    },
    {
        .method = GET,
        .path = "/guilds/{guild.id}/discovery-metadata",
        .name = "get_discovery_metadata",
        .doc = "The guild's entry in the public list.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_GUILD),
        .reply = &discovery_metadata_reply,
        .handle = get_discovery_metadata,
    },
    {
        .method = PATCH,
        .path = "/guilds/{guild.id}/discovery-metadata",
        .name = "modify_discovery_metadata",
        .doc = "Replace the guild's entry in the public list, but not its subcategories.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_GUILD),
        .body = &discovery_metadata_body,
        .reply = &discovery_metadata_reply,
        .fires = (const enum event[]){ EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE, EVENT_NONE },
        .handle = modify_discovery_metadata,
    },
    {
        .method = PUT,
        .path = "/guilds/{guild.id}/discovery-categories/{discovery_category.id}",
        .name = "add_discovery_category",
        .doc = "Add a subcategory to the guild's entry; at most five.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_GUILD),
        .fires = (const enum event[]){ EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE, EVENT_NONE },
        .handle = add_discovery_category,
    },
    {
        .method = DELETE,
        .path = "/guilds/{guild.id}/discovery-categories/{discovery_category.id}",
        .name = "remove_discovery_category",
        .doc = "Remove a subcategory from the guild's entry.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_GUILD),
        .fires = (const enum event[]){ EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE, EVENT_NONE },
        .handle = remove_discovery_category,
    },
    {
        .method = GET,
        .path = "/emojis/{emoji.id}/guild",
        .name = "get_emoji_guild",
        .doc = "The guild that an emoji is from. Only guilds of the public list are shown, unless "
               "they have turned emoji_discoverability_enabled off.",
        .auth = AUTH_USER,
        .reply = &type_discoverable_guild,
        .handle = get_emoji_guild,
    },
    {
        .method = GET,
        .path = "/emojis/{emoji.id}/source",
        .name = "get_emoji_source",
        .doc =
            "The guild or application that an emoji is from. Guilds as for the guild of an emoji.",
        .auth = AUTH_USER,
        .reply = &emoji_source_reply,
        .handle = get_emoji_source,
    },
    {
        .method = GET,
        .path = "/stickers/{sticker.id}/guild",
        .name = "get_sticker_guild",
        .doc = "The guild that a sticker is from, as for emoji.",
        .auth = AUTH_USER,
        .reply = &type_discoverable_guild,
        .handle = get_sticker_guild,
    },
    {
        .method = PUT,
        .path = "/guilds/{guild.id}/members/@me",
        .name = "join_guild",
        .doc = "Join a discoverable guild; 204 if the caller is a member already.",
        .auth = AUTH_USER,
        .query = &join_query_schema,
        .reply = &type_guild,
        .fires = (const enum event[]){ EVENT_GUILD_CREATE, EVENT_GUILD_MEMBER_ADD,
                                       EVENT_USER_SETTINGS_UPDATE, AUTOMOD_EVENTS, EVENT_NONE },
        .limit = &limit_join,
        .visitors = require_discoverable_guild,
        .allowed_when_restricted = true,
        .handle = join_discoverable_guild,
    },
    { 0 },
};

static const struct path_resolver resolvers[] = {
    {
        .name = "discovery_category.id",
        .field = "category_id",
        .is_text = true,
        .doc = "The number of a discovery category.",
    },
    { 0 },
};

const struct domain discovery_domain = {
    .name = "Discovery",
    .doc = "The public list of guilds that anybody with an account can join.",
    .routes = routes,
    .resolvers = resolvers,
    .deletions =
        (const struct deletion_rule[]){ { DELETE_FEW(WITH_GUILD, "guild_discovery", "guild_id") },
                                        { 0 } },
};
