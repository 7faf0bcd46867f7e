/* platforms.c - the external platforms that the operator configures. */
#include "model/configured/platforms.h"

enum { TYPES = 4, LONGEST_WORD = 32, LONGEST_TEXT = 512 };

/* Types of integrations in the store; platforms come first. */
static const char *const types[TYPES] = { "platform_a", "platform_b", "service",
                                          "guild_subscription" };

static struct {
    char words[TYPES][LONGEST_WORD + 1]; /* names that clients get instead of the types */
    bool on[PLATFORM_COUNT];
    char url[PLATFORM_COUNT][LONGEST_TEXT + 1], key[PLATFORM_COUNT][LONGEST_TEXT + 1];
    snowflake partners_guild;
    char house_id[LONGEST_TEXT + 1], house_name[LONGEST_TEXT + 1];
} settings;

/* --- reading the options -------------------------------------------------------------- */

static int type_index(struct str type)
{
    for (int i = 0; i < TYPES; i++)
        if (str_is(type, types[i]))
            return i;
    return -1;
}

static bool is_word(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= '0' && s.p[i] <= '9') ||
              s.p[i] == '_'))
            return false;
    return s.n > 0 && s.n <= LONGEST_WORD;
}

static bool platform_copy(char *to, struct str s)
{
    if (s.n > LONGEST_TEXT)
        return false;
    memcpy(to, s.p, s.n);
    to[s.n] = '\0';
    return true;
}

static const char *set_words(struct str list)
{
    while (list.n) {
        struct str word = str_cut(&list, ',');
        int type = type_index(str_cut(&word, ':'));

        if (type < 0)
            return "integration-words must be TYPE:WORD,… with the types platform_a, platform_b, "
                   "service and guild_subscription";
        if (!is_word(word))
            return "integration-words contains a word that is not 1-32 characters of a-z, 0-9 "
                   "and _";
        for (int i = 0; i < TYPES; i++)
            if (i != type && (str_is(word, types[i]) || str_is(word, settings.words[i])))
                return "integration-words uses the same word for two types";
        platform_copy(settings.words[type], word);
    }
    return NULL;
}

static const char *set_platform(enum platform p, const char *at, const char *key)
{
    struct str where = str_of(at ? at : "local");
    bool url = str_starts(where, STR("http://")) || str_starts(where, STR("https://"));

    settings.on[p] = !str_is(where, "off");
    if (!url && !str_is(where, "local") && !str_is(where, "off"))
        return "platform-a and platform-b must be local, off, or an http(s) URL";
    while (url && where.n && where.p[where.n - 1] == '/')
        where.n--;
    if ((url && !platform_copy(settings.url[p], where)) ||
        !platform_copy(settings.key[p], str_of(key ? key : "")))
        return "platform-a, platform-b and their keys may have at most 512 characters";
    return NULL;
}

static const char *set_partners(const char *guild, const char *account)
{
    struct str name = str_of(account ? account : "partners:Partners");
    uint64_t id = 0;

    if (guild && !str_to_u64(str_of(guild), &id))
        return "partners-guild must be the id of a guild";
    settings.partners_guild = id;
    if (!platform_copy(settings.house_id, str_cut(&name, ':')) ||
        !platform_copy(settings.house_name, name) || !settings.house_id[0] ||
        !settings.house_name[0])
        return "partners-account must be ID:NAME";
    return NULL;
}

bool platforms_set(const struct platform_options *o, const char **ret_problem)
{
    const char *problem;

    memset(&settings, 0, sizeof settings);
    problem = set_words(str_of(o->words ? o->words : ""));
    for (int p = 0; p < PLATFORM_COUNT && !problem; p++)
        problem = set_platform((enum platform)p, o->at[p], o->key[p]);
    if (!problem)
        problem = set_partners(o->partners_guild, o->partners_account);
    if (problem)
        *ret_problem = problem;
    return !problem;
}

/* --- reading the configuration -------------------------------------------------------- */

struct str platform_name(enum platform p)
{
    return str_of(types[p]);
}

struct str integration_word(struct str type)
{
    int i = type_index(type);

    return i >= 0 && settings.words[i][0] ? str_of(settings.words[i]) : type;
}

enum platform platform_of(struct str word)
{
    for (int i = 0; i < PLATFORM_COUNT; i++)
        if (str_is(word, types[i]) || str_eq(word, integration_word(str_of(types[i]))))
            return (enum platform)i;
    return PLATFORM_NONE;
}

bool platform_is_on(enum platform p)
{
    return p != PLATFORM_NONE && settings.on[p];
}

struct str platform_url(enum platform p)
{
    return settings.url[p][0] ? str_of(settings.url[p]) : (struct str){ 0 };
}

struct str platform_key(enum platform p)
{
    return str_of(settings.key[p]);
}

snowflake partners_guild(void)
{
    return settings.partners_guild;
}

struct str partners_account_id(void)
{
    return str_of(settings.house_id);
}

struct str partners_account_name(void)
{
    return str_of(settings.house_name);
}

static bool is_platform(struct str word)
{
    return platform_of(word) != PLATFORM_NONE;
}

static const struct rule platform_rule = { is_platform, "BASE_TYPE_CHOICES",
                                           "Value must be one of {'platform_a', 'platform_b'}." };
const struct type type_platform = { .kind = KIND_STRING,
                                    .rule = &platform_rule,
                                    .doc = "platform_a or platform_b" };
