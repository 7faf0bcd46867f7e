/* group.c - DAVE rooms with scripted clients that behave like @discordjs/voice. */
#include "unit/unit.h"

#include <stdlib.h>

#include "base/mem.h"
#include "relay/dave/group.h"
#include "support/dave.h"

enum { CLIENTS = 128, QUEUE = 1 << 16, OPS = 32 };
#define GROUP UINT64_C(900)

struct client {
    struct dave_identity id;
    struct buf package;
    bool here;
    unsigned version;              /* version of its media */
    unsigned next_version;         /* after the transition */
    unsigned transition, executed; /* latest ids */
    bool silent, slow, damaged;    /* never commits; never ready; next message is invalid */
    bool uses_path, reverses;      /* how it commits */
    unsigned received[OPS];        /* messages by opcode */
    bool in_group;                 /* by opcodes 29 and 30 */
    struct dave_received proposals[2 * CLIENTS];
    size_t proposal_count;
};

struct queued {
    snowflake user;
    struct dave_message message;
};

static struct {
    struct dave_room *room;
    struct mls_key *key;
    struct dave_counters counters;
    int64_t now;
    struct client clients[CLIENTS]; /* by user id */
    struct queued queue[QUEUE];
    size_t first, count;
    snowflake leaves[CLIENTS]; /* model of the tree; 0: free */
    size_t leaf_count;
    uint64_t epoch;
    bool established;
    int64_t proposed_at[64]; /* times of opcodes 27 to user 1 */
    size_t proposed_count;
} hall;

/* Clients refuse Adds of users that are not in the room. */
static void proposals_check(struct str payload)
{
    struct mls_reader r = { .rest = payload };
    bool revokes = mls_read_number(&r, 1);
    struct mls_reader list = { .rest = mls_read_vector(&r) };
    struct dave_received p;

    while (!revokes && list.rest.n) {
        dave_read_proposal(&list, STR(""), &p);
        assert_false(list.failed);
        assert_true(!p.adds || hall.clients[p.user].here);
    }
}

static void message_queue(void *context, snowflake user, const struct dave_message *m)
{
    struct queued *q = &hall.queue[hall.count++];

    (void)context;
    assert_true(hall.count < QUEUE);
    *q = (struct queued){ user, *m };
    if (dave_message_is_json(m))
        return;
    if (m->op == DAVE_PROPOSALS)
        proposals_check(m->payload);
    char *copy = malloc(m->payload.n);
    memcpy(copy, m->payload.p, m->payload.n);
    q->message.payload.p = copy;
}

/* --- the model of the tree -------------------------------------------------------------- */

static uint32_t leaf_of(snowflake user)
{
    for (uint32_t i = 0; i < hall.leaf_count; i++)
        if (hall.leaves[i] == user)
            return i;
    return UINT32_MAX;
}

static void leaf_add(snowflake user)
{
    size_t at = 0;

    while (at < hall.leaf_count && hall.leaves[at])
        at++;
    if (at == hall.leaf_count)
        hall.leaf_count++;
    hall.leaves[at] = user;
}

static void tree_apply(struct client *c, const struct dave_received *p, size_t count)
{
    if (!hall.established) {
        hall.leaf_count = 0;
        leaf_add(c->id.user);
    }
    hall.established = true;
    hall.epoch++;
    for (size_t i = 0; i < count; i++)
        if (!p[i].adds)
            hall.leaves[p[i].leaf] = 0;
    for (size_t i = 0; i < count; i++)
        if (p[i].adds)
            leaf_add(p[i].user);
}

/* --- clients ---------------------------------------------------------------------------- */

static enum dave_verdict client_send_package(struct client *c)
{
    identity_clear(&c->id);
    identity_init(&c->id, c->id.user);
    buf_reset(&c->package);
    dave_write_package(&c->package, &c->id, FAULT_NONE);
    c->proposal_count = 0;
    c->in_group = false;
    return dave_room_key_package(hall.room, c->id.user, buf_str(&c->package), hall.now);
}

static void commit_write(struct client *c, enum dave_fault f, struct buf *out,
                         struct dave_received *p)
{
    static unsigned char refs[2 * CLIENTS][MLS_HASH], added[2 * CLIENTS][MLS_HASH];
    size_t n = c->proposal_count, adds = 0;

    for (size_t i = 0; i < n; i++) {
        p[i] = c->proposals[c->reverses ? n - 1 - i : i];
        memcpy(refs[i], p[i].ref, MLS_HASH);
        if (p[i].adds)
            memcpy(added[adds++], p[i].package_ref, MLS_HASH);
    }
    struct dave_commit commit = { GROUP, hall.epoch, hall.established ? leaf_of(c->id.user) : 0,
                                  refs,  n,          c->uses_path ? &c->id : NULL };
    dave_write_commit(out, &commit, f);
    if (adds)
        dave_write_welcome(out, added, adds);
}

static enum dave_verdict client_commit(struct client *c)
{
    static struct dave_received p[2 * CLIENTS];
    struct buf b;

    buf_init(&b, 1 << 20);
    commit_write(c, FAULT_NONE, &b, p);
    enum dave_verdict v = dave_room_commit(hall.room, c->id.user, buf_str(&b), hall.now);
    if (v == DAVE_ACCEPTED)
        tree_apply(c, p, c->proposal_count);
    buf_clear(&b);
    return v;
}

static void client_take_proposals(struct client *c, struct str payload)
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

        assert_true(dave_read_proposal(&list, mls_key_public(hall.key), p));
        assert_true(!p->adds || p->user != c->id.user);
        for (struct dave_received *o = c->proposals; o < p; o++)
            assert_false(p->adds && o->adds && o->user == p->user);
    }
    if (c->id.user == 1 && hall.proposed_count < COUNT_OF(hall.proposed_at))
        hall.proposed_at[hall.proposed_count++] = hall.now;
    if (!c->silent && !revokes)
        client_commit(c);
}

/* Opcodes 29 and 30. */
static void client_take_commit(struct client *c, const struct dave_message *m)
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
        dave_room_invalid(hall.room, c->id.user, hall.now);
        client_send_package(c);
        return;
    }
    if (m->op == DAVE_WELCOME) {
        assert_true(mls_key_package_read(buf_str(&c->package), c->id.user, &k));
        assert_true(mls_welcome_read(&r, &w));
        assert_true(w.secret_count == 1 && mls_welcome_has(&w, k.ref));
    } else {
        assert_true(mls_commit_read(&r, &commit));
    }
    assert_true(!r.failed && !r.rest.n);
    c->in_group = true;
    c->next_version = 1;
    if (transition && !c->slow)
        dave_room_ready(hall.room, c->id.user, transition, hall.now);
}

static void client_receive(struct client *c, const struct dave_message *m)
{
    c->received[m->op]++;
    if (m->op == DAVE_PREPARE_TRANSITION) {
        c->next_version = m->version;
        c->transition = m->transition;
        if (!m->transition)
            c->version = m->version;
        else if (!c->slow)
            dave_room_ready(hall.room, c->id.user, m->transition, hall.now);
    } else if (m->op == DAVE_EXECUTE_TRANSITION) {
        assert_int_equal(m->transition, c->transition);
        c->executed = m->transition;
        c->version = c->next_version;
    } else if (m->op == DAVE_PREPARE_EPOCH) {
        assert_true(m->version == 1 && m->epoch == 1);
        hall.established = false;
        hall.epoch = 0;
        client_send_package(c);
    } else if (m->op == DAVE_PROPOSALS) {
        client_take_proposals(c, m->payload);
    } else if (m->op != DAVE_EXTERNAL_SENDER) {
        client_take_commit(c, m);
    }
}

/* --- the hall --------------------------------------------------------------------------- */

static void hall_open_with(unsigned version)
{
    memset(&hall, 0, sizeof hall);
    hall.now = 1000;
    hall.key = mls_key_new();
    hall.room = dave_room_new(&(struct dave_config){
        .group = GROUP,
        .version = version,
        .key = hall.key,
        .send = message_queue,
        .counters = &hall.counters,
    });
    for (snowflake i = 0; i < CLIENTS; i++)
        hall.clients[i].id.user = i;
}

static int hall_open(void **state)
{
    (void)state;
    hall_open_with(DAVE_VERSION);
    return 0;
}

static void queue_pop(void)
{
    struct queued *q = &hall.queue[hall.first++];
    struct client *c = &hall.clients[q->user];

    if (c->here)
        client_receive(c, &q->message);
    free((void *)(uintptr_t)q->message.payload.p);
    if (hall.first == hall.count)
        hall.first = hall.count = 0;
}

static void hall_deliver(void)
{
    while (hall.first < hall.count)
        queue_pop();
}

/* Delivers messages and runs timers until that many milliseconds have passed. */
static void hall_settle(int64_t ms)
{
    int64_t end = hall.now + ms;

    for (hall_deliver(); dave_room_due(hall.room) <= end; hall_deliver()) {
        if (dave_room_due(hall.room) > hall.now)
            hall.now = dave_room_due(hall.room);
        dave_room_tick(hall.room, hall.now);
    }
    hall.now = end;
}

static int hall_close(void **state)
{
    (void)state;
    while (hall.first < hall.count)
        free((void *)(uintptr_t)hall.queue[hall.first++].message.payload.p);
    dave_room_free(hall.room);
    mls_key_free(hall.key);
    for (size_t i = 0; i < CLIENTS; i++) {
        identity_clear(&hall.clients[i].id);
        buf_clear(&hall.clients[i].package);
    }
    return 0;
}

/* Messages to an earlier connection of the user are lost. */
static void queue_drop(snowflake user)
{
    for (size_t i = hall.first; i < hall.count; i++)
        if (hall.queue[i].user == user)
            hall.queue[i].user = 0;
}

/* Joins, but does not send a key package. */
static struct client *client_enter(snowflake user, unsigned version)
{
    struct client *c = &hall.clients[user];
    bool empty = true;

    for (size_t i = 0; i < CLIENTS; i++)
        empty &= !hall.clients[i].here;
    if (empty) { /* a new group */
        hall.established = false;
        hall.epoch = 0;
    }
    queue_drop(user);
    identity_clear(&c->id);
    buf_clear(&c->package);
    *c = (struct client){ .here = true, .id.user = user };
    buf_init(&c->package, MLS_KEY_PACKAGE);
    c->version = dave_room_join(hall.room, user, version, hall.now);
    dave_room_described(hall.room, user, c->version, hall.now);
    return c;
}

static struct client *client_join(snowflake user, unsigned version)
{
    struct client *c = client_enter(user, version);

    if (c->version)
        assert_int_equal(client_send_package(c), DAVE_ACCEPTED);
    return c;
}

static void client_leave(snowflake user)
{
    hall.clients[user].here = false;
    dave_room_leave(hall.room, user, hall.now);
}

/* Joins where the key package may be outdated. */
static void client_join_any(snowflake user, unsigned version)
{
    struct client *c = client_enter(user, version);

    if (c->version)
        client_send_package(c);
}

static void client_range_join(snowflake from, snowflake to)
{
    for (snowflake i = from; i <= to; i++)
        client_join(i, 1);
}

static void received_clear(void)
{
    for (size_t i = 0; i < CLIENTS; i++)
        memset(hall.clients[i].received, 0, sizeof hall.clients[i].received);
}

/* All present clients, and no others, are in the group. */
static void expect_group(void)
{
    size_t leaves = 0, here = 0;

    for (size_t i = 0; i < hall.leaf_count; i++)
        leaves += hall.leaves[i] != 0;
    for (size_t i = 0; i < CLIENTS; i++) {
        const struct client *c = &hall.clients[i];

        if (!c->here)
            continue;
        here++;
        assert_true(c->in_group);
        assert_true(leaf_of(c->id.user) != UINT32_MAX);
        assert_int_equal(c->executed, c->transition);
    }
    assert_int_equal(leaves, here);
    assert_false(dave_room_transitions(hall.room));
}

static void expect_received_count(snowflake user, enum dave_opcode op, unsigned count)
{
    if (hall.clients[user].received[op] != count)
        fail_msg("user %d received opcode %d %u times, not %u", (int)user, op,
                 hall.clients[user].received[op], count);
}

/* --- joining and leaving ---------------------------------------------------------------- */

static void two_members_form_a_group_without_a_transition(void **state)
{
    (void)state;
    client_join(1, 1);
    hall_settle(100);
    expect_received_count(1, DAVE_EXTERNAL_SENDER, 1);
    expect_received_count(1, DAVE_PROPOSALS, 0);
    assert_int_equal(dave_room_due(hall.room), INT64_MAX);

    client_join(2, 1);
    hall_settle(100);
    expect_group();
    for (snowflake i = 1; i <= 2; i++) {
        expect_received_count(i, DAVE_PROPOSALS, 1);
        expect_received_count(i, DAVE_ANNOUNCE_COMMIT, i == 1);
        expect_received_count(i, DAVE_WELCOME, i == 2);
        expect_received_count(i, DAVE_EXECUTE_TRANSITION, 0);
        assert_int_equal(hall.clients[i].transition, 0);
    }
    assert_int_equal(hall.counters.epochs, 1);
    assert_int_equal(hall.counters.transitions, 0);
    assert_int_equal(hall.counters.refused_commits, 0);
}

static void third_member_joins_with_a_transition(void **state)
{
    (void)state;
    client_range_join(1, 2);
    hall_settle(100);
    received_clear();
    client_join(3, 1);
    hall_settle(100);
    expect_group();
    for (snowflake i = 1; i <= 3; i++) {
        expect_received_count(i, DAVE_PROPOSALS, i < 3);
        expect_received_count(i, DAVE_ANNOUNCE_COMMIT, i < 3);
        expect_received_count(i, DAVE_WELCOME, i == 3);
        expect_received_count(i, DAVE_EXECUTE_TRANSITION, 1);
        expect_received_count(i, DAVE_EXTERNAL_SENDER, i == 3);
    }
    assert_int_equal(hall.counters.transitions, 1);
}

static void joins_during_a_round_are_batched_into_the_next(void **state)
{
    (void)state;
    client_range_join(1, 2);
    hall_settle(100);
    received_clear();
    client_range_join(3, 5); /* 4 and 5 come while the Add of 3 is outstanding */
    hall_settle(100);
    expect_group();
    expect_received_count(1, DAVE_PROPOSALS, 2);
    expect_received_count(3, DAVE_PROPOSALS, 1);
    assert_int_equal(hall.counters.epochs, 3);
}

static void leaves_are_reused_from_the_left(void **state)
{
    (void)state;
    client_range_join(1, 6);
    hall_settle(100);
    client_leave(hall.leaves[1]);
    client_leave(hall.leaves[3]);
    hall_settle(100);
    expect_group();
    for (snowflake i = 1; i <= 6; i++)
        hall.clients[i].reverses = hall.clients[i].uses_path = true;
    client_range_join(7, 9);
    hall_settle(100);
    expect_group();
    client_leave(hall.leaves[0]); /* only a commit with the right leaf index is accepted */
    hall_settle(100);
    expect_group();
    assert_int_equal(hall.counters.refused_commits, 0);
}

static void member_that_leaves_and_returns_at_once_is_replaced(void **state)
{
    (void)state;
    client_range_join(1, 3);
    hall_settle(100);
    uint64_t epochs = hall.counters.epochs;
    hall.clients[1].silent = hall.clients[3].silent = true;
    client_leave(2);
    client_join(2, 1);
    hall.clients[1].silent = hall.clients[3].silent = false;
    hall_settle(100);
    expect_group();
    /* The Remove was sent when it left, the Add follows. */
    assert_int_equal(hall.counters.epochs - epochs, 2);
}

static void member_that_leaves_between_add_and_commit_is_removed(void **state)
{
    (void)state;
    client_range_join(1, 2);
    hall_settle(100);
    hall.clients[1].silent = hall.clients[2].silent = true;
    client_join(3, 1);
    hall_deliver();
    client_leave(3);
    hall.clients[1].silent = hall.clients[2].silent = false;
    assert_int_equal(client_commit(&hall.clients[1]), DAVE_ACCEPTED);
    assert_int_equal(client_commit(&hall.clients[2]), DAVE_OUTDATED);
    assert_int_equal(leaf_of(3), 2);
    hall_settle(100);
    expect_group();
    assert_int_equal(hall.counters.epochs, 3);
    assert_int_equal(hall.counters.refused_commits, 0);
}

static void member_that_leaves_before_the_first_commit_is_removed(void **state)
{
    (void)state;
    for (snowflake i = 1; i <= 3; i++)
        client_join(i, 1)->silent = true;
    hall_deliver();
    client_leave(2);
    client_join(4, 1)->silent = true; /* does not receive the Add of 2 */
    hall_deliver();
    assert_int_equal(hall.clients[4].proposal_count, 2);
    assert_int_equal(client_commit(&hall.clients[4]), DAVE_OUTDATED);
    for (snowflake i = 1; i <= 4; i++)
        hall.clients[i].silent = false;
    assert_int_equal(client_commit(&hall.clients[3]), DAVE_ACCEPTED);
    hall_settle(100);
    expect_group();
    assert_int_equal(hall.counters.resets, 0);
}

static void member_that_returns_before_the_first_commit_causes_a_new_group(void **state)
{
    (void)state;
    for (snowflake i = 1; i <= 3; i++)
        client_join(i, 1)->silent = true;
    hall_deliver();
    client_leave(2);
    client_enter(2, 1);
    for (snowflake i = 1; i <= 3; i++)
        hall.clients[i].silent = false;
    assert_int_equal(client_send_package(&hall.clients[2]), DAVE_OUTDATED);
    hall_settle(100);
    expect_group();
    expect_received_count(1, DAVE_PREPARE_EPOCH, 1);
}

static void replaced_key_package_revokes_its_add(void **state)
{
    (void)state;
    for (snowflake i = 1; i <= 3; i++)
        client_join(i, 1)->silent = true;
    hall_deliver();
    received_clear();
    for (snowflake i = 1; i <= 3; i++)
        hall.clients[i].silent = false;
    assert_int_equal(client_send_package(&hall.clients[2]), DAVE_ACCEPTED);
    hall_settle(100);
    expect_group();
    expect_received_count(1, DAVE_PROPOSALS, 2);
    expect_received_count(2, DAVE_PROPOSALS, 0); /* the others commit */
    assert_int_equal(hall.counters.epochs, 1);
}

static void key_package_replaced_during_a_round_is_used_in_the_next(void **state)
{
    (void)state;
    client_range_join(1, 2);
    hall_settle(100);
    hall.clients[1].silent = hall.clients[2].silent = true;
    client_join(3, 1);
    hall_deliver();
    client_send_package(&hall.clients[3]);
    hall.clients[1].silent = hall.clients[2].silent = false;
    assert_int_equal(client_commit(&hall.clients[2]), DAVE_ACCEPTED);
    hall_settle(100);
    expect_group();
    expect_received_count(3, DAVE_WELCOME, 1);
}

static void joining_twice_replaces_the_participant(void **state)
{
    (void)state;
    client_range_join(1, 3);
    hall_settle(100);
    client_join(2, 1);
    hall_settle(100);
    expect_group();
}

/* --- sole members and resets ------------------------------------------------------------ */

static void sole_member_starts_a_new_group(void **state)
{
    (void)state;
    client_range_join(1, 3);
    hall_settle(100);
    received_clear();
    client_leave(1);
    client_leave(3);
    assert_int_equal(hall.queue[hall.count - 3].message.op, DAVE_PREPARE_EPOCH);
    assert_int_equal(hall.queue[hall.count - 2].message.op, DAVE_PREPARE_TRANSITION);
    assert_int_equal(hall.queue[hall.count - 2].message.transition, 0);
    assert_int_equal(hall.queue[hall.count - 1].message.op, DAVE_EXTERNAL_SENDER);
    hall_settle(100);
    expect_received_count(2, DAVE_PREPARE_EPOCH, 1);
    assert_int_equal(dave_room_due(hall.room), INT64_MAX);

    uint64_t transitions = hall.counters.transitions;
    client_join(4, 1);
    hall_settle(100);
    expect_group();
    assert_int_equal(hall.counters.transitions, transitions); /* nobody could have been listening */
    client_leave(2);
    client_leave(4);
    assert_int_equal(dave_room_version(hall.room), 0);
    hall_settle(5000);
    client_range_join(1, 2);
    hall_settle(100);
    expect_group();
}

static void other_of_two_leaves_before_the_first_commit(void **state)
{
    (void)state;
    client_join(1, 1)->silent = true;
    client_join(2, 1)->silent = true;
    hall_deliver();
    client_leave(2);
    hall.clients[1].silent = false;
    hall_settle(100);
    expect_received_count(1, DAVE_PREPARE_EPOCH, 1);
    client_join(3, 1);
    hall_settle(100);
    expect_group();
}

static void group_is_reset_if_nobody_commits(void **state)
{
    (void)state;
    client_range_join(1, 2);
    hall_settle(100);
    hall.clients[1].silent = hall.clients[2].silent = true;
    client_join(3, 1)->silent = true;
    hall_settle(DAVE_COMMIT_MS + DAVE_COMMIT_MEMBER_MS - 1);
    assert_int_equal(hall.counters.resets, 0);
    hall_settle(1);
    assert_int_equal(hall.counters.resets, 1);
    for (snowflake i = 1; i <= 3; i++) {
        expect_received_count(i, DAVE_PREPARE_EPOCH, 1);
        expect_received_count(i, DAVE_PREPARE_TRANSITION, 0);
    }
    /* The second wait is twice as long. */
    hall_settle(2 * (DAVE_COMMIT_MS + 3 * DAVE_COMMIT_MEMBER_MS) - 1);
    assert_int_equal(hall.counters.resets, 1);
    for (snowflake i = 1; i <= 3; i++)
        hall.clients[i].silent = false;
    hall_settle(1);
    assert_int_equal(hall.counters.resets, 2);
    hall_settle(100);
    expect_group();
    assert_true(hall.clients[1].executed > 0); /* media flows: not immediately */
}

static void waits_for_commits_stop_doubling(void **state)
{
    (void)state;
    client_join(1, 1)->silent = true;
    client_join(2, 1)->silent = true;
    hall_deliver();
    for (int i = 0; i < 20; i++) {
        assert_true(dave_room_due(hall.room) - hall.now <= (int64_t)2100 << DAVE_COMMIT_DOUBLINGS);
        hall_settle(dave_room_due(hall.room) - hall.now);
        assert_int_equal(hall.counters.resets, i + 1);
    }
}

/* --- invalid commits -------------------------------------------------------------------- */

static void member_with_an_invalid_commit_is_added_again(void **state)
{
    (void)state;
    client_range_join(1, 4);
    hall_settle(100);
    uint64_t epochs = hall.counters.epochs;
    received_clear();
    hall.clients[3].damaged = true;
    client_leave(4);
    hall_settle(1000);
    expect_group();
    expect_received_count(3, DAVE_WELCOME, 1);
    expect_received_count(1, DAVE_WELCOME, 0);
    assert_int_equal(hall.counters.epochs - epochs, 2); /* Remove and Add in one commit */
    assert_int_equal(hall.counters.resets, 0);
}

static void group_is_reset_if_all_report_an_invalid_commit(void **state)
{
    (void)state;
    client_range_join(1, 3);
    hall_settle(100);
    for (snowflake i = 1; i <= 3; i++)
        hall.clients[i].damaged = true;
    client_join(4, 1)->damaged = true;
    hall_settle(1000);
    expect_group();
    assert_true(hall.counters.resets >= 1);
}

static void member_whose_commit_most_report_no_longer_commits(void **state)
{
    (void)state;
    client_range_join(1, 4);
    hall_settle(100);
    for (snowflake i = 1; i <= 4; i++)
        hall.clients[i].silent = true;
    client_leave(4);
    hall_deliver();
    hall.clients[2].damaged = hall.clients[3].damaged = true;
    assert_int_equal(client_commit(&hall.clients[1]), DAVE_ACCEPTED);
    hall_deliver(); /* both others report it: nobody is left that may commit */
    assert_int_equal(hall.counters.resets, 1);
    assert_int_equal(client_commit(&hall.clients[1]), DAVE_OUTDATED);
    assert_int_equal(client_commit(&hall.clients[2]), DAVE_ACCEPTED);
    for (snowflake i = 1; i <= 4; i++)
        hall.clients[i].silent = false;
    hall_settle(1000);
    expect_group();
}

/* --- refused commits -------------------------------------------------------------------- */

/* Three members, of which 3 has left; the commits of 1 and 2 are expected. 4 joins. */
static struct client *round_open(void)
{
    client_range_join(1, 3);
    hall_settle(100);
    hall.clients[1].silent = hall.clients[2].silent = true;
    hall.clients[1].uses_path = hall.clients[2].uses_path = true;
    hall.now += 10;
    client_leave(3);
    hall_deliver();
    assert_int_equal(hall.clients[1].proposal_count, 1);
    return &hall.clients[1];
}

static enum dave_verdict commit_try(struct client *c, struct dave_commit commit, enum dave_fault f,
                                    struct str more)
{
    struct buf b;

    buf_init(&b, 1 << 20);
    dave_write_commit(&b, &commit, f);
    buf_add_str(&b, more);
    enum dave_verdict v = dave_room_commit(hall.room, c->id.user, buf_str(&b), hall.now);
    buf_clear(&b);
    return v;
}

static void commits_of_a_removal_are_checked(void **state)
{
    struct client *c = round_open(), *other = &hall.clients[2];
    unsigned char refs[2][MLS_HASH];
    char *big = mem_new(DAVE_COMMIT_BYTES);
    uint64_t refused = 0;

    (void)state;
    memcpy(refs[0], c->proposals[0].ref, MLS_HASH);
    memcpy(refs[1], c->proposals[0].ref, MLS_HASH);
    struct dave_commit right = { GROUP, hall.epoch, leaf_of(1), refs, 1, &c->id }, wrong;
    struct dave_identity stolen = c->id;

    for (enum dave_fault f = FAULTS_OF_PACKAGES + 1; f < FAULTS_OF_COMMITS; f++, refused++)
        assert_int_equal(commit_try(c, right, f, STR("")), DAVE_REFUSED);
    assert_int_equal(commit_try(c, right, FAULT_LEAF_SIGNATURE, STR("")), DAVE_REFUSED);
    assert_int_equal(commit_try(c, right, FAULT_IDENTITY, STR("")), DAVE_REFUSED);
    assert_int_equal(commit_try(c, right, FAULT_NONE, STR("x")), DAVE_REFUSED);
    assert_int_equal(commit_try(c, right, FAULT_NONE, str_slice(big, DAVE_COMMIT_BYTES)),
                     DAVE_REFUSED);
    wrong = right;
    wrong.group++;
    assert_int_equal(commit_try(c, wrong, FAULT_NONE, STR("")), DAVE_REFUSED);
    wrong = right;
    wrong.leaf = leaf_of(2);
    assert_int_equal(commit_try(c, wrong, FAULT_NONE, STR("")), DAVE_REFUSED);
    wrong = right;
    stolen.signature = other->id.signature; /* another signature key */
    wrong.path = &stolen;
    assert_int_equal(commit_try(c, wrong, FAULT_NONE, STR("")), DAVE_REFUSED);
    refused += 7;
    assert_int_equal(hall.counters.refused_commits, refused);

    for (int later = -1; later <= 1; later += 2) {
        wrong = right;
        wrong.epoch += (uint64_t)later;
        assert_int_equal(commit_try(c, wrong, FAULT_NONE, STR("")), DAVE_OUTDATED);
    }
    wrong = right;
    wrong.reference_count = 2; /* twice the same */
    assert_int_equal(commit_try(c, wrong, FAULT_NONE, STR("")), DAVE_OUTDATED);
    refs[0][0] ^= 1; /* unknown */
    assert_int_equal(commit_try(c, right, FAULT_NONE, STR("")), DAVE_OUTDATED);
    refs[0][0] ^= 1;
    assert_int_equal(commit_try(&hall.clients[3], right, FAULT_NONE, STR("")), DAVE_OUTDATED);
    client_enter(5, 1); /* not a member of the group */
    assert_int_equal(commit_try(&hall.clients[5], right, FAULT_NONE, STR("")), DAVE_OUTDATED);
    assert_int_equal(hall.counters.refused_commits, refused);

    assert_int_equal(commit_try(c, right, FAULT_NONE, STR("")), DAVE_ACCEPTED);
    assert_int_equal(commit_try(c, right, FAULT_NONE, STR("")), DAVE_OUTDATED);
    mem_free(big);
}

static void commits_of_adds_need_a_welcome_for_each(void **state)
{
    unsigned char refs[2][MLS_HASH], packages[3][MLS_HASH] = { { 0 } };
    struct buf welcome;

    (void)state;
    client_range_join(1, 2);
    hall_settle(100);
    hall.clients[1].silent = hall.clients[2].silent = true;
    hall.clients[1].slow = true; /* a running transition collects both joins */
    client_join(3, 1);
    hall_deliver();
    assert_int_equal(client_commit(&hall.clients[2]), DAVE_ACCEPTED);
    hall_deliver();
    hall.clients[3].silent = true;
    client_range_join(4, 5);
    hall_settle(DAVE_TRANSITION_MS);
    struct client *c = &hall.clients[1];
    assert_int_equal(c->proposal_count, 2);
    for (size_t i = 0; i < 2; i++) {
        memcpy(refs[i], c->proposals[i].ref, MLS_HASH);
        memcpy(packages[i], c->proposals[i].package_ref, MLS_HASH);
    }
    struct dave_commit commit = { GROUP, hall.epoch, leaf_of(1), refs, 2, NULL };
    buf_init(&welcome, 1 << 16);
    assert_int_equal(commit_try(c, commit, FAULT_NONE, STR("")), DAVE_REFUSED);
    dave_write_welcome(&welcome, packages, 1);
    assert_int_equal(commit_try(c, commit, FAULT_NONE, buf_str(&welcome)), DAVE_REFUSED);
    buf_reset(&welcome);
    dave_write_welcome(&welcome, packages, 3);
    assert_int_equal(commit_try(c, commit, FAULT_NONE, buf_str(&welcome)), DAVE_REFUSED);
    buf_reset(&welcome);
    dave_write_welcome(&welcome, packages + 1, 2);
    assert_int_equal(commit_try(c, commit, FAULT_NONE, buf_str(&welcome)), DAVE_REFUSED);
    buf_reset(&welcome);
    dave_write_welcome(&welcome, packages, 2);
    commit.reference_count = 1; /* not all outstanding proposals */
    assert_int_equal(commit_try(c, commit, FAULT_NONE, buf_str(&welcome)), DAVE_OUTDATED);
    commit.reference_count = 2;
    assert_int_equal(hall.counters.refused_commits, 4);
    assert_int_equal(commit_try(c, commit, FAULT_NONE, buf_str(&welcome)), DAVE_ACCEPTED);
    buf_clear(&welcome);
}

static void first_commit_comes_from_leaf_0_of_a_proposed_member(void **state)
{
    (void)state;
    client_join(1, 1)->silent = true;
    client_join(2, 1)->silent = true;
    hall_deliver();
    client_enter(3, 1);
    hall.established = true; /* leaf_of gives UINT32_MAX */
    assert_int_equal(client_commit(&hall.clients[1]), DAVE_REFUSED);
    hall.established = false;
    assert_int_equal(client_commit(&hall.clients[3]), DAVE_REFUSED); /* no reference */
    hall.clients[3].proposals[0] = hall.clients[1].proposals[0];
    hall.clients[3].proposal_count = 1;
    assert_int_equal(client_commit(&hall.clients[3]), DAVE_OUTDATED);
    hall.clients[1].uses_path = true;
    assert_int_equal(client_commit(&hall.clients[1]), DAVE_ACCEPTED);
    assert_int_equal(client_commit(&hall.clients[2]), DAVE_OUTDATED);
}

/* --- key packages ----------------------------------------------------------------------- */

static void key_packages_are_checked_and_limited(void **state)
{
    struct client *c = client_enter(1, 1);

    (void)state;
    assert_int_equal(dave_room_key_package(hall.room, 1, STR("x"), hall.now), DAVE_REFUSED);
    assert_int_equal(dave_room_key_package(hall.room, 2, STR("x"), hall.now), DAVE_OUTDATED);
    assert_int_equal(hall.counters.refused_key_packages, 1);
    /* The first one was requested by opcode 25 and does not count. */
    for (int i = 0; i < DAVE_KEY_PACKAGES; i++)
        assert_int_equal(client_send_package(c), DAVE_ACCEPTED);
    hall.now += DAVE_KEY_PACKAGES_MS - 1;
    assert_int_equal(client_send_package(c), DAVE_TOO_MANY);
    hall.now++;
    assert_int_equal(client_send_package(c), DAVE_ACCEPTED);
    assert_int_equal(hall.counters.refused_key_packages, 2);
}

static void key_package_before_the_session_description_is_ignored(void **state)
{
    (void)state;
    client_join(1, 1);
    hall.clients[2].here = true;
    buf_init(&hall.clients[2].package, MLS_KEY_PACKAGE);
    assert_int_equal(dave_room_join(hall.room, 2, 1, hall.now), 1);
    assert_int_equal(client_send_package(&hall.clients[2]), DAVE_OUTDATED);
    expect_received_count(2, DAVE_EXTERNAL_SENDER, 0);
    dave_room_described(hall.room, 2, 1, hall.now);
    dave_room_described(hall.room, 2, 1, hall.now);
    hall_settle(10);
    expect_received_count(2, DAVE_EXTERNAL_SENDER, 1);
}

/* --- transitions ------------------------------------------------------------------------ */

static void transition_ends_after_2_seconds_without_an_answer(void **state)
{
    (void)state;
    client_range_join(1, 2);
    hall_settle(100);
    hall.clients[2].slow = true;
    client_join(3, 1);
    hall_deliver();
    assert_true(dave_room_transitions(hall.room));
    dave_room_ready(hall.room, 2, hall.clients[2].transition + 1, hall.now); /* another id */
    dave_room_ready(hall.room, 9, hall.clients[2].transition, hall.now);     /* nobody */
    hall_settle(DAVE_TRANSITION_MS - 1);
    assert_int_equal(hall.clients[1].executed, 0);
    hall_settle(1);
    assert_int_equal(hall.clients[1].executed, hall.clients[1].transition);
    expect_group();
}

static void transition_does_not_wait_for_a_member_that_left(void **state)
{
    (void)state;
    client_range_join(1, 3);
    hall_settle(100);
    hall.clients[2].slow = true;
    client_join(4, 1);
    hall_deliver();
    client_leave(2);
    hall_settle(1);
    expect_group();
}

static void changes_during_a_transition_wait_for_its_end(void **state)
{
    (void)state;
    client_range_join(1, 3);
    hall_settle(100);
    hall.clients[2].slow = true;
    client_join(4, 1);
    hall_deliver();
    received_clear();
    client_join(5, 1);
    client_leave(3);
    hall_settle(DAVE_TRANSITION_MS - 1);
    expect_received_count(1, DAVE_PROPOSALS, 0);
    hall.clients[2].slow = false;
    hall_settle(1);
    expect_received_count(1, DAVE_PROPOSALS, 1);
    expect_group();
}

static void transition_ids_wrap_around_to_1(void **state)
{
    (void)state;
    client_range_join(1, 2);
    hall_settle(10);
    for (unsigned i = 0; i < 70000 && hall.clients[1].transition != UINT16_MAX; i++) {
        client_enter(3, 0); /* a downgrade and an upgrade whose packages never come */
        while (hall.first < hall.count) {
            struct queued *q = &hall.queue[hall.first++];

            if (q->message.op == DAVE_PREPARE_TRANSITION)
                hall.clients[q->user].transition = q->message.transition;
            free((void *)(uintptr_t)q->message.payload.p);
        }
        hall.first = hall.count = 0;
        client_leave(3);
    }
    assert_int_equal(hall.clients[1].transition, UINT16_MAX);
    hall_deliver();
    client_enter(3, 0);
    hall_deliver();
    assert_int_equal(hall.clients[1].transition, 1);
}

/* --- versions --------------------------------------------------------------------------- */

static void client_without_dave_downgrades_the_room(void **state)
{
    (void)state;
    client_range_join(1, 2);
    hall_settle(100);
    received_clear();
    hall.clients[2].slow = true;
    assert_int_equal(client_join(9, 0)->version, 0);
    assert_int_equal(dave_room_version(hall.room), 0);
    assert_true(dave_room_transitions(hall.room));
    hall_settle(DAVE_TRANSITION_MS - 1);
    expect_received_count(1, DAVE_PREPARE_TRANSITION, 1);
    expect_received_count(1, DAVE_EXECUTE_TRANSITION, 0);
    hall_settle(1);
    assert_true(hall.clients[1].version == 0 && hall.clients[2].version == 0);
    for (unsigned op = 0; op < OPS; op++)
        expect_received_count(9, op, 0);
    assert_int_equal(hall.counters.downgrades, 1);
    assert_int_equal(dave_room_key_package(hall.room, 1, STR("x"), hall.now), DAVE_OUTDATED);
    assert_int_equal(dave_room_commit(hall.room, 1, STR("x"), hall.now), DAVE_OUTDATED);
    assert_int_equal(client_join(3, 1)->version, 0); /* as long as 9 is there */
    expect_received_count(3, DAVE_EXTERNAL_SENDER, 0);
    assert_int_equal(hall.counters.downgrades, 1);
}

static void room_is_upgraded_when_the_last_client_without_dave_leaves(void **state)
{
    (void)state;
    client_join(8, 0);
    client_join(9, 0);
    client_range_join(1, 2);
    client_leave(8);
    hall_settle(100);
    assert_int_equal(dave_room_version(hall.room), 0);
    client_leave(9);
    assert_int_equal(dave_room_version(hall.room), 1);
    hall_settle(100);
    expect_group();
    for (snowflake i = 1; i <= 2; i++) {
        expect_received_count(i, DAVE_PREPARE_EPOCH, 1);
        expect_received_count(i, DAVE_EXTERNAL_SENDER, 1);
        expect_received_count(i, DAVE_PREPARE_TRANSITION, 0);
        assert_int_equal(hall.clients[i].executed, 1); /* media flows */
        assert_int_equal(hall.clients[i].version, 1);
    }
    assert_int_equal(hall.counters.downgrades, 0);
}

static void upgrade_during_a_downgrade_finishes_the_downgrade(void **state)
{
    (void)state;
    client_range_join(1, 3);
    hall_settle(100);
    for (snowflake i = 1; i <= 3; i++)
        hall.clients[i].slow = true;
    received_clear();
    client_join(9, 0);
    hall_deliver();
    client_leave(9);
    hall_deliver();
    expect_received_count(1, DAVE_EXECUTE_TRANSITION, 1);
    for (snowflake i = 1; i <= 3; i++)
        hall.clients[i].slow = false;
    hall_settle(DAVE_TRANSITION_MS);
    expect_group();
}

static void key_package_that_crosses_a_downgrade_answers_its_request(void **state)
{
    (void)state;
    client_enter(9, 0);
    client_range_join(1, 2);
    client_leave(9); /* opcode 24 requests packages */
    client_enter(9, 0);
    hall_settle(100); /* the packages arrive at version 0 */
    client_leave(9);
    hall_settle(DAVE_TRANSITION_MS);
    expect_group();
}

static void late_participant_is_brought_to_the_version_of_the_room(void **state)
{
    (void)state;
    client_range_join(1, 2);
    hall_settle(100);
    struct client *c = &hall.clients[3]; /* an observer that was described with version 0 */
    c->here = true;
    buf_init(&c->package, MLS_KEY_PACKAGE);
    assert_int_equal(dave_room_join(hall.room, 3, 1, hall.now), 1);
    dave_room_described(hall.room, 3, 0, hall.now);
    assert_int_equal(hall.queue[hall.first].message.op, DAVE_PREPARE_EPOCH);
    assert_int_equal(hall.queue[hall.first + 1].message.op, DAVE_EXTERNAL_SENDER);
    uint64_t epoch = hall.epoch;
    queue_pop();
    hall.established = true; /* opcode 24 was for this client alone */
    hall.epoch = epoch;
    hall_settle(100);
    expect_group();

    client_enter(9, 0);
    c = &hall.clients[4];
    c->here = true;
    dave_room_join(hall.room, 4, 1, hall.now);
    dave_room_described(hall.room, 4, 1, hall.now); /* the room was downgraded meanwhile */
    hall_settle(100);
    expect_received_count(4, DAVE_PREPARE_TRANSITION, 1);
    assert_int_equal(c->transition, 0);
}

static void stage_stays_at_version_0(void **state)
{
    (void)state;
    hall_close(NULL);
    hall_open_with(0);
    client_range_join(1, 3);
    assert_int_equal(dave_room_version(hall.room), 0);
    client_leave(2);
    hall_settle(5000);
    assert_int_equal(hall.clients[1].received[DAVE_EXTERNAL_SENDER], 0);
    assert_int_equal(hall.counters.transitions, 0);
}

/* --- large rooms ------------------------------------------------------------------------ */

static void large_room_gets_one_message_of_proposals_per_second(void **state)
{
    (void)state;
    client_range_join(1, 30);
    hall_settle(3000);
    expect_group();
    hall.proposed_count = 0;
    for (snowflake i = 31; i <= 60; i++) {
        client_join(i, 1);
        hall_settle(100);
    }
    hall_settle(2000);
    expect_group();
    assert_in_range(hall.proposed_count, 3, 5);
    for (size_t i = 1; i < hall.proposed_count; i++)
        assert_true(hall.proposed_at[i] - hall.proposed_at[i - 1] >= DAVE_BATCH_MS);
}

static void hundred_members_are_encrypted_and_101_are_not(void **state)
{
    (void)state;
    client_range_join(1, 100);
    hall_settle(9000);
    expect_group();
    for (snowflake i = 10; i < 30; i++) {
        client_leave(i);
        client_join(i + 91, 1);
    }
    hall_settle(9000);
    expect_group();
    assert_int_equal(hall.counters.refused_commits, 0);
    assert_int_equal(hall.counters.resets, 0);

    assert_int_equal(client_join(10, 1)->version, 0);
    assert_int_equal(hall.counters.downgrades, 1);
    hall_settle(5000);
    assert_int_equal(hall.clients[1].version, 0);
    for (snowflake i = 30; i < 50; i++) { /* 100 to 81 */
        client_leave(i);
        assert_int_equal(dave_room_version(hall.room), 0);
    }
    client_leave(50);
    assert_int_equal(dave_room_version(hall.room), 1);
    hall_settle(9000);
    expect_group();
    assert_int_equal(hall.clients[1].version, 1);
}

static void churn_before_the_first_commit_is_bounded(void **state)
{
    (void)state;
    client_join(1, 1)->silent = true;
    for (int round = 0; round < 4; round++)
        for (snowflake i = 2; i < CLIENTS; i++) {
            client_join_any(i, 1);
            hall.clients[i].silent = true;
            hall_deliver();
            if (i > 3)
                client_leave(i - 1);
        }
    for (size_t i = 0; i < CLIENTS; i++)
        hall.clients[i].silent = false;
    hall_settle(600000);
    expect_group();
}

/* Random events in random order; at the end all present clients form a group. */
static void random_history_run(unsigned seed)
{
    enum { PEOPLE = 9, STEPS = 150 };

    for (int step = 0; step < STEPS; step++) {
        seed = seed * 1103515245 + 12345;
        unsigned choice = seed >> 16, user = 1 + choice / 16 % PEOPLE;
        struct client *c = &hall.clients[user];

        switch (choice % 8) {
        case 0:
        case 1:
            if (!c->here)
                client_join_any(user, step % 17 ? 1 : 0);
            break;
        case 2:
            if (c->here)
                client_leave(user);
            break;
        case 3:
            c->damaged = c->here;
            break;
        case 4:
            c->silent = !c->silent;
            break;
        case 5:
            c->reverses = c->uses_path = !c->reverses;
            c->slow = !c->slow;
            break;
        default:
            hall_settle(choice / 16 % 700);
        }
        if (choice % 3 == 0 && hall.first < hall.count)
            queue_pop();
    }
    for (size_t i = 1; i <= PEOPLE; i++) {
        struct client *c = &hall.clients[i];

        c->silent = c->slow = c->damaged = false;
        if (!c->here || !c->version)
            client_leave(i), client_join_any(i, 1);
    }
    hall_settle(600000);
    expect_group();
    assert_int_equal(hall.counters.refused_commits, 0);
}

static void random_histories_end_with_a_common_group(void **state)
{
    for (unsigned seed = 1; seed <= 40; seed++) {
        print_message("seed %u\n", seed);
        random_history_run(seed);
        hall_close(state);
        hall_open(state);
    }
}

static void json_messages_have_the_documented_members(void **state)
{
    static const struct {
        struct dave_message message;
        const char *json;
    } cases[] = {
        { { .op = DAVE_PREPARE_TRANSITION, .version = 1, .transition = 10 },
          "{\"protocol_version\":1,\"transition_id\":10}" },
        { { .op = DAVE_EXECUTE_TRANSITION, .transition = 10 }, "{\"transition_id\":10}" },
        { { .op = DAVE_PREPARE_EPOCH, .version = 1, .epoch = 1 },
          "{\"protocol_version\":1,\"epoch\":1}" },
    };
    struct buf b;

    (void)state;
    buf_init(&b, 256);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        buf_reset(&b);
        assert_true(dave_message_is_json(&cases[i].message));
        dave_message_write(&cases[i].message, &b);
        assert_str(buf_str(&b), cases[i].json);
    }
    assert_false(dave_message_is_json(&(struct dave_message){ .op = DAVE_WELCOME }));
    buf_clear(&b);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, hall_open, hall_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(two_members_form_a_group_without_a_transition),
        TEST(third_member_joins_with_a_transition),
        TEST(joins_during_a_round_are_batched_into_the_next),
        TEST(leaves_are_reused_from_the_left),
        TEST(member_that_leaves_and_returns_at_once_is_replaced),
        TEST(member_that_leaves_between_add_and_commit_is_removed),
        TEST(member_that_leaves_before_the_first_commit_is_removed),
        TEST(member_that_returns_before_the_first_commit_causes_a_new_group),
        TEST(replaced_key_package_revokes_its_add),
        TEST(key_package_replaced_during_a_round_is_used_in_the_next),
        TEST(joining_twice_replaces_the_participant),
        TEST(sole_member_starts_a_new_group),
        TEST(other_of_two_leaves_before_the_first_commit),
        TEST(group_is_reset_if_nobody_commits),
        TEST(waits_for_commits_stop_doubling),
        TEST(member_with_an_invalid_commit_is_added_again),
        TEST(group_is_reset_if_all_report_an_invalid_commit),
        TEST(member_whose_commit_most_report_no_longer_commits),
        TEST(commits_of_a_removal_are_checked),
        TEST(commits_of_adds_need_a_welcome_for_each),
        TEST(first_commit_comes_from_leaf_0_of_a_proposed_member),
        TEST(key_packages_are_checked_and_limited),
        TEST(key_package_before_the_session_description_is_ignored),
        TEST(transition_ends_after_2_seconds_without_an_answer),
        TEST(transition_does_not_wait_for_a_member_that_left),
        TEST(changes_during_a_transition_wait_for_its_end),
        TEST(transition_ids_wrap_around_to_1),
        TEST(client_without_dave_downgrades_the_room),
        TEST(room_is_upgraded_when_the_last_client_without_dave_leaves),
        TEST(upgrade_during_a_downgrade_finishes_the_downgrade),
        TEST(key_package_that_crosses_a_downgrade_answers_its_request),
        TEST(late_participant_is_brought_to_the_version_of_the_room),
        TEST(stage_stays_at_version_0),
        TEST(large_room_gets_one_message_of_proposals_per_second),
        TEST(hundred_members_are_encrypted_and_101_are_not),
        TEST(churn_before_the_first_commit_is_bounded),
        TEST(random_histories_end_with_a_common_group),
        TEST(json_messages_have_the_documented_members),
    };

    return cmocka_run_group_tests_name("relay/dave/group", tests, NULL, NULL);
}
