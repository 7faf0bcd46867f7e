/* platforms.c - `guildhall platform`: changes accounts of the local platforms. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "server/guildhall.h"
#include "integrations/integrations.h"
#include "tools/tools.h"

/* One request: the arguments of the command line, or a line of an import file. */
struct platform_order {
    struct auth *auth;
    enum platform platform;
    char **words; /* arguments after the platform */
    int count;
    char code[64];
    const char *problem;
};

static bool has_word(const struct platform_order *o, int from, const char *word)
{
    for (int i = from; i < o->count; i++)
        if (strcmp(o->words[i], word) == 0)
            return true;
    return false;
}

static bool is_id(const char *text)
{
    size_t n = strlen(text);

    return n >= 1 && n <= 128;
}

/* --- commands ------------------------------------------------------------------------- */

static enum err set_account(struct tx *tx, void *arg)
{
    struct platform_order *o = arg;
    bool programme = has_word(o, 2, "programme"), partner = has_word(o, 2, "partner");

    return local_account_save(tx, &(struct local_account){
                                      .platform = o->platform,
                                      .id = str_of(o->words[0]),
                                      .name = str_of(o->words[1]),
                                      .has_programme = { GIVEN, programme },
                                      .is_partner = { GIVEN, partner },
                                  });
}

static enum err make_code(struct tx *tx, void *arg)
{
    struct platform_order *o = arg;
    struct str code;
    enum err e = local_code_make(tx, o->auth, o->platform, str_of(o->words[0]), &code);

    if (!e)
        snprintf(o->code, sizeof o->code, "%.*s", STR_FMT(code));
    return e;
}

static enum err platform_subscribe(struct tx *tx, void *arg)
{
    struct platform_order *o = arg;
    int64_t days = 0;

    if (o->count > 2 && (!str_to_i64(str_of(o->words[2]), &days) || days < 1 || days > 36500)) {
        o->problem = "a subscription lasts 1-36500 days, or has no end";
        return ERR_BAD_REQUEST;
    }
    return local_subscription_save(
        tx, &(struct local_subscription){
                .platform = o->platform,
                .account_id = str_of(o->words[0]),
                .subscriber_id = str_of(o->words[1]),
                .until = days ? clock_us() + days * 86400 * INT64_C(1000000) : 0,
            });
}

static enum err platform_unsubscribe(struct tx *tx, void *arg)
{
    const struct platform_order *o = arg;

    return local_subscription_end(tx, o->platform, str_of(o->words[0]), str_of(o->words[1]));
}

static enum err platform_befriend(struct tx *tx, void *arg)
{
    const struct platform_order *o = arg;

    return local_friends_save(tx, o->platform, str_of(o->words[0]), str_of(o->words[1]));
}

struct verb {
    const char *name, *arguments;
    int least;
    enum err (*run)(struct tx *tx, void *arg);
};
static const struct verb verbs[] = {
    { "account", "PLATFORM ID NAME [programme] [partner]", 2, set_account },
    { "code", "PLATFORM ID", 1, make_code },
    { "subscribe", "PLATFORM ACCOUNT SUBSCRIBER [DAYS]", 2, platform_subscribe },
    { "unsubscribe", "PLATFORM ACCOUNT SUBSCRIBER", 2, platform_unsubscribe },
    { "friends", "PLATFORM ACCOUNT ACCOUNT", 2, platform_befriend },
    { 0 },
};

/* --- command line --------------------------------------------------------------------- */

static int how_to(void)
{
    fprintf(stderr, "guildhall: platform changes accounts of a local platform:\n");
    for (const struct verb *v = verbs; v->name; v++)
        fprintf(stderr, "  platform %s %s\n", v->name, v->arguments);
    fprintf(stderr, "  platform import FILE.csv\n  platform guild-subscription GUILD\n");
    return 2;
}

static const struct verb *find_verb(const char *name)
{
    for (const struct verb *v = verbs; v->name; v++)
        if (strcmp(v->name, name) == 0)
            return v;
    return NULL;
}

static int platform_report(enum err e, const struct platform_order *o)
{
    if (e == ERR_NOT_FOUND)
        fprintf(stderr, "guildhall: there is no such account\n");
    else if (e)
        fprintf(stderr, "guildhall: %s\n", o->problem ? o->problem : error_info(e)->message);
    else if (o->code[0])
        puts(o->code);
    return e ? 1 : 0;
}

static int run_order(const struct settings *s, const struct verb *v, struct platform_order *o)
{
    struct store *store = NULL;
    int status = 1;

    if (!tool_open_store(&s->config, &store) && !auth_open(s->config.data, store, &o->auth))
        status = platform_report(store_run(store, STORE_WRITE, NULL, v->run, o), o);
    auth_close(o->auth);
    store_close(store);
    return status;
}

/* --- platform import ------------------------------------------------------------------ */

/* Lines have the form "account,PLATFORM,ID,NAME,…", like the arguments, without quotes. */

enum { MOST_WORDS = 8, LONGEST_LINE = 4096, LINES_AT_ONCE = 1000 };

struct batch {
    char lines[LINES_AT_ONCE][256];
    int count, first; /* first: number of the first line */
    struct auth *auth;
    int bad; /* number of the invalid line; 0: none */
    const char *problem;
};

static int platform_split(char *line, char **words)
{
    int n = 0;
    char *rest = line, *word;

    while (n < MOST_WORDS && (word = strsep(&rest, ",")))
        words[n++] = word;
    while (n && !words[n - 1][0])
        n--;
    return n;
}

static enum err run_line(struct tx *tx, struct batch *b, const char *text, int number)
{
    char line[256], *words[MOST_WORDS];
    struct platform_order o = { .auth = b->auth };

    snprintf(line, sizeof line, "%s", text);
    int count = platform_split(line, words);
    const struct verb *v = count ? find_verb(words[0]) : NULL;
    o.platform = count > 1 ? platform_of(str_of(words[1])) : PLATFORM_NONE;
    o.words = words + 2;
    o.count = count - 2;
    enum err e = ERR_BAD_REQUEST;
    if (!v || o.platform == PLATFORM_NONE || o.count < v->least)
        b->problem = "the line must contain a verb, a platform and the arguments of the verb";
    else if (!is_id(o.words[0]) || !is_id(o.words[o.count > 1 ? 1 : 0]))
        b->problem = "names and ids have 1-128 characters";
    else
        e = v->run(tx, &o);
    if (e == ERR_NOT_FOUND)
        b->problem = "there is no such account";
    if (e)
        b->bad = number;
    return e;
}

static enum err run_batch(struct tx *tx, void *arg)
{
    struct batch *b = arg;
    enum err e = OK;

    for (int i = 0; i < b->count && !e; i++)
        e = run_line(tx, b, b->lines[i], b->first + i);
    return e;
}

static enum err import_lines(struct store *store, FILE *f, struct batch *b, int64_t *ret_count)
{
    char line[LONGEST_LINE];
    enum err e = OK;
    bool more = true;

    b->first = 1;
    while (more && !e) {
        b->count = 0;
        while (b->count < LINES_AT_ONCE && (more = fgets(line, sizeof line, f) != NULL)) {
            line[strcspn(line, "\r\n")] = '\0';
            snprintf(b->lines[b->count++], sizeof *b->lines, "%.255s", line);
        }
        e = store_run(store, STORE_WRITE, NULL, run_batch, b);
        b->first += e ? 0 : b->count;
        *ret_count += b->count;
    }
    return e;
}

static int import_file(const struct settings *s, const char *path)
{
    struct batch *b = mem_new(sizeof *b);
    FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    struct store *store = NULL;
    int64_t count = 0;
    enum err e = ERR_INTERNAL;

    if (!f)
        fprintf(stderr, "guildhall: cannot read '%s': %s\n", path, strerror(errno));
    else if (!tool_open_store(&s->config, &store) && !auth_open(s->config.data, store, &b->auth))
        e = import_lines(store, f, b, &count);
    if (e && b->bad)
        fprintf(stderr, "guildhall: line %d: %s; %d lines before it were imported\n", b->bad,
                b->problem ? b->problem : error_info(e)->message, b->first - 1);
    else if (!e)
        printf("%lld lines\n", (long long)count);
    auth_close(b->auth);
    store_close(store);
    mem_free(b);
    if (f && f != stdin)
        fclose(f);
    return e ? 1 : 0;
}

/* --- platform guild-subscription ------------------------------------------------------ */

struct guild_order {
    snowflake guild_id;
    bool made;
};

static enum err add_subscription(struct tx *tx, void *arg)
{
    struct guild_order *o = arg;

    return guild_subscription_add(tx, o->guild_id, &o->made);
}

static int subscribe_guild(const struct settings *s, const char *id)
{
    struct guild_order o = { 0 };
    struct store *store = NULL;

    if (!str_to_u64(str_of(id), &o.guild_id))
        return usage("platform guild-subscription GUILD");
    enum err e = tool_open_store(&s->config, &store);
    if (!e)
        e = store_run(store, STORE_WRITE, NULL, add_subscription, &o);
    store_close(store);
    if (e)
        fprintf(stderr, "guildhall: %s\n", error_info(e)->message);
    else
        puts(o.made ? "made" : "the guild already has one");
    return e ? 1 : 0;
}

int tool_platform(const struct settings *s, char **arguments)
{
    int count = 0;

    while (arguments[count])
        count++;
    if (count == 2 && strcmp(arguments[0], "import") == 0)
        return import_file(s, arguments[1]);
    if (count == 2 && strcmp(arguments[0], "guild-subscription") == 0)
        return subscribe_guild(s, arguments[1]);
    const struct verb *v = count ? find_verb(arguments[0]) : NULL;
    if (!v || count < 2 + v->least)
        return how_to();
    struct platform_order o = { .platform = platform_of(str_of(arguments[1])),
                                .words = arguments + 2,
                                .count = count - 2 };
    if (o.platform == PLATFORM_NONE)
        return usage("the platform must be platform_a or platform_b");
    if (!is_id(o.words[0]) || (o.count > 1 && !is_id(o.words[1])))
        return usage("names and ids have 1-128 characters");
    return run_order(s, v, &o);
}
