/* journal.c - tests the journal that lets sessions resume after their node crashed, and its
 * replicas on other nodes. */
#include "unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "gateway/resume/journal/replication.h"
#include "gateway/resume/journal/replica.h"
#include "gateway/resume/journal/journal.h"
#include "gateway/resume/journal/journal_file.h"
#include "gateway/sessions/session.h"

/* --- the rule, checked against a session that records everything ---------------------- */

enum { LONGEST = 2000 };

/* Messages that a session received: an event number, NUMBER_TRANSIENT or NUMBER_RESPONSE. */
struct memory {
    uint64_t delivered_to[LONGEST];
    uint64_t seq;      /* sequence number of the last message */
    uint64_t position; /* log position of the loop's last event */
};

static void record_dispatch_in_journal(struct memory *m, struct journal_slot *slot, uint64_t what)
{
    m->delivered_to[++m->seq] = what;
    journal_record_dispatch(slot, m->seq, what);
}

/* Asserts that all events up to `seen` were received and none after it. */
static void check_resume_point_after_sequence(const struct memory *m, uint64_t seq, uint64_t seen)
{
    for (uint64_t i = 1; i <= m->seq; i++)
        if (m->delivered_to[i] > NUMBER_RESPONSE)
            assert_true(i <= seq ? m->delivered_to[i] <= seen : m->delivered_to[i] > seen);
}

static bool has_answer_after(const struct memory *m, uint64_t seq)
{
    for (uint64_t i = seq + 1; i <= m->seq; i++)
        if (m->delivered_to[i] == NUMBER_RESPONSE)
            return true;
    return false;
}

static void check_resume_points_of_all_sequences(const struct memory *m,
                                                 const struct journal_slot *slot)
{
    uint64_t least = m->seq < JOURNAL_SENT_MAX ? 0 : m->seq - JOURNAL_SENT_MAX, seen;

    for (uint64_t seq = least; seq <= m->seq; seq++) {
        bool known = journal_slot_find_last_event_before_seq(slot, m->position, seq, &seen);

        assert_int_equal(known, m->seq - seq < JOURNAL_SENT_MAX && !has_answer_after(m, seq));
        if (!known)
            continue;
        check_resume_point_after_sequence(m, seq, seen);
        /* A client that received everything gets no event again that its loop has processed. */
        if (seq == m->seq)
            assert_true(seen >= m->position);
    }
    assert_false(journal_slot_find_last_event_before_seq(slot, m->position, m->seq + 1, &seen));
}

static void journal_finds_the_resume_point_for_every_sequence_number(void **state)
{
    (void)state;
    static struct memory m;
    struct journal_slot slot = { .loop_get_index = 0 };

    srand(7);
    for (uint64_t number = 1000; m.seq < LONGEST - 2; number += 1 + (uint64_t)(rand() % 3)) {
        int what = rand() % 100;

        if (what < 30)
            record_dispatch_in_journal(&m, &slot, number);
        else if (what < 50)
            record_dispatch_in_journal(&m, &slot, NUMBER_TRANSIENT);
        else if (what == 50)
            record_dispatch_in_journal(&m, &slot, NUMBER_RESPONSE);
        if (rand() % 8) /* otherwise the node is killed in the middle of the event */
            m.position = number;
        if (rand() % 40 == 0)
            check_resume_points_of_all_sequences(&m, &slot);
    }
}

static void half_written_journal_entry_is_ignored(void **state)
{
    (void)state;
    static struct memory m;
    struct journal_slot slot = { .loop_get_index = 0 };

    for (uint64_t number = 1000; number < 1600; number++) {
        record_dispatch_in_journal(&m, &slot, number % 5 ? NUMBER_TRANSIENT : number);
        m.position = number;
        struct journal_slot killed = slot;
        killed.sent[(m.seq + 1) % JOURNAL_SENT_MAX] = number + 1;
        check_resume_points_of_all_sequences(&m, &killed);
    }
}

static void incomplete_journal_slot_is_not_used_for_resume(void **state)
{
    (void)state;
    struct journal_slot good = { .loop_get_index = 0, .first = 3, .seq = 3, .base = 70 }, bad;
    uint64_t seen = 0;

    journal_record_dispatch(&good, 4, 80);
    assert_true(journal_slot_find_last_event_before_seq(&good, 75, 3, &seen));
    assert_int_equal(seen, 79);
    assert_true(journal_slot_find_last_event_before_seq(&good, 75, 4, &seen));
    assert_int_equal(seen, 80);
    assert_true(journal_slot_find_last_event_before_seq(&good, 95, 4, &seen));
    assert_int_equal(seen, 95);
    assert_false(journal_slot_find_last_event_before_seq(&good, 95, 2,
                                                         &seen)); /* before the journal began */
    bad = good;
    bad.is_incomplete = 1;
    assert_false(journal_slot_find_last_event_before_seq(&bad, 95, 4, &seen));
    bad = good;
    bad.tasks = 1;
    assert_false(journal_slot_find_last_event_before_seq(&bad, 95, 4, &seen));
    bad = good;
    bad.loop_get_index =
        JOURNAL_IN_TRANSIT; /* moving between two loops: no loop is responsible for it */
    assert_true(journal_slot_find_last_event_before_seq(&bad, 95, 4, &seen));
    assert_int_equal(seen, 80);
}

/* --- files ---------------------------------------------------------------------------- */

static void journal_of_a_running_node_is_detected_by_its_file_lock(void **state)
{
    (void)state;
    char folder[] = "/tmp/guildhall-ledger.XXXXXX";
    struct arena *arena = arena_new();
    struct found_journal_session entry;
    struct list retained = { 0 };

    assert_non_null(mkdtemp(folder));
    assert_int_equal(journal_find_session(folder, 5, 1, 0, arena, &entry), JOURNAL_UNKNOWN);
    struct journal *own = journal_open(folder, 5);
    assert_non_null(own);
    assert_int_equal(journal_find_session(folder, 5, 1, 0, arena, &entry), JOURNAL_OWNER_ALIVE);
    pid_t child = fork();
    if (!child)
        _exit(!journal_open(folder, 6)); /* like a killed node: nothing is closed */
    waitpid(child, NULL, 0);
    assert_int_equal(journal_find_session(folder, 6, 1, 0, arena, &entry), JOURNAL_INSUFFICIENT);
    delete_outdated_journals(folder, INT64_C(1) << 50, arena, &retained);
    assert_int_equal(retained.count, 1); /* the other node died too long ago */
    assert_int_equal(journal_find_session(folder, 6, 1, 0, arena, &entry), JOURNAL_UNKNOWN);
    journal_close(own);
    assert_int_equal(rmdir(folder), 0);
    arena_free(arena);
}

/* After a reboot, the pages of a journal may be of different times, so only replicas are used. */
static void journal_of_another_boot_is_ignored(void **state)
{
    (void)state;
    char folder[] = "/tmp/guildhall-ledger.XXXXXX", path[64];
    struct arena *arena = arena_new();
    struct found_journal_session entry;
    struct list retained = { 0 };

    assert_non_null(mkdtemp(folder));
    pid_t child = fork();
    if (!child)
        _exit(!journal_open(folder, 6));
    waitpid(child, NULL, 0);
    assert_int_equal(journal_find_session(folder, 6, 1, 0, arena, &entry), JOURNAL_INSUFFICIENT);
    snprintf(path, sizeof path, "%s/ledger-6", folder);
    int fd = open(path, O_RDWR);
    assert_int_equal(pwrite(fd, "another", 7, offsetof(struct journal_file_header, boot)), 7);
    assert_int_equal(journal_find_session(folder, 6, 1, 0, arena, &entry), JOURNAL_UNKNOWN);
    char boot[JOURNAL_BOOT_ID];
    read_kernel_boot_id(boot);
    assert_int_equal(pwrite(fd, boot, 7, offsetof(struct journal_file_header, boot)), 7);
    assert_int_equal(journal_find_session(folder, 6, 1, 0, arena, &entry), JOURNAL_INSUFFICIENT);
    assert_int_equal(pwrite(fd, "another", 7, 0), 7); /* of another version */
    assert_int_equal(journal_find_session(folder, 6, 1, 0, arena, &entry), JOURNAL_UNKNOWN);
    close(fd);
    delete_outdated_journals(folder, INT64_C(1) << 50, arena, &retained);
    assert_int_equal(retained.count, 0);
    assert_int_equal(rmdir(folder), 0);
    arena_free(arena);
}

/* --- replicas on other nodes ---------------------------------------------------------- */

enum { SENDER = 7, NUMBER = 42 };

/* A session that receives messages, and a replica that receives most of the updates. */
struct stored_scene {
    struct memory m;
    struct journal_slot slot;
    struct journal_replicas *keeper;
    struct buf out; /* records of the next message */
    uint64_t messages, copied;
    uint64_t pending; /* an event that the session receives after its loop has passed it; or 0 */
    bool whole, was_lost;
};

static void deliver_replication_message_to_node(struct stored_scene *s, bool is_lost)
{
    struct replica_reply reply = { 0 };
    struct buf message;

    buf_init(&reply.bytes, 64);
    buf_init(&message, 1 << 20);
    append_replica_message_header(&message, SENDER, 0, ++s->messages, s->m.position);
    buf_add_str(&message, buf_as_str(&s->out));
    buf_reset(&s->out);
    if (!is_lost)
        replica_handle_message(s->keeper, buf_as_str(&message), &reply);
    if (!is_lost) /* a replica that missed an update reports it with the next one */
        assert_int_equal(reply.to, s->was_lost ? SENDER : 0);
    s->was_lost = is_lost;
    buf_clear(&reply.bytes);
    buf_clear(&message);
}

static void scene_copy(struct stored_scene *s)
{
    if (s->whole || !append_sent_events_record(&s->out, NUMBER, &s->slot, s->copied))
        append_whole_session_record(&s->out, NUMBER, &s->slot, s->m.position);
    s->copied = s->m.seq;
    s->whole = false;
}

static void move_session_off_its_loop(struct stored_scene *s, uint64_t pending)
{
    s->slot.base = s->m.position > s->slot.base ? s->m.position : s->slot.base;
    s->slot.loop_get_index = JOURNAL_IN_TRANSIT;
    s->whole = true;
    scene_copy(s);
    s->pending = pending;
}

static void move_session_back_to_its_loop(struct stored_scene *s)
{
    record_dispatch_in_journal(&s->m, &s->slot, s->pending);
    s->pending = 0;
    s->slot.base = s->m.position;
    s->slot.loop_get_index = 0;
    s->whole = true;
}

static unsigned scene_check(struct stored_scene *s, struct arena *arena)
{
    struct found_journal_session entry;
    unsigned known = 0;

    for (uint64_t back = 0; back < 20 && back <= s->m.seq; back++) {
        uint64_t seq = s->m.seq - back;

        if (replica_find_session(s->keeper, SENDER, NUMBER, seq, arena, &entry) != JOURNAL_FOUND)
            continue;
        known++;
        check_resume_point_after_sequence(&s->m, seq, entry.seen);
        assert_true(!s->pending || entry.seen < s->pending);
    }
    assert_int_equal(replica_find_session(s->keeper, SENDER + 1, NUMBER, s->m.seq, arena, &entry),
                     JOURNAL_UNKNOWN);
    assert_int_equal(replica_find_session(s->keeper, SENDER, NUMBER + 1, s->m.seq, arena, &entry),
                     JOURNAL_UNKNOWN);
    return known;
}

static void scene_step(struct stored_scene *s, uint64_t number)
{
    int what = rand() % 100;

    if (s->pending && what < 30)
        move_session_back_to_its_loop(s);
    else if (!s->pending && what < 5)
        move_session_off_its_loop(s, number);
    else if (!s->pending && what < 60)
        record_dispatch_in_journal(&s->m, &s->slot, number);
    else if (what < 70)
        record_dispatch_in_journal(&s->m, &s->slot, NUMBER_TRANSIENT);
    s->m.position = number;
    s->whole |= rand() % 20 == 0;
    scene_copy(s);
}

static void replica_is_exact_even_if_messages_are_lost(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct stored_scene *s = calloc(1, sizeof *s);
        struct arena *arena = arena_new();
        unsigned known = 0;
        uint64_t number = 1000;

        srand(seed);
        s->keeper = journal_replicas_new(SENDER + 100);
        s->whole = true;
        buf_init(&s->out, 1 << 20);
        while (s->m.seq < LONGEST - 2) {
            scene_step(s, number);
            number += 1 + (uint64_t)(rand() % 3);
            deliver_replication_message_to_node(s, rand() % 10 == 0);
            known += scene_check(s, arena);
            arena_reset(arena);
        }
        assert_true(known > LONGEST);
        append_session_end_record(&s->out, NUMBER);
        deliver_replication_message_to_node(s, false);
        assert_int_equal(replica_session_count(s->keeper), 0);
        buf_clear(&s->out);
        journal_replicas_free(s->keeper);
        arena_free(arena);
        free(s);
    }
}

static void node_without_a_replica_receives_it_from_another_node(void **state)
{
    (void)state;
    struct stored_scene s = { .whole = true };
    struct journal_replicas *other = journal_replicas_new(SENDER + 100);
    struct arena *arena = arena_new();
    struct replica_reply reply = { 0 }, none = { 0 };
    struct found_journal_session entry;
    struct buf question;

    s.keeper = journal_replicas_new(SENDER + 100);
    buf_init(&s.out, 1 << 20);
    buf_init(&reply.bytes, 1 << 20);
    buf_init(&question, 1 << 20);
    for (uint64_t number = 1000; number < 1040; number++) {
        record_dispatch_in_journal(&s.m, &s.slot, number);
        s.m.position = number;
        scene_copy(&s);
        deliver_replication_message_to_node(&s, false);
    }
    assert_int_equal(replica_session_count(s.keeper), 1);
    append_replica_request(&question, SENDER, NUMBER, 30, 9);
    replica_handle_message(s.keeper, buf_as_str(&question), &reply);
    assert_int_equal(reply.to, 9);
    replica_handle_message(other, buf_as_str(&reply.bytes), &none);
    assert_int_equal(none.number, NUMBER);
    assert_int_equal(replica_find_session(other, SENDER, NUMBER, 30, arena, &entry), JOURNAL_FOUND);
    assert_int_equal(entry.seen, 1029);
    assert_int_equal(replica_find_session(other, SENDER, NUMBER, 40, arena, &entry), JOURNAL_FOUND);
    assert_int_equal(entry.seen, 1039);
    assert_int_equal(replica_find_session(other, SENDER, NUMBER, 41, arena, &entry),
                     JOURNAL_SEQ_MISSING);
    for (size_t n = 0; n < reply.bytes.n; n += 7) /* a truncated reply is refused */
        replica_handle_message(other, str_slice(reply.bytes.p, n), &none);
    journal_replicas_evict_expired(other, INT64_C(1) << 50);
    assert_int_equal(replica_session_count(other), 0);
    buf_clear(&question);
    buf_clear(&reply.bytes);
    buf_clear(&s.out);
    journal_replicas_free(s.keeper);
    journal_replicas_free(other);
    arena_free(arena);
}

/* --- several replicas ----------------------------------------------------------------- */

static struct buf begin_message(unsigned hub, uint64_t message)
{
    struct buf b;

    buf_init(&b, 1 << 20);
    append_replica_message_header(&b, SENDER, hub, message, 0);
    return b;
}

static void receive_replication_message(struct journal_replicas *k, struct buf *b,
                                        struct replica_reply *ret)
{
    struct replica_reply reply = { 0 };

    buf_init(&reply.bytes, 1 << 20);
    replica_handle_message(k, buf_as_str(b), &reply);
    buf_clear(b);
    if (ret)
        *ret = reply;
    else
        buf_clear(&reply.bytes);
}

static void receive_journal_slot_of_replica(struct journal_replicas *k, unsigned hub,
                                            uint64_t message, uint64_t number,
                                            const struct journal_slot *slot)
{
    struct buf b = begin_message(hub, message);

    append_whole_session_record(&b, number, slot, 0);
    receive_replication_message(k, &b, NULL);
}

static struct replica_reply request_copy_of(struct journal_replicas *k, uint32_t owner,
                                            uint64_t seq)
{
    struct replica_reply reply;
    struct buf b;

    buf_init(&b, 64);
    append_replica_request(&b, owner, NUMBER, seq, 9);
    receive_replication_message(k, &b, &reply);
    return reply;
}

static struct replica_reply request_from_replica(struct journal_replicas *k, uint64_t seq)
{
    return request_copy_of(k, SENDER, seq);
}

/* The session moved from a node that died to another one, which died, too. */
static void replicas_of_two_owners_of_one_session_coexist(void **state)
{
    (void)state;
    struct journal_replicas *asker = journal_replicas_new(SENDER + 100),
                            *k = journal_replicas_new(SENDER + 101);
    struct arena *arena = arena_new();
    struct journal_slot slot = { .first = 10, .seq = 10, .loop_get_index = 0 };
    struct found_journal_session entry;
    struct buf b;

    receive_journal_slot_of_replica(asker, 0, 1, NUMBER, &slot);
    slot.first = slot.seq = 20;
    buf_init(&b, 1 << 20);
    append_replica_message_header(&b, SENDER + 1, 0, 1, 0);
    append_whole_session_record(&b, NUMBER, &slot, 0);
    receive_replication_message(k, &b, NULL);
    struct replica_reply reply = request_copy_of(k, SENDER + 1, 20), arrival;
    receive_replication_message(asker, &reply.bytes, &arrival);
    assert_int_equal(arrival.number, NUMBER);
    assert_int_equal(arrival.unknown_at, 0);
    buf_clear(&arrival.bytes);
    assert_int_equal(replica_find_session(asker, SENDER + 1, NUMBER, 20, arena, &entry),
                     JOURNAL_FOUND);
    assert_int_equal(replica_find_session(asker, SENDER, NUMBER, 10, arena, &entry), JOURNAL_FOUND);
    assert_int_equal(replica_session_count(asker), 2);
    reply = request_copy_of(asker, SENDER + 1, 20); /* only the owner's own copies are sent */
    assert_true(reply.bytes.n < 64);
    buf_clear(&reply.bytes);
    journal_replicas_evict_expired(asker, INT64_C(1) << 50);
    assert_int_equal(replica_session_count(asker), 0);
    journal_replicas_free(asker);
    journal_replicas_free(k);
    arena_free(arena);
}

static void announce_replica_node_of_same_version(struct journal_replicas *k, uint32_t identity)
{
    struct buf b;

    buf_init(&b, 64);
    append_replica_hello(&b, identity);
    receive_replication_message(k, &b, NULL);
}

static void node_without_a_replica_replies_that_it_has_none(void **state)
{
    (void)state;
    enum { ASKER = 9, OTHER = 10, OWNER = SENDER };
    struct journal_replicas *asker = journal_replicas_new(ASKER),
                            *other = journal_replicas_new(OTHER);
    struct map without_copy;
    struct replica_reply reply = request_from_replica(other, 10), arrival;

    assert_int_equal(reply.to, ASKER);
    map_init(&without_copy);
    /* A node that has just started does not know yet which nodes have copies. */
    assert_false(all_replica_nodes_are_in_set(asker, OWNER, &without_copy));
    announce_replica_node_of_same_version(asker, ASKER);
    announce_replica_node_of_same_version(asker, OTHER);
    announce_replica_node_of_same_version(asker, OWNER);
    assert_false(all_replica_nodes_are_in_set(asker, OWNER, &without_copy));
    receive_replication_message(asker, &reply.bytes, &arrival);
    assert_int_equal(arrival.number, NUMBER);
    assert_int_equal(arrival.unknown_at, OTHER);
    buf_clear(&arrival.bytes);
    map_set_value(&without_copy, OTHER, asker);
    assert_true(all_replica_nodes_are_in_set(asker, OWNER, &without_copy));
    map_clear(&without_copy);
    journal_replicas_free(asker);
    journal_replicas_free(other);
}

static void replica_reports_unusable_slots_with_a_short_reply(void **state)
{
    (void)state;
    struct journal_replicas *k = journal_replicas_new(SENDER + 100),
                            *asker = journal_replicas_new(SENDER + 100),
                            *another = journal_replicas_new(SENDER + 100);
    struct arena *arena = arena_new();
    struct journal_slot slot = { .first = 10, .seq = 10, .loop_get_index = 0, .tasks = 1 };
    struct found_journal_session entry;

    receive_journal_slot_of_replica(k, 0, 1, NUMBER, &slot);
    assert_int_equal(replica_find_session(k, SENDER, NUMBER, 10, arena, &entry), JOURNAL_UNUSABLE);
    assert_int_equal(replica_find_session(k, SENDER, NUMBER, 11, arena, &entry),
                     JOURNAL_SEQ_MISSING);
    assert_int_equal(replica_find_session(k, SENDER, NUMBER, 9, arena, &entry),
                     JOURNAL_SEQ_MISSING);
    struct replica_reply reply = request_from_replica(k, 10);
    assert_int_equal(reply.to, 9);
    assert_true(reply.bytes.n < 64);
    struct replica_reply arrivals;
    receive_replication_message(asker, &reply.bytes, &arrivals);
    assert_int_equal(arrivals.number, NUMBER); /* the sender has the session */
    assert_int_equal(replica_find_session(asker, SENDER, NUMBER, 10, arena, &entry),
                     JOURNAL_UNUSABLE);
    assert_int_equal(replica_find_session(asker, SENDER, NUMBER, 11, arena, &entry),
                     JOURNAL_SEQ_MISSING);
    buf_clear(&arrivals.bytes);
    slot.tasks = 0; /* another replica has a usable copy */
    slot.seq = slot.first = 11;
    receive_journal_slot_of_replica(another, 0, 1, NUMBER, &slot);
    reply = request_from_replica(another, 11);
    receive_replication_message(asker, &reply.bytes, NULL);
    assert_int_equal(replica_find_session(asker, SENDER, NUMBER, 11, arena, &entry), JOURNAL_FOUND);
    reply = request_from_replica(k, 11); /* a short reply does not replace the copy */
    receive_replication_message(asker, &reply.bytes, &arrivals);
    assert_int_equal(arrivals.number, 0);
    buf_clear(&arrivals.bytes);
    assert_int_equal(replica_find_session(asker, SENDER, NUMBER, 11, arena, &entry), JOURNAL_FOUND);
    journal_replicas_free(k);
    journal_replicas_free(asker);
    journal_replicas_free(another);
    arena_free(arena);
}

/* A session moves to another loop, whose update arrives before the last update of the old loop. */
static void outdated_replica_update_is_ignored(void **state)
{
    (void)state;
    struct journal_replicas *k = journal_replicas_new(SENDER + 100);
    struct arena *arena = arena_new();
    struct journal_slot early = { .seq = 10 }, late = { .seq = 12, .loop_get_index = 1 };
    struct found_journal_session entry;

    receive_journal_slot_of_replica(k, 1, 1, NUMBER, &late);
    receive_journal_slot_of_replica(k, 0, 1, NUMBER, &early);
    assert_int_equal(replica_find_session(k, SENDER, NUMBER, 12, arena, &entry), JOURNAL_FOUND);
    early.first = 5; /* the session returned and its journal began again */
    receive_journal_slot_of_replica(k, 0, 2, NUMBER, &early);
    assert_int_equal(replica_find_session(k, SENDER, NUMBER, 12, arena, &entry),
                     JOURNAL_SEQ_MISSING);
    assert_int_equal(replica_find_session(k, SENDER, NUMBER, 10, arena, &entry), JOURNAL_FOUND);
    journal_replicas_free(k);
    arena_free(arena);
}

static void replica_prune_removes_at_most_1024_sessions_at_once(void **state)
{
    (void)state;
    struct journal_replicas *k = journal_replicas_new(SENDER + 100);
    struct journal_slot slot = { .seq = 1 };

    for (uint64_t number = 1; number <= 3000; number++)
        receive_journal_slot_of_replica(k, 0, number, number, &slot);
    journal_replicas_evict_expired(k, 0);
    assert_int_equal(replica_session_count(k), 3000);
    journal_replicas_evict_expired(k, INT64_C(1) << 50);
    assert_int_equal(replica_session_count(k), 3000 - 1024);
    journal_replicas_evict_expired(k, INT64_C(1) << 50);
    journal_replicas_evict_expired(k, INT64_C(1) << 50);
    assert_int_equal(replica_session_count(k), 0);
    journal_replicas_free(k);
}

static void replica_ignores_nodes_with_another_slot_format(void **state)
{
    (void)state;
    struct journal_replicas *k = journal_replicas_new(SENDER + 100);
    struct journal_slot slot = { .seq = 1 };
    struct replica_reply reply;
    struct buf b = begin_message(0, 1);

    append_whole_session_record(&b, NUMBER, &slot, 0);
    b.p[16] ^= 1; /* after the message kind and the identity */
    receive_replication_message(k, &b, &reply);
    assert_int_equal(replica_session_count(k), 0);
    assert_int_equal(reply.to, 0);
    buf_clear(&reply.bytes);
    b = begin_message(3, 7); /* the first message received is not the first one sent */
    receive_replication_message(k, &b, &reply);
    assert_int_equal(reply.to, SENDER);
    struct replica_reply missed;
    receive_replication_message(k, &reply.bytes, &missed);
    assert_true(missed.restart);
    assert_int_equal(missed.loop_get_index, 3);
    buf_clear(&missed.bytes);
    journal_replicas_free(k);
}

static void announce_replica_node_of_cluster(struct journal_replicas *k, uint32_t identity,
                                             bool is_ours)
{
    struct buf b;

    buf_init(&b, 64);
    append_replica_hello(&b, identity);
    if (!is_ours)
        b.p[16] ^= 1;
    receive_replication_message(k, &b, NULL);
}

static void only_announced_nodes_are_chosen_as_replicas(void **state)
{
    (void)state;
    struct journal_replicas *k = journal_replicas_new(SENDER + 100);
    const uint32_t all[] = { 2, 5, 7, 9 };

    assert_int_equal(choose_replica_node(k, 5, all, 4), 0);
    announce_replica_node_of_cluster(k, 5, true);
    announce_replica_node_of_cluster(k, 7, false); /* of another version */
    assert_int_equal(choose_replica_node(k, 5, all, 4), 0);
    announce_replica_node_of_cluster(k, 2, true);
    assert_int_equal(choose_replica_node(k, 5, all, 4), 2);
    announce_replica_node_of_cluster(k, 9, true);
    assert_int_equal(choose_replica_node(k, 5, all, 4), 9);
    assert_int_equal(choose_replica_node(k, 5, all, 3), 2);
    assert_int_equal(choose_replica_node(k, 5, all, 4),
                     2); /* the node was gone and must announce itself again */
    journal_replicas_free(k);
}

/* --- rounds --------------------------------------------------------------------------- */

enum { MANY = 20000 };

struct round_scene {
    struct gateway_loop hub;
    struct journal_replication_of_loop copies;
    struct journal_slot slot; /* shared by all sessions */
    struct session *sessions;
};

static struct round_scene *round_scene_new(uint32_t presence)
{
    struct round_scene *s = calloc(1, sizeof *s);

    s->sessions = calloc(MANY, sizeof *s->sessions);
    s->hub.resume.replication = &s->copies;
    s->copies.gateway_loop = &s->hub;
    s->copies.round = 1;
    s->slot.presence_n = presence;
    linked_list_init(&s->hub.sessions);
    linked_list_init(&s->copies.unsent);
    for (size_t i = 0; i < MANY; i++) {
        s->sessions[i].gateway_loop = &s->hub;
        s->sessions[i].resume.slot = &s->slot;
        linked_list_append(&s->hub.sessions, &s->sessions[i].link);
    }
    return s;
}

static void free_replication_round_fixture(struct round_scene *s)
{
    for (size_t i = 0; i < MANY; i++)
        mem_free(s->sessions[i].sync);
    free(s->sessions);
    free(s);
}

/* Writes the marked sessions as a message and returns its size in bytes. */
static size_t write_marked(struct round_scene *s, size_t *count)
{
    struct buf b;

    buf_init(&b, 16 << 20);
    for (; !linked_list_is_empty(&s->copies.unsent); ++*count) {
        linked_list_remove(s->copies.unsent.next);
        append_whole_session_record(&b, NUMBER, &s->slot, 0);
    }
    size_t bytes = b.n;
    buf_clear(&b);
    return bytes;
}

/* Returns the number of steps of a round; *most is the largest number of bytes in one step. */
static size_t count_steps(struct round_scene *s, size_t *most)
{
    size_t steps = 0, count = 0;

    s->copies.round++;
    s->copies.marked = 0;
    *most = 0;
    for (bool goes_on = true; goes_on; steps++) {
        goes_on = journal_replication_mark_sessions_to_resend(&s->copies, 0);
        size_t bytes = write_marked(s, &count);
        *most = bytes > *most ? bytes : *most;
    }
    assert_int_equal(count, MANY); /* each session once */
    return steps;
}

static void replication_round_is_spread_over_many_steps(void **state)
{
    (void)state;
    struct round_scene *s = round_scene_new(0);
    size_t most;

    assert_true(count_steps(s, &most) >= 40);
    assert_true(most <= 512 * 1024);
    size_t steps = count_steps(s, &most); /* now the number of sessions is known */
    assert_in_range(steps, 38, 44);
    assert_true(most <= 512 * 1024);
    free_replication_round_fixture(s);
    s = round_scene_new(JOURNAL_PRESENCE_BYTES);
    assert_true(count_steps(s, &most) >= 40);
    assert_true(most <= 600 * 1024); /* the number includes the header of each session */
    free_replication_round_fixture(s);
}

static void replication_round_waits_while_much_data_is_unsent(void **state)
{
    (void)state;
    struct round_scene *s = round_scene_new(0);

    s->copies.round++;
    assert_true(journal_replication_mark_sessions_to_resend(&s->copies, (1 << 20) + 1));
    assert_true(linked_list_is_empty(&s->copies.unsent));
    assert_true(journal_replication_mark_sessions_to_resend(&s->copies, 1 << 20));
    assert_false(linked_list_is_empty(&s->copies.unsent));
    free_replication_round_fixture(s);
}

static void repeated_replication_requests_are_delayed(void **state)
{
    (void)state;
    struct journal_replication_of_loop c = {
        .pause_ticks = 3
    }; /* a round has just started because of a missed update */

    for (int i = 0; i < 100; i++)
        assert_false(journal_replication_must_start_resending(&c, true));
    assert_false(journal_replication_must_start_resending(&c, false));
    assert_false(journal_replication_must_start_resending(&c, false));
    assert_true(journal_replication_must_start_resending(&c, false));
    c = (struct journal_replication_of_loop){ .round_runs = true };
    assert_true(journal_replication_must_start_resending(&c, true));
    c = (struct journal_replication_of_loop){ .round_runs = true };
    for (int i = 0; i < 20; i++) /* a long round is finished first */
        assert_false(journal_replication_must_start_resending(&c, false));
    c.round_runs = false;
    assert_true(journal_replication_must_start_resending(&c, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(journal_finds_the_resume_point_for_every_sequence_number),
        cmocka_unit_test(half_written_journal_entry_is_ignored),
        cmocka_unit_test(incomplete_journal_slot_is_not_used_for_resume),
        cmocka_unit_test(journal_of_a_running_node_is_detected_by_its_file_lock),
        cmocka_unit_test(replica_is_exact_even_if_messages_are_lost),
        cmocka_unit_test(node_without_a_replica_receives_it_from_another_node),
        cmocka_unit_test(journal_of_another_boot_is_ignored),
        cmocka_unit_test(replica_reports_unusable_slots_with_a_short_reply),
        cmocka_unit_test(replicas_of_two_owners_of_one_session_coexist),
        cmocka_unit_test(node_without_a_replica_replies_that_it_has_none),
        cmocka_unit_test(outdated_replica_update_is_ignored),
        cmocka_unit_test(replica_prune_removes_at_most_1024_sessions_at_once),
        cmocka_unit_test(replica_ignores_nodes_with_another_slot_format),
        cmocka_unit_test(only_announced_nodes_are_chosen_as_replicas),
        cmocka_unit_test(replication_round_is_spread_over_many_steps),
        cmocka_unit_test(replication_round_waits_while_much_data_is_unsent),
        cmocka_unit_test(repeated_replication_requests_are_delayed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
