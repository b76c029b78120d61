/* The commands of the program. Each takes the arguments after its name and returns the exit
 * status: 0 done, 1 it failed or found something wrong, 2 it was called wrongly. */
#ifndef GT_CLI_COMMANDS_H
#define GT_CLI_COMMANDS_H

/* The one place that says it; CHANGELOG.md has a section of the same number. */
#define GAMETABLE_VERSION "0.4.6"

/* Runs the command that argv[1] names; argv[0] is the program. Without one, help and 2. */
int commands_run(int argc, char **argv);

int command_serve(int argc, char **argv);
int command_keys(int argc, char **argv);
int command_verify(int argc, char **argv);
int command_backup(int argc, char **argv);
int command_restore(int argc, char **argv);
int command_export(int argc, char **argv);
int command_import(int argc, char **argv);
int command_move(int argc, char **argv);
int command_boards(int argc, char **argv);
int command_players(int argc, char **argv);
int command_top(int argc, char **argv);
int command_rank(int argc, char **argv);
int command_around(int argc, char **argv);
int command_submit(int argc, char **argv);
int command_load(int argc, char **argv);
int command_play(int argc, char **argv);
int command_clock(int argc, char **argv);
int command_expire(int argc, char **argv);
int command_health(int argc, char **argv);
int command_version(int argc, char **argv);
int command_help(int argc, char **argv);

#endif
