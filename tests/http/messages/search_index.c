/* search_index.c - the index of message search: it finds the same messages as a scan of all
 * messages, whatever the words, and its segments are merged. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

#include "channels.h"
#include "test_guild.h"
#include "waits.h"

enum { MESSAGES = 1500, WORDS_EACH = 3 };

static const char *const words[] = {
    "comm", "common", "commonly", "commons", "commute", "badg",  "badger", "otter",   "otters",
    "ot",   "ott",    "the",      "weasel",  "weas",    "comma", "wolf",   "wolfram", "wolves"
};

struct plain_index {
    const char *texts[MESSAGES + 1][WORDS_EACH]; /* words by message id; deleted messages: NULL */
    unsigned random;
};

static unsigned random_below(struct plain_index *p, unsigned n)
{
    p->random = p->random * 1103515245 + 12345;
    return (p->random >> 8) % n;
}

/* Returns the content of message `id`. The first words are the most common ones. */
static const char *random_content(struct world *w, struct plain_index *p, int id)
{
    const char **t = p->texts[id];

    for (int i = 0; i < WORDS_EACH; i++)
        t[i] = words[random_below(p, 1 + random_below(p, COUNT_OF(words)))];
    return TEXT(w, "%s %s, %s!", t[0], t[1], t[2]);
}

static void insert_random_messages(struct world *w, struct plain_index *p,
                                   const struct test_guild *v, const char *author)
{
    for (int id = 1; id <= MESSAGES; id++)
        world_sql(w,
                  "insert into messages (id, channel_id, author_id, content) values (%d, %s, %s, "
                  "'%s')",
                  id, v->channel, author, random_content(w, p, id));
}

static void change_random_messages(struct world *w, struct plain_index *p)
{
    for (int i = 0; i < 60; i++) {
        int id = 1 + (int)random_below(p, MESSAGES);

        if (p->texts[id][0])
            world_sql(w, "update messages set content = '%s' where id = %d",
                      random_content(w, p, id), id);
        id = 1 + (int)random_below(p, MESSAGES);
        world_sql(w, "delete from messages where id = %d", id);
        memset(p->texts[id], 0, sizeof p->texts[id]);
    }
}

static bool word_matches(const char *word, const char *wanted, bool prefix)
{
    return word && (prefix && strlen(wanted) >= 4 ? strncmp(word, wanted, strlen(wanted)) == 0
                                                  : strcmp(word, wanted) == 0);
}

/* Returns whether a message has the word, or `before` and later the word. */
static bool text_matches(const char *const *text, const char *before, const char *word)
{
    bool found = !before;

    for (int i = 0; i < WORDS_EACH; i++) {
        if (found && word_matches(text[i], word, true))
            return true;
        found = found || word_matches(text[i], before, false);
    }
    return false;
}

/* Searches, and compares the number of results and the ids of one page with a scan. */
static void check_random_search(struct client *ada, const struct test_guild *v,
                                struct plain_index *p)
{
    const char *word = words[random_below(p, COUNT_OF(words))];
    const char *before = random_below(p, 3) ? NULL : words[random_below(p, COUNT_OF(words))];
    int above = random_below(p, 2) ? 0 : (int)random_below(p, MESSAGES);
    int below = random_below(p, 2) ? MESSAGES + 1 : (int)random_below(p, MESSAGES);
    bool oldest = random_below(p, 2);
    int found[MESSAGES], count = 0, offset = (int)random_below(p, 200);

    for (int i = 1; i <= MESSAGES; i++) {
        int id = oldest ? i : MESSAGES + 1 - i;

        if (id > above && id < below && text_matches(p->texts[id], before, word))
            found[count++] = id;
    }
    const char *query =
        TEXT(ada->world, "content=%s%s%s&min_id=%d&max_id=%d&sort_order=%s&offset=%d&limit=3",
             before ? before : "", before ? "+" : "", word, above, below, oldest ? "asc" : "desc",
             offset);
    struct answer a = client_get(ada, "/guilds/%s/messages/search?%s", v->id, query);
    expect_status(a, 200);
    if (!str_is(dom_at(a.json, "total_results")->text, TEXT(ada->world, "%d", count)))
        fail_test(__FILE__, __LINE__, "%s: %d expected, %.*s", query, count, STR_ARGS(a.body));
    for (int i = 0; i < 3 && offset + i < count; i++)
        if (atoi(answer_text(a, TEXT(ada->world, "messages.%d.0.id", i))) != found[offset + i])
            fail_test(__FILE__, __LINE__, "%s: %d expected, %.*s", query, found[offset + i],
                      STR_ARGS(a.body));
}

static void check_random_searches(struct client *ada, const struct test_guild *v,
                                  struct plain_index *p)
{
    for (int i = 0; i < 40; i++) {
        if (i % 5 == 0)
            world_wait(ada->world, 6);
        check_random_search(ada, v, p);
    }
}

/* Makes further messages go to the next posting list of each term that was counted. */
static void begin_further_posting_lists(struct world *w)
{
    if (!world_config(w)->store)
        world_sql(w, "update message_index_terms set counted = counted + 400");
}

static void search_finds_the_same_messages_as_a_scan(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct plain_index p = { .random = 7 };

    insert_random_messages(w, &p, &v, ada->id);
    check_random_searches(ada, &v, &p);
    expect_soon((world_wait(w, 1), world_count_unindexed_messages(w) == 0));
    check_random_searches(ada, &v, &p);
    for (int i = 0; i < 3; i++) {
        begin_further_posting_lists(w);
        change_random_messages(w, &p);
        check_random_searches(ada, &v, &p);
        expect_soon((world_wait(w, 1), world_count_unindexed_messages(w) == 0));
        check_random_searches(ada, &v, &p);
    }
}

static void wait_until_badgers_are_indexed(struct world *w, const struct test_guild *v,
                                           struct client *ada)
{
    world_wait(w, 6);
    client_get(ada, "/guilds/%s/messages/search?content=badger", v->id);
    expect_soon((world_wait(w, 1), world_count_unindexed_messages(w) == 0));
}

static void insert_badgers(struct world *w, const struct test_guild *v, struct client *ada,
                           int first, int last)
{
    world_sql(w,
              "insert into messages (id, channel_id, author_id, content) with recursive n (i) as "
              "(select %d union all select i + 1 from n where i < %d) select i, %s, %s, 'a badger, "
              "badger' from n",
              first, last, v->channel, ada->id);
    wait_until_badgers_are_indexed(w, v, ada);
}

static void edit_all_messages(struct world *w, const struct test_guild *v, struct client *ada,
                              const char *content)
{
    world_sql(w, "update messages set content = '%s'", content);
    wait_until_badgers_are_indexed(w, v, ada);
}

/* FTS5 merges a posting list in one step, so its length is limited. */
static void common_terms_have_several_posting_lists(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    if (world_config(w)->store)
        return;
    insert_badgers(w, &v, ada, 1, 4000);
    /* About 16 of these messages are counted for each of the five terms; a list has 400. */
    int64_t counted = world_number(w, "select sum(counted) from message_index_terms");
    expect(counted > 50 && counted < 120);
    expect(world_number(w, "select count(*) from message_index where words like '%%\\_1 %%' escape "
                           "'\\'") == 0);
    /* Edits must not add posting lists without end, because each search reads all of them. */
    edit_all_messages(w, &v, ada, "a badger and an otter");
    int64_t with_otters = world_number(w, "select sum(counted) from message_index_terms");
    expect(with_otters > counted);
    edit_all_messages(w, &v, ada, "a badger");
    edit_all_messages(w, &v, ada, "badger, a badger and an otter");
    expect(world_number(w, "select sum(counted) from message_index_terms") == with_otters);
    begin_further_posting_lists(w);
    insert_badgers(w, &v, ada, 4001, 6000);
    expect(world_number(w, "select count(*) from message_index where message_index match "
                           "'badger_1 AND a_1'") == 2000);
    expect(world_number(w, "select count(*) from message_index where message_index match "
                           "'badger'") == 4000);
    expect_json(client_get(ada, "/guilds/%s/messages/search?content=badger", v.id),
                "{'total_results': 6000}");
    expect_json(client_get(ada, "/guilds/%s/messages/search?content=a+badge&min_id=3000", v.id),
                "{'total_results': 3000}");
    /* A deleted message leaves no row with digests of its words. */
    long id = (long)world_number(w, "select max(message_id) from message_index_counted");
    expect_status(client_delete(ada, "/channels/%s/messages/%ld", v.channel, id), 204);
    expect(world_number(w, "select max(message_id) from message_index_counted") < id);
}

/* Users can write messages until thousands of words have several posting lists. */
static void thousands_of_long_terms_do_not_slow_down_indexing(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    if (world_config(w)->store)
        return;
    world_sql(w,
              "insert into message_index_terms (digest, counted) with recursive n (i) as (select 1 "
              "union all select i + 1 from n where i < 20000) select i, 400 from n");
    world_sql(w,
              "insert into messages (id, channel_id, author_id, content) with recursive n (i) as "
              "(select 1 union all select i + 1 from n where i < 1300) select 1, %s, %s, "
              "group_concat('w' || i, ' ') from n",
              v.channel, ada->id);
    wait_until_badgers_are_indexed(w, &v, ada);
    expect_short_writes("message-indexing", 20);
}

/* Each run of the job adds a segment. FTS5's own merging is disabled, because it takes long.
 * Segments that are small in relation to the largest one may stay. */
static void index_segments_are_merged_by_the_job(struct world *w)
{
    static const char *const most_pages_are_in_one_segment =
        "select 4 * (sum(pages) - max(pages)) < max(pages) from (select count(*) as pages from "
        "message_index_data where id > 10 and (id >> 31) & 63 = 0 group by id >> 37)";
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    if (world_config(w)->store)
        return;
    for (int i = 0; i < 9; i++) {
        world_sql(w,
                  "insert into messages (id, channel_id, author_id, content) "
                  "with recursive n (i) as (select %d union all select i + 1 from n where i < %d) "
                  "select i, %s, %s, 'badger ' || i || ' ' || (i * 7919) || ' ' || (i * 104729) "
                  "from n",
                  1000 * i + 1, 1000 * i + 600, v.channel, ada->id);
        world_wait(w, 6);
        client_get(ada, "/guilds/%s/messages/search?content=badger", v.id);
        expect_soon((world_wait(w, 1), world_count_unindexed_messages(w) == 0));
    }
    expect_soon((world_wait(w, 1), world_number(w, "%s", most_pages_are_in_one_segment) == 1));
    expect(world_number(
               w, "select count(*) from message_index_config where k = 'automerge' and v = 0") ==
           1);
    expect_json(client_get(ada, "/guilds/%s/messages/search?content=badger", v.id),
                "{'total_results': 5400}");
}

/* With 64 segments, FTS5 would merge all of them in the transaction that adds the next one. */
static void job_merges_many_segments_before_it_indexes(struct world *w)
{
    static const char *const count_segments = "select count(distinct id >> 37) from "
                                              "message_index_data where id > 10";
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    if (world_config(w)->store)
        return;
    /* 40 segments with 3,000 words each, which one run of the job cannot merge. */
    for (int i = 1; i <= 40; i++)
        world_sql(w,
                  "insert into message_index (rowid, words) "
                  "with recursive n (i) as (select 1 union all select i + 1 from n where i < 3000) "
                  "select %d, group_concat(i * 40 + %d, ' ') from n",
                  i, i);
    expect(world_number(w, "%s", count_segments) >= 40);
    world_sql(w,
              "insert into messages (id, channel_id, author_id, content) "
              "values (1000, %s, %s, 'an otter')",
              v.channel, ada->id);
    client_get(ada, "/guilds/%s/messages/search?content=badger", v.id);
    expect_soon((world_wait(w, 1), world_count_unindexed_messages(w) == 0));
    expect(world_number(w, "%s", count_segments) <= 33);
    expect_json(client_get(ada, "/guilds/%s/messages/search?content=otter", v.id),
                "{'total_results': 1}");
}

const struct test search_index_tests[] = {
    TEST(search_finds_the_same_messages_as_a_scan),
    TEST(common_terms_have_several_posting_lists),
    TEST(thousands_of_long_terms_do_not_slow_down_indexing),
    TEST(index_segments_are_merged_by_the_job),
    TEST(job_merges_many_segments_before_it_indexes),
    { 0 },
};
