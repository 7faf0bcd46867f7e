/* consents.c - OAuth2 authorizations for tests. */
#include "consents.h"

#include <string.h>

#include "guilds.h"

struct consent world_consent(struct world *w)
{
    struct consent s = { .ada = world_client(w, "ada"),
                         .bob = world_client(w, "bob"),
                         .nobody = world_anonymous(w) };

    s.app = make_application(s.ada, "App");
    s.secret = application_secret(s.ada, s.app);
    s.guild = found_guild(s.bob, "Home");
    expect_status(client_patch(s.ada, "{'redirect_uris': ['https://app.example/back']}",
                               "/applications/%s", s.app),
                  200);
    return s;
}

const char *url_part(struct answer a, const char *name)
{
    struct arena *arena = world_arena(a.client->world);
    const char *url = answer_text(a, "url"), *at = strstr(url, str_printf(arena, "%s=", name).p);

    expect(at);
    at += strlen(name) + 1;
    return str_dup_cstring(arena, str_slice(at, strcspn(at, "&")));
}

const char *get_code(struct client *c, const char *app, const char *scope)
{
    struct answer a = client_post(
        c, "{'authorize': true}",
        AUTHORIZE "?client_id=%s&response_type=code&redirect_uri=" BACK "&scope=%s", app, scope);

    expect_status(a, 200);
    return url_part(a, "code");
}

struct answer exchange(const struct consent *s, const char *code)
{
    return client_form(s->nobody, TOKEN,
                       "grant_type=authorization_code&code=%s&redirect_uri=" BACK
                       "&client_id=%s&client_secret=%s",
                       code, s->app, s->secret);
}

struct answer granted(const struct consent *s, const char *scope)
{
    struct answer a = exchange(s, get_code(s->bob, s->app, scope));

    expect_status(a, 200);
    return a;
}
