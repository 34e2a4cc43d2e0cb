// What `lash check` says of contacts: fits of round surfaces with their clearances, overlaps with
// depth and place, contacts that can never touch.
#ifndef LASH_APP_CHECK_CONTACTS_H
#define LASH_APP_CHECK_CONTACTS_H

#include "app/cli/json_writer.h"
#include "app/model/model.h"

typedef struct CheckFit {             // a pin in a bore, a ball in a socket, a slider in its guide
    int contact, joint;               // contact point or joint it belongs to, -1: the other
    const char* what;                 // "cylinder", "sphere", "guide"
    int bore, pin;                    // indices of the faces in their parts, -1: given as numbers
    const char *bore_part, *pin_part; // NULL: not of CAD faces
    double bore_radius, pin_radius;   // [m]; NAN: of a guide
    double radial;                    // clearance, offset included; per side of a guide [m]
    LashVec3 place;                   // middle of the bore, of CAD faces [m]
    bool zero;                        // nothing to speak of: the pin cannot move
} CheckFit;

typedef struct CheckOverlap {
    int contact;
    LashContactPlace place; // gap < 0
} CheckOverlap;

typedef struct CheckContacts {
    int fits, overlaps;
    CheckFit* fit;
    CheckOverlap* overlap;
    int* beyond;                   // (contact points) places that overlap too deeply to be measured
    LashContactPlace* deep;        // (contact points) of them the deepest; gap < 0: it is known
    LashContactIntrusion* through; // (contact points) in each other through a face left out
    bool* never;                   // (contact points) proven never to touch
    int points;
} CheckContacts;

// At configuration q, with overlaps deeper than the tolerance [m].
CheckContacts check_contacts(const LashModel* model, const LashMechanism* mech, const double* q,
                             double tolerance);
void check_contacts_free(CheckContacts* contacts);
void check_contacts_print(const CheckContacts* contacts, const LashModel* model);
void check_contacts_put(AppJson* json, const CheckContacts* contacts, const LashModel* model);

#endif
