/* gametable: one table for the whole game. The commands are in commands.c, which units can link. */
#include "base/mem.h"
#include "cli/commands.h"

#include <sys/stat.h>

int main(int argc, char **argv) {
    /* Whatever is written here is a game's data, or a secret: it is its owner's alone, also where
     * the folder is not, and where a library makes the file. */
    umask(S_IRWXG | S_IRWXO);
    mem_configure();
    return commands_run(argc, argv);
}
