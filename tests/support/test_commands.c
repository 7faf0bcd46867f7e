/* test_commands.c - an app with commands, and users who invoke them. */
#include "test_commands.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "internal.h"
#include "test_sql.h"

/* --- directly in the store ------------------------------------------------------------ */

static const char ADD_COMMAND[] =
    "insert into commands (id, application_id, guild_id, type, name, version, contexts, "
    "integration_types, plain) values ($1, $2, 0, 1, $3, $1, 0, 0, '{}')";
static const char ADD_DEFINITION[] =
    "insert into command_definitions (command_id, definition) values ($1, $2)";
static const char ADD_INTEGRATION[] =
    "insert into integrations (id, guild_id, type, name, application_id, scopes, created_at) "
    "values ($1, $2, 'service', 'App', $3, $4, $5)";
static const char ADD_AUTHORIZATION[] =
    "insert into authorizations (id, user_id, application_id, scopes, installed, created_at) "
    "values ($1, $2, $3, '[\"applications.commands\"]', 1, $4)";

struct insert {
    const char *sql;
    const struct value *values;
    size_t count;
};

static enum err run_insert(struct tx *tx, void *arg)
{
    const struct insert *i = arg;

    return tx_exec(tx, test_sql(i->sql), i->values, i->count, NULL);
}

static void insert(struct world *w, const char *sql, const struct value *values, size_t count)
{
    struct insert i = { sql, values, count };

    expect(store_run_transaction_and_wait(guildhall_get_store(w->server), STORE_WRITE, w->arena,
                                          run_insert, &i) == OK);
}

static snowflake number(const char *id)
{
    return strtoull(id, NULL, 10);
}

void install_in(struct test_commands *s, const char *guild, const char *scopes)
{
    insert(s->world, ADD_INTEGRATION,
           BIND(v_id(snowflake_new()), v_id(number(guild)), v_id(number(s->application)),
                v_text(str_of(scopes)), v_int(clock_us())));
}

void install_on(struct test_commands *s, struct client *user)
{
    insert(s->world, ADD_AUTHORIZATION,
           BIND(v_id(snowflake_new()), v_id(number(user->id)), v_id(number(s->application)),
                v_int(clock_us())));
}

struct test_commands world_test_commands(struct world *w)
{
    struct test_commands s = { .world = w,
                               .ada = world_client(w, "ada"),
                               .bob = world_client(w, "bob") };

    s.test_guild = world_test_guild(w, s.ada);
    test_guild_add(&s.test_guild, s.bob);
    s.application = make_application(s.ada, "Dice");
    s.bot = application_bot(s.ada, s.application);
    test_guild_add(&s.test_guild, s.bot);
    install_in(&s, s.test_guild.id, "[\"bot\",\"applications.commands\"]");
    return s;
}

static struct str written(struct world *w, const char *fmt, va_list args)
{
    char *text = NULL;

    if (vasprintf(&text, fmt, args) < 0)
        abort();
    struct str out = str_dup(w->arena, str_of(text));
    free(text);
    for (size_t i = 0; i < out.n; i++)
        if (out.p[i] == '\'')
            ((char *)out.p)[i] = '"';
    return out;
}

/* The last of several members with the same name counts. */
const char *make_global_command(struct test_commands *s, const char *members, ...)
{
    snowflake id = snowflake_new();
    struct world *w = s->world;
    va_list args;

    va_start(args, members);
    struct str more = written(w, members, args);
    va_end(args);
    struct str definition = str_printf(
        w->arena,
        "{\"id\":\"%" PRIu64 "\",\"application_id\":\"%s\",\"version\":\"%" PRIu64
        "\",\"type\":1,\"name\":\"roll\",\"description\":\"Roll\",\"nsfw\":false,"
        "\"default_member_permissions\":null,\"contexts\":[0,1,2],\"integration_types\":[0,1]%s%.*s}",
        id, s->application, id, more.n ? "," : "", STR_ARGS(more));
    insert(w, ADD_COMMAND,
           BIND(v_id(id), v_id(number(s->application)),
                v_text(str_printf(w->arena, "c%" PRIu64, id))));
    insert(w, ADD_DEFINITION, BIND(v_id(id), v_text(definition)));
    return TEXT(w, "%" PRIu64, id);
}

/* --- calls ---------------------------------------------------------------------------- */

static struct answer post(struct test_commands *s, struct client *by, const char *more,
                          struct str data)
{
    return client_post(by,
                       TEXT(s->world,
                            "{'type': 2, 'application_id': '%s', 'channel_id': '%s', 'guild_id': "
                            "'%s', 'data': {%.*s}%s%s}",
                            s->application, s->test_guild.channel, s->test_guild.id, STR_ARGS(data),
                            *more ? ", " : "", more),
                       "/interactions");
}

struct answer invoke(struct test_commands *s, struct client *by, const char *more, const char *data,
                     ...)
{
    va_list args;

    va_start(args, data);
    struct str text = written(s->world, data, args);
    va_end(args);
    return post(s, by, more, text);
}

struct answer roll(struct test_commands *s, struct client *by, const char *command,
                   const char *more, ...)
{
    va_list args;

    va_start(args, more);
    struct str text = written(s->world, more, args);
    va_end(args);
    return post(s, by, "",
                str_printf(s->world->arena, "'id': '%s', 'version': '%s', 'name': 'roll'%s%.*s",
                           command, command, text.n ? ", " : "", STR_ARGS(text)));
}

/* --- interactions that the app received ----------------------------------------------- */

static const struct arrivals *find_last_interaction(struct test_commands *s, size_t *ret_count)
{
    struct world *w = s->world;
    const struct arrivals *found = NULL;

    *ret_count = 0;
    pthread_mutex_lock(&w->lock);
    for (const struct arrivals *h = w->arrivals; h; h = h->next)
        if (h->event == EVENT_INTERACTION_CREATE && h->to.kind == AUDIENCE_USER &&
            h->to.id == number(s->application)) {
            found = h;
            ++*ret_count;
        }
    pthread_mutex_unlock(&w->lock);
    return found;
}

const struct dom *last_interaction(struct test_commands *s)
{
    size_t count;
    const struct arrivals *h = find_last_interaction(s, &count);

    if (!h)
        fail_test(__FILE__, __LINE__, "the app received no interaction");
    return dom_parse(s->world->arena, str_of(h->payload));
}

size_t interactions_received(struct test_commands *s)
{
    size_t count;

    find_last_interaction(s, &count);
    return count;
}

const char *dom_text(struct test_commands *s, const struct dom *d, const char *path)
{
    const struct dom *found = dom_at(d, path);

    if (!found)
        fail_test(__FILE__, __LINE__, "'%s' is missing", path);
    return str_dup_cstring(s->world->arena, found->text);
}

void expect_dom_at(const char *file, int line, struct test_commands *s, const struct dom *d,
                   const char *fmt, ...)
{
    struct str where;
    va_list args;

    va_start(args, fmt);
    const struct dom *expected = parse_expected(s->world->arena, fmt, args);
    va_end(args);
    if (!dom_contains(d, expected, s->world->arena, &where))
        fail_test(file, line, "%.*s", STR_ARGS(where));
}
