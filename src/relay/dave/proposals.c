/* proposals.c - proposals of a DAVE group: Adds and Removes that wait for a commit. */
#include "relay/dave/group_state.h"

#include <assert.h>

static void dave_proposal_free(struct dave_proposal *p)
{
    buf_clear(&p->message);
    mem_free(p);
}

static struct dave_proposal *dave_proposal_new(struct dave_room *room)
{
    struct dave_proposal *p = mem_new(sizeof *p);

    assert(room->proposal_count < PROPOSALS_MAX);
    buf_init(&p->message, MLS_PROPOSAL);
    room->proposals[room->proposal_count++] = p;
    return p;
}

void sign_add_proposal_of_member(struct dave_room *room, struct dave_member *m)
{
    buf_reset(&m->add);
    mls_write_add_proposal(room->config.key, room->config.group, room->epoch,
                           buf_as_str(&m->package), &m->add, m->add_ref);
    m->add_epoch = room->epoch;
}

void create_dave_add_proposal(struct dave_room *room, struct dave_member *m)
{
    struct dave_proposal *p = dave_proposal_new(room);

    if (m->add_epoch != room->epoch)
        sign_add_proposal_of_member(room, m);
    p->adds = true;
    p->user = m->user;
    memcpy(p->package_ref, m->package_ref, sizeof p->package_ref);
    memcpy(p->signature_key, m->signature_key, sizeof p->signature_key);
    memcpy(p->ref, m->add_ref, sizeof p->ref);
    buf_add_str(&p->message, buf_as_str(&m->add));
}

void create_dave_remove_proposal(struct dave_room *room, uint32_t leaf)
{
    struct dave_proposal *p = dave_proposal_new(room);

    p->leaf = leaf;
    mls_write_remove_proposal(room->config.key, room->config.group, room->epoch, leaf, &p->message,
                              p->ref);
}

bool dave_add_proposal_is_for_member(const struct dave_proposal *p, const struct dave_member *m)
{
    return p->adds && p->user == m->user;
}

/* Returns whether the proposal is sent to member m. A client must not receive its own Add. The Add
 * of a user who has left is not sent, because a client that joined later would refuse the whole
 * message. */
static bool proposal_is_sent_to_member(const struct dave_room *room, const struct dave_proposal *p,
                                       const struct dave_member *m)
{
    return !p->adds || (p->user != m->user && map_find_value(&room->members, p->user));
}

void send_dave_proposals_to_member(struct dave_room *room, const struct dave_member *m, size_t from)
{
    struct buf payload;
    size_t n = 0;

    for (size_t i = from; i < room->proposal_count; i++)
        if (proposal_is_sent_to_member(room, room->proposals[i], m))
            n += room->proposals[i]->message.n;
    if (!n)
        return;
    buf_init(&payload, PAYLOAD_MAX);
    mls_write_number(&payload, PROPOSALS_APPEND, 1);
    mls_write_length(&payload, n);
    for (size_t i = from; i < room->proposal_count; i++)
        if (proposal_is_sent_to_member(room, room->proposals[i], m))
            buf_add_str(&payload, buf_as_str(&room->proposals[i]->message));
    dave_member_send_binary_message(room, m, DAVE_PROPOSALS, &payload);
    buf_clear(&payload);
}

struct dave_proposal **find_dave_add_proposal_of_member(const struct dave_room *room,
                                                        const struct dave_member *m)
{
    for (size_t i = 0; i < room->proposal_count; i++)
        if (dave_add_proposal_is_for_member(room->proposals[i], m))
            return &room->proposals[i];
    return NULL;
}

struct dave_proposal *find_proposal_by_reference(const struct dave_room *room, const char *ref)
{
    for (size_t i = 0; i < room->proposal_count; i++)
        if (memcmp(room->proposals[i]->ref, ref, MLS_HASH) == 0)
            return room->proposals[i];
    return NULL;
}

/* Revokes the Add of a member that sent another key package before the group was established. The
 * Add of a member that has left is not revoked: after a revocation without a further Add, the
 * library davey commits without a Welcome. */
void revoke_add_proposal_of_member(struct dave_room *room, struct dave_member *m)
{
    struct dave_proposal **at = find_dave_add_proposal_of_member(room, m);
    struct buf payload;

    buf_init(&payload, PAYLOAD_MAX);
    mls_write_number(&payload, PROPOSALS_REVOKE, 1);
    mls_write_length(&payload, 1 + MLS_HASH);
    mls_write_vector(&payload, str_slice((const char *)(*at)->ref, MLS_HASH));
    for (EACH_MEMBER(other, room))
        if (other != m && other->proposed)
            dave_member_send_binary_message(room, other, DAVE_PROPOSALS, &payload);
    buf_clear(&payload);
    dave_proposal_free(*at);
    room->proposal_count--;
    memmove(at, at + 1, (size_t)(room->proposals + room->proposal_count - at) * sizeof *at);
    m->proposed = false;
    m->replaced = true;
}

void dave_proposals_clear(struct dave_room *room)
{
    while (room->proposal_count)
        dave_proposal_free(room->proposals[--room->proposal_count]);
    for (EACH_MEMBER(m, room))
        m->proposed = m->replaced = false;
    room->commit_due = NEVER;
}
