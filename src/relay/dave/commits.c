/* commits.c - checks the commits of members of a DAVE group and applies the first valid one. */
#include "relay/dave/group_state.h"

/* Returns whether the commit references each outstanding proposal exactly once, and no other
 * proposals. The initial commit need not reference the Add of its own sender. */
static bool commit_matches_proposals(const struct dave_room *room, const struct dave_member *m,
                                     const struct mls_commit *c)
{
    size_t own = room->established ? 0 : 1;

    if (c->reference_count + own != room->proposal_count)
        return false;
    for (size_t i = 0; i < room->proposal_count; i++)
        room->proposals[i]->matched =
            !room->established && dave_add_proposal_is_for_member(room->proposals[i], m);
    for (size_t i = 0; i < c->reference_count; i++) {
        struct dave_proposal *p =
            find_proposal_by_reference(room, mls_commit_proposal_reference_at(c, i));

        if (!p || p->matched)
            return false;
        p->matched = true;
    }
    return true;
}

/* Returns whether the new leaf node in the commit has the committer's user id and signature key. */
static bool commit_path_is_valid(const struct dave_room *room, const struct dave_member *m,
                                 const struct mls_commit *c)
{
    const char *key = room->established ? room->leaves[m->leaf].signature_key : m->signature_key;

    return !c->has_path || (c->path.user == m->user &&
                            str_eq(c->path.signature_key, str_slice(key, MLS_PUBLIC_KEY)) &&
                            mls_commit_verify_path(c));
}

/* Returns whether the Welcome has secrets for each added member and for no other member. */
static bool welcome_has_secrets_for_added(const struct dave_room *room, const struct mls_commit *c,
                                          const struct mls_welcome *w)
{
    size_t adds = 0;

    for (size_t i = 0; i < room->proposal_count; i++)
        adds += room->proposals[i]->adds;
    adds -= room->established ? 0 : 1;
    /* Check the count first, because an invalid Welcome can have thousands of entries to search. */
    if (w->secret_count != adds)
        return false;
    for (size_t i = 0; i < c->reference_count; i++) {
        const struct dave_proposal *p =
            find_proposal_by_reference(room, mls_commit_proposal_reference_at(c, i));

        if (p->adds && !mls_welcome_has_secrets_for(w, p->package_ref))
            return false;
    }
    return true;
}

static bool commit_has_group_id_of_room(const struct dave_room *room, const struct mls_commit *c)
{
    struct mls_reader r = { .rest = c->group };

    return c->group.n == sizeof room->config.group &&
           mls_read_number(&r, sizeof room->config.group) == room->config.group;
}

static enum dave_message_result parse_and_check_commit(const struct dave_room *room,
                                                       const struct dave_member *m,
                                                       struct str payload,
                                                       struct mls_commit *ret_commit,
                                                       struct mls_welcome *ret_welcome)
{
    struct mls_reader r = { .rest = payload };

    *ret_welcome = (struct mls_welcome){ 0 };
    if (payload.n > DAVE_COMMIT_BYTES || !mls_commit_read(&r, ret_commit) ||
        (r.rest.n && !mls_welcome_read(&r, ret_welcome)) || r.rest.n ||
        !commit_has_group_id_of_room(room, ret_commit))
        return DAVE_REFUSED;
    if (ret_commit->epoch != room->epoch || !room->proposal_count ||
        !(room->established ? m->leaf != NO_LEAF : m->proposed) ||
        !commit_matches_proposals(room, m, ret_commit))
        return DAVE_OUTDATED;
    if (ret_commit->leaf != (room->established ? (uint32_t)m->leaf : 0) ||
        !commit_path_is_valid(room, m, ret_commit) ||
        !welcome_has_secrets_for_added(room, ret_commit, ret_welcome))
        return DAVE_REFUSED;
    return DAVE_ACCEPTED;
}

static void send_dave_commit_to_member(struct dave_room *room, struct dave_member *m,
                                       enum dave_opcode op, const struct buf *payload)
{
    m->in_transition = room->transition;
    m->ready = false;
    room->recipients += m->user != room->committer;
    dave_member_send_binary_message(room, m, op, payload);
}

/* Sends the commit to the members that were in the group before the commit and stay in it. */
static void send_commit_to_old_members(struct dave_room *room, const struct mls_commit *c)
{
    struct buf payload;

    buf_init(&payload, PAYLOAD_MAX);
    mls_write_number(&payload, room->transition, 2);
    buf_add_str(&payload, c->bytes);
    for (EACH_MEMBER(m, room))
        if (m->leaf != NO_LEAF)
            send_dave_commit_to_member(room, m, DAVE_ANNOUNCE_COMMIT, &payload);
    buf_clear(&payload);
}

/* Assigns a leaf to the member that the Add proposal names. If the member has meanwhile left or
 * sent another key package, the leaf has no participant, and the next round removes it. */
static void apply_add_proposal(struct dave_room *room, const struct dave_proposal *p,
                               const struct mls_welcome *w)
{
    int leaf = allocate_dave_leaf_for_user(room, p->user, p->signature_key);
    struct dave_member *m = map_find_value(&room->members, p->user);
    struct buf payload;

    if (!m || m->leaf != NO_LEAF || !m->package.n ||
        memcmp(m->package_ref, p->package_ref, MLS_HASH) != 0)
        return;
    m->leaf = leaf;
    drop_key_package_of_member(m);
    buf_init(&payload, PAYLOAD_MAX);
    mls_write_number(&payload, room->transition, 2);
    mls_welcome_write(w, p->package_ref, &payload);
    send_dave_commit_to_member(room, m, DAVE_WELCOME, &payload);
    buf_clear(&payload);
}

/* Applies a commit: first the Remove proposals, then the Add proposals in the order of their
 * references (hashes). */
static void apply_winning_commit(struct dave_room *room, struct dave_member *committer,
                                 const struct mls_commit *c, const struct mls_welcome *w,
                                 int64_t now)
{
    if (room->media)
        dave_transition_start(room, now);
    if (!room->established) {
        committer->leaf =
            allocate_dave_leaf_for_user(room, committer->user, committer->signature_key);
        drop_key_package_of_member(committer);
    }
    room->established = room->media = true;
    room->epoch++;
    room->failures = 0;
    room->config.counters->epochs++;
    room->committer = committer->user;
    room->recipients = room->reports = 0;
    for (size_t i = 0; i < room->proposal_count; i++)
        if (!room->proposals[i]->adds)
            room->leaves[room->proposals[i]->leaf].used = false;
    send_commit_to_old_members(room, c);
    for (size_t i = 0; i < c->reference_count; i++) {
        const struct dave_proposal *p =
            find_proposal_by_reference(room, mls_commit_proposal_reference_at(c, i));

        if (p->adds)
            apply_add_proposal(room, p, w);
    }
    dave_proposals_clear(room);
    start_dave_proposal_round(room, now);
}

enum dave_message_result dave_room_handle_commit(struct dave_room *room, snowflake user,
                                                 struct str payload, int64_t now)
{
    struct dave_member *m = map_find_value(&room->members, user);
    struct mls_commit c;
    struct mls_welcome w;

    if (!m || !room->version || m->distrusted)
        return DAVE_OUTDATED;
    enum dave_message_result verdict = parse_and_check_commit(room, m, payload, &c, &w);
    if (verdict == DAVE_REFUSED)
        room->config.counters->refused_commits++;
    else if (verdict == DAVE_ACCEPTED)
        apply_winning_commit(room, m, &c, &w, now);
    return verdict;
}
