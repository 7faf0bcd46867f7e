/* library_bodies.c - request bodies as real libraries and scripts send them, accepted and
 * refused. */
#include "apps.h"
#include "channel_events.h"
#include "test_app.h"

#define JSON "application/json"
#define FORM "application/x-www-form-urlencoded"

/* A request. In path and body, $C is the channel, $G the guild, $A the application, $H the
 * webhook with its token, $R a role, $M a message of the caller, $U the caller's id. */
struct library_body {
    const char *library, *method, *path, *type, *body;
    int status;
    const char *field, *code; /* 400: the field error; otherwise a field that the response has, or
                                 lacks if code is "absent" */
};

#define MESSAGE(library_, body_)     library_, "POST", "/channels/$C/messages", JSON, body_
#define HOOK(library_, type_, body_) library_, "POST", "/webhooks/$H?wait=true", type_, body_
#define COMMAND(library_, body_)     library_, "POST", "/applications/$A/commands", JSON, body_
#define ROLE(library_, body_)        library_, "POST", "/guilds/$G/roles", JSON, body_
#define CHANNEL(library_, body_)     library_, "POST", "/guilds/$G/channels", JSON, body_
#define GIF_LINES \
    "data:image/gif;base64,R0lGODlhAQABAIAAAAAA\\nAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7\\n"

static const struct library_body accepted[] = {
    /* Digits as strings for integers. */
    { COMMAND("JDA", "{'name':'a','description':'d','type':1,'contexts':['0','1'],"
                     "'integration_types':['0']}"),
      201, "contexts.1", NULL },
    { COMMAND("scripts", "{'name':'b','description':'d','type':'1','options':[{'type':'4','name':"
                         "'n','description':'d','min_value':'1','channel_types':[]}]}"),
      201, "options.0.min_value", NULL },
    { MESSAGE("scripts", "{'content':'x','flags':'4','embeds':[{'title':'t','color':'255'}]}"), 200,
      "embeds.0.color", NULL },
    { "scripts", "POST", "/channels/$C/invites", JSON, "{'max_age':'0','max_uses':'5'}", 200,
      "code", NULL },
    { CHANNEL("scripts", "{'name':'v','type':'2','bitrate':'64000'}"), 201, "bitrate", NULL },
    { ROLE("Concord", "{'name':'r','permissions':'1024','color':0,'hoist':false,'icon':'',"
                      "'unicode_emoji':'','mentionable':false}"),
      200, "id", NULL },
    { HOOK("Concord", JSON,
           "{'content':'x','username':'','avatar_url':'','tts':false,"
           "'flags':'4'}"),
      200, "id", NULL },
    /* Empty parts of embeds. */
    { MESSAGE("KevinNovak", "{'embeds':[{'description':'Pong','thumbnail':{},'footer':{},"
                            "'author':{},'image':{'url':null}}]}"),
      200, "embeds.0.footer", "absent" },
    { MESSAGE("Concord", "{'content':'','embeds':[{'title':'t','type':'','description':'','url':'',"
                         "'color':0,'footer':{'text':'','icon_url':''},'image':{'url':''}}]}"),
      200, "embeds.0.image", "absent" },
    { MESSAGE("discordgo", "{'content':'x','embeds':[{'title':'t','footer':{'icon_url':"
                           "'https://example.com/a.png'}}],'tts':false}"),
      200, "embeds.0.footer.icon_url", NULL },
    { MESSAGE("py-cord", "{'embeds':[{'title':'t','type':'rich','color':16711680,'author':"
                         "{'name':null,'icon_url':'https://example.com/a.png'}}]}"),
      200, "embeds.0.author.icon_url", NULL },
    /* Timestamps. */
    { HOOK("python-discord-webhook", JSON,
           "{'embeds':[{'title':'t','timestamp':"
           "'2023-11-14T22:13:20'}],'attachments':[]}"),
      200, "embeds.0.timestamp", NULL },
    { HOOK("Ruby", JSON, "{'embeds':[{'title':'t','timestamp':'2023-11-14 22:13:20 +0000'}]}"), 400,
      "embeds.0.timestamp", "DATE_TIME_TYPE_PARSE" },
    { HOOK("MySQL", JSON, "{'embeds':[{'title':'t','timestamp':'2023-11-14 22:13:20'}]}"), 200,
      "embeds.0.timestamp", NULL },
    { MESSAGE("WOKCommands", "{'embeds':[{'title':'Help','timestamp':0,'color':null}]}"), 200,
      "embeds.0.timestamp", "absent" },
    /* Form bodies. */
    { HOOK("curl -d", FORM, "content=hi+there&username=curl"), 200, "content", NULL },
    { HOOK("curl -d", FORM, "payload_json=%7B%22content%22%3A%22hi%22%7D"), 200, "content", NULL },
    { HOOK("curl -d", FORM, "content=hi&tts=false&flags=4&avatar_url="), 200, "id", NULL },
    { "curl -d", "POST", "/channels/$C/messages", FORM, "content=hi", 200, "content", NULL },
    { "curl -d", "PATCH", "/channels/$C/messages/$M", FORM, "content=ho", 200, "content", NULL },
    { "curl -d", "POST", "/channels/$C/threads", FORM, "name=talk&type=11", 201, "id", NULL },
    { "curl -d", "POST", "/channels/$C/invites", FORM, "max_age=3600", 200, "code", NULL },
    { HOOK("curl -F", "multipart/form-data; boundary=x",
           "--x\r\nContent-Disposition: form-data; "
           "name=\"content\"\r\n\r\nhi & ho\r\n--x--\r\n"),
      200, "content", NULL },
    /* Base64 images with line breaks. */
    { "discordrb", "POST", "/guilds/$G/emojis", JSON,
      "{'name':'dot','image':'" GIF_LINES "','roles':[]}", 201, "id", NULL },
    { "discordrb", "POST", "/channels/$C/webhooks", JSON,
      "{'name':'Post','avatar':'" GIF_LINES "'}", 200, "avatar", NULL },
    /* Fields of other component types. */
    { MESSAGE("Concord", "{'content':'x','components':[{'type':1,'custom_id':'','label':'','url':"
                         "'','placeholder':'','min_values':0,'max_values':0,'min_length':0,"
                         "'max_length':0,'required':false,'value':'','spoiler':false,'spacing':0,"
                         "'components':[{'type':2,'custom_id':'b','style':1,'label':'Press','url':"
                         "'','placeholder':'','min_values':0,'max_values':0,'min_length':0,"
                         "'max_length':0,'required':false,'value':'','spoiler':false,"
                         "'spacing':0}]}]}"),
      200, "components.0.custom_id", "absent" },
    { MESSAGE("Concord", "{'content':'x','components':[{'type':1,'components':[{'type':2,"
                         "'custom_id':'','style':5,'label':'Go','url':'https://example.com'}]}]}"),
      200, "components.0.components.0.url", NULL },
    /* Structs that are sent whole, with the zero value of each unset field. */
    { MESSAGE("discordgo", "{'content':'x','embeds':null,'tts':false,'components':null,"
                           "'allowed_mentions':null,'message_reference':null,'sticker_ids':null,"
                           "'flags':0}"),
      200, "content", NULL },
    { COMMAND("discordgo", "{'name':'c','description':'d','type':1,'version':'','options':null,"
                           "'default_member_permissions':null,'dm_permission':null,'nsfw':false}"),
      201, "id", NULL },
    { COMMAND("JDA", "{'name':'e','description':'d','type':1,'options':[{'name':'o','description':"
                     "'d','type':3,'required':true,'autocomplete':false,'name_localizations':{},"
                     "'description_localizations':{},'choices':[]}],'nsfw':false,"
                     "'default_member_permissions':null,'name_localizations':{},"
                     "'description_localizations':{},'contexts':['0'],'integration_types':['0']}"),
      201, "options.0.name", NULL },
    { MESSAGE("JDA", "{'content':'x','embeds':[],'components':[],'attachments':[],'tts':false,"
                     "'flags':0,'allowed_mentions':{'parse':['users','roles','everyone'],"
                     "'replied_user':true},'enforce_nonce':false}"),
      200, "id", NULL },
    { MESSAGE("discordrb", "{'content':'x','tts':false,'embeds':[],'nonce':null,"
                           "'allowed_mentions':null,'message_reference':null,'components':[]}"),
      200, "id", NULL },
    { CHANNEL("discordrb", "{'name':'d','type':0,'topic':null,'bitrate':null,'user_limit':null,"
                           "'permission_overwrites':null,'parent_id':null,'nsfw':null,"
                           "'rate_limit_per_user':null,'position':null}"),
      201, "id", NULL },
    { ROLE("discordgo", "{'name':'r','color':255,'hoist':false,'permissions':'1024',"
                        "'mentionable':true}"),
      200, "color", NULL },
    { "discord.js 12", "PATCH", "/channels/$C/messages/$M", JSON,
      "{'content':'x','embed':{'title':'t','type':'rich','description':null,'url':null,"
      "'timestamp':null,'color':null,'fields':[],'thumbnail':null,'image':null,'author':null,"
      "'footer':null},'flags':null,'allowed_mentions':null}",
      200, "embeds.0.title", NULL },
    { MESSAGE("eris 0.16", "{'content':'x','embed':{'title':'t'},'tts':false,"
                           "'allowed_mentions':{'parse':['users','roles']}}"),
      200, "embeds.0.title", NULL },
    /* Overwrites. */
    { "discordrb", "PUT", "/channels/$C/permissions/$R", JSON,
      "{'type':'role','id':$R,'allow':0,'deny':2048}", 204, NULL, NULL },
    { "discordrb", "PUT", "/channels/$C/permissions/$U", JSON,
      "{'type':'member','id':$U,'allow':2048,'deny':0}", 204, NULL, NULL },
    { CHANNEL("scripts", "{'name':'o','permission_overwrites':[{'id':'$R','deny':'1024'},"
                         "{'id':'$U','allow':'1024','type':null}]}"),
      201, "permission_overwrites.1.type", NULL },
#include "library_routes.def"
};

static const struct library_body refused[] = {
    { COMMAND("words", "{'name':'z','description':'d','type':'chat'}"), 400, "type",
      "NUMBER_TYPE_COERCE" },
    { COMMAND("words", "{'name':'z','description':'d','contexts':['guild']}"), 400, "contexts.0",
      "NUMBER_TYPE_COERCE" },
    { COMMAND("choices", "{'name':'z','description':'d','contexts':['9']}"), 400, "contexts.0",
      "BASE_TYPE_CHOICES" },
    { MESSAGE("words", "{'content':'x','flags':'silent'}"), 400, "flags", "NUMBER_TYPE_COERCE" },
    { MESSAGE("fractions", "{'content':'x','flags':'4.0'}"), 400, "flags", "NUMBER_TYPE_COERCE" },
    { MESSAGE("fractions", "{'content':'x','flags':4.5}"), 400, "flags", "NUMBER_TYPE_COERCE" },
    { MESSAGE("booleans", "{'content':'x','flags':true}"), 400, "flags", "NUMBER_TYPE_COERCE" },
    { MESSAGE("limits", "{'embeds':[{'title':'t','color':'16777216'}]}"), 400, "embeds.0.color",
      "NUMBER_TYPE_MAX" },
    { MESSAGE("empty", "{'embeds':[{'thumbnail':{},'footer':{}}]}"), 400, "embeds.0.description",
      "BASE_TYPE_REQUIRED" },
    { MESSAGE("empty", "{'embeds':[{'fields':[{'name':'n'}]}]}"), 400, "embeds.0.fields.0.value",
      "BASE_TYPE_REQUIRED" },
    { MESSAGE("dates", "{'embeds':[{'title':'t','timestamp':1700000000}]}"), 400,
      "embeds.0.timestamp", "DATE_TIME_TYPE_PARSE" },
    { MESSAGE("dates", "{'embeds':[{'title':'t','timestamp':'yesterday'}]}"), 400,
      "embeds.0.timestamp", "DATE_TIME_TYPE_PARSE" },
    { MESSAGE("own fields", "{'content':'x','components':[{'type':1,'components':[{'type':2,"
                            "'custom_id':'','style':1,'label':'Press'}]}]}"),
      400, "components.0.components.0.custom_id", "BASE_TYPE_REQUIRED" },
    { CHANNEL("words", "{'name':'o','permission_overwrites':[{'id':'$R','type':'user'}]}"), 400,
      "permission_overwrites.0.type", "NUMBER_TYPE_COERCE" },
    { ROLE("words", "{'permissions':'all'}"), 400, "permissions", "NUMBER_TYPE_COERCE" },
    { "forms", "POST", "/channels/$C/messages", FORM, "content=hi&flags=silent", 400, "flags",
      "NUMBER_TYPE_COERCE" },
    { "forms", "POST", "/channels/$C/messages", FORM, "content=hi&embed=5", 400, "embed",
      "MODEL_TYPE_CONVERT" },
    { "forms", "POST", "/channels/$C/messages", FORM, "content=hi&embeds=5", 400, "embeds.0",
      "MODEL_TYPE_CONVERT" },
    { "forms", "POST", "/guilds/$G/roles", FORM, "name=r", 400, "", "CONTENT_TYPE_INVALID" },
    { "forms", "POST", "/channels/$C/messages", "text/plain", "hi", 400, "",
      "CONTENT_TYPE_INVALID" },
};

struct names {
    const char *values['Z' - 'A' + 1];
};

/* Returns the text with its $X replaced, and single quotes made double in JSON. */
static struct str fill_template(struct world *w, const struct names *names, const char *text,
                                bool json)
{
    struct buf out;

    buf_init(&out, 16 * 1024);
    for (; *text; text++) {
        if (*text == '$')
            buf_add_str(&out, str_of(names->values[*++text - 'A']));
        else
            buf_add_char(&out, json && *text == '\'' ? '"' : *text);
    }
    return buf_move_to_arena(&out, world_arena(w));
}

static void check_client_library_body_is_accepted(struct client *c, const struct names *names,
                                                  const struct library_body *b)
{
    struct world *w = c->world;
    struct str path = fill_template(w, names, b->path, false);
    struct str body = fill_template(w, names, b->body, !strncmp(b->type, JSON, strlen(JSON)));
    struct answer a = client_request(c, b->method, TEXT(w, "/api/v10%.*s", STR_ARGS(path)),
                                     TEXT(w, "Content-Type: %s\r\n", b->type), body);

    a.call = TEXT(w, "%s: %s", b->library, a.call);
    if (b->status == 400)
        expect_invalid(a, b->field, b->code);
    else if (expect_status(a, b->status), b->field && !b->code)
        answer_text(a, b->field);
    else if (b->field)
        expect_absent(a, b->field);
}

/* Creates a guild with the objects that the bodies refer to; the bot is an administrator. */
static struct client *create_library_bot(struct world *w, struct names *n)
{
    struct test_app s = world_test_app(w);
    const char **v = n->values;

    world_sql(w, "update roles set permissions = 8 where id = %s", s.guild);
    struct answer a = client_post(s.bot, "{'name': 'room'}", "/guilds/%s/channels", s.guild);
    expect_status(a, 201);
    v['G' - 'A'] = s.guild;
    v['A' - 'A'] = s.app;
    v['C' - 'A'] = answer_text(a, "id");
    v['U' - 'A'] = s.bot->id;
    v['M' - 'A'] = say_text(s.bot, v['C' - 'A'], "hello");
    put_role_on(s.guild, s.bot, make_role(s.ada, s.guild, "{'name': 'bot'}"));
    v['R' - 'A'] =
        answer_text(client_post(s.bot, "{'name': 'mods'}", "/guilds/%s/roles", s.guild), "id");
    a = client_post(s.bot, "{'name': 'Post'}", "/channels/%s/webhooks", v['C' - 'A']);
    v['H' - 'A'] = TEXT(w, "%s/%s", answer_text(a, "id"), answer_text(a, "token"));
    return s.bot;
}

static void request_bodies_of_known_libraries_are_accepted(struct world *w)
{
    struct names names = { 0 };
    struct client *bot = create_library_bot(w, &names);

    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++)
        check_client_library_body_is_accepted(bot, &names, &accepted[i]);
}

static void integer_fields_refuse_words_fractions_and_booleans(struct world *w)
{
    struct names names = { 0 };
    struct client *bot = create_library_bot(w, &names);

    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        check_client_library_body_is_accepted(bot, &names, &refused[i]);
}

static void overwrite_without_type_gets_the_type_of_its_id(struct world *w)
{
    struct names names = { 0 };
    struct client *bot = create_library_bot(w, &names);
    const char **v = names.values, *role = v['R' - 'A'];

    struct answer a = client_post(
        bot,
        TEXT(w, "{'name':'o','permission_overwrites':[{'id':'%s'},{'id':'%s'}]}", role, bot->id),
        "/guilds/%s/channels", v['G' - 'A']);
    expect_json(a, "{'permission_overwrites': [{'id': '%s', 'type': 1}, {'id': '%s', 'type': 0}]}",
                bot->id, role);
    expect_status(
        client_patch(bot, TEXT(w, "{'permission_overwrites':[{'id':'%s','deny':'1024'}]}", role),
                     "/channels/%s", v['C' - 'A']),
        200);
    expect_json(client_get(bot, "/channels/%s", v['C' - 'A']),
                "{'permission_overwrites': [{'id': '%s', 'type': 0, 'deny': '1024'}]}", role);
    expect_error(client_post(bot, "{'name':'o','permission_overwrites':[{'id':'5'}]}",
                             "/guilds/%s/channels", v['G' - 'A']),
                 404, 10007);
}

const struct test library_bodies_tests[] = {
    TEST(request_bodies_of_known_libraries_are_accepted),
    TEST(integer_fields_refuse_words_fractions_and_booleans),
    TEST(overwrite_without_type_gets_the_type_of_its_id),
    { 0 },
};
