/* test_interaction.c - inserts interactions directly into the store. */
#include "test_interaction.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/auth/auth.h"
#include "base/clock.h"
#include "internal.h"

struct test_bot world_test_bot(struct world *w)
{
    struct test_bot s = { .world = w,
                          .ada = world_client(w, "ada"),
                          .bob = world_client(w, "bob") };

    s.test_guild = world_test_guild(w, s.ada);
    test_guild_add(&s.test_guild, s.bob);
    s.application = make_application(s.ada, "Weather");
    s.bot = application_bot(s.ada, s.application);
    test_guild_add(&s.test_guild, s.bot);
    s.room = world_channel_events(w, s.test_guild.channel);
    return s;
}

static const char * or (const char *text, const char *fallback)
{
    return text ? text : fallback;
}

/* Creates the token as the server does. */
static const char *token_of(struct world *w, snowflake id)
{
    unsigned char secret[32];

    auth_derive_key(guildhall_get_auth(world_server(w)), "interaction", id, STR(""), secret,
                    sizeof secret);
    struct str text = str_base64url_encode(world_arena(w), secret, sizeof secret);
    struct str plain =
        str_printf(world_arena(w), "interaction:%" PRIu64 ":%.*s", id, STR_ARGS(text));
    return str_dup_cstring(world_arena(w), str_base64url_encode(world_arena(w), plain.p, plain.n));
}

static const char *quoted(struct world *w, const char *text)
{
    return text ? TEXT(w, "'%s'", text) : "null";
}

struct test_interaction interaction_make(struct test_bot *s, const struct interaction_options *how)
{
    static unsigned number;
    struct world *w = s->world;
    snowflake id = snowflake_from_ms(clock_ms() - (int64_t)(how->age * 1000)) + ++number % 4096;
    const char *user = how->by ? how->by->id : s->ada->id;
    const char *guild = or (how->guild, s->test_guild.id);
    int type = how->type ? how->type : 2;
    int command = how->command_type ? how->command_type : type == 2 || type == 4 ? 1 : 0;
    struct test_interaction a = { .app = world_anonymous(w), .id = TEXT(w, "%" PRIu64, id) };

    a.application = or (how->application, s->application);
    a.token = token_of(w, id);
    world_sql(w,
              "insert into interactions (id, type, application_id, user_id, channel_id, guild_id, "
              "context, owners, locale, nonce, command_id, command_type, handler, name, target_id, "
              "focused_type, message_id, opener_id) values (%s, %d, %s, %s, %s, %s, %d, %s, %s, "
              "%s, %s, %s, %s, %s, %s, %s, %s, %s)",
              a.id, type, a.application, user, or (how->channel, s->test_guild.channel),
              *guild ? guild : "null", *guild ? 0 : 1,
              quoted(w, or (how->owners, TEXT(w, "{\"0\":\"%s\"}", guild))),
              quoted(w, or (how->locale, "en-US")), quoted(w, how->nonce), command ? "77" : "null",
              command ? TEXT(w, "%d", command) : "null",
              how->handler ? TEXT(w, "%d", how->handler) : "null",
              command ? quoted(w, or (how->name, "weather")) : "null", or (how->target, "null"),
              how->focused_type ? TEXT(w, "%d", how->focused_type) : "null",
              or (how->message, "null"), or (how->opener, "null"));
    return a;
}

struct answer interaction_answer(const struct test_interaction *a, const char *query,
                                 const char *json, ...)
{
    char *body = NULL;
    va_list args;

    va_start(args, json);
    int n = vasprintf(&body, json, args);
    va_end(args);
    expect(n >= 0);
    const char *retained = str_dup_cstring(world_arena(a->app->world), str_of(body));
    free(body);
    return client_post(a->app, retained, "/interactions/%s/%s/callback%s", a->id, a->token, query);
}

void interaction_answered(const struct test_interaction *a, const char *json)
{
    expect_status(interaction_answer(a, "", "%s", json), 204);
}

const char *test_bot_message(struct test_bot *s)
{
    struct answer a = client_post(
        s->bot,
        "{'content': 'Choose', 'components': [{'type': 1, 'components': [{'type': 2, 'style': 1, "
        "'label': 'OK', 'custom_id': 'ok'}]}, {'type': 1, 'components': [{'type': 3, 'custom_id': "
        "'pick', 'options': [{'label': 'A', 'value': 'a'}]}]}]}",
        "/channels/%s/messages", s->test_guild.channel);

    expect_status(a, 200);
    s->room = world_channel_events(s->world, s->test_guild.channel);
    return answer_text(a, "id");
}
