#include "game/kinds/kauwa_udd_objects.h"

#include "game/record.h"

#include <string.h>

/* Things that fly, things that do not, and things that make people think for half a second. */
static const struct {
    const char *id, *emoji, *en, *hi;
    bool flies;
} list[] = {
    {"crow", "🐦‍⬛", "Crow", "कौआ", true},
    {"sparrow", "🐦", "Sparrow", "चिड़िया", true},
    {"parrot", "🦜", "Parrot", "तोता", true},
    {"eagle", "🦅", "Eagle", "चील", true},
    {"owl", "🦉", "Owl", "उल्लू", true},
    {"pigeon", "🕊️", "Pigeon", "कबूतर", true},
    {"duck", "🦆", "Duck", "बत्तख़", true},
    {"swan", "🦢", "Swan", "हंस", true},
    {"flamingo", "🦩", "Flamingo", "राजहंस", true},
    {"bat", "🦇", "Bat", "चमगादड़", true},
    {"butterfly", "🦋", "Butterfly", "तितली", true},
    {"bee", "🐝", "Bee", "मधुमक्खी", true},
    {"mosquito", "🦟", "Mosquito", "मच्छर", true},
    {"fly", "🪰", "Fly", "मक्खी", true},
    {"ladybird", "🐞", "Ladybird", "सोनपंखी", true},
    {"peacock", "🦚", "Peacock", "मोर", true},
    {"goose", "🪿", "Goose", "कलहंस", true},
    {"aeroplane", "✈️", "Aeroplane", "हवाई जहाज़", true},
    {"helicopter", "🚁", "Helicopter", "हेलीकॉप्टर", true},
    {"rocket", "🚀", "Rocket", "रॉकेट", true},
    {"kite", "🪁", "Kite", "पतंग", true},
    {"balloon", "🎈", "Balloon", "ग़ुब्बारा", true},
    {"parachute", "🪂", "Parachute", "पैराशूट", true},
    {"ufo", "🛸", "Flying saucer", "उड़नतश्तरी", true},
    {"superhero", "🦸", "Superhero", "सुपरहीरो", true},
    {"fairy", "🧚", "Fairy", "परी", true},
    {"dragon", "🐉", "Dragon", "अजगर वाला ड्रैगन", true},
    {"witch", "🧹", "Witch on a broom", "झाड़ू पर चुड़ैल", true},
    {"satellite", "🛰️", "Satellite", "उपग्रह", true},
    {"money", "💸", "Your salary", "तुम्हारी तनख़्वाह", true},
    {"buffalo", "🐃", "Buffalo", "भैंस", false},
    {"cow", "🐄", "Cow", "गाय", false},
    {"elephant", "🐘", "Elephant", "हाथी", false},
    {"camel", "🐫", "Camel", "ऊँट", false},
    {"horse", "🐎", "Horse", "घोड़ा", false},
    {"donkey", "🫏", "Donkey", "गधा", false},
    {"goat", "🐐", "Goat", "बकरी", false},
    {"monkey", "🐒", "Monkey", "बंदर", false},
    {"dog", "🐕", "Dog", "कुत्ता", false},
    {"cat", "🐈", "Cat", "बिल्ली", false},
    {"mouse", "🐁", "Mouse", "चूहा", false},
    {"snake", "🐍", "Snake", "साँप", false},
    {"frog", "🐸", "Frog", "मेंढक", false},
    {"turtle", "🐢", "Turtle", "कछुआ", false},
    {"fish", "🐟", "Fish", "मछली", false},
    {"whale", "🐋", "Whale", "व्हेल", false},
    {"penguin", "🐧", "Penguin", "पेंगुइन", false},
    {"dodo", "🦤", "Dodo", "डोडो", false},
    {"chair", "🪑", "Chair", "कुर्सी", false},
    {"table", "🍽️", "Dinner table", "खाने की मेज़", false},
    {"sofa", "🛋️", "Sofa", "सोफ़ा", false},
    {"fridge", "🧊", "Fridge", "फ़्रिज", false},
    {"auto", "🛺", "Auto rickshaw", "ऑटो रिक्शा", false},
    {"train", "🚂", "Train", "रेलगाड़ी", false},
    {"bus", "🚌", "Bus", "बस", false},
    {"bicycle", "🚲", "Bicycle", "साइकिल", false},
    {"boat", "⛵", "Boat", "नाव", false},
    {"mango", "🥭", "Mango", "आम", false},
    {"samosa", "🥟", "Samosa", "समोसा", false},
    {"chapati", "🫓", "Chapati", "रोटी", false},
    {"house", "🏠", "House", "घर", false},
    {"tree", "🌳", "Tree", "पेड़", false},
    {"mountain", "⛰️", "Mountain", "पहाड़", false},
    {"teacher", "🧑‍🏫", "Teacher", "मास्टर जी", false},
    {"uncle", "🧔", "Uncle from next door", "पड़ोस वाले अंकल", false},
    {"homework", "📚", "Homework", "होमवर्क", false},
};
enum { LIST = sizeof(list) / sizeof(*list) };

int kauwa_object_flies(struct bytes id) {
    for (unsigned i = 0; i < LIST; i++)
        if (bytes_equal(id, bytes_str(list[i].id)))
            return list[i].flies;
    return -1;
}

static struct item object_item(struct arena *arena, unsigned i) {
    struct record record = record_of(arena);
    struct bytes id = bytes_str(list[i].id);
    record_string(&record, GAME_PK, record_join(arena, "OBJ#", id));
    record_string(&record, GAME_SK, BYTES("META"));
    record_string(&record, BYTES("GSI1PK"), BYTES("OBJECTS"));
    record_string(&record, BYTES("GSI1SK"), id);
    record_string(&record, BYTES("id"), id);
    record_string(&record, BYTES("emoji"), bytes_str(list[i].emoji));
    record_string(&record, BYTES("en"), bytes_str(list[i].en));
    record_string(&record, BYTES("hi"), bytes_str(list[i].hi));
    record_put(&record, BYTES("flies"), value_bool(list[i].flies));
    return record_item(&record);
}

static void read_object(const struct item *item, struct kauwa_object *out) {
    *out = (struct kauwa_object){.id = item_string(item, BYTES("id")),
                                 .emoji = item_string(item, BYTES("emoji")),
                                 .en = item_string(item, BYTES("en")),
                                 .hi = item_string(item, BYTES("hi")),
                                 .flies = item_bool(item, BYTES("flies"))};
}

enum status kauwa_objects_load(struct game *game, struct scope in, struct kauwa_object_list *out) {
    struct key_condition keys = {.count = 1};
    struct page_reply page;
    keys.tests[0] = (struct key_test){
        .name = BYTES("GSI1PK"), .op = KEY_EQ, .low = value_string(BYTES("OBJECTS"))};
    struct page_request request = {
        .table = game->table, .index = GAME_GSI1, .keys = &keys, .limit = KAUWA_OBJECTS_MAX};
    enum status status = engine_page(game->engine, &request, in, &page);
    if (status != OK)
        return status;
    *out = (struct kauwa_object_list){ARENA_ARRAY(in.arena, struct kauwa_object, page.count + 1),
                                      (size_t)page.count};
    for (uint64_t i = 0; i < page.count; i++)
        read_object(&page.items[i], &out->objects[i]);
    return OK;
}

enum status kauwa_object_get(struct game *game, struct bytes id, struct scope in,
                             struct kauwa_object *out) {
    struct get_reply reply;
    struct get_request request = {
        .table = game->table,
        .key = game_key(in.arena, record_join(in.arena, "OBJ#", id), BYTES("META"))};
    enum status status = engine_get(game->engine, &request, in, &reply);
    if (status == OK && !reply.found)
        status = failure_set(in.failure, in.arena, NOT_FOUND, "There is no such thing: %.*s",
                             BYTES_ARG(id));
    if (status == OK)
        read_object(&reply.item, out);
    return status;
}

enum status kauwa_objects_seed(struct game *game, struct scope in) {
    struct kauwa_object_list there;
    enum status status = kauwa_objects_load(game, in, &there);
    if (status != OK || there.count != 0)
        return status;
    struct action *actions = ARENA_ARRAY(in.arena, struct action, LIST);
    for (unsigned i = 0; i < LIST; i++)
        actions[i] = (struct action){
            .kind = ACTION_PUT, .table = game->table, .item = object_item(in.arena, i)};
    struct change change = {
        .kind = CHANGE_WRITE, .arena = in.arena, .actions = actions, .action_count = LIST};
    status = game_wait(game, &change);
    *in.failure = change.failure;
    return status;
}
