/* contact_schema.c - JSON schemas of the address book routes. */
#include "platform/contacts/internal.h"

static const struct type type_list_name = {
    .kind = KIND_STRING, .flags = TYPE_TRIM, .min = 1, .max = 100
};
static const struct type type_contact_name = { .kind = KIND_STRING, .max = 100 };
static const struct type type_allowed = {
    .kind = KIND_INT,
    .choices =
        (const struct enum_choice[]){
            { SUGGEST_TO_MUTUAL_CONTACTS, NULL, "MUTUAL_CONTACTS",
              "Only to users in the caller's address "
              "book" },
            { SUGGEST_TO_EVERYBODY, NULL, "ANYONE_WITH_CONTACT_INFO",
              "To all users who have the caller's "
              "number" },
            { 0 },
        },
};

static const struct field contact_account_body_fields[] = {
    { FIELD(struct contact_account_body, name), .type = &type_list_name },
    { FIELD(struct contact_account_body, friend_sync), .type = &type_bool, .flags = OPTIONAL },
    { 0 },
};
static const struct schema contact_account_body_schema = {
    .name = "ContactAccountPatch",
    .size = sizeof(struct contact_account_body),
    .fields = contact_account_body_fields,
    .doc = "The caller's address book.",
};
const struct type contact_account_body = { .kind = KIND_OBJECT,
                                           .schema = &contact_account_body_schema };

static const struct field contact_account_fields[] = {
    { FIELD(struct contact_connection, id), .type = &type_text },
    { FIELD(struct contact_connection, type), .type = &type_text },
    { FIELD(struct contact_connection, name), .type = &type_text },
    { FIELD(struct contact_connection, verified), .type = &type_bool },
    { FIELD(struct contact_connection, revoked), .type = &type_bool },
    { FIELD(struct contact_connection, visibility), .type = &type_count },
    { FIELD(struct contact_connection, metadata_visibility), .type = &type_count },
    { FIELD(struct contact_connection, friend_sync), .type = &type_bool },
    { FIELD(struct contact_connection, show_activity), .type = &type_bool },
    { FIELD(struct contact_connection, two_way_link), .type = &type_bool },
    { FIELD(struct contact_connection, integrations), .type = &type_always_empty_list },
    { 0 },
};
static const struct schema contact_account_schema = {
    .name = "ContactAccount",
    .size = sizeof(struct contact_connection),
    .fields = contact_account_fields,
    .doc = "An address book, in the format of a connection.",
};
const struct type contact_account_reply = { .kind = KIND_OBJECT,
                                            .schema = &contact_account_schema };

static const struct field contact_entry_fields[] = {
    { FIELD(struct contact_entry, friend_id), .type = &type_phone },
    { FIELD(struct contact_entry, name), .type = &type_contact_name, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema contact_entry_schema = {
    .name = "ContactEntry",
    .size = sizeof(struct contact_entry),
    .fields = contact_entry_fields,
    .doc = "A phone number, and its name in the address book.",
};
static const struct type type_contact_entry = { .kind = KIND_OBJECT,
                                                .schema = &contact_entry_schema };
static const struct type type_contact_entries = { .kind = KIND_ARRAY,
                                                  .of = &type_contact_entry,
                                                  .max = 10000 };

static const struct field contacts_fields[] = {
    { FIELD(struct contacts_body, friend_list_entries), .type = &type_contact_entries },
    { FIELD(struct contacts_body, background), .type = &type_bool, .flags = OPTIONAL,
      .doc = "Background synchronisation: the reply has no suggestions" },
    { FIELD(struct contacts_body, allowed_in_suggestions), .type = &type_allowed, .flags = OPTIONAL,
      .fallback = SUGGEST_TO_EVERYBODY },
    { FIELD(struct contacts_body, include_mutual_friends_count), .type = &type_bool,
      .flags = OPTIONAL },
    { FIELD(struct contacts_body, add_reverse_friend_suggestions), .type = &type_bool,
      .flags = OPTIONAL, .doc = "Also suggest users whose address book has the caller" },
    { 0 },
};
static const struct schema contacts_schema = {
    .name = "Contacts",
    .size = sizeof(struct contacts_body),
    .fields = contacts_fields,
    .doc = "All entries of the address book.",
};
const struct type contacts_body = { .kind = KIND_OBJECT, .schema = &contacts_schema };

static const struct field contacts_reply_fields[] = {
    { FIELD(struct contacts_reply, bulk_add_token), .type = &type_text, .flags = NULLABLE,
      .doc = "Valid for 15 minutes" },
    { FIELD(struct contacts_reply, friend_suggestions), .type = &type_friend_suggestions },
    { 0 },
};
static const struct schema contacts_reply_schema = {
    .name = "ContactsFound",
    .size = sizeof(struct contacts_reply),
    .fields = contacts_reply_fields,
    .doc = "Friend suggestions from the address book.",
};
const struct type contacts_reply = { .kind = KIND_OBJECT, .schema = &contacts_reply_schema };

static const struct field contact_settings_fields[] = {
    { FIELD(struct contact_settings, allowed_in_suggestions), .type = &type_allowed },
    { 0 },
};
static const struct schema contact_settings_schema = {
    .name = "ContactSettings",
    .size = sizeof(struct contact_settings),
    .fields = contact_settings_fields,
    .doc = "The users to whom the caller may be suggested.",
};
const struct type contact_settings_reply = { .kind = KIND_OBJECT,
                                             .schema = &contact_settings_schema };

static const struct field connections_changed_fields[] = {
    { FIELD(struct connections_changed_event, user_id), .type = &type_id },
    { 0 },
};
const struct schema connections_changed_schema = {
    .name = "ContactsChanged",
    .size = sizeof(struct connections_changed_event),
    .fields = connections_changed_fields,
    .doc = "The user whose connections changed.",
};
