// Lash for bindings: one handle, names and numbers, no struct layouts. docs/library.md describes it.
//
//     LashRun* run = NULL;
//     char message[512];
//     if (lash_run_open(&run, "model.json", NULL, 0, message, sizeof message) != 0) { ... }
//     int crank = lash_run_find(run, LASH_JOINTS, "crank");
//     while (lash_run_time(run) < 1 && lash_run_step_n(run, 100, NULL) == 0) {
//         double angle, speed;
//         lash_run_joint(run, crank, 0, &angle, &speed);
//     }
//     lash_run_close(run);
//
// All numbers are SI. Functions that can fail return 0 or one of the exit codes of the program (2
// usage, 3 model, 4 CAD, 5 numerics, 7 data, 1 out of memory); the text is in lash_run_error. No
// function prints, exits or aborts for what a user gave it. One run is used by one thread at a time;
// different runs by different threads.
#ifndef LASH_API_H
#define LASH_API_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LASH_API_VERSION 1 // grows when a function changes or goes; new functions leave it

int lash_api_version(void);     // of the library
const char* lash_version(void); // of the program, "0.1.0"

typedef struct LashRun LashRun; // opaque: model, mechanism and state

// Reads a model, sets parameters ("play=0.02"), and stands at its start. message (size bytes, may be
// NULL) gets the text of an error, and *run is NULL then.
int lash_run_open(LashRun** run, const char* model_file, const char* const* sets, int set_count,
                  char* message, size_t size);
void lash_run_close(LashRun* run);              // NULL is allowed
const char* lash_run_error(const LashRun* run); // of the last call that failed; "": none has

typedef enum LashThing {
    LASH_PARTS,
    LASH_JOINTS,
    LASH_FORCES,
    LASH_CONTACTS,
    LASH_INPUTS,
    LASH_PARAMETERS
} LashThing;
int lash_run_count(const LashRun* run, LashThing thing);
const char* lash_run_name(const LashRun* run, LashThing thing, int index); // NULL: no such one
int lash_run_find(const LashRun* run, LashThing thing, const char* name);  // -1: none

// "step", "duration", "theta", "tolerance_position", "tolerance_velocity", "tolerance_solver",
// "time", "steps", "coordinates" (numbers of q), "velocities" (of v), "energy.kinetic",
// "energy.potential", "energy.external_work", "energy.balance_error".
int lash_run_get(LashRun* run, const char* name, double* value);

double lash_run_time(const LashRun* run); // [s]
// Goes up to n steps; *done (may be NULL) says how many. 5: the next one has no solution within the
// tolerances; the state is that before it.
int lash_run_step_n(LashRun* run, int n, int* done);
int lash_run_reset(LashRun* run); // back to the start

// Over the next step the input goes from `from` to `to`, then it stays there.
int lash_run_set_input(LashRun* run, const char* name, double from, double to);
int lash_run_input(LashRun* run, const char* name, double* value); // now, in the input's own unit

// Mass center [m], quaternion (w, x, y, z), velocity [m/s], angular velocity in axes of the part
// [rad/s]; each may be NULL. A fixed part does not move.
int lash_run_part(LashRun* run, int part, double position[3], double quaternion[4],
                  double velocity[3], double angular_velocity[3]);
int lash_run_coordinates(const LashRun* run, int joint); // free ones; -1: no such joint
const char* lash_run_coordinate_name(const LashRun* run, int joint, int coordinate);
int lash_run_find_coordinate(const LashRun* run, int joint, const char* name); // -1: none
// Coordinate [rad or m], angles over many turns, and its speed; either may be NULL.
int lash_run_joint(LashRun* run, int joint, int coordinate, double* value, double* speed);
// Of the last step, on the second part, axes of the joint [N], [N m]; either may be NULL.
int lash_run_reaction(LashRun* run, int joint, double force[3], double moment[3]);
// What a force of the model gives now [N or N m]: one number along its coordinate or line, three
// components on a part, six of a bushing (*components, may be NULL); value has room for six.
int lash_run_force(LashRun* run, int force, double value[6], int* components);
// Least gap of a contact now [m], infinite where it is far; mean force on its second side over the
// last step, world axes [N]; either may be NULL.
int lash_run_contact(LashRun* run, int contact, double* gap, double force[3]);
// q and v as they are; sizes "coordinates" and "velocities"; either may be NULL.
int lash_run_state(const LashRun* run, double* q, double* v);

// All that a run remembers as bytes: returns how many they are; written when size is enough (memory
// NULL: only asked). Saving changes nothing. Restored in this run or in another one of the same model
// and settings, in this process or another one of the same build, it goes on with the bits of the run
// that was saved, and of one that never was.
size_t lash_run_save(LashRun* run, void* memory, size_t size);
int lash_run_restore(LashRun* run, const void* memory, size_t size);

#ifdef __cplusplus
}
#endif
#endif
