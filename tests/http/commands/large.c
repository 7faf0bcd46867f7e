/* large.c - commands at the end of what fits, and rows that are not what they were. */
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "pool.h"
#include "test_app.h"

/* Options of 25 groups at most, each with 25 sub-commands of 25 options; two characters
 * are counted for each, but its JSON has about 90 bytes. */
static void add_option(struct buf *b, char name, int type, const char *rest)
{
    buf_printf(b, "%s{'type': %d, 'name': '%c', 'description': 'd'%s", name == 'a' ? "" : ",", type,
               name, rest);
}

static const char *large_command(struct world *w, const char *name, char groups, const char *words)
{
    struct buf b;

    buf_init(&b, 4 << 20);
    buf_printf(&b, "{'name': '%s', 'description': 'd', 'options': [", name);
    for (char g = 'a'; g < groups; g++) {
        add_option(&b, g, 2, ", 'options': [");
        for (char s = 'a'; s <= 'y'; s++) {
            add_option(&b, s, 1, ", 'options': [");
            for (char o = 'a'; o <= 'y'; o++)
                add_option(&b, o, 4, words);
            buf_add_lit(&b, "]}");
        }
        buf_add_lit(&b, "]}");
    }
    buf_add_lit(&b, "]}");
    expect(!buf_full(&b));
    const char *text = str_dupz(world_arena(w), buf_str(&b));
    buf_clear(&b);
    return text;
}

#define RANGE ", 'min_value': -9007199254740991, 'max_value': 9007199254740991}"

/* How many commands are in an answer that has more values than our own reader takes. No
 * text in it has braces. */
static size_t count_whole(struct answer a)
{
    const char *end = a.body.p + a.body.n;
    size_t count = 0;
    int depth = 0;

    expect_status(a, 200);
    for (const char *p = a.body.p; p < end; p++) {
        depth += *p == '{' || *p == '[';
        depth -= *p == '}' || *p == ']';
        count += *p == '"' && str_starts(str_slice(p, (size_t)(end - p)), STR("\"nsfw\":"));
        expect(depth || p + 1 == end);
    }
    expect(!depth);
    return count;
}

static struct answer index_of(struct test_app *s)
{
    return client_get(s->ada, "/guilds/%s/application-command-index", s->guild);
}

/* Before there was a limit, sixty of these were more than their list had room for; whoever
 * then asked for the index got memory of the server, or ended it. */
static void many_large_commands_are_shown_whole_or_refused(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *last = NULL;
    size_t made = 0;

    make_command(s.bot, s.global, "{'name': 'small', 'description': 'd'}");
    for (int i = 0; i < 60; i++) {
        struct answer a =
            client_post(s.bot, large_command(w, TEXT(w, "c%d", i), 'g', RANGE), "%s", s.local);

        if (a.status != 201) {
            expect_invalid(a, "", "APPLICATION_COMMAND_TOO_LARGE");
            continue;
        }
        last = answer_text(a, "id");
        made++;
    }
    expect(made > 5 && made < 20);
    expect(count_whole(index_of(&s)) == made + 1);
    expect(count_whole(client_get(s.bot, "%s", s.local)) == made);
    expect(count_whole(client_get(s.bot, "%s?with_localizations=true", s.local)) == made);
    expect_status(client_patch(s.bot, "{'description': 'e'}", "%s/%s", s.local, last), 200);
    expect(count_whole(index_of(&s)) == made + 1);
    expect_status(client_delete(s.bot, "%s/%s", s.local, last), 204);
    expect(count_whole(index_of(&s)) == made);
    expect_status(client_post(s.bot, "{'name': 'again', 'description': 'd'}", "%s", s.local), 201);
    expect(count_whole(index_of(&s)) == made + 1);
}

/* Words in that many languages; only the longest is counted, however many there are. */
static const char *words_in(struct world *w, size_t languages, const char *word)
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
    expect(!buf_full(&b));
    const char *text = str_dupz(world_arena(w), buf_str(&b));
    buf_clear(&b);
    return text;
}

/* It used to be kept without its end, and took every index that it was in with it. */
static void a_command_of_too_many_bytes_is_refused(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *fits = large_command(w, "fits", 'e', words_in(w, 12, "d"));
    const char *larger = large_command(w, "larger", 'g', words_in(w, 21, "d"));
    const char *id = make_command(s.bot, s.local, "{'name': 'small', 'description': 'd'}");
    struct answer a = client_post(s.bot, larger, "%s", s.local);

    expect_invalid(a, "", "APPLICATION_COMMAND_TOO_LARGE");
    a = client_patch(s.bot, larger, "%s/%s", s.local, id);
    expect_invalid(a, "", "APPLICATION_COMMAND_TOO_LARGE");
    a = client_put(s.bot, TEXT(w, "[{'name': 'one', 'description': 'd'}, %s]", larger), "%s",
                   s.local);
    expect_invalid(a, "1", "APPLICATION_COMMAND_TOO_LARGE");
    expect(count_whole(index_of(&s)) == 1);
    expect_status(client_post(s.bot, fits, "%s", s.local), 201);
    expect_status(client_post(s.bot, fits, "%s", s.local), 200);
    world_sql(w, "update users set locale = 'de' where id = %s", s.ada->id);
    expect(count_whole(index_of(&s)) == 2);
    expect(count_whole(client_get(s.bot, "%s?with_localizations=true", s.local)) == 2);
}

/* Two sub-commands of nineteen options with long words in all languages: more than half a
 * mebibyte in few values. */
static const char *wordy_command(struct world *w, const char *name, char first)
{
    struct buf b;

    buf_init(&b, 2 << 20);
    for (int i = 0; i < 95; i++)
        buf_printf(&b, "\xe8\xaa%c", 0x80 + (first + i) % 64);
    const char *words = words_in(w, 24, str_dupz(world_arena(w), buf_str(&b)));
    buf_reset(&b);
    buf_printf(&b, "{'name': '%s', 'description': 'd', 'options': [", name);
    for (char s = 'a'; s <= 'd'; s++) {
        add_option(&b, s, 1, ", 'options': [");
        for (char o = 'a'; o <= 's'; o++)
            add_option(&b, o, 4, words);
        buf_add_lit(&b, "]}");
    }
    buf_add_lit(&b, "]}");
    expect(!buf_full(&b));
    const char *text = str_dupz(world_arena(w), buf_str(&b));
    buf_clear(&b);
    return text;
}

/* Seven of them, which is nearly all that fits a scope. */
static const char *wordy_commands(struct world *w, char first)
{
    struct buf b;

    buf_init(&b, 8 << 20);
    for (int i = 0; i < 7; i++)
        buf_printf(&b, "%s%s", i ? "," : "[", wordy_command(w, TEXT(w, "c%d", i), first));
    buf_add_lit(&b, "]");
    expect(!buf_full(&b));
    const char *text = str_dupz(world_arena(w), buf_str(&b));
    buf_clear(&b);
    return text;
}

static void invoke_large(struct test_app *s, const char *id, const char *version)
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

/* A definition of nearly a mebibyte is read, checked and made into texts beside the writer,
 * which everybody waits for: the test fails when a work of the writer takes long. */
static void commands_at_their_limit_hold_nobody_up(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *words = words_in(w, 17, "d");
    struct answer a = client_post(s.bot, large_command(w, "one", 'g', words), "%s", s.local);

    expect_status(a, 201);
    expect(a.body.n > 800 << 10);
    const char *id = answer_text(a, "id"), *version = answer_text(a, "version");
    a = client_post(s.bot, large_command(w, "one", 'g', words), "%s", s.local);
    expect_status(a, 200);
    expect(strcmp(answer_text(a, "version"), version) == 0);
    a = client_patch(s.bot, "{'description': 'e'}", "%s/%s", s.local, id);
    expect_status(a, 200);
    expect(strcmp(answer_text(a, "description"), "e") == 0);
    expect(strcmp(answer_text(a, "version"), version) != 0);
    expect_status(client_get(s.bot, "%s/%s", s.local, id), 200);
    invoke_large(&s, id, answer_text(a, "version"));
    for (char first = 1; first < 3; first++) {
        const char *all = wordy_commands(w, first);

        expect(count_whole(client_put(s.bot, all, "%s", s.local)) == 7);
        expect(count_whole(client_put(s.bot, all, "%s", s.local)) == 7);
        expect(count_whole(index_of(&s)) == 7);
    }
    id = answer_text(client_get(s.bot, "%s", s.local), "0.id");
    expect_status(client_delete(s.bot, "%s/%s", s.local, id), 204);
    expect(count_whole(client_put(s.bot, "[]", "%s", s.local)) == 0);
}

/* --- two changes at once -------------------------------------------------------------- */

/* A request with a long body, sent and not waited for. */
static int send_long(struct world *w, struct client *c, const char *method, const char *path,
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

static void expect_sent(int fd, const char *status)
{
    char text[64] = { 0 };
    ssize_t n = recv(fd, text, sizeof text - 1, 0);

    expect(n > 12 && !strncmp(text, "HTTP/1.1 ", 9));
    expect(!strncmp(text + 9, status, 3));
    close(fd);
}

/* They are made from what was looked at before; what has changed since is not lost. */
static void long_changes_see_what_changes_meanwhile(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *large = large_command(w, "one", 'b', words_in(w, 6, "d"));
    const char *id = make_command(s.bot, s.local, "{'name': 'old', 'description': 'd'}");
    const char *path = TEXT(w, "%s/%s", s.local, id);
    const char *options = strstr(large, "'options'");

    expect(strlen(large) > 40 << 10 && strlen(large) < 120 << 10);
    pool_hold();
    int one = send_long(w, s.bot, "POST", s.local, large);
    int two = send_long(w, s.bot, "PATCH", path, TEXT(w, "{%s", options));
    pool_await(w, 2);
    struct answer a = client_post(s.bot, "{'name': 'one', 'description': 'x'}", "%s", s.local);
    expect_status(a, 201);
    expect_status(client_patch(s.bot, "{'nsfw': true}", "%s", path), 200);
    pool_release();

    expect_sent(one, "200");
    expect_sent(two, "200");
    expect_json(client_get(s.bot, "%s/%s", s.local, answer_text(a, "id")),
                "{'name': 'one', 'description': 'd', 'options': [{'name': 'a'}]}");
    expect_json(client_get(s.bot, "%s", path), "{'nsfw': true, 'options': [{'name': 'a'}]}");
    expect(count_whole(client_get(s.bot, "%s", s.local)) == 2);
}

/* --- rows that are not what they were ------------------------------------------------- */

#define OTHERS_ENTRIES \
    "entries = (select entries from command_lists order by guild_id desc limit 1)"

static void lists_of_commands_that_lie_are_made_anew(struct world *w)
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
        expect_json(index_of(&s), "{'application_commands': [{'name': 'a'}, {'name': 'b'}, "
                                  "{'name': 'c'}]}");
        /* The next change, or the answer before, has mended it. */
        expect_status(client_patch(s.bot, TEXT(w, "{'description': 'd%zu'}", i), "%s/%s", s.global,
                                   answer_text(client_get(s.bot, "%s", s.global), "0.id")),
                      200);
        const char *log = world_log_end(w);
        expect(strstr(log, "it will be rebuilt"));
        expect_json(client_get(s.bot, "%s", s.global), "[{'description': 'd%zu'}, {'name': 'b'}]",
                    i);
    }
}

static void a_broken_command_costs_only_itself(struct world *w)
{
    struct test_app s = world_test_app(w);
    const char *words = "{'name': '%s', 'description': 'd', 'name_localizations': {'de': '%s'}}";
    const char *bad = make_command(s.bot, s.local, TEXT(w, words, "bad", "schlecht"));

    make_command(s.bot, s.local, TEXT(w, words, "good", "gut"));
    world_sql(w, "update users set locale = 'de' where id = %s", s.ada->id);
    world_sql(w, "update command_definitions set definition = '{\"id' where command_id = %s", bad);
    expect_json(index_of(&s), "{'application_commands': [{'name': 'bad'}, {'name': 'gut'}]}");
    expect_json(client_get(s.bot, "%s?with_localizations=true", s.local), "[{'name': 'good'}]");

    world_sql(w, "update commands set plain = '' where id = %s", bad);
    world_sql(w, "update command_lists set texts = '{}'");
    world_sql(w, "update applications set description = 'other'"); /* and so the index is read */
    expect_json(client_get(s.bot, "%s", s.local), "[{'name': 'good'}]");
    expect_json(index_of(&s), "{'application_commands': [{'name': 'gut'}]}");
}

/* --- how often ------------------------------------------------------------------------ */

static void with_limits(struct config *config)
{
    config->rate_limits = true;
}

/* The limit of a route counts for each guild; there may be many guilds. */
static void an_application_writes_so_many_commands_wherever(struct world *w)
{
    struct client *bot = world_bot(w, "bot");
    const char *path = "/applications/%s/guilds/%d/commands/1";

    for (int i = 0; i < 60; i++) {
        expect_status(client_delete(bot, path, bot->id, 1 + i % 4), 404);
        if (i % 15 == 14)
            world_wait(w, 1);
    }
    expect_status(client_delete(bot, path, bot->id, 9), 429);
    expect_status(client_get(bot, path, bot->id, 9), 404); /* reading is not writing */
    world_wait(w, 11);
    expect_status(client_delete(bot, path, bot->id, 9), 404);
}

const struct test commands_large_tests[] = {
    TEST(many_large_commands_are_shown_whole_or_refused),
    TEST(a_command_of_too_many_bytes_is_refused),
    TEST(commands_at_their_limit_hold_nobody_up),
    TEST(long_changes_see_what_changes_meanwhile),
    TEST(lists_of_commands_that_lie_are_made_anew),
    TEST(a_broken_command_costs_only_itself),
    TEST_WITH(an_application_writes_so_many_commands_wherever, with_limits),
    { 0 },
};
