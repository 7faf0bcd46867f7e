/* platforms.h - the other platforms that there are, as the operator configured them.
 *
 * Set once, before anything runs, and only read afterwards. */
#ifndef MODEL_PLATFORMS_H
#define MODEL_PLATFORMS_H

#include "json/schema.h"

enum platform { PLATFORM_A, PLATFORM_B, PLATFORM_COUNT, PLATFORM_NONE = PLATFORM_COUNT };

/* The options as they were given; NULL where nothing was. */
struct platform_options {
    const char *at[PLATFORM_COUNT];  /* "local", "off", or the base URL of a provider */
    const char *key[PLATFORM_COUNT]; /* what we show that provider */
    const char *words;               /* "platform_a:NAME,service:NAME" */
    const char *partners_guild;      /* where partners of platform A may join: an id */
    const char *partners_account;    /* "ID:NAME" of the house that invites them */
};
/* False: *ret_problem says which option is wrong, and why. */
bool platforms_set(const struct platform_options *o, const char **ret_problem);

/* What the store calls a platform: "platform_a". */
struct str platform_name(enum platform p);
/* By the store's word or by the one that the operator chose. */
enum platform platform_of(struct str word);
/* What clients are shown for an integration's type; itself unless the operator chose. */
struct str integration_word(struct str type);

bool platform_is_on(enum platform p);
/* The base URL of its provider, without a slash at the end; p == NULL: it is local. */
struct str platform_url(enum platform p);
struct str platform_key(enum platform p);

/* 0: partners are invited nowhere. */
snowflake partners_guild(void);
struct str partners_account_id(void), partners_account_name(void);
#define PARTNERS_ID "platform_a-partners"

/* A platform, by either word; BASE_TYPE_CHOICES otherwise. */
extern const struct type type_platform;

#endif
