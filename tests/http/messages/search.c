/* search.c - message search: words, filters, permissions, pages and indexing. */
#include <stdio.h>
#include <time.h>

#include "apps.h"
#include "channels.h"
#include "channel_events.h"
#include "test_guild.h"
#include "waits.h"

#define MESSAGES "/channels/%s/messages"

/* Searches; waits if the limit of five searches in five seconds is reached. */
static struct answer search_messages(struct client *c, const char *guild, const char *query)
{
    struct answer a = client_get(c, "/guilds/%s/messages/search?%s", guild, query);

    if (a.status == 429) {
        world_wait(c->world, 6);
        a = client_get(c, "/guilds/%s/messages/search?%s", guild, query);
    }
    return a;
}

static void expect_search_result_at(int line, struct client *c, const char *guild,
                                    const char *query, int total, const char *first)
{
    struct answer a = search_messages(c, guild, query);
    const struct dom *n = a.json ? dom_at(a.json, "total_results") : NULL;

    if (a.status != 200 || !n || !str_is(n->text, TEXT(c->world, "%d", total)))
        fail_test(__FILE__, line, "%s: %d %.*s", query, a.status, STR_ARGS(a.body));
    if (total && strcmp(answer_text(a, "messages.0.0.content"), first) != 0)
        fail_test(__FILE__, line, "%s: %.*s", query, STR_ARGS(a.body));
}
#define expect_found(c, guild, query, total, first) \
    expect_search_result_at(__LINE__, c, guild, query, total, first)

/* Waits until the job has indexed all messages. */
static void wait_until_messages_are_indexed(struct world *w)
{
    expect_soon((world_wait(w, 1), world_count_unindexed_messages(w) == 0));
}

static const char *send_message(struct client *c, const char *channel, const char *content)
{
    struct answer a =
        client_post(c, TEXT(c->world, "{'content': '%s'}", content), MESSAGES, channel);

    expect_status(a, 200);
    return answer_text(a, "id");
}

/* --- words ---------------------------------------------------------------------------- */

static void check_word_searches_find_messages(struct client *ada, const char *guild)
{
    expect_found(ada, guild, "content=badger", 2, "a badger, a Badger!");
    expect_found(ada, guild, "content=BADGER%20", 2, "a badger, a Badger!");
    expect_found(ada, guild, "content=cafe", 1, "Caf\xc3\xa9 de la gare");
    expect_found(ada, guild, "content=gar", 0, "");
    expect_found(ada, guild, "content=badg", 2, "a badger, a Badger!");
    /* Words match in order, with at most two others between them. */
    expect_found(ada, guild, "content=the+badger", 1, "the quick brown badger");
    expect_found(ada, guild, "content=the+badger&slop=1", 0, "");
    expect_found(ada, guild, "content=badger+the", 0, "");
    expect_found(ada, guild, "content=badger+badger&slop=1", 1, "a badger, a Badger!");
    expect_found(ada, guild, "contents=0%7Cquick+brown&contents=0%7Cde+la", 2,
                 "Caf\xc3\xa9 de la gare");
    expect_found(ada, guild, "contents=0%7Cquick+badger", 0, "");
    expect_found(ada, guild, "content=!!!", 0, "");
    expect_found(ada, guild, "content=%E6%9D%B1%E4%BA%AC", 1,
                 "\xe6\x9d\xb1\xe4\xba\xac\xe3\x82\xbf\xe3\x83\xaf\xe3\x83\xbc");
    expect_found(ada, guild, "", 4, "\xe6\x9d\xb1\xe4\xba\xac\xe3\x82\xbf\xe3\x83\xaf\xe3\x83\xbc");
    expect_found(ada, guild, "sort_order=asc", 4, "the quick brown badger");
    expect_found(ada, guild, "content=badger&sort_by=relevance", 2, "a badger, a Badger!");
    expect_found(ada, guild, "content=badger&sort_by=relevance&sort_order=asc", 2,
                 "a badger, a Badger!");
}

static void search_finds_words_before_and_after_indexing(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    send_message(ada, v.channel, "the quick brown badger");
    send_message(ada, v.channel, "a badger, a Badger!");
    send_message(ada, v.channel, "Caf\xc3\xa9 de la gare");
    send_message(ada, v.channel, "\xe6\x9d\xb1\xe4\xba\xac\xe3\x82\xbf\xe3\x83\xaf\xe3\x83\xbc");
    check_word_searches_find_messages(ada, v.id);
    wait_until_messages_are_indexed(w);
    expect(world_number(w, "select count(*) from message_index") == 4);
    check_word_searches_find_messages(ada, v.id);
}

static void search_result_contains_only_the_matching_message(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const char *m = send_message(ada, v.channel, "a badger");

    send_message(ada, v.channel, "before and after");
    client_put(ada, NULL, "/channels/%s/messages/%s/reactions/%%F0%%9F%%91%%8D/@me", v.channel, m);
    struct answer a = search_messages(ada, v.id, "content=badger");
    expect_json(a,
                "{'messages': [[{'id': '%s', 'channel_id': '%s', 'hit': true, 'author': {'id': "
                "'%s'}}]], 'total_results': 1, 'doing_deep_historical_index': false}",
                m, v.channel, ada->id);
    expect_absent(a, "messages.0.0.reactions");
    expect_absent(a, "messages.0.1");
    expect_absent(a, "threads");
    expect_absent(client_get(ada, MESSAGES, v.channel), "0.hit");
}

static void search_results_reflect_edits_and_deletions(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const char *m = send_message(ada, v.channel, "a badger"),
               *n = send_message(ada, v.channel, "an otter");

    wait_until_messages_are_indexed(w);
    client_patch(ada, "{'content': 'a weasel'}", MESSAGES "/%s", v.channel, m);
    expect_found(ada, v.id, "content=badger", 0, "");
    expect_found(ada, v.id, "content=weasel", 1, "a weasel");
    wait_until_messages_are_indexed(w);
    expect_found(ada, v.id, "content=badger", 0, "");
    expect_found(ada, v.id, "content=weasel", 1, "a weasel");
    expect_status(client_delete(ada, MESSAGES "/%s", v.channel, m), 204);
    expect_found(ada, v.id, "content=weasel", 0, "");
    expect(world_number(w, "select count(*) from message_index") == 1);
    const char *text = send_message(ada, v.channel, "gone soon");
    expect_status(client_post(ada, TEXT(w, "{'messages': ['%s', '%s']}", n, text),
                              MESSAGES "/bulk-delete", v.channel),
                  204);
    expect(world_number(w, "select count(*) from message_index") +
               world_count_unindexed_messages(w) ==
           0);
}

/* An import writes messages whose ids are lower than those of indexed messages. */
static void messages_older_than_indexed_ones_are_found(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    send_message(ada, v.channel, "a badger");
    wait_until_messages_are_indexed(w);
    world_insert_message(w, 1000, v.channel, ada->id, "an old otter");
    expect_found(ada, v.id, "content=otter", 1, "an old otter");
    send_message(ada, v.channel, "a weasel");
    wait_until_messages_are_indexed(w);
    expect(world_number(w, "select count(*) from message_index") == 3);
    expect_found(ada, v.id, "content=otter", 1, "an old otter");
    expect_found(ada, v.id, "content=weasel", 1, "a weasel");
}

/* On SQLite, the index counts ephemeral messages as done, so that later searches do not read them
 * again. Later messages have lower ids than this one, and are found nevertheless. */
static void ephemeral_messages_are_neither_found_nor_read_again(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    bool sqlite = !world_config(w)->store;

    world_sql(w,
              "insert into messages (id, channel_id, author_id, content, ephemeral_for) values "
              "(9000000000000000000, %s, %s, 'a secret otter', %s)",
              v.channel, ada->id, ada->id);
    send_message(ada, v.channel, "a badger");
    wait_until_messages_are_indexed(w);
    if (sqlite)
        expect(world_number(w, "select indexed_to from message_index_progress") ==
               9000000000000000000);
    send_message(ada, v.channel, "a weasel");
    expect_found(ada, v.id, "content=weasel", 1, "a weasel");
    wait_until_messages_are_indexed(w);
    expect_found(ada, v.id, "content=weasel", 1, "a weasel");
    expect_found(ada, v.id, "content=otter", 0, "");
}

static void deleting_a_channel_deletes_its_search_index(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const char *other = make_channel(ada, v.id, "{'name': 'other'}");

    for (int i = 0; i < 120; i++)
        world_sql(w,
                  "insert into messages (id, channel_id, author_id, content) values (%d, %s, %s, "
                  "'many badgers')",
                  1000 + i, other, ada->id);
    send_message(ada, v.channel, "one badger");
    wait_until_messages_are_indexed(w);
    expect(world_number(w, "select count(*) from message_index") == 121);
    expect_status(client_delete(ada, "/channels/%s", other), 200);
    expect_soon((world_wait(w, 1), world_number(w, "select count(*) from message_index") == 1));
    expect(world_count_unindexed_messages(w) == 0);
}

/* An imported embed may have any type. It must neither stop the indexing job, nor add terms. */
static void embed_types_of_imports_are_not_terms(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada), other = world_test_guild(w, bob);

    world_sql(w,
              "insert into messages (id, channel_id, author_id, content, embeds) values (1000, %s, "
              "%s, 'an otter', '[{\"type\":\"it''s _g%s\"}]'), (1001, %s, %s, 'an otter', "
              "'[{\"type\":\"GIFV\"}]')",
              v.channel, ada->id, other.id, v.channel, ada->id);
    send_message(ada, v.channel, "a badger");
    wait_until_messages_are_indexed(w);
    expect_found(bob, other.id, "content=otter", 0, "");
    expect_found(ada, v.id, "content=otter&has=embed", 2, "an otter");
    expect_found(ada, v.id, "embed_type=gif", 1, "an otter");
    expect_found(ada, v.id, "embed_type=article", 0, "");
}

/* --- filters -------------------------------------------------------------------------- */

static const struct upload picture[] = { { "files[0]", "Red Fox.SVG", STR_INIT("<svg/>") }, { 0 } };

static void check_search_filters_select_messages(struct client *ada, const struct test_guild *v,
                                                 const struct client *bob, const char *role)
{
    struct world *w = ada->world;

    expect_found(ada, v->id, TEXT(w, "author_id=%s", bob->id), 1, "see https://Example.org/x");
    expect_found(ada, v->id, TEXT(w, "author_id=%s&author_id=%s", bob->id, ada->id), 6, "reply");
    expect_found(ada, v->id, TEXT(w, "mentions=%s", bob->id), 2, "reply");
    expect_found(ada, v->id, TEXT(w, "mentions_role_id=%s", role), 1, TEXT(w, "role <@&%s>", role));
    expect_found(ada, v->id, "mention_everyone=true", 1, "@everyone up");
    expect_found(ada, v->id, "mention_everyone=false", 6, "hook");
    expect_found(ada, v->id, "pinned=true", 1, "@everyone up");
    expect_found(ada, v->id, "has=link", 1, "see https://Example.org/x");
    expect_found(ada, v->id, "has=file&has=link", 2, "see https://Example.org/x");
    expect_found(ada, v->id, "has=-file&has=-link", 5, "hook");
    expect_found(ada, v->id, "has=image", 1, "file");
    expect_found(ada, v->id, "has=sound", 0, "");
    expect_found(ada, v->id, "has=sticker", 0, "");
    expect_found(ada, v->id, "has=snapshot", 1, "hook");
    expect_found(ada, v->id, "link_hostname=example.org", 1, "see https://Example.org/x");
    expect_found(ada, v->id, "link_hostname=example.com", 0, "");
    expect_found(ada, v->id, "attachment_extension=svg", 1, "file");
    expect_found(ada, v->id, "attachment_filename=fox", 1, "file");
    expect_found(ada, v->id, "attachment_filename=fox+grey", 0, "");
    expect_found(ada, v->id, TEXT(w, "replied_to_user_id=%s", bob->id), 1, "reply");
    expect_found(ada, v->id, "author_type=webhook", 1, "hook");
    expect_found(ada, v->id, "author_type=-user", 1, "hook");
    expect_found(ada, v->id, "author_type=user&author_type=webhook", 7, "hook");
    expect_found(ada, v->id, "author_type=bot", 0, "");
    expect_found(ada, v->id, TEXT(w, "content=reply&author_id=%s", bob->id), 0, "");
    expect_found(ada, v->id, TEXT(w, "channel_id=%s", v->channel), 7, "hook");
    expect_found(ada, v->id, "channel_id=1", 0, "");
    expect_found(ada, v->id, "has=embed", 1, "hook");
    expect_found(ada, v->id, "embed_type=article", 1, "hook");
    expect_found(ada, v->id, "embed_provider=nobody", 0, "");
    expect_found(ada, v->id, "has=poll", 0, "");
}

static void search_filters_work_before_and_after_indexing(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    const char *role = test_guild_role(&v, 1, 0);

    test_guild_add(&v, bob);
    expect_status(client_upload(ada, "POST", "{'content': 'file'}", picture, MESSAGES, v.channel),
                  200);
    send_message(ada, v.channel, TEXT(w, "hello <@%s>", bob->id));
    send_message(ada, v.channel, TEXT(w, "role <@&%s>", role));
    const char *all = send_message(ada, v.channel, "@everyone up");
    const char *asked = send_message(bob, v.channel, "see https://Example.org/x");
    world_sql(w, "update messages set pinned = 1 where id = %s", all);
    expect_status(client_post(ada,
                              TEXT(w,
                                   "{'content': 'reply', 'message_reference': {'message_id': "
                                   "'%s'}}",
                                   asked),
                              MESSAGES, v.channel),
                  200);
    struct answer hook = client_post(ada, "{'name': 'hook'}", "/channels/%s/webhooks", v.channel);
    expect_status(client_post(world_anonymous(w),
                              "{'content': 'hook', 'embeds': [{'title': 'an embed'}]}",
                              "/webhooks/%s/%s?wait=true", answer_text(hook, "id"),
                              answer_text(hook, "token")),
                  200);
    /* A forwarded message; pinning updates the index of an indexed message. */
    world_sql(w, "update messages set snapshot = '{\"attachments\":', pinned = pinned "
                 "where content = 'hook'");
    check_search_filters_select_messages(ada, &v, bob, role);
    wait_until_messages_are_indexed(w);
    check_search_filters_select_messages(ada, &v, bob, role);
}

static void search_pages_and_id_bounds_are_exact(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const char *ids[30];

    for (int i = 0; i < 30; i++) {
        world_wait(w, 1);
        ids[i] = send_message(ada, v.channel, TEXT(w, "badger %d", i));
    }
    expect_found(ada, v.id, "content=badger&limit=1", 30, "badger 29");
    expect_absent(search_messages(ada, v.id, "content=badger&limit=1"), "messages.1");
    expect_found(ada, v.id, "content=badger&offset=25", 30, "badger 4");
    expect_absent(search_messages(ada, v.id, "content=badger&offset=25"), "messages.5");
    expect_json(search_messages(ada, v.id, "content=badger&offset=30"),
                "{'messages': [], 'total_results': 30}");
    expect_found(ada, v.id, TEXT(w, "min_id=%s", ids[27]), 2, "badger 29");
    expect_found(ada, v.id, TEXT(w, "max_id=%s", ids[3]), 3, "badger 2");
    expect_found(ada, v.id, TEXT(w, "max_id=%s&min_id=%s", ids[9], ids[7]), 1, "badger 8");
    wait_until_messages_are_indexed(w);
    expect_found(ada, v.id, TEXT(w, "max_id=%s&min_id=%s", ids[9], ids[7]), 1, "badger 8");
    expect_found(ada, v.id, "content=badger&offset=25&limit=3&sort_order=asc", 30, "badger 25");
}

static void invalid_search_parameters_are_refused(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    char long_content[1100] = "content=";

    memset(long_content + 8, 'a', 1024);
    expect_status(search_messages(ada, v.id, long_content), 200);
    memset(long_content + 8, 'a', 1025);
    expect_invalid(search_messages(ada, v.id, long_content), "content", "BASE_TYPE_MAX_LENGTH");
    expect_invalid(search_messages(ada, v.id, "limit=26"), "limit", "NUMBER_TYPE_MAX");
    expect_invalid(search_messages(ada, v.id, "limit=0"), "limit", "NUMBER_TYPE_MIN");
    expect_status(search_messages(ada, v.id, "offset=9975"), 200);
    expect_invalid(search_messages(ada, v.id, "offset=9976"), "offset", "NUMBER_TYPE_MAX");
    expect_invalid(search_messages(ada, v.id, "slop=101"), "slop", "NUMBER_TYPE_MAX");
    expect_invalid(search_messages(ada, v.id, "has=cake"), "has.0", "BASE_TYPE_CHOICES");
    expect_invalid(search_messages(ada, v.id, "sort_by=name"), "sort_by", "BASE_TYPE_CHOICES");
    expect_invalid(search_messages(ada, v.id, "author_id=x"), "author_id.0", "NUMBER_TYPE_COERCE");
    expect_status(
        search_messages(ada, v.id, "content=%22%27+OR+NOT+(*)&attachment_filename=%27%22"), 200);
}

/* --- permissions ---------------------------------------------------------------------- */

static void search_omits_messages_of_hidden_channels(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    const char *secret = make_channel(
        ada, v.id,
        TEXT(w,
             "{'name': 'secret', 'permission_overwrites': [{'id': '%s', 'type': 0, 'deny': "
             "'1024'}]}",
             v.id));
    const char *forgetful = make_channel(
        ada, v.id,
        TEXT(w,
             "{'name': 'forgetful', 'permission_overwrites': [{'id': '%s', 'type': 0, 'deny': "
             "'65536'}]}",
             v.id));
    const char *adult = make_channel(ada, v.id, "{'name': 'adult', 'nsfw': true}");

    test_guild_add(&v, bob);
    send_message(ada, v.channel, "open badger");
    send_message(ada, secret, "secret badger");
    send_message(ada, forgetful, "forgotten badger");
    send_message(ada, adult, "adult badger");
    for (int i = 0; i < 2; i++) {
        expect_found(ada, v.id, "content=badger", 3, "forgotten badger");
        expect_found(ada, v.id, "content=badger&include_nsfw=true", 4, "adult badger");
        expect_found(bob, v.id, "content=badger", 1, "open badger");
        expect_found(bob, v.id, TEXT(w, "content=badger&channel_id=%s", secret), 0, "");
        wait_until_messages_are_indexed(w);
    }
    /* Without a readable channel the search is refused. */
    client_patch(
        ada, TEXT(w, "{'permission_overwrites': [{'id': '%s', 'type': 0, 'deny': '65536'}]}", v.id),
        "/channels/%s", v.channel);
    client_patch(
        ada, TEXT(w, "{'permission_overwrites': [{'id': '%s', 'type': 0, 'deny': '65536'}]}", v.id),
        "/channels/%s", adult);
    expect_error(search_messages(bob, v.id, "content=badger"), 403, 50013);
    expect_error(search_messages(world_client(w, "eve"), v.id, "content=badger"), 403, 50001);
}

static void search_finds_private_thread_messages_only_for_members(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    test_guild_add(&v, eve);
    struct answer t =
        client_post(bob, "{'name': 'den', 'type': 12}", "/channels/%s/threads", v.channel);
    const char *den = answer_text(t, "id");
    t = client_post(bob, "{'name': 'lawn', 'type': 11}", "/channels/%s/threads", v.channel);
    const char *lawn = answer_text(t, "id");
    send_message(bob, lawn, "badger on the lawn");
    send_message(bob, den, "badger in the den");
    for (int i = 0; i < 2; i++) {
        struct answer a = search_messages(bob, v.id, "content=badger");

        expect_json(a, "{'total_results': 2, 'threads': [{'id': '%s'}, {'id': '%s'}]}", den, lawn);
        expect_json(a, "{'members': [{'id': '%s', 'user_id': '%s'}, {'id': '%s'}]}", den, bob->id,
                    lawn);
        expect_absent(a, "threads.0.member");
        expect_found(eve, v.id, "content=badger", 1, "badger on the lawn");
        expect_found(ada, v.id, "content=badger", 2, "badger in the den");
        wait_until_messages_are_indexed(w);
    }
}

static void private_channel_search_requires_being_a_recipient(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve");
    struct test_guild v = world_test_guild(w, ada);

    make_friends(ada, bob);
    const char *dm = answer_text(
        client_post(ada, TEXT(w, "{'recipient_id': '%s'}", bob->id), "/users/@me/channels"), "id");
    send_message(ada, dm, "a badger between us");
    send_message(ada, v.channel, "a badger for all");
    for (int i = 0; i < 2; i++) {
        expect_json(client_get(bob, "/channels/%s/messages/search?content=badger", dm),
                    "{'total_results': 1, 'messages': [[{'content': 'a badger between us'}]]}");
        wait_until_messages_are_indexed(w);
        world_wait(w, 6);
    }
    expect_error(client_get(eve, "/channels/%s/messages/search?content=badger", dm), 403, 50001);
    expect_error(client_get(ada, "/channels/%s/messages/search?content=badger", v.channel), 400,
                 50024);
}

static void bots_without_the_content_flag_cannot_search(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct client *bot = application_bot(ada, make_application(ada, "Robot"));
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bot);
    send_message(ada, v.channel, "a badger");
    world_sql(w, "update applications set flags = 0");
    expect_error(search_messages(bot, v.id, "content=badger"), 403, 50001);
    world_sql(w, "update applications set flags = 524288");
    expect_found(bot, v.id, "content=badger", 1, "a badger");
    expect_error(client_get(bot, "/channels/%s/messages/search", v.channel), 403, 20001);
}

/* --- large indexes -------------------------------------------------------------------- */

/* Parsing these messages takes longer than one run of the job may take. */
static void long_messages_are_indexed_in_several_runs(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    char content[1000] = "";

    for (int i = 0; i < 180; i++)
        snprintf(content + (size_t)i * 4, 5, "%03d ", i);
    world_sql(w,
              "insert into messages (id, channel_id, author_id, content) "
              "with recursive n (i) as (select 1 union all select i + 1 from n where i < 600) "
              "select i, %s, %s, '%s' from n",
              v.channel, ada->id, content);
    expect_status(search_messages(ada, v.id, "content=007"), 200);
    wait_until_messages_are_indexed(w);
}

/* Each of these messages takes a millisecond to convert to terms: the job must not convert more of
 * them than it has time to index, and no run may block the writer. */
static void longest_messages_are_indexed_one_by_one(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    char words[600] = "";

    /* 40 words of six Cyrillic letters, fourteen times. */
    for (int i = 0; i < 40; i++)
        snprintf(words + (size_t)i * 13, 14, "\xd0%c\xd0%c\xd0\xb2\xd0\xb0\xd0\xb1\xd0\xb2 ",
                 0xb0 + i % 10, 0xb0 + i / 10);
    world_sql(w,
              "insert into messages (id, channel_id, author_id, content) "
              "with recursive n (i) as (select 1 union all select i + 1 from n where i < 200) "
              "select i, %s, %s, replace('xxxxxxxxxxxxxx', 'x', '%s') from n",
              v.channel, ada->id, words);
    expect_status(search_messages(ada, v.id, "content=otter"), 200);
    wait_until_messages_are_indexed(w);
}

static void search_is_202_while_too_many_messages_are_unindexed(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    world_sql(w,
              "insert into messages (id, channel_id, author_id, content) "
              "with recursive n (i) as (select 1 union all select i + 1 from n where i < 2600) "
              "select i, %s, %s, 'badger' from n",
              v.channel, ada->id);
    struct answer a = search_messages(ada, v.id, "content=badger");
    expect_status(a, 202);
    expect_json(a, "{'code': 110000, 'message': 'Index not yet available. Try again later', "
                   "'retry_after': 5}");
    /* The search has scheduled the job. */
    wait_until_messages_are_indexed(w);
    expect_found(ada, v.id, "content=badger", 2600, "badger");
}

/* Inserts messages with the content of the first one and its index entries, without scheduling
 * the job. */
static void insert_common_messages(struct world *w, const char *channel, const char *author,
                                   int from, int to)
{
    world_sql(w,
              "insert into messages (id, channel_id, author_id, content, ephemeral_for) "
              "with recursive n (i) as (select %d union all select i + 1 from n where i < %d) "
              "select i, %s, %s, 'common', 1 from n",
              from, to, channel, author);
    world_sql(w,
              "insert into message_index (rowid, words) "
              "with recursive n (i) as (select %d union all select i + 1 from n where i < %d) "
              "select i, (select words from message_index where rowid = (select min(id) from "
              "messages where id > 20000)) from n",
              from, to);
    world_sql(w, "update messages set ephemeral_for = null where id <= %d", to);
}

static void very_common_word_is_not_searched_as_a_prefix(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const char *other = make_channel(ada, v.id, "{'name': 'other'}");
    const char *there = TEXT(w, "content=common&channel_id=%s", other);
    /* FTS5 would read the rows of all words with this prefix; PostgreSQL does not. */
    bool sqlite = str_is(str_of(store_engine_name(guildhall_get_store(world_server(w)))), "sqlite");
    const char *newest = sqlite ? "common" : "a commonly used word";
    int last = sqlite ? 9999 : 99, all = sqlite ? 10000 : 101;

    send_message(ada, v.channel, "common");
    wait_until_messages_are_indexed(w);
    insert_common_messages(w, v.channel, ada->id, 1, last - 1);
    send_message(ada, other, "a commonly used word");
    wait_until_messages_are_indexed(w);
    expect_found(ada, v.id, "content=common", last + 1, "a commonly used word");
    insert_common_messages(w, v.channel, ada->id, last, last);
    expect_found(ada, v.id, "content=common", all, newest);
    expect_found(ada, v.id, "content=a+common", 1, "a commonly used word");
    expect_found(ada, v.id, "content=common&min_id=20000", 2, "a commonly used word");
    expect_found(ada, v.id, "content=commo", all, "a commonly used word");
    /* Frequency in other channels does not matter. */
    expect_found(ada, v.id, there, 1, "a commonly used word");
    /* New messages are found before they are indexed. */
    send_message(ada, other, "commonly, too");
    expect_found(ada, v.id, "content=common", sqlite ? all : all + 1,
                 sqlite ? newest : "commonly, too");
}

/* Inserts messages from `from` to `to` with the index entries of the channel's newest message. */
static void insert_indexed_messages(struct world *w, const char *channel, int from, int to)
{
    world_sql(w,
              "insert into messages (id, channel_id, author_id, content, ephemeral_for) with "
              "recursive n (i) as (select %d union all select i + 1 from n where i < %d) select i, "
              "%s, 1, '', 1 from n",
              from, to, channel);
    world_sql(w,
              "insert into message_index (rowid, words) with recursive n (i) as (select %d union "
              "all select i + 1 from n where i < %d) select i, (select words from message_index "
              "where rowid = (select max(id) from messages where channel_id = %s)) from n",
              from, to, channel);
    world_sql(w, "update messages set ephemeral_for = null where channel_id = %s", channel);
}

/* Returns the least processor time of several searches, in microseconds. */
static int64_t least_time_of_search(struct client *c, const char *guild, const char *query,
                                    int total)
{
    int64_t least = INT64_MAX;

    for (int i = 0; i < 5; i++) {
        struct timespec begin, end;

        world_wait(c->world, 6);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
        struct answer a = search_messages(c, guild, query);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
        int64_t took = (end.tv_sec - begin.tv_sec) * 1000000 + (end.tv_nsec - begin.tv_nsec) / 1000;

        expect_status(a, 200);
        expect_json(a, "{'total_results': %d}", total);
        least = took < least ? took : least;
    }
    return least;
}

static void prefix_that_is_common_in_other_guilds_is_found_quickly(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada), other = world_test_guild(w, bob);

    if (world_config(w)->store)
        return;
    send_message(ada, v.channel, "alpha");
    send_message(bob, other.channel, "common");
    wait_until_messages_are_indexed(w);
    insert_indexed_messages(w, v.channel, 30001, 30700);
    insert_indexed_messages(w, other.channel, 40001, 80000);
    int64_t here = least_time_of_search(ada, v.id, "content=alph", 701);

    expect(least_time_of_search(ada, v.id, "content=comm", 0) < 5 * here);
}

const struct test search_tests[] = {
    TEST(search_finds_words_before_and_after_indexing),
    TEST(search_result_contains_only_the_matching_message),
    TEST(search_results_reflect_edits_and_deletions),
    TEST(messages_older_than_indexed_ones_are_found),
    TEST(ephemeral_messages_are_neither_found_nor_read_again),
    TEST(deleting_a_channel_deletes_its_search_index),
    TEST(embed_types_of_imports_are_not_terms),
    TEST(search_filters_work_before_and_after_indexing),
    TEST(search_pages_and_id_bounds_are_exact),
    TEST(invalid_search_parameters_are_refused),
    TEST(search_omits_messages_of_hidden_channels),
    TEST(search_finds_private_thread_messages_only_for_members),
    TEST(private_channel_search_requires_being_a_recipient),
    TEST(bots_without_the_content_flag_cannot_search),
    TEST(long_messages_are_indexed_in_several_runs),
    TEST(longest_messages_are_indexed_one_by_one),
    TEST(search_is_202_while_too_many_messages_are_unindexed),
    TEST(very_common_word_is_not_searched_as_a_prefix),
    TEST(prefix_that_is_common_in_other_guilds_is_found_quickly),
    { 0 },
};
