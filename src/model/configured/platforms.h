/* platforms.h - external platforms that the operator configures, for integrations and connections.
 *
 * The configuration is set once at the start and does not change afterwards. */
#ifndef MODEL_PLATFORMS_H
#define MODEL_PLATFORMS_H

#include "json/schema.h"

enum platform { PLATFORM_A, PLATFORM_B, PLATFORM_COUNT, PLATFORM_NONE = PLATFORM_COUNT };

/* Configuration options; NULL if not set. */
struct platform_options {
    const char *at[PLATFORM_COUNT]; /* "local", "off", or the base URL of the platform's provider */
    const char *key[PLATFORM_COUNT]; /* API key of the platform's provider */
    const char *words;               /* names that clients get: "platform_a:NAME,service:NAME" */
    const char *partners_guild; /* id of the guild that partners of platform A may join, as text */
    const char *partners_account; /* "ID:NAME" of the account that invites partners of platform A */
};
/* Applies the options. Returns false if one is invalid; *ret_problem names option and reason. */
bool platforms_configure(const struct platform_options *o, const char **ret_problem);

/* Returns the name of a platform as stored in the database: "platform_a". */
struct str platform_get_database_name(enum platform p);
/* Finds a platform by its stored name, or by the name that the operator configured for it. */
enum platform platform_find_by_name(struct str word);
/* Returns the integration type that clients get. This is the name that the operator configured, or
 * the stored type if no name is configured. */
struct str integration_get_displayed_type(struct str type);

bool platform_is_enabled(enum platform p);
/* Returns the base URL of the platform's provider, without a trailing slash; NULL pointer if the
 * platform is local. */
struct str platform_get_provider_url(enum platform p);
struct str platform_get_provider_key(enum platform p);

/* Returns the guild that partners may join, or 0 if partners are not invited. */
snowflake get_partners_guild_id(void);
struct str get_partners_account_id(void), partners_account_name(void);
#define PARTNERS_INTEGRATION_ID "platform_a-partners"

/* JSON type of a platform. It accepts the stored name and the name that the operator configured.
 * The error code for other values is BASE_TYPE_CHOICES. */
extern const struct type type_platform;

#endif
