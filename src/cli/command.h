/* The commands of the program. Each takes the arguments after its name and returns the exit
 * status: 0 done, 1 it failed or found something wrong, 2 it was called wrongly. */
#ifndef GT_CLI_COMMAND_H
#define GT_CLI_COMMAND_H

#define GAMETABLE_VERSION "0.1.0"

int command_serve(int argc, char **argv);
int command_keys(int argc, char **argv);
int command_verify(int argc, char **argv);
int command_backup(int argc, char **argv);
int command_restore(int argc, char **argv);
int command_export(int argc, char **argv);
int command_import(int argc, char **argv);
int command_boards(int argc, char **argv);
int command_top(int argc, char **argv);
int command_rank(int argc, char **argv);
int command_around(int argc, char **argv);
int command_submit(int argc, char **argv);
int command_load(int argc, char **argv);
int command_play(int argc, char **argv);
int command_clock(int argc, char **argv);
int command_expire(int argc, char **argv);
int command_version(int argc, char **argv);
int command_help(int argc, char **argv);

#endif
