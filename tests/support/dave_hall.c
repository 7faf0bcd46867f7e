/* dave_hall.c - a DAVE room with scripted clients that behave like @discordjs/voice. */
#include "support/dave_hall.h"

#include <stdlib.h>

#include "base/mem.h"
#include "unit/unit.h"

struct dave_hall dave_hall;

/* Clients refuse Adds of users that are not in the room. */
static void check_proposals_are_of_present_users(struct str payload)
{
    struct mls_reader r = { .rest = payload };
    bool revokes = mls_read_number(&r, 1);
    struct mls_reader list = { .rest = mls_read_vector(&r) };
    struct dave_received p;

    while (!revokes && list.rest.n) {
        dave_read_proposal(&list, STR(""), &p);
        assert_false(list.failed);
        assert_true(!p.adds || dave_hall.clients[p.user].here);
    }
}

static void queue_dave_message(void *context, snowflake user, const struct dave_message *m)
{
    struct dave_queued *q = &dave_hall.queue[dave_hall.count++];

    (void)context;
    assert_true(dave_hall.count < DAVE_QUEUE);
    *q = (struct dave_queued){ user, *m };
    if (dave_message_is_json(m))
        return;
    if (m->op == DAVE_PROPOSALS)
        check_proposals_are_of_present_users(m->payload);
    char *copy = malloc(m->payload.n);
    memcpy(copy, m->payload.p, m->payload.n);
    q->message.payload.p = copy;
}

/* --- the model of the tree -------------------------------------------------------------- */

uint32_t dave_leaf_of(snowflake user)
{
    for (uint32_t i = 0; i < dave_hall.leaf_count; i++)
        if (dave_hall.leaves[i] == user)
            return i;
    return UINT32_MAX;
}

static void leaf_add(snowflake user)
{
    size_t at = 0;

    while (at < dave_hall.leaf_count && dave_hall.leaves[at])
        at++;
    if (at == dave_hall.leaf_count)
        dave_hall.leaf_count++;
    dave_hall.leaves[at] = user;
}

static void tree_apply(struct dave_client *c, const struct dave_received *p, size_t count)
{
    if (!dave_hall.established) {
        dave_hall.leaf_count = 0;
        leaf_add(c->id.user);
    }
    dave_hall.established = true;
    dave_hall.epoch++;
    for (size_t i = 0; i < count; i++)
        if (!p[i].adds)
            dave_hall.leaves[p[i].leaf] = 0;
    for (size_t i = 0; i < count; i++)
        if (p[i].adds)
            leaf_add(p[i].user);
}

/* --- clients ---------------------------------------------------------------------------- */

enum dave_message_result dave_client_send_package(struct dave_client *c)
{
    identity_clear(&c->id);
    identity_init(&c->id, c->id.user);
    buf_reset(&c->package);
    dave_write_package(&c->package, &c->id, FAULT_NONE);
    c->proposal_count = 0;
    c->in_group = false;
    return dave_room_handle_key_package(dave_hall.room, c->id.user, buf_as_str(&c->package),
                                        dave_hall.now);
}

static void write_commit_of_client(struct dave_client *c, enum dave_fault f, struct buf *out,
                                   struct dave_received *p)
{
    static unsigned char refs[2 * DAVE_CLIENTS][MLS_HASH], added[2 * DAVE_CLIENTS][MLS_HASH];
    size_t n = c->proposal_count, adds = 0;

    for (size_t i = 0; i < n; i++) {
        p[i] = c->proposals[c->reverses ? n - 1 - i : i];
        memcpy(refs[i], p[i].ref, MLS_HASH);
        if (p[i].adds)
            memcpy(added[adds++], p[i].package_ref, MLS_HASH);
    }
    struct dave_commit commit = { DAVE_GROUP,
                                  dave_hall.epoch,
                                  dave_hall.established ? dave_leaf_of(c->id.user) : 0,
                                  refs,
                                  n,
                                  c->uses_path ? &c->id : NULL };
    dave_write_commit(out, &commit, f);
    if (adds)
        dave_write_welcome(out, added, adds);
}

enum dave_message_result dave_client_commit(struct dave_client *c)
{
    static struct dave_received p[2 * DAVE_CLIENTS];
    struct buf b;

    buf_init(&b, 1 << 20);
    write_commit_of_client(c, FAULT_NONE, &b, p);
    enum dave_message_result v =
        dave_room_handle_commit(dave_hall.room, c->id.user, buf_as_str(&b), dave_hall.now);
    if (v == DAVE_ACCEPTED)
        tree_apply(c, p, c->proposal_count);
    buf_clear(&b);
    return v;
}

static void dave_client_receive_proposals(struct dave_client *c, struct str payload)
{
    struct mls_reader r = { .rest = payload };
    bool revokes = mls_read_number(&r, 1);
    struct mls_reader list = { .rest = mls_read_vector(&r) };

    assert_true(!r.failed && !r.rest.n && list.rest.n);
    while (revokes && list.rest.n) {
        struct str ref = mls_read_vector(&list);
        size_t at = 0;

        while (at < c->proposal_count && memcmp(c->proposals[at].ref, ref.p, MLS_HASH) != 0)
            at++;
        assert_true(at < c->proposal_count);
        c->proposals[at] = c->proposals[--c->proposal_count];
    }
    while (!revokes && list.rest.n) {
        struct dave_received *p = &c->proposals[c->proposal_count++];

        assert_true(dave_read_proposal(&list, mls_key_get_public_key(dave_hall.key), p));
        assert_true(!p->adds || p->user != c->id.user);
        for (struct dave_received *o = c->proposals; o < p; o++)
            assert_false(p->adds && o->adds && o->user == p->user);
    }
    if (c->id.user == 1 && dave_hall.proposed_count < COUNT_OF(dave_hall.proposed_at))
        dave_hall.proposed_at[dave_hall.proposed_count++] = dave_hall.now;
    if (!c->silent && !revokes)
        dave_client_commit(c);
}

/* Opcodes 29 and 30. */
static void dave_client_receive_commit(struct dave_client *c, const struct dave_message *m)
{
    struct mls_reader r = { .rest = m->payload };
    unsigned transition = (unsigned)mls_read_number(&r, 2);
    struct mls_key_package k;
    struct mls_welcome w;
    struct mls_commit commit;

    c->proposal_count = 0;
    c->transition = transition;
    if (c->damaged) {
        c->damaged = false;
        dave_room_handle_invalid_commit(dave_hall.room, c->id.user, dave_hall.now);
        dave_client_send_package(c);
        return;
    }
    if (m->op == DAVE_WELCOME) {
        assert_true(mls_key_package_read(buf_as_str(&c->package), c->id.user, &k));
        assert_true(mls_welcome_read(&r, &w));
        assert_true(w.secret_count == 1 && mls_welcome_has_secrets_for(&w, k.ref));
    } else {
        assert_true(mls_commit_read(&r, &commit));
    }
    assert_true(!r.failed && !r.rest.n);
    c->in_group = true;
    c->next_version = 1;
    if (transition && !c->slow)
        dave_room_handle_transition_ready(dave_hall.room, c->id.user, transition, dave_hall.now);
}

static void dave_client_receive(struct dave_client *c, const struct dave_message *m)
{
    c->received[m->op]++;
    if (m->op == DAVE_PREPARE_TRANSITION) {
        c->next_version = m->version;
        c->transition = m->transition;
        if (!m->transition)
            c->version = m->version;
        else if (!c->slow)
            dave_room_handle_transition_ready(dave_hall.room, c->id.user, m->transition,
                                              dave_hall.now);
    } else if (m->op == DAVE_EXECUTE_TRANSITION) {
        assert_int_equal(m->transition, c->transition);
        c->executed = m->transition;
        c->version = c->next_version;
    } else if (m->op == DAVE_PREPARE_EPOCH) {
        assert_true(m->version == 1 && m->epoch == 1);
        dave_hall.established = false;
        dave_hall.epoch = 0;
        dave_client_send_package(c);
    } else if (m->op == DAVE_PROPOSALS) {
        dave_client_receive_proposals(c, m->payload);
    } else if (m->op != DAVE_EXTERNAL_SENDER) {
        dave_client_receive_commit(c, m);
    }
}

/* --- the hall --------------------------------------------------------------------------- */

void dave_hall_open_with(unsigned version)
{
    memset(&dave_hall, 0, sizeof dave_hall);
    dave_hall.now = 1000;
    dave_hall.key = mls_key_new();
    dave_hall.room = dave_room_new(&(struct dave_config){
        .group = DAVE_GROUP,
        .version = version,
        .key = dave_hall.key,
        .send = queue_dave_message,
        .counters = &dave_hall.counters,
    });
    for (snowflake i = 0; i < DAVE_CLIENTS; i++)
        dave_hall.clients[i].id.user = i;
}

int dave_hall_open(void **state)
{
    (void)state;
    dave_hall_open_with(DAVE_VERSION);
    return 0;
}

void dave_hall_deliver_one(void)
{
    struct dave_queued *q = &dave_hall.queue[dave_hall.first++];
    struct dave_client *c = &dave_hall.clients[q->user];

    if (c->here)
        dave_client_receive(c, &q->message);
    free((void *)(uintptr_t)q->message.payload.p);
    if (dave_hall.first == dave_hall.count)
        dave_hall.first = dave_hall.count = 0;
}

void dave_hall_deliver(void)
{
    while (dave_hall.first < dave_hall.count)
        dave_hall_deliver_one();
}

void dave_hall_settle(int64_t ms)
{
    int64_t end = dave_hall.now + ms;

    for (dave_hall_deliver(); dave_room_next_timeout(dave_hall.room) <= end; dave_hall_deliver()) {
        if (dave_room_next_timeout(dave_hall.room) > dave_hall.now)
            dave_hall.now = dave_room_next_timeout(dave_hall.room);
        dave_room_handle_timeouts(dave_hall.room, dave_hall.now);
    }
    dave_hall.now = end;
}

int dave_hall_close(void **state)
{
    (void)state;
    while (dave_hall.first < dave_hall.count)
        free((void *)(uintptr_t)dave_hall.queue[dave_hall.first++].message.payload.p);
    dave_room_free(dave_hall.room);
    mls_key_free(dave_hall.key);
    for (size_t i = 0; i < DAVE_CLIENTS; i++) {
        identity_clear(&dave_hall.clients[i].id);
        buf_clear(&dave_hall.clients[i].package);
    }
    return 0;
}

/* Messages to an earlier connection of the user are lost. */
static void dave_hall_drop_messages(snowflake user)
{
    for (size_t i = dave_hall.first; i < dave_hall.count; i++)
        if (dave_hall.queue[i].user == user)
            dave_hall.queue[i].user = 0;
}

struct dave_client *dave_client_enter(snowflake user, unsigned version)
{
    struct dave_client *c = &dave_hall.clients[user];
    bool empty = true;

    for (size_t i = 0; i < DAVE_CLIENTS; i++)
        empty &= !dave_hall.clients[i].here;
    if (empty) { /* a new group */
        dave_hall.established = false;
        dave_hall.epoch = 0;
    }
    dave_hall_drop_messages(user);
    identity_clear(&c->id);
    buf_clear(&c->package);
    *c = (struct dave_client){ .here = true, .id.user = user };
    buf_init(&c->package, MLS_KEY_PACKAGE);
    c->version = dave_room_join(dave_hall.room, user, version, dave_hall.now);
    dave_room_on_session_description_sent(dave_hall.room, user, c->version, dave_hall.now);
    return c;
}

struct dave_client *dave_client_join(snowflake user, unsigned version)
{
    struct dave_client *c = dave_client_enter(user, version);

    if (c->version)
        assert_int_equal(dave_client_send_package(c), DAVE_ACCEPTED);
    return c;
}

void dave_client_leave(snowflake user)
{
    dave_hall.clients[user].here = false;
    dave_room_leave(dave_hall.room, user, dave_hall.now);
}

void dave_client_join_any(snowflake user, unsigned version)
{
    struct dave_client *c = dave_client_enter(user, version);

    if (c->version)
        dave_client_send_package(c);
}

void dave_client_range_join(snowflake from, snowflake to)
{
    for (snowflake i = from; i <= to; i++)
        dave_client_join(i, 1);
}

void dave_hall_forget_received(void)
{
    for (size_t i = 0; i < DAVE_CLIENTS; i++)
        memset(dave_hall.clients[i].received, 0, sizeof dave_hall.clients[i].received);
}

void expect_dave_group(void)
{
    size_t leaves = 0, here = 0;

    for (size_t i = 0; i < dave_hall.leaf_count; i++)
        leaves += dave_hall.leaves[i] != 0;
    for (size_t i = 0; i < DAVE_CLIENTS; i++) {
        const struct dave_client *c = &dave_hall.clients[i];

        if (!c->here)
            continue;
        here++;
        assert_true(c->in_group);
        assert_true(dave_leaf_of(c->id.user) != UINT32_MAX);
        assert_int_equal(c->executed, c->transition);
    }
    assert_int_equal(leaves, here);
    assert_false(dave_room_is_in_transition(dave_hall.room));
}

void expect_dave_received(snowflake user, enum dave_opcode op, unsigned count)
{
    if (dave_hall.clients[user].received[op] != count)
        fail_msg("user %d received opcode %d %u times, not %u", (int)user, op,
                 dave_hall.clients[user].received[op], count);
}
