/* ready.c - relationship fields of READY. */
#include "platform/relationships/friends.h"

#include "gateway/capabilities.h"
#include "platform/relationships/game_relationship_rows.h"
#include "platform/relationships/relationship_cache.h"
#include "platform/relationships/suggestions.h"

enum err write_ready_relationships(struct tx *tx, snowflake user_id,
                                   struct ready_event_writer *shape, struct json_writer *out)
{
    const struct encoded_members *relationships;
    struct list games;
    int64_t suggestions;

    enum err e = game_relationships_read(tx, user_id, 0, &games);
    if (!e)
        e = friend_suggestions_count(tx, user_id, &suggestions);
    if (!e)
        e = relationships_read_json(tx, user_id, ready_event_writer_has_user_list(shape),
                                    &relationships);
    if (e)
        return e;
    json_write_name(out, "relationships");
    write_ready_relationships_json(shape, relationships, out);
    json_write_name(out, "game_relationships");
    schema_encode(out, &type_game_relationships, &games);
    json_write_name(out, "friend_suggestion_count");
    json_write_int(out, suggestions);
    return OK;
}
