/* group_state.h - state of a DAVE group (group.h), shared by the files that implement it. */
#ifndef RELAY_DAVE_GROUP_STATE_H
#define RELAY_DAVE_GROUP_STATE_H

#include "base/links.h"
#include "base/map.h"
#include "base/mem.h"
#include "relay/dave/group.h"

enum {
    NO_LEAF = -1,
    FIRST_EPOCH = 1, /* epoch that opcode 24 announces for a new group */
    TRANSITION_MAX = UINT16_MAX,
    PROPOSALS_APPEND = 0,
    PROPOSALS_REVOKE = 1,
    /* Each member has at most one Add proposal and one Remove proposal. */
    PROPOSALS_MAX = 2 * DAVE_MEMBERS_MAX,
    PAYLOAD_MAX = PROPOSALS_MAX * MLS_PROPOSAL,
};

struct dave_member {
    struct list_link link;
    snowflake user;
    bool plain;     /* the client does not support DAVE */
    bool described; /* opcode 4 was sent */
    /* The member's Add proposal was revoked, because the member sent another key package. */
    bool replaced;
    /* Before the group is established: the member's Add proposal was sent to the other members. */
    bool proposed;
    bool in_transition; /* opcode 22 of the running transition is sent to this member */
    bool ready;         /* sent opcode 23 */
    /* The member's commits are ignored, because most recipients could not process one of them. */
    bool distrusted;
    int leaf; /* or NO_LEAF */
    /* Numbers of key packages that the server expects but has not received: requested by opcode 4
     * or 24, announced by opcode 31. The client sends a key package for each request and
     * announcement; only the last package that arrives is valid. */
    unsigned requested, announced;
    /* Key package that is not used in an Add proposal yet; empty if there is none. */
    struct buf package;
    unsigned char package_ref[MLS_HASH];
    char signature_key[MLS_PUBLIC_KEY];
    /* Signed proposal to add this member, valid in epoch add_epoch. It is signed when the key
     * package arrives, because 100 signatures at the start of a round would delay media. */
    struct buf add;
    unsigned char add_ref[MLS_HASH];
    uint64_t add_epoch;
    /* Ring buffer with the arrival times of the latest key packages that were not requested. */
    int64_t package_times[DAVE_KEY_PACKAGES];
    unsigned package_count;
};

struct dave_leaf {
    bool used;
    snowflake user;
    char signature_key[MLS_PUBLIC_KEY];
};

struct dave_proposal {
    unsigned char ref[MLS_HASH];
    bool adds;
    uint32_t leaf; /* to remove */
    /* To add: */
    snowflake user;
    unsigned char package_ref[MLS_HASH];
    char signature_key[MLS_PUBLIC_KEY];
    struct buf message;
    bool matched; /* the commit that is being checked references this proposal */
};

struct dave_room {
    struct dave_config config;
    struct map members;     /* by user id */
    struct list_link order; /* members by time of joining */
    size_t plain_count;
    bool too_large;
    unsigned version;
    bool media; /* Participants may have exchanged media, so a transition must not be immediate. */

    bool established;
    uint64_t epoch;
    struct dave_leaf *leaves; /* DAVE_MEMBERS_MAX; allocated with the first group */
    int leaf_count;
    struct dave_proposal **proposals; /* outstanding; PROPOSALS_MAX */
    size_t proposal_count;
    snowflake committer; /* sender of the latest commit */
    /* Number of members that received the latest commit, and number of those that reported it
     * invalid. */
    unsigned recipients, reports;

    /* Id of the running transition, or 0; id of the latest transition. */
    unsigned transition, last_transition;
    int64_t transition_due, commit_due, round_due;
    int64_t round_time; /* time of the latest opcode 27 */
    int64_t not_before; /* the next round waits until then */
    unsigned failures;  /* consecutive resets without a commit */
};

#define NEVER INT64_MAX
#define EACH_MEMBER(m, room)                                            \
    struct dave_member *m = dave_member_at((room), (room)->order.next); \
    m;                                                                  \
    m = dave_member_at((room), m->link.next)

static inline struct dave_member *dave_member_at(const struct dave_room *room,
                                                 struct list_link *link)
{
    return link == &room->order ? NULL : container_of(link, struct dave_member, link);
}

/* --- transitions.c ------------------------------------------------------------------------- */

void dave_member_send_binary_message(struct dave_room *room, const struct dave_member *m,
                                     enum dave_opcode op, const struct buf *payload);
void send_dave_external_sender_package(struct dave_room *room, struct dave_member *m);
void send_dave_prepare_epoch(struct dave_room *room, const struct dave_member *m);
void send_dave_prepare_transition(struct dave_room *room, const struct dave_member *m,
                                  unsigned version, unsigned transition);
/* Ends the running transition: when all its members are ready (dave_transition_finish_if_ready), or
 * at its time limit. */
void dave_transition_finish(struct dave_room *room);
void dave_transition_start(struct dave_room *room, int64_t now);
void dave_transition_finish_if_ready(struct dave_room *room);

/* --- proposals.c --------------------------------------------------------------------------- */

void create_dave_add_proposal(struct dave_room *room, struct dave_member *m);
void create_dave_remove_proposal(struct dave_room *room, uint32_t leaf);
bool dave_add_proposal_is_for_member(const struct dave_proposal *p, const struct dave_member *m);
/* Sends the outstanding proposals from index `from` on to a member. */
void send_dave_proposals_to_member(struct dave_room *room, const struct dave_member *m,
                                   size_t from);
struct dave_proposal **find_dave_add_proposal_of_member(const struct dave_room *room,
                                                        const struct dave_member *m);
struct dave_proposal *find_proposal_by_reference(const struct dave_room *room, const char *ref);
void revoke_add_proposal_of_member(struct dave_room *room, struct dave_member *m);
void dave_proposals_clear(struct dave_room *room);
void sign_add_proposal_of_member(struct dave_room *room, struct dave_member *m);

/* --- rounds.c ------------------------------------------------------------------------------ */

/* dave_group_discard discards the group. dave_group_reset also requests a key package from every
 * client, to create a new group. */
void dave_group_discard(struct dave_room *room);
void dave_group_reset(struct dave_room *room);
void dave_group_reset_if_unusable(struct dave_room *room);
int allocate_dave_leaf_for_user(struct dave_room *room, snowflake user, const char *signature_key);
/* Proposes all changes that were not proposed yet, if no proposals are outstanding and no
 * transition is running. */
void start_dave_proposal_round(struct dave_room *room, int64_t now);
void drop_key_package_of_member(struct dave_member *m);

#endif
