/* schema.c - world files, row by row. */
#include "platform/worlds/internal.h"

#include "json/read.h"
#include "model/emoji.h"
#include "model/guild.h"
#include "model/user.h"
#include "platform/automod/automod.h"
#include "platform/emojis/emojis.h"

enum { MANY = 1000000 };

static const struct type type_ref = {
    .kind = KIND_STRING, .flags = TYPE_EITHER, .min = 1, .max = 200, .doc = "A name, or an id"
};
static const struct type type_refs = { .kind = KIND_ARRAY, .max = MANY, .of = &type_ref };
static const struct type type_rights = { .kind = KIND_RAW,
                                         .doc = "Names of rights, \"ALL\", \"DEFAULT\" or bits" };
static const struct type type_new_password = {
    .kind = KIND_STRING, .min = 8, .max = 72, .doc = "Password"
};
static const struct type type_hash = { .kind = KIND_STRING, .max = 200, .doc = "As exported" };
static const struct type type_content = { .kind = KIND_STRING, .max = 4000 };
static const struct type type_any_name = { .kind = KIND_STRING, .min = 1, .max = 100 };

static const struct choice channel_words[] = {
    { CHANNEL_TEXT, "text", "TEXT", "" },
    { CHANNEL_VOICE, "voice", "VOICE", "" },
    { CHANNEL_CATEGORY, "category", "CATEGORY", "" },
    { CHANNEL_NEWS, "news", "NEWS", "" },
    { CHANNEL_NEWS_THREAD, "news_thread", "NEWS_THREAD", "" },
    { CHANNEL_THREAD, "thread", "THREAD", "" },
    { CHANNEL_PRIVATE_THREAD, "private_thread", "PRIVATE_THREAD", "" },
    { CHANNEL_STAGE, "stage", "STAGE", "" },
    { CHANNEL_FORUM, "forum", "FORUM", "" },
    { 0 },
};
static const struct type type_channel_word = { .kind = KIND_STRING, .choices = channel_words };

static const struct choice relationship_words[] = {
    { 1, "friend", "FRIEND", "" },
    { 2, "blocked", "BLOCKED", "" },
    { 4, "request", "REQUEST", "" },
    { 0 },
};
static const struct type type_relationship_word = { .kind = KIND_STRING,
                                                    .choices = relationship_words };

int64_t channel_type_of(struct str word)
{
    for (const struct choice *c = channel_words; c->text; c++)
        if (str_is(word, c->text))
            return c->value;
    return -1;
}

const char *channel_type_word(int64_t type)
{
    for (const struct choice *c = channel_words; c->text; c++)
        if (c->value == type)
            return c->text;
    return NULL;
}

/* Most of a file may be left out. */
#define MAYBE(struct_, member_, type_)                                          \
    {                                                                           \
        FIELD(struct_, member_), .type = &(type_), .flags = OPTIONAL | NULLABLE \
    }
#define MUST(struct_, member_, type_)             \
    {                                             \
        FIELD(struct_, member_), .type = &(type_) \
    }

static const struct field user_fields[] = {
    MAYBE(struct world_user, id, type_id),
    MUST(struct world_user, username, type_username),
    MAYBE(struct world_user, global_name, type_display_name),
    MAYBE(struct world_user, email, type_any_name),
    MAYBE(struct world_user, password, type_new_password),
    MAYBE(struct world_user, password_hash, type_hash),
    MAYBE(struct world_user, bio, type_text),
    MAYBE(struct world_user, locale, type_locale),
    MAYBE(struct world_user, date_of_birth, type_text),
    MAYBE(struct world_user, phone, type_phone),
    MAYBE(struct world_user, flags, type_int),
    MAYBE(struct world_user, public_flags, type_int),
    MAYBE(struct world_user, premium_type, type_count),
    MAYBE(struct world_user, accent_color, type_color),
    MAYBE(struct world_user, bot, type_bool),
    MAYBE(struct world_user, token, type_any_name),
    { 0 },
};

static const struct field emoji_fields[] = {
    MAYBE(struct world_emoji, id, type_id),
    MUST(struct world_emoji, name, type_emoji_name),
    MAYBE(struct world_emoji, animated, type_bool),
    MAYBE(struct world_emoji, roles, type_refs),
    MAYBE(struct world_emoji, by, type_ref),
    MAYBE(struct world_emoji, image, type_emoji_image),
    { 0 },
};
static const struct field application_emoji_fields[] = {
    MAYBE(struct world_emoji, id, type_id),
    MUST(struct world_emoji, name, type_emoji_name),
    MAYBE(struct world_emoji, animated, type_bool),
    MAYBE(struct world_emoji, by, type_ref),
    MAYBE(struct world_emoji, image, type_emoji_image),
    { 0 },
};
static const struct choice sticker_formats[] = {
    { 0, "png", "PNG", "A picture" },
    { 0, "apng", "APNG", "A picture that moves" },
    { 0, "lottie", "LOTTIE", "A drawing that moves" },
    { 0, "gif", "GIF", "A picture that moves" },
    { 0 },
};
static const struct type type_sticker_format = { .kind = KIND_STRING, .choices = sticker_formats };
static const struct field sticker_fields[] = {
    MAYBE(struct world_sticker, id, type_id),
    MUST(struct world_sticker, name, type_any_name),
    MAYBE(struct world_sticker, description, type_any_name),
    MUST(struct world_sticker, tags, type_ref),
    MAYBE(struct world_sticker, format, type_sticker_format),
    MAYBE(struct world_sticker, by, type_ref),
    MAYBE(struct world_sticker, image, type_emoji_image),
    { 0 },
};
static const struct schema sticker_rows = { .size = sizeof(struct world_sticker),
                                            .fields = sticker_fields };
static const struct type sticker_entry = { .kind = KIND_OBJECT, .schema = &sticker_rows };
static const struct type sticker_list = { .kind = KIND_ARRAY, .max = MANY, .of = &sticker_entry };
static const struct schema emoji_rows = { .size = sizeof(struct world_emoji),
                                          .fields = emoji_fields };
static const struct schema application_emoji_rows = { .size = sizeof(struct world_emoji),
                                                      .fields = application_emoji_fields };
static const struct type emoji_entry = { .kind = KIND_OBJECT, .schema = &emoji_rows };
static const struct type application_emoji_entry = { .kind = KIND_OBJECT,
                                                     .schema = &application_emoji_rows };
static const struct type emoji_list = { .kind = KIND_ARRAY, .max = MANY, .of = &emoji_entry };
static const struct type application_emoji_list = { .kind = KIND_ARRAY,
                                                    .max = MANY,
                                                    .of = &application_emoji_entry };

static const struct choice sku_types[] = {
    { 0, "durable", "DURABLE", "Had for good" },
    { 0, "consumable", "CONSUMABLE", "Used up" },
    { 0, "subscription", "SUBSCRIPTION", "Had for a time, again and again" },
    { 0, "subscription_group", "SUBSCRIPTION_GROUP", "Has subscriptions in it" },
    { 0 },
};
static const struct type type_sku_type = { .kind = KIND_STRING, .choices = sku_types };
static const struct field sku_fields[] = {
    MAYBE(struct world_sku, id, type_id),
    MUST(struct world_sku, name, type_any_name),
    MAYBE(struct world_sku, type, type_sku_type),
    MAYBE(struct world_sku, flags, type_count),
    { 0 },
};
static const struct field entitlement_fields[] = {
    MUST(struct world_entitlement, sku, type_ref),
    MAYBE(struct world_entitlement, user, type_ref),
    MAYBE(struct world_entitlement, guild, type_ref),
    MAYBE(struct world_entitlement, ends_at, type_time),
    MAYBE(struct world_entitlement, test, type_bool),
    { 0 },
};
static const struct schema sku_rows = { .size = sizeof(struct world_sku), .fields = sku_fields };
static const struct schema entitlement_rows = { .size = sizeof(struct world_entitlement),
                                                .fields = entitlement_fields };
static const struct type sku_entry = { .kind = KIND_OBJECT, .schema = &sku_rows };
static const struct type entitlement_entry = { .kind = KIND_OBJECT, .schema = &entitlement_rows };
static const struct type sku_list = { .kind = KIND_ARRAY, .max = 100, .of = &sku_entry };
static const struct type entitlement_list = { .kind = KIND_ARRAY,
                                              .max = MANY,
                                              .of = &entitlement_entry };

static const struct field application_fields[] = {
    MAYBE(struct world_application, id, type_id),
    MUST(struct world_application, name, type_any_name),
    MUST(struct world_application, owner, type_ref),
    MAYBE(struct world_application, description, type_text),
    MAYBE(struct world_application, bot, type_username),
    MAYBE(struct world_application, token, type_any_name),
    MAYBE(struct world_application, bot_public, type_bool),
    MAYBE(struct world_application, bot_require_code_grant, type_bool),
    MAYBE(struct world_application, flags, type_int),
    MAYBE(struct world_application, tags, type_raw),
    MAYBE(struct world_application, redirect_uris, type_raw),
    MAYBE(struct world_application, install_params, type_raw),
    MAYBE(struct world_application, integration_types_config, type_raw),
    MAYBE(struct world_application, interactions_endpoint_url, type_url),
    MAYBE(struct world_application, role_connections_verification_url, type_url),
    MAYBE(struct world_application, custom_install_url, type_url),
    MAYBE(struct world_application, commands, type_raw),
    MAYBE(struct world_application, emojis, application_emoji_list),
    MAYBE(struct world_application, skus, sku_list),
    MAYBE(struct world_application, entitlements, entitlement_list),
    { 0 },
};
static const struct field role_fields[] = {
    MAYBE(struct world_role, id, type_id),
    MUST(struct world_role, name, type_role_name),
    MAYBE(struct world_role, permissions, type_rights),
    MAYBE(struct world_role, color, type_color),
    MAYBE(struct world_role, secondary_color, type_color),
    MAYBE(struct world_role, tertiary_color, type_color),
    MAYBE(struct world_role, position, type_count),
    MAYBE(struct world_role, hoist, type_bool),
    MAYBE(struct world_role, mentionable, type_bool),
    MAYBE(struct world_role, managed, type_bool),
    MAYBE(struct world_role, flags, type_int),
    MAYBE(struct world_role, unicode_emoji, type_text),
    MAYBE(struct world_role, bot, type_ref),
    { 0 },
};
static const struct field overwrite_fields[] = {
    MAYBE(struct world_overwrite, role, type_ref),
    MAYBE(struct world_overwrite, member, type_ref),
    MAYBE(struct world_overwrite, allow, type_rights),
    MAYBE(struct world_overwrite, deny, type_rights),
    { 0 },
};
static const struct field reaction_fields[] = {
    MUST(struct world_reaction, emoji, type_any_name),
    MUST(struct world_reaction, users, type_refs),
    { 0 },
};
static const struct schema reaction_rows = { .size = sizeof(struct world_reaction),
                                             .fields = reaction_fields };
static const struct type reaction_entry = { .kind = KIND_OBJECT, .schema = &reaction_rows };
static const struct type reaction_list = { .kind = KIND_ARRAY, .max = 20, .of = &reaction_entry };

static const struct field poll_answer_fields[] = {
    MUST(struct world_poll_answer, text, type_any_name),
    MAYBE(struct world_poll_answer, emoji, type_any_name),
    MAYBE(struct world_poll_answer, users, type_refs),
    { 0 },
};
static const struct schema poll_answer_rows = { .size = sizeof(struct world_poll_answer),
                                                .fields = poll_answer_fields };
static const struct type poll_answer_entry = { .kind = KIND_OBJECT, .schema = &poll_answer_rows };
static const struct type poll_answer_list = {
    .kind = KIND_ARRAY, .min = 1, .max = 10, .of = &poll_answer_entry
};
static const struct field poll_fields[] = {
    MUST(struct world_poll, question, type_content),
    MUST(struct world_poll, answers, poll_answer_list),
    MAYBE(struct world_poll, hours, type_count),
    MAYBE(struct world_poll, ends_at, type_time),
    MAYBE(struct world_poll, allow_multiselect, type_bool),
    { 0 },
};
static const struct schema poll_rows = { .size = sizeof(struct world_poll), .fields = poll_fields };
static const struct type poll_entry = { .kind = KIND_OBJECT, .schema = &poll_rows };

static const struct field message_fields[] = {
    MAYBE(struct world_message, id, type_id),
    MUST(struct world_message, author, type_ref),
    MUST(struct world_message, content, type_content),
    MAYBE(struct world_message, at, type_time),
    MAYBE(struct world_message, minutes_ago, type_count),
    MAYBE(struct world_message, edited_at, type_time),
    MAYBE(struct world_message, embeds, type_raw),
    MAYBE(struct world_message, pinned, type_bool),
    MAYBE(struct world_message, reactions, reaction_list),
    MAYBE(struct world_message, poll, poll_entry),
    MAYBE(struct world_message, stickers, type_refs),
    { 0 },
};

/* --- what single fields cannot say ---------------------------------------------------- */

static void check_rights(struct form *form, const struct place *here, const char *name,
                         const struct opt_str *rights)
{
    struct place at = place_key(here, str_of(name));
    struct str wrong;
    uint64_t bits;

    if (rights->given == GIVEN && !rights_read(rights->value, form->arena, &bits, &wrong))
        form_fail(form, &at, "WORLD_NO_RIGHT", "'%.*s' is not a right.",
                  STR_FMT(form_quote(wrong)));
}

/* What is kept as JSON must be of the kind that its readers expect. */
static void check_json(struct form *form, const struct place *here, const char *name,
                       const struct opt_str *json, enum json_kind kind, enum json_kind items)
{
    struct place at = place_key(here, str_of(name));
    struct json_reader r;
    bool fine;

    if (json->given != GIVEN)
        return;
    json_reader_init(&r, json->value, form->arena);
    fine = json_peek(&r) == kind;
    if (fine && kind == JSON_ARRAY) {
        json_enter(&r);
        while (json_next_item(&r)) {
            fine &= json_peek(&r) == items;
            json_skip(&r, NULL);
        }
    }
    if (!fine)
        form_fail(form, &at, "WORLD_WRONG_KIND", "Must be %s.",
                  kind == JSON_OBJECT    ? "an object"
                  : items == JSON_OBJECT ? "a list of objects"
                                         : "a list of texts");
}

static void check_texts(struct form *form, const struct place *here, const char *name,
                        const struct opt_str *json)
{
    check_json(form, here, name, json, JSON_ARRAY, JSON_STRING);
}

static void check_application(struct form *form, const struct place *here, const void *object)
{
    const struct world_application *a = object;

    check_texts(form, here, "tags", &a->tags);
    check_texts(form, here, "redirect_uris", &a->redirect_uris);
    check_json(form, here, "install_params", &a->install_params, JSON_OBJECT, JSON_BAD);
    check_json(form, here, "integration_types_config", &a->integration_types_config, JSON_OBJECT,
               JSON_BAD);
}

static void check_message(struct form *form, const struct place *here, const void *object)
{
    const struct world_message *m = object;

    check_json(form, here, "embeds", &m->embeds, JSON_ARRAY, JSON_OBJECT);
}

static void check_installed(struct form *form, const struct place *here, const void *object)
{
    check_texts(form, here, "scopes", &((const struct world_installed *)object)->scopes);
}

static void check_guild(struct form *form, const struct place *here, const void *object)
{
    check_texts(form, here, "features", &((const struct world_guild *)object)->features);
}

static void check_role(struct form *form, const struct place *here, const void *object)
{
    check_rights(form, here, "permissions", &((const struct world_role *)object)->permissions);
}

static void check_overwrite(struct form *form, const struct place *here, const void *object)
{
    const struct world_overwrite *o = object;

    check_rights(form, here, "allow", &o->allow);
    check_rights(form, here, "deny", &o->deny);
    if ((o->role.given == GIVEN) == (o->member.given == GIVEN))
        form_fail(form, here, "WORLD_ONE_OF", "An overwrite is for a role or for a member.");
}

static void check_sound(struct form *form, const struct place *here, const void *object)
{
    const struct world_sound *s = object;

    if (s->emoji.given == GIVEN && s->unicode_emoji.given == GIVEN)
        form_fail(form, here, "WORLD_ONE_OF", "A sound shows the guild's emoji or a common one.");
}

/* NAME_rows, NAME_type and NAME_list: an object of the file and a list of them. */
#define OBJECT(name_, fields_, check_)                                                        \
    static const struct schema name_##_rows = { .size = sizeof(struct world_##name_),         \
                                                .fields = (fields_),                          \
                                                .check = (check_) };                          \
    static const struct type name_##_type = { .kind = KIND_OBJECT, .schema = &name_##_rows }; \
    static const struct type name_##_list = { .kind = KIND_ARRAY, .max = MANY, .of = &name_##_type }

OBJECT(user, user_fields, NULL);
OBJECT(application, application_fields, check_application);
OBJECT(role, role_fields, check_role);
OBJECT(overwrite, overwrite_fields, check_overwrite);
OBJECT(message, message_fields, check_message);

/* --- guilds --------------------------------------------------------------------------- */

static const struct field channel_fields[] = {
    MAYBE(struct world_channel, id, type_id),
    MUST(struct world_channel, name, type_any_name),
    { FIELD(struct world_channel, type), .type = &type_channel_word, .flags = OPTIONAL,
      .fallback_text = "text" },
    MAYBE(struct world_channel, parent, type_ref),
    MAYBE(struct world_channel, topic, type_topic),
    MAYBE(struct world_channel, position, type_count),
    MAYBE(struct world_channel, nsfw, type_bool),
    MAYBE(struct world_channel, rate_limit_per_user, type_count),
    MAYBE(struct world_channel, bitrate, type_count),
    MAYBE(struct world_channel, user_limit, type_count),
    MAYBE(struct world_channel, rtc_region, type_text),
    MAYBE(struct world_channel, video_quality_mode, type_count),
    MAYBE(struct world_channel, flags, type_int),
    MAYBE(struct world_channel, default_auto_archive_duration, type_count),
    MAYBE(struct world_channel, owner, type_ref),
    MAYBE(struct world_channel, archived, type_bool),
    MAYBE(struct world_channel, archived_at, type_time),
    MAYBE(struct world_channel, auto_archive_duration, type_count),
    MAYBE(struct world_channel, locked, type_bool),
    MAYBE(struct world_channel, overwrites, overwrite_list),
    MAYBE(struct world_channel, messages, message_list),
    { 0 },
};
static const struct field member_fields[] = {
    MUST(struct world_member, user, type_ref),
    MAYBE(struct world_member, nick, type_nick),
    MAYBE(struct world_member, bio, type_text),
    MAYBE(struct world_member, roles, type_refs),
    MAYBE(struct world_member, joined_at, type_time),
    MAYBE(struct world_member, premium_since, type_time),
    MAYBE(struct world_member, timed_out_until, type_time),
    MAYBE(struct world_member, flags, type_int),
    MAYBE(struct world_member, mute, type_bool),
    MAYBE(struct world_member, deaf, type_bool),
    MAYBE(struct world_member, pending, type_bool),
    { 0 },
};
static const struct field ban_fields[] = {
    MUST(struct world_ban, user, type_ref),
    MAYBE(struct world_ban, reason, type_text),
    { 0 },
};
static const struct field installed_fields[] = {
    MAYBE(struct world_installed, id, type_id),
    MUST(struct world_installed, application, type_ref),
    MAYBE(struct world_installed, by, type_ref),
    MAYBE(struct world_installed, scopes, type_raw),
    MAYBE(struct world_installed, commands, type_raw),
    { 0 },
};

static const struct choice platform_words[] = {
    { 0, "platform_a", "PLATFORM_A", "" },
    { 0, "platform_b", "PLATFORM_B", "" },
    { 0 },
};
static const struct type type_platform_word = { .kind = KIND_STRING, .choices = platform_words };
static const struct type type_account_id = { .kind = KIND_STRING, .min = 1, .max = 128 };
static const struct type type_account_ids = { .kind = KIND_ARRAY,
                                              .max = MANY,
                                              .of = &type_account_id };
static const struct type type_behavior = { .kind = KIND_INT, .min = 0, .max = 1 };
static const struct type type_grace = { .kind = KIND_INT, .min = 1, .max = 30 };
static const struct field account_fields[] = {
    MUST(struct world_account, platform, type_platform_word),
    MUST(struct world_account, id, type_account_id),
    MUST(struct world_account, name, type_any_name),
    MAYBE(struct world_account, programme, type_bool),
    MAYBE(struct world_account, partner, type_bool),
    MAYBE(struct world_account, owner, type_ref),
    MAYBE(struct world_account, subscribers, type_account_ids),
    MAYBE(struct world_account, friends, type_account_ids),
    { 0 },
};
static const struct field followed_fields[] = {
    MAYBE(struct world_followed, id, type_id),
    MUST(struct world_followed, platform, type_platform_word),
    MUST(struct world_followed, account, type_account_id),
    MUST(struct world_followed, by, type_ref),
    MAYBE(struct world_followed, role, type_ref),
    MAYBE(struct world_followed, expire_behavior, type_behavior),
    MAYBE(struct world_followed, expire_grace_period, type_grace),
    MAYBE(struct world_followed, enable_emoticons, type_bool),
    { 0 },
};

static const struct type type_short_name = { .kind = KIND_STRING, .min = 2, .max = 32 };
static const struct type type_volume = { .kind = KIND_REAL, .min = 0, .max = 1 };
static const struct field sound_fields[] = {
    MAYBE(struct world_sound, id, type_id),
    MUST(struct world_sound, name, type_short_name),
    MAYBE(struct world_sound, volume, type_volume),
    MAYBE(struct world_sound, emoji, type_ref),
    MAYBE(struct world_sound, unicode_emoji, type_any_name),
    { 0 },
};

static const struct field rule_fields[] = {
    MAYBE(struct world_rule, id, type_id),
    MUST(struct world_rule, name, type_any_name),
    MUST(struct world_rule, by, type_ref),
    MUST(struct world_rule, trigger_type, type_automod_trigger),
    MAYBE(struct world_rule, trigger_metadata, type_automod_metadata),
    MUST(struct world_rule, actions, type_automod_actions),
    MAYBE(struct world_rule, enabled, type_bool),
    MAYBE(struct world_rule, exempt_roles, type_refs),
    MAYBE(struct world_rule, exempt_channels, type_refs),
    { 0 },
};

OBJECT(rule, rule_fields, NULL);
OBJECT(account, account_fields, NULL);
OBJECT(followed, followed_fields, NULL);
OBJECT(sound, sound_fields, check_sound);
OBJECT(channel, channel_fields, NULL);
OBJECT(member, member_fields, NULL);
OBJECT(ban, ban_fields, NULL);
OBJECT(installed, installed_fields, check_installed);

static const struct field guild_fields[] = {
    MAYBE(struct world_guild, id, type_id),
    MUST(struct world_guild, name, type_guild_name),
    MUST(struct world_guild, owner, type_ref),
    MAYBE(struct world_guild, description, type_text),
    MAYBE(struct world_guild, features, type_raw),
    MAYBE(struct world_guild, preferred_locale, type_locale),
    MAYBE(struct world_guild, afk_timeout, type_count),
    MAYBE(struct world_guild, system_channel_flags, type_count),
    MAYBE(struct world_guild, verification_level, type_count),
    MAYBE(struct world_guild, default_message_notifications, type_count),
    MAYBE(struct world_guild, explicit_content_filter, type_count),
    MAYBE(struct world_guild, premium_progress_bar_enabled, type_bool),
    MAYBE(struct world_guild, roles, role_list),
    MAYBE(struct world_guild, channels, channel_list),
    MAYBE(struct world_guild, members, member_list),
    MAYBE(struct world_guild, bans, ban_list),
    MAYBE(struct world_guild, applications, installed_list),
    MAYBE(struct world_guild, integrations, followed_list),
    MAYBE(struct world_guild, emojis, emoji_list),
    MAYBE(struct world_guild, sounds, sound_list),
    MAYBE(struct world_guild, stickers, sticker_list),
    MAYBE(struct world_guild, automod, rule_list),
    MAYBE(struct world_guild, afk_channel, type_ref),
    MAYBE(struct world_guild, system_channel, type_ref),
    MAYBE(struct world_guild, rules_channel, type_ref),
    MAYBE(struct world_guild, public_updates_channel, type_ref),
    MAYBE(struct world_guild, safety_alerts_channel, type_ref),
    { 0 },
};

/* --- the whole ------------------------------------------------------------------------ */

static const struct field relationship_fields[] = {
    MUST(struct world_relationship, user, type_ref),
    MUST(struct world_relationship, target, type_ref),
    { FIELD(struct world_relationship, type), .type = &type_relationship_word, .flags = OPTIONAL,
      .fallback_text = "friend" },
    MAYBE(struct world_relationship, nickname, type_display_name),
    MAYBE(struct world_relationship, target_nickname, type_display_name),
    MAYBE(struct world_relationship, since, type_time),
    { 0 },
};
static const struct field private_fields[] = {
    MAYBE(struct world_private, id, type_id),
    MAYBE(struct world_private, name, type_any_name),
    MAYBE(struct world_private, owner, type_ref),
    MAYBE(struct world_private, people, type_refs),
    MAYBE(struct world_private, messages, message_list),
    { 0 },
};

OBJECT(guild, guild_fields, check_guild);
OBJECT(relationship, relationship_fields, NULL);
OBJECT(private, private_fields, NULL);

static const struct field world_fields[] = {
    MAYBE(struct world_file, users, user_list),
    MAYBE(struct world_file, applications, application_list),
    MAYBE(struct world_file, platform_accounts, account_list),
    MAYBE(struct world_file, guilds, guild_list),
    MAYBE(struct world_file, relationships, relationship_list),
    MAYBE(struct world_file, directs, private_list),
    MAYBE(struct world_file, groups, private_list),
    { 0 },
};
const struct schema world_schema = { .size = sizeof(struct world_file), .fields = world_fields };
const struct type type_world = { .kind = KIND_OBJECT, .schema = &world_schema };
