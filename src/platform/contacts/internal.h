/* internal.h - declarations shared by the files of contacts/. */
#ifndef PLATFORM_CONTACTS_INTERNAL_H
#define PLATFORM_CONTACTS_INTERNAL_H

#include "platform/accounts/settings/settings.h"
#include "platform/contacts/contacts.h"
#include "platform/relationships/bulk_requests.h"
#include "platform/relationships/friends.h"
#include "platform/relationships/suggestions.h"

/* --- contact_schema.c ----------------------------------------------------------------- */

struct contact_account_body {
    struct str name;
    struct opt_bool friend_sync;
};
struct contact_entry {
    struct str friend_id;
    struct opt_str name;
};
struct contacts_body {
    struct list friend_list_entries; /* struct contact_entry */
    bool background, include_mutual_friends_count, add_reverse_friend_suggestions;
    int64_t allowed_in_suggestions; /* enum friend_suggestion_audience */
};
struct contacts_reply {
    struct opt_str bulk_add_token;
    struct list friend_suggestions; /* struct friend_suggestion */
};
/* Settings of an address book. The API shows an address book as a connection to a platform named
 * "contacts". */
struct contact_connection {
    struct str id, type, name;
    bool verified, revoked, friend_sync, show_activity, two_way_link;
    int64_t visibility, metadata_visibility;
    struct list integrations; /* always empty */
};
struct contact_settings {
    int64_t allowed_in_suggestions;
};
struct connections_changed_event {
    snowflake user_id;
};

extern const struct type contact_account_body, contact_account_reply, contacts_body, contacts_reply,
    contact_settings_reply;
extern const struct schema connections_changed_schema;

/* --- contact_rows.c: address books ---------------------------------------------------- */

/* To which users the owner of an address book may be suggested as a friend. */
enum friend_suggestion_audience { SUGGEST_TO_MUTUAL_CONTACTS = 1, SUGGEST_TO_EVERYBODY = 2 };

struct address_book {
    struct opt_str name; /* name of its owner; null if there is no address book */
    bool friend_sync;
    int64_t allowed_in_suggestions;
};
enum err address_book_find(struct tx *tx, snowflake user_id, struct address_book *ret);
enum err address_book_write(struct tx *tx, snowflake user_id, const struct address_book *l);

/* A contact of an address book as stored: name and digest of the phone number. */
struct address_book_contact {
    struct str digest;
    struct opt_str name;
};
struct str compute_phone_number_digest(const struct auth *auth, struct arena *arena,
                                       struct str number);
/* Replaces the contacts of an address book (struct address_book_contact). Sorts the list. */
enum err address_book_replace_contacts(struct tx *tx, snowflake user_id, struct list *contacts);
enum err address_book_contains_phone_number(struct tx *tx, snowflake user_id, struct str digest,
                                            bool *ret);

struct account_of_phone_number {
    snowflake id;
    struct str phone;
};
/* Finds the accounts (struct account_of_phone_number) whose phone numbers are in `entries` (struct
 * contact_entry). */
enum err users_find_by_phone(struct tx *tx, const struct list *entries, struct list *ret);
/* Lists the accounts whose address book contains the phone number with this digest, if they allow
 * suggestions to everybody. */
enum err list_address_book_owners_with_phone(struct tx *tx, struct str digest, struct list *ret);

#endif
