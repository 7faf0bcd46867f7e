/* connected.h - accounts of other platforms that people have connected to theirs. */
#ifndef INTEGRATIONS_CONNECTED_H
#define INTEGRATIONS_CONNECTED_H

#include "model/integration.h"
#include "store/store.h"

/* The guild of an integration, as those outside see it. */
struct integration_guild {
    snowflake id;
    struct str name;
    struct opt_str icon;
};
/* An integration that a connection lets its owner join. */
struct connection_integration {
    struct str id; /* a snowflake, or PARTNERS_ID */
    struct str type;
    const struct integration_account *account;
    const struct integration_guild *guild;
};

struct linked_account {
    snowflake user_id;
    struct str type; /* the store's word */
    struct str word; /* what is shown */
    struct str id, name;
    bool verified, revoked, friend_sync, show_activity, two_way_link;
    int64_t visibility, metadata_visibility;
    struct opt_list integrations; /* struct connection_integration */

    /* Not shown to anybody. */
    bool is_partner;
    struct str secret; /* encrypted; p == NULL: none */
};

extern const struct type type_connection, type_connections;
extern const struct type type_integration_guild;

/* Without .integrations; connection_load_integrations adds them. */
enum err connections_of(struct tx *tx, snowflake user_id, struct list *ret);
/* ERR_UNKNOWN_CONNECTION. type: the store's word. */
enum err connection_find(struct tx *tx, snowflake user_id, struct str type, struct str id,
                         struct linked_account *ret);
/* Whoever has it. */
enum err connection_of_account(struct tx *tx, struct str type, struct str id,
                               struct linked_account *ret, bool *ret_found);
enum err connection_load_integrations(struct tx *tx, struct linked_account *c);

/* For READY: "connected_accounts". */
enum err connections_write(struct tx *tx, snowflake user_id, struct json *out);

#endif
