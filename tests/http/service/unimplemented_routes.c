/* unimplemented_routes.c - known operations that this server does not implement get an
 * explanatory 404. */
#include "world.h"

#include <string.h>

#define NOT_SERVED "{'message': '404: This server does not serve this operation', 'code': 0}"

static struct answer send_request(struct client *c, const char *method, const char *path)
{
    return client_request(c, method, path, NULL, (struct str){ 0 });
}

static void unimplemented_operations_get_an_explanatory_404(struct world *w)
{
    static const char *const asked[][2] = {
        { "POST", "/api/v10/lobbies" },
        { "GET", "/api/v9/lobbies/1" },
        { "PATCH", "/api/lobbies/1/" },
        { "PUT", "/api/v10/partner-sdk/dms/1/2/messages/3/moderation-metadata" },
        { "DELETE", "/api/v10/lobbies/1/members/@me" },
        { "GET", "/api/v10/lobbies/1/messages?limit=5" },
    };
    struct client *callers[] = { world_client(w, "ada"), world_bot(w, "robot"),
                                 world_anonymous(w) };

    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        for (size_t j = 0; j < 3; j++) {
            struct answer a = send_request(callers[j], asked[i][0], asked[i][1]);

            expect_error(a, 404, 0);
            expect_json(a, NOT_SERVED);
        }
    expect_status(send_request(callers[0], "HEAD", "/api/v10/lobbies/1"), 404);
}

static void unknown_paths_get_a_plain_404(struct world *w)
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
        expect_json(send_request(world_anonymous(w), asked[i][0], asked[i][1]),
                    "{'message': '404: Not Found', 'code': 0}");
}

const struct test unimplemented_routes_tests[] = {
    TEST(unimplemented_operations_get_an_explanatory_404),
    TEST(unknown_paths_get_a_plain_404),
    { 0 },
};
