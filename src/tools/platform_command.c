/* platform_command.c - `guildhall platform`: changes accounts of local platforms, which stand for
 * other services. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "server/guildhall.h"
#include "integrations/integrations.h"
#include "tools/tools.h"

/* A request: the arguments of the command line, or one line of an import file. */
struct platform_request {
    struct auth *auth;
    enum platform platform;
    char **words; /* arguments after the name of the platform */
    int count;
    char code[64];
    const char *problem;
};

static bool request_has_argument(const struct platform_request *o, int from, const char *word)
{
    for (int i = from; i < o->count; i++)
        if (strcmp(o->words[i], word) == 0)
            return true;
    return false;
}

static bool is_platform_account_id(const char *text)
{
    size_t n = strlen(text);

    return n >= 1 && n <= 128;
}

/* --- commands ------------------------------------------------------------------------- */

static enum err upsert_platform_account(struct tx *tx, void *arg)
{
    struct platform_request *o = arg;
    bool programme = request_has_argument(o, 2, "programme"),
         partner = request_has_argument(o, 2, "partner");

    return upsert_local_platform_account(tx, &(struct local_platform_account){
                                                 .platform = o->platform,
                                                 .id = str_of(o->words[0]),
                                                 .name = str_of(o->words[1]),
                                                 .has_programme = { GIVEN, programme },
                                                 .is_partner = { GIVEN, partner },
                                             });
}

static enum err create_account_link_code(struct tx *tx, void *arg)
{
    struct platform_request *o = arg;
    struct str code;
    enum err e =
        create_local_platform_link_code(tx, o->auth, o->platform, str_of(o->words[0]), &code);

    if (!e)
        snprintf(o->code, sizeof o->code, "%.*s", STR_ARGS(code));
    return e;
}

static enum err upsert_platform_subscription(struct tx *tx, void *arg)
{
    struct platform_request *o = arg;
    int64_t days = 0;

    if (o->count > 2 && (!str_to_i64(str_of(o->words[2]), &days) || days < 1 || days > 36500)) {
        o->problem = "a subscription lasts 1-36500 days, or has no end";
        return ERR_BAD_REQUEST;
    }
    return upsert_local_platform_subscription(
        tx, &(struct local_platform_subscription){
                .platform = o->platform,
                .account_id = str_of(o->words[0]),
                .subscriber_id = str_of(o->words[1]),
                .until = days ? clock_us() + days * 86400 * INT64_C(1000000) : 0,
            });
}

static enum err delete_platform_subscription(struct tx *tx, void *arg)
{
    const struct platform_request *o = arg;

    return delete_local_platform_subscription(tx, o->platform, str_of(o->words[0]),
                                              str_of(o->words[1]));
}

static enum err insert_platform_friendship(struct tx *tx, void *arg)
{
    const struct platform_request *o = arg;

    return insert_local_platform_friendship(tx, o->platform, str_of(o->words[0]),
                                            str_of(o->words[1]));
}

struct platform_verb {
    const char *name, *arguments;
    int min_arguments;
    enum err (*run)(struct tx *tx, void *arg);
};
static const struct platform_verb platform_verbs[] = {
    { "account", "PLATFORM ID NAME [programme] [partner]", 2, upsert_platform_account },
    { "code", "PLATFORM ID", 1, create_account_link_code },
    { "subscribe", "PLATFORM ACCOUNT SUBSCRIBER [DAYS]", 2, upsert_platform_subscription },
    { "unsubscribe", "PLATFORM ACCOUNT SUBSCRIBER", 2, delete_platform_subscription },
    { "friends", "PLATFORM ACCOUNT ACCOUNT", 2, insert_platform_friendship },
    { 0 },
};

/* --- command line --------------------------------------------------------------------- */

static int print_platform_usage(void)
{
    fprintf(stderr, "guildhall: platform changes accounts of a local platform:\n");
    for (const struct platform_verb *v = platform_verbs; v->name; v++)
        fprintf(stderr, "  platform %s %s\n", v->name, v->arguments);
    fprintf(stderr, "  platform import FILE.csv\n  platform guild-subscription GUILD\n");
    return 2;
}

static const struct platform_verb *find_platform_account_command(const char *name)
{
    for (const struct platform_verb *v = platform_verbs; v->name; v++)
        if (strcmp(v->name, name) == 0)
            return v;
    return NULL;
}

static int print_platform_result(enum err e, const struct platform_request *o)
{
    if (e == ERR_NOT_FOUND)
        fprintf(stderr, "guildhall: there is no such account\n");
    else if (e)
        fprintf(stderr, "guildhall: %s\n", o->problem ? o->problem : error_info(e)->message);
    else if (o->code[0])
        puts(o->code);
    return e ? 1 : 0;
}

static int run_platform_account_command(const struct command_settings *s,
                                        const struct platform_verb *v, struct platform_request *o)
{
    struct store *store = NULL;
    int status = 1;

    if (!open_store_as_data_folder_owner(&s->config, &store) &&
        !auth_new(s->config.data, store, &o->auth))
        status = print_platform_result(
            store_run_transaction_and_wait(store, STORE_WRITE, NULL, v->run, o), o);
    auth_free(o->auth);
    store_close(store);
    return status;
}

/* --- platform import ------------------------------------------------------------------ */

/* Lines of an import file have the form "account,PLATFORM,ID,NAME,…", without quotes. */

enum { MAX_WORDS = 8, MAX_LINE_BYTES = 4096, LINES_PER_TRANSACTION = 1000 };

struct import_batch {
    char lines[LINES_PER_TRANSACTION][256];
    int count, first; /* first: line number of the first request */
    struct auth *auth;
    int bad; /* number of the invalid line, or 0 */
    const char *problem;
};

static int split_csv_line(char *line, char **words)
{
    int n = 0;
    char *rest = line, *word;

    while (n < MAX_WORDS && (word = strsep(&rest, ",")))
        words[n++] = word;
    while (n && !words[n - 1][0])
        n--;
    return n;
}

static enum err import_csv_line(struct tx *tx, struct import_batch *b, const char *text, int number)
{
    char line[256], *words[MAX_WORDS];
    struct platform_request o = { .auth = b->auth };

    snprintf(line, sizeof line, "%s", text);
    int count = split_csv_line(line, words);
    const struct platform_verb *v = count ? find_platform_account_command(words[0]) : NULL;
    o.platform = count > 1 ? platform_find_by_name(str_of(words[1])) : PLATFORM_NONE;
    o.words = words + 2;
    o.count = count - 2;
    enum err e = ERR_BAD_REQUEST;
    if (!v || o.platform == PLATFORM_NONE || o.count < v->min_arguments)
        b->problem = "the line must contain a verb, a platform and the arguments of the verb";
    else if (!is_platform_account_id(o.words[0]) ||
             !is_platform_account_id(o.words[o.count > 1 ? 1 : 0]))
        b->problem = "names and ids have 1-128 characters";
    else
        e = v->run(tx, &o);
    if (e == ERR_NOT_FOUND)
        b->problem = "there is no such account";
    if (e)
        b->bad = number;
    return e;
}

static enum err import_csv_line_batch(struct tx *tx, void *arg)
{
    struct import_batch *b = arg;
    enum err e = OK;

    for (int i = 0; i < b->count && !e; i++)
        e = import_csv_line(tx, b, b->lines[i], b->first + i);
    return e;
}

static enum err import_all_csv_lines(struct store *store, FILE *f, struct import_batch *b,
                                     int64_t *ret_count)
{
    char line[MAX_LINE_BYTES];
    enum err e = OK;
    bool more = true;

    b->first = 1;
    while (more && !e) {
        b->count = 0;
        while (b->count < LINES_PER_TRANSACTION && (more = fgets(line, sizeof line, f) != NULL)) {
            line[strcspn(line, "\r\n")] = '\0';
            snprintf(b->lines[b->count++], sizeof *b->lines, "%.255s", line);
        }
        e = store_run_transaction_and_wait(store, STORE_WRITE, NULL, import_csv_line_batch, b);
        b->first += e ? 0 : b->count;
        *ret_count += b->count;
    }
    return e;
}

static int import_csv_file(const struct command_settings *s, const char *path)
{
    struct import_batch *b = mem_new(sizeof *b);
    FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    struct store *store = NULL;
    int64_t count = 0;
    enum err e = ERR_INTERNAL;

    if (!f)
        fprintf(stderr, "guildhall: cannot read '%s': %s\n", path, strerror(errno));
    else if (!open_store_as_data_folder_owner(&s->config, &store) &&
             !auth_new(s->config.data, store, &b->auth))
        e = import_all_csv_lines(store, f, b, &count);
    if (e && b->bad)
        fprintf(stderr, "guildhall: line %d: %s; %d lines before it were imported\n", b->bad,
                b->problem ? b->problem : error_info(e)->message, b->first - 1);
    else if (!e)
        printf("%lld lines\n", (long long)count);
    auth_free(b->auth);
    store_close(store);
    mem_free(b);
    if (f && f != stdin)
        fclose(f);
    return e ? 1 : 0;
}

/* --- platform guild-subscription ------------------------------------------------------ */

struct guild_subscription_request {
    snowflake guild_id;
    bool made;
};

static enum err write_guild_subscription(struct tx *tx, void *arg)
{
    struct guild_subscription_request *o = arg;

    return insert_guild_subscription_integration(tx, o->guild_id, &o->made);
}

static int add_guild_subscription(const struct command_settings *s, const char *id)
{
    struct guild_subscription_request o = { 0 };
    struct store *store = NULL;

    if (!str_to_u64(str_of(id), &o.guild_id))
        return print_usage_forms("platform guild-subscription GUILD");
    enum err e = open_store_as_data_folder_owner(&s->config, &store);
    if (!e)
        e = store_run_transaction_and_wait(store, STORE_WRITE, NULL, write_guild_subscription, &o);
    store_close(store);
    if (e)
        fprintf(stderr, "guildhall: %s\n", error_info(e)->message);
    else
        puts(o.made ? "made" : "the guild already has one");
    return e ? 1 : 0;
}

int run_command_platform(const struct command_settings *s, char **arguments)
{
    int count = 0;

    while (arguments[count])
        count++;
    if (count == 2 && strcmp(arguments[0], "import") == 0)
        return import_csv_file(s, arguments[1]);
    if (count == 2 && strcmp(arguments[0], "guild-subscription") == 0)
        return add_guild_subscription(s, arguments[1]);
    const struct platform_verb *v = count ? find_platform_account_command(arguments[0]) : NULL;
    if (count && !v && strcmp(arguments[0], "import") != 0 &&
        strcmp(arguments[0], "guild-subscription") != 0)
        fprintf(stderr, "guildhall: there is no command 'platform %.64s'\n", arguments[0]);
    if (!v || count < 2 + v->min_arguments)
        return print_platform_usage();
    struct platform_request o = { .platform = platform_find_by_name(str_of(arguments[1])),
                                  .words = arguments + 2,
                                  .count = count - 2 };
    if (o.platform == PLATFORM_NONE)
        return print_usage_error("the platform must be platform_a or platform_b");
    if (!is_platform_account_id(o.words[0]) || (o.count > 1 && !is_platform_account_id(o.words[1])))
        return print_usage_error("names and ids have 1-128 characters");
    return run_platform_account_command(s, v, &o);
}
