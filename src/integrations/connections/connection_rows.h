/* connection_rows.h - connections: accounts of other platforms that users have linked. */
#ifndef INTEGRATIONS_CONNECTED_H
#define INTEGRATIONS_CONNECTED_H

#include "model/integration.h"
#include "store/store.h"

/* The guild of an integration, with the fields that users outside the guild may see. */
struct integration_guild {
    snowflake id;
    struct str name;
    struct opt_str icon;
};
/* An integration whose guild the owner of the connection may join. */
struct integration_of_linked_account {
    struct str id; /* a snowflake, or PARTNERS_INTEGRATION_ID */
    struct str type;
    const struct integration_account *account;
    const struct integration_guild *guild;
};

struct linked_platform_account {
    snowflake user_id;
    struct str type; /* platform name in the database */
    struct str word; /* platform name in the API */
    struct str id, name;
    bool verified, revoked, friend_sync, show_activity, two_way_link;
    int64_t visibility, metadata_visibility;
    struct opt_list integrations; /* struct integration_of_linked_account */

    /* Never sent to clients. */
    bool is_partner;
    struct str secret; /* the provider's secret, encrypted; .p is NULL if the provider sent none */
};

extern const struct type type_connection, type_connections;

/* Reads the connections of a user. Does not set .integrations (see
 * read_integrations_of_linked_account). */
enum err read_linked_accounts_of_user(struct tx *tx, snowflake user_id, struct list *ret);
/* Reads a connection. `type` is the name of the platform in the database. Returns
 * ERR_UNKNOWN_CONNECTION if there is none. */
enum err read_linked_account(struct tx *tx, snowflake user_id, struct str type, struct str id,
                             struct linked_platform_account *ret);
/* Reads the connection that has this platform account; it may belong to any user. */
enum err read_linked_account_of_platform_account(struct tx *tx, struct str type, struct str id,
                                                 struct linked_platform_account *ret,
                                                 bool *ret_found);
enum err read_integrations_of_linked_account(struct tx *tx, struct linked_platform_account *c);

enum err write_connected_accounts_json(struct tx *tx, snowflake user_id, struct json_writer *out);

#endif
