// The parts of `lash check`: free motions (check_motions.c), redundancies and how to release them
// (check_redundancy.c), put together by check.c.
#ifndef LASH_APP_CHECK_INTERNAL_H
#define LASH_APP_CHECK_INTERNAL_H

#include "app/cli/json_writer.h"
#include "app/model/model.h"
#include "core/math3.h"
#include "solvers/mobility.h"

enum { CHECK_NAME = 96, CHECK_LINES = 24 }; // longest name; items of a list printed as text

typedef struct CheckSubject { // what is looked at: the mechanism where the sim stands
    const LashMechanism* mech;
    const LashSystem* system;
    LashSim* sim;
    const LashFreedom* freedom;
    const bool* busy; // (joints) driven, limited, loaded or measured: to stay as it is
} CheckSubject;

// How one body moves, per unit of the motion's coordinate.
typedef enum CheckKind { CHECK_ROTATION, CHECK_TRANSLATION, CHECK_SCREW } CheckKind;
typedef struct CheckScrew {
    int body;
    CheckKind kind;
    Vec3 axis, point; // unit, world; nearest to the mass center [m]
    double rate;      // [rad or m per unit]
    double pitch;     // displacement per turn of a screw [m]
    double size;      // for sorting: largest of |v| and length |omega|
} CheckScrew;

typedef struct CheckMotion {
    int joint, coordinate; // what is counted as the free coordinate; joint -1: a body's own motion
    int body, component;   // then: 0..2 along x, y, z, 3..5 about them
    char name[CHECK_NAME]; // "hinge.angle", "ball along x"
    bool angle;            // the coordinate is an angle
    int screws;            // bodies that move
    CheckScrew* screw;     // (screws) the coordinate's own body first, then by size
} CheckMotion;

typedef struct CheckMotions {
    int count;
    CheckMotion* motion;
} CheckMotions;

CheckMotions check_motions(const CheckSubject* subject);
void check_motions_free(CheckMotions* motions);
void check_motions_print(const CheckSubject* subject, const CheckMotions* motions);
void check_motions_put(AppJson* json, const CheckSubject* subject, const CheckMotions* motions);
// The motion of the body that moves most in the velocity v, as words.
void check_describe(const CheckSubject* subject, const double* v, char* text, size_t size);

// A change that takes redundant rows away and adds no freedom.
typedef struct CheckRelease {
    int interaction;
    const char* make; // joint type; NULL: remove it
    int rows;         // redundant rows it takes away
    bool shared;      // part of several redundancies: what is advised for others may change
} CheckRelease;

typedef struct CheckRedundancy {
    int members, rows; // interactions that depend on each other, redundant rows among them
    int* member;       // (members) in the order of the list
    int circuits, *circuit;
    int releases;
    CheckRelease* release;
} CheckRedundancy;

typedef struct CheckRedundancies {
    int count;
    CheckRedundancy* item;
} CheckRedundancies;

CheckRedundancies check_redundancies(const CheckSubject* subject);
void check_redundancies_free(CheckRedundancies* list);
void check_redundancies_print(const CheckSubject* subject, const CheckRedundancies* list);
void check_redundancies_put(AppJson* json, const CheckSubject* subject,
                            const CheckRedundancies* list);

// Singular and nearly singular positions.
typedef enum CheckPosition { CHECK_REGULAR, CHECK_NEAR_SINGULAR, CHECK_SINGULAR } CheckPosition;
CheckPosition check_position(const CheckSubject* subject);
void check_position_print(const CheckSubject* subject);
void check_position_put(AppJson* json, const CheckSubject* subject);

// The play of joints with clearance (check_clearance.c).
void check_clearances_put(AppJson* json, const LashModel* model);
void check_clearances_print(const LashModel* model);

#endif
