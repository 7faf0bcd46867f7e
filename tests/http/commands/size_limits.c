/* size_limits.c - commands near the size limits, and corrupt command rows. */
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "pool.h"
#include "test_app.h"

/* Up to 25 groups, each with 25 subcommands of 25 options. Each option counts as two characters,
 * but has about 90 bytes of JSON. */
static void append_command_option_json(struct buf *b, char name, int type, const char *rest)
{
    buf_printf(b, "%s{'type': %d, 'name': '%c', 'description': 'd'%s", name == 'a' ? "" : ",", type,
               name, rest);
}

static const char *write_large_command(struct world *w, const char *name, char groups,
                                       const char *words)
{
    struct buf b;

    buf_init(&b, 4 << 20);
    buf_printf(&b, "{'name': '%s', 'description': 'd', 'options': [", name);
    for (char g = 'a'; g < groups; g++) {
        append_command_option_json(&b, g, 2, ", 'options': [");
        for (char s = 'a'; s <= 'y'; s++) {
            append_command_option_json(&b, s, 1, ", 'options': [");
            for (char o = 'a'; o <= 'y'; o++)
                append_command_option_json(&b, o, 4, words);
            buf_add_lit(&b, "]}");
        }
        buf_add_lit(&b, "]}");
    }
    buf_add_lit(&b, "]}");
    expect(!buf_is_full(&b));
    const char *text = str_dup_cstring(world_arena(w), buf_as_str(&b));
    buf_clear(&b);
    return text;
}

#define RANGE ", 'min_value': -9007199254740991, 'max_value': 9007199254740991}"

/* Counts the commands of a response that has too many values for the test's JSON parser. No text
 * in it has braces. */
static size_t count_commands(struct answer a)
{
    const char *end = a.body.p + a.body.n;
    size_t count = 0;
    int depth = 0;

    expect_status(a, 200);
    for (const char *p = a.body.p; p < end; p++) {
        depth += *p == '{' || *p == '[';
        depth -= *p == '}' || *p == ']';
        count += *p == '"' && str_starts_with(str_slice(p, (size_t)(end - p)), STR("\"nsfw\":"));
        expect(depth || p + 1 == end);
    }
    expect(!depth);
    return count;
}

static struct answer get_guild_index(struct test_app *s)
{
    return client_get(s->ada, "/guilds/%s/application-command-index", s->guild);
}

/* Regression: without a limit, sixty large commands overflowed the list's buffer. */
static void large_commands_are_listed_whole_or_refused_as_too_large(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *last = NULL;
    size_t made = 0;

    make_command(s.bot, s.global, "{'name': 'small', 'description': 'd'}");
    for (int i = 0; i < 60; i++) {
        struct answer a = client_post(s.bot, write_large_command(w, TEXT(w, "c%d", i), 'g', RANGE),
                                      "%s", s.local);

        if (a.status != 201) {
            expect_invalid(a, "", "APPLICATION_COMMAND_TOO_LARGE");
            continue;
        }
        last = answer_text(a, "id");
        made++;
    }
    expect(made > 5 && made < 20);
    expect(count_commands(get_guild_index(&s)) == made + 1);
    expect(count_commands(client_get(s.bot, "%s", s.local)) == made);
    expect(count_commands(client_get(s.bot, "%s?with_localizations=true", s.local)) == made);
    expect_status(client_patch(s.bot, "{'description': 'e'}", "%s/%s", s.local, last), 200);
    expect(count_commands(get_guild_index(&s)) == made + 1);
    expect_status(client_delete(s.bot, "%s/%s", s.local, last), 204);
    expect(count_commands(get_guild_index(&s)) == made);
    expect_status(client_post(s.bot, "{'name': 'again', 'description': 'd'}", "%s", s.local), 201);
    expect(count_commands(get_guild_index(&s)) == made + 1);
}

/* Writes a text in that many languages; only the longest translation counts. */
static const char *write_localizations(struct world *w, size_t languages, const char *word)
{
    static const char *const locales[] = { "bg", "cs", "da", "de", "el", "fi", "fr", "hi",
                                           "hr", "hu", "id", "it", "ja", "ko", "lt", "nl",
                                           "no", "pl", "ro", "ru", "th", "tr", "uk", "vi" };
    struct buf b;

    buf_init(&b, 16384);
    buf_add_lit(&b, ",'description_localizations':{");
    for (size_t i = 0; i < languages; i++)
        buf_printf(&b, "%s'%s':'%s'", i ? "," : "", locales[i], word);
    buf_add_lit(&b, "}}");
    expect(!buf_is_full(&b));
    const char *text = str_dup_cstring(world_arena(w), buf_as_str(&b));
    buf_clear(&b);
    return text;
}

/* Regression: a truncated command row broke every index that contained the command. */
static void command_over_the_byte_limit_is_refused(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *fits = write_large_command(w, "fits", 'e', write_localizations(w, 12, "d"));
    const char *larger = write_large_command(w, "larger", 'g', write_localizations(w, 21, "d"));
    const char *id = make_command(s.bot, s.local, "{'name': 'small', 'description': 'd'}");
    struct answer a = client_post(s.bot, larger, "%s", s.local);

    expect_invalid(a, "", "APPLICATION_COMMAND_TOO_LARGE");
    a = client_patch(s.bot, larger, "%s/%s", s.local, id);
    expect_invalid(a, "", "APPLICATION_COMMAND_TOO_LARGE");
    a = client_put(s.bot, TEXT(w, "[{'name': 'one', 'description': 'd'}, %s]", larger), "%s",
                   s.local);
    expect_invalid(a, "1", "APPLICATION_COMMAND_TOO_LARGE");
    expect(count_commands(get_guild_index(&s)) == 1);
    expect_status(client_post(s.bot, fits, "%s", s.local), 201);
    expect_status(client_post(s.bot, fits, "%s", s.local), 200);
    world_sql(w, "update users set locale = 'de' where id = %s", s.ada->id);
    expect(count_commands(get_guild_index(&s)) == 2);
    expect(count_commands(client_get(s.bot, "%s?with_localizations=true", s.local)) == 2);
}

/* Two subcommands of 19 options with long texts in all languages: more than 512 KiB in few
 * values. */
static const char *write_localized_command(struct world *w, const char *name, char first)
{
    struct buf b;

    buf_init(&b, 2 << 20);
    for (int i = 0; i < 95; i++)
        buf_printf(&b, "\xe8\xaa%c", 0x80 + (first + i) % 64);
    const char *words = write_localizations(w, 24, str_dup_cstring(world_arena(w), buf_as_str(&b)));
    buf_reset(&b);
    buf_printf(&b, "{'name': '%s', 'description': 'd', 'options': [", name);
    for (char s = 'a'; s <= 'd'; s++) {
        append_command_option_json(&b, s, 1, ", 'options': [");
        for (char o = 'a'; o <= 's'; o++)
            append_command_option_json(&b, o, 4, words);
        buf_add_lit(&b, "]}");
    }
    buf_add_lit(&b, "]}");
    expect(!buf_is_full(&b));
    const char *text = str_dup_cstring(world_arena(w), buf_as_str(&b));
    buf_clear(&b);
    return text;
}

/* Seven such commands, nearly the size limit of a scope. */
static const char *write_localized_commands(struct world *w, char first)
{
    struct buf b;

    buf_init(&b, 8 << 20);
    for (int i = 0; i < 7; i++)
        buf_printf(&b, "%s%s", i ? "," : "[", write_localized_command(w, TEXT(w, "c%d", i), first));
    buf_add_lit(&b, "]");
    expect(!buf_is_full(&b));
    const char *text = str_dup_cstring(world_arena(w), buf_as_str(&b));
    buf_clear(&b);
    return text;
}

static void invoke_large_command(struct test_app *s, const char *id, const char *version)
{
    struct answer made = client_post(s->ada, "{'name': 'x'}", "/guilds/%s/channels", s->guild);
    const char *channel = answer_text(made, "id");
    const char *options = "[{'type': 2, 'name': 'f', 'options': [{'type': 1, 'name': 'y', "
                          "'options': [{'type': 4, 'name': 'y', 'value': 7}]}]}]";
    struct answer a = client_post(s->ada,
                                  TEXT(s->world,
                                       "{'type': 2, 'application_id': '%s', 'guild_id': '%s', "
                                       "'channel_id': '%s', 'data': {'id': '%s', 'name': 'one', "
                                       "'type': 1, 'version': '%s', 'options': %s}}",
                                       s->app, s->guild, channel, id, version, options),
                                  "/interactions");

    expect_status(a, 204);
}

/* A definition of nearly 1 MiB is parsed outside the write transaction; the test fails if a
 * write transaction takes long. */
static void commands_of_maximum_size_do_not_block_the_writer(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *words = write_localizations(w, 17, "d");
    struct answer a = client_post(s.bot, write_large_command(w, "one", 'g', words), "%s", s.local);

    expect_status(a, 201);
    expect(a.body.n > 800 << 10);
    const char *id = answer_text(a, "id"), *version = answer_text(a, "version");
    a = client_post(s.bot, write_large_command(w, "one", 'g', words), "%s", s.local);
    expect_status(a, 200);
    expect(strcmp(answer_text(a, "version"), version) == 0);
    a = client_patch(s.bot, "{'description': 'e'}", "%s/%s", s.local, id);
    expect_status(a, 200);
    expect(strcmp(answer_text(a, "description"), "e") == 0);
    expect(strcmp(answer_text(a, "version"), version) != 0);
    expect_status(client_get(s.bot, "%s/%s", s.local, id), 200);
    invoke_large_command(&s, id, answer_text(a, "version"));
    for (char first = 1; first < 3; first++) {
        const char *all = write_localized_commands(w, first);

        expect(count_commands(client_put(s.bot, all, "%s", s.local)) == 7);
        expect(count_commands(client_put(s.bot, all, "%s", s.local)) == 7);
        expect(count_commands(get_guild_index(&s)) == 7);
    }
    id = answer_text(client_get(s.bot, "%s", s.local), "0.id");
    expect_status(client_delete(s.bot, "%s/%s", s.local, id), 204);
    expect(count_commands(client_put(s.bot, "[]", "%s", s.local)) == 0);
}

/* --- two changes at once -------------------------------------------------------------- */

/* Sends a request with a long body without waiting for the response. */
static int send_request(struct world *w, struct client *c, const char *method, const char *path,
                        const char *body)
{
    int fd = client_dial(c);
    const char *all = TEXT(w,
                           "%s /api/v10%s HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\n"
                           "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
                           method, path, c->authorization, strlen(body));
    char *bytes = strdup(body);

    for (char *p = bytes; *p; p++)
        if (*p == '\'')
            *p = '"';
    expect(send(fd, all, strlen(all), 0) == (ssize_t)strlen(all));
    expect(send(fd, bytes, strlen(bytes), 0) == (ssize_t)strlen(bytes));
    free(bytes);
    return fd;
}

static void expect_response_status(int fd, const char *status)
{
    char text[64] = { 0 };
    ssize_t n = recv(fd, text, sizeof text - 1, 0);

    expect(n > 12 && !strncmp(text, "HTTP/1.1 ", 9));
    expect(!strncmp(text + 9, status, 3));
    close(fd);
}

/* Long changes are prepared from an older read; changes made since then are not lost. */
static void concurrent_changes_of_long_commands_are_all_applied(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *large = write_large_command(w, "one", 'b', write_localizations(w, 6, "d"));
    const char *id = make_command(s.bot, s.local, "{'name': 'old', 'description': 'd'}");
    const char *path = TEXT(w, "%s/%s", s.local, id);
    const char *options = strstr(large, "'options'");

    expect(strlen(large) > 40 << 10 && strlen(large) < 120 << 10);
    pool_hold();
    int one = send_request(w, s.bot, "POST", s.local, large);
    int two = send_request(w, s.bot, "PATCH", path, TEXT(w, "{%s", options));
    pool_await(w, 2);
    struct answer a = client_post(s.bot, "{'name': 'one', 'description': 'x'}", "%s", s.local);
    expect_status(a, 201);
    expect_status(client_patch(s.bot, "{'nsfw': true}", "%s", path), 200);
    pool_release();

    expect_response_status(one, "200");
    expect_response_status(two, "200");
    expect_json(client_get(s.bot, "%s/%s", s.local, answer_text(a, "id")),
                "{'name': 'one', 'description': 'd', 'options': [{'name': 'a'}]}");
    expect_json(client_get(s.bot, "%s", path), "{'nsfw': true, 'options': [{'name': 'a'}]}");
    expect(count_commands(client_get(s.bot, "%s", s.local)) == 2);
}

/* --- corrupt rows --------------------------------------------------------------------- */

#define OTHERS_ENTRIES \
    "entries = (select entries from command_lists order by guild_id desc limit 1)"

static void corrupt_command_lists_are_rebuilt(struct world *w)
{
    static const char *const broken[] = { "texts = '{}'", "texts = ','", "texts = texts || ','",
                                          OTHERS_ENTRIES };
    struct test_app s = world_test_app(w);

    make_command(s.bot, s.global, "{'name': 'a', 'description': 'd'}");
    make_command(s.bot, s.global, "{'name': 'b', 'description': 'd'}");
    make_command(s.bot, s.local, "{'name': 'c', 'description': 'd'}");
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        world_sql(w, "update command_lists set %s", broken[i]);
        world_log_begin(w);
        expect_json(get_guild_index(&s), "{'application_commands': [{'name': 'a'}, {'name': 'b'}, "
                                         "{'name': 'c'}]}");
        /* The next change, or the preceding response, has rebuilt the list. */
        expect_status(client_patch(s.bot, TEXT(w, "{'description': 'd%zu'}", i), "%s/%s", s.global,
                                   answer_text(client_get(s.bot, "%s", s.global), "0.id")),
                      200);
        const char *log = world_log_end(w);
        expect(strstr(log, "it will be rebuilt"));
        expect_json(client_get(s.bot, "%s", s.global), "[{'description': 'd%zu'}, {'name': 'b'}]",
                    i);
    }
}

static void corrupt_command_definition_hides_only_that_command(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *words = "{'name': '%s', 'description': 'd', 'name_localizations': {'de': '%s'}}";
    const char *bad = make_command(s.bot, s.local, TEXT(w, words, "bad", "schlecht"));

    make_command(s.bot, s.local, TEXT(w, words, "good", "gut"));
    world_sql(w, "update users set locale = 'de' where id = %s", s.ada->id);
    world_sql(w, "update command_definitions set definition = '{\"id' where command_id = %s", bad);
    expect_json(get_guild_index(&s),
                "{'application_commands': [{'name': 'bad'}, {'name': 'gut'}]}");
    expect_json(client_get(s.bot, "%s?with_localizations=true", s.local), "[{'name': 'good'}]");

    world_sql(w, "update commands set plain = '' where id = %s", bad);
    world_sql(w, "update command_lists set texts = '{}'");
    world_sql(w, "update applications set description = 'other'"); /* and so the index is read */
    expect_json(client_get(s.bot, "%s", s.local), "[{'name': 'good'}]");
    expect_json(get_guild_index(&s), "{'application_commands': [{'name': 'gut'}]}");
}

/* --- rate limits ---------------------------------------------------------------------- */

static void configure_enabled_rate_limits(struct config *config)
{
    config->rate_limits = true;
}

/* The route's limit counts per guild; this one counts over all guilds. */
static void command_writes_are_rate_limited_across_all_guilds(struct world *w)
{
    struct client *bot = world_bot(w, "bot");
    const char *path = "/applications/%s/guilds/%d/commands/1";

    for (int i = 0; i < 60; i++) {
        expect_status(client_delete(bot, path, bot->id, 1 + i % 4), 404);
        if (i % 15 == 14)
            world_wait(w, 1);
    }
    expect_status(client_delete(bot, path, bot->id, 9), 429);
    expect_status(client_get(bot, path, bot->id, 9), 404); /* reads are not limited */
    world_wait(w, 11);
    expect_status(client_delete(bot, path, bot->id, 9), 404);
}

const struct test commands_size_limits_tests[] = {
    TEST(large_commands_are_listed_whole_or_refused_as_too_large),
    TEST(command_over_the_byte_limit_is_refused),
    TEST(commands_of_maximum_size_do_not_block_the_writer),
    TEST(concurrent_changes_of_long_commands_are_all_applied),
    TEST(corrupt_command_lists_are_rebuilt),
    TEST(corrupt_command_definition_hides_only_that_command),
    TEST_WITH(command_writes_are_rate_limited_across_all_guilds, configure_enabled_rate_limits),
    { 0 },
};
