/* rounds.c - leaves of a DAVE group, and rounds: each round proposes all outstanding changes. */
#include "relay/dave/group_state.h"

#include <assert.h>

void drop_key_package_of_member(struct dave_member *m)
{
    buf_clear(&m->package);
    buf_clear(&m->add);
}

void dave_group_discard(struct dave_room *room)
{
    dave_proposals_clear(room);
    room->established = false;
    room->epoch = 0;
    room->leaf_count = 0;
    room->round_due = NEVER;
    room->not_before = INT64_MIN;
    for (EACH_MEMBER(m, room)) {
        m->leaf = NO_LEAF;
        drop_key_package_of_member(m);
    }
}

/* Starts a new group: every client discards its present group and sends a key package. */
void dave_group_reset(struct dave_room *room)
{
    dave_transition_finish(room);
    dave_group_discard(room);
    if (!room->leaves) {
        room->leaves = mem_new(DAVE_MEMBERS_MAX * sizeof *room->leaves);
        room->proposals = mem_new(PROPOSALS_MAX * sizeof(struct dave_proposal *));
    }
    for (EACH_MEMBER(m, room)) {
        if (!m->described)
            continue;
        send_dave_prepare_epoch(room, m);
        if (room->members.count == 1)
            send_dave_prepare_transition(room, m, DAVE_VERSION, 0);
        send_dave_external_sender_package(room, m);
    }
}

/* Resets the group if none of its members may commit, or if only one participant is left. */
void dave_group_reset_if_unusable(struct dave_room *room)
{
    bool usable = false;

    for (EACH_MEMBER(m, room))
        usable |= room->established ? m->leaf != NO_LEAF && !m->distrusted : m->proposed;
    if (room->members.count == 1) {
        if (room->established || room->proposal_count > 1)
            dave_group_reset(room);
    } else if (room->established && !usable) {
        room->config.counters->resets++;
        dave_group_reset(room);
    } else if (!usable) {
        dave_proposals_clear(room); /* no participant has received them */
    }
}

static struct dave_member *find_member_of_leaf(const struct dave_room *room, int leaf)
{
    struct dave_member *m = map_find_value(&room->members, room->leaves[leaf].user);

    return m && m->leaf == leaf ? m : NULL;
}

static bool leaf_has_no_participant(const struct dave_room *room, int leaf)
{
    return room->leaves[leaf].used && !find_member_of_leaf(room, leaf);
}

/* Assigns the left-most free leaf, as every client does for a new member (RFC 9420, 7.7). */
int allocate_dave_leaf_for_user(struct dave_room *room, snowflake user, const char *signature_key)
{
    int at = 0;

    while (at < room->leaf_count && room->leaves[at].used)
        at++;
    assert(at < DAVE_MEMBERS_MAX);
    if (at == room->leaf_count)
        room->leaf_count++;
    room->leaves[at] = (struct dave_leaf){ .used = true, .user = user };
    memcpy(room->leaves[at].signature_key, signature_key, MLS_PUBLIC_KEY);
    return at;
}

static bool member_awaits_add_proposal(const struct dave_member *m)
{
    return m->package.n && m->leaf == NO_LEAF && !m->proposed;
}

static bool group_has_pending_changes(const struct dave_room *room)
{
    for (int i = 0; i < room->leaf_count; i++)
        if (leaf_has_no_participant(room, i))
            return true;
    for (EACH_MEMBER(m, room))
        if (member_awaits_add_proposal(m))
            return true;
    return false;
}

static void start_waiting_for_commit(struct dave_room *room, int64_t now)
{
    unsigned doublings =
        room->failures < DAVE_COMMIT_DOUBLINGS ? room->failures : DAVE_COMMIT_DOUBLINGS;
    int64_t wait = DAVE_COMMIT_MS + DAVE_COMMIT_MEMBER_MS * (int64_t)room->proposal_count;

    room->commit_due = now + (wait << doublings);
}

/* Sends each client the Adds of all other clients. Before the group is established, every client
 * has a group of its own, with itself at leaf 0. The group of the client that sends the first valid
 * commit becomes the common group. */
static void send_initial_add_proposals(struct dave_room *room, int64_t now)
{
    size_t from = room->proposal_count;

    for (EACH_MEMBER(m, room)) {
        if (!member_awaits_add_proposal(m))
            continue;
        if (room->proposal_count == DAVE_MEMBERS_MAX) { /* many have left before the commit */
            dave_group_reset(room);
            return;
        }
        create_dave_add_proposal(room, m);
    }
    for (EACH_MEMBER(m, room)) {
        if (!m->package.n)
            continue;
        send_dave_proposals_to_member(room, m, m->proposed || m->replaced ? from : 0);
        m->proposed = true;
        m->replaced = false;
    }
    if (room->proposal_count > 1)
        start_waiting_for_commit(room, now);
}

static void send_proposals_of_changes(struct dave_room *room, int64_t now)
{
    for (int i = 0; i < room->leaf_count; i++)
        if (leaf_has_no_participant(room, i))
            create_dave_remove_proposal(room, (uint32_t)i);
    for (EACH_MEMBER(m, room))
        if (member_awaits_add_proposal(m))
            create_dave_add_proposal(room, m);
    for (EACH_MEMBER(m, room))
        if (m->leaf != NO_LEAF)
            send_dave_proposals_to_member(room, m, 0);
    start_waiting_for_commit(room, now);
}

void start_dave_proposal_round(struct dave_room *room, int64_t now)
{
    int64_t start = room->not_before;

    room->round_due = NEVER;
    if (!room->version || room->transition || (room->established && room->proposal_count) ||
        !group_has_pending_changes(room))
        return;
    if (room->members.count > DAVE_BATCH_MEMBERS && start < room->round_time + DAVE_BATCH_MS)
        start = room->round_time + DAVE_BATCH_MS;
    if (now < start) {
        room->round_due = start;
        return;
    }
    room->round_time = now;
    if (room->established)
        send_proposals_of_changes(room, now);
    else
        send_initial_add_proposals(room, now);
}
