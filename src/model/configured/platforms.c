/* platforms.c - the external platforms that the operator configures. */
#include "model/configured/platforms.h"

enum { INTEGRATION_TYPES = 4, MAX_NAME_LENGTH = 32, MAX_TEXT_LENGTH = 512 };

/* Types of integrations as the database stores them. External platforms come first. */
static const char *const integration_type_names[INTEGRATION_TYPES] = { "platform_a", "platform_b",
                                                                       "service",
                                                                       "guild_subscription" };

static struct {
    /* Names that clients get in place of the stored types. */
    char words[INTEGRATION_TYPES][MAX_NAME_LENGTH + 1];
    bool on[PLATFORM_COUNT];
    char url[PLATFORM_COUNT][MAX_TEXT_LENGTH + 1], key[PLATFORM_COUNT][MAX_TEXT_LENGTH + 1];
    snowflake partners_guild;
    char house_id[MAX_TEXT_LENGTH + 1], house_name[MAX_TEXT_LENGTH + 1];
} settings;

static int find_integration_type_index(struct str type)
{
    for (int i = 0; i < INTEGRATION_TYPES; i++)
        if (str_is(type, integration_type_names[i]))
            return i;
    return -1;
}

static bool is_valid_displayed_type_name(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= '0' && s.p[i] <= '9') ||
              s.p[i] == '_'))
            return false;
    return s.n > 0 && s.n <= MAX_NAME_LENGTH;
}

static bool copy_platform_setting(char *to, struct str s)
{
    if (s.n > MAX_TEXT_LENGTH)
        return false;
    memcpy(to, s.p, s.n);
    to[s.n] = '\0';
    return true;
}

static const char *set_displayed_type_names(struct str list)
{
    while (list.n) {
        struct str word = str_cut(&list, ',');
        int type = find_integration_type_index(str_cut(&word, ':'));

        if (type < 0)
            return "integration-words must be TYPE:WORD,… with the types platform_a, platform_b, "
                   "service and guild_subscription";
        if (!is_valid_displayed_type_name(word))
            return "integration-words contains a word that is not 1-32 characters of a-z, 0-9 "
                   "and _";
        for (int i = 0; i < INTEGRATION_TYPES; i++)
            if (i != type &&
                (str_is(word, integration_type_names[i]) || str_is(word, settings.words[i])))
                return "integration-words uses the same word for two types";
        copy_platform_setting(settings.words[type], word);
    }
    return NULL;
}

static const char *set_platform_provider(enum platform p, const char *at, const char *key)
{
    struct str where = str_of(at ? at : "local");
    bool url = str_starts_with(where, STR("http://")) || str_starts_with(where, STR("https://"));

    settings.on[p] = !str_is(where, "off");
    if (!url && !str_is(where, "local") && !str_is(where, "off"))
        return "platform-a and platform-b must be local, off, or an http(s) URL";
    while (url && where.n && where.p[where.n - 1] == '/')
        where.n--;
    if ((url && !copy_platform_setting(settings.url[p], where)) ||
        !copy_platform_setting(settings.key[p], str_of(key ? key : "")))
        return "platform-a, platform-b and their keys may have at most 512 characters";
    return NULL;
}

static const char *set_partner_settings(const char *guild, const char *account)
{
    struct str name = str_of(account ? account : "partners:Partners");
    uint64_t id = 0;

    if (guild && !str_to_u64(str_of(guild), &id))
        return "partners-guild must be the id of a guild";
    settings.partners_guild = id;
    if (!copy_platform_setting(settings.house_id, str_cut(&name, ':')) ||
        !copy_platform_setting(settings.house_name, name) || !settings.house_id[0] ||
        !settings.house_name[0])
        return "partners-account must be ID:NAME";
    return NULL;
}

bool platforms_configure(const struct platform_options *o, const char **ret_problem)
{
    const char *problem;

    memset(&settings, 0, sizeof settings);
    problem = set_displayed_type_names(str_of(o->words ? o->words : ""));
    for (int p = 0; p < PLATFORM_COUNT && !problem; p++)
        problem = set_platform_provider((enum platform)p, o->at[p], o->key[p]);
    if (!problem)
        problem = set_partner_settings(o->partners_guild, o->partners_account);
    if (problem)
        *ret_problem = problem;
    return !problem;
}

struct str platform_get_database_name(enum platform p)
{
    return str_of(integration_type_names[p]);
}

struct str integration_get_displayed_type(struct str type)
{
    int i = find_integration_type_index(type);

    return i >= 0 && settings.words[i][0] ? str_of(settings.words[i]) : type;
}

enum platform platform_find_by_name(struct str word)
{
    for (int i = 0; i < PLATFORM_COUNT; i++)
        if (str_is(word, integration_type_names[i]) ||
            str_eq(word, integration_get_displayed_type(str_of(integration_type_names[i]))))
            return (enum platform)i;
    return PLATFORM_NONE;
}

bool platform_is_enabled(enum platform p)
{
    return p != PLATFORM_NONE && settings.on[p];
}

struct str platform_get_provider_url(enum platform p)
{
    return settings.url[p][0] ? str_of(settings.url[p]) : (struct str){ 0 };
}

struct str platform_get_provider_key(enum platform p)
{
    return str_of(settings.key[p]);
}

snowflake get_partners_guild_id(void)
{
    return settings.partners_guild;
}

struct str get_partners_account_id(void)
{
    return str_of(settings.house_id);
}

struct str partners_account_name(void)
{
    return str_of(settings.house_name);
}

static bool is_platform_name(struct str word)
{
    return platform_find_by_name(word) != PLATFORM_NONE;
}

static const struct string_rule platform_rule = {
    is_platform_name, "BASE_TYPE_CHOICES", "Value must be one of {'platform_a', 'platform_b'}."
};
const struct type type_platform = { .kind = KIND_STRING,
                                    .rule = &platform_rule,
                                    .doc = "platform_a or platform_b" };
