/* rows.c - SQL of teams. */
#include "platform/teams/internal.h"

#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "platform/accounts/users.h"

static const struct str every_permission[] = { STR_INIT("*") };

static const char MEMBERS_OF_TEAM[] =
    "select t.team_id, t.state, t.role, " USER_COLUMNS
    " from team_members t join users u on u.id = t.user_id where t.team_id = $1 order by u.id";

static void team_member_from_row(const struct rows *r, void *ret)
{
    struct user *user = arena_alloc(tx_arena(r->tx), sizeof *user);

    user_from_row(r, 3, user);
    *(struct team_member *)ret = (struct team_member){
        .user = user,
        .team_id = row_id(r, 0),
        .membership_state = row_int(r, 1),
        .role = row_text(r, 2),
        .permissions = { (void *)every_permission, 1 },
    };
}

static const char FIND_TEAM[] = "select id, name, icon, owner_id from teams where id = $1";

enum err team_find(struct tx *tx, snowflake id, struct team *ret)
{
    struct rows row;
    enum err e = tx_one_or(tx, FIND_TEAM, BIND(v_id(id)), ERR_UNKNOWN_TEAM, &row);

    if (e)
        return e;
    *ret = (struct team){
        .id = row_id(&row, 0),
        .name = row_text(&row, 1),
        .icon = row_optional_text(&row, 2),
        .owner_user_id = row_id(&row, 3),
    };
    return tx_read_list(tx, MEMBERS_OF_TEAM, BIND(v_id(id)), sizeof(struct team_member),
                        team_member_from_row, &ret->members);
}

static const char TEAMS_OF_USER[] =
    "select team_id from team_members where user_id = $1 order by team_id";

enum err teams_read_of_user(struct tx *tx, snowflake user_id, struct list *ret)
{
    struct list ids;
    enum err e = tx_read_ids(tx, TEAMS_OF_USER, BIND(v_id(user_id)), &ids);

    *ret = (struct list){ 0 };
    for (size_t i = 0; i < ids.count && !e; i++)
        e = team_find(tx, ((snowflake *)ids.items)[i],
                      list_append(tx_arena(tx), ret, sizeof(struct team)));
    return e;
}

static const char ADD_TEAM[] =
    "insert into teams (id, name, icon, owner_id) values ($1, $2, $3, $4)";
static const char ADD_MEMBER[] =
    "insert into team_members (team_id, user_id, state, role, invite_digest) "
    "values ($1, $2, $3, $4, $5)";

enum err team_insert(struct tx *tx, const struct team *team)
{
    enum err e = tx_exec(tx, ADD_TEAM,
                         BIND(v_id(team->id), v_text(team->name),
                              sql_value_of_optional_text(team->icon), v_id(team->owner_user_id)),
                         NULL);

    if (e)
        return e;
    return tx_exec(tx, ADD_MEMBER,
                   BIND(v_id(team->id), v_id(team->owner_user_id), v_int(TEAM_MEMBER_ACCEPTED),
                        v_text(STR("admin")), v_null()),
                   NULL);
}

static const char SAVE_TEAM[] =
    "update teams set name = $2, icon = $3, owner_id = $4 where id = $1";

enum err team_update(struct tx *tx, const struct team *team)
{
    return tx_exec(tx, SAVE_TEAM,
                   BIND(v_id(team->id), v_text(team->name), sql_value_of_optional_text(team->icon),
                        v_id(team->owner_user_id)),
                   NULL);
}

static const char DELETE_TEAM[] = "delete from teams where id = $1";

enum err team_delete(struct tx *tx, snowflake id)
{
    return tx_exec(tx, DELETE_TEAM, BIND(v_id(id)), NULL);
}

static const char FIRST_APPLICATION[] = "select 1 from applications where team_id = $1 limit 1";

enum err team_has_applications(struct tx *tx, snowflake id, bool *ret)
{
    return tx_exists(tx, FIRST_APPLICATION, BIND(v_id(id)), ret);
}

static const char COUNT_TEAMS[] =
    "select count(*) from team_members where user_id = $1 and state = 2";

enum err count_teams_of_user(struct tx *tx, snowflake user_id, int64_t *ret)
{
    return tx_read_int(tx, COUNT_TEAMS, BIND(v_id(user_id)), ret);
}

enum err team_member_insert(struct tx *tx, const struct team_member *m, struct str digest)
{
    return tx_exec(tx, ADD_MEMBER,
                   BIND(v_id(m->team_id), v_id(m->user->id), v_int(m->membership_state),
                        v_text(m->role), v_bytes(digest)),
                   NULL);
}

static const char SET_ROLE[] =
    "update team_members set role = $3 where team_id = $1 and user_id = $2";
static const char SET_ACCEPTED[] =
    "update team_members set state = 2 where team_id = $1 and user_id = $2";
static const char DELETE_MEMBER[] = "delete from team_members where team_id = $1 and user_id = $2";

enum err team_member_set_role(struct tx *tx, snowflake team_id, snowflake user_id, struct str role)
{
    return tx_exec(tx, SET_ROLE, BIND(v_id(team_id), v_id(user_id), v_text(role)), NULL);
}

enum err team_member_accept(struct tx *tx, snowflake team_id, snowflake user_id)
{
    return tx_exec(tx, SET_ACCEPTED, BIND(v_id(team_id), v_id(user_id)), NULL);
}

enum err team_member_delete(struct tx *tx, snowflake team_id, snowflake user_id)
{
    return tx_exec(tx, DELETE_MEMBER, BIND(v_id(team_id), v_id(user_id)), NULL);
}

static const char FIND_INVITATION[] =
    "select team_id from team_members where user_id = $1 and invite_digest = $2";

enum err team_find_by_invitation(struct tx *tx, snowflake user_id, struct str digest,
                                 snowflake *ret_team)
{
    return tx_read_id(tx, FIND_INVITATION, BIND(v_id(user_id), v_bytes(digest)), ret_team);
}
