/* schema.c - accounts, apps and bonds of world files, and the whole, row by row. */
#include "model/guild.h"
#include "model/user.h"
#include "platform/worlds/internal.h"
#include "platform/worlds/messages/messages.h"

static const struct type type_new_password = {
    .kind = KIND_STRING, .min = 8, .max = 72, .doc = "Password"
};
static const struct type type_hash = { .kind = KIND_STRING, .max = 200, .doc = "As exported" };

static const struct field user_fields[] = {
    MAYBE(struct world_user, id, type_id),
    MUST(struct world_user, username, type_username),
    MAYBE(struct world_user, global_name, type_display_name),
    MAYBE(struct world_user, email, type_world_name),
    MAYBE(struct world_user, password, type_new_password),
    MAYBE(struct world_user, password_hash, type_hash),
    MAYBE(struct world_user, bio, type_text),
    MAYBE(struct world_user, pronouns, type_text),
    MAYBE(struct world_user, theme_colors, type_raw),
    MAYBE(struct world_user, locale, type_locale),
    MAYBE(struct world_user, date_of_birth, type_text),
    MAYBE(struct world_user, phone, type_phone),
    MAYBE(struct world_user, flags, type_int),
    MAYBE(struct world_user, public_flags, type_int),
    MAYBE(struct world_user, premium_type, type_count),
    MAYBE(struct world_user, accent_color, type_color),
    MAYBE(struct world_user, bot, type_bool),
    MAYBE(struct world_user, disabled, type_bool),
    MAYBE(struct world_user, paused, type_bool),
    MAYBE(struct world_user, deleting, type_bool),
    MAYBE(struct world_user, token, type_world_name),
    { 0 },
};
static const struct type type_webhooks_status = { .kind = KIND_INT, .min = 1, .max = 2 };
static const struct field application_fields[] = {
    MAYBE(struct world_application, id, type_id),
    MUST(struct world_application, name, type_world_name),
    MUST(struct world_application, owner, type_world_ref),
    MAYBE(struct world_application, description, type_text),
    MAYBE(struct world_application, bot, type_username),
    MAYBE(struct world_application, token, type_world_name),
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
    MAYBE(struct world_application, terms_of_service_url, type_url),
    MAYBE(struct world_application, privacy_policy_url, type_url),
    MAYBE(struct world_application, event_webhooks_url, type_url),
    MAYBE(struct world_application, event_webhooks_status, type_webhooks_status),
    MAYBE(struct world_application, event_webhooks_types, type_raw),
    MAYBE(struct world_application, role_connections_metadata, type_raw),
    MAYBE(struct world_application, commands, type_raw),
    MAYBE(struct world_application, emojis, world_application_emoji_list),
    MAYBE(struct world_application, skus, world_sku_list),
    MAYBE(struct world_application, entitlements, world_entitlement_list),
    { 0 },
};

static void check_application(struct form *form, const struct place *here, const void *object)
{
    const struct world_application *a = object;

    world_check_texts(form, here, "tags", &a->tags);
    world_check_texts(form, here, "redirect_uris", &a->redirect_uris);
    world_check_texts(form, here, "event_webhooks_types", &a->event_webhooks_types);
    world_check_json(form, here, "role_connections_metadata", &a->role_connections_metadata,
                     JSON_ARRAY, JSON_OBJECT);
    world_check_json(form, here, "install_params", &a->install_params, JSON_OBJECT, JSON_BAD);
    world_check_json(form, here, "integration_types_config", &a->integration_types_config,
                     JSON_OBJECT, JSON_BAD);
}

static void check_user(struct form *form, const struct place *here, const void *object)
{
    world_check_json(form, here, "theme_colors", &((const struct world_user *)object)->theme_colors,
                     JSON_ARRAY, JSON_NUMBER);
}

WORLD_OBJECT(user, user_fields, check_user);
WORLD_OBJECT(application, application_fields, check_application);

static const struct choice relationship_words[] = {
    { 1, "friend", "FRIEND", "" },
    { 2, "blocked", "BLOCKED", "" },
    { 4, "request", "REQUEST", "" },
    { 0 },
};
static const struct type type_relationship_word = { .kind = KIND_STRING,
                                                    .choices = relationship_words };
static const struct field relationship_fields[] = {
    MUST(struct world_relationship, user, type_world_ref),
    MUST(struct world_relationship, target, type_world_ref),
    { FIELD(struct world_relationship, type), .type = &type_relationship_word, .flags = OPTIONAL,
      .fallback_text = "friend" },
    MAYBE(struct world_relationship, nickname, type_display_name),
    MAYBE(struct world_relationship, target_nickname, type_display_name),
    MAYBE(struct world_relationship, since, type_time),
    { 0 },
};

WORLD_OBJECT(relationship, relationship_fields, NULL);

/* --- the whole ------------------------------------------------------------------------ */

static const struct field world_fields[] = {
    MAYBE(struct world_file, users, world_user_list),
    MAYBE(struct world_file, applications, world_application_list),
    MAYBE(struct world_file, platform_accounts, world_account_list),
    MAYBE(struct world_file, guilds, world_guild_list),
    MAYBE(struct world_file, relationships, world_relationship_list),
    MAYBE(struct world_file, directs, world_private_list),
    MAYBE(struct world_file, groups, world_private_list),
    { 0 },
};
const struct schema world_schema = { .size = sizeof(struct world_file), .fields = world_fields };
const struct type type_world = { .kind = KIND_OBJECT, .schema = &world_schema };
