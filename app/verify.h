// lash verify: the claims of the papers, recomputed on the spot.
#ifndef LASH_APP_VERIFY_H
#define LASH_APP_VERIFY_H

#ifdef __cplusplus
extern "C" {
#endif

// lash verify [ID...] [--all] [--list] [--json]; argv[0] is the command's name. The exit code is 0
// when every claim passes, 6 when one fails, 2 for an unknown id or option.
int app_verify(int argc, char** argv);

#ifdef __cplusplus
}
#endif
#endif
