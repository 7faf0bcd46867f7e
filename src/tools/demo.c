/* demo.c - `guildhall demo`: the server with a small lively world to try. */
#include <stdio.h>

#include "guildhall.h"
#include "tools/serve.h"

enum { PEOPLE = 3 };
static const char *const people[PEOPLE] = { "ada", "bob", "helper" };

/* Fills an empty store; another world is left alone. */
static enum err fill(const struct config *config, struct store *store)
{
    struct world_report report;
    bool empty;
    enum err e = world_is_empty(store, &empty);

    if (e || !empty)
        return e;
    struct arena *arena = arena_new();
    e = import_text(config, store, str_of(world_demo), false, arena, &report);
    arena_free(arena);
    return e;
}

/* Credentials cannot be shown twice, so each start gives out new ones. */
static enum err prepare(const struct config *config, struct token_wish *wishes)
{
    struct store *store = NULL;
    struct auth *auth = NULL;
    enum err e = guildhall_open_store(config, false, &store);

    if (!e)
        e = fill(config, store);
    if (!e)
        e = auth_open(config->data, &auth);
    for (int i = 0; i < PEOPLE && !e; i++) {
        wishes[i] = (struct token_wish){ .auth = auth,
                                         .username = str_of(people[i]),
                                         .purpose = STR("guildhall demo") };
        e = world_give_token(store, &wishes[i]);
    }
    auth_close(auth);
    store_close(store);
    return e;
}

static void print_tour(void *arg, const char *url)
{
    const struct token_wish *wishes = arg;

    for (int i = 0; i < PEOPLE; i++) {
        if (!wishes[i].found) {
            printf(
                "\nThe data folder holds another world than the demo's; an empty one is filled.\n");
            return;
        }
    }
    printf("\nThe Workshop: six people, a bot, a guild with text, voice and stage channels.\n"
           "These tokens are new at each start:\n\n");
    for (int i = 0; i < PEOPLE; i++)
        printf("  %s='%s%s'\n", people[i], wishes[i].bot ? "Bot " : "", wishes[i].token);
    printf("  api=%s/api/v10\n"
           "\nTry, in another terminal, after pasting the lines above:\n\n"
           "  curl -s $api/users/@me -H \"Authorization: $ada\"\n"
           "  curl -s $api/users/@me/guilds -H \"Authorization: $ada\"\n"
           "  curl -s $api/users/@me/channels -H \"Authorization: $bob\"\n"
           "  curl -s $api/users/@me/guilds -H \"Authorization: $helper\"\n"
           "  curl -s $api/users/@me -H \"Authorization: $bob\" -X PATCH \\\n"
           "       -H 'Content-Type: application/json' -d '{\"global_name\": \"Robert\"}'\n"
           "\nEvery route: %s/openapi.json\n",
           url, url);
}

int tool_demo(const struct settings *s, char **arguments)
{
    struct token_wish wishes[PEOPLE] = { 0 };

    if (*arguments)
        return usage("demo takes no arguments");
    if (prepare(&s->config, wishes))
        return 1;
    return serve_until_stopped(&s->config, print_tour, wishes);
}
