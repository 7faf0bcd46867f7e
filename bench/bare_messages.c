/* bare_messages.c - inserts message rows into PostgreSQL with the fewest statements.
 *
 *   bare_messages WHERE CONNECTIONS GROUP SECONDS
 *
 * The minimal cost of posting messages: rows that a server inserted before are inserted again with
 * new ids, GROUP messages per statement, each statement a transaction. Each connection has its own
 * channels and authors, if there are enough. */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bare.h"
#include "store/postgres/libpq.h"

enum { MOST_GROUP = 256, MOST_POSITIONS = 256, COLUMNS = 6 };

static const char ADD[] =
    "with m as (insert into messages (id, channel_id, author_id, type, content, tts, "
    "mention_everyone, mentions, mention_roles, embeds, components, flags, attachment_count, "
    "polled, shown) select id, channel_id, author_id, 0, $4, 0, 0, $5, $6, $7, $8, 0, 0, 0, $9 from "
    "unnest($1::bigint[], $2::bigint[], $3::bigint[]) n (id, channel_id, author_id)), "
    "t as (insert into channel_tails (channel_id, lane, last_message_id, messages) select "
    "channel_id, $10::bigint, id, 1 from unnest($1::bigint[], $2::bigint[]) n (id, channel_id) "
    "on conflict (channel_id, lane) do update set messages = channel_tails.messages + 1, "
    "last_message_id = case when channel_tails.last_message_id < excluded.last_message_id then "
    "excluded.last_message_id else channel_tails.last_message_id end) "
    "insert into read_states (user_id, kind, entity_id, guild_id, last_id) select author_id, 0, "
    "channel_id, $11::bigint, id from unnest($1::bigint[], $2::bigint[], $3::bigint[]) "
    "n (id, channel_id, author_id) on conflict (user_id, kind, entity_id) do update set "
    "last_id = excluded.last_id, mentions = 0 where read_states.last_id < excluded.last_id";

static struct {
    const char *where;
    int connections, group;
    int64_t until;
    char text[COLUMNS][8192]; /* columns of the repeated message */
    char guild[32];
    int64_t channels[MOST_POSITIONS], authors[MOST_POSITIONS];
    int positions;
    _Atomic int64_t next_id, made;
} bare;

struct writer {
    int number;
    PGconn *pg;
    char worker[32];
};

static void give_up(PGconn *pg)
{
    fprintf(stderr, "bare_messages: %s\n", pg ? pq.errorMessage(pg) : "cannot load libpq");
    exit(1);
}

static PGconn *bare_connect(void)
{
    const char *const keys[] = { "dbname", NULL }, *const values[] = { bare.where, NULL };
    PGconn *pg = pq.connectdbParams(keys, values, 1);

    if (!pg || pq.status(pg) != CONNECTION_OK)
        give_up(pg);
    return pg;
}

/* Returns the only result of the sent statement. */
static PGresult *bare_result(PGconn *pg, int sent)
{
    PGresult *result = sent ? pq.getResult(pg) : NULL;
    ExecStatusType status = pq.resultStatus(result);

    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        give_up(pg);
    for (PGresult *more; (more = pq.getResult(pg));)
        pq.clear(more);
    return result;
}

/* --- the repeated message -------------------------------------------------------------- */

static void find_template(PGconn *pg)
{
    PGresult *r = bare_result(
        pg,
        pq.sendQuery(pg, "select m.content, m.mentions, m.mention_roles, m.embeds, m.components, "
                         "m.shown, c.guild_id, m.id from messages m join channels c on "
                         "c.id = m.channel_id where m.type = 0 order by m.id desc limit 1"));

    if (pq.ntuples(r) != 1) {
        fprintf(stderr, "bare_messages: there is no message to repeat\n");
        exit(1);
    }
    for (int i = 0; i < COLUMNS; i++)
        snprintf(bare.text[i], sizeof bare.text[i], "%s", pq.getvalue(r, 0, i));
    snprintf(bare.guild, sizeof bare.guild, "%s", pq.getvalue(r, 0, COLUMNS));
    bare.next_id = strtoll(pq.getvalue(r, 0, COLUMNS + 1), NULL, 10) + 1;
    pq.clear(r);
    r = bare_result(
        pg,
        pq.sendQuery(pg, "select min(channel_id), author_id from messages where type = 0 group by "
                         "author_id order by 1"));
    for (int i = 0; i < pq.ntuples(r) && bare.positions < MOST_POSITIONS; i++, bare.positions++) {
        bare.channels[bare.positions] = strtoll(pq.getvalue(r, i, 0), NULL, 10);
        bare.authors[bare.positions] = strtoll(pq.getvalue(r, i, 1), NULL, 10);
    }
    pq.clear(r);
}

/* --- writing --------------------------------------------------------------------------- */

enum { LIST = MOST_GROUP * 24 };

static void list_put(char *list, size_t *n, int64_t id)
{
    *n += (size_t)snprintf(list + *n, LIST - *n, "%c%" PRId64, *n ? ',' : '{', id);
}

static void write_group(struct writer *w, int64_t *at)
{
    char ids[LIST], channels[LIST], authors[LIST];
    size_t a = 0, b = 0, c = 0;

    for (int i = 0; i < bare.group; i++, ++*at) {
        int location = (int)((*at * bare.connections + w->number) % bare.positions);

        list_put(ids, &a, atomic_fetch_add(&bare.next_id, 1));
        list_put(channels, &b, bare.channels[location]);
        list_put(authors, &c, bare.authors[location]);
    }
    ids[a] = channels[b] = authors[c] = '}';
    ids[a + 1] = channels[b + 1] = authors[c + 1] = '\0';
    const char *const values[] = { ids,          channels,     authors,      bare.text[0],
                                   bare.text[1], bare.text[2], bare.text[3], bare.text[4],
                                   bare.text[5], w->worker,    bare.guild };
    pq.clear(bare_result(w->pg, pq.sendQueryPrepared(w->pg, "add", 11, values, NULL, NULL, 0)));
    atomic_fetch_add(&bare.made, bare.group);
}

static void *bare_write(void *arg)
{
    struct writer *w = arg;
    int64_t at = 0;

    while (clock_monotonic_ns() < bare.until)
        write_group(w, &at);
    return NULL;
}

int main(int argc, char **argv)
{
    enum { MOST_CONNECTIONS = 64 };
    struct writer writers[MOST_CONNECTIONS];
    pthread_t threads[MOST_CONNECTIONS];

    if (argc != 5 || !load_libpq()) {
        fprintf(stderr, "usage: bare_messages WHERE CONNECTIONS GROUP SECONDS\n");
        return 2;
    }
    bare.where = argv[1];
    bare.connections = atoi(argv[2]);
    bare.group = atoi(argv[3]);
    if (bare.connections < 1 || bare.connections > MOST_CONNECTIONS || bare.group < 1 ||
        bare.group > MOST_GROUP)
        return 2;
    for (int i = 0; i < bare.connections; i++) {
        writers[i] = (struct writer){ .number = i, .pg = bare_connect() };
        snprintf(writers[i].worker, sizeof writers[i].worker, "%d", i + 1);
        pq.clear(bare_result(writers[i].pg, pq.sendPrepare(writers[i].pg, "add", ADD, 11, NULL)));
    }
    find_template(writers[0].pg);
    struct bare_time since = bare_begin();
    bare.until = since.began + (int64_t)(strtod(argv[4], NULL) * 1e9);
    for (int i = 0; i < bare.connections; i++)
        pthread_create(&threads[i], NULL, bare_write, &writers[i]);
    for (int i = 0; i < bare.connections; i++)
        pthread_join(threads[i], NULL);
    bare_report(&since, bare.made);
    for (int i = 0; i < bare.connections; i++)
        pq.finish(writers[i].pg);
    return 0;
}
