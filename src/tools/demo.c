/* demo.c - `guildhall demo`: runs the server with example data (accounts, guilds, an app). */
#include <stdio.h>
#include <string.h>

#include "gifs/gifs.h"
#include "server/guildhall.h"
#include "tools/demo_bot.h"
#include "tools/serve.h"

enum { DEMO_ACCOUNTS = 3, HELPER_INDEX = 2 };
static const char *const demo_usernames[DEMO_ACCOUNTS] = { "ada", "bob", "helper" };

struct demo_state {
    struct account_token_request requests[DEMO_ACCOUNTS];
    struct demo_guild_ids ids;
    const struct config *config;
    struct demo_bot *bot; /* set once the server runs */
};

/* Imports the example data if the database is empty. Otherwise changes nothing. */
static enum err import_demo_world_into_empty_database(const struct config *config,
                                                      struct store *store)
{
    struct world_file_import_report report;
    struct gifs_import_report gifs;
    bool empty;
    enum err e = store_has_no_accounts(store, &empty);

    if (e || !empty)
        return e;
    struct arena *arena = arena_new();
    e = import_world_file_text(config, store, str_of(world_demo), false, NULL, arena, &report);
    arena_free(arena);
    return e ? e : gifs_import_demo(store, &gifs);
}

/* Prepares the example data and the tokens of its accounts. The tokens stay the same after a
 * restart. */
static enum err prepare_demo_data_and_tokens(const struct config *config, struct demo_state *t)
{
    struct store *store = NULL;
    struct auth *auth = NULL;
    enum err e = guildhall_open_store(config, false, &store);

    if (!e)
        e = import_demo_world_into_empty_database(config, store);
    if (!e)
        e = demo_guild_ids_read(store, &t->ids);
    if (!e)
        e = auth_new(config->data, store, &auth);
    for (int i = 0; i < DEMO_ACCOUNTS && !e; i++) {
        t->requests[i] = (struct account_token_request){ .auth = auth,
                                                         .username = str_of(demo_usernames[i]),
                                                         .purpose = STR("guildhall demo"),
                                                         .lasts = true };
        e = issue_account_token(store, &t->requests[i]);
    }
    auth_free(auth);
    store_close(store);
    return e;
}

static bool database_has_demo_world(const struct demo_state *t)
{
    for (int i = 0; i < DEMO_ACCOUNTS; i++)
        if (!t->requests[i].found)
            return false;
    return t->ids.guild != 0;
}

static const char EXAMPLE_REQUESTS[] =
    "\nPaste the lines above into another terminal, then any of these:\n\n"
    "  curl -s $api/users/@me -H \"Authorization: $ada\"\n"
    "  curl -s $api/users/@me/guilds -H \"Authorization: $bob\"\n"
    "  curl -s $api/guilds/$guild/channels -H \"Authorization: $helper\"\n"
    "  curl -s $api/channels/$channel/messages -H \"Authorization: $ada\"\n"
    "  curl -s $api/guilds/$guild/application-command-index -H \"Authorization: $ada\"\n"
    "  curl -s \"$api/gifs/search?q=happy&media_format=gif\"\n"
    "  curl -s $api/channels/$channel/messages -H \"Authorization: $helper\" \\\n"
    "       -H 'Content-Type: application/json' -d '{\"content\": \"Hello from curl\"}'\n";

static void print_demo_guide(void *arg, const char *url)
{
    struct demo_state *t = arg;

    if (!database_has_demo_world(t)) {
        printf("\nThe data folder contains another world; the demo world is only created in an "
               "empty folder.\n");
        return;
    }
    printf(
        "\nThe Workshop: six people, a bot, a guild with text, voice and stage channels.\n"
        "The tokens stay the same at each start.\n\n  api=%s/api/v10\n  guild=%llu channel=%llu\n",
        url, (unsigned long long)t->ids.guild, (unsigned long long)t->ids.channel);
    for (int i = 0; i < DEMO_ACCOUNTS; i++)
        printf("  %s='%s%s'\n", demo_usernames[i], t->requests[i].bot ? "Bot " : "",
               t->requests[i].token);
    printf("%s\nEvery route: %s/openapi.json\n", EXAMPLE_REQUESTS, url);
    t->bot = demo_bot_start(t->config, url, t->requests[HELPER_INDEX].token);
}

/* Returns the configuration with workbench, request and traffic log enabled, unless set. */
static struct config make_config_of_demo(const struct config *given)
{
    struct config c = *given;

    if (strcmp(c.workbench, "auto") == 0)
        c.workbench = "on";
    if (strcmp(c.call_log, "auto") == 0)
        c.call_log = "on";
    if (!c.traffic_mib)
        c.traffic_mib = 8;
    return c;
}

int run_command_demo(const struct command_settings *s, char **arguments)
{
    struct config config = make_config_of_demo(&s->config);
    struct demo_state tour = { .config = &config };

    (void)arguments;
    if (prepare_demo_data_and_tokens(&config, &tour))
        return 1;
    int status = serve_until_stopped(&config, NULL, print_demo_guide, &tour);
    demo_bot_stop(tour.bot);
    return status;
}
