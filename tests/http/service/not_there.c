/* not_there.c - what the interface knows and this server does not have is refused in words. */
#include "world.h"

#include <string.h>

#define NOT_SERVED "{'message': '404: This server does not serve this operation', 'code': 0}"

static struct answer ask(struct client *c, const char *method, const char *path)
{
    return client_request(c, method, path, NULL, (struct str){ 0 });
}

static void operations_that_are_not_served_say_so(struct world *w)
{
    static const char *const asked[][2] = {
        { "POST", "/api/v10/lobbies" },
        { "GET", "/api/v9/lobbies/1" },
        { "PATCH", "/api/lobbies/1/" },
        { "PUT", "/api/v10/partner-sdk/dms/1/2/messages/3/moderation-metadata" },
        { "DELETE", "/api/v10/lobbies/1/members/@me" },
        { "GET", "/api/v10/lobbies/1/messages?limit=5" },
    };
    struct client *callers[] = { world_client(w, "ada"), world_bot(w, "robot"), world_stranger(w) };

    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        for (size_t j = 0; j < 3; j++) {
            struct answer a = ask(callers[j], asked[i][0], asked[i][1]);

            expect_error(a, 404, 0);
            expect_json(a, NOT_SERVED);
        }
    expect_status(ask(callers[0], "HEAD", "/api/v10/lobbies/1"), 404);
}

static void paths_that_nobody_knows_are_only_not_found(struct world *w)
{
    static const char *const asked[][2] = {
        { "GET", "/api/v10/lobbies" },
        { "GET", "/lobbies/1" },
        { "GET", "/api/v10/lobbies//messages" },
        { "GET", "/api/v5/lobbies/1" },
        { "GET", "/api/v10/lobbies/1/messages/2" },
        { "BREW", "/api/v10/lobbies" },
        { "GET", "/api/v10" },
    };

    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        expect_json(ask(world_stranger(w), asked[i][0], asked[i][1]),
                    "{'message': '404: Not Found', 'code': 0}");
}

const struct test not_there_tests[] = {
    TEST(operations_that_are_not_served_say_so),
    TEST(paths_that_nobody_knows_are_only_not_found),
    { 0 },
};
