/* internal.h - a world file in memory, and what the files of worlds/ share. */
#ifndef PLATFORM_WORLDS_INTERNAL_H
#define PLATFORM_WORLDS_INTERNAL_H

#include "json/schema.h"
#include "model/application.h"
#include "model/channel.h"
#include "model/rows.h"
#include "platform/reactions/reactions.h"
#include "platform/worlds/worlds.h"

/* --- schema.c: what a file can say ---------------------------------------------------- */

/* A member that is called as another thing ("owner", "parent", "role") names it, or
 * gives its id. Sets of rights are JSON, see rights_read. */
struct world_user {
    struct opt_id id;
    struct str username;
    struct opt_str global_name, email, password, password_hash, bio, locale, date_of_birth, phone;
    struct opt_str token; /* chosen for tests */
    struct opt_int flags, public_flags, premium_type, accent_color;
    struct opt_bool bot;
};
struct world_application {
    struct opt_id id;
    struct str name, owner;
    struct opt_str description, bot, tags, redirect_uris, install_params, integration_types_config;
    struct opt_str interactions_endpoint_url, role_connections_verification_url, custom_install_url;
    struct opt_int flags;
    struct opt_bool bot_public, bot_require_code_grant;
    struct opt_str commands;            /* JSON, see world_parts */
    struct opt_str token;               /* the bot's, chosen for tests */
    struct opt_list emojis;             /* struct world_emoji */
    struct opt_list skus, entitlements; /* struct world_sku, struct world_entitlement */
};
struct world_sku {
    struct opt_id id;
    struct str name;
    struct opt_str type;
    struct opt_int flags;
};
struct world_entitlement {
    struct str sku;
    struct opt_str user, guild; /* one of them */
    struct opt_int ends_at;
    struct opt_bool test;
};
struct world_role {
    struct opt_id id;
    struct str name;
    struct opt_str permissions, unicode_emoji, bot;
    struct opt_int color, secondary_color, tertiary_color, position, flags;
    struct opt_bool hoist, mentionable, managed;
};
struct world_overwrite {
    struct opt_str role, member, allow, deny;
};
struct world_message {
    struct opt_id id;
    struct str author, content;
    struct opt_int at, minutes_ago, edited_at;
    struct opt_str embeds;
    struct opt_bool pinned;
    struct opt_list reactions; /* struct world_reaction */
    struct opt_object poll;    /* struct world_poll */
    struct opt_list stickers;  /* struct str */
};
struct world_poll_answer {
    struct str text;
    struct opt_str emoji;  /* as of a reaction */
    struct opt_list users; /* struct str */
};
struct world_poll {
    struct str question;
    struct list answers; /* struct world_poll_answer */
    struct opt_int hours, ends_at;
    struct opt_bool allow_multiselect;
};
struct world_reaction {
    struct str emoji;  /* of Unicode, name:id, or the name of one of the guild's */
    struct list users; /* struct str */
};
struct world_channel {
    struct opt_id id;
    struct str name, type;
    struct opt_str parent, topic, rtc_region, owner;
    struct opt_int position, rate_limit_per_user, bitrate, user_limit, video_quality_mode, flags;
    struct opt_int default_auto_archive_duration, auto_archive_duration, archived_at;
    struct opt_bool nsfw, archived, locked;
    struct opt_list overwrites, messages; /* struct world_overwrite, world_message */
};
struct world_member {
    struct str user;
    struct opt_str nick, bio;
    struct opt_list roles; /* struct str */
    struct opt_int joined_at, premium_since, timed_out_until, flags;
    struct opt_bool mute, deaf, pending;
};
struct world_ban {
    struct str user;
    struct opt_str reason;
};
struct world_installed {
    struct opt_id id;
    struct str application;
    struct opt_str by, scopes;
    struct opt_str commands; /* JSON: those of this guild alone */
};
/* An account of a local platform, and a guild's integration that follows one. */
struct world_account {
    struct str platform, id, name;
    struct opt_bool programme, partner;
    struct opt_str owner;
    struct opt_list subscribers, friends; /* struct str */
};
struct world_followed {
    struct opt_id id;
    struct str platform, account, by;
    struct opt_str role;
    struct opt_int expire_behavior, expire_grace_period;
    struct opt_bool enable_emoticons;
};
/* An export has their names and marks, not their files. */
struct world_emoji {
    struct opt_id id;
    struct str name;
    struct opt_bool animated;
    struct opt_list roles; /* struct str; of guilds only */
    struct opt_str by;
    struct opt_image image;
};
struct world_sticker {
    struct opt_id id;
    struct str name, tags;
    struct opt_str description, format, by;
    struct opt_image image;
};
struct world_sound {
    struct opt_id id;
    struct str name;
    struct opt_real volume;
    struct opt_str emoji, unicode_emoji;
};
struct world_rule {
    struct opt_id id;
    struct str name, by;
    int64_t trigger_type;
    struct opt_object trigger_metadata; /* struct automod_metadata */
    struct list actions;                /* struct automod_action */
    struct opt_bool enabled;
    struct opt_list exempt_roles, exempt_channels; /* struct str */
};
struct world_guild {
    struct opt_id id;
    struct str name, owner;
    struct opt_str description, features, preferred_locale;
    struct opt_int afk_timeout, system_channel_flags, verification_level,
        default_message_notifications, explicit_content_filter;
    struct opt_bool premium_progress_bar_enabled;
    struct opt_list roles, channels, members, bans, applications, integrations, emojis, sounds,
        stickers, automod;
    struct opt_str afk_channel, system_channel, rules_channel, public_updates_channel,
        safety_alerts_channel;
};
struct world_relationship {
    struct str user, target, type;
    struct opt_str nickname, target_nickname;
    struct opt_int since;
};
/* A direct channel (two people) or a group. */
struct world_private {
    struct opt_id id;
    struct opt_str name, owner;
    struct opt_list people, messages; /* struct str, struct world_message */
};
struct world_file {
    struct opt_list users, applications, platform_accounts, guilds, relationships, directs, groups;
};

extern const struct schema world_schema;
extern const struct type type_world;

/* The number of a channel type's word, and the other way round; -1 and NULL: none. */
int64_t channel_type_of(struct str word);
const char *channel_type_word(int64_t type);

/* --- rights.c: sets of rights, as people write them ----------------------------------- */

/* ["VIEW_CHANNEL", …], "ALL", "DEFAULT", or a number. False: *ret_wrong is what it is not. */
bool rights_read(struct str json, struct arena *arena, uint64_t *ret, struct str *ret_wrong);
struct opt_str rights_write(uint64_t rights, struct arena *arena);

/* --- layout.c: text for people -------------------------------------------------------- */

/* JSON with a line for each object that holds no others. */
void layout_json(struct str json, struct buf *out);
/* Valid JSON without the space between its words, as it is kept and sent. */
struct str layout_compact(struct arena *arena, struct str json);
/* "users.0.username: …" for each problem. */
struct str layout_problems(const struct form *form, struct arena *arena);

/* --- references.c: names and ids ------------------------------------------------------ */

struct importing {
    struct tx *tx;
    struct arena *arena;
    const struct world_options *options;
    struct world_report *report;
    struct form *form;
    struct list *pictures; /* struct world_picture: what is to be kept once all is committed */
};

/* A picture of the file, under the name that its row has. */
struct world_picture {
    char name[96];
    struct str bytes;
};

/* A kind of thing that is found by name. Queries give (least id, count). */
struct naming {
    const char *word;
    const char *by_name; /* $1 name, $2 guild where `scoped` */
    const char *by_id;   /* $1 id, $2 guild where `scoped` */
    const char *any_id;  /* $1 id */
    bool scoped, unique;
};
extern const struct naming user_naming, application_naming, guild_naming, role_naming,
    channel_naming;

/* What a member of the file refers to. 0, and a problem is noted, when there is no
 * such thing or several of them. */
enum err refer(struct importing *im, const struct naming *n, snowflake guild, struct str to,
               const struct place *at, snowflake *ret);
/* The same where the member may be absent: 0. */
enum err refer_maybe(struct importing *im, const struct naming *n, snowflake guild,
                     const struct opt_str *to, const struct place *at, snowflake *ret);
/* Which thing an entry of the file is about: *ret is its id, 0 when it is new or,
 * with a problem noted, wrong. */
enum err settle(struct importing *im, const struct naming *n, snowflake guild, struct opt_id id,
                struct str name, const struct place *at, snowflake *ret);

/* JSON from the file, as columns keep it. */
static inline struct value v_opt_json(const struct importing *im, struct opt_str json)
{
    return json.given == GIVEN ? v_text(layout_compact(im->arena, json.value)) : v_null();
}
static inline struct value v_opt_bool(struct opt_bool b)
{
    return b.given == GIVEN ? v_int(b.value) : v_null();
}

enum counted {
    COUNT_USERS,
    COUNT_APPLICATIONS,
    COUNT_GUILDS,
    COUNT_ROLES,
    COUNT_CHANNELS,
    COUNT_MEMBERS,
    COUNT_RELATIONSHIPS,
    COUNT_MESSAGES,
    COUNT_COMMANDS,
};
void count(struct importing *im, enum counted what, bool made);

/* Runs a step for each entry of a list; step sees the entry and its place. */
typedef enum err import_step(struct importing *im, const void *entry, const struct place *at,
                             snowflake owner);
enum err import_each(struct importing *im, const struct opt_list *list, size_t size,
                     const char *name, const struct place *up, import_step *step, snowflake owner);

/* --- import_people.c, import_guilds.c, import_channels.c, import_private.c ------------ */

import_step import_user, import_application, import_relationship;
import_step import_guild;
import_step import_channel, dress_channel; /* of the guild; dress: once all are there */
import_step import_direct, import_group;
import_step import_account, import_followed;                      /* platforms.c */
import_step import_emoji, import_application_emoji, import_sound; /* emojis.c */
import_step import_sku, import_entitlements;                      /* entitlements.c */
import_step import_sticker;                                       /* stickers.c */
/* emojis.c: the id under which an entry is saved; 0: there was a problem. */
enum err world_place_of(struct importing *im, const struct naming *n, snowflake guild,
                        struct opt_id id, struct str name, const struct place *at, snowflake *ret);
/* The rows of a picture; its bytes are kept when all is committed. */
enum err world_note_picture(struct importing *im, const struct image *image, const char *area,
                            snowflake id, const char *set_image);
import_step import_rule; /* automod.c */
/* Of an application, global or of a guild. */
enum err import_commands(struct importing *im, const struct opt_str *json, struct world_scope scope,
                         const struct place *up);
/* Messages without an id are for channels where nothing was said yet: importing them
 * again would say them again. */
enum err import_messages(struct importing *im, const struct opt_list *messages, snowflake channel,
                         const struct place *up);

/* --- export_guilds.c, export_private.c: reading everything ---------------------------- */

enum err export_guilds(struct tx *tx, const struct world_parts *parts, struct opt_list *ret);
enum err export_private(struct tx *tx, struct world_file *ret);
enum err export_accounts(struct tx *tx, struct opt_list *ret);
enum err export_followed(struct tx *tx, snowflake guild, struct opt_list *ret);
/* owner: a guild or an application. */
enum err export_emojis(struct tx *tx, snowflake owner, bool application, struct opt_list *ret);
enum err export_entitlements(struct tx *tx, struct world_application *a);
enum err export_rules(struct tx *tx, snowflake guild, struct opt_list *ret);
enum err export_sounds(struct tx *tx, snowflake guild, struct opt_list *ret);
/* reactions.c: of messages that were just made, or are to be shown, in the order of ids. */
enum err import_reactions(struct importing *im, const struct opt_list *reactions, snowflake channel,
                          snowflake message, const struct place *up);
enum err export_reactions(struct tx *tx, snowflake channel, struct opt_list *messages);
/* Characters of Unicode, name:id, or the name of an emoji of the channel's guild. */
enum err world_emoji_named(struct importing *im, struct str text, snowflake channel,
                           const struct place *at, struct reaction_name *ret);
/* stickers.c */
enum err import_message_stickers(struct importing *im, const struct opt_list *stickers,
                                 snowflake channel, snowflake message, const struct place *up);
enum err export_message_stickers(struct tx *tx, snowflake channel, struct opt_list *messages);
enum err export_stickers(struct tx *tx, snowflake guild, struct opt_list *ret);
/* polls.c: the same for polls; in: NULL where there is none. */
enum err import_poll(struct importing *im, const struct world_poll *in, snowflake channel,
                     snowflake message, const struct place *up);
enum err export_polls(struct tx *tx, snowflake channel, struct opt_list *messages);
enum err export_messages(struct tx *tx, snowflake channel, struct opt_list *ret);

/* Present unless it is what an import would take anyway. */
static inline struct opt_int shown_int(const struct rows *r, int column, int64_t usual)
{
    bool shown = !row_null(r, column) && row_int(r, column) != usual;

    return (struct opt_int){ shown ? GIVEN : ABSENT, row_int(r, column) };
}
static inline struct opt_bool shown_bool(const struct rows *r, int column, bool usual)
{
    return (struct opt_bool){ row_bool(r, column) != usual ? GIVEN : ABSENT, row_bool(r, column) };
}
static inline struct opt_str shown_text(const struct rows *r, int column, const char *usual)
{
    bool shown = !row_null(r, column) && !str_is(row_text(r, column), usual);

    return (struct opt_str){ shown ? GIVEN : ABSENT, row_text(r, column) };
}
static inline void *shown_item(struct tx *tx, struct opt_list *list, size_t size)
{
    list->given = GIVEN;
    return list_add(tx_arena(tx), &list->value, size);
}

/* --- tokens.c ------------------------------------------------------------------------- */

struct token_wanted {
    struct str username, purpose;
    struct str chosen; /* p == NULL: not said */
    bool lasts;        /* the same each time */
};
enum err token_renew(struct tx *tx, struct auth *auth, const struct token_wanted *wanted,
                     bool *ret_found, bool *ret_bot, struct str *ret_token);

#endif
