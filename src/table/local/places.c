/* Where items stand in an index. */
#include "table/local/local_int.h"

enum status local_places(struct engine *engine, const struct place_request *request,
                         struct arena *arena, struct failure *failure, struct place *places) {
    (void)engine, (void)request, (void)places;
    return failure_set(failure, arena, UNSUPPORTED, "Places are not told yet");
}
